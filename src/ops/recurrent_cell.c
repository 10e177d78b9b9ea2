/* One step of recurrent layers, and its gradient. */
#include "ops/dispatch.h"

#include <string.h>

/* Fails unless operand i, if there, is [rows,columns]. */
static bool is_matrix(const struct wick__call *call, int i, int64_t rows, int64_t columns) {
    const struct wick_tensor *x = call->in[i];
    const char *name = wick__operand_name(call->op, i);
    if (!x || (x->layout.rank == 2 && x->layout.shape[0] == rows && x->layout.shape[1] == columns)) return true;
    wick__call_fail(call, WICK_SHAPE, "%.*s must be [%lld,%lld]", (int)strcspn(name, "?"), name, (long long)rows,
                    (long long)columns);
    return false;
}

/* Checks operand i, which gives N and H, a matrix [N,gates H]. */
static bool sizes_of(const struct wick__call *call, int i, int gates, int64_t *shape) {
    const struct wick__layout *x = &call->in[i]->layout;
    if (x->rank != 2 || x->shape[1] % gates != 0) {
        wick__call_fail(call, WICK_SHAPE, "%s must be [N,%sH]", wick__operand_name(call->op, i),
                        gates == 1   ? ""
                        : gates == 3 ? "3"
                                     : "4");
        return false;
    }
    shape[0] = x->shape[0];
    shape[1] = x->shape[1] / gates;
    return true;
}

/* Checks that operand i has the dtype that statistics of the first have: f32, f64 for f64. */
static bool is_wide(const struct wick__call *call, int i) {
    enum wick_dtype dtype = call->in[0]->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    const char *name = wick__operand_name(call->op, i);
    if (!call->in[i] || call->in[i]->dtype == dtype) return true;
    wick__call_fail(call, WICK_DTYPE, "%.*s must be %s", (int)strcspn(name, "?"), name, wick_dtype_name(dtype));
    return false;
}

static enum wick_dtype wide_of(const struct wick_tensor *x) { return x->dtype == WICK_F64 ? WICK_F64 : WICK_F32; }

/* A place that must be there. */
static bool has_place(const struct wick__call *call, const void *place, const char *name) {
    if (!place) wick__call_fail(call, WICK_INVALID, "%s is NULL", name);
    return place != NULL;
}

/* ---- forward ---- */

struct wick_tensor *wick_rnn_cell(const struct wick_tensor *input, const struct wick_tensor *hidden, bool relu) {
    struct wick__call call = {.op = WICK_OP_rnn_cell, .n_in = 2, .in = {input, hidden}, .p.cell.relu = relu};
    int64_t shape[2];
    if (!wick__call_check(&call) || !sizes_of(&call, 0, 1, shape) || !is_matrix(&call, 1, shape[0], shape[1]) ||
        !wick__call_out(&call, input->dtype, 2, shape))
        return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_lstm_cell(const struct wick_tensor *input, const struct wick_tensor *hidden,
                                   const struct wick_tensor *c, struct wick_tensor **next_c,
                                   struct wick_tensor **gates) {
    struct wick__call call = {.op = WICK_OP_lstm_cell, .n_in = 3, .in = {input, hidden, c}};
    int64_t shape[2];
    if (!wick__call_check(&call) || !has_place(&call, next_c, "next_c") || !sizes_of(&call, 0, 4, shape) ||
        !is_matrix(&call, 1, shape[0], 4 * shape[1]) || !is_matrix(&call, 2, shape[0], shape[1]) || !is_wide(&call, 2))
        return NULL;
    if (!wick__call_out(&call, input->dtype, 2, shape) || !wick__call_out(&call, c->dtype, 2, shape) ||
        !wick__call_wanted(&call, gates != NULL, c->dtype, 2, input->layout.shape))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (!y) return NULL;
    *next_c = call.out[1];
    if (gates) *gates = call.out[2];
    return y;
}

struct wick_tensor *wick_gru_cell(const struct wick_tensor *input, const struct wick_tensor *hidden,
                                  const struct wick_tensor *h, struct wick_tensor **gates) {
    struct wick__call call = {.op = WICK_OP_gru_cell, .n_in = 3, .in = {input, hidden, h}};
    int64_t shape[2], saved[2];
    if (!wick__call_check(&call) || !sizes_of(&call, 0, 3, shape) || !is_matrix(&call, 1, shape[0], 3 * shape[1]) ||
        !is_matrix(&call, 2, shape[0], shape[1]))
        return NULL;
    saved[0] = shape[0];
    if (!wick__mul(shape[1], 4, &saved[1])) {
        wick__call_fail(&call, WICK_OVERFLOW, "4 H is too large");
        return NULL;
    }
    if (!wick__call_out(&call, input->dtype, 2, shape) ||
        !wick__call_wanted(&call, gates != NULL, wide_of(input), 2, saved))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y && gates) *gates = call.out[1];
    return y;
}

/* ---- backward ---- */

