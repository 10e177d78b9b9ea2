/* Comparisons of two tensors, as u8: 1 where they hold, 0 where they do not. */
#include "cpu/elementwise.h"

#define LOOP(name, T, operator)                                                                                        \
    static void name(const struct wick__row *row) {                                                                    \
        const T *a = row->in[0], *b = row->in[1];                                                                      \
        uint8_t *out = row->out;                                                                                       \
        for (int64_t i = 0; i < row->n; i++) out[i] = a[i] operator b[i];                                              \
    }

#define COMPARE(name, operator)                                                                                        \
    LOOP(name##_f32, float, operator)                                                                                  \
    LOOP(name##_f64, double, operator)                                                                                 \
    LOOP(name##_u8, uint8_t, operator)                                                                                 \
    LOOP(name##_u32, uint32_t, operator)                                                                               \
    LOOP(name##_i16, int16_t, operator)                                                                                \
    LOOP(name##_i32, int32_t, operator)                                                                                \
    LOOP(name##_i64, int64_t, operator)

COMPARE(eq, ==)
COMPARE(ne, !=)
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)

static wick__row_fn *choose(enum wick_op op, enum wick_dtype dtype) {
    switch (op) {
#define CHOOSE(name)                                                                                                   \
    case WICK_OP_##name:                                                                                               \
        switch (dtype) {                                                                                               \
        case WICK_DTYPE_f32: return name##_f32;                                                                        \
        case WICK_DTYPE_f64: return name##_f64;                                                                        \
        case WICK_DTYPE_u8: return name##_u8;                                                                          \
        case WICK_DTYPE_u32: return name##_u32;                                                                        \
        case WICK_DTYPE_i16: return name##_i16;                                                                        \
        case WICK_DTYPE_i32: return name##_i32;                                                                        \
        default: return name##_i64;                                                                                    \
        }
        CHOOSE(eq)
        CHOOSE(ne)
        CHOOSE(lt)
        CHOOSE(le)
        CHOOSE(gt)
        CHOOSE(ge)
#undef CHOOSE
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_comparison);
enum wick_status WICK__ISA(wick__cpu_comparison)(const struct wick__call *call) {
    struct wick__elementwise e = {.n_in = 2, .in = {call->in[0], call->in[1]}, .out = call->out[0]};
    e.row = choose(call->op, wick__row_dtype(call->in[0]->dtype));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
