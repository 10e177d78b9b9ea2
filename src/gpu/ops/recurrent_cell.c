/* Recurrent cells and their gradients. */
#include "gpu/ops/recurrent_cell.h"

/* The kernel of bf16, the first of an op's. */
static enum wick__gpu_kernel first_of(enum wick_op op) {
    switch ((int)op) {
    case WICK_OP_rnn_cell: return WICK__GPU_K_rnn_cell_bf16;
    case WICK_OP_lstm_cell: return WICK__GPU_K_lstm_cell_bf16;
    case WICK_OP_gru_cell: return WICK__GPU_K_gru_cell_bf16;
    case WICK_OP_rnn_cell_backward: return WICK__GPU_K_rnn_cell_backward_bf16;
    case WICK_OP_lstm_cell_backward: return WICK__GPU_K_lstm_cell_backward_bf16;
    default: return WICK__GPU_K_gru_cell_backward_bf16;
    }
}

enum wick_status wick__gpu_cell(struct wick__gpu *gpu, enum wick_op op, enum wick_dtype dtype,
                                struct gpu_recurrent *p) {
    if (p->count == 0) return WICK_OK;
    p->narrow = p->count < INT32_MAX;
    if (p->narrow) wick__gpu_divisor(&p->by_size, (uint32_t)p->size);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first_of(op), dtype),
                                  .grid = {wick__gpu_blocks(gpu, p->count, 1)}};
    return wick__gpu_launch(gpu, &launch, p);
}

/* A tensor of the call that has one element for each of the state. */
static const struct wick_tensor *state_of(const struct wick__call *call) {
    bool forward = call->op == WICK_OP_rnn_cell || call->op == WICK_OP_lstm_cell || call->op == WICK_OP_gru_cell;
    return forward ? call->out[0] : call->in[0];
}

wick__kernel_fn wick__gpu_recurrent_cell;
enum wick_status wick__gpu_recurrent_cell(const struct wick__call *call) {
    const struct wick_tensor *state = state_of(call);
    struct gpu_recurrent p = {.count = wick__count(state), .size = state->layout.shape[1], .relu = call->p.cell.relu};
    for (int i = 0; i < call->n_in; i++) p.in[i] = call->in[i] ? wick__data(call->in[i]) : NULL;
    for (int i = 0; i < call->n_out; i++) p.out[i] = wick__data(call->out[i]);
    return wick__gpu_cell(wick__gpu_of(state), call->op, state->dtype, &p);
}
