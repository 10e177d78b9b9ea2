/* The elementwise ops, one row each. The wrappers in src/ops, the tables of the CPU kernels, the kernels for GPUs and
 * ops.def are made from these rows: a body that is missing anywhere is an error of the compiler.
 *
 *   WICK__UNARY(number, name, dtypes, cost, ulp, formula)           x -> x's dtype
 *   WICK__QUESTION(number, name, dtypes, ulp, formula)              x -> u8
 *   WICK__SCALAR1(number, name, dtypes, cost, a, ulp, formula)      x and a number -> x's dtype
 *   WICK__SCALAR2(number, name, dtypes, cost, a, b, ulp, formula)   x and two numbers -> x's dtype
 *   WICK__BINARY(number, name, dtypes, cost, ulp, formula)          lhs, rhs, which broadcast -> their dtype
 *   WICK__PAIR(number, name, dtypes, cost, ulp, formula, operands)  as BINARY, but its wrapper is written by hand
 *   WICK__COMPARISON(number, name, dtypes, ulp, formula)            lhs, rhs, which broadcast -> u8
 *   WICK__LIMIT(number, name, dtypes, ulp, formula)                 x and a number -> u8
 *   WICK__GRADIENT(number, name, of, ulp, formula)                  a gradient and x or the result -> x's gradient
 *   WICK__GRADIENT1(number, name, of, a, ulp, formula)              the same with a number
 *   WICK__GRADIENT2(number, name, of, a, b, ulp, formula)           the same with two
 *
 *   dtypes  FLOATS, INTS or ALL
 *   cost    HEAVY for tens of cycles an element, RARE for a function of one tensor whose code is not to burden the kernels
 *           of the HEAVY ones, else LIGHT
 *   of      x or result: the second operand. Gradients are of floats
 *   number, operands, ulp, formula: as in ops.def
 *
 * Who includes this defines the kinds it wants, which are undefined at the end. It is a file of kernels/, so that it
 * reaches the compilers that run with the program. */
#ifndef WICK__UNARY
#define WICK__UNARY(...)
#endif
#ifndef WICK__QUESTION
#define WICK__QUESTION(...)
#endif
#ifndef WICK__SCALAR1
#define WICK__SCALAR1(...)
#endif
#ifndef WICK__SCALAR2
#define WICK__SCALAR2(...)
#endif
#ifndef WICK__BINARY
#define WICK__BINARY(...)
#endif
#ifndef WICK__PAIR
#define WICK__PAIR(...)
#endif
#ifndef WICK__COMPARISON
#define WICK__COMPARISON(...)
#endif
#ifndef WICK__LIMIT
#define WICK__LIMIT(...)
#endif
#ifndef WICK__GRADIENT
#define WICK__GRADIENT(...)
#endif
#ifndef WICK__GRADIENT1
#define WICK__GRADIENT1(...)
#endif
#ifndef WICK__GRADIENT2
#define WICK__GRADIENT2(...)
#endif

