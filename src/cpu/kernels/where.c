/* Choice between two tensors by a third. in: the values where it is not 0, the values where it is 0, the condition. */
#include "cpu/kernels/elementwise.h"

/* Values move as they are, so their size is all that matters; so it is for an integer condition. */
#define LOOP(bits, condition_bits)                                                                                     \
    static void where_##bits##_##condition_bits(const struct wick__row *row) {                                         \
        const uint##bits##_t *a = row->in[0], *b = row->in[1];                                                         \
        const uint##condition_bits##_t *condition = row->in[2];                                                        \
        uint##bits##_t *out = row->out;                                                                                \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) out[i] = condition[i] ? a[i] : b[i];                                           \
    }
#define WHERE(bits) LOOP(bits, 8) LOOP(bits, 16) LOOP(bits, 32) LOOP(bits, 64)

WHERE(8)
WHERE(16)
WHERE(32)
WHERE(64)

/* 8, 16, 32, 64 bits: 0, 1, 2, 3. */
static int size_number(enum wick_dtype dtype) { return __builtin_ctz((unsigned)wick_dtype_bits(dtype)) - 3; }

wick__kernel_fn WICK__ISA(wick__cpu_where);
enum wick_status WICK__ISA(wick__cpu_where)(const struct wick__call *call) {
    static wick__row_fn *const rows[4][4] = {{where_8_8, where_8_16, where_8_32, where_8_64},
                                             {where_16_8, where_16_16, where_16_32, where_16_64},
                                             {where_32_8, where_32_16, where_32_32, where_32_64},
                                             {where_64_8, where_64_16, where_64_32, where_64_64}};
    struct wick__elementwise e = {
        .n_in = 3, .in = {call->in[0], call->in[1], call->in[2]}, .out = call->out[0], .raw = true};
    e.row = rows[size_number(call->in[0]->dtype)][size_number(call->in[2]->dtype)];
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
