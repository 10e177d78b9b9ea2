/* Functions of one tensor. */
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/vmath.h"

#include <math.h>
#include <string.h>

/* tanh for f32, some three times as fast as SLEEF's: 1 - 2 / (e^2x + 1), and below 0.625 a polynomial, both by Cephes'
 * fits. e^z is 2^n e^r with n whole, which the last bits of z / log 2 + 1.5 * 2^23 are. */
static inline wick__vf tanh_fast(wick__vf x) {
    typedef uint32_t bits __attribute__((vector_size(sizeof(wick__vf))));
    static const float of_exp[] = {1.9875691500E-4f, 1.3981999507E-3f, 8.3334519073E-3f,
                                   4.1665795894E-2f, 1.6666665459E-1f, 5.0000001201E-1f};
    static const float of_x[] = {-5.70498872745E-3f, 2.06390887954E-2f, -5.37397155531E-2f, 1.33314422036E-1f,
                                 -3.33332819422E-1f};
    wick__vf a = wick__vf_abs(x), z = wick__vf_min(wick__vf_all(20), a + a), square = x * x, one = wick__vf_all(1);
    wick__vf shifted = wick__vf_fma(z, wick__vf_all(1.44269504f), wick__vf_all(0x1.8p23f)), n = shifted - 0x1.8p23f;
    wick__vf r = wick__vf_fma(n, wick__vf_all(2.12194440e-4f), wick__vf_fma(n, wick__vf_all(-0.693359375f), z));
    wick__vf e = wick__vf_all(of_exp[0]), p = wick__vf_all(of_x[0]);
    for (int i = 1; i < 6; i++) e = wick__vf_fma(e, r, wick__vf_all(of_exp[i]));
    for (int i = 1; i < 5; i++) p = wick__vf_fma(p, square, wick__vf_all(of_x[i]));
    e = wick__vf_fma(e * r, r, r) + one;
    e = (wick__vf)((bits)e + ((bits)shifted << 23));
    wick__vf y = one - 2.0f / (e + one);
    y = wick__vf_below(x, wick__vf_all(0), -y, y);
    return wick__vf_below(a, wick__vf_all(0.625f), wick__vf_fma(p * square, x, x), y);
}

/* ---- floats, a vector at a time: x is the argument, K(c) a constant, FN SLEEF's function ---- */

/* gelu_tanh: 0.5 (1 + tanh u) = 1 / (1 + exp -2u). softplus avoids exp of large arguments. */
#define VECTOR_OPS(X)                                                                                                  \
    X(exp, V(exp)(x))                                                                                                  \
    X(exp2, FN(exp2, u10)(x))                                                                                          \
    X(expm1, FN(expm1, u10)(x))                                                                                        \
    X(log, V(log)(x))                                                                                                  \
    X(log2, FN(log2, u10)(x))                                                                                          \
    X(log10, FN(log10, u10)(x))                                                                                        \
    X(sin, FN(sin, u10)(x))                                                                                            \
    X(cos, FN(cos, u10)(x))                                                                                            \
    X(tan, FN(tan, u10)(x))                                                                                            \
    X(tanh, TANH(x))                                                                                                   \
    X(asin, FN(asin, u10)(x))                                                                                          \
    X(acos, FN(acos, u10)(x))                                                                                          \
    X(atan, FN(atan, u10)(x))                                                                                          \
    X(atanh, FN(atanh, u10)(x))                                                                                        \
    X(erfc, FN(erfc, u15)(x))                                                                                          \
    X(erf, ERF(x))                                                                                                     \
    X(gelu, K(0.5) * x * (K(1) + ERF(x * K(0.70710678118654752440))))                                                  \
    X(gelu_tanh, x / (K(1) + FN(exp, u10)(K(-1.59576912160573071176) * (x + K(0.044715) * x * x * x))))                \
    X(sigmoid, V(sigmoid)(x))                                                                                          \
    X(silu, V(silu)(x))                                                                                                \
    X(softplus, MAX(K(0), x) + FN(log1p, u10)(FN(exp, u10)(-ABS(x))))                                                  \
    X(mish, V(mish)(x))                                                                                                \
    X(tanhshrink, x - FN(tanh, u10)(x))                                                                                \
    X(log_sigmoid, MIN(K(0), x) - FN(log1p, u10)(FN(exp, u10)(-ABS(x))))

