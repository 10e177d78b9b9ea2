/* cuBLASLt: products with bias and activation, in one pass and rounded once. */
#include "gpu/routes/plans.h"
#include "gpu/routes/products.h"
#include "gpu/routes/trial.h"
#include "gpu/runtime/target.h"

/* The most memory that a product gets besides its operands. */
enum { WORKSPACE = 32 << 20 };

static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32};
static const enum wick_activation activations[] = {WICK_ACTIVATION_NONE, WICK_ACTIVATION_RELU,
                                                   WICK_ACTIVATION_GELU_TANH};
enum { DTYPES = 3, ACTIVATIONS = 3 };
static const char *const names[] = {"bf16",          "bf16 relu", "bf16 gelu_tanh", "f16",           "f16 relu",
                                    "f16 gelu_tanh", "f32",       "f32 relu",       "f32 gelu_tanh", NULL};

static const struct wick__companion *library(const struct wick__vendor *vendor) { return &vendor->lt; }

/* Whether it is slow or wrong with rows of 16 bits that don't start at multiples of 16 bytes: slow with many terms,
 * where 13.1 chooses kernels badly; in some of its kernels, 13.1 rounds what goes into GELU before it adds the bias. */
static bool is_bad(const struct wick__product *g, const struct wick__blas_product *b) {
    return wick__product_is_long_askew(b) || (g->activation != WICK_ACTIVATION_NONE && wick__product_is_askew(b));
}

/* Few rows of 16 bits by a matrix that is not large: on an H200 16 and 32 by 4096 x 4096 take ours 14 to 18 us,
 * cuBLASLt 20 and 18; 64 rows 15 and 13. */
static bool is_narrow(const struct wick__gpu *gpu, const struct wick__product *g) {
    return wick__capability(gpu) == 90 && wick_dtype_bits(g->dtype) == 16 && g->m <= 32 &&
           !wick__product_meets_large(g);
}

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__product_offer *p = (const struct wick__product_offer *)offer;
    const struct wick__product *g = p->g;
    int dtype = 0, activation = 0;
    while (dtype < DTYPES && dtypes[dtype] != g->dtype) dtype++;
    while (activation < ACTIVATIONS && activations[activation] != g->activation) activation++;
    if (!g->bias && g->activation == WICK_ACTIVATION_NONE)
        *reason = "there is no bias and no activation";
    else if (dtype == DTYPES)
        *reason = "it has no products of the dtype";
    else if (activation == ACTIVATIONS)
        *reason = "it lacks the activation";
    else if (!p->described || p->b.batch != 1)
        *reason = "it can't have the operands where they lie";
    else if (g->bias && (g->bias_by_row || g->bias_step != 1 || !wick__aligned16(g->bias)))
        *reason = "it can't have the bias where it lies";
    else if (g->k == 0)
        *reason = "there is nothing to multiply";
    else if (choice == WICK__AUTO && wick__product_is_small(g))
        *reason = "the product is small";
    else if (choice == WICK__AUTO && (wick__product_is_by_parts(gpu, g) || is_narrow(gpu, g)))
        *reason = "our own kernel is faster";
    else if (is_bad(g, &p->b))
        *reason = "rows don't start at multiples of 16 bytes";
    else
        return dtype * ACTIVATIONS + activation;
    return -1;
}

/* ---- plans ---- */

static int make_plan(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned) {
    planned->most = WORKSPACE;
    return gpu->vendor->lt_plan(handle, call, planned);
}

static int run_plan(struct wick__gpu *gpu, void *handle, void *plan, const void *call, void *workspace, size_t nbytes) {
    return gpu->vendor->lt_run(plan, call, workspace, nbytes, handle);
}

static void forget_plan(const struct wick__gpu *gpu, void *plan) { gpu->vendor->lt_forget(plan); }

static const struct wick__planner planner = {&wick__lt_route, make_plan, run_plan, forget_plan};

static enum wick__ran multiply(struct wick__gpu *gpu, struct wick__held *held, const struct wick__blas_product *g) {
    int64_t key[WICK__PLAN_KEY];
    wick__product_plan_key(g, key);
    return wick__plans_run(gpu, held, &planner, key, g);
}

static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    enum wick_dtype dtype = dtypes[which / ACTIVATIONS];
    enum wick_activation activation = activations[which % ACTIVATIONS];
    const struct wick__trial_kind kind = {.dtype = dtype,
                                          .c_dtype = dtype,
                                          .fused = true,
                                          .aligned = wick_dtype_bits(dtype) == 16 && activation != WICK_ACTIVATION_NONE,
                                          .activation = activation};
    return wick__trials(gpu, held, &kind, multiply);
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    return multiply(gpu, held, &((struct wick__product_offer *)offer)->b);
}

static void forget(struct wick__gpu *gpu, struct wick__held *held) { wick__plans_forget(gpu, held, &planner); }

const struct wick__vendor_route wick__lt_route = {.name = "BLASLt",
                                                  .op = "product",
                                                  .key = wick__product_key,
                                                  .say = wick__product_say,
                                                  .checks = names,
                                                  .wrong = WICK_LOG_INFO, /* 13.1 is, of some activations */
                                                  .library = library,
                                                  .kind = WICK__BLAS_LT,
                                                  .takes = takes,
                                                  .check = check,
                                                  .run = run,
                                                  .forget = forget};
