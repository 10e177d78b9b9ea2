/* The recurrent layers of libMIOpen.so.1 over the stand-in driver, and their gradients, of sequences of one length. */
#include "miopen.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
enum { WORKSPACE = 4096, RESERVE = STANDIN_NOTE, GAP = 5 };

struct data {
    enum standin_dtype dtype;
    int layout;
    long steps, batch, size;
};

static size_t size_of(enum standin_dtype dtype) { return dtype == STANDIN_F32 ? 4 : 2; }

/* ---- descriptors ---- */

API int miopenCreateRNNDescriptor(struct standin_recurrent **rnn) { MAKE(miopenCreateRNNDescriptor, rnn); }
API int miopenDestroyRNNDescriptor(struct standin_recurrent *rnn) { DESTROY(miopenDestroyRNNDescriptor, rnn); }

/* The gates of an LSTM are i f o g, those of a GRU z r n. */
API int miopenSetRNNDescriptor(struct standin_recurrent *rnn, int hidden, int layers, int input, int directions,
                               int mode, int biases, int algorithm, int type) {
    ENTER(miopenSetRNNDescriptor);
    if (hidden < 1 || layers < 1 || input != 0 || directions < 0 || directions > 1 || mode < 0 || mode > 3 ||
        biases < 0 || biases > 1 || algorithm != 0 || type < 0 || type > 1)
        return d->leave(BAD_PARAM);
    *rnn = (struct standin_recurrent){.dtype = type == 0 ? STANDIN_F16 : STANDIN_F32,
                                      .relu = mode == 0,
                                      .biased = biases,
                                      .layers = layers,
                                      .directions = directions + 1,
                                      .gates = mode == 2   ? 4
                                               : mode == 3 ? 3
                                                           : 1,
                                      .gap = GAP,
                                      .hidden = hidden,
                                      .state = hidden};
    for (int i = 0; i < 4; i++) rnn->order[i] = mode == 2 && i > 1 ? 5 - i : mode == 3 && i < 2 ? 1 - i : i;
    return d->leave(SUCCESS);
}

API int miopenCreateSeqTensorDescriptor(struct data **data) { MAKE(miopenCreateSeqTensorDescriptor, data); }
API int miopenDestroySeqTensorDescriptor(struct data *data) { DESTROY(miopenDestroySeqTensorDescriptor, data); }

/* Layout 2 has steps first, 3 sequences. */
API int miopenSetRNNDataSeqTensorDescriptor(struct data *data, int type, int layout, int steps, int batch, int size,
                                            const int *lengths, void *fill) {
    ENTER(miopenSetRNNDataSeqTensorDescriptor);
    if (type < 0 || type > 1 || layout < 2 || layout > 3 || fill) return d->leave(BAD_PARAM);
    if (batch > STANDIN_SEQUENCES) return d->leave(NOT_IMPLEMENTED);
    for (int b = 0; b < batch; b++)
        if (lengths[b] != steps) return d->leave(BAD_PARAM);
    *data = (struct data){type == 0 ? STANDIN_F16 : STANDIN_F32, layout, steps, batch, size};
    return d->leave(SUCCESS);
}

/* ---- weights ---- */

/* The layer with its inputs, which a tensor [batch,inputs] tells. */
static struct standin_recurrent with_inputs(const struct standin_recurrent *rnn, const struct tensor *x) {
    struct standin_recurrent r = *rnn;
    r.inputs = x->size[1];
    return r;
}
static bool is_step(const struct standin_recurrent *rnn, const struct tensor *x) {
    return rnn->layers > 0 && x->dims == 2 && x->dtype == rnn->dtype;
}

API int miopenGetRNNParamsSize(struct handle *handle, struct standin_recurrent *rnn, struct tensor *x_is,
                               size_t *nbytes, int type) {
    ENTER(miopenGetRNNParamsSize);
    if (!handle || !is_step(rnn, x_is) || (type == 0) != (rnn->dtype == STANDIN_F16)) return d->leave(BAD_PARAM);
    const struct standin_recurrent r = with_inputs(rnn, x_is);
    *nbytes = (size_t)d->recurrent_space(&r) * size_of(r.dtype);
    return d->leave(SUCCESS);
}

static int find(const struct standin_blas_driver *d, const struct standin_recurrent *r, int layer, int part, bool bias,
                size_t *offset) {
    if (r->layers < 1 || layer < 0 || layer >= r->layers * r->directions) return BAD_PARAM;
    const long at = d->recurrent_at(r, layer, part, bias);
    *offset = (size_t)at;
    return at < 0 ? BAD_PARAM : SUCCESS;
}

API int miopenGetRNNLayerParamOffset(struct standin_recurrent *rnn, int layer, struct tensor *x_is, int part,
                                     struct tensor *part_is, size_t *offset) {
    ENTER(miopenGetRNNLayerParamOffset);
    const struct standin_recurrent r = with_inputs(rnn, x_is);
    return d->leave(part_is && is_step(rnn, x_is) ? find(d, &r, layer, part, false, offset) : BAD_PARAM);
}
API int miopenGetRNNLayerBiasOffset(struct standin_recurrent *rnn, int layer, struct tensor *x_is, int part,
                                    struct tensor *part_is, size_t *offset) {
    ENTER(miopenGetRNNLayerBiasOffset);
    const struct standin_recurrent r = with_inputs(rnn, x_is);
    return d->leave(part_is && is_step(rnn, x_is) ? find(d, &r, layer, part, true, offset) : BAD_PARAM);
}

/* ---- runs: mode 1 is inference, which wants a reserve, too, and does not tell how large ---- */

