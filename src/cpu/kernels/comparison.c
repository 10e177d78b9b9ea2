/* Comparisons of two tensors, or of one and a number, as u8: 1 where they hold, 0 where they do not. */
#include "cpu/kernels/elementwise.h"

#include "core/number.h"

#define LOOP(name, T, answer)                                                                                          \
    static void name(const struct wick__row *row) {                                                                    \
        const T *a = row->in[0], *b = row->in[1];                                                                      \
        uint8_t *out = row->out;                                                                                       \
        const int64_t n = row->n; /* which `out`, of chars, might point at */                                          \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T x = a[i], y = b[i];                                                                                      \
            out[i] = answer;                                                                                           \
        }                                                                                                              \
    }

#define COMPARE(name, answer)                                                                                          \
    LOOP(name##_f32, float, answer)                                                                                    \
    LOOP(name##_f64, double, answer)                                                                                   \
    LOOP(name##_u8, uint8_t, answer)                                                                                   \
    LOOP(name##_u32, uint32_t, answer)                                                                                 \
    LOOP(name##_i16, int16_t, answer)                                                                                  \
    LOOP(name##_i32, int32_t, answer)                                                                                  \
    LOOP(name##_i64, int64_t, answer)

COMPARE(eq, x == y)
COMPARE(ne, x != y)
COMPARE(lt, x < y)
COMPARE(le, x <= y)
COMPARE(gt, x > y)
COMPARE(ge, x >= y)
COMPARE(logical_and, x != 0 && y != 0)
COMPARE(logical_or, x != 0 || y != 0)
COMPARE(logical_xor, (x != 0) != (y != 0))

/* Comparisons with a number: whether an element is in a range. */
#define RANGE(T, s, kind)                                                                                              \
    static void limit_##s(const struct wick__row *row) {                                                               \
        const struct wick__range *range = row->params;                                                                 \
        const T *in = row->in[0], low = (T)range->kind##_low, high = (T)range->kind##_high;                            \
        const uint8_t others = range->others;                                                                          \
        uint8_t *out = row->out;                                                                                       \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)((in[i] >= low) & (in[i] <= high)) ^ others;                 \
    }
RANGE(float, f32, f)
RANGE(double, f64, f)
RANGE(uint8_t, u8, i)
RANGE(uint32_t, u32, i)
RANGE(int16_t, i16, i)
RANGE(int32_t, i32, i)
RANGE(int64_t, i64, i)

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

wick__kernel_fn WICK__ISA(wick__cpu_limit);
enum wick_status WICK__ISA(wick__cpu_limit)(const struct wick__call *call) {
    static const struct wick__rows rows = {WICK__ROWS_ALL(limit)};
    struct wick__range range = wick__number_range(call->op, call->in[0]->dtype, call->p.number[0]);
    struct wick__elementwise e = {.n_in = 1, .in = {call->in[0]}, .out = call->out[0], .params = &range};
    WICK__TRY(wick__rows_choose(&e, call->op, &rows));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
