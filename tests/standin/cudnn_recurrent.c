/* The recurrent layers of libcudnn.so.9 over the stand-in driver: in inference, by the standard algorithm. */
#include "cudnn.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum { WORKSPACE = 4096, GAP = 3 };

struct dropout {
    bool set;
};
struct data {
    enum standin_dtype dtype;
    int layout;
    long steps, batch, size, lengths[STANDIN_SEQUENCES];
    double fill;
};

static size_t size_of(enum standin_dtype dtype) { return dtype == STANDIN_F64 ? 8 : dtype == STANDIN_F32 ? 4 : 2; }

/* ---- descriptors ---- */

API int cudnnCreateDropoutDescriptor(struct dropout **dropout) { MAKE(cudnnCreateDropoutDescriptor, dropout); }
API int cudnnDestroyDropoutDescriptor(struct dropout *dropout) { DESTROY(cudnnDestroyDropoutDescriptor, dropout); }
API int cudnnSetDropoutDescriptor(struct dropout *dropout, void *handle, float p, void *states, size_t nbytes,
                                  unsigned long long seed) {
    ENTER(cudnnSetDropoutDescriptor);
    (void)seed;
    if (!handle || p != 0 || states || nbytes) return d->leave(BAD_PARAM);
    dropout->set = true;
    return d->leave(SUCCESS);
}

API int cudnnCreateRNNDescriptor(struct standin_recurrent **rnn) { MAKE(cudnnCreateRNNDescriptor, rnn); }
API int cudnnDestroyRNNDescriptor(struct standin_recurrent *rnn) { DESTROY(cudnnDestroyRNNDescriptor, rnn); }

/* Algorithm 0 is the standard one, math 1 tensor cores and 3 none; sums are in f32 or f64, and 1 in `flags` is padding.
 */
API int cudnnSetRNNDescriptor_v8(struct standin_recurrent *rnn, int algorithm, int mode, int biases, int directions,
                                 int input, int type, int sums, int math, int32_t inputs, int32_t hidden,
                                 int32_t projection, int32_t layers, struct dropout *dropout, uint32_t flags) {
    ENTER(cudnnSetRNNDescriptor_v8);
    const enum standin_dtype dtype = standin_dtype_of(type);
    const bool narrow = dtype == STANDIN_F16 || dtype == STANDIN_BF16;
    if (algorithm != 0 || mode < 0 || mode > 3 || (biases != 0 && biases != 2) || directions < 0 || directions > 1 ||
        input != 0 || dtype == STANDIN_NO_DTYPE || sums != (dtype == STANDIN_F64) || math != (narrow ? 1 : 3) ||
        inputs < 1 || projection < 1 || projection > hidden || (projection < hidden && mode != 2) || layers < 1 ||
        !dropout->set || flags != 1)
        return d->leave(BAD_PARAM);
    *rnn = (struct standin_recurrent){.dtype = dtype,
                                      .relu = mode == 0,
                                      .biased = biases == 2,
                                      .layers = layers,
                                      .directions = directions + 1,
                                      .gates = mode == 2   ? 4
                                               : mode == 3 ? 3
                                                           : 1,
                                      .order = {0, 1, 2, 3},
                                      .gap = GAP,
                                      .inputs = inputs,
                                      .hidden = hidden,
                                      .state = projection};
    return d->leave(SUCCESS);
}

API int cudnnCreateRNNDataDescriptor(struct data **data) { MAKE(cudnnCreateRNNDataDescriptor, data); }
API int cudnnDestroyRNNDataDescriptor(struct data *data) { DESTROY(cudnnDestroyRNNDataDescriptor, data); }
API int cudnnSetRNNDataDescriptor(struct data *data, int type, int layout, int steps, int batch, int size,
                                  const int *lengths, void *fill) {
    ENTER(cudnnSetRNNDataDescriptor);
    if ((layout != 0 && layout != 2) || !fill) return d->leave(BAD_PARAM);
    if (batch > STANDIN_SEQUENCES) return d->leave(NOT_SUPPORTED);
    *data = (struct data){standin_dtype_of(type), layout, steps, batch, size, {0}, 0};
    for (int b = 0; b < batch; b++) {
        if (lengths[b] < 1 || lengths[b] > steps) return d->leave(BAD_PARAM);
        data->lengths[b] = lengths[b];
    }
    for (size_t i = 0; i < size_of(data->dtype); i++)
        if (((char *)fill)[i] != 0) return d->leave(NOT_SUPPORTED);
    return d->leave(SUCCESS);
}

