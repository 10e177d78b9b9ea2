/* What the routes of products share: the product as libraries take it, and which are worth a library. */
#include "gpu/routes/products.h"

#include "gpu/runtime/target.h"

/* One operand as BLAS takes it: rows of neighbours, `stored` of them apart. False when it has no such layout. */
static bool lead(int64_t rows, int64_t columns, int64_t row, int64_t column, bool *transposed, int64_t *ld) {
    *transposed = false;
    *ld = rows == 1 ? columns : row;
    if ((columns == 1 || column == 1) && *ld >= columns) return true;
    *transposed = true;
    *ld = columns == 1 ? rows : column;
    return (rows == 1 || row == 1) && *ld >= rows;
}

/* The product as BLAS takes it; false when it can't without copies. */
static bool describe(const struct wick__product *g, struct wick__blas_product *b) {
    struct wick__layout batch[2];
    wick__product_layouts(g, batch);
    wick__layout_collapse(batch, 2);
    if (batch[0].rank != 1) return false;
    *b = (struct wick__blas_product){
        .dtype = g->dtype, .c_dtype = g->dtype, .m = g->m, .n = g->n, .k = g->k, .batch = batch[0].shape[0]};
    b->a = g->a;
    b->b = g->b;
    b->c = g->c;
    b->bias = g->bias;
    b->activation = g->activation;
    b->ldc = g->n;
    b->stride_a = batch[0].stride[0];
    b->stride_b = batch[1].stride[0];
    b->stride_c = g->m * g->n;
    return lead(g->m, g->k, g->a_row, g->a_k, &b->transpose_a, &b->lda) &&
           lead(g->k, g->n, g->b_k, g->b_column, &b->transpose_b, &b->ldb);
}

/* Whether the product is of a vector and a matrix whose terms don't lie side by side: ours sums parts of that in a
 * second launch. */
static bool is_across(const struct wick__product *g) {
    return (g->m == 1 && g->n > 1 && g->b_k != 1) || (g->n == 1 && g->m > 1 && g->a_k != 1);
}

bool wick__product_is_small(const struct wick__product *g) {
    double work = (double)g->m * (double)g->n * (double)g->k * (double)wick__product_batches(g);
    bool large = g->m >= 16 && g->n >= 16 && g->k >= 16, plain = !g->bias && g->activation == WICK_ACTIVATION_NONE;
    /* With bias and activation in our own kernels: on an H100, 256 cubed in f32 takes them 10 to 18 us, libraries 35 to
     * 52; 1024 cubed 74 and 60. */
    return work < (plain ? 2e6 : 1.3e8) || !(large || is_across(g));
}

bool wick__product_is_askew(const struct wick__gpu *gpu, const struct wick__blas_product *b) {
    const int64_t strides[] = {b->lda, b->ldb, b->ldc, b->stride_a, b->stride_b, b->stride_c};
    if (wick_dtype_bits(b->dtype) != 16 || wick__capability(gpu) != 90 || b->m < 16 || b->n < 16 || b->k < 16)
        return false;
    for (int i = 0; i < (b->batch > 1 ? 6 : 3); i++)
        if (strides[i] % 8 != 0) return true;
    return !wick__aligned16(b->a) || !wick__aligned16(b->b) || !wick__aligned16(b->c);
}

enum wick_status wick__product_route(struct wick__gpu *gpu, const struct wick__product *g, bool *done,
                                     struct wick__product_rest *rest) {
    struct wick__product_offer p = {.offer = {.dtype = g->dtype, .m = g->m, .n = g->n, .k = g->k}, .g = g};
    p.described = describe(g, &p.b);
    enum wick_status status = wick__routes_run(gpu, WICK__LT_ROUTE, WICK__BLAS_ROUTE, &p.offer, done);
    *rest = p.rest;
    return status;
}
