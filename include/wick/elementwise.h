/* Element by element: arithmetic, functions, activations, comparisons, choice, casts, filling.
 *
 * Shapes are arbitrary, [..]. Two operands broadcast to a common shape by NumPy's rule: sizes are equal, or one of them
 * is 1 or missing. "Floats" means bf16, f16, f32, f64 and f8e4m3, "integers" u8, u32, i16, i32 and i64, "all" both.
 * Functions for floats only fail with WICK_UNSUPPORTED for integers.
 *
 * bf16, f16 and f8e4m3 are computed in f32 and rounded once to nearest even; f8e4m3 saturates at +-448. Integers wrap
 * (two's complement). Functions of floats propagate NaN, unless they say otherwise. */
#ifndef WICK_ELEMENTWISE_H
#define WICK_ELEMENTWISE_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions of one tensor ---- the result has the shape and, unless stated otherwise, the dtype of x. */

/* Floats. */
WICK_API struct wick_tensor *wick_exp(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_exp2(const struct wick_tensor *x);
/* e^x - 1 and log(1 + x), precise near 0. */
WICK_API struct wick_tensor *wick_expm1(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_log1p(const struct wick_tensor *x);
/* Logarithms: -inf for 0, NaN below. */
WICK_API struct wick_tensor *wick_log(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_log2(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_log10(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_sin(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_cos(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_tan(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_tanh(const struct wick_tensor *x);
/* Angles in radians: asin and atan from -pi/2 to pi/2, acos from 0 to pi. asin and acos are NaN beyond -1 .. 1. */
WICK_API struct wick_tensor *wick_asin(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_acos(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_atan(const struct wick_tensor *x);
/* Hyperbolic functions and their inverses: acosh is NaN below 1, atanh beyond -1 .. 1. */
WICK_API struct wick_tensor *wick_sinh(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_cosh(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_asinh(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_acosh(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_atanh(const struct wick_tensor *x);
/* 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x. */
WICK_API struct wick_tensor *wick_erf(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_sqrt(const struct wick_tensor *x);
/* 1 - erf(x), precise for large x; and the inverse of erf, infinite for -1 and 1, NaN beyond. */
WICK_API struct wick_tensor *wick_erfc(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_erfinv(const struct wick_tensor *x);
/* The logarithm of |gamma(x)|: infinite for 0 and negative whole numbers. */
WICK_API struct wick_tensor *wick_lgamma(const struct wick_tensor *x);
/* 1/sqrt(x) and 1/x. */
WICK_API struct wick_tensor *wick_rsqrt(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_recip(const struct wick_tensor *x);

/* All. Negated integers wrap: 256 - x for u8. The absolute value of the least integer is itself. */
WICK_API struct wick_tensor *wick_abs(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_neg(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_sqr(const struct wick_tensor *x);
/* -1, 0 or 1; 0 for NaN. */
WICK_API struct wick_tensor *wick_sign(const struct wick_tensor *x);
/* Round to whole numbers: down, up, to nearest with ties to even, to nearest with ties away from 0 as C's round,
 * towards 0. Integers stay as they are. */
WICK_API struct wick_tensor *wick_floor(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_ceil(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_round(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_round_ties_away(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_trunc(const struct wick_tensor *x);

/* ---- activations ---- floats; relu also integers. */

/* max(x, 0), its square, and min(max(x, 0), 6). */
WICK_API struct wick_tensor *wick_relu(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_relu2(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_relu6(const struct wick_tensor *x);
/* x (1 + erf(x / sqrt 2)) / 2. */
WICK_API struct wick_tensor *wick_gelu(const struct wick_tensor *x);
/* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2. */
WICK_API struct wick_tensor *wick_gelu_tanh(const struct wick_tensor *x);
/* 1 / (1 + e^-x), and x times it. */
WICK_API struct wick_tensor *wick_sigmoid(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_silu(const struct wick_tensor *x);
/* log(1 + e^x), and x tanh(log(1 + e^x)). */
WICK_API struct wick_tensor *wick_softplus(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_mish(const struct wick_tensor *x);
/* relu6(x + 3) / 6, and x times it. */
WICK_API struct wick_tensor *wick_hard_sigmoid(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_hard_swish(const struct wick_tensor *x);
/* 1.0507.. x for x > 0, 1.0507.. 1.6732.. (e^x - 1) otherwise. */
WICK_API struct wick_tensor *wick_selu(const struct wick_tensor *x);
/* x for x > 0, alpha (e^x - 1) otherwise. */
WICK_API struct wick_tensor *wick_elu(const struct wick_tensor *x, double alpha);
/* x for x > 0, alpha (e^(x / alpha) - 1) otherwise. WICK_INVALID for alpha 0. */
WICK_API struct wick_tensor *wick_celu(const struct wick_tensor *x, double alpha);
/* x / (1 + |x|), x - tanh(x), and the logarithm of the sigmoid. */
WICK_API struct wick_tensor *wick_softsign(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_tanhshrink(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_log_sigmoid(const struct wick_tensor *x);
/* min(max(x, low), high). */
WICK_API struct wick_tensor *wick_hardtanh(const struct wick_tensor *x, double low, double high);
/* log(1 + e^(beta x)) / beta; x where beta x > threshold, PyTorch's default is 20. WICK_INVALID for beta 0. */
WICK_API struct wick_tensor *wick_softplus_beta(const struct wick_tensor *x, double beta, double threshold);
/* x for x >= 0, slope x otherwise. */
WICK_API struct wick_tensor *wick_leaky_relu(const struct wick_tensor *x, double slope);
/* x for x > 0, weight x otherwise. `weight` has one element, or one for each position of dim 1 of x: x [N,C,..],
 * weight [C]; for a vector x [C], one for each element. WICK_SHAPE otherwise. */
WICK_API struct wick_tensor *wick_prelu(const struct wick_tensor *x, const struct wick_tensor *weight);
/* silu(a) b, where a and b are the halves of x along its last dim. [..,2N] -> [..,N]. WICK_SHAPE for rank 0 or an
 * odd size. */
WICK_API struct wick_tensor *wick_swiglu(const struct wick_tensor *x);
/* a sigmoid(b), where a and b are the halves of x along dim. [..,2N,..] -> [..,N,..]. WICK_SHAPE for an odd size. */
WICK_API struct wick_tensor *wick_glu(const struct wick_tensor *x, int dim);

/* ---- with numbers (number.h) ---- For floats the number is rounded once, to f32 (f64 for f64 tensors). For integers,
 * see each function. */

/* x mul + add. All. Integers use wrapping integer arithmetic if both numbers are whole, even if a real one exceeds 64
 * bits. Otherwise they compute in f64 and cast back as wick_cast does. */
WICK_API struct wick_tensor *wick_affine(const struct wick_tensor *x, struct wick_number mul, struct wick_number add);
/* x + value and so on. All. For integers, a real number is first cast to i64 as wick_cast does, and results wrap.
 * Integer division truncates towards 0; dividing by 0 is WICK_DIVIDE. */
WICK_API struct wick_tensor *wick_add_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_sub_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_mul_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_div_scalar(const struct wick_tensor *x, struct wick_number value);
/* x^exponent. Floats. */
WICK_API struct wick_tensor *wick_powf(const struct wick_tensor *x, double exponent);
/* min(max(x, low), high). All. Bounds may be infinite; WICK_INVALID for NaN. For integers, the bounds are the least
 * integer that is not below low and the greatest that is not above high, within the dtype's range. So bounds of 0.2 and
 * 0.8, with no integer between them, give 0. */
WICK_API struct wick_tensor *wick_clamp(const struct wick_tensor *x, struct wick_number low, struct wick_number high);
/* max(x, value) and min(x, value): wick_clamp with one bound. */
WICK_API struct wick_tensor *wick_maximum_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_minimum_scalar(const struct wick_tensor *x, struct wick_number value);

/* ---- functions of two tensors of one dtype, which broadcast ---- WICK_SHAPE when they do not. */

/* All. Integer quotients truncate towards 0; dividing an integer by 0 is WICK_DIVIDE. */
WICK_API struct wick_tensor *wick_add(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_sub(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_mul(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_div(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* All. NaN where either is NaN. */
WICK_API struct wick_tensor *wick_maximum(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_minimum(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* lhs^rhs. All. Integers wrap. To a negative power, 1 gives 1, -1 gives 1 or -1, and everything else 0. */
WICK_API struct wick_tensor *wick_pow(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* lhs - rhs floor(lhs / rhs), with the sign of rhs. All. NaN for a float divisor 0, WICK_DIVIDE for an integer one. */
WICK_API struct wick_tensor *wick_remainder(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* lhs - rhs trunc(lhs / rhs), with the sign of lhs: C's fmod. All. Divisors of 0 as in wick_remainder. */
WICK_API struct wick_tensor *wick_fmod(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* lhs / rhs rounded to a whole number: down, as Python's //, and towards 0. All. floor_divide rounds the exact quotient
 * down, trunc_divide the quotient that is rounded to the dtype (f32 for smaller floats). A float divisor 0 gives what
 * wick_div gives, an integer one WICK_DIVIDE. floor_divide of an infinity is NaN. */
WICK_API struct wick_tensor *wick_floor_divide(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_trunc_divide(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* The angle of the point (rhs, lhs), from -pi to pi. Floats. */
WICK_API struct wick_tensor *wick_atan2(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* Integers. A count below 0, or not below the dtype's bits, shifts all bits out: the result is 0, or -1 for a negative
 * number shifted right. Right shifts of signed integers repeat the sign. */
WICK_API struct wick_tensor *wick_bitwise_and(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_bitwise_or(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_bitwise_xor(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_bitwise_not(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_shift_left(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_shift_right(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* ---- comparisons and tests ---- the result is u8: 1 for true, 0 for false. */

/* All, two tensors of one dtype, which broadcast. NaN is unequal to everything, and neither less nor greater than
 * anything. */
WICK_API struct wick_tensor *wick_eq(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_ne(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_lt(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_le(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_gt(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_ge(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* Whether both, one or both, and one alone are not 0. NaN is not 0. All, two tensors of one dtype, which broadcast. */
WICK_API struct wick_tensor *wick_logical_and(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_logical_or(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
WICK_API struct wick_tensor *wick_logical_xor(const struct wick_tensor *lhs, const struct wick_tensor *rhs);
/* Comparisons with a number, which is not rounded to the dtype first: exact for every number and every element. So 0.1
 * is equal to no f32, and 3e9 is greater than every i32. */
WICK_API struct wick_tensor *wick_eq_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_ne_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_lt_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_le_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_gt_scalar(const struct wick_tensor *x, struct wick_number value);
WICK_API struct wick_tensor *wick_ge_scalar(const struct wick_tensor *x, struct wick_number value);
/* x == 0. All. */
WICK_API struct wick_tensor *wick_logical_not(const struct wick_tensor *x);
/* Floats. */
WICK_API struct wick_tensor *wick_isnan(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_isinf(const struct wick_tensor *x);
WICK_API struct wick_tensor *wick_isfinite(const struct wick_tensor *x);

/* ---- made of others ---- operands broadcast, WICK_SHAPE when they do not */

/* x with `nan`, `above` and `below` in place of NaN, +infinity and -infinity. Floats. */
WICK_API struct wick_tensor *wick_nan_to_num(const struct wick_tensor *x, double nan, double above, double below);
/* start + weight (end - start), end - (1 - weight) (end - start) for |weight| >= 0.5. Floats, of one dtype. */
WICK_API struct wick_tensor *wick_lerp(const struct wick_tensor *start, const struct wick_tensor *end,
                                       const struct wick_tensor *weight);
/* |lhs - rhs| <= absolute + relative |rhs|, computed in f64, as u8. Equal infinities are close; NaNs with `equal_nan`.
 * All, of one dtype. WICK_INVALID unless both tolerances are >= 0. */
WICK_API struct wick_tensor *wick_isclose(const struct wick_tensor *lhs, const struct wick_tensor *rhs, double relative,
                                          double absolute, bool equal_nan);
/* Whether that holds everywhere. It waits for the device. A failure leaves *result as it was. */
WICK_API WICK_CHECKED enum wick_status wick_allclose(const struct wick_tensor *lhs, const struct wick_tensor *rhs,
                                                     double relative, double absolute, bool equal_nan, bool *result);

/* ---- choice, casts, filling ---- */

/* a where the condition is not 0, b where it is. a and b: all, of one dtype; condition: integers. All three
 * broadcast. */
WICK_API struct wick_tensor *wick_where(const struct wick_tensor *condition, const struct wick_tensor *a,
                                        const struct wick_tensor *b);

/* x in another dtype; a view of x if it has that dtype already. Between all, and bool, i8, u16, u64 and f8e5m2.
 *
 *   float to float      to nearest even, rounded once; f8e4m3 saturates at +-448, infinities too; NaN stays NaN
 *   float to integer    towards 0, saturating; NaN gives 0
 *   integer to integer  wraps
 *   integer to float    to nearest even, rounded once
 *   to bool             x != 0
 *   blocks to float     f32, f16, bf16: scale q + shift as GGML computes it in f32, then rounded
 *   float to blocks     as wick_quantise without options
 *
 * WICK_DTYPE for a value that is not a dtype, WICK_UNSUPPORTED for a dtype to which the device has no cast. */
WICK_API struct wick_tensor *wick_cast(const struct wick_tensor *x, enum wick_dtype dtype);

struct wick_quantise_options {
    /* The weight of errors in each column, [K] of f32, >= 0: the mean square of the numbers that multiply the column.
     * NULL: all columns count the same. */
    const struct wick_tensor *importance;
    WICK_RESERVED;
};

/* x [..,K] of f32, f16 or bf16 as blocks of a quantised dtype. It searches scales that keep the sum of squared errors
 * small. `options` may be NULL. The CPU computes it, whichever device x is on. WICK_INVALID while a graph records it.
 * WICK_UNSUPPORTED for the dtypes iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq3_xxs and iq3_s, and those that are not
 * quantised. WICK_SHAPE unless K is a multiple of the dtype's block, and for importance that is not [K]. WICK_RANGE for
 * an element of x that is NaN or beyond 65504, and for importance that is negative or not finite. */
WICK_API struct wick_tensor *wick_quantise(const struct wick_tensor *x, enum wick_dtype dtype,
                                           const struct wick_quantise_options *options);

/* Writes the value, cast as wick_cast does, to every element of x. WICK_INVALID if elements of x share an address. */
WICK_API WICK_CHECKED enum wick_status wick_fill_inplace(struct wick_tensor *x, struct wick_number value);

/* Writes the elements of source to target. Source has the target's dtype and broadcasts to its shape. The two may
 * overlap. WICK_INVALID if elements of target share an address. */
WICK_API WICK_CHECKED enum wick_status wick_copy_inplace(struct wick_tensor *target, const struct wick_tensor *source);

#ifdef __cplusplus
}
#endif
#endif
