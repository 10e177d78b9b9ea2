/* Softmax, batch norm, local response norm and pooling, and their gradients, by MIOpen; batch norm by cuDNN. MIOpen
 * compiles a kernel when a shape first needs it, so plans, which hold no more than descriptors, tell what a graph may
 * record. */
#include "gpu/routes/layer.h"

#include "gpu/routes/plans.h"
#include "gpu/runtime/target.h"

#include <stdio.h>
#include <string.h>

/* What is checked by itself, each kind of layer in each dtype. */
static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32};
enum { DTYPES = 3 };
#define EACH(layer) "bf16 " layer, "f16 " layer, "f32 " layer
static const char *const names[] = {EACH("softmax"),
                                    EACH("log_softmax"),
                                    EACH("softmax_backward"),
                                    EACH("log_softmax_backward"),
                                    EACH("batch_norm"),
                                    EACH("batch_norm_train"),
                                    EACH("batch_norm_backward"),
                                    EACH("local_response_norm"),
                                    EACH("local_response_norm_backward"),
                                    EACH("avg_pool"),
                                    EACH("avg_pool_backward"),
                                    EACH("max_pool"),
                                    EACH("max_pool with indices"),
                                    EACH("max_pool_backward"),
                                    NULL};
_Static_assert(sizeof names / sizeof *names == (size_t)WICK__LAYERS * DTYPES + 1, "a name for each check");
_Static_assert((int)WICK__LAYERS *DTYPES <= (int)WICK__ROUTE_CHECKS, "a verdict for each check");

static const struct wick__dnn_layer *layer_of(const struct wick__offer *offer) {
    return ((const struct wick__layer_offer *)offer)->layer;
}

static const struct wick__companion *library(const struct wick__vendor *vendor) {
    static const struct wick__companion none;
    return vendor->layer_plan ? &vendor->dnn : &none;
}

static bool has(const struct wick__vendor *vendor, int check) {
    return vendor->layer_has((enum wick__layer)(check / DTYPES), dtypes[check % DTYPES]);
}

static bool is_ordinary(const struct wick__dnn_layer *l) {
    const double limit = 1u << 31;
    const double planes = (double)l->size[0] * (double)l->size[1];
    const double x = planes * (double)l->size[2] * (double)l->size[3], y = planes * (double)l->to[0] * (double)l->to[1];
    return x > 0 && x < limit && y < limit;
}

static bool is_response(const struct wick__dnn_layer *l) {
    return l->kind == WICK__LAYER_RESPONSE || l->kind == WICK__LAYER_RESPONSE_BACKWARD;
}

/* Whether there are windows for all elements of y, and no more: MIOpen counts them itself. */
static bool has_all_windows(const struct wick__dnn_layer *l) {
    if (l->kind < WICK__LAYER_AVERAGE_POOL) return true;
    for (int s = 0; s < 2; s++) {
        if (l->kernel[s] >= INT32_MAX || l->stride[s] >= INT32_MAX || l->padding[s] >= l->kernel[s]) return false;
        const int64_t places = l->size[2 + s] + 2 * l->padding[s] - l->kernel[s];
        if (places < 0 || places / l->stride[s] + 1 != l->to[s]) return false;
    }
    return true;
}

/* Whether the library gets all that it wants: weight and bias, and all gradients. */
static bool has_operands(const struct wick__dnn_layer *l, bool *aligned) {
    int n_in;
    const char *operands = wick__layer_operands(l->kind, &n_in);
    *aligned = true;
    for (int i = 0; operands[i]; i++) {
        const void *at = i < n_in ? l->in[i] : l->out[i - n_in];
        if (!at) return false;
        *aligned = *aligned && wick__aligned16(at);
    }
    return true;
}

/* Whether cuDNN was faster than our own kernels, on an H200 (bench/NOTES.md): where it reads a channel once. */
static bool is_faster(const struct wick__gpu *gpu, const struct wick__dnn_layer *l) {
    const int64_t plane = l->size[2] * l->size[3], channel = l->size[0] * plane, all = l->size[1] * channel;
    if (wick__capability(gpu) != 90 || l->kind != WICK__LAYER_NORM_BACKWARD) return false;
    if (l->dtype == WICK_F32) return channel <= 1 << 14 && all >= 1 << 17 && all <= 1 << 21;
    return channel <= 1 << 15 && all >= 1 << 18 && plane % 4 == 0;
}

static int takes(const struct wick__gpu *gpu, enum wick__choice choice, const struct wick__offer *offer,
                 const char **reason) {
    const struct wick__dnn_layer *l = layer_of(offer);
    const bool statistics = l->kind == WICK__LAYER_NORM_TRAIN || l->kind == WICK__LAYER_NORM_BACKWARD;
    bool aligned;
    int dtype = 0;
    while (dtype < DTYPES && dtypes[dtype] != l->dtype) dtype++;
    if (dtype == DTYPES)
        *reason = "it has no such layers of the dtype";
    else if (choice == WICK__AUTO && !is_faster(gpu, l))
        *reason = "our own kernels were measured to be as fast";
    else if (!has_operands(l, &aligned))
        *reason = "there is no weight or no bias, or not all gradients are wanted";
    else if (!is_ordinary(l))
        *reason = "an operand has 2^31 elements or more";
    else if (!aligned)
        *reason = "an operand doesn't start at a multiple of 16 bytes";
    else if (statistics && l->size[0] * l->size[2] * l->size[3] == 1)
        *reason = "a channel has one element";
    else if (is_response(l) && l->kernel[0] % 2 == 0)
        *reason = "its even windows reach to the other side";
    else if (!has_all_windows(l))
        *reason = "it counts windows in another way";
    else
        return (int)l->kind * DTYPES + dtype;
    return -1;
}

