/* The scalar family: functions of one tensor and numbers, f[0] and f[1]. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>

/* Whole numbers first, so that integers are tried with both kinds. */
static const double numbers[][2] = {{3, -5}, {-2, 7}, {1.5, 0.25}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

double verify_held(enum wick_dtype dtype, double x) {
    if (dtype == WICK_DTYPE_bool) return x != 0;
    if (wick_dtype_is_float(dtype) || verify_number(x).is_real) return verify_round(dtype, x);
    return verify_wrap(dtype, (verify_wide)x);
}

struct wick_number verify_number(double x) {
    return x >= 0 && x < 0x1p62 && x == trunc(x) ? WICK_INT((int64_t)x) : WICK_REAL(x);
}

static int scalar_cases(enum wick_op op) {
    (void)op;
    return verify_one_shapes() * NUMBERS;
}

static void scalar_make(enum wick_op op, int k, struct verify_case *c) {
    const double *n = numbers[k % NUMBERS];
    bool powf = op == WICK_OP_powf;
    c->n_in = c->n_out = 1;
    c->in[0] = verify_one_operand(k / NUMBERS, powf ? 0.1 : -8, powf ? 20 : 30);
    c->f[0] = n[0];
    c->f[1] = n[1];
    if (op == WICK_OP_clamp || op == WICK_OP_hardtanh) {
        c->f[0] = n[0] < n[1] ? n[0] : n[1];
        c->f[1] = n[0] < n[1] ? n[1] : n[0];
    }
}

static bool scalar_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(scalar_make, 2, c);
}

static double clamped(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* log(1 + e^z) / beta, z = beta x. */
static long double softplus(double x, double beta, double threshold) {
    long double z = (long double)x * beta;
    if (z > threshold) return x;
    return (z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z))) / beta;
}

/* The ops with one number, a, and with two, a and b, and those whose numbers are doubles; their values in float64. */
#define FORMULAS(ONE, TWO, REAL, REAL2)                                                                                \
    TWO(affine, x *a + b)                                                                                              \
    TWO(clamp, clamped(x, a, b))                                                                                       \
    ONE(add_scalar, x + a)                                                                                             \
    ONE(sub_scalar, x - a)                                                                                             \
    ONE(mul_scalar, x *a)                                                                                              \
    ONE(div_scalar, x / a)                                                                                             \
    REAL(powf, (double)powl(x, a))                                                                                     \
    REAL(elu, (double)(x > 0 ? x : a * expm1l(x)))                                                                     \
    REAL(celu, isnan(x) ? x : (double)(fmax(x, 0) + fminl(a * expm1l((long double)x / a), 0)))                         \
    REAL(leaky_relu, x < 0 ? a * x : x)                                                                                \
    REAL2(hardtanh, clamped(x, a, b))                                                                                  \
    REAL2(softplus_beta, (double)softplus(x, a, b))

static bool scalar_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
#define ONE(name, value)                                                                                               \
    case WICK_OP_##name:                                                                                               \
        out[0] = wick_##name(in[0], verify_number(c->f[0]));                                                           \
        break;
#define TWO(name, value)                                                                                               \
    case WICK_OP_##name:                                                                                               \
        out[0] = wick_##name(in[0], verify_number(c->f[0]), verify_number(c->f[1]));                                   \
        break;
#define REAL(name, value)                                                                                              \
    case WICK_OP_##name:                                                                                               \
        out[0] = wick_##name(in[0], c->f[0]);                                                                          \
        break;
#define REAL2(name, value)                                                                                             \
    case WICK_OP_##name: out[0] = wick_##name(in[0], c->f[0], c->f[1]); break;
        FORMULAS(ONE, TWO, REAL, REAL2)
#undef REAL
#undef REAL2
#undef ONE
#undef TWO
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static double value_of(enum wick_op op, double x, double a, double b) {
    switch (op) {
#define VALUE(name, value)                                                                                             \
    case WICK_OP_##name: return value;
        FORMULAS(VALUE, VALUE, VALUE, VALUE)
#undef VALUE
    default: return NAN;
    }
}

/* Integers: as elementwise.h says at each. */
static double int_value_of(enum wick_op op, enum wick_dtype dtype, double x, double a, double b) {
    bool whole = a == trunc(a) && b == trunc(b);
    if (op == WICK_OP_clamp) return clamped(x, verify_round(dtype, ceil(a)), verify_round(dtype, floor(b)));
    if (op == WICK_OP_affine && !whole) return verify_round(dtype, x * a + b);
    if (op != WICK_OP_affine) a = trunc(a);
    return verify_wrap(dtype, (verify_wide)trunc(value_of(op, x, a, b)));
}

static bool scalar_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    double a = c->f[0], b = c->f[1];
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    for (int64_t i = 0; i < in->count; i++) {
        double x = in->data[i];
        out->data[i] =
            wick_dtype_is_float(c->dtype) ? value_of(c->op, x, a, b) : int_value_of(c->op, c->dtype, x, a, b);
        out->scale[i] = c->op == WICK_OP_affine ? verify_scale_affine(fabs(x * a), fabs(b)) : 0;
        if (c->op == WICK_OP_softplus_beta) out->scale[i] = verify_scale_softplus(fabs(out->data[i]), fabs(x * a));
    }
    return true;
}

static bool scalar_exact(enum wick_op op) {
    return op == WICK_OP_affine || op == WICK_OP_add_scalar || op == WICK_OP_sub_scalar || op == WICK_OP_mul_scalar ||
           op == WICK_OP_clamp || op == WICK_OP_hardtanh;
}

const struct verify_family verify_scalar = {
    .name = "scalar",
    .cases = scalar_cases,
    .make = scalar_make,
    .bench = scalar_bench,
    .call = scalar_call,
    .reference = scalar_reference,
    .specials = verify_yes,
    .wide = verify_yes,
    .exact = scalar_exact,
    .ordered = true,
};
