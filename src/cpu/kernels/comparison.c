/* Comparisons of two tensors, as u8: 1 where they hold, 0 where they do not. */
#include "cpu/kernels/elementwise.h"

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

static const struct wick__rows *rows_of(enum wick_op op) {
    switch ((int)op) {
#define WICK__COMPARISON(number, name, dtypes, ...) WICK__ROWS_CASE(number, name, dtypes, LIGHT)
#include "kernels/elementwise_ops.h"
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_comparison);
enum wick_status WICK__ISA(wick__cpu_comparison)(const struct wick__call *call) {
    struct wick__elementwise e = {.n_in = 2, .in = {call->in[0], call->in[1]}, .out = call->out[0]};
    WICK__TRY(wick__rows_choose(&e, call->op, rows_of(call->op)));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
