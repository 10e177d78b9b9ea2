/* cuDNN: attention in 16 bits whose queries see every key. A key that a query does not see has a weight of 0 there, by
 * which cuDNN multiplies its v, and NaN comes of that if v holds NaN; so what hides keys stays with our own kernels. */
#include "gpu/routes/attention.h"

#include "gpu/routes/plans.h"
#include "gpu/runtime/target.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define WORKSPACE ((size_t)1 << 30)

static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16};
enum { DTYPES = 2, MOST = 128, PIECE = 8 }; /* elements of a row; of 16 bytes */
static const char *const names[] = {"bf16 attention", "f16 attention", NULL};

static const struct wick__companion *library(const struct wick__vendor *vendor) {
    static const struct wick__companion none;
    return vendor->attention_plan ? &vendor->dnn : &none;
}

/* Whether every tensor has elements, and none so many that 32 bits can't number them. */
static bool is_ordinary(const struct wick__dnn_attention *a) {
    const double limit = 1u << 31, wide = (double)wick__max(a->depth, a->width);
    const double q = (double)a->batches * (double)a->heads * (double)a->queries;
    const double k = (double)a->batches * (double)a->key_heads * (double)a->keys;
    return q > 0 && k > 0 && a->depth > 0 && a->width > 0 && q * wide < limit && k * wide < limit;
}

static bool is_aligned(const struct wick__dnn_attention *a) {
    const int64_t *const strides[] = {a->q_stride, a->k_stride, a->v_stride};
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            if (strides[i][d] % PIECE != 0) return false;
    return wick__aligned16(a->q) && wick__aligned16(a->k) && wick__aligned16(a->v) && wick__aligned16(a->out) &&
           wick__aligned16(a->log_sums);
}

static bool fits(int64_t elements) { return elements <= MOST && elements % PIECE == 0; }

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__attention_offer *o = (const struct wick__attention_offer *)offer;
    const struct wick__dnn_attention *a = &o->a;
    int dtype = 0;
    (void)gpu;
    while (dtype < DTYPES && dtypes[dtype] != a->dtype) dtype++;
    if (dtype == DTYPES)
        *reason = "it has no attention of the dtype";
    else if (!is_ordinary(a))
        *reason = "an operand is empty, or has 2^31 elements or more";
    else if (!fits(a->depth) || !fits(a->width))
        *reason = "rows are no multiples of 8 elements, or longer than 128";
    else if (!o->whole || !is_aligned(a))
        *reason = "an operand's rows don't start at multiples of 16 bytes";
    else if (!(a->scale >= FLT_MIN && a->scale <= FLT_MAX))
        *reason = "the scale is no normal number above 0";
    else if (choice == WICK__AUTO)
        *reason = "it compiles a kernel when it first needs it, so it is only used where it is chosen or was measured";
    else
        return dtype;
    return -1;
}

static void say(const struct wick__offer *offer, char *text, size_t size) {
    const struct wick__dnn_attention *a = &((const struct wick__attention_offer *)offer)->a;
    snprintf(text, size, "q [%lld,%lld,%lld,%lld], k [%lld,%lld,%lld,%lld], v of %lld%s", (long long)a->batches,
             (long long)a->heads, (long long)a->queries, (long long)a->depth, (long long)a->batches,
             (long long)a->key_heads, (long long)a->keys, (long long)a->depth, (long long)a->width,
             a->log_sums ? ", log_sums" : "");
}

/* ---- plans ---- */

/* The first number is that of no convolution. */
static void key_of(const struct wick__dnn_attention *a, int64_t key[WICK__PLAN_KEY]) {
    const int64_t sizes[] = {4096 + (int64_t)a->dtype * 2 + (a->log_sums ? 1 : 0),
                             a->batches,
                             a->heads,
                             a->key_heads,
                             a->queries,
                             a->keys,
                             a->depth,
                             a->width};
    int64_t *at = key + sizeof sizes / sizeof *sizes;
    memset(key, 0, sizeof *key * WICK__PLAN_KEY);
    memcpy(key, sizes, sizeof sizes);
    memcpy(at, a->q_stride, sizeof a->q_stride);
    memcpy(at + 3, a->k_stride, sizeof a->k_stride);
    memcpy(at + 6, a->v_stride, sizeof a->v_stride);
}

static int make_plan(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned) {
    planned->most = WORKSPACE;
    return gpu->vendor->attention_plan(handle, call, planned);
}

static int run_plan(struct wick__gpu *gpu, void *handle, void *plan, const void *call, void *workspace, size_t nbytes) {
    (void)nbytes;
    return gpu->vendor->attention_run(handle, plan, call, workspace);
}

static void forget_plan(const struct wick__gpu *gpu, void *plan) { gpu->vendor->attention_forget(plan); }

static const struct wick__planner planner = {&wick__attention_route, make_plan, run_plan, forget_plan};

static enum wick__ran attend(struct wick__gpu *gpu, struct wick__held *held, const struct wick__dnn_attention *a) {
    int64_t key[WICK__PLAN_KEY];
    key_of(a, key);
    return wick__plans_run(gpu, held, &planner, key, a);
}

static bool offer_key(const struct wick__offer *offer, int64_t key[WICK__PLAN_KEY]) {
    key_of(&((const struct wick__attention_offer *)offer)->a, key);
    return true;
}

static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    return wick__attention_trials(gpu, held, dtypes[which], attend);
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    return attend(gpu, held, &((const struct wick__attention_offer *)offer)->a);
}

static void forget(struct wick__gpu *gpu, struct wick__held *held) { wick__plans_forget(gpu, held, &planner); }

const struct wick__vendor_route wick__attention_route = {.name = "DNN",
                                                         .op = "attention call",
                                                         .chooser = WICK__CHOOSE_DNN,
                                                         .checks = names,
                                                         .wrong = WICK_LOG_INFO,
                                                         .library = library,
                                                         .kind = WICK__DNN,
                                                         .takes = takes,
                                                         .check = check,
                                                         .run = run,
                                                         .key = offer_key,
                                                         .say = say,
                                                         .forget = forget};