static void say(const struct wick__offer *offer, char *text, size_t size) {
    const struct wick__dnn_layer *l = layer_of(offer);
    const char *name = strchr(names[(int)l->kind * DTYPES], ' ') + 1;
    snprintf(text, size, "%s of [%lld,%lld,%lld,%lld]", name, (long long)l->size[0], (long long)l->size[1],
             (long long)l->size[2], (long long)l->size[3]);
}

/* ---- plans ---- */

static void key_of(const struct wick__dnn_layer *l, int64_t key[WICK__PLAN_KEY]) {
    memset(key, 0, sizeof *key * WICK__PLAN_KEY);
    key[0] = (int64_t)l->kind * 256 + (int64_t)l->dtype * 2 + l->counts_padding;
    memcpy(key + 1, l->size, sizeof l->size);
    for (int s = 0; s < 2; s++) {
        const int64_t windows[] = {l->to[s], l->kernel[s], l->stride[s], l->padding[s]};
        memcpy(key + 5 + 4 * s, windows, sizeof windows);
    }
    memcpy(key + 13, l->response, sizeof l->response);
}

static int make_plan(struct wick__gpu *gpu, void *handle, const void *call, struct wick__planned *planned) {
    (void)handle;
    return gpu->vendor->layer_plan(call, &planned->plan, &planned->workspace);
}

static int run_plan(struct wick__gpu *gpu, void *handle, void *plan, const void *call, void *workspace, size_t nbytes) {
    (void)nbytes;
    return gpu->vendor->layer_run(handle, plan, call, workspace);
}

static void forget_plan(const struct wick__gpu *gpu, void *plan) { gpu->vendor->layer_forget(plan); }

static const struct wick__planner planner = {NULL, make_plan, run_plan, forget_plan};

static enum wick__ran run_layer(struct wick__gpu *gpu, struct wick__held *held, const struct wick__dnn_layer *layer) {
    int64_t key[WICK__PLAN_KEY];
    key_of(layer, key);
    return wick__plans_run(gpu, held, &planner, key, layer);
}

static enum wick__verdict check(struct wick__gpu *gpu, struct wick__held *held, int which) {
    return wick__layer_trials(gpu, held, (enum wick__layer)(which / DTYPES), dtypes[which % DTYPES], run_layer);
}

/* Those results of channels that are in f32, in the layer's dtype. */
static enum wick_status narrow_results(struct wick__gpu *gpu, const struct wick__layer_offer *o,
                                       const struct wick__dnn_layer *wide, int n_in) {
    for (int i = 0; o->narrow >> (n_in + i); i++)
        if (o->narrow >> (n_in + i) & 1)
            WICK__TRY(o->convert(gpu, WICK_F32, wide->out[i], wide->dtype, o->layer->out[i], wide->size[1]));
    return WICK_OK;
}

/* The layer with its operands of channels in f32. */
static enum wick__ran run_wide(struct wick__gpu *gpu, struct wick__held *held, const struct wick__layer_offer *o) {
    struct wick__dnn_layer wide = *o->layer;
    const size_t each = ((size_t)wide.size[1] * sizeof(float) + 255) / 256 * 256, nbytes = WICK__LAYER_OPERANDS * each;
    enum wick_status status = WICK_OK;
    enum wick__ran ran = WICK__REFUSED;
    char *memory, *at;
    int n_in;
    wick__layer_operands(wide.kind, &n_in);
    if (wick__gpu_scratch(gpu, nbytes, (void **)&memory) != WICK_OK) return ran;
    at = memory;
    for (int i = 0; o->narrow >> i && status == WICK_OK; i++) {
        if (!(o->narrow >> i & 1)) continue;
        if (i < n_in) {
            status = o->convert(gpu, wide.dtype, wide.in[i], WICK_F32, at, wide.size[1]);
            wide.in[i] = at;
        } else {
            wide.out[i - n_in] = at;
        }
        at += each;
    }
    if (status == WICK_OK) ran = run_layer(gpu, held, &wide);
    if (ran == WICK__RAN && narrow_results(gpu, o, &wide, n_in) != WICK_OK) ran = WICK__REFUSED;
    wick__gpu_release(gpu, memory, nbytes);
    return ran;
}

static enum wick__ran run(struct wick__gpu *gpu, struct wick__held *held, struct wick__offer *offer) {
    const struct wick__layer_offer *o = (const struct wick__layer_offer *)offer;
    return o->narrow ? run_wide(gpu, held, o) : run_layer(gpu, held, o->layer);
}

static void forget(struct wick__gpu *gpu, struct wick__held *held) { wick__plans_forget(gpu, held, &planner); }

const struct wick__vendor_route wick__layer_route = {.name = "DNN",
                                                     .op = "layer",
                                                     .chooser = WICK__CHOOSE_DNN,
                                                     .checks = names,
                                                     .has = has,
                                                     .wrong = WICK_LOG_INFO, /* MIOpen 3.4.0 is, of some layers */
                                                     .library = library,
                                                     .kind = WICK__DNN,
                                                     .takes = takes,
                                                     .check = check,
                                                     .run = run,
                                                     .say = say,
                                                     .forget = forget};
