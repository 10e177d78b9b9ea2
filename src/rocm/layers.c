/* MIOpen's layers: softmax, batch norm, local response norm, pooling, and their gradients. It compiles a kernel
 * when a shape first needs it, and measures none. A softmax is always one over channels: that over images has a race
 * in 3.4.0. */
#include "rocm/rocm.h"

#include "core/memory.h"

#include <limits.h>

struct plan {
    miopenTensorDescriptor_t x, y, channels; /* of x's size, of the windows', of one a channel */
    miopenPoolingDescriptor_t pool;
    miopenLRNDescriptor_t response;
    size_t behind; /* bytes of the workspace that a result takes which nobody wants */
};

bool wick__miopen_layer_has(enum wick__layer kind, enum wick_dtype dtype) {
    (void)kind;
    return dtype == WICK_F16 || dtype == WICK_F32;
}

/* Whether the library has what a layer needs. */
static bool has(enum wick__layer kind) {
    const struct wick__miopen *m = &wick__miopen;
    switch (kind) {
    case WICK__LAYER_SOFTMAX:
    case WICK__LAYER_LOG_SOFTMAX: return m->miopenSoftmaxForward_V2;
    case WICK__LAYER_SOFTMAX_BACKWARD:
    case WICK__LAYER_LOG_SOFTMAX_BACKWARD: return m->miopenSoftmaxBackward_V2;
    case WICK__LAYER_NORM: return m->miopenBatchNormalizationForwardInference;
    case WICK__LAYER_NORM_TRAIN: return m->miopenBatchNormalizationForwardTraining;
    case WICK__LAYER_NORM_BACKWARD: return m->miopenBatchNormalizationBackward;
    case WICK__LAYER_RESPONSE:
    case WICK__LAYER_RESPONSE_BACKWARD:
        return m->miopenCreateLRNDescriptor && m->miopenDestroyLRNDescriptor && m->miopenSetLRNDescriptor &&
               m->miopenLRNGetWorkSpaceSize && m->miopenLRNForward && m->miopenLRNBackward;
    case WICK__LAYER_MAX_POOL_INDICES:
    case WICK__LAYER_MAX_POOL_BACKWARD:
        if (!m->miopenSetPoolingIndexType || !m->miopenSetPoolingWorkSpaceIndexMode) return false;
        /* fall through */
    default:
        return m->miopenCreatePoolingDescriptor && m->miopenDestroyPoolingDescriptor &&
               m->miopenSet2dPoolingDescriptor && m->miopenPoolingForward && m->miopenPoolingBackward;
    }
}

/* Whether its results are right: some kernels of batch norm add up four elements at once, over the ends of planes that
 * are no multiples (3.4.0; docs/results/rocm-libraries.md). */
static bool is_sound(const struct wick__dnn_layer *l) {
    bool sums = l->kind == WICK__LAYER_NORM_TRAIN || l->kind == WICK__LAYER_NORM_BACKWARD;
    return !sums || l->size[2] * l->size[3] % 4 == 0;
}

/* ---- plans ---- */

static int describe(miopenTensorDescriptor_t *tensor, miopenDataType_t type, const int64_t size[4]) {
    int sizes[4];
    for (int d = 0; d < 4; d++) {
        if (size[d] > INT_MAX) return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
        sizes[d] = (int)size[d];
    }
    int code = wick__miopen_code(wick__miopen.miopenCreateTensorDescriptor(tensor));
    if (!code) code = wick__miopen_code(wick__miopen.miopenSetTensorDescriptor(*tensor, type, 4, sizes, NULL));
    return code;
}

/* The sizes of windows come first: they take the indices back to what they are at first. */
static int describe_windows(const struct wick__dnn_layer *l, miopenPoolingDescriptor_t *pool) {
    const miopenPoolingMode_t mode = l->kind >= WICK__LAYER_MAX_POOL ? miopenPoolingMax
                                     : l->counts_padding             ? miopenPoolingAverageInclusive
                                                                     : miopenPoolingAverage;
    int code = wick__miopen_code(wick__miopen.miopenCreatePoolingDescriptor(pool));
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenSet2dPoolingDescriptor(
            *pool, mode, (int)l->kernel[0], (int)l->kernel[1], (int)l->padding[0], (int)l->padding[1],
            (int)l->stride[0], (int)l->stride[1]));
    if (code || l->kind <= WICK__LAYER_MAX_POOL) return code;
    code = wick__miopen_code(wick__miopen.miopenSetPoolingIndexType(*pool, miopenIndexUint32));
    if (!code)
        code =
            wick__miopen_code(wick__miopen.miopenSetPoolingWorkSpaceIndexMode(*pool, miopenPoolingWorkspaceIndexImage));
    return code;
}

