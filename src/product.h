/* A matrix product as backends' kernels are asked for it. */
#ifndef WICK_PRODUCT_H
#define WICK_PRODUCT_H

#include "core/layout.h"

#include <wick/dtype.h>
#include <wick/linalg.h>

/* Writes B[k0+i, n0+j] of one matrix of the batch to strip[i * ld + j], in the product's dtype, for 0 <= i < kn and
 * 0 <= j < nn; columns from nn to ld may be written with anything, and need not be. nn <= 64, kn <= 1024. `batch` is
 * the index of the matrix in row-major order of batch_shape. Called from several threads at once. */
typedef void wick__product_fill_fn(const void *context, int64_t batch, int64_t k0, int64_t kn, int64_t n0, int64_t nn,
                                   void *strip, int64_t ld);

/* C = activation(A B + bias), batched: A is m x k, B k x n, both strided in any way, C m x n. Zeros are good defaults;
 * strides count elements. */
struct wick__product {
    enum wick_dtype dtype; /* of A, B, C and bias */
    int64_t m, n, k;
    const void *a, *b;
    void *c; /* shares no byte with A, B or bias */
    int64_t a_row, a_k, b_k, b_column;

    const void *bias;                /* one a column, or one a row; NULL: none */
    bool bias_by_row;                /* m of them instead of n */
    int64_t bias_step;               /* the stride of bias */
    enum wick_activation activation; /* floats only */

    /* The batch dims, row-major, with each operand's strides; stride 0 repeats. */
    int batch_rank;
    int64_t batch_shape[WICK_MAX_RANK], a_batch[WICK_MAX_RANK], b_batch[WICK_MAX_RANK];

    /* For the processor alone. GPUs write C as [batch..., m, n] without gaps, and have one bias for all matrices. */
    int64_t c_row; /* columns of C have stride 1 */
    int64_t c_batch[WICK_MAX_RANK], bias_batch[WICK_MAX_RANK];
    wick__product_fill_fn *fill; /* yields B's elements; b is NULL then */
    const void *fill_context;
};

static inline int64_t wick__product_batches(const struct wick__product *g) {
    int64_t count = 1;
    for (int d = 0; d < g->batch_rank; d++) count *= g->batch_shape[d];
    return count;
}

/* The batch dims as two layouts, A's and B's. */
static inline void wick__product_layouts(const struct wick__product *g, struct wick__layout layouts[2]) {
    layouts[0] = layouts[1] = (struct wick__layout){.rank = g->batch_rank};
    for (int d = 0; d < g->batch_rank; d++) {
        layouts[0].shape[d] = layouts[1].shape[d] = g->batch_shape[d];
        layouts[0].stride[d] = g->a_batch[d];
        layouts[1].stride[d] = g->b_batch[d];
    }
}

#endif
