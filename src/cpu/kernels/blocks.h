/* Blocks of the quantised dtypes as small integers with scales: what the processor's products and conversions of them
 * read. For kernel files. */
#ifndef WICK_CPU_KERNELS_BLOCKS_H
#define WICK_CPU_KERNELS_BLOCKS_H

#include "core/convert.h"
#include "cpu/runtime/isa.h"

#include "core/dtype.h"

/* A stretch of a row that is unpacked at once: a block of 256 elements, or as many smaller blocks as it holds. */
enum { WICK__STRETCH = 256, WICK__STRETCH_GROUPS = WICK__STRETCH / 16 };

/* Element i is scale[i / 16] q[i] + shift[i / 16]. shift is -0 for dtypes without one. */
struct wick__stretch {
    _Alignas(64) int8_t q[WICK__STRETCH];
    float scale[WICK__STRETCH_GROUPS], shift[WICK__STRETCH_GROUPS];
    float d, dmin; /* with wick__scales_whole: what scales and shifts are to be multiplied by */
};

/* Unpacks the blocks at `from` that hold n elements, n <= WICK__STRETCH. */
typedef void wick__unpack_fn(const uint8_t *from, int n, struct wick__stretch *to);
wick__unpack_fn *WICK__ISA(wick__unpack)(enum wick_dtype dtype);
/* The same for products: where that is quicker, q is the unsigned code of an element, at most 63, which is
 * wick__codes_above the element's integer. */
wick__unpack_fn *WICK__ISA(wick__unpack_codes)(enum wick_dtype dtype);
static inline int wick__codes_above(enum wick_dtype dtype) {
    if (WICK_ISA_LEVEL == 0) return 0;
    switch (dtype) {
    case WICK_DTYPE_tq2_0: return 1;
    case WICK_DTYPE_q3_k: return 4;
    case WICK_DTYPE_q4_0: return 8;
    case WICK_DTYPE_q5_0: return 16;
    case WICK_DTYPE_q6_k: return 32;
    default: return 0;
    }
}
/* Dtypes whose unpack_codes leaves scales and shifts as whole numbers. The sum of 32 products times their scales is one
 * that f32 holds: at most 32 * 32 * 127 * 128 in q6_k, which is below 2^24. */
static inline bool wick__scales_whole(enum wick_dtype dtype) {
    return WICK_ISA_LEVEL >= 1 && wick__has(WICK__BIT(q2_k) | WICK__BIT(q3_k) | WICK__BIT(q6_k), dtype);
}
/* Whether elements have shifts. */
static inline bool wick__has_shifts(enum wick_dtype dtype) {
    const wick__dtypes shifted =
        WICK__BIT(q4_1) | WICK__BIT(q5_1) | WICK__BIT(q2_k) | WICK__BIT(q4_k) | WICK__BIT(q5_k);
    return wick__has(shifted, dtype);
}
/* Whether q is never negative then. */
static inline bool wick__has_codes(enum wick_dtype dtype) {
    return wick__has_shifts(dtype) || wick__codes_above(dtype) > 0;
}

/* Whether 16 elements of a dtype share a scale, or 32 and more. */
static inline bool wick__scales_16(enum wick_dtype dtype) {
    const wick__dtypes narrow = WICK__BIT(q2_k) | WICK__BIT(q3_k) | WICK__BIT(q6_k) | WICK__BIT(iq2_xs) |
                                WICK__BIT(iq2_s) | WICK__BIT(iq1_m) | WICK__BIT(nvfp4);
    return wick__has(narrow, dtype);
}

/* The numbers that n elements stand for. */
static inline void wick__stretch_values(const struct wick__stretch *restrict s, float *restrict out, int n) {
    for (int g = 0; g < n / 16; g++) {
        const float scale = s->scale[g], shift = s->shift[g];
#pragma GCC unroll 1 /* or gcc makes vectors across groups, by shuffles */
        for (int i = 0; i < 16; i++) out[16 * g + i] = scale * (float)s->q[16 * g + i] + shift;
    }
}

#endif
