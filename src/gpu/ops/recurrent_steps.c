/* A direction of a recurrent layer: one launch for all steps, one for each, or a product and a cell for each. */
#include "gpu/ops/gemm.h"
#include "gpu/ops/recurrent_cell.h"
#include "gpu/ops/recurrent_layer.h"

#include "core/checked.h"
#include "kernels/recurrent_steps.h"

#include <wick/recurrent.h>

/* What is the same for all steps. */
struct steps {
    const struct wick__call *call;
    struct wick__gpu *gpu;
    enum wick_recurrent_mode mode;
    int64_t n, rows, size, gates; /* T, N, H, g */
    size_t element, wide;         /* bytes of an element, and of one of C */
};

static struct steps steps_of(const struct wick__call *call) {
    const struct wick_tensor *states = call->out[0];
    struct steps s = {.call = call, .gpu = wick__gpu_of(states), .mode = (enum wick_recurrent_mode)call->p.steps.mode};
    s.gates = wick__recurrent_gates(s.mode);
    s.n = call->p.steps.steps;
    s.rows = states->layout.shape[0] / s.n;
    s.size = call->in[call->op == WICK_OP_recurrent ? WICK__STEPS_H : WICK__STEPS_GRADIENT]->layout.shape[1];
    s.element = wick__size(states->dtype);
    s.wide = states->dtype == WICK_F64 ? 8 : 4;
    return s;
}

/* The kernel of bf16, the first of a mode's. */
static enum wick__gpu_kernel first_of(enum wick_recurrent_mode mode, bool backward) {
    if (mode == WICK_LSTM) return backward ? WICK__GPU_K_lstm_step_backward_bf16 : WICK__GPU_K_lstm_step_bf16;
    if (mode == WICK_GRU) return backward ? WICK__GPU_K_gru_step_backward_bf16 : WICK__GPU_K_gru_step_bf16;
    return backward ? WICK__GPU_K_rnn_step_backward_bf16 : WICK__GPU_K_rnn_step_bf16;
}

static struct wick__launch launch_of(const struct steps *s, bool backward) {
    const int64_t each = backward || s->gates == 1 ? GPU_STEP_UNITS : 1, waves = GPU_BLOCK / s->gpu->properties.wave;
    const int64_t tasks = wick__div_up(s->rows, GPU_STEP_ROWS) * wick__div_up(s->size, each);
    return (struct wick__launch){.kernel = wick__gpu_of_floats(first_of(s->mode, backward), s->call->out[0]->dtype),
                                 .grid = {(unsigned)wick__div_up(tasks, waves)}};
}

/* The rows of step t of a tensor of all steps, of `columns` columns. */
static void *rows_at(const struct steps *s, const struct wick_tensor *x, int64_t t, int64_t columns, size_t element) {
    return x ? (char *)wick__data(x) + (size_t)(t * s->rows * columns) * element : NULL;
}

static void *data_of(const struct wick_tensor *x) { return x ? wick__data(x) : NULL; }

