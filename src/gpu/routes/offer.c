/* A product as libraries take it, offered to the routes. */
#include "gpu/routes/products.h"

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

static enum wick_status again(struct wick__gpu *gpu, const struct wick__offer *offer) {
    const struct wick__product_offer *p = (const struct wick__product_offer *)offer;
    return p->whole(gpu, p->g);
}

enum wick_status wick__product_route(struct wick__gpu *gpu, const struct wick__product *g, wick__product_fn *whole,
                                     bool *done, struct wick__product_rest *rest) {
    struct wick__product_offer p = {.offer = {.dtype = g->dtype, .again = again}, .g = g, .whole = whole};
    p.described = describe(g, &p.b);
    enum wick_status status = wick__routes_run(gpu, WICK__LT_ROUTE, WICK__BLAS_ROUTE, &p.offer, done);
    *rest = p.rest;
    return status;
}
