/* cuDNN's recurrent layers: RNN, LSTM and GRU in inference, by its algorithm of products step by step, in which tensor
 * cores take operands of 16 bits alone. */
#include "cuda/cuda.h"

#include "core/dtype.h"
#include "core/memory.h"

struct made {
    cudnnDropoutDescriptor_t dropout; /* that drops none */
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t x, y;
    cudnnTensorDescriptor_t h, c, matrix, bias;
    int64_t batch;
    int *lengths; /* of a call */
};

static bool is_there(void) {
    const struct wick__cudnn *f = &wick__cudnn;
    return f->cudnnCreateTensorDescriptor && f->cudnnDestroyTensorDescriptor && f->cudnnSetTensorNdDescriptor &&
           f->cudnnCreateDropoutDescriptor && f->cudnnDestroyDropoutDescriptor && f->cudnnSetDropoutDescriptor &&
           f->cudnnCreateRNNDescriptor && f->cudnnDestroyRNNDescriptor && f->cudnnSetRNNDescriptor_v8 &&
           f->cudnnCreateRNNDataDescriptor && f->cudnnDestroyRNNDataDescriptor && f->cudnnSetRNNDataDescriptor &&
           f->cudnnGetRNNWeightSpaceSize && f->cudnnGetRNNWeightParams && f->cudnnGetRNNTempSpaceSizes &&
           f->cudnnRNNForward;
}

void wick__cudnn_recurrent_forget(void *memory) {
    struct made *made = memory;
    if (made->bias) wick__cudnn.cudnnDestroyTensorDescriptor(made->bias);
    if (made->matrix) wick__cudnn.cudnnDestroyTensorDescriptor(made->matrix);
    if (made->c) wick__cudnn.cudnnDestroyTensorDescriptor(made->c);
    if (made->h) wick__cudnn.cudnnDestroyTensorDescriptor(made->h);
    if (made->y) wick__cudnn.cudnnDestroyRNNDataDescriptor(made->y);
    if (made->x) wick__cudnn.cudnnDestroyRNNDataDescriptor(made->x);
    if (made->rnn) wick__cudnn.cudnnDestroyRNNDescriptor(made->rnn);
    if (made->dropout) wick__cudnn.cudnnDestroyDropoutDescriptor(made->dropout);
    if (made->lengths) wick__free(made->lengths, (size_t)made->batch * sizeof *made->lengths);
    wick__free(made, sizeof *made);
}

/* ---- descriptors ---- */

static int create(struct made *made) {
    cudnnTensorDescriptor_t *const tensors[] = {&made->h, &made->c, &made->matrix, &made->bias};
    int code = wick__cudnn_code(wick__cudnn.cudnnCreateDropoutDescriptor(&made->dropout));
    if (!code) code = wick__cudnn_code(wick__cudnn.cudnnCreateRNNDescriptor(&made->rnn));
    if (!code) code = wick__cudnn_code(wick__cudnn.cudnnCreateRNNDataDescriptor(&made->x));
    if (!code) code = wick__cudnn_code(wick__cudnn.cudnnCreateRNNDataDescriptor(&made->y));
    for (int i = 0; i < 4 && !code; i++) code = wick__cudnn_code(wick__cudnn.cudnnCreateTensorDescriptor(tensors[i]));
    return code;
}

static int describe_layers(cudnnHandle_t handle, const struct wick__dnn_recurrent *l, const struct made *made) {
    static const cudnnRNNMode_t modes[] = {[WICK_RNN_TANH] = CUDNN_RNN_TANH,
                                           [WICK_RNN_RELU] = CUDNN_RNN_RELU,
                                           [WICK_LSTM] = CUDNN_LSTM,
                                           [WICK_GRU] = CUDNN_GRU};
    const bool narrow = l->dtype == WICK_F16 || l->dtype == WICK_BF16;
    int code = wick__cudnn_code(wick__cudnn.cudnnSetDropoutDescriptor(made->dropout, handle, 0, NULL, 0, 0));
    if (code) return code;
    return wick__cudnn_code(wick__cudnn.cudnnSetRNNDescriptor_v8(
        made->rnn, CUDNN_RNN_ALGO_STANDARD, modes[l->mode], l->biased ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
        l->directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, wick__cudnn_type(l->dtype),
        l->dtype == WICK_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, narrow ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH,
        (int32_t)l->inputs, (int32_t)l->hidden, (int32_t)l->state, l->layers, made->dropout,
        CUDNN_RNN_PADDED_IO_ENABLED));
}

/* x and y with the lengths of a call; y is 0 behind them. */
static int describe_data(const struct wick__dnn_recurrent *l, const struct made *made) {
    const cudnnRNNDataLayout_t layout =
        l->batch_first ? CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED : CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
    const cudnnDataType_t type = wick__cudnn_type(l->dtype);
    double zero = 0;
    for (int64_t b = 0; b < l->batch; b++) made->lengths[b] = (int)(l->lengths ? l->lengths[b] : l->steps);
    int code = wick__cudnn_code(wick__cudnn.cudnnSetRNNDataDescriptor(
        made->x, type, layout, (int)l->steps, (int)l->batch, (int)l->inputs, made->lengths, &zero));
    if (code) return code;
    return wick__cudnn_code(wick__cudnn.cudnnSetRNNDataDescriptor(
        made->y, type, layout, (int)l->steps, (int)l->batch, (int)(l->directions * l->state), made->lengths, &zero));
}