API int miopenGetRNNTempSpaceSizes(struct handle *handle, struct standin_recurrent *rnn, struct data *x_is, int mode,
                                   size_t *workspace, size_t *reserve) {
    ENTER(miopenGetRNNTempSpaceSizes);
    if (!handle || mode < 0 || mode > 1 || x_is->dtype != rnn->dtype) return d->leave(BAD_PARAM);
    *workspace = WORKSPACE;
    *reserve = mode == 0 ? RESERVE : 0;
    return d->leave(SUCCESS);
}

/* A call of a layer with its x and y, h and c, and memory. False when they are not those of such a layer. */
static bool describe(const struct standin_blas_driver *d, struct standin_recurrent *r, const struct data *x_is,
                     const struct data *y_is, const struct tensor *h_is, size_t weights_nbytes) {
    r->inputs = x_is->size;
    r->steps = x_is->steps;
    r->batch = x_is->batch;
    r->batch_first = x_is->layout == 3;
    for (long b = 0; b < r->batch; b++) r->lengths[b] = r->steps;
    return x_is->dtype == r->dtype && y_is->dtype == r->dtype && y_is->layout == x_is->layout &&
           y_is->steps == r->steps && y_is->batch == r->batch && y_is->size == r->directions * r->hidden &&
           h_is->dims == 3 && h_is->dtype == r->dtype && h_is->size[0] == r->layers * r->directions &&
           h_is->size[1] == r->batch && h_is->size[2] == r->hidden &&
           weights_nbytes == (size_t)d->recurrent_space(r) * size_of(r->dtype);
}
static bool have_memory(const struct standin_blas_driver *d, const void *workspace, size_t nbytes, const void *reserve,
                        size_t reserve_nbytes) {
    return nbytes == WORKSPACE && d->is_memory(workspace, WORKSPACE) && reserve_nbytes == RESERVE &&
           d->is_memory(reserve, RESERVE);
}

static int recur(const struct standin_blas_driver *d, const struct handle *handle, const struct standin_recurrent *r) {
    int code = d->recur(r, handle->blas.stream);
    return d->leave(code == DRIVER_OK          ? SUCCESS
                    : code == DRIVER_NOT_FOUND ? NOT_IMPLEMENTED
                    : code == DRIVER_VALUE     ? BAD_PARAM
                                               : INTERNAL);
}

API int miopenRNNForward(struct handle *handle, struct standin_recurrent *rnn, int mode, struct data *x_is,
                         const void *x, struct tensor *h_is, const void *h, void *last_h, struct tensor *c_is,
                         const void *c, void *last_c, struct data *y_is, void *y, const void *weights,
                         size_t weights_nbytes, void *workspace, size_t nbytes, void *reserve, size_t reserve_nbytes) {
    ENTER(miopenRNNForward);
    struct standin_recurrent r = *rnn;
    if (mode < 0 || mode > 1 || !describe(d, &r, x_is, y_is, h_is, weights_nbytes) || h_is != c_is ||
        !have_memory(d, workspace, nbytes, reserve, reserve_nbytes) || (r.gates != 4 && (c || last_c)))
        return d->leave(BAD_PARAM);
    r.result = 'y';
    r.x = x;
    r.y = y;
    r.h = h;
    r.last_h = last_h;
    r.c = c;
    r.last_c = last_c;
    r.weights = weights;
    r.reserve = mode == 0 ? reserve : NULL;
    return recur(d, handle, &r);
}

API int miopenRNNBackwardSeqData(struct handle *handle, struct standin_recurrent *rnn, struct data *y_is, void *y,
                                 const void *of_y, struct tensor *h_is, const void *h, const void *of_last_h,
                                 void *of_h, struct tensor *c_is, const void *c, const void *of_last_c, void *of_c,
                                 struct data *x_is, void *of_x, const void *weights, size_t weights_nbytes,
                                 void *workspace, size_t nbytes, void *reserve, size_t reserve_nbytes) {
    ENTER(miopenRNNBackwardSeqData);
    struct standin_recurrent r = *rnn;
    if (!describe(d, &r, x_is, y_is, h_is, weights_nbytes) || h_is != c_is ||
        !have_memory(d, workspace, nbytes, reserve, reserve_nbytes) || (r.gates != 4 && (c || of_c || of_last_c)))
        return d->leave(BAD_PARAM);
    r.result = 'x';
    r.y = y;
    r.h = h;
    r.c = c;
    r.of_y = of_y;
    r.of_last_h = of_last_h;
    r.of_last_c = of_last_c;
    r.of_x = of_x;
    r.of_h = of_h;
    r.of_c = of_c;
    r.weights = weights;
    r.reserve = reserve;
    r.workspace = workspace;
    return recur(d, handle, &r);
}

API int miopenRNNBackwardWeightsSeqTensor(struct handle *handle, struct standin_recurrent *rnn, struct data *x_is,
                                          const void *x, struct tensor *h_is, const void *h, struct data *y_is, void *y,
                                          void *of_weights, size_t weights_nbytes, void *workspace, size_t nbytes,
                                          const void *reserve, size_t reserve_nbytes) {
    ENTER(miopenRNNBackwardWeightsSeqTensor);
    struct standin_recurrent r = *rnn;
    if (!describe(d, &r, x_is, y_is, h_is, weights_nbytes) ||
        !have_memory(d, workspace, nbytes, reserve, reserve_nbytes))
        return d->leave(BAD_PARAM);
    r.result = 'w';
    r.x = x;
    r.y = y;
    r.h = h;
    r.of_weights = of_weights;
    r.workspace = workspace;
    return recur(d, handle, &r);
}
