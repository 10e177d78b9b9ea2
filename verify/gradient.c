/* The gradient family: the gradient of a function's result and the function's argument, or its result; numbers f[0] and
 * f[1]. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>

static const double numbers[][2] = {{0.25, 0.75}, {2, 6}, {1.5, 20}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }
static long double density(long double x) { return expl(-x * x / 2) / sqrtl(2 * acosl(-1)); }
static long double softplus(long double x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); }
static long double square(long double x) { return x * x; }

/* x beyond 1e4 is as far away as it gets: squares and cubes of it would leave the long double's range. NaN passes. */
static long double cut(long double x) { return x < -1e4L ? -1e4L : x > 1e4L ? 1e4L : x; }

static long double gelu_slope(long double x) {
    x = cut(x);
    return erfcl(-x * sqrtl(0.5L)) / 2 + x * density(x);
}

static long double gelu_tanh_slope(long double x) {
    x = cut(x);
    long double k = sqrtl(2 / acosl(-1)), u = k * (x + 0.044715L * x * x * x), t = tanhl(u), rest = 1 / coshl(u);
    return (1 + t) / 2 + x / 2 * square(rest) * k * (1 + 3 * 0.044715L * x * x);
}

static long double silu_slope(long double x) {
    x = cut(x);
    return sigmoid(x) + x * sigmoid(x) * sigmoid(-x);
}

static long double mish_slope(long double x) {
    x = cut(x);
    long double t = tanhl(softplus(x));
    return t + x * (1 - t) * (1 + t) * sigmoid(x);
}

/* The derivative at x, y where it is of the result; a and b are the numbers. */
#define OPS(NONE, ONE, TWO)                                                                                            \
    NONE(relu_backward, x <= 0 ? 0 : 1)                                                                                \
    NONE(relu2_backward, x <= 0 ? 0 : 2 * x)                                                                           \
    NONE(relu6_backward, x <= 0 || x >= 6 ? 0 : 1)                                                                     \
    NONE(hard_sigmoid_backward, x <= -3 || x >= 3 ? 0 : 1 / 6.0L)                                                      \
    NONE(hard_swish_backward, x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6)                                              \
    NONE(softsign_backward, 1 / square(1 + fabsl(x)))                                                                  \
    ONE(leaky_relu_backward, x > 0 ? 1 : a)                                                                            \
    TWO(hardtanh_backward, x <= a || x >= b ? 0 : 1)                                                                   \
    NONE(sigmoid_backward, x *(1 - x))                                                                                 \
    NONE(tanh_backward, 1 - x * x)                                                                                     \
    NONE(tanhshrink_backward, square(tanhl(x)))                                                                        \
    NONE(gelu_backward, gelu_slope(x))                                                                                 \
    NONE(gelu_tanh_backward, gelu_tanh_slope(x))                                                                       \
    NONE(silu_backward, silu_slope(x))                                                                                 \
    NONE(mish_backward, mish_slope(x))                                                                                 \
    TWO(softplus_backward, a *x > b ? 1 : sigmoid(a * x))                                                              \
    NONE(log_sigmoid_backward, sigmoid(-x))                                                                            \
    NONE(selu_backward,                                                                                                \
         1.0507009873554804934193349852946L * (x > 0 ? 1 : 1.6732632423543772848170429916717L * expl(x)))              \
    ONE(elu_backward, x > 0 ? 1 : a * expl(x))                                                                         \
    ONE(celu_backward, x > 0 ? 1 : expl(x / a))

static bool of_result(enum wick_op op) { return op == WICK_OP_sigmoid_backward || op == WICK_OP_tanh_backward; }

static bool has_numbers(enum wick_op op) {
    switch (op) {
#define NONE(name, value)
#define SOME(name, value)                                                                                              \
    case WICK_OP_##name: return true;
        OPS(NONE, SOME, SOME)
#undef NONE
#undef SOME
    default: return false;
    }
}

static int gradient_cases(enum wick_op op) { return verify_one_shapes() * (has_numbers(op) ? NUMBERS : 1); }

static void gradient_make(enum wick_op op, int k, struct verify_case *c) {
    int count = has_numbers(op) ? NUMBERS : 1;
    c->n_in = 2;
    c->n_out = 1;
    c->in[0] = verify_one_operand(k / count, -4, 4);
    /* Within [-5, 5] no slope has a tail of few digits, whose sign an infinite gradient would show. */
    c->in[1] = verify_one_operand(k / count, of_result(op) ? 0 : -5, of_result(op) ? 1 : 5);
    c->in[1].tame = of_result(op);
    c->f[0] = numbers[k % count][0];
    c->f[1] = numbers[k % count][1];
}

static bool gradient_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(gradient_make, 0, c);
}

static bool gradient_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
#define NONE(name, value)                                                                                              \
    case WICK_OP_##name:                                                                                               \
        out[0] = wick_##name(in[0], in[1]);                                                                            \
        break;
#define ONE(name, value)                                                                                               \
    case WICK_OP_##name:                                                                                               \
        out[0] = wick_##name(in[0], in[1], c->f[0]);                                                                   \
        break;
#define TWO(name, value)                                                                                               \
    case WICK_OP_##name: out[0] = wick_##name(in[0], in[1], c->f[0], c->f[1]); break;
        OPS(NONE, ONE, TWO)
#undef NONE
#undef ONE
#undef TWO
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static long double slope_of(enum wick_op op, long double x, long double a, long double b) {
    (void)a, (void)b;
    switch (op) {
#define VALUE(name, value)                                                                                             \
    case WICK_OP_##name: return value;
        OPS(VALUE, VALUE, VALUE)
#undef VALUE
    default: return NAN;
    }
}

/* Whether the gradient is not multiplied but left out: an infinite or NaN one leaves no trace. */
static bool left_out(enum wick_op op, double x, double a, double b) {
    switch (op) {
    case WICK_OP_relu_backward:
    case WICK_OP_relu2_backward: return x <= 0;
    case WICK_OP_relu6_backward: return x <= 0 || x >= 6;
    case WICK_OP_hard_sigmoid_backward: return fabs(x) >= 3;
    case WICK_OP_hard_swish_backward: return x <= -3;
    case WICK_OP_hardtanh_backward: return x <= a || x >= b;
    default: return false;
    }
}

/* A slope that vanishes in the type it is computed in is 0 to an infinite gradient; some are never computed, as the
 * gradient is divided or multiplied twice. */
static long double held(const struct verify_case *c, long double slope) {
    if (c->op == WICK_OP_softsign_backward || c->op == WICK_OP_tanhshrink_backward) return slope;
    return c->dtype == WICK_F64 ? (long double)(double)slope : (long double)(float)slope;
}

static bool gradient_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        double g = in[0].data[i], x = in[1].data[i];
        long double slope = slope_of(c->op, x, c->f[0], c->f[1]);
        if (isinf(g)) slope = held(c, slope);
        out->data[i] = left_out(c->op, x, c->f[0], c->f[1]) ? 0 : (double)(g * slope);
        out->scale[i] = isfinite(g) ? verify_scale_operand(fabs(g)) : 0;
    }
    return true;
}

const struct verify_family verify_gradient = {
    .name = "gradient",
    .cases = gradient_cases,
    .make = gradient_make,
    .bench = gradient_bench,
    .call = gradient_call,
    .reference = gradient_reference,
    .specials = verify_yes,
    .wide = verify_yes,
};
