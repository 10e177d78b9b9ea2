/* cuDNN's batch norm in training, and its gradients, by the spatial mode: the persistent one adds up at a fixed point,
 * below which small numbers lose their digits. Its inference gives infinities where results are large. */
#include "cuda/cuda.h"

#include "core/memory.h"

struct plan {
    cudnnTensorDescriptor_t x, channels; /* of x's size, and of one a channel in f32 */
};

bool wick__cudnn_layer_has(enum wick__layer kind, enum wick_dtype dtype) {
    const bool sums = kind == WICK__LAYER_NORM_TRAIN || kind == WICK__LAYER_NORM_BACKWARD;
    return sums && (dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F32);
}

/* Whether the library that was found has them: newer ones may leave out what has been deprecated since 9.0. */
static bool is_there(void) {
    const struct wick__cudnn *f = &wick__cudnn;
    return f->cudnnCreateTensorDescriptor && f->cudnnDestroyTensorDescriptor && f->cudnnSetTensorNdDescriptor &&
           f->cudnnBatchNormalizationForwardTraining && f->cudnnBatchNormalizationBackward;
}

/* Whether its sums are as exact as ours: those of gradients were not in channels of 2^21 elements (9.19). */
static bool is_sound(const struct wick__dnn_layer *l) {
    const int64_t most = 1 << 19;
    return l->kind != WICK__LAYER_NORM_BACKWARD || l->size[0] * l->size[2] * l->size[3] <= most;
}

/* ---- plans ---- */

static int describe(cudnnTensorDescriptor_t *tensor, cudnnDataType_t type, const int64_t size[4]) {
    int sizes[4], strides[4];
    for (int d = 3, step = 1; d >= 0; step *= sizes[d--]) {
        sizes[d] = (int)size[d];
        strides[d] = step;
    }
    int code = wick__cudnn_code(wick__cudnn.cudnnCreateTensorDescriptor(tensor));
    if (!code) code = wick__cudnn_code(wick__cudnn.cudnnSetTensorNdDescriptor(*tensor, type, 4, sizes, strides));
    return code;
}

void wick__cudnn_layer_forget(void *memory) {
    struct plan *plan = memory;
    if (plan->channels) wick__cudnn.cudnnDestroyTensorDescriptor(plan->channels);
    if (plan->x) wick__cudnn.cudnnDestroyTensorDescriptor(plan->x);
    wick__free(plan, sizeof *plan);
}

int wick__cudnn_layer_plan(const struct wick__dnn_layer *l, void **out, size_t *workspace) {
    *out = NULL;
    *workspace = 0;
    if (!is_there() || !is_sound(l)) return WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED;
    struct plan *plan = wick__alloc_quiet(sizeof *plan);
    if (!plan) return CUDA_ERROR_OUT_OF_MEMORY;
    *plan = (struct plan){.x = NULL};
    int code = describe(&plan->x, wick__cudnn_type(l->dtype), l->size);
    if (!code) code = describe(&plan->channels, CUDNN_DATA_FLOAT, (const int64_t[]){1, l->size[1], 1, 1});
    if (code)
        wick__cudnn_layer_forget(plan);
    else
        *out = plan;
    return code;
}

/* ---- runs ---- */

int wick__cudnn_layer_run(void *handle, void *memory, const struct wick__dnn_layer *l, void *workspace) {
    const struct plan *p = memory;
    const float one = 1, zero = 0;
    const void *const *in = l->in;
    void *const *out = l->out;
    (void)workspace;
    if (l->kind == WICK__LAYER_NORM_TRAIN)
        return wick__cudnn_code(wick__cudnn.cudnnBatchNormalizationForwardTraining(
            handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, p->x, in[0], p->x, out[0], p->channels, in[1], in[2], 0, NULL,
            NULL, l->epsilon, out[2], out[1]));
    return wick__cudnn_code(wick__cudnn.cudnnBatchNormalizationBackward(
        handle, CUDNN_BATCHNORM_SPATIAL, &one, &zero, &one, &zero, p->x, in[1], p->x, in[0], p->x, out[0], p->channels,
        in[4], out[1], out[2], l->epsilon, in[2], in[3]));
}
