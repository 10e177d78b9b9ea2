/* A matrix product as the kernels of every family are asked for it. */
#ifndef WICK_PRODUCT_H
#define WICK_PRODUCT_H

#include "backend.h"

#include <wick/linalg.h>

/* C = activation(A B + bias), batched: A is m x k, B k x n, both strided in any way, C m x n. All matrices of the batch
 * have the same bias. Zeros are good defaults; strides count elements. */
struct wick__product {
    enum wick_dtype dtype; /* of A and B, and of C and bias unless */
    bool constant_b;       /* no kernel writes B (struct wick__storage) */
    bool other_c;          /* these have a dtype of their own, c_dtype, which only kernels of gpu/ops know */
    enum wick_dtype c_dtype;
    int64_t m, n, k;
    const void *a, *b;
    void *c; /* [batch..., m, n], shares no byte with A, B or bias */
    int64_t a_row, a_k, b_k, b_column;
    int64_t c_row; /* n; more where C is some columns of a wider matrix, which only the processor writes */

    const void *bias;                /* one a column, or one a row; NULL: none */
    bool bias_by_row;                /* m of them instead of n */
    int64_t bias_step;               /* the stride of bias */
    enum wick_activation activation; /* floats only */

    /* The batch dims, row-major, with each operand's strides; stride 0 repeats. */
    int batch_rank;
    int64_t batch_shape[WICK_MAX_RANK], a_batch[WICK_MAX_RANK], b_batch[WICK_MAX_RANK];
};

/* The product that a call of matmul or linear asks for. Batch dims that only add rows to A are rows of it. */
struct wick__product wick__product_of(const struct wick__call *call);

static inline enum wick_dtype wick__product_c_dtype(const struct wick__product *g) {
    return g->other_c ? g->c_dtype : g->dtype;
}

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
