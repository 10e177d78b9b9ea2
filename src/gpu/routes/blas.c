/* cuBLAS and rocBLAS. */
#include "gpu/routes/products.h"
#include "gpu/routes/trial.h"

static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};
static const char *const names[] = {"bf16", "f16", "f32", "f64", NULL};

static const struct wick__companion *library(const struct wick__vendor *vendor) { return &vendor->blas; }

static int takes(const struct wick__gpu *gpu, enum wick_blas choice, const struct wick__offer *offer,
                 const char **reason) {
    (void)gpu;
    const struct wick__product_offer *p = (const struct wick__product_offer *)offer;
    const struct wick__product *g = p->g;
    bool plain = !g->bias && g->activation == WICK_ACTIVATION_NONE;
    *reason = "it has no products of the dtype";
    for (int i = 0; names[i]; i++) {
        if (dtypes[i] != g->dtype) continue;
        if (!p->described)
            *reason = "it can't have the operands where they lie";
        else if (g->k == 0)
            *reason = "there is nothing to multiply";
        else if (!plain && wick_dtype_bits(g->dtype) == 16)
            *reason = "bias and activation come in a second pass, before which 16 bits are too few";
        else if (choice == WICK_BLAS_AUTO && wick__product_is_small(g))
            *reason = "the product is small";
        else
            return i;
        return -1;
    }
    return -1;
}

static int multiply(struct wick__gpu *gpu, void *handle, const struct wick__blas_product *product) {
    return gpu->vendor->blas_gemm(handle, product);
}

static enum wick_blas_verdict check(struct wick__gpu *gpu, void *handle, int which) {
    return wick__trials(gpu, handle, dtypes[which], dtypes[which], multiply);
}

static enum wick__ran run(struct wick__gpu *gpu, void *handle, struct wick__offer *offer) {
    struct wick__product_offer *p = (struct wick__product_offer *)offer;
    if (multiply(gpu, handle, &p->b) != 0) return WICK__REFUSED;
    p->left = p->g->bias || p->g->activation != WICK_ACTIVATION_NONE;
    return WICK__RAN;
}

const struct wick__vendor_route wick__blas_route = {
    .name = "BLAS", .op = "product", .checks = names, .library = library, .takes = takes, .check = check, .run = run};