/* The gradient wants a workspace of the forward pass, and its result. */
static int describe_response(const struct wick__dnn_layer *l, struct plan *plan, size_t *workspace) {
    const size_t y = (size_t)(l->size[0] * l->size[1] * l->size[2] * l->size[3]) * (l->dtype == WICK_F16 ? 2 : 4);
    if (l->kernel[0] > INT_MAX) return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    int code = wick__miopen_code(wick__miopen.miopenCreateLRNDescriptor(&plan->response));
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenSetLRNDescriptor(plan->response, miopenLRNCrossChannel,
                                                                     (unsigned)l->kernel[0], l->response[0],
                                                                     l->response[1], l->response[2]));
    if (code || l->kind == WICK__LAYER_RESPONSE) return code;
    plan->behind = (y + 255) / 256 * 256;
    code = wick__miopen_code(wick__miopen.miopenLRNGetWorkSpaceSize(plan->x, workspace));
    *workspace += plan->behind;
    return code;
}

void wick__miopen_layer_forget(void *memory) {
    struct plan *plan = memory;
    if (plan->response) wick__miopen.miopenDestroyLRNDescriptor(plan->response);
    if (plan->pool) wick__miopen.miopenDestroyPoolingDescriptor(plan->pool);
    if (plan->channels) wick__miopen.miopenDestroyTensorDescriptor(plan->channels);
    if (plan->y) wick__miopen.miopenDestroyTensorDescriptor(plan->y);
    if (plan->x) wick__miopen.miopenDestroyTensorDescriptor(plan->x);
    wick__free(plan, sizeof *plan);
}

int wick__miopen_layer_plan(const struct wick__dnn_layer *l, void **out, size_t *workspace) {
    const miopenDataType_t type = l->dtype == WICK_F16 ? miopenHalf : miopenFloat;
    *out = NULL;
    if (!has(l->kind) || !is_sound(l)) return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    if (!plan) return hipErrorOutOfMemory;
    *plan = (struct plan){.x = NULL};
    int code = describe(&plan->x, type, l->size);
    if (!code && l->kind >= WICK__LAYER_AVERAGE_POOL) {
        code = describe(&plan->y, type, (const int64_t[]){l->size[0], l->size[1], l->to[0], l->to[1]});
        if (!code) code = describe_windows(l, &plan->pool);
    } else if (!code && l->kind >= WICK__LAYER_RESPONSE) {
        code = describe_response(l, plan, workspace);
    } else if (!code && l->kind >= WICK__LAYER_NORM) {
        code = describe(&plan->channels, miopenFloat, (const int64_t[]){1, l->size[1], 1, 1});
    }
    if (code)
        wick__miopen_layer_forget(plan);
    else
        *out = plan;
    return code;
}

/* ---- runs ---- */

/* The library's signatures have operands that it only reads as `void *`. */
static void *read_only(const void *memory) {
    union {
        const void *given;
        void *taken;
    } pointer = {.given = memory};
    return pointer.taken;
}

static miopenStatus_t norm(miopenHandle_t handle, const struct plan *p, const struct wick__dnn_layer *l) {
    float one = 1, zero = 0;
    const void *const *in = l->in;
    void *const *out = l->out;
    const miopenBatchNormMode_t mode = miopenBNSpatial;
    if (l->kind == WICK__LAYER_NORM)
        return wick__miopen.miopenBatchNormalizationForwardInference(
            handle, mode, &one, &zero, p->x, in[0], p->x, out[0], p->channels, read_only(in[3]), read_only(in[4]),
            read_only(in[1]), read_only(in[2]), l->epsilon);
    if (l->kind == WICK__LAYER_NORM_TRAIN)
        return wick__miopen.miopenBatchNormalizationForwardTraining(
            handle, mode, &one, &zero, p->x, in[0], p->x, out[0], p->channels, read_only(in[1]), read_only(in[2]), 0,
            NULL, NULL, l->epsilon, out[2], out[1]);
    return wick__miopen.miopenBatchNormalizationBackward(handle, mode, &one, &zero, &one, &zero, p->x, in[1], p->x,
                                                         in[0], p->x, out[0], p->channels, in[4], out[1], out[2],
                                                         l->epsilon, in[2], in[3]);
}

