/* Batch norm of libcudnn.so.9 over the stand-in driver, in training and its gradients, and tensors of its older
 * functions. */
#include "cudnn.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SPATIAL = 1 };

enum standin_dtype standin_dtype_of(int type) {
    static const enum standin_dtype dtypes[] = {STANDIN_F32, STANDIN_F64, STANDIN_F16};
    return type >= 0 && type < 3 ? dtypes[type] : type == 9 ? STANDIN_BF16 : STANDIN_NO_DTYPE;
}

API int cudnnCreateTensorDescriptor(struct tensor **tensor) { MAKE(cudnnCreateTensorDescriptor, tensor); }
API int cudnnDestroyTensorDescriptor(struct tensor *tensor) { DESTROY(cudnnDestroyTensorDescriptor, tensor); }
API int cudnnSetTensorNdDescriptor(struct tensor *tensor, int type, int dims, const int *sizes, const int *strides) {
    ENTER(cudnnSetTensorNdDescriptor);
    if (dims < 3 || dims > 4) return d->leave(BAD_PARAM);
    *tensor = (struct tensor){.dtype = standin_dtype_of(type), .dims = dims};
    for (int i = dims - 1, step = 1; i >= 0; step *= sizes[i--]) {
        if (strides[i] != step) return d->leave(BAD_PARAM);
        tensor->size[i] = sizes[i];
    }
    return d->leave(SUCCESS);
}

/* ---- batch norm ---- */

static bool is_same(const struct tensor *a, const struct tensor *b) {
    bool same = a->dtype == b->dtype && a->dims == 4 && b->dims == 4;
    for (int d = 0; d < 4; d++) same = same && a->size[d] == b->size[d];
    return same;
}

/* alpha is 1, and beta 0. */
static bool is_plain(const void *alpha, const void *beta) {
    return *(const float *)alpha == 1 && *(const float *)beta == 0;
}

static bool fits(const struct tensor *x, const struct tensor *channels, int mode) {
    return mode == SPATIAL && channels->dtype == STANDIN_F32 && channels->dims == 4 && channels->size[0] == 1 &&
           channels->size[1] == x->size[1] && channels->size[2] == 1 && channels->size[3] == 1;
}

static struct standin_layer norm_of(enum standin_layer_kind kind, const struct tensor *x_is, const void *x, void *y,
                                    const void *weight, double epsilon) {
    struct standin_layer l = {.kind = kind, .dtype = x_is->dtype, .epsilon = epsilon, .in = {x}, .out = y};
    for (int d = 0; d < 4; d++) l.size[d] = x_is->size[d];
    l.by[0] = (void *)(uintptr_t)weight;
    return l;
}

static int run(const struct standin_blas_driver *d, const struct standin_blas *handle, const struct standin_layer *l) {
    const int code = d->layer(l, handle->stream);
    return code == DRIVER_OK          ? SUCCESS
           : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
           : code == DRIVER_VALUE     ? BAD_PARAM
                                      : FAILED;
}

API int cudnnBatchNormalizationForwardTraining(struct standin_blas *handle, int mode, const void *alpha,
                                               const void *beta, struct tensor *x_is, const void *x,
                                               struct tensor *y_is, void *y, struct tensor *channels,
                                               const void *weight, const void *bias, double factor, void *running_mean,
                                               void *running_variance, double epsilon, void *mean, void *inverse) {
    ENTER(cudnnBatchNormalizationForwardTraining);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || !fits(x_is, channels, mode) || factor != 0 || running_mean ||
        running_variance)
        return d->leave(BAD_PARAM);
    struct standin_layer l = norm_of(STANDIN_NORM_TRAIN, x_is, x, y, weight, epsilon);
    l.by[1] = (void *)(uintptr_t)bias;
    l.by[2] = mean;
    l.by[3] = inverse;
    return d->leave(run(d, handle, &l));
}

API int cudnnBatchNormalizationBackward(struct standin_blas *handle, int mode, const void *alpha, const void *beta,
                                        const void *alpha_channels, const void *beta_channels, struct tensor *x_is,
                                        const void *x, struct tensor *dy_is, const void *dy, struct tensor *dx_is,
                                        void *dx, struct tensor *channels, const void *weight, void *by_weight,
                                        void *by_bias, double epsilon, const void *mean, const void *inverse) {
    ENTER(cudnnBatchNormalizationBackward);
    if (!is_plain(alpha, beta) || !is_plain(alpha_channels, beta_channels) || !is_same(x_is, dy_is) ||
        !is_same(x_is, dx_is) || !fits(x_is, channels, mode))
        return d->leave(BAD_PARAM);
    struct standin_layer l = norm_of(STANDIN_NORM_BACKWARD, x_is, x, dx, weight, epsilon);
    l.in[1] = dy;
    l.by[2] = (void *)(uintptr_t)mean;
    l.by[3] = (void *)(uintptr_t)inverse;
    l.by[4] = by_weight;
    l.by[5] = by_bias;
    return d->leave(run(d, handle, &l));
}
