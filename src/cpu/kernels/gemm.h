/* General matrix products for kernels: C = activation(A B + bias), batched, for all ten dtypes.
 *
 * A and B are strided in any way; B may instead be a function that yields its elements, so that a convolution
 * multiplies without an im2col buffer. Include from files of src/cpu/kernels/ only: every name is WICK__ISA's.
 *
 * Numbers: bf16, f16 and f8e4m3 multiply and add in f32 and round once, after bias and activation. f32 and f64 use
 * fused multiply-adds where the instruction set has them. Each element is summed over k in blocks of a fixed size, in
 * order within a block, and the blocks in order: the result does not depend on threads, tiles, m or n. Integers wrap.
 * Where the processor has AVX512_BF16, bf16 uses its dot products: pairs of terms, subnormal bf16 inputs and f32 sums
 * taken as 0. */
#ifndef WICK_CPU_KERNELS_GEMM_H
#define WICK_CPU_KERNELS_GEMM_H

#include "core/error.h"
#include "cpu/runtime/isa.h"

#include <wick/dtype.h>
#include <wick/linalg.h>

/* Writes B[k0+i, n0+j] of one matrix of the batch to strip[i * ld + j], in the product's dtype, for 0 <= i < kn and
 * 0 <= j < nn; columns from nn to ld may be written with anything, and need not be. nn <= 64, kn <= 1024. `batch` is
 * the index of the matrix in row-major order of batch_shape. Called from several threads at once. */
typedef void wick__gemm_fill_fn(const void *context, int64_t batch, int64_t k0, int64_t kn, int64_t n0, int64_t nn,
                                void *strip, int64_t ld);

/* Zeros are good defaults. Strides count elements. */
struct wick__gemm {
    enum wick_dtype dtype; /* of A, B, C and bias */
    int64_t m, n, k;
    const void *a; /* m x k */
    int64_t a_row, a_col;
    const void *b; /* k x n; NULL when `fill` is given */
    int64_t b_row, b_col;
    wick__gemm_fill_fn *fill;
    const void *fill_context;
    void *c; /* m x n, rows of stride c_row, columns of stride 1; shares no byte with A, B or bias */
    int64_t c_row;

    const void *bias;                /* NULL: none */
    bool bias_is_by_row;             /* one a row of C (m of them) instead of one a column (n) */
    int64_t bias_step;               /* stride of bias */
    enum wick_activation activation; /* floats only */

    /* A batch of products: batch_rank dims, row-major, each operand with its own stride a dim, 0 to repeat. */
    int batch_rank;
    int64_t batch_shape[WICK_MAX_RANK];
    int64_t a_batch[WICK_MAX_RANK], b_batch[WICK_MAX_RANK], c_batch[WICK_MAX_RANK], bias_batch[WICK_MAX_RANK];
};

/* Runs it on all threads. k == 0 gives activation(bias) or zeros; an empty C is fine. Fails with WICK_MEMORY alone,
 * before C is written. Not to be called inside wick__parallel. */
#ifdef WICK_ISA
enum wick_status WICK__ISA(wick__gemm)(const struct wick__gemm *g);
#endif

#endif
