/* MIOpen's recurrent layers: RNN, LSTM and GRU in inference, and their gradients, of sequences of one length. Its
 * products are rocBLAS's. It has the gates in another order. */
#include "rocm/rocm.h"

#include "core/dtype.h"
#include "core/memory.h"

struct made {
    miopenRNNDescriptor_t rnn;
    miopenSeqTensorDescriptor_t x, y;
    miopenTensorDescriptor_t step, state, part; /* of a step of x, of h and c, of a matrix or bias */
    size_t workspace, reserve;                  /* bytes */
    size_t reserve_at, y_at; /* behind the workspace; and, of a gradient, the result of the forward pass */
};

static bool is_there(void) {
    const struct wick__miopen *f = &wick__miopen;
    return f->miopenCreateRNNDescriptor && f->miopenDestroyRNNDescriptor && f->miopenSetRNNDescriptor &&
           f->miopenCreateSeqTensorDescriptor && f->miopenDestroySeqTensorDescriptor &&
           f->miopenSetRNNDataSeqTensorDescriptor && f->miopenGetRNNTempSpaceSizes && f->miopenGetRNNParamsSize &&
           f->miopenGetRNNLayerParamOffset && f->miopenGetRNNLayerBiasOffset && f->miopenRNNForward;
}
static bool has_gradients(void) {
    return wick__miopen.miopenRNNBackwardSeqData && wick__miopen.miopenRNNBackwardWeightsSeqTensor;
}

void wick__miopen_recurrent_forget(void *memory) {
    struct made *made = memory;
    if (made->part) wick__miopen.miopenDestroyTensorDescriptor(made->part);
    if (made->state) wick__miopen.miopenDestroyTensorDescriptor(made->state);
    if (made->step) wick__miopen.miopenDestroyTensorDescriptor(made->step);
    if (made->y) wick__miopen.miopenDestroySeqTensorDescriptor(made->y);
    if (made->x) wick__miopen.miopenDestroySeqTensorDescriptor(made->x);
    if (made->rnn) wick__miopen.miopenDestroyRNNDescriptor(made->rnn);
    wick__free(made, sizeof *made);
}

/* ---- descriptors ---- */

static miopenDataType_t type_of(const struct wick__dnn_recurrent *l) {
    return l->dtype == WICK_F16 ? miopenHalf : miopenFloat;
}

static int create(struct made *made) {
    miopenTensorDescriptor_t *const tensors[] = {&made->step, &made->state, &made->part};
    int code = wick__miopen_code(wick__miopen.miopenCreateRNNDescriptor(&made->rnn));
    if (!code) code = wick__miopen_code(wick__miopen.miopenCreateSeqTensorDescriptor(&made->x));
    if (!code) code = wick__miopen_code(wick__miopen.miopenCreateSeqTensorDescriptor(&made->y));
    for (int i = 0; i < 3 && !code; i++)
        code = wick__miopen_code(wick__miopen.miopenCreateTensorDescriptor(tensors[i]));
    return code;
}

static int describe_layers(const struct wick__dnn_recurrent *l, const struct made *made) {
    static const miopenRNNMode_t modes[] = {[WICK_RNN_TANH] = miopenRNNTANH,
                                            [WICK_RNN_RELU] = miopenRNNRELU,
                                            [WICK_LSTM] = miopenLSTM,
                                            [WICK_GRU] = miopenGRU};
    return wick__miopen_code(wick__miopen.miopenSetRNNDescriptor(
        made->rnn, (int)l->hidden, l->layers, miopenRNNlinear,
        l->directions == 2 ? miopenRNNbidirection : miopenRNNunidirection, modes[l->mode],
        l->biased ? miopenRNNwithBias : miopenRNNNoBias, miopenRNNdefault, type_of(l)));
}