static int describe_state(const struct wick__dnn_recurrent *l, cudnnTensorDescriptor_t state, int64_t columns) {
    const int sizes[3] = {l->layers * l->directions, (int)l->batch, (int)columns};
    const int strides[3] = {sizes[1] * sizes[2], sizes[2], 1};
    return wick__cudnn_code(
        wick__cudnn.cudnnSetTensorNdDescriptor(state, wick__cudnn_type(l->dtype), 3, sizes, strides));
}

/* ---- weights ---- */

struct search {
    cudnnHandle_t handle;
    const struct wick__dnn_recurrent *l;
    const struct made *made;
    struct wick__recurrent_plan *plan;
};

/* Where a matrix and a bias of the library's are, from the addresses that it has for a space that begins at `base`. */
static int place(const struct search *s, int ld, int part, size_t *matrix, size_t *bias) {
    char *const base = (char *)((uintptr_t)1 << 30); /* no more than a number */
    void *matrix_at = NULL, *bias_at = NULL;
    int code = wick__cudnn_code(wick__cudnn.cudnnGetRNNWeightParams(
        s->handle, s->made->rnn, ld, s->plan->space, base, part, s->made->matrix, &matrix_at, s->made->bias, &bias_at));
    *matrix = matrix_at ? (size_t)((char *)matrix_at - base) : SIZE_MAX;
    *bias = bias_at ? (size_t)((char *)bias_at - base) : SIZE_MAX;
    return code;
}

/* Adds a piece; false when it does not lie in the space. */
static bool add(const struct search *s, int weight, int64_t from, size_t to, int64_t count) {
    const size_t size = wick__size(s->l->dtype), nbytes = (size_t)count * size;
    if (to > s->plan->space || nbytes > s->plan->space - to) return false;
    s->plan->pieces[s->plan->n_pieces++] = (struct wick__weight_piece){weight, (size_t)from * size, to, nbytes};
    return true;
}

/* The gates of one direction of a layer, in the order that both have; cuDNN's parts are those of the input, those of
 * the state, and the projection. */
static int place_direction(const struct search *s, int ld, int gates, int per) {
    const struct wick__dnn_recurrent *l = s->l;
    const int64_t inputs = ld < l->directions ? l->inputs : l->directions * l->state;
    const bool projects = l->state != l->hidden;
    size_t matrix, bias;
    bool there = true;
    int code = 0;
    for (int part = 0; part < 2 * gates && !code && there; part++) {
        const int of_state = part / gates;
        const int64_t gate = part % gates, columns = of_state ? l->state : inputs;
        code = place(s, ld, part, &matrix, &bias);
        there = !code && add(s, ld * per + of_state, gate * l->hidden * columns, matrix, l->hidden * columns) &&
                (!l->biased || add(s, ld * per + 2 + of_state, gate * l->hidden, bias, l->hidden));
    }
    if (!code && there && projects) {
        code = place(s, ld, 2 * gates, &matrix, &bias);
        there = !code && add(s, ld * per + per - 1, 0, matrix, l->state * l->hidden);
    }
    return code ? code : there ? 0 : WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED;
}

static int place_weights(const struct search *s) {
    const struct wick__dnn_recurrent *l = s->l;
    const int gates = wick__recurrent_gates(l->mode), per = wick__recurrent_per(l);
    int code = wick__cudnn_code(wick__cudnn.cudnnGetRNNWeightSpaceSize(s->handle, s->made->rnn, &s->plan->space));
    for (int ld = 0; ld < l->layers * l->directions && !code; ld++) code = place_direction(s, ld, gates, per);
    return code;
}

/* ---- plans ---- */

int wick__cudnn_recurrent_plan(void *handle, const struct wick__dnn_recurrent *l, struct wick__recurrent_plan *plan) {
    size_t reserve;
    if (!is_there()) return WICK__CUDNN_CODE | CUDNN_STATUS_NOT_SUPPORTED;
    struct made *made = wick__alloc_quiet(sizeof *made);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct made){.batch = l->batch};
    made->lengths = wick__alloc_quiet((size_t)l->batch * sizeof *made->lengths);
    const struct search s = {handle, l, made, plan};
    int code = made->lengths ? create(made) : CUDA_ERROR_OUT_OF_MEMORY;
    if (!code) code = describe_layers(handle, l, made);
    if (!code) code = describe_data(l, made);
    if (!code) code = describe_state(l, made->h, l->state);
    if (!code) code = describe_state(l, made->c, l->hidden);
    if (!code) code = place_weights(&s);
    if (!code)
        code = wick__cudnn_code(wick__cudnn.cudnnGetRNNTempSpaceSizes(handle, made->rnn, CUDNN_FWD_MODE_INFERENCE,
                                                                      made->x, &plan->workspace, &reserve));
    if (code)
        wick__cudnn_recurrent_forget(made);
    else
        plan->made = made;
    return code;
}

int wick__cudnn_recurrent_run(void *handle, const struct wick__recurrent_plan *plan,
                              const struct wick__dnn_recurrent *l, const void *space, void *workspace) {
    const struct made *made = plan->made;
    int code = describe_data(l, made);
    if (code) return code;
    return wick__cudnn_code(wick__cudnn.cudnnRNNForward(
        handle, made->rnn, CUDNN_FWD_MODE_INFERENCE, NULL, made->x, l->x, made->y, l->y, made->h, l->h, l->last_h,
        made->c, l->c, l->last_c, plan->space, space, plan->workspace, workspace, 0, NULL));
}
