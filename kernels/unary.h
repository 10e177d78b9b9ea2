/* Parameters of the kernels of light functions of one tensor: those without a function of the vendor's library, and
 * those with one or two numbers. */
#ifndef WICK_KERNELS_UNARY_H
#define WICK_KERNELS_UNARY_H

#include "walk.h"

/* X(name): ops of all dtypes, of floats, of integers. */
#define GPU_UNARY_ALL(X)                                                                                               \
    X(abs) X(neg) X(sqr) X(sign) X(relu) X(affine) X(add_scalar) X(sub_scalar) X(mul_scalar) X(div_scalar) X(clamp)
#define GPU_UNARY_FLOATS(X)                                                                                            \
    X(sqrt)                                                                                                            \
    X(rsqrt) X(recip) X(floor) X(ceil) X(round) X(trunc) X(relu2) X(relu6) X(hard_sigmoid) X(hard_swish) X(leaky_relu)
/* affine_by: with numbers that are not whole, in f64. same: x. */
#define GPU_UNARY_INTS(X) X(same) X(bitwise_not) X(affine_by)
/* Those of floats that call functions of some length: the kernels `math`. */
#define GPU_UNARY_MATH(X)                                                                                              \
    X(exp)                                                                                                             \
    X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(tanh) X(erf) X(gelu) X(gelu_tanh)         \
        X(sigmoid) X(silu) X(softplus) X(mish) X(selu) X(elu) X(powf)

enum gpu_unary_op {
#define GPU_UNARY_OP(name) GPU_UNARY_##name,
    GPU_UNARY_ALL(GPU_UNARY_OP) GPU_UNARY_FLOATS(GPU_UNARY_OP) GPU_UNARY_INTS(GPU_UNARY_OP) GPU_UNARY_MATH(GPU_UNARY_OP)
#undef GPU_UNARY_OP
};

struct gpu_unary {
    struct gpu_walk walk;
    u32 op;
    double f[2]; /* the numbers */
    i64 i[2];    /* the numbers of integer ops */
};

#endif