static int describe_data(const struct wick__dnn_recurrent *l, miopenSeqTensorDescriptor_t data, int64_t columns) {
    const miopenRNNBaseLayout_t layout = l->batch_first ? miopenRNNDataBatchMajorPadded : miopenRNNDataSeqMajorPadded;
    int *lengths = wick__alloc_quiet((size_t)l->batch * sizeof *lengths);
    if (!lengths) return hipErrorOutOfMemory;
    for (int64_t b = 0; b < l->batch; b++) lengths[b] = (int)l->steps;
    int code = wick__miopen_code(wick__miopen.miopenSetRNNDataSeqTensorDescriptor(
        data, type_of(l), layout, (int)l->steps, (int)l->batch, (int)columns, lengths, NULL));
    wick__free(lengths, (size_t)l->batch * sizeof *lengths);
    return code;
}

static int describe(const struct wick__dnn_recurrent *l, const struct made *made) {
    const int step[2] = {(int)l->batch, (int)l->inputs};
    const int state[3] = {l->layers * l->directions, (int)l->batch, (int)l->hidden};
    int code = describe_layers(l, made);
    if (!code) code = describe_data(l, made->x, l->inputs);
    if (!code) code = describe_data(l, made->y, l->directions * l->hidden);
    if (!code) code = wick__miopen_code(wick__miopen.miopenSetTensorDescriptor(made->step, type_of(l), 2, step, NULL));
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenSetTensorDescriptor(made->state, type_of(l), 3, state, NULL));
    return code;
}

/* ---- weights ---- */

/* Adds a piece of `count` elements, `from` and `to` in elements; false when it does not lie in the space. */
static bool add(const struct wick__dnn_recurrent *l, struct wick__recurrent_plan *plan, int weight, int64_t from,
                size_t to, int64_t count) {
    const size_t size = wick__size(l->dtype), most = plan->space / size;
    if (to > most || (size_t)count > most - to) return false;
    plan->pieces[plan->n_pieces++] =
        (struct wick__weight_piece){weight, (size_t)from * size, to * size, (size_t)count * size};
    return true;
}

/* One direction of a layer. `order` has the place of each of MIOpen's gates among Wick's. */
static int place_direction(const struct wick__dnn_recurrent *l, const struct made *made,
                           struct wick__recurrent_plan *plan, int ld, int gates, const int *order) {
    const int64_t inputs = ld < l->directions ? l->inputs : l->directions * l->hidden;
    const int per = wick__recurrent_per(l);
    size_t at = 0;
    bool there = true;
    int code = 0;
    for (int part = 0; part < 2 * gates && !code && there; part++) {
        const int of_state = part / gates;
        const int64_t first = order[part % gates] * l->hidden, columns = of_state ? l->hidden : inputs;
        code = wick__miopen_code(
            wick__miopen.miopenGetRNNLayerParamOffset(made->rnn, ld, made->step, part, made->part, &at));
        there = !code && add(l, plan, ld * per + of_state, first * columns, at, l->hidden * columns);
        if (!there || !l->biased) continue;
        code = wick__miopen_code(
            wick__miopen.miopenGetRNNLayerBiasOffset(made->rnn, ld, made->step, part, made->part, &at));
        there = !code && add(l, plan, ld * per + 2 + of_state, first, at, l->hidden);
    }
    return code ? code : there ? 0 : WICK__MIOPEN_CODE | miopenStatusNotImplemented;
}

static int place_weights(miopenHandle_t handle, const struct wick__dnn_recurrent *l, const struct made *made,
                         struct wick__recurrent_plan *plan) {
    static const int orders[][4] = {[WICK_RNN_TANH] = {0},
                                    [WICK_RNN_RELU] = {0},
                                    [WICK_LSTM] = {0, 1, 3, 2}, /* i f o g */
                                    [WICK_GRU] = {1, 0, 2}};    /* z r n */
    const int gates = wick__recurrent_gates(l->mode);
    int code =
        wick__miopen_code(wick__miopen.miopenGetRNNParamsSize(handle, made->rnn, made->step, &plan->space, type_of(l)));
    for (int ld = 0; ld < l->layers * l->directions && !code; ld++)
        code = place_direction(l, made, plan, ld, gates, orders[l->mode]);
    return code;
}