/* The function over a row: whole vectors, then the elements left through one of their own. */
#define VECTOR_LOOP(name, type, vector, lanes, load, store, expression)                                                \
    static void name(const struct wick__row *row) {                                                                    \
        const type *in = row->in[0];                                                                                   \
        type *out = row->out;                                                                                          \
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

#define FN WICK__VF_FN
#define ERF wick__vf_erf
#define TANH tanh_fast
#define K(c) wick__vf_all((float)(c))
#define MAX wick__vf_max
#define MIN wick__vf_min
#define ABS wick__vf_abs
#define V(name) wick__vf_##name
#define VECTOR_F32(name, expression)                                                                                   \
    VECTOR_LOOP(name##_f32, float, wick__vf, WICK__VF, wick__vf_load, wick__vf_store, expression)
VECTOR_OPS(VECTOR_F32)
VECTOR_F32(log1p_below, FN(log1p, u10)(x))
VECTOR_F32(lgamma_below, FN(lgamma, u10)(x))
#undef FN
#undef K
#undef MAX
#undef MIN
#undef ABS
#undef V
#undef ERF
#undef TANH

#define FN WICK__VD_FN
#define ERF WICK__VD_FN(erf, u10)
#define TANH WICK__VD_FN(tanh, u10)
#define K(c) wick__vd_all(c)
#define MAX wick__vd_max
#define MIN wick__vd_min
#define ABS wick__vd_abs
#define V(name) wick__vd_##name
#define VECTOR_F64(name, expression)                                                                                   \
    VECTOR_LOOP(name##_f64, double, wick__vd, WICK__VD, wick__vd_load, wick__vd_store, expression)
VECTOR_OPS(VECTOR_F64)
VECTOR_F64(log1p_below, FN(log1p, u10)(x))
VECTOR_F64(lgamma_below, FN(lgamma, u10)(x))
#undef FN
#undef K
#undef MAX
#undef MIN
#undef ABS
#undef V
#undef ERF
#undef TANH

/* ---- floats, loops that compilers turn into vectors: x is the argument, T its type, F(f) the function for it ---- */

#define PLAIN_OPS(X)                                                                                                   \
    X(abs, F(fabs)(x))                                                                                                 \
    X(neg, -x)                                                                                                         \
    X(recip, 1 / x)                                                                                                    \
    X(sqr, x *x)                                                                                                       \
    X(rsqrt, 1 / F(sqrt)(x))                                                                                           \
    X(relu, x < 0 ? 0 : x)                                                                                             \
    X(relu2, x < 0 ? 0 : x * x)                                                                                        \
    X(relu6, x<0 ? 0 : x> 6 ? 6 : x)                                                                                   \
    X(hard_sigmoid, (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6)                                                              \
    X(hard_swish, x *((x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6))                                                           \
    X(floor, F(floor)(x))                                                                                              \
    X(ceil, F(ceil)(x))                                                                                                \
    X(round, F(rint)(x))                                                                                               \
    X(round_ties_away, F(round)(x))                                                                                    \
    X(trunc, F(trunc)(x))                                                                                              \
    X(sign, (T)((x > 0) - (x < 0)))                                                                                    \
    X(softsign, x / (1 + F(fabs)(x)))

#define FLOAT_PREDICATES(X)                                                                                            \
    X(logical_not, x == 0)                                                                                             \
    X(isnan, x != x)                                                                                                   \
    X(isinf, F(fabs)(x) == (T)INFINITY)                                                                                \
    X(isfinite, F(fabs)(x) < (T)INFINITY)

#define LOOP(name, type, out_type, expression)                                                                         \
    static void name(const struct wick__row *row) {                                                                    \
        const type *in = row->in[0];                                                                                   \
        out_type *out = row->out;                                                                                      \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            type x = in[i];                                                                                            \
            out[i] = (out_type)(expression);                                                                           \
        }                                                                                                              \
    }

#define T float
#define F(name) name##f
#define PLAIN_F32(name, expression) LOOP(name##_f32, float, float, expression)
#define PREDICATE_F32(name, expression) LOOP(name##_f32, float, uint8_t, expression)
PLAIN_OPS(PLAIN_F32)
FLOAT_PREDICATES(PREDICATE_F32)
#undef T
#undef F

#define T double
#define F(name) name
#define PLAIN_F64(name, expression) LOOP(name##_f64, double, double, expression)
#define PREDICATE_F64(name, expression) LOOP(name##_f64, double, uint8_t, expression)
PLAIN_OPS(PLAIN_F64)
FLOAT_PREDICATES(PREDICATE_F64)
#undef T
#undef F

/* sqrt. With AVX-512 by an estimate, a step of Goldschmidt's and a remainder, which round as the instruction does and
 * take half as long, where no number is so small or large that a part might not be normal. */
#if WICK_ISA_LEVEL >= 2
static inline wick__vf sqrt_fast(wick__vf x) {
    const __m512i from = _mm512_set1_epi32((127 - 60) << 23), range = _mm512_set1_epi32(120 << 23);
    __m512i above = _mm512_sub_epi32(_mm512_castps_si512(x), from);
    if (_mm512_cmplt_epu32_mask(above, range) != 0xffff) return wick__vf_sqrt(x);
    wick__vf y = _mm512_rsqrt14_ps(x), root = x * y, half = y * wick__vf_all(0.5f);
    wick__vf rest = wick__vf_fma(-half, root, wick__vf_all(0.5f));
    root = wick__vf_fma(root, rest, root);
    half = wick__vf_fma(half, rest, half);
    return wick__vf_fma(half, wick__vf_fma(-root, root, x), root);
}
VECTOR_F32(sqrt, sqrt_fast(x))
#else
VECTOR_F32(sqrt, wick__vf_sqrt(x))
#endif
VECTOR_F64(sqrt, wick__vd_sqrt(x))

/* ---- floats, by the C library in f64: SLEEF's sinh and cosh are infinite too early, its asinh and acosh for arguments
 * whose square is ---- */

/* y with erf(y) = x. Winitzki's approximation, good to 2e-3 ("A handy approximation for the error function and its
 * inverse", 2008), and steps of Halley's, each of which has three times the digits. */
static double inverse_erf(double x) {
    double a = fabs(x), rest = 1 - a, y;
    if (!(a < 1)) return a == 1 ? x * (double)INFINITY : (double)NAN;
    if (a < 1e-3) {
        y = a * 0.88622692545275801365;
    } else {
        double l = log(rest * (1 + a)), b = 4.3307467508 + l / 2;
        y = sqrt(-6.8027210884 * l / (sqrt(b * b - 6.8027210884 * l) + b));
    }
    for (int i = 0; i < 3; i++) {
        double t = (a < 0.5 ? erf(y) - a : rest - erfc(y)) * 0.88622692545275801365 * exp(y * y);
        y -= t / (1 + y * t);
    }
    return copysign(y, x);
}

#define WIDE_OPS(X)                                                                                                    \
    X(sinh, sinh)                                                                                                      \
    X(cosh, cosh)                                                                                                      \
    X(asinh, asinh)                                                                                                    \
    X(acosh, acosh)                                                                                                    \
    X(erfinv, inverse_erf)
#define WIDE(name, function)                                                                                           \
    LOOP(name##_f32, float, float, function((double)x))                                                                \
    LOOP(name##_f64, double, double, function(x))
WIDE_OPS(WIDE)

/* SLEEF's log1p gives infinity for the largest finite arguments, where it is log. */
static void log1p_f32(const struct wick__row *row) {
    const float *x = row->in[0];
    float *y = row->out;
    log1p_below_f32(row);
    for (int64_t i = 0; i < row->n; i++)
        if (y[i] == INFINITY) y[i] = logf(x[i]);
}

static void log1p_f64(const struct wick__row *row) {
    const double *x = row->in[0];
    double *y = row->out;
    log1p_below_f64(row);
    for (int64_t i = 0; i < row->n; i++)
        if (y[i] == (double)INFINITY) y[i] = log(x[i]);
}

/* SLEEF's lgamma too, where it is x (log x - 1). */
static void lgamma_f32(const struct wick__row *row) {
    const float *x = row->in[0];
    float *y = row->out;
    lgamma_below_f32(row);
    for (int64_t i = 0; i < row->n; i++)
        if (y[i] == INFINITY && x[i] > 1e30F) y[i] = (float)((double)x[i] * (log((double)x[i]) - 1));
}

static void lgamma_f64(const struct wick__row *row) {
    const double *x = row->in[0];
    double *y = row->out;
    lgamma_below_f64(row);
    for (int64_t i = 0; i < row->n; i++)
        if (y[i] == (double)INFINITY && x[i] > 1e290) y[i] = x[i] * (log(x[i]) - 1);
}

/* selu's constants are PyTorch's; expm1 keeps precision near 0. */
static const double selu_alpha = 1.6732632423543772848170429916717, selu_scale = 1.0507009873554804934193349852946;

static void selu_f32(const struct wick__row *row) {
    const float *x = row->in[0];
    float *y = row->out;
    const float down = (float)(selu_alpha * selu_scale), up = (float)selu_scale;
    expm1_f32(row);
    for (int64_t i = 0; i < row->n; i++) y[i] = x[i] > 0 ? up * x[i] : down * y[i];
}

static void selu_f64(const struct wick__row *row) {
    const double *x = row->in[0];
    double *y = row->out;
    expm1_f64(row);
    for (int64_t i = 0; i < row->n; i++) y[i] = x[i] > 0 ? selu_scale * x[i] : selu_alpha * selu_scale * y[i];
}

/* ---- integers: W is an unsigned type that wraps as T does ---- */

#define SIGNED_OPS(T, W, suffix)                                                                                       \
    LOOP(abs_##suffix, T, T, x < 0 ? 0 - (W)x : (W)x)                                                                  \
    LOOP(relu_##suffix, T, T, x < 0 ? 0 : x)                                                                           \
    LOOP(sign_##suffix, T, T, (x > 0) - (x < 0))
#define UNSIGNED_OPS(T, suffix)                                                                                        \
    LOOP(abs_##suffix, T, T, x)                                                                                        \
    LOOP(relu_##suffix, T, T, x)                                                                                       \
    LOOP(sign_##suffix, T, T, x > 0)
#define INT_OPS(T, W, suffix)                                                                                          \
    LOOP(neg_##suffix, T, T, 0 - (W)x)                                                                                 \
    LOOP(sqr_##suffix, T, T, (W)x *(W)x)                                                                               \
    LOOP(floor_##suffix, T, T, x)                                                                                      \
    LOOP(ceil_##suffix, T, T, x)                                                                                       \
    LOOP(round_##suffix, T, T, x)                                                                                      \
    LOOP(round_ties_away_##suffix, T, T, x)                                                                            \
    LOOP(trunc_##suffix, T, T, x)                                                                                      \
    LOOP(bitwise_not_##suffix, T, T, ~(W)x)                                                                            \
    LOOP(logical_not_##suffix, T, uint8_t, x == 0)

SIGNED_OPS(int16_t, uint32_t, i16)
SIGNED_OPS(int32_t, uint32_t, i32)
SIGNED_OPS(int64_t, uint64_t, i64)
UNSIGNED_OPS(uint8_t, u8)
UNSIGNED_OPS(uint32_t, u32)
INT_OPS(uint8_t, uint32_t, u8)
INT_OPS(uint32_t, uint32_t, u32)
INT_OPS(int16_t, uint32_t, i16)
INT_OPS(int32_t, uint32_t, i32)
INT_OPS(int64_t, uint64_t, i64)

/* ---- choice ---- */

static const struct wick__rows *rows_of(enum wick_op op) {
    switch ((int)op) {
#define WICK__UNARY(number, name, dtypes, cost, ...) WICK__ROWS_CASE(number, name, dtypes, cost)
#define WICK__QUESTION(number, name, dtypes, ...) WICK__ROWS_CASE(number, name, dtypes, LIGHT)
#include "kernels/elementwise_ops.h"
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_unary);
enum wick_status WICK__ISA(wick__cpu_unary)(const struct wick__call *call) {
    struct wick__elementwise e = {.n_in = 1, .in = {call->in[0]}, .out = call->out[0]};
    WICK__TRY(wick__rows_choose(&e, call->op, rows_of(call->op)));
    WICK__ISA(wick__elementwise)(&e);
    return WICK_OK;
}
