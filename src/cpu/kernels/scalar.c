/* Functions of one tensor and one or two numbers. */
#include "core/convert.h"
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/vmath.h"

#include <math.h>
#include <string.h>

/* The numbers, as they are and, for integer tensors, as integers. */
struct numbers {
    double f[2];
    int64_t i[2];
};

/* ---- floats: x is the argument, a and b the numbers in its type ---- */

#define FLOAT_OPS(X)                                                                                                   \
    X(affine, x *a + b)                                                                                                \
    X(add_scalar, x + a)                                                                                               \
    X(sub_scalar, x - a)                                                                                               \
    X(mul_scalar, x *a)                                                                                                \
    X(div_scalar, x / a)                                                                                               \
    X(leaky_relu, x < 0 ? x * a : x)                                                                                   \
    X(clamp, (x < a ? a : x) > b ? b : (x < a ? a : x))                                                                \
    X(hardtanh, (x < a ? a : x) > b ? b : (x < a ? a : x))

#define FLOAT_LOOP(name, type, expression)                                                                             \
    static void name(const struct wick__row *row) {                                                                    \
        const struct numbers *numbers = row->params;                                                                   \
        const type a = (type)numbers->f[0], b = (type)numbers->f[1], *in = row->in[0];                                 \
        type *out = row->out;                                                                                          \
        (void)a, (void)b;                                                                                              \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            type x = in[i];                                                                                            \
            out[i] = expression;                                                                                       \
        }                                                                                                              \
    }
#define FLOAT_F32(name, expression) FLOAT_LOOP(name##_f32, float, expression)
#define FLOAT_F64(name, expression) FLOAT_LOOP(name##_f64, double, expression)
FLOAT_OPS(FLOAT_F32)
FLOAT_OPS(FLOAT_F64)

/* ---- floats, by SLEEF's vector functions FN ---- */

#define VECTOR_LOOP(name, type, vector, lanes, load, store, all, expression)                                           \
    static void name(const struct wick__row *row) {                                                                    \
        const struct numbers *numbers = row->params;                                                                   \
        const type *in = row->in[0];                                                                                   \
        type *out = row->out;                                                                                          \
        const vector a = all((type)numbers->f[0]), b = all((type)numbers->f[1]);                                       \
        (void)b;                                                                                                       \
        int64_t i = 0;                                                                                                 \
        for (; i + lanes <= row->n; i += lanes) {                                                                      \
            vector x = load(in + i);                                                                                   \
            store(out + i, expression);                                                                                \
        }                                                                                                              \
        if (i < row->n) {                                                                                              \
            type rest[lanes] = {0};                                                                                    \
            memcpy(rest, in + i, (size_t)(row->n - i) * sizeof *in);                                                   \
            vector x = load(rest);                                                                                     \
            store(rest, expression);                                                                                   \
            memcpy(out + i, rest, (size_t)(row->n - i) * sizeof *out);                                                 \
        }                                                                                                              \
    }
#define VECTOR_F32(name, expression)                                                                                   \
    VECTOR_LOOP(name, float, wick__vf, WICK__VF, wick__vf_load, wick__vf_store, wick__vf_all, expression)
#define VECTOR_F64(name, expression)                                                                                   \
    VECTOR_LOOP(name, double, wick__vd, WICK__VD, wick__vd_load, wick__vd_store, wick__vd_all, expression)
/* What an op gives for x <= 0; for x > 0 it gives x. */
#define LOW_OPS(X)                                                                                                     \
    X(elu, a *FN(expm1, u10)(x))                                                                                       \
    X(celu, a *FN(expm1, u10)(x / a))

#define LOW_LOOP(name, type, s)                                                                                        \
    static void name##_##s(const struct wick__row *row) {                                                              \
        const type *x = row->in[0];                                                                                    \
        type *y = row->out;                                                                                            \
        name##_low_##s(row);                                                                                           \
        for (int64_t i = 0; i < row->n; i++) y[i] = x[i] > 0 ? x[i] : y[i];                                            \
    }
#define POWF(type, s)                                                                                                  \
    static void powf_##s(const struct wick__row *row) {                                                                \
        const struct numbers *numbers = row->params;                                                                   \
        const type *x = row->in[0];                                                                                    \
        type *y = row->out;                                                                                            \
        if (numbers->f[0] == 2)                                                                                        \
            for (int64_t i = 0; i < row->n; i++) y[i] = x[i] * x[i];                                                   \
        else                                                                                                           \
            power_##s(row);                                                                                            \
    }