/* Step i, in the order in which the direction goes. */
static enum wick_status step(const struct steps *s, int64_t i) {
    const struct wick__call *call = s->call;
    const bool backwards = call->p.steps.backwards, lstm = s->mode == WICK_LSTM;
    const int64_t t = backwards ? s->n - 1 - i : i, before = backwards ? t + 1 : t - 1, size = s->size;
    struct wick_tensor *c = lstm ? call->out[1] : NULL, *gates = call->n_out > 1 + lstm ? call->out[1 + lstm] : NULL;
    struct gpu_recurrent_step p = {.input = rows_at(s, call->in[WICK__STEPS_INPUT], t, s->gates * size, s->element),
                                   .weight = data_of(call->in[WICK__STEPS_WEIGHT]),
                                   .bias = data_of(call->in[WICK__STEPS_BIAS]),
                                   .h = i ? rows_at(s, call->out[0], before, size, s->element)
                                          : data_of(call->in[WICK__STEPS_H]),
                                   .c = i ? rows_at(s, c, before, size, s->wide) : data_of(call->in[WICK__STEPS_C]),
                                   .out = rows_at(s, call->out[0], t, size, s->element),
                                   .next_c = rows_at(s, c, t, size, s->wide),
                                   .gates = rows_at(s, gates, t, 4 * size, s->wide),
                                   .rows = s->rows,
                                   .size = size,
                                   .groups = (u32)wick__div_up(s->rows, GPU_STEP_ROWS),
                                   .relu = s->mode == WICK_RNN_RELU};
    struct wick__launch launch = launch_of(s, false);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* The gradient of step i, counted from the direction's last. */
static enum wick_status step_backward(const struct steps *s, int64_t i) {
    const struct wick__call *call = s->call;
    const bool backwards = call->p.steps.backwards, gru = s->mode == WICK_GRU;
    const int64_t t = backwards ? i : s->n - 1 - i, after = backwards ? t - 1 : t + 1, size = s->size;
    const int64_t columns = s->gates * size;
    void *carry = s->gates == 1 ? NULL : wick__data(call->out[1 + gru]);
    struct gpu_recurrent_step_backward p = {.gradient = rows_at(s, call->in[WICK__STEPS_GRADIENT], t, size, s->element),
                                            .weight = data_of(call->in[WICK__STEPS_TURNED]),
                                            .after = i ? rows_at(s, call->out[gru], after, columns, s->element) : NULL,
                                            .last = data_of(call->in[WICK__STEPS_LAST]),
                                            .gates = rows_at(s, call->in[WICK__STEPS_GATES], t, 4 * size, s->wide),
                                            .state = rows_at(s, call->in[WICK__STEPS_STATES], t, size, s->element),
                                            .c = rows_at(s, call->in[WICK__STEPS_C_BEFORE], t, size, s->wide),
                                            .next_c = rows_at(s, call->in[WICK__STEPS_C_BEHIND], t, size, s->wide),
                                            .carry = i ? carry : data_of(call->in[WICK__STEPS_CARRY]),
                                            .of_input = rows_at(s, call->out[0], t, columns, s->element),
                                            .of_hidden = gru ? rows_at(s, call->out[1], t, columns, s->element) : NULL,
                                            .of_carry = carry,
                                            .rows = s->rows,
                                            .size = size,
                                            .groups = (u32)wick__div_up(s->rows, GPU_STEP_ROWS),
                                            .relu = s->mode == WICK_RNN_RELU};
    struct wick__launch launch = launch_of(s, true);
    return wick__gpu_launch(s->gpu, &launch, &p);
}

/* ---- steps as products and cells ---- */

/* C [rows,columns] = A [rows,terms] B^T + bias, B [columns,terms]. */
static enum wick_status multiply(const struct steps *s, const void *a, const struct wick_tensor *b,
                                 const struct wick_tensor *bias, void *c) {
    const int64_t columns = b->layout.shape[0], terms = b->layout.shape[1];
    const struct wick__product g = {.dtype = s->call->out[0]->dtype,
                                    .m = s->rows,
                                    .n = columns,
                                    .k = terms,
                                    .a = a,
                                    .b = wick__data(b),
                                    .c = c,
                                    .a_row = terms,
                                    .a_k = 1,
                                    .b_k = 1,
                                    .b_column = terms,
                                    .c_row = columns,
                                    .bias = data_of(bias),
                                    .bias_step = 1};
    return wick__gemm_run(s->gpu, &g);
}

/* Step i as step() does it; `hidden` has room for the state's product. */
static enum wick_status cell_step(const struct steps *s, int64_t i, void *hidden) {
    const struct wick__call *call = s->call;
    const bool backwards = call->p.steps.backwards, lstm = s->mode == WICK_LSTM, gru = s->mode == WICK_GRU;
    const int64_t t = backwards ? s->n - 1 - i : i, before = backwards ? t + 1 : t - 1, size = s->size;
    const void *h = i ? rows_at(s, call->out[0], before, size, s->element) : data_of(call->in[WICK__STEPS_H]);
    struct gpu_recurrent p = {.in = {rows_at(s, call->in[WICK__STEPS_INPUT], t, s->gates * size, s->element), hidden},
                              .out = {rows_at(s, call->out[0], t, size, s->element)},
                              .count = s->rows * size,
                              .size = size,
                              .relu = s->mode == WICK_RNN_RELU};
    if (gru) p.in[2] = h;
    if (lstm) p.in[2] = i ? rows_at(s, call->out[1], before, size, s->wide) : data_of(call->in[WICK__STEPS_C]);
    if (lstm) p.out[1] = rows_at(s, call->out[1], t, size, s->wide);
    if (call->n_out > 1 + lstm) p.out[1 + lstm] = rows_at(s, call->out[1 + lstm], t, 4 * size, s->wide);
    WICK__TRY(multiply(s, h, call->in[WICK__STEPS_WEIGHT], call->in[WICK__STEPS_BIAS], hidden));
    return wick__gpu_cell(s->gpu,
                          lstm  ? WICK_OP_lstm_cell
                          : gru ? WICK_OP_gru_cell
                                : WICK_OP_rnn_cell,
                          call->out[0]->dtype, &p);
}

/* The gradient of step i as step_backward() does it; `next` has room for what comes from the step before. */
static enum wick_status cell_step_backward(const struct steps *s, int64_t i, void *next) {
    const struct wick__call *call = s->call;
    const bool backwards = call->p.steps.backwards, lstm = s->mode == WICK_LSTM, gru = s->mode == WICK_GRU;
    const int64_t t = backwards ? i : s->n - 1 - i, after = backwards ? t - 1 : t + 1, size = s->size;
    const int64_t columns = s->gates * size;
    void *const state = rows_at(s, call->in[WICK__STEPS_STATES], t, size, s->element);
    void *const carry = s->gates == 1 ? NULL : wick__data(call->out[1 + gru]);
    struct gpu_recurrent p = {.in = {rows_at(s, call->in[WICK__STEPS_GRADIENT], t, size, s->element),
                                     i ? next : data_of(call->in[WICK__STEPS_LAST]), state},
                              .out = {rows_at(s, call->out[0], t, columns, s->element)},
                              .count = s->rows * size,
                              .size = size,
                              .relu = s->mode == WICK_RNN_RELU};
    if (lstm || gru) {
        p.in[2] = i ? carry : data_of(call->in[WICK__STEPS_CARRY]);
        p.in[3] = rows_at(s, call->in[WICK__STEPS_GATES], t, 4 * size, s->wide);
        p.in[4] = gru ? state : rows_at(s, call->in[WICK__STEPS_C_BEFORE], t, size, s->wide);
        p.in[5] = rows_at(s, call->in[WICK__STEPS_C_BEHIND], t, size, s->wide);
        p.out[1] = gru ? rows_at(s, call->out[1], t, columns, s->element) : carry;
        p.out[2] = gru ? carry : NULL;
    }
    if (i)
        WICK__TRY(multiply(s, rows_at(s, call->out[gru], after, columns, s->element), call->in[WICK__STEPS_TURNED],
                           NULL, next));
    return wick__gpu_cell(s->gpu,
                          lstm  ? WICK_OP_lstm_cell_backward
                          : gru ? WICK_OP_gru_cell_backward
                                : WICK_OP_rnn_cell_backward,
                          call->out[0]->dtype, &p);
}

static enum wick_status by_cells(const struct steps *s, bool backward) {
    const size_t nbytes = (size_t)(s->rows * s->size * (backward ? 1 : s->gates)) * s->element;
    enum wick_status status = WICK_OK;
    void *between = NULL;
    WICK__TRY(wick__gpu_scratch(s->gpu, nbytes, &between));
    for (int64_t i = 0; i < s->n && status == WICK_OK; i++)
        status = backward ? cell_step_backward(s, i, between) : cell_step(s, i, between);
    wick__gpu_release(s->gpu, between, nbytes);
    return status;
}

/* Whether the words of the weight and the state can be read whole, as all kernels of steps do. */
static bool has_words(const struct steps *s, bool backward) {
    const void *weight = data_of(s->call->in[backward ? WICK__STEPS_TURNED : WICK__STEPS_WEIGHT]);
    const void *h = backward ? NULL : data_of(s->call->in[WICK__STEPS_H]);
    return s->size * (int64_t)s->element % 4 == 0 && (uintptr_t)weight % 4 == 0 && (uintptr_t)h % 4 == 0;
}

/* From so many multiplications of a step on, or with a longer sum in a gradient, products of their own are faster,
 * those of 16 bits by matrix instructions. Measured on an H200 (bench/NOTES.md). */
static bool is_small(const struct steps *s, bool backward) {
    const int64_t sum = backward ? s->gates * s->size * (int64_t)s->element : 0; /* bytes */
    const double each = (double)s->rows * (double)s->size * (double)(s->gates * s->size);
    const double most = s->element == 8 ? 7e7 : s->element == 2 && backward ? 1.1e8 : 3.4e7;
    return each < most && sum <= 6144;
}

wick__kernel_fn wick__gpu_composed_recurrent;
enum wick_status wick__gpu_composed_recurrent(const struct wick__call *call) {
    const bool backward = call->op == WICK_OP_recurrent_backward;
    const struct steps s = steps_of(call);
    const struct wick__steps sizes = {.mode = (int)s.mode,
                                      .dtype = call->out[0]->dtype,
                                      .steps = s.n,
                                      .rows = s.rows,
                                      .size = s.size,
                                      .backward = backward};
    if (!has_words(&s, backward)) return by_cells(&s, backward);
    const enum wick_status status = wick__gpu_recurrent_layer(call, &sizes);
    if (status != WICK_UNSUPPORTED) return status;
    if (!is_small(&s, backward)) return by_cells(&s, backward);
    for (int64_t i = 0; i < s.n; i++) WICK__TRY(backward ? step_backward(&s, i) : step(&s, i));
    return WICK_OK;
}
