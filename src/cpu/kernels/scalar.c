/* Functions of one tensor and one or two numbers. */
#include "cpu/convert.h"
#include "cpu/elementwise.h"
#include "cpu/vmath.h"

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
    X(clamp, (x < a ? a : x) > b ? b : (x < a ? a : x))

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

/* x^a and alpha (exp x - 1). */
#define VECTOR_LOOP(name, type, vector, lanes, load, store, all, expression)                                           \
    static void name(const struct wick__row *row) {                                                                    \
        const struct numbers *numbers = row->params;                                                                   \
        const type *in = row->in[0];                                                                                   \
        type *out = row->out;                                                                                          \
        const vector a = all((type)numbers->f[0]);                                                                     \
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
VECTOR_F32(power_f32, WICK__VF_FN(pow, u10)(x, a))
VECTOR_F64(power_f64, WICK__VD_FN(pow, u10)(x, a))
VECTOR_F32(elu_low_f32, a *WICK__VF_FN(expm1, u10)(x))
VECTOR_F64(elu_low_f64, a *WICK__VD_FN(expm1, u10)(x))

#define POWF_ELU(type, s)                                                                                              \
    static void powf_##s(const struct wick__row *row) {                                                                \
        const struct numbers *numbers = row->params;                                                                   \
        const type *x = row->in[0];                                                                                    \
        type *y = row->out;                                                                                            \
        if (numbers->f[0] == 2)                                                                                        \
            for (int64_t i = 0; i < row->n; i++) y[i] = x[i] * x[i];                                                   \
        else                                                                                                           \
            power_##s(row);                                                                                            \
    }                                                                                                                  \
    static void elu_##s(const struct wick__row *row) {                                                                 \
        const type *x = row->in[0];                                                                                    \
        type *y = row->out;                                                                                            \
        elu_low_##s(row);                                                                                              \
        for (int64_t i = 0; i < row->n; i++) y[i] = x[i] > 0 ? x[i] : y[i];                                            \
    }
POWF_ELU(float, f32)
POWF_ELU(double, f64)

/* ---- integers: W is an unsigned type, at least as wide as int, that wraps as T does ---- */

#define INT_LOOP(name, T, expression)                                                                                  \
    static void name(const struct wick__row *row) {                                                                    \
        const struct numbers *numbers = row->params;                                                                   \
        const T *in = row->in[0];                                                                                      \
        const int64_t a = numbers->i[0], b = numbers->i[1];                                                            \
        T *out = row->out;                                                                                             \
        (void)a, (void)b;                                                                                              \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
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

static wick__row_fn *choose_float(enum wick_op op, bool wide) {
    switch (op) {
#define CHOOSE(name, expression)                                                                                       \
    case WICK_OP_##name: return wide ? name##_f64 : name##_f32;
        FLOAT_OPS(CHOOSE)
        CHOOSE(powf, )
        CHOOSE(elu, )
#undef CHOOSE
    default: return NULL;
    }
}

#define CHOOSE_INT(name)                                                                                               \
    switch (dtype) {                                                                                                   \
    case WICK_DTYPE_u8: return name##_u8;                                                                              \
    case WICK_DTYPE_u32: return name##_u32;                                                                            \
    case WICK_DTYPE_i16: return name##_i16;                                                                            \
    case WICK_DTYPE_i32: return name##_i32;                                                                            \
    default: return name##_i64;                                                                                        \
    }

static wick__row_fn *choose_int(enum wick_op op, enum wick_dtype dtype, bool whole) {
    switch (op) {
    case WICK_OP_affine:
        if (whole) CHOOSE_INT(affine)
        CHOOSE_INT(affine_by)
    case WICK_OP_add_scalar: CHOOSE_INT(add_scalar)
    case WICK_OP_sub_scalar: CHOOSE_INT(sub_scalar)
    case WICK_OP_mul_scalar: CHOOSE_INT(mul_scalar)
    case WICK_OP_div_scalar: CHOOSE_INT(div_scalar)
    default: CHOOSE_INT(clamp)
    }
}

/* The least and the largest value of an integer dtype. */
static void int_range(enum wick_dtype dtype, int64_t *low, int64_t *high) {
    wick__store_f64(dtype, -INFINITY, low);
    wick__store_f64(dtype, INFINITY, high);
    wick__row_to_i64(dtype, low, 1, low, 1);
    wick__row_to_i64(dtype, high, 1, high, 1);
}

static int64_t within(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

wick__kernel_fn WICK__ISA(wick__cpu_scalar);
enum wick_status WICK__ISA(wick__cpu_scalar)(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    struct numbers numbers = {.f = {call->p.scalar[0], call->p.scalar[1]}};
    struct wick__elementwise e = {.n_in = 1, .in = {call->in[0]}, .out = call->out[0], .params = &numbers};
    e.heavy = call->op == WICK_OP_powf || call->op == WICK_OP_elu;
    for (int i = 0; i < 2; i++) numbers.i[i] = wick__f64_to_i64(numbers.f[i]);
    if (wick_dtype_is_float(dtype)) {
        e.row = choose_float(call->op, dtype == WICK_DTYPE_f64);
    } else {
        bool whole = (double)numbers.i[0] == numbers.f[0] && (double)numbers.i[1] == numbers.f[1];
        if (call->op == WICK_OP_clamp) {
            int64_t low, high;
            int_range(dtype, &low, &high);
            numbers.i[0] = within(wick__f64_to_i64(ceil(numbers.f[0])), low, high);
            numbers.i[1] = within(wick__f64_to_i64(floor(numbers.f[1])), low, high);
        }
        e.row = choose_int(call->op, dtype, whole);
    }
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
