/* Unpacking of blocks, by dtype. */
#include "cpu/kernels/blocks.h"

#include "cpu/kernels/block_groups.h"

#define SAME(name, elements_, nbytes_)                                                                                 \
    _Static_assert((int)BLOCK_##name == (int)WICK_DTYPE_##name - (int)WICK_DTYPE_q4_0, #name);
BLOCK_TYPES(SAME)
#undef SAME
_Static_assert((int)BLOCK_TYPE_COUNT == (int)WICK_DTYPE_COUNT - (int)WICK_DTYPE_q4_0, "all dtypes from q4_0 on");

#if WICK_ISA_LEVEL >= 1
#include "cpu/kernels/blocks_avx2.h"
#define BOTH(name)                                                                                                     \
    static void fast_##name(const uint8_t *from, int n, struct wick__stretch *to) {                                    \
        unpack_##name(false, from, n, to);                                                                             \
    }                                                                                                                  \
    static void codes_##name(const uint8_t *from, int n, struct wick__stretch *to) { unpack_##name(true, from, n, to); }
FAST_TYPES(BOTH)
#undef BOTH
#endif

/* Group by group. */
#define UNPACK(name, elements, nbytes)                                                                                 \
    static void each_##name(const uint8_t *from, int n, struct wick__stretch *to) {                                    \
        enum { GROUPS = (elements) / BLOCK_GROUP };                                                                    \
        for (int g = 0; g < n / BLOCK_GROUP; g++) {                                                                    \
            struct block_group group = {.shift = -0.0f};                                                               \
            block_##name(from + g / GROUPS * (nbytes), g % GROUPS, &group);                                            \
            to->scale[g] = group.scale;                                                                                \
            to->shift[g] = group.shift;                                                                                \
            memcpy(to->q + BLOCK_GROUP * g, group.q, BLOCK_GROUP);                                                     \
        }                                                                                                              \
    }
BLOCK_TYPES(UNPACK)
#undef UNPACK

wick__unpack_fn *WICK__ISA(wick__unpack)(enum wick_dtype dtype) {
    static wick__unpack_fn *const unpack[BLOCK_TYPE_COUNT] = {
#define ROW(name, elements, nbytes) [BLOCK_##name] = each_##name,
        BLOCK_TYPES(ROW)
#undef ROW
    };
#if WICK_ISA_LEVEL >= 1
    switch (dtype) {
#define CASE(name)                                                                                                     \
    case WICK_DTYPE_##name: return fast_##name;
        FAST_TYPES(CASE)
#undef CASE
    default: break;
    }
#endif
    return unpack[dtype - WICK_DTYPE_q4_0];
}

wick__unpack_fn *WICK__ISA(wick__unpack_codes)(enum wick_dtype dtype) {
#if WICK_ISA_LEVEL >= 1
    switch (dtype) {
#define CASE(name)                                                                                                     \
    case WICK_DTYPE_##name: return codes_##name;
        FAST_TYPES(CASE)
#undef CASE
    default: break;
    }
#endif
    return WICK__ISA(wick__unpack)(dtype);
}
