/* The gradients of attention, of a batch and of packed sequences.
 *
 * Both calls have the operands gradient, q, k, v, result, log_sums, then the mask, or the starts of queries and of
 * keys, and slopes last; their results are the gradients of q, k and v. */
#include "ops/attention_rank.h"
#include "ops/attention_whole.h"

#include <string.h>

static const struct wick_attention_options defaults = {.causal = false};

/* Checks what no operand is checked for: options that are there, and none that the call does not take. */
static bool check_options(const struct wick__call *call, const struct wick_attention_backward *options, bool packed) {
    const char *rule = NULL;
    if (!options)
        rule = "options are NULL: they have result and log_sums";
    else if (packed && options->mask)
        rule = "packed sequences have no mask";
    else if (packed ? options->mask_gradient != NULL
                    : options->mask_gradient && (!options->mask || options->mask->dtype == WICK_U8))
        rule = "the gradient of a mask is wanted, and no mask is added";
    else if (!packed && (options->q_starts || options->k_starts))
        rule = "q_starts and k_starts are for packed sequences";
    else if (options->function && options->function->log_sums)
        rule = "log_sums of the function's options is not NULL: log_sums goes beside result";
    if (rule) wick__call_fail(call, WICK_INVALID, "%s", rule);
    return !rule && wick__call_reserved(call, options->reserved);
}

/* Checks that operand i has a shape. */
static bool has_shape(const struct wick__call *call, int i, int rank, const int64_t *shape) {
    const struct wick__layout *layout = &call->in[i]->layout;
    char text[WICK__SHAPE_TEXT];
    if (layout->rank == rank && memcmp(layout->shape, shape, (size_t)rank * sizeof *shape) == 0) return true;
    wick__call_fail(call, WICK_SHAPE, "%s is not %s", wick__operand_name(call->op, i),
                    wick__shape_text(text, rank, shape));
    return false;
}

/* Checks gradient, result and log_sums by the shapes of q and v. */
static bool check_results(const struct wick__call *call, struct wick__attention_dims at) {
    int64_t shape[4];
    enum wick_dtype sums = call->in[1]->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    memcpy(shape, call->in[1]->layout.shape, (size_t)at.rank * sizeof *shape);
    shape[at.rank - 1] = call->in[3]->layout.shape[at.rank - 1];
    if (!has_shape(call, 0, at.rank, shape) || !has_shape(call, 4, at.rank, shape) ||
        !has_shape(call, 5, at.rank - 1, shape))
        return false;
    if (call->in[5]->dtype == sums) return true;
    wick__call_fail(call, WICK_DTYPE, "log_sums must be %s", wick_dtype_name(sums));
    return false;
}

/* Makes the results and runs the call; `batch` is how many sequences there are. */
static struct wick_tensor *run(struct wick__call *call, struct wick__attention_dims at, int64_t batch,
                               const struct wick_attention_backward *options) {
    struct wick_tensor *slopes = NULL, *out = NULL;
    int64_t by_head[2] = {batch, call->in[1]->layout.shape[at.heads]};
    bool good = wick__attention_widen(call, call->n_in - 1, 2, by_head, &slopes);
    for (int i = 1; good && i <= 3; i++)
        good = wick__call_out(call, call->in[1]->dtype, at.rank, call->in[i]->layout.shape);
    if (good) out = wick__call_run(call);
    wick_release(slopes);
    if (!out) return NULL;
    if (options->k_gradient)
        *options->k_gradient = call->out[1];
    else
        wick__scope_drop(call->out[1]);
    if (options->v_gradient)
        *options->v_gradient = call->out[2];
    else
        wick__scope_drop(call->out[2]);
    return out;
}

struct wick_tensor *wick_scaled_dot_product_attention_backward(const struct wick_tensor *gradient,
                                                               const struct wick_tensor *q, const struct wick_tensor *k,
                                                               const struct wick_tensor *v,
                                                               const struct wick_attention_backward *options) {
    const struct wick__attention_dims at = {.q = 1, .rank = 4, .batch = 0, .heads = 1, .positions = 2};
    struct wick__call call = {
        .op = WICK_OP_scaled_dot_product_attention_backward, .n_in = 8, .in = {gradient, q, k, v}};
    if (!check_options(&call, options, false)) return NULL;
    if (wick__attention_folds(q, k, v)) return wick__attention_backward_folded(gradient, q, k, v, options);
    const struct wick_attention_options *function = options->function ? options->function : &defaults;
    call.in[4] = options->result;
    call.in[5] = options->log_sums;
    call.in[6] = options->mask;
    call.in[7] = function->slopes;
    if (!wick__call_check(&call) || !wick__attention_check(&call, at) || !check_results(&call, at) ||
        !wick__attention_options(&call, at, function))
        return NULL;
    const int64_t *shape = q->layout.shape;
    int64_t scores[4] = {shape[0], shape[1], shape[2], k->layout.shape[2]};
    struct wick_tensor *wide = NULL, *out = NULL;
    if (!wick__attention_widen(&call, 6, 4, scores, &wide)) return NULL;
    if (function->dropout > 0 || options->mask_gradient) {
        call.in[6] = options->mask; /* as it was given: its gradient has its shape */
        out = wick__attention_whole_backward(&call, function, options);
    } else {
        out = run(&call, at, shape[0], options);
    }
    wick_release(wide);
    return out;
}

struct wick_tensor *wick_attention_packed_backward(const struct wick_tensor *gradient, const struct wick_tensor *q,
                                                   const struct wick_tensor *k, const struct wick_tensor *v,
                                                   const struct wick_attention_backward *options) {
    const struct wick__attention_dims at = {.q = 1, .rank = 3, .batch = -1, .heads = 1, .positions = 0};
    struct wick__call call = {.op = WICK_OP_attention_packed_backward, .n_in = 9, .in = {gradient, q, k, v}};
    if (!check_options(&call, options, true)) return NULL;
    const struct wick_attention_options *function = options->function ? options->function : &defaults;
    call.in[4] = options->result;
    call.in[5] = options->log_sums;
    call.in[6] = options->q_starts;
    call.in[7] = options->k_starts;
    call.in[8] = function->slopes;
    if (!wick__call_check(&call) || !wick__attention_check(&call, at) || !check_results(&call, at) ||
        !wick__attention_check_starts(&call, at, 6) || !wick__attention_options(&call, at, function))
        return NULL;
    return run(&call, at, call.in[6]->layout.shape[0] - 1, options);
}