WICK__UNARY(27, exp, FLOATS, HEAVY, 1, "e^x")
WICK__UNARY(28, exp2, FLOATS, HEAVY, 1, "2^x")
WICK__UNARY(29, expm1, FLOATS, HEAVY, 1, "e^x - 1")
WICK__UNARY(30, log, FLOATS, HEAVY, 1, "natural logarithm of x")
WICK__UNARY(31, log2, FLOATS, HEAVY, 1, "logarithm of x to base 2")
WICK__UNARY(32, log10, FLOATS, HEAVY, 1, "logarithm of x to base 10")
WICK__UNARY(33, log1p, FLOATS, HEAVY, 1, "log(1 + x)")
WICK__UNARY(34, sin, FLOATS, HEAVY, 1, "sin x")
WICK__UNARY(35, cos, FLOATS, HEAVY, 1, "cos x")
WICK__UNARY(36, tan, FLOATS, HEAVY, 2, "tan x")
WICK__UNARY(37, tanh, FLOATS, HEAVY, 1, "tanh x")
WICK__UNARY(38, erf, FLOATS, HEAVY, 4, "2/sqrt(pi) integral of e^(-t^2) from 0 to x")
WICK__UNARY(255, asin, FLOATS, RARE, 3, "the angle in -pi/2 .. pi/2 whose sine is x")
WICK__UNARY(256, acos, FLOATS, RARE, 3, "the angle in 0 .. pi whose cosine is x")
WICK__UNARY(257, atan, FLOATS, RARE, 2, "the angle in -pi/2 .. pi/2 whose tangent is x")
WICK__UNARY(258, sinh, FLOATS, RARE, 4, "(e^x - e^-x) / 2")
WICK__UNARY(259, cosh, FLOATS, RARE, 4, "(e^x + e^-x) / 2")
WICK__UNARY(260, asinh, FLOATS, RARE, 4, "log(x + sqrt(x^2 + 1))")
WICK__UNARY(261, acosh, FLOATS, RARE, 4, "log(x + sqrt(x^2 - 1))")
WICK__UNARY(262, atanh, FLOATS, RARE, 4, "log((1 + x) / (1 - x)) / 2")
WICK__UNARY(263, erfc, FLOATS, RARE, 4, "1 - erf(x)")
WICK__UNARY(264, erfinv, FLOATS, RARE, 6, "y with erf(y) = x")
WICK__UNARY(265, lgamma, FLOATS, RARE, 6, "log |gamma(x)|")
WICK__UNARY(39, sqrt, FLOATS, LIGHT, 0, "square root of x")
WICK__UNARY(40, rsqrt, FLOATS, LIGHT, 1, "1 / sqrt(x)")
WICK__UNARY(41, recip, FLOATS, LIGHT, 0, "1 / x")
WICK__UNARY(42, abs, ALL, LIGHT, 0, "x without its sign")
WICK__UNARY(43, neg, ALL, LIGHT, 0, "-x")
WICK__UNARY(44, sqr, ALL, LIGHT, 0, "x x")
WICK__UNARY(45, sign, ALL, LIGHT, 0, "-1, 0 or 1")
WICK__UNARY(46, floor, ALL, LIGHT, 0, "the largest whole number <= x")
WICK__UNARY(47, ceil, ALL, LIGHT, 0, "the smallest whole number >= x")
WICK__UNARY(48, round, ALL, LIGHT, 0, "the nearest whole number, ties to even")
WICK__UNARY(187, round_ties_away, ALL, LIGHT, 0, "the nearest whole number, ties away from 0")
WICK__UNARY(49, trunc, ALL, LIGHT, 0, "the whole part of x")
WICK__UNARY(50, relu, ALL, LIGHT, 0, "max(x, 0)")
WICK__UNARY(51, relu2, FLOATS, LIGHT, 0, "max(x, 0)^2")
WICK__UNARY(52, relu6, FLOATS, LIGHT, 0, "min(max(x, 0), 6)")
WICK__UNARY(53, gelu, FLOATS, HEAVY, 4, "x (1 + erf(x / sqrt 2)) / 2")
WICK__UNARY(54, gelu_tanh, FLOATS, HEAVY, 4, "x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2")
WICK__UNARY(55, sigmoid, FLOATS, HEAVY, 3, "1 / (1 + e^-x)")
WICK__UNARY(56, silu, FLOATS, HEAVY, 3, "x / (1 + e^-x)")
WICK__UNARY(57, softplus, FLOATS, HEAVY, 3, "log(1 + e^x)")
WICK__UNARY(58, mish, FLOATS, HEAVY, 4, "x tanh(log(1 + e^x))")
WICK__UNARY(59, hard_sigmoid, FLOATS, LIGHT, 2, "relu6(x + 3) / 6")
WICK__UNARY(60, hard_swish, FLOATS, LIGHT, 2, "x relu6(x + 3) / 6")
WICK__UNARY(61, selu, FLOATS, HEAVY, 3, "1.0507 x for x > 0, 1.0507 1.6733 (e^x - 1) otherwise")
WICK__UNARY(194, softsign, FLOATS, LIGHT, 1, "x / (1 + |x|)")
WICK__UNARY(195, tanhshrink, FLOATS, HEAVY, 2, "x - tanh x")
WICK__UNARY(196, log_sigmoid, FLOATS, HEAVY, 3, "-log(1 + e^-x)")
WICK__UNARY(62, bitwise_not, INTS, LIGHT, 0, "all bits turned")
WICK__QUESTION(63, logical_not, ALL, 0, "x == 0, as u8")
WICK__QUESTION(64, isnan, FLOATS, 0, "x != x, as u8")
WICK__QUESTION(65, isinf, FLOATS, 0, "x is infinite, as u8")
WICK__QUESTION(66, isfinite, FLOATS, 0, "x is neither infinite nor NaN, as u8")
WICK__SCALAR2(67, affine, ALL, LIGHT, mul, add, 1, "x mul + add")
WICK__SCALAR1(68, add_scalar, ALL, LIGHT, value, 1, "x + value")
WICK__SCALAR1(69, sub_scalar, ALL, LIGHT, value, 1, "x - value")
WICK__SCALAR1(70, mul_scalar, ALL, LIGHT, value, 1, "x value")
WICK__SCALAR1(71, div_scalar, ALL, LIGHT, value, 1, "x / value")
WICK__SCALAR1(72, powf, FLOATS, HEAVY, exponent, 2, "x^exponent")
WICK__SCALAR1(73, elu, FLOATS, HEAVY, alpha, 2, "x for x > 0, alpha (e^x - 1) otherwise")
WICK__SCALAR1(181, celu, FLOATS, HEAVY, alpha, 3, "x for x > 0, alpha (e^(x / alpha) - 1) otherwise")
WICK__SCALAR1(74, leaky_relu, FLOATS, LIGHT, slope, 1, "x for x >= 0, slope x otherwise")
WICK__SCALAR2(197, hardtanh, FLOATS, LIGHT, low, high, 0, "min(max(x, low), high)")
WICK__SCALAR2(198, softplus_beta, FLOATS, HEAVY, beta, threshold, 3, "log(1 + e^(beta x)) / beta, x beyond it")
WICK__SCALAR2(75, clamp, ALL, LIGHT, low, high, 0, "min(max(x, low), high)")
WICK__BINARY(76, add, ALL, LIGHT, 0, "x + y")
WICK__BINARY(77, sub, ALL, LIGHT, 0, "x - y")
WICK__BINARY(78, mul, ALL, LIGHT, 0, "x y")
WICK__BINARY(79, div, ALL, LIGHT, 0, "x / y, integers truncated")
WICK__BINARY(80, maximum, ALL, LIGHT, 0, "the larger of x and y")
WICK__BINARY(81, minimum, ALL, LIGHT, 0, "the smaller of x and y")
WICK__BINARY(82, pow, ALL, HEAVY, 2, "x^y")
WICK__BINARY(83, remainder, ALL, HEAVY, 1, "x - y floor(x / y)")
WICK__BINARY(266, fmod, ALL, HEAVY, 1, "x - y trunc(x / y)")
WICK__BINARY(267, floor_divide, ALL, HEAVY, 2, "floor(x / y)")
WICK__BINARY(268, trunc_divide, ALL, LIGHT, 0, "trunc(x / y)")
WICK__BINARY(84, atan2, FLOATS, HEAVY, 1, "the angle of (y, x)")
WICK__PAIR(85, prelu, FLOATS, LIGHT, 0, "x for x > 0, weight x otherwise", IN(x, FLOATS), IN(weight, SAME))
WICK__PAIR(86, swiglu, FLOATS, HEAVY, 4, "silu(a) b for the halves a, b of the last dim", IN(x, FLOATS))
WICK__PAIR(199, glu, FLOATS, HEAVY, 3, "a sigmoid(b) for the halves a, b of a dim", IN(x, FLOATS))
WICK__BINARY(87, bitwise_and, INTS, LIGHT, 0, "bits set in x and y")
WICK__BINARY(88, bitwise_or, INTS, LIGHT, 0, "bits set in x or y")
WICK__BINARY(89, bitwise_xor, INTS, LIGHT, 0, "bits set in one of x and y")
WICK__BINARY(90, shift_left, INTS, LIGHT, 0, "x 2^y")
WICK__BINARY(91, shift_right, INTS, LIGHT, 0, "floor(x / 2^y)")
WICK__COMPARISON(92, eq, ALL, 0, "x == y, as u8")
WICK__COMPARISON(93, ne, ALL, 0, "x != y, as u8")
WICK__COMPARISON(94, lt, ALL, 0, "x < y, as u8")
WICK__COMPARISON(95, le, ALL, 0, "x <= y, as u8")
WICK__COMPARISON(96, gt, ALL, 0, "x > y, as u8")
WICK__COMPARISON(97, ge, ALL, 0, "x >= y, as u8")
WICK__COMPARISON(269, logical_and, ALL, 0, "x != 0 and y != 0, as u8")
WICK__COMPARISON(270, logical_or, ALL, 0, "x != 0 or y != 0, as u8")
WICK__COMPARISON(271, logical_xor, ALL, 0, "(x != 0) != (y != 0), as u8")
WICK__LIMIT(188, eq_scalar, ALL, 0, "x == value, as u8")
WICK__LIMIT(189, ne_scalar, ALL, 0, "x != value, as u8")
WICK__LIMIT(190, lt_scalar, ALL, 0, "x < value, as u8")
WICK__LIMIT(191, le_scalar, ALL, 0, "x <= value, as u8")
WICK__LIMIT(192, gt_scalar, ALL, 0, "x > value, as u8")
WICK__LIMIT(193, ge_scalar, ALL, 0, "x >= value, as u8")
WICK__GRADIENT(200, relu_backward, x, 0, "gradient for x > 0, 0 otherwise")
WICK__GRADIENT(201, relu2_backward, x, 1, "2 x gradient for x > 0, 0 otherwise")
WICK__GRADIENT(202, relu6_backward, x, 0, "gradient for 0 < x < 6, 0 otherwise")
WICK__GRADIENT(203, hard_sigmoid_backward, x, 1, "gradient / 6 for -3 < x < 3, 0 otherwise")
WICK__GRADIENT(204, hard_swish_backward, x, 2, "gradient (x / 3 + 1/2) for -3 < x < 3, 0 below, gradient above")
WICK__GRADIENT(205, softsign_backward, x, 3, "gradient / (1 + |x|)^2")
WICK__GRADIENT1(206, leaky_relu_backward, x, slope, 0, "gradient for x > 0, slope gradient otherwise")
WICK__GRADIENT2(207, hardtanh_backward, x, low, high, 0, "gradient for low < x < high, 0 otherwise")
WICK__GRADIENT(208, sigmoid_backward, result, 2, "gradient y (1 - y)")
WICK__GRADIENT(209, tanh_backward, result, 2, "gradient (1 - y^2)")
WICK__GRADIENT(210, tanhshrink_backward, x, 4, "gradient tanh(x)^2")
WICK__GRADIENT(211, gelu_backward, x, 8, "gradient (Phi(x) + x phi(x)), Phi and phi of the normal distribution")
WICK__GRADIENT(212, gelu_tanh_backward, x, 8, "gradient times gelu_tanh's derivative")
WICK__GRADIENT(213, silu_backward, x, 6, "gradient (s + x s (1 - s)), s = sigmoid x")
WICK__GRADIENT(214, mish_backward, x, 8, "gradient times mish's derivative")
WICK__GRADIENT2(215, softplus_backward, x, beta, threshold, 4, "gradient sigmoid(beta x), gradient beyond it")
WICK__GRADIENT(216, log_sigmoid_backward, x, 4, "gradient sigmoid(-x)")
WICK__GRADIENT(217, selu_backward, x, 4, "1.0507 gradient for x > 0, 1.0507 1.6733 gradient e^x otherwise")
WICK__GRADIENT1(218, elu_backward, x, alpha, 4, "gradient for x > 0, alpha gradient e^x otherwise")
WICK__GRADIENT1(219, celu_backward, x, alpha, 4, "gradient for x > 0, gradient e^(x / alpha) otherwise")

#undef WICK__UNARY
#undef WICK__QUESTION
#undef WICK__SCALAR1
#undef WICK__SCALAR2
#undef WICK__BINARY
#undef WICK__PAIR
#undef WICK__COMPARISON
#undef WICK__LIMIT
#undef WICK__GRADIENT
#undef WICK__GRADIENT1
#undef WICK__GRADIENT2
