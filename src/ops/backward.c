/* Gradients of softmax and of norms. */
#include "ops/batch.h"

#include <string.h>

/* Whether operands 0 and i have one shape. */
static bool same_shape(const struct wick__call *call, int i) {
    const struct wick__layout *a = &call->in[0]->layout, *b = &call->in[i]->layout;
    if (a->rank == b->rank && memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank) == 0) return true;
    wick__call_fail(call, WICK_SHAPE, "gradient and %s must have one shape", wick__operand_name(call->op, i));
    return false;
}

static struct wick_tensor *softmax_backward(enum wick_op op, const struct wick_tensor *gradient,
                                            const struct wick_tensor *result, int dim) {
    struct wick__call call = {.op = op, .n_in = 2, .in = {gradient, result}};
    if (!wick__call_check(&call) || !same_shape(&call, 1) || !wick__call_dim_or_scalar(&call, dim, &call.p.along.dim) ||
        !wick__call_out(&call, gradient->dtype, gradient->layout.rank, gradient->layout.shape))
        return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_softmax_backward(const struct wick_tensor *gradient, const struct wick_tensor *result,
                                          int dim) {
    return softmax_backward(WICK_OP_softmax_backward, gradient, result, dim);
}

struct wick_tensor *wick_log_softmax_backward(const struct wick_tensor *gradient, const struct wick_tensor *result,
                                              int dim) {
    return softmax_backward(WICK_OP_log_softmax_backward, gradient, result, dim);
}

static const struct wick_norm_backward_options defaults;

/* Whether the options are those of a later library, or ask for what there is not. */
static bool check_options(const struct wick__call *call, const struct wick_norm_backward_options *options) {
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) || !same_shape(call, 1)) return false;
    if (call->op != WICK_OP_rms_norm_backward || !options->bias_gradient) return true;
    wick__call_fail(call, WICK_INVALID, "there is no bias");
    return false;
}

static bool has_shape(const struct wick__call *call, int i, int rank, const int64_t *shape) {
    const struct wick__layout *layout = &call->in[i]->layout;
    const char *name = wick__operand_name(call->op, i);
    char want[WICK__SHAPE_TEXT];
    if (layout->rank == rank && memcmp(layout->shape, shape, sizeof *shape * (size_t)rank) == 0) return true;
    wick__call_fail(call, WICK_SHAPE, "%.*s must be %s", (int)strcspn(name, "?"), name,
                    wick__shape_text(want, rank, shape));
    return false;
}

/* Checks the statistics, operands 2 to before the weight, the last. */
static bool check_statistics(const struct wick__call *call, int rank, const int64_t *shape) {
    enum wick_dtype dtype = call->in[0]->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    for (int i = 2; i < call->n_in - 1; i++) {
        if (!has_shape(call, i, rank, shape)) return false;
        if (call->in[i]->dtype == dtype) continue;
        wick__call_fail(call, WICK_DTYPE, "%s must be %s", wick__operand_name(call->op, i), wick_dtype_name(dtype));
        return false;
    }
    return true;
}

/* Checks the weight, makes the results, and runs the call. out[1] is the gradient of the weight, out[2] that of the
 * bias, which RMS norm has not. */
static struct wick_tensor *norm_backward(struct wick__call *call, const struct wick_norm_backward_options *options,
                                         int rank, const int64_t *shape) {
    const struct wick_tensor *x = call->in[1];
    bool wanted = options->weight_gradient || options->bias_gradient, biased = call->op != WICK_OP_rms_norm_backward;
    if (options->weight && !has_shape(call, call->n_in - 1, rank, shape)) return NULL;
    if (!wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape) ||
        (wanted && !wick__call_out(call, x->dtype, rank, shape)) ||
        (wanted && biased && !wick__call_out(call, x->dtype, rank, shape)))
        return NULL;
    struct wick_tensor *y = wick__call_run(call);
    if (!y || !wanted) return y;
    for (int i = 1; i < call->n_out && wick__count(x) == 0; i++) /* sums of no terms */
        if (wick_fill_inplace(call->out[i], WICK_INT(0)) != WICK_OK) {
            wick__call_drop(call);
            return NULL;
        }
    if (options->weight_gradient)
        *options->weight_gradient = call->out[1];
    else
        wick_release(call->out[1]);
    if (options->bias_gradient)
        *options->bias_gradient = call->out[2];
    else if (biased)
        wick_release(call->out[2]);
    return y;
}

struct wick_tensor *wick_layer_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                             const struct wick_tensor *mean,
                                             const struct wick_tensor *inverse_deviation, int axes,
                                             const struct wick_norm_backward_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {.op = WICK_OP_layer_norm_backward,
                              .n_in = 5,
                              .in = {gradient, x, mean, inverse_deviation, options->weight},
                              .p.norm.axes = axes};
    if (!check_options(&call, options)) return NULL;
    if (axes < 1 || axes > x->layout.rank) {
        wick__call_fail(&call, WICK_RANGE, "%d axes are not in 1..%d", axes, x->layout.rank);
        return NULL;
    }
    int rank = x->layout.rank - axes;
    if (!check_statistics(&call, rank, x->layout.shape)) return NULL;
    return norm_backward(&call, options, axes, x->layout.shape + rank);
}

struct wick_tensor *wick_rms_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                           const struct wick_tensor *inverse_deviation,
                                           const struct wick_norm_backward_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {.op = WICK_OP_rms_norm_backward,
                              .n_in = 4,
                              .in = {gradient, x, inverse_deviation, options->weight},
                              .p.norm.axes = 1};
    if (!check_options(&call, options)) return NULL;
    int rank = x->layout.rank - 1;
    if (rank < 0) {
        wick__call_fail(&call, WICK_SHAPE, "x must be [...,N]");
        return NULL;
    }
    if (!check_statistics(&call, rank, x->layout.shape)) return NULL;
    return norm_backward(&call, options, 1, x->layout.shape + rank);
}

struct wick_tensor *wick_group_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                             const struct wick_tensor *mean,
                                             const struct wick_tensor *inverse_deviation, int64_t groups,
                                             const struct wick_norm_backward_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {.op = WICK_OP_group_norm_backward,
                              .n_in = 5,
                              .in = {gradient, x, mean, inverse_deviation, options->weight},
                              .p.norm.groups = groups};
    if (!check_options(&call, options)) return NULL;
    if (x->layout.rank < 2) {
        wick__call_fail(&call, WICK_SHAPE, "x must be [N,C,...]");
        return NULL;
    }
    if (groups < 1 || x->layout.shape[1] % groups != 0) {
        wick__call_fail(&call, WICK_SHAPE, "%lld groups do not divide %lld channels", (long long)groups,
                        (long long)x->layout.shape[1]);
        return NULL;
    }
    if (!check_statistics(&call, 2, (const int64_t[]){x->layout.shape[0], groups})) return NULL;
    return norm_backward(&call, options, 1, x->layout.shape + 1);
}

struct wick_tensor *wick__batch_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                              const struct wick_tensor *mean,
                                              const struct wick_tensor *inverse_deviation,
                                              const struct wick_norm_backward_options *options) {
    int64_t channels = x->layout.shape[1];
    struct wick__call call = {.op = WICK_OP_group_norm_backward,
                              .n_in = 5,
                              .in = {gradient, x, mean, inverse_deviation, options->weight},
                              .p.norm = {.groups = channels, .batch = true}};
    if (!check_options(&call, options) || !check_statistics(&call, 1, &channels)) return NULL;
    return norm_backward(&call, options, 1, &channels);
}