struct wick_tensor *wick_rnn_cell_backward(const struct wick_tensor *gradient, const struct wick_tensor *next,
                                           const struct wick_tensor *result, bool relu) {
    struct wick__call call = {
        .op = WICK_OP_rnn_cell_backward, .n_in = 3, .in = {gradient, next, result}, .p.cell.relu = relu};
    int64_t shape[2];
    if (!wick__call_check(&call) || !sizes_of(&call, 0, 1, shape) || !is_matrix(&call, 1, shape[0], shape[1]) ||
        !is_matrix(&call, 2, shape[0], shape[1]) || !wick__call_out(&call, gradient->dtype, 2, shape))
        return NULL;
    return wick__call_run(&call);
}

/* Fills operands 1 and 2 from the options, and checks all: all but gates, operand 3, are [N,H]. */
static bool check_backward(struct wick__call *call, const struct wick_cell_backward_options *options, int64_t *shape) {
    static const struct wick_cell_backward_options defaults;
    if (!options) options = &defaults;
    call->in[1] = options->next;
    call->in[2] = options->carry;
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) || !sizes_of(call, 3, 4, shape))
        return false;
    for (int i = 0; i < call->n_in; i++)
        if (!is_matrix(call, i, shape[0], i == 3 ? 4 * shape[1] : shape[1])) return false;
    for (int i = 2; i < (call->op == WICK_OP_lstm_cell_backward ? 6 : 4); i++)
        if (!is_wide(call, i)) return false;
    return true;
}

struct wick_tensor *wick_lstm_cell_backward(const struct wick_tensor *gradient, const struct wick_tensor *gates,
                                            const struct wick_tensor *c, const struct wick_tensor *next_c,
                                            const struct wick_cell_backward_options *options,
                                            struct wick_tensor **c_gradient) {
    struct wick__call call = {
        .op = WICK_OP_lstm_cell_backward, .n_in = 6, .in = {gradient, NULL, NULL, gates, c, next_c}};
    int64_t shape[2];
    if (!check_backward(&call, options, shape) || !has_place(&call, c_gradient, "c_gradient") ||
        !wick__call_out(&call, gradient->dtype, 2, gates->layout.shape) || !wick__call_out(&call, c->dtype, 2, shape))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y) *c_gradient = call.out[1];
    return y;
}

struct wick_tensor *wick_gru_cell_backward(const struct wick_tensor *gradient, const struct wick_tensor *gates,
                                           const struct wick_tensor *h,
                                           const struct wick_cell_backward_options *options,
                                           struct wick_tensor **hidden_gradient, struct wick_tensor **carried) {
    struct wick__call call = {.op = WICK_OP_gru_cell_backward, .n_in = 5, .in = {gradient, NULL, NULL, gates, h}};
    int64_t shape[2];
    if (!check_backward(&call, options, shape) || !has_place(&call, hidden_gradient, "hidden_gradient") ||
        !has_place(&call, carried, "carried"))
        return NULL;
    const int64_t three[2] = {shape[0], 3 * shape[1]};
    if (!wick__call_out(&call, gradient->dtype, 2, three) || !wick__call_out(&call, gradient->dtype, 2, three) ||
        !wick__call_out(&call, gates->dtype, 2, shape))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (!y) return NULL;
    *hidden_gradient = call.out[1];
    *carried = call.out[2];
    return y;
}

/* ---- gates in another order ---- */

/* Which of PyTorch's gates stands at each place: LSTM's four, then GRU's three. */
static const int orders[3][7] = {
    [WICK_GATES_PYTORCH] = {0, 1, 2, 3, 0, 1, 2},
    [WICK_GATES_ONNX] = {0, 3, 1, 2, 1, 0, 2},
    [WICK_GATES_MIOPEN] = {0, 1, 3, 2, 1, 0, 2},
};

struct wick_tensor *wick_gates_reorder(const struct wick_tensor *x, enum wick_recurrent_mode mode,
                                       enum wick_gate_order from, enum wick_gate_order to) {
    struct wick__call call = {.op = WICK_OP_gates_reorder, .n_in = 1, .in = {x}};
    int gates = mode == WICK_LSTM ? 4 : mode == WICK_GRU ? 3 : 1, base = mode == WICK_GRU ? 4 : 0;
    struct wick_tensor *part[4] = {NULL};
    if (!wick__call_check(&call)) return NULL;
    if ((unsigned)mode > WICK_GRU || (unsigned)from > WICK_GATES_MIOPEN || (unsigned)to > WICK_GATES_MIOPEN) {
        wick__call_fail(&call, WICK_INVALID, "mode %d or order %d, %d is outside its enum", (int)mode, (int)from,
                        (int)to);
        return NULL;
    }
    if (x->layout.rank < 1 || x->layout.shape[0] % gates != 0) {
        wick__call_fail(&call, WICK_SHAPE, "%d gates do not divide the first dim", gates);
        return NULL;
    }
    int64_t rows = x->layout.shape[0] / gates;
    wick_scope_begin();
    for (int i = 0; i < gates; i++)
        for (int k = 0; k < gates; k++)
            if (gates == 1 || orders[from][base + k] == orders[to][base + i])
                part[i] = wick_narrow(x, 0, k * rows, rows);
    for (int i = 0; i < gates; i++)
        if (!part[i]) return wick_scope_end(NULL);
    return wick_scope_end(wick_cat(gates, part, 0));
}
