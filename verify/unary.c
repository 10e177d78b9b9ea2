/* The unary family: functions of one tensor. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>

/* Domain of the test values, and the function of x, or of w, which is x as a long double: f64 has no other to be judged
 * by. gelu's errors are seen against |x|: its tails are the tails of erfc and exp, whose argument is itself rounded;
 * tanhshrink's, which subtracts from x; and lgamma's, which adds and subtracts near its zeros. */
#define OPS(X)                                                                                                         \
    X(exp, -8, 8, expl(w))                                                                                             \
    X(exp2, -8, 8, exp2l(w))                                                                                           \
    X(expm1, -8, 8, expm1l(w))                                                                                         \
    X(log, 0.01, 100, logl(w))                                                                                         \
    X(log2, 0.01, 100, log2l(w))                                                                                       \
    X(log10, 0.01, 100, log10l(w))                                                                                     \
    X(log1p, -0.9, 100, log1pl(w))                                                                                     \
    X(sin, -30, 30, sinl(w))                                                                                           \
    X(cos, -30, 30, cosl(w))                                                                                           \
    X(tan, -30, 30, tanl(w))                                                                                           \
    X(tanh, -8, 8, tanhl(w))                                                                                           \
    X(erf, -4, 4, erfl(w))                                                                                             \
    X(asin, -1, 1, asinl(w))                                                                                           \
    X(acos, -1, 1, acosl(w))                                                                                           \
    X(atan, -8, 8, atanl(w))                                                                                           \
    X(sinh, -8, 8, sinhl(w))                                                                                           \
    X(cosh, -8, 8, coshl(w))                                                                                           \
    X(asinh, -100, 100, asinhl(w))                                                                                     \
    X(acosh, 1, 100, acoshl(w))                                                                                        \
    X(atanh, -1, 1, atanhl(w))                                                                                         \
    X(erfc, -4, 8, erfcl(w))                                                                                           \
    X(erfinv, -1, 1, inverse_erf(x))                                                                                   \
    X(lgamma, -8, 40, lgammal(w))                                                                                      \
    X(sqrt, 0, 100, sqrt(x))                                                                                           \
    X(rsqrt, 0.01, 100, 1 / sqrtl(w))                                                                                  \
    X(recip, 0.1, 100, 1 / x)                                                                                          \
    X(abs, -100, 100, fabs(x))                                                                                         \
    X(neg, -100, 100, -x)                                                                                              \
    X(sqr, -100, 100, x *x)                                                                                            \
    X(sign, -2, 2, (x > 0) - (x < 0))                                                                                  \
    X(floor, -20, 20, floor(x))                                                                                        \
    X(ceil, -20, 20, ceil(x))                                                                                          \
    X(round, -20, 20, nearbyint(x))                                                                                    \
    X(round_ties_away, -20, 20, copysign((double)floorl(fabsl((long double)x) + 0.5L), x))                             \
    X(trunc, -20, 20, trunc(x))                                                                                        \
    X(relu, -100, 100, x < 0 ? 0 : x)                                                                                  \
    X(relu2, -100, 100, x < 0 ? 0 : x * x)                                                                             \
    X(relu6, -8, 8, x<0 ? 0 : x> 6 ? 6 : x)                                                                            \
    X(gelu, -8, 8, w *erfcl(-w *sqrtl(0.5L)) / 2)                                                                      \
    X(gelu_tanh, -8, 8, w / (1 + expl(-2 * sqrtl(2 / acosl(-1)) * (w + 0.044715L * w * w * w))))                       \
    X(sigmoid, -8, 8, 1 / (1 + expl(-w)))                                                                              \
    X(silu, -8, 8, w / (1 + expl(-w)))                                                                                 \
    X(softplus, -8, 40, w > 0 ? w + log1pl(expl(-w)) : log1pl(expl(w)))                                                \
    X(mish, -8, 40, w *tanhl(w > 0 ? w + log1pl(expl(-w)) : log1pl(expl(w))))                                          \
    X(hard_sigmoid, -8, 8, (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6)                                                       \
    X(hard_swish, -8, 8, w *((x < -3 ? 0 : x > 3 ? 6 : w + 3) / 6))                                                    \
    X(selu, -8, 8, 1.0507009873554804934193349852946L * (x > 0 ? w : 1.6732632423543772848170429916717L * expm1l(w)))  \
    X(softsign, -8, 8, w / (1 + fabsl(w)))                                                                             \
    X(tanhshrink, -8, 8, w - tanhl(w))                                                                                 \
    X(log_sigmoid, -40, 8, w < 0 ? w - log1pl(expl(w)) : -log1pl(expl(-w)))                                            \
    X(bitwise_not, 0, 200, x)                                                                                          \
    X(logical_not, -2, 2, x == 0)                                                                                      \
    X(isnan, -2, 2, x != x)                                                                                            \
    X(isinf, -2, 2, fabs(x) == INFINITY)                                                                               \
    X(isfinite, -2, 2, fabs(x) < INFINITY)

/* y with erf(y) = x, by Newton's steps: on erf, or far out on the logarithm of erfc, which is nearly a parabola. */
static long double inverse_erf(double x) {
    const long double slope = sqrtl(4 / acosl(-1)), a = fabsl((long double)x);
    long double y = a / slope;
    if (x == 0 || !(a < 1)) return a == 1 ? x * (double)INFINITY : x == 0 ? x : NAN;
    if (a > 0.5L) y = sqrtl(-logl(1 - a));
    for (int i = 0; i < 8; i++) {
        if (a > 0.5L)
            y += logl(erfcl(y) / (1 - a)) * erfcl(y) / (slope * expl(-y * y));
        else
            y -= (erfl(y) - a) / (slope * expl(-y * y));
    }
    return x < 0 ? -y : y;
}

static bool is_question(enum wick_op op) {
    return op == WICK_OP_logical_not || op == WICK_OP_isnan || op == WICK_OP_isinf || op == WICK_OP_isfinite;
}

/* One light function and one of the others with a large operand. */
static int unary_cases(enum wick_op op) { return verify_one_shapes() + (op == WICK_OP_sqr || op == WICK_OP_exp); }

static void unary_make(enum wick_op op, int k, struct verify_case *c) {
    double low = 0, high = 0;
    switch (op) {
#define RANGE(name, low_, high_, value)                                                                                \
    case WICK_OP_##name: low = low_, high = high_; break;
        OPS(RANGE)
#undef RANGE
    default: break;
    }
    c->n_in = c->n_out = 1;
    c->in[0] = verify_one_operand(k, low, high);
}

static bool unary_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(unary_make, 0, c);
}

