/* The layers of libMIOpen.so.1 over the stand-in driver. */
#include "miopen.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

struct pool {
    int mode;
    int index_type, index_mode;
    long kernel[2], padding[2], stride[2];
};

struct response {
    int size;
    double parameters[3];
};

static int status_of(int code) {
    return code == DRIVER_OK          ? SUCCESS
           : code == DRIVER_NOT_FOUND ? NOT_IMPLEMENTED
           : code == DRIVER_VALUE     ? BAD_PARAM
                                      : INTERNAL;
}

/* alpha is 1, and beta 0. */
static bool is_plain(const void *alpha, const void *beta) {
    return *(const float *)alpha == 1 && *(const float *)beta == 0;
}

static struct standin_layer layer_of(enum standin_layer_kind kind, const struct tensor *x) {
    struct standin_layer l = {.kind = kind, .dtype = x->dtype};
    for (int d = 0; d < 4; d++) l.size[d] = x->size[d];
    return l;
}

static bool is_same(const struct tensor *a, const struct tensor *b) {
    bool same = a->dtype == b->dtype && a->dims == 4 && b->dims == 4;
    for (int d = 0; d < 4; d++) same = same && a->size[d] == b->size[d];
    return same;
}

/* ---- softmax: its logarithm is algorithm 2; only by channels, which is mode 1 ---- */

API int miopenSoftmaxForward_V2(struct handle *handle, const void *alpha, struct tensor *x_is, const void *x,
                                const void *beta, struct tensor *y_is, void *y, int algorithm, int mode) {
    ENTER(miopenSoftmaxForward_V2);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || algorithm < 1 || algorithm > 2 || mode != 1)
        return d->leave(BAD_PARAM);
    struct standin_layer l = layer_of(STANDIN_SOFTMAX, x_is);
    l.log = algorithm == 2;
    l.in[0] = x;
    l.out = y;
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

