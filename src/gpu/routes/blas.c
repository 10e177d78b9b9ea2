/* cuBLAS and rocBLAS: products, with what else there is to them left to a second pass, over sums in f32 (f64). */
#include "gpu/routes/products.h"
#include "gpu/routes/trial.h"
#include "gpu/runtime/target.h"

static const struct {
    enum wick_dtype dtype, c_dtype;
} kinds[] = {{WICK_BF16, WICK_BF16}, {WICK_F16, WICK_F16},  {WICK_F32, WICK_F32},
             {WICK_F64, WICK_F64},   {WICK_BF16, WICK_F32}, {WICK_F16, WICK_F32}};
static const char *const names[] = {"bf16", "f16", "f32", "f64", "bf16 to f32", "f16 to f32", NULL};
enum { DTYPES = 4, FROM_PLAIN_TO_SUMS = 4 };

static const struct wick__companion *library(const struct wick__vendor *vendor) { return &vendor->blas; }

static bool is_plain(const struct wick__product *g) { return !g->bias && g->activation == WICK_ACTIVATION_NONE; }

/* Whether sums of a product of 16 bits go through memory in f32, for a second pass over them. */
static bool has_sums(const struct wick__product *g) { return !is_plain(g) && wick_dtype_bits(g->dtype) == 16; }

/* Whether that is faster than our own kernels without bulk copies: for activations that take long at the end of a
 * product's tiles, where writing and reading the sums is little beside the product; and for few rows of a matrix that
 * ours would have to pack. */
static bool sums_pay(const struct wick__gpu *gpu, const struct wick__product *g, const struct wick__blas_product *b) {
    const int64_t least = 1024, results = 1 << 22;
    if (wick__product_is_even_askew(gpu, b)) return true;
    bool costly = g->activation != WICK_ACTIVATION_NONE && g->activation != WICK_ACTIVATION_RELU;
    int sm = wick__capability(gpu);
    return sm >= 80 && sm != 90 && costly && g->k >= least && g->m >= 1024 && g->n >= results / g->m;
}

/* Of many problems, images of a convolution: one alone was not measured. */
static bool is_short(const struct wick__gpu *gpu, const struct wick__product *g) {
    return wick__capability(gpu) == 90 && wick__product_batches(g) > 1 &&
           wick__product_is_short(g->dtype, g->m, g->k, wick__product_work(g));
}

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__product_offer *p = (const struct wick__product_offer *)offer;
    const struct wick__product *g = p->g;
    bool automatic = choice == WICK__AUTO;
    int kind = 0;
    while (kind < DTYPES && kinds[kind].dtype != g->dtype) kind++;
    if (kind == DTYPES)
        *reason = "it has no products of the dtype";
    else if (!p->described)
        *reason = "it can't have the operands where they lie";
    else if (g->k == 0)
        *reason = "there is nothing to multiply";
    else if (automatic && wick__product_is_small(g))
        *reason = "the product is small";
    else if (automatic &&
             (wick__product_is_by_parts(gpu, g) || is_short(gpu, g) || wick__product_is_of_few(gpu, g, &p->b)))
        *reason = "our own kernel is faster";
    else if (automatic && wick__product_is_packed(gpu, &p->b))
        *reason = "rows don't start at multiples of 16 bytes";
    else if (automatic && has_sums(g) && !sums_pay(gpu, g, &p->b))
        *reason = "a second pass for bias and activation takes longer than it gains";
    else
        return has_sums(g) ? kind + FROM_PLAIN_TO_SUMS : kind;
    return -1;
}

static enum wick__ran multiply(struct wick__gpu *gpu, struct wick__held *held, const struct wick__blas_product *g) {
    return gpu->vendor->blas_gemm(held->handle, g) == 0 ? WICK__RAN : WICK__REFUSED;
}

static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    const struct wick__trial_kind kind = {.dtype = kinds[which].dtype, .c_dtype = kinds[which].c_dtype};
    return wick__trials(gpu, held, &kind, multiply);
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    struct wick__product_offer *p = (struct wick__product_offer *)offer;
    struct wick__product_rest rest = {.left = !is_plain(p->g)};
    struct wick__blas_product b = p->b;
    if (has_sums(p->g)) {
        rest.nbytes = (size_t)(b.batch * b.m * b.n) * 4;
        if (wick__gpu_scratch(gpu, rest.nbytes, &rest.sums) != WICK_OK) return WICK__REFUSED;
        b.c = rest.sums;
        b.c_dtype = WICK_F32;
    }
    enum wick__ran ran = multiply(gpu, held, &b);
    if (ran == WICK__RAN)
        p->rest = rest;
    else if (rest.sums)
        wick__gpu_release(gpu, rest.sums, rest.nbytes);
    return ran;
}

const struct wick__vendor_route wick__blas_route = {.name = "BLAS",
                                                    .op = "product",
                                                    .key = wick__product_key,
                                                    .say = wick__product_say,
                                                    .checks = names,
                                                    .wrong = WICK_LOG_ERROR,
                                                    .library = library,
                                                    .kind = WICK__BLAS,
                                                    .takes = takes,
                                                    .check = check,
                                                    .run = run};
