/* Matrix products.
 *
 * bf16, f16 and f8e4m3 multiply and add in f32 and round once; f32 and f64 use their own precision; integers wrap. The
 * same operands give the same bits on any number of threads. On processors with AVX512_BF16, and on gfx90a, products of
 * bf16 treat subnormal operands and subnormal sums as 0. */
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
 * both give a scalar. All ten dtypes. k == 0 gives zeros. Any strides. WICK_SHAPE unless the inner sizes are equal, the
 * ranks are at least 1, and the batch dims broadcast. */
WICK_API struct wick_tensor *wick_matmul(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* The sum of products of two vectors, [n] x [n] -> []. */
WICK_API struct wick_tensor *wick_dot(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* A matrix times a vector, [m,n] x [n] -> [m]. */
WICK_API struct wick_tensor *wick_mv(const struct wick_tensor *matrix, const struct wick_tensor *vector);

/* All products of the elements of two vectors, [m] x [n] -> [m,n]. */
WICK_API struct wick_tensor *wick_outer(const struct wick_tensor *lhs, const struct wick_tensor *rhs);

/* The sum of the products of n operands of one dtype, 1 to 8, over the labels that the result lacks: "bij,bjk->bik" is
 * a product of batches, "ij->ji" a transpose, "ii" a trace. A label, a letter, stands for each dim of each operand;
 * equal ones in an operand take a diagonal. "...", once in an operand, stands for the dims that its labels leave; those
 * of all operands broadcast, from the last one: "...ij,...jk->...ik". A result without "..." sums over them. Without
 * "->" the result has the dims of "..." and then the labels that stand there once, in alphabetical order, capitals
 * first. All ten dtypes. Operands are multiplied from the left, and each product is rounded. WICK_INVALID for another
 * text; WICK_SHAPE for sizes of one label that differ, and for more than WICK_MAX_RANK dims on the way. */
WICK_API struct wick_tensor *wick_einsum(const char *text, int n, struct wick_tensor *const *operands);

/* beta input + alpha lhs rhs: lhs [m,k] x rhs [k,n], or [b,m,k] x [b,k,n] for baddbmm. Input broadcasts to the shape of
 * the product; for beta 0 nothing of it is read. Floats. The product is rounded to the dtype before it is scaled.
 * WICK_SHAPE for other ranks, or sizes that do not agree. */
WICK_API struct wick_tensor *wick_addmm(const struct wick_tensor *input, const struct wick_tensor *lhs,
                                        const struct wick_tensor *rhs, double beta, double alpha);
WICK_API struct wick_tensor *wick_baddbmm(const struct wick_tensor *input, const struct wick_tensor *lhs,
                                          const struct wick_tensor *rhs, double beta, double alpha);

/* A layer of weights, activation(x weight^T + bias): x [...,in], weight [out,in], bias [out] or NULL -> [...,out].
 * Float dtypes. The result is rounded after bias and activation. WICK_INVALID for an activation outside the enum. */
WICK_API struct wick_tensor *wick_linear(const struct wick_tensor *x, const struct wick_tensor *weight,
                                         const struct wick_tensor *bias, enum wick_activation activation);

/* ---- weights of GGML's blocks, and of 16 bits ---- */

/* How a layer multiplies weights of blocks, or weights of bf16 or f16 by f32. docs/numerics.md has the bounds. */
enum wick_products {
    WICK_PRODUCTS_EXACT, /* activations as they are, by the numbers that the blocks stand for */
    /* Activations rounded to whole numbers of 8 bits, 32 of them by one scale, as GGML does. Much faster. For weights
     * of 16 bits a GPU rounds many rows of activations to the weights' dtype, one row not. */
    WICK_PRODUCTS_8_BIT,
    WICK_PRODUCTS_COUNT
};

struct wick_linear_options {
    enum wick_activation activation;
    enum wick_products products; /* where x and weight differ in dtype; there is one way for others */
    /* The layer takes wick_rms_norm(x, norm, epsilon) in place of x, norm [K] of x's dtype; NULL: x as it is. For
     * products of 8 bits by weights of blocks, or of 16 bits by f32, a GPU norms a single row without rounding it to
     * x's dtype. */
    const struct wick_tensor *norm;
    double epsilon;
    /* Rows [M,K] behind those of weight, of a dtype that weight could have; NULL: none. Results and bias have N + M
     * columns then. For products of 8 bits by weights of blocks a GPU multiplies a single row by both at once. */
    const struct wick_tensor *more;
    /* The layer takes wick_swiglu(x), x [..,2K], in place of x, ahead of a norm. For products of 8 bits by weights of
     * blocks a GPU rounds that of a single row of f32 once for the whole layer. */
    bool swiglu;
    WICK_RESERVED;
};

/* wick_linear with options, which may be NULL. Weights may have a dtype of blocks; x and bias are then f32, f16 or
 * bf16, sums are f32, and results are rounded once. Weights of bf16 or f16 may have x and bias of f32. With products of
 * 8 bits, 32 activations of which one is infinite or NaN give NaN. The same weights and activations give the same bits
 * on any number of threads. WICK_INVALID for an activation or products outside their enums, and for an epsilon of a
 * norm that is not >= 0. wick_linear is the same with exact products. */
WICK_API struct wick_tensor *wick_linear_with(const struct wick_tensor *x, const struct wick_tensor *weight,
                                              const struct wick_tensor *bias,
                                              const struct wick_linear_options *options);

/* A mixture of experts: out[t,u] = activation(x[t,u] weight[e]^T + bias[e]) with e = ids[t,u]. x [T,U,K], or [T,1,K]
 * where all U experts of t take the same row; weight [E,N,K] of x's dtype or of blocks, ids [T,U] of integers, bias
 * [E,N] or NULL -> [T,U,N]. Every expert multiplies its rows at once, as wick_linear_with does with `options`. The ids
 * are read to the host: this waits for what they come from, and is nothing for a graph, WICK_INVALID. WICK_RANGE for an
 * id that is none of 0 .. E-1; WICK_SHAPE unless sizes agree. */
WICK_API struct wick_tensor *wick_linear_experts(const struct wick_tensor *x, const struct wick_tensor *weight,
                                                 const struct wick_tensor *ids, const struct wick_tensor *bias,
                                                 const struct wick_linear_options *options);

#ifdef __cplusplus
}
#endif
#endif