/* ---- plans ---- */

static size_t rounded(size_t nbytes) { return (nbytes + 255) / 256 * 256; }

/* 3.4.0 wants the reserve of training in inference too, but tells its size for training alone. */
static int measure(miopenHandle_t handle, const struct wick__dnn_recurrent *l, struct made *made, size_t *workspace) {
    size_t training, none;
    int code = wick__miopen_code(wick__miopen.miopenGetRNNTempSpaceSizes(handle, made->rnn, made->x, miopenRNNInference,
                                                                         &made->workspace, &none));
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenGetRNNTempSpaceSizes(handle, made->rnn, made->x, miopenRNNTraining,
                                                                         &training, &made->reserve));
    if (l->backward) made->workspace = training;
    made->reserve_at = rounded(made->workspace);
    made->y_at = made->reserve_at + rounded(made->reserve);
    *workspace = made->y_at;
    if (l->backward) *workspace += (size_t)(l->steps * l->batch * l->directions * l->hidden) * wick__size(l->dtype);
    return code;
}

/* Without rocBLAS's kernels for the card it would end the process. */
int wick__miopen_recurrent_plan(void *dnn, const struct wick__dnn_recurrent *l, struct wick__recurrent_plan *plan) {
    const struct wick__miopen_handle *handle = dnn;
    if (!is_there() || (l->backward && !has_gradients()) || !handle->has_blas ||
        (l->dtype != WICK_F16 && l->dtype != WICK_F32))
        return WICK__MIOPEN_CODE | miopenStatusNotImplemented;
    struct made *made = wick__alloc_quiet(sizeof *made);
    if (!made) return hipErrorOutOfMemory;
    *made = (struct made){.rnn = NULL};
    int code = create(made);
    if (!code) code = describe(l, made);
    if (!code) code = place_weights(handle->handle, l, made, plan);
    if (!code) code = measure(handle->handle, l, made, &plan->workspace);
    if (code)
        wick__miopen_recurrent_forget(made);
    else
        plan->made = made;
    return code;
}

int wick__miopen_recurrent_run(void *dnn, const struct wick__recurrent_plan *plan, const struct wick__dnn_recurrent *l,
                               const void *space, void *workspace) {
    const struct made *made = plan->made;
    char *const memory = workspace;
    return wick__miopen_code(wick__miopen.miopenRNNForward(
        ((const struct wick__miopen_handle *)dnn)->handle, made->rnn,
        l->backward ? miopenRNNTraining : miopenRNNInference, made->x, l->x, made->state, l->h, l->last_h, made->state,
        l->c, l->last_c, made->y, l->backward ? memory + made->y_at : l->y, space, plan->space, memory, made->workspace,
        memory + made->reserve_at, made->reserve));
}

/* The gradients by weights read what those by data have left in the workspace. */
int wick__miopen_recurrent_backward(void *dnn, const struct wick__recurrent_plan *plan,
                                    const struct wick__dnn_recurrent *l, const void *space, void *slopes,
                                    void *workspace) {
    const struct made *made = plan->made;
    const struct wick__dnn_slopes *s = &l->slopes;
    miopenHandle_t handle = ((const struct wick__miopen_handle *)dnn)->handle;
    char *const memory = workspace, *const reserve = memory + made->reserve_at, *const y = memory + made->y_at;
    int code = wick__miopen_recurrent_run(dnn, plan, l, space, workspace);
    if (!code)
        code = wick__miopen_code(wick__miopen.miopenRNNBackwardSeqData(
            handle, made->rnn, made->y, y, s->y, made->state, l->h, s->last_h, s->h, made->state, l->c, s->last_c, s->c,
            made->x, s->x, space, plan->space, memory, made->workspace, reserve, made->reserve));
    if (!code && slopes)
        code = wick__miopen_code(wick__miopen.miopenRNNBackwardWeightsSeqTensor(
            handle, made->rnn, made->x, l->x, made->state, l->h, made->y, y, slopes, plan->space, memory,
            made->workspace, reserve, made->reserve));
    return code;
}