static bool unary_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = NULL;
    switch (c->op) {
#define CALL(name, low, high, value)                                                                                   \
    case WICK_OP_##name: out[0] = wick_##name(in[0]); break;
        OPS(CALL)
#undef CALL
    default: break;
    }
    return out[0] != NULL;
}

static double value_of(enum wick_op op, double x) {
    const long double w = x;
    switch (op) {
#define VALUE(name, low, high, value)                                                                                  \
    case WICK_OP_##name: return (double)(value);
        OPS(VALUE)
#undef VALUE
    default: return NAN;
    }
}

static bool unary_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool tails =
        c->op == WICK_OP_gelu || c->op == WICK_OP_gelu_tanh || c->op == WICK_OP_tanhshrink || c->op == WICK_OP_lgamma;
    bool is_int = !wick_dtype_is_float(c->dtype);
    if (!verify_array_new(out, is_question(c->op) ? WICK_U8 : c->dtype, in->rank, in->shape, tails)) return false;
    for (int64_t i = 0; i < in->count; i++) {
        double x = in->data[i];
        out->data[i] = value_of(c->op, x);
        if (c->op == WICK_OP_bitwise_not) out->data[i] = -x - 1;
        if (is_int && !is_question(c->op)) out->data[i] = verify_wrap(c->dtype, (verify_wide)out->data[i]);
        if (tails) out->scale[i] = verify_scale_operand(fabs(x));
    }
    return true;
}

static bool unary_exact(enum wick_op op) {
    return op == WICK_OP_abs || op == WICK_OP_neg || op == WICK_OP_sqr || op == WICK_OP_relu || op == WICK_OP_relu2;
}

const struct verify_family verify_unary = {
    .name = "unary",
    .cases = unary_cases,
    .make = unary_make,
    .bench = unary_bench,
    .call = unary_call,
    .reference = unary_reference,
    .specials = verify_yes,
    .wide = verify_yes,
    .exact = unary_exact,
    .ordered = true,
};