API int miopenSoftmaxBackward_V2(struct handle *handle, const void *alpha, struct tensor *y_is, const void *y,
                                 struct tensor *dy_is, const void *dy, const void *beta, struct tensor *dx_is, void *dx,
                                 int algorithm, int mode) {
    ENTER(miopenSoftmaxBackward_V2);
    if (!is_plain(alpha, beta) || !is_same(y_is, dy_is) || !is_same(y_is, dx_is) || algorithm < 1 || algorithm > 2 ||
        mode != 1)
        return d->leave(BAD_PARAM);
    struct standin_layer l = layer_of(STANDIN_SOFTMAX_BACKWARD, y_is);
    l.log = algorithm == 2;
    l.in[0] = y;
    l.in[1] = dy;
    l.out = dx;
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

/* ---- batch norm: spatial, which is mode 1 ---- */

static bool fits(const struct tensor *x, const struct tensor *channels, int mode) {
    return mode == 1 && channels->dtype == STANDIN_F32 && channels->dims == 4 && channels->size[0] == 1 &&
           channels->size[1] == x->size[1] && channels->size[2] == 1 && channels->size[3] == 1;
}

static struct standin_layer norm_of(enum standin_layer_kind kind, const struct tensor *x_is, const void *x, void *y,
                                    void *const by[4], double epsilon) {
    struct standin_layer l = layer_of(kind, x_is);
    l.epsilon = epsilon;
    l.in[0] = x;
    l.out = y;
    for (int i = 0; i < 4; i++) l.by[i] = by[i];
    return l;
}

API int miopenBatchNormalizationForwardInference(struct handle *handle, int mode, void *alpha, void *beta,
                                                 struct tensor *x_is, const void *x, struct tensor *y_is, void *y,
                                                 struct tensor *channels, void *weight, void *bias, void *mean,
                                                 void *variance, double epsilon) {
    ENTER(miopenBatchNormalizationForwardInference);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || !fits(x_is, channels, mode)) return d->leave(BAD_PARAM);
    const struct standin_layer l = norm_of(STANDIN_NORM, x_is, x, y, (void *[]){weight, bias, mean, variance}, epsilon);
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

API int miopenBatchNormalizationForwardTraining(struct handle *handle, int mode, void *alpha, void *beta,
                                                struct tensor *x_is, const void *x, struct tensor *y_is, void *y,
                                                struct tensor *channels, void *weight, void *bias, double factor,
                                                void *running_mean, void *running_variance, double epsilon, void *mean,
                                                void *inverse) {
    ENTER(miopenBatchNormalizationForwardTraining);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || !fits(x_is, channels, mode) || factor != 0 || running_mean ||
        running_variance)
        return d->leave(BAD_PARAM);
    const struct standin_layer l =
        norm_of(STANDIN_NORM_TRAIN, x_is, x, y, (void *[]){weight, bias, mean, inverse}, epsilon);
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

API int miopenBatchNormalizationBackward(struct handle *handle, int mode, const void *alpha, const void *beta,
                                         const void *alpha_channels, const void *beta_channels, struct tensor *x_is,
                                         const void *x, struct tensor *dy_is, const void *dy, struct tensor *dx_is,
                                         void *dx, struct tensor *channels, void *weight, void *by_weight,
                                         void *by_bias, double epsilon, void *mean, void *inverse) {
    ENTER(miopenBatchNormalizationBackward);
    if (!is_plain(alpha, beta) || !is_plain(alpha_channels, beta_channels) || !is_same(x_is, dy_is) ||
        !is_same(x_is, dx_is) || !fits(x_is, channels, mode))
        return d->leave(BAD_PARAM);
    struct standin_layer l =
        norm_of(STANDIN_NORM_BACKWARD, x_is, x, dx, (void *[]){weight, NULL, mean, inverse}, epsilon);
    l.in[1] = dy;
    l.by[4] = by_weight;
    l.by[5] = by_bias;
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

/* ---- local response norm: by channels, which is mode 1 ---- */

API int miopenCreateLRNDescriptor(struct response **response) { MAKE(miopenCreateLRNDescriptor, response); }
API int miopenDestroyLRNDescriptor(struct response *response) { DESTROY(miopenDestroyLRNDescriptor, response); }
API int miopenSetLRNDescriptor(struct response *response, int mode, unsigned size, double alpha, double beta,
                               double k) {
    ENTER(miopenSetLRNDescriptor);
    if (mode != 1 || size % 2 == 0) return d->leave(BAD_PARAM);
    *response = (struct response){(int)size, {alpha, beta, k}};
    return d->leave(SUCCESS);
}

API int miopenLRNGetWorkSpaceSize(struct tensor *y_is, size_t *nbytes) {
    ENTER(miopenLRNGetWorkSpaceSize);
    *nbytes = sizeof(float);
    for (int i = 0; i < 4; i++) *nbytes *= (size_t)y_is->size[i];
    return d->leave(SUCCESS);
}

static struct standin_layer response_of(enum standin_layer_kind kind, const struct tensor *x_is,
                                        const struct response *response) {
    struct standin_layer l = layer_of(kind, x_is);
    l.kernel[0] = response->size;
    for (int i = 0; i < 3; i++) l.response[i] = response->parameters[i];
    return l;
}

API int miopenLRNForward(struct handle *handle, struct response *response, const void *alpha, struct tensor *x_is,
                         const void *x, const void *beta, struct tensor *y_is, void *y, bool do_backward,
                         void *workspace) {
    ENTER(miopenLRNForward);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || do_backward != (workspace != NULL))
        return d->leave(BAD_PARAM);
    struct standin_layer l = response_of(STANDIN_RESPONSE, x_is, response);
    l.in[0] = x;
    l.out = y;
    l.by[0] = workspace;
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

API int miopenLRNBackward(struct handle *handle, struct response *response, const void *alpha, struct tensor *y_is,
                          void *y, struct tensor *dy_is, const void *dy, struct tensor *x_is, const void *x,
                          const void *beta, struct tensor *dx_is, void *dx, void *workspace) {
    ENTER(miopenLRNBackward);
    if (!is_plain(alpha, beta) || !is_same(x_is, y_is) || !is_same(x_is, dy_is) || !is_same(x_is, dx_is))
        return d->leave(BAD_PARAM);
    struct standin_layer l = response_of(STANDIN_RESPONSE_BACKWARD, x_is, response);
    l.in[0] = x;
    l.in[1] = dy;
    l.out = dx;
    l.by[0] = workspace;
    l.by[1] = y;
    return d->leave(status_of(d->layer(&l, handle->blas.stream)));
}

/* ---- pooling: averages, of mode 1 without padding, of mode 2 with it; the largest of mode 0 ---- */

API int miopenCreatePoolingDescriptor(struct pool **pool) { MAKE(miopenCreatePoolingDescriptor, pool); }
API int miopenDestroyPoolingDescriptor(struct pool *pool) { DESTROY(miopenDestroyPoolingDescriptor, pool); }
API int miopenSet2dPoolingDescriptor(struct pool *pool, int mode, int height, int width, int padding_h, int padding_w,
                                     int stride_h, int stride_w) {
    ENTER(miopenSet2dPoolingDescriptor);
    if (mode < 0 || mode > 2) return d->leave(BAD_PARAM);
    *pool = (struct pool){
        .mode = mode, .kernel = {height, width}, .padding = {padding_h, padding_w}, .stride = {stride_h, stride_w}};
    return d->leave(SUCCESS);
}

/* Type 2 is 32 bits, mode 1 places in planes. */
API int miopenSetPoolingIndexType(struct pool *pool, int type) {
    ENTER(miopenSetPoolingIndexType);
    pool->index_type = type;
    return d->leave(SUCCESS);
}
API int miopenSetPoolingWorkSpaceIndexMode(struct pool *pool, int mode) {
    ENTER(miopenSetPoolingWorkSpaceIndexMode);
    pool->index_mode = mode;
    return d->leave(SUCCESS);
}

/* Whether the workspace is places of windows, where those are wanted, and else there is none. */
static bool fits_places(const struct pool *pool, const void *workspace, bool wanted) {
    bool places = pool->mode == 0 && pool->index_type == 2 && pool->index_mode == 1;
    return wanted ? places && workspace : !workspace;
}

static int run_pool(const struct standin_blas_driver *d, const struct handle *handle, const struct pool *pool,
                    struct standin_layer *l, const struct tensor *y) {
    l->counts_padding = pool->mode == 2;
    for (int s = 0; s < 2; s++) {
        l->kernel[s] = pool->kernel[s];
        l->padding[s] = pool->padding[s];
        l->stride[s] = pool->stride[s];
        l->to[s] = (l->size[2 + s] + 2 * l->padding[s] - l->kernel[s]) / l->stride[s] + 1;
        if (l->to[s] != y->size[2 + s]) return BAD_PARAM;
    }
    if (y->dtype != l->dtype || y->size[0] != l->size[0] || y->size[1] != l->size[1]) return BAD_PARAM;
    return status_of(d->layer(l, handle->blas.stream));
}

API int miopenPoolingForward(struct handle *handle, struct pool *pool, const void *alpha, struct tensor *x_is,
                             const void *x, const void *beta, struct tensor *y_is, void *y, bool do_backward,
                             void *workspace, size_t nbytes) {
    ENTER(miopenPoolingForward);
    size_t places = (size_t)(y_is->size[0] * y_is->size[1] * y_is->size[2] * y_is->size[3]);
    if (!is_plain(alpha, beta) || !fits_places(pool, workspace, do_backward) ||
        nbytes != (do_backward ? 4 * places : 0))
        return d->leave(BAD_PARAM);
    struct standin_layer l = layer_of(pool->mode == 0 ? STANDIN_MAX_POOL : STANDIN_POOL, x_is);
    l.in[0] = x;
    l.by[0] = workspace;
    l.out = y;
    return d->leave(run_pool(d, handle, pool, &l, y_is));
}

API int miopenPoolingBackward(struct handle *handle, struct pool *pool, const void *alpha, struct tensor *y_is,
                              const void *y, struct tensor *dy_is, const void *dy, struct tensor *x_is, const void *x,
                              const void *beta, struct tensor *dx_is, void *dx, void *workspace) {
    ENTER(miopenPoolingBackward);
    if (!is_plain(alpha, beta) || !is_same(y_is, dy_is) || !is_same(x_is, dx_is) || !y || !x ||
        !fits_places(pool, workspace, pool->mode == 0))
        return d->leave(BAD_PARAM);
    struct standin_layer l = layer_of(pool->mode == 0 ? STANDIN_MAX_POOL_BACKWARD : STANDIN_POOL_BACKWARD, x_is);
    l.in[0] = dy;
    l.by[0] = workspace;
    l.out = dx;
    return d->leave(run_pool(d, handle, pool, &l, y_is));
}
