/* Matrix products.
 *
 * bf16, f16 and f8e4m3 multiply and add in f32 and round once; f32 and f64 in themselves; integers wrap. The same
 * operands give the same bits on any number of threads. Where the processor has AVX512_BF16, products of bf16 take
 * subnormal operands and subnormal sums as 0. */
#ifndef WICK_LINALG_H
#define WICK_LINALG_H

#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function applied to every element of a result before it is rounded and stored. */
enum wick_activation {
    WICK_ACTIVATION_NONE,
    WICK_ACTIVATION_RELU,      /* max(x, 0); NaN stays */
    WICK_ACTIVATION_GELU,      /* x (1 + erf(x / sqrt 2)) / 2 */
    WICK_ACTIVATION_GELU_TANH, /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
    WICK_ACTIVATION_SILU,      /* x / (1 + exp(-x)) */
    WICK_ACTIVATION_TANH,
    WICK_ACTIVATION_COUNT
};

/* The matrix product, as torch.matmul: lhs [...,m,k] x rhs [...,k,n] -> [...,m,n], batch dims broadcast by NumPy's
 * rule. A lhs of rank 1 is a row, [k] x [...,k,n] -> [...,n]; a rhs of rank 1 a column, [...,m,k] x [k] -> [...,m];
 * both give a scalar. All ten dtypes. k == 0 gives zeros. Any strides, without copies. WICK_SHAPE unless the inner
 * sizes are equal, the ranks at least 1, and the batch dims broadcast. */
WICK_API struct wick_tensor *wick_matmul(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* The sum of products of two vectors, [n] x [n] -> []. */
WICK_API struct wick_tensor *wick_dot(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* A matrix times a vector, [m,n] x [n] -> [m]. */
WICK_API struct wick_tensor *wick_mv(const struct wick_tensor *matrix, const struct wick_tensor *vector);

/* All products of the elements of two vectors, [m] x [n] -> [m,n]. */
WICK_API struct wick_tensor *wick_outer(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* A layer of weights, activation(x weight^T + bias): x [...,in], weight [out,in], bias [out] or NULL -> [...,out].
 * Float dtypes. Bias and activation are applied before the result is rounded. WICK_INVALID for an activation that is
 * none of the enum. */
WICK_API struct wick_tensor *wick_linear(const struct wick_tensor *x, const struct wick_tensor *weight,
                                         const struct wick_tensor *bias, enum wick_activation activation);

#ifdef __cplusplus
}
#endif
#endif