/* ---- weights ---- */

static size_t space_of(const struct standin_blas_driver *d, const struct standin_recurrent *rnn) {
    return (size_t)d->recurrent_space(rnn) * size_of(rnn->dtype);
}

API int cudnnGetRNNWeightSpaceSize(void *handle, struct standin_recurrent *rnn, size_t *nbytes) {
    ENTER(cudnnGetRNNWeightSpaceSize);
    if (!handle || rnn->layers < 1) return d->leave(BAD_PARAM);
    *nbytes = space_of(d, rnn);
    return d->leave(SUCCESS);
}

API int cudnnGetRNNWeightParams(void *handle, struct standin_recurrent *rnn, int32_t layer, size_t nbytes,
                                const void *space, int32_t part, struct tensor *matrix_is, void **matrix,
                                struct tensor *bias_is, void **bias) {
    ENTER(cudnnGetRNNWeightParams);
    if (!handle || !matrix_is || !bias_is || nbytes != space_of(d, rnn) || layer < 0 ||
        layer >= rnn->layers * rnn->directions)
        return d->leave(BAD_PARAM);
    const long at = d->recurrent_at(rnn, layer, part, false), bias_at = d->recurrent_at(rnn, layer, part, true);
    *matrix = at < 0 ? NULL : (char *)(uintptr_t)space + (size_t)at * size_of(rnn->dtype);
    *bias = bias_at < 0 ? NULL : (char *)(uintptr_t)space + (size_t)bias_at * size_of(rnn->dtype);
    return d->leave(at < 0 ? BAD_PARAM : SUCCESS);
}

/* ---- runs ---- */

API int cudnnGetRNNTempSpaceSizes(void *handle, struct standin_recurrent *rnn, int mode, struct data *x_is,
                                  size_t *workspace, size_t *reserve) {
    ENTER(cudnnGetRNNTempSpaceSizes);
    if (!handle || mode != 0 || x_is->dtype != rnn->dtype || x_is->size != rnn->inputs) return d->leave(BAD_PARAM);
    *workspace = WORKSPACE;
    *reserve = 0;
    return d->leave(SUCCESS);
}

static bool is_state(const struct standin_recurrent *r, const struct tensor *state, long columns) {
    return state->dtype == r->dtype && state->dims == 3 && state->size[0] == r->layers * r->directions &&
           state->size[1] == r->batch && state->size[2] == columns;
}

API int cudnnRNNForward(struct standin_blas *handle, struct standin_recurrent *rnn, int mode, const int32_t *lengths,
                        struct data *x_is, const void *x, struct data *y_is, void *y, struct tensor *h_is,
                        const void *h, void *last_h, struct tensor *c_is, const void *c, void *last_c,
                        size_t weights_nbytes, const void *weights, size_t nbytes, void *workspace,
                        size_t reserve_nbytes, void *reserve) {
    ENTER(cudnnRNNForward);
    struct standin_recurrent r = *rnn;
    r.result = 'y';
    r.steps = x_is->steps;
    r.batch = x_is->batch;
    r.batch_first = x_is->layout == 2;
    for (long b = 0; b < r.batch; b++) {
        r.lengths[b] = x_is->lengths[b];
        if (y_is->lengths[b] != x_is->lengths[b]) return d->leave(BAD_PARAM);
    }
    if (mode != 0 || lengths || x_is->dtype != r.dtype || x_is->size != r.inputs || y_is->dtype != r.dtype ||
        y_is->layout != x_is->layout || y_is->steps != r.steps || y_is->batch != r.batch ||
        y_is->size != r.directions * r.state || !is_state(&r, h_is, r.state) || !is_state(&r, c_is, r.hidden) ||
        weights_nbytes != space_of(d, &r) || nbytes != WORKSPACE || !d->is_memory(workspace, WORKSPACE) ||
        reserve_nbytes || reserve || (r.gates != 4 && (c || last_c)))
        return d->leave(BAD_PARAM);
    r.x = x;
    r.y = y;
    r.h = h;
    r.last_h = last_h;
    r.c = c;
    r.last_c = last_c;
    r.weights = weights;
    int code = d->recur(&r, handle->stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_SUPPORTED
                    : code == DRIVER_VALUE     ? BAD_PARAM
                                               : FAILED);
}