/* (max(z, 0) + log(1 + e^-|z|)) / a, or x where z = a x is above b. */
#define SOFTPLUS(v, z) v##_below(b, z, x, (v##_max(v##_all(0), z) + FN(log1p, u10)(FN(exp, u10)(-v##_abs(z)))) / a)

#define FN WICK__VF_FN
#define LOW_F32(name, expression) VECTOR_F32(name##_low_f32, expression) LOW_LOOP(name, float, f32)
LOW_OPS(LOW_F32)
VECTOR_F32(power_f32, FN(pow, u10)(x, a))
VECTOR_F32(softplus_beta_f32, SOFTPLUS(wick__vf, x *a))
POWF(float, f32)
#undef FN
#define FN WICK__VD_FN
#define LOW_F64(name, expression) VECTOR_F64(name##_low_f64, expression) LOW_LOOP(name, double, f64)
LOW_OPS(LOW_F64)
VECTOR_F64(power_f64, FN(pow, u10)(x, a))
VECTOR_F64(softplus_beta_f64, SOFTPLUS(wick__vd, x *a))
POWF(double, f64)
#undef FN

/* ---- integers: W is an unsigned type, at least as wide as int, that wraps as T does ---- */

#define INT_LOOP(name, T, expression)                                                                                  \
    static void name(const struct wick__row *row) {                                                                    \
        const struct numbers *numbers = row->params;                                                                   \
        const T *in = row->in[0];                                                                                      \
        const int64_t a = numbers->i[0], b = numbers->i[1];                                                            \
        T *out = row->out;                                                                                             \
        (void)a, (void)b;                                                                                              \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T x = in[i];                                                                                               \
            out[i] = (T)(expression);                                                                                  \
        }                                                                                                              \
    }
/* affine_by: with numbers that are not whole, in f64. */
#define INT_OPS(T, W, s)                                                                                               \
    INT_LOOP(affine_##s, T, (W)x *(W)a + (W)b)                                                                         \
    INT_LOOP(add_scalar_##s, T, (W)x + (W)a)                                                                           \
    INT_LOOP(sub_scalar_##s, T, (W)x - (W)a)                                                                           \
    INT_LOOP(mul_scalar_##s, T, (W)x *(W)a)                                                                            \
    INT_LOOP(div_scalar_##s, T, a == -1 ? (int64_t)(0 - (uint64_t)x) : (int64_t)x / a)                                 \
    INT_LOOP(clamp_##s, T, (x < a ? a : x) > b ? b : (x < a ? a : x))                                                  \
    INT_LOOP(affine_by_##s, T, wick__f64_to_##s((double)x * numbers->f[0] + numbers->f[1]))

INT_OPS(uint8_t, uint32_t, u8)
INT_OPS(uint32_t, uint32_t, u32)
INT_OPS(int16_t, uint32_t, i16)
INT_OPS(int32_t, uint32_t, i32)
INT_OPS(int64_t, uint64_t, i64)

/* ---- choice ---- */

static const struct wick__rows *rows_of(enum wick_op op) {
    switch ((int)op) {
#define WICK__SCALAR1(number, name, dtypes, cost, ...) WICK__ROWS_CASE(number, name, dtypes, cost)
#define WICK__SCALAR2(number, name, dtypes, cost, ...) WICK__ROWS_CASE(number, name, dtypes, cost)
#include "kernels/elementwise_ops.h"
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_scalar);
enum wick_status WICK__ISA(wick__cpu_scalar)(const struct wick__call *call) {
    static const struct wick__rows affine_by = {WICK__ROWS_INTS(affine_by)};
    enum wick_dtype dtype = call->in[0]->dtype;
    const struct wick__rows *rows = rows_of(call->op);
    const struct wick_number *given = call->p.number;
    struct numbers numbers = {.f = {wick__number_f64(dtype, given[0]), wick__number_f64(dtype, given[1])},
                              .i = {wick__number_i64(given[0]), wick__number_i64(given[1])}};
    struct wick__elementwise e = {.n_in = 1, .in = {call->in[0]}, .out = call->out[0], .params = &numbers};
    if (!wick_dtype_is_float(dtype)) {
        if (call->op == WICK_OP_affine && !wick__numbers_whole(given, numbers.i)) rows = &affine_by;
        if (call->op == WICK_OP_clamp) wick__number_bounds(dtype, given, numbers.i);
    }
    WICK__TRY(wick__rows_choose(&e, call->op, rows));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