/* Elements of the result of pooling. */
static size_t places(const struct wick__dnn_layer *l) {
    return (size_t)(l->size[0] * l->size[1] * l->to[0] * l->to[1]);
}

static miopenStatus_t response(miopenHandle_t handle, const struct plan *p, const struct wick__dnn_layer *l,
                               char *workspace) {
    const float one = 1, zero = 0;
    const bool backward = l->kind == WICK__LAYER_RESPONSE_BACKWARD;
    const void *x = l->in[backward];
    miopenStatus_t status =
        wick__miopen.miopenLRNForward(handle, p->response, &one, p->x, x, &zero, p->x, backward ? workspace : l->out[0],
                                      backward, backward ? workspace + p->behind : NULL);
    if (status != miopenStatusSuccess || !backward) return status;
    return wick__miopen.miopenLRNBackward(handle, p->response, &one, p->x, workspace, p->x, l->in[0], p->x, x, &zero,
                                          p->x, l->out[0], workspace + p->behind);
}

static miopenStatus_t run(miopenHandle_t handle, const struct plan *p, const struct wick__dnn_layer *l,
                          void *workspace) {
    const float one = 1, zero = 0;
    const bool log = l->kind == WICK__LAYER_LOG_SOFTMAX || l->kind == WICK__LAYER_LOG_SOFTMAX_BACKWARD;
    const miopenSoftmaxAlgorithm_t algorithm = log ? MIOPEN_SOFTMAX_LOG : MIOPEN_SOFTMAX_ACCURATE;
    switch (l->kind) {
    case WICK__LAYER_SOFTMAX:
    case WICK__LAYER_LOG_SOFTMAX:
        return wick__miopen.miopenSoftmaxForward_V2(handle, &one, p->x, l->in[0], &zero, p->x, l->out[0], algorithm,
                                                    MIOPEN_SOFTMAX_MODE_CHANNEL);
    case WICK__LAYER_SOFTMAX_BACKWARD:
    case WICK__LAYER_LOG_SOFTMAX_BACKWARD:
        return wick__miopen.miopenSoftmaxBackward_V2(handle, &one, p->x, l->in[1], p->x, l->in[0], &zero, p->x,
                                                     l->out[0], algorithm, MIOPEN_SOFTMAX_MODE_CHANNEL);
    case WICK__LAYER_RESPONSE:
    case WICK__LAYER_RESPONSE_BACKWARD: return response(handle, p, l, workspace);
    case WICK__LAYER_AVERAGE_POOL:
    case WICK__LAYER_MAX_POOL:
        return wick__miopen.miopenPoolingForward(handle, p->pool, &one, p->x, l->in[0], &zero, p->y, l->out[0], false,
                                                 NULL, 0);
    case WICK__LAYER_AVERAGE_POOL_BACKWARD: /* of x and y it reads nothing */
        return wick__miopen.miopenPoolingBackward(handle, p->pool, &one, p->y, l->in[0], p->y, l->in[0], p->x,
                                                  l->out[0], &zero, p->x, l->out[0], NULL);
    case WICK__LAYER_MAX_POOL_INDICES: /* its workspace is the places */
        return wick__miopen.miopenPoolingForward(handle, p->pool, &one, p->x, l->in[0], &zero, p->y, l->out[0], true,
                                                 l->out[1], sizeof(uint32_t) * places(l));
    case WICK__LAYER_MAX_POOL_BACKWARD: /* the same */
        return wick__miopen.miopenPoolingBackward(handle, p->pool, &one, p->y, l->in[0], p->y, l->in[0], p->x,
                                                  l->out[0], &zero, p->x, l->out[0], read_only(l->in[1]));
    default: return norm(handle, p, l);
    }
}

int wick__miopen_layer_run(void *handle, void *plan, const struct wick__dnn_layer *l, void *workspace) {
    return wick__miopen_code(run(((const struct wick__miopen_handle *)handle)->handle, plan, l, workspace));
}
