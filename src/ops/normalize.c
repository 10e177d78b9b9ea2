/* Softmax; layer, RMS, group and batch norm. */
#include "ops/batch.h"

#include <math.h>
#include <string.h>

static struct wick_tensor *softmax(enum wick_op op, const struct wick_tensor *x, int dim) {
    if (wick__is_scalar_line(x, dim)) return wick__end_scalar(softmax(op, wick__begin_line(x), 0));
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_dim(&call, dim, &call.p.along.dim)) return NULL;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_softmax(const struct wick_tensor *x, int dim) {
    return softmax(WICK_OP_softmax, x, dim);
}

struct wick_tensor *wick_log_softmax(const struct wick_tensor *x, int dim) {
    return softmax(WICK_OP_log_softmax, x, dim);
}

/* Checks that the operands after x have the given shape and x's dtype, and epsilon. */
static bool check_operands(const struct wick__call *call, double epsilon, int rank, const int64_t *shape) {
    for (int i = 1; i < call->n_in; i++) {
        const struct wick_tensor *operand = call->in[i];
        const char *name = wick__operand_name(call->op, i);
        char want[WICK__SHAPE_TEXT];
        if (!operand) continue;
        bool fits = operand->layout.rank == rank;
        for (int d = 0; fits && d < rank; d++) fits = operand->layout.shape[d] == shape[d];
        if (fits) continue;
        wick__call_fail(call, WICK_SHAPE, "%.*s must be %s", (int)strcspn(name, "?"), name,
                        wick__shape_text(want, rank, shape));
        return false;
    }
    if (epsilon >= 0) return true;
    wick__call_fail(call, WICK_INVALID, "epsilon %g is not >= 0", epsilon);
    return false;
}

static const struct wick_norm_options defaults;

/* Statistics of no elements. */
static bool fill_empty(const struct wick__call *call, int n) {
    if (wick__count(call->in[0]) > 0) return true;
    for (int i = 1; i < n; i++)
        if (wick_fill_inplace(call->out[i], WICK_REAL((double)NAN)) != WICK_OK) return false;
    return true;
}

/* Makes the result, and the statistics of `rank` dims that the caller or a recorder wants, and runs the call. out[1] is
 * the inverse deviation, out[2] the mean, which rms_norm has not. */
static struct wick_tensor *normalize(struct wick__call *call, const struct wick_norm_options *options, int rank,
                                     const int64_t *shape) {
    const struct wick_tensor *x = call->in[0];
    enum wick_dtype dtype = x->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    bool wanted = options->mean || options->inverse_deviation, centered = call->op != WICK_OP_rms_norm;
    call->p.norm.epsilon = options->epsilon;
    if (!wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape) ||
        !wick__call_wanted(call, wanted, dtype, rank, shape) ||
        (centered && !wick__call_wanted(call, wanted, dtype, rank, shape)))
        return NULL;
    struct wick_tensor *y = wick__call_run(call);
    if (!y || !wanted) return y;
    if (!fill_empty(call, centered ? 3 : 2)) {
        wick__call_drop(call);
        return NULL;
    }
    if (options->inverse_deviation)
        *options->inverse_deviation = call->out[1];
    else
        wick_release(call->out[1]);
    if (options->mean)
        *options->mean = call->out[2];
    else if (centered)
        wick_release(call->out[2]);
    return y;
}

/* Whether x has at least the dims [N,C]. */
static bool has_channels(const struct wick__call *call) {
    if (call->in[0]->layout.rank >= 2) return true;
    wick__call_fail(call, WICK_SHAPE, "x must be [N,C,...]");
    return false;
}

struct wick_tensor *wick_layer_norm_with(const struct wick_tensor *x, int axes,
                                         const struct wick_norm_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {
        .op = WICK_OP_layer_norm, .n_in = 3, .in = {x, options->weight, options->bias}, .p.norm.axes = axes};
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call)) return NULL;
    if (axes < 1 || axes > x->layout.rank) {
        wick__call_fail(&call, WICK_RANGE, "%d axes are not in 1..%d", axes, x->layout.rank);
        return NULL;
    }
    int rank = x->layout.rank - axes;
    if (!check_operands(&call, options->epsilon, axes, x->layout.shape + rank)) return NULL;
    return normalize(&call, options, rank, x->layout.shape);
}

struct wick_tensor *wick_layer_norm(const struct wick_tensor *x, int axes, const struct wick_tensor *weight,
                                    const struct wick_tensor *bias, double epsilon) {
    const struct wick_norm_options options = {.weight = weight, .bias = bias, .epsilon = epsilon};
    return wick_layer_norm_with(x, axes, &options);
}

struct wick_tensor *wick_rms_norm_with(const struct wick_tensor *x, const struct wick_norm_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {.op = WICK_OP_rms_norm, .n_in = 2, .in = {x, options->weight}, .p.norm.axes = 1};
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call)) return NULL;
    int rank = x->layout.rank - 1;
    if (rank < 0) {
        wick__call_fail(&call, WICK_SHAPE, "x must be [...,N]");
        return NULL;
    }
    if (options->bias || options->mean) {
        wick__call_fail(&call, WICK_INVALID, "there is no %s", options->bias ? "bias" : "mean");
        return NULL;
    }
    if (!check_operands(&call, options->epsilon, 1, x->layout.shape + rank)) return NULL;
    return normalize(&call, options, rank, x->layout.shape);
}

struct wick_tensor *wick_rms_norm(const struct wick_tensor *x, const struct wick_tensor *weight, double epsilon) {
    const struct wick_norm_options options = {.weight = weight, .epsilon = epsilon};
    return wick_rms_norm_with(x, &options);
}

struct wick_tensor *wick_group_norm_with(const struct wick_tensor *x, int64_t groups,
                                         const struct wick_norm_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {
        .op = WICK_OP_group_norm, .n_in = 3, .in = {x, options->weight, options->bias}, .p.norm.groups = groups};
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) || !has_channels(&call)) return NULL;
    if (groups < 1 || x->layout.shape[1] % groups != 0) {
        wick__call_fail(&call, WICK_SHAPE, "%lld groups do not divide %lld channels", (long long)groups,
                        (long long)x->layout.shape[1]);
        return NULL;
    }
    if (!check_operands(&call, options->epsilon, 1, x->layout.shape + 1)) return NULL;
    return normalize(&call, options, 2, (const int64_t[]){x->layout.shape[0], groups});
}

struct wick_tensor *wick_group_norm(const struct wick_tensor *x, int64_t groups, const struct wick_tensor *weight,
                                    const struct wick_tensor *bias, double epsilon) {
    const struct wick_norm_options options = {.weight = weight, .bias = bias, .epsilon = epsilon};
    return wick_group_norm_with(x, groups, &options);
}

struct wick_tensor *wick__batch_norm(const struct wick_tensor *x, const struct wick_norm_options *options) {
    int64_t channels = x->layout.shape[1];
    struct wick__call call = {.op = WICK_OP_group_norm,
                              .n_in = 3,
                              .in = {x, options->weight, options->bias},
                              .p.norm = {.groups = channels, .batch = true}};
    if (!wick__call_check(&call) || !check_operands(&call, options->epsilon, 1, &channels)) return NULL;
    return normalize(&call, options, 1, &channels);
}

struct wick_tensor *wick_batch_norm(const struct wick_tensor *x, const struct wick_tensor *mean,
                                    const struct wick_tensor *variance, const struct wick_batch_norm_options *options) {
    struct wick__call call = {
        .op = WICK_OP_batch_norm,
        .n_in = 5,
        .in = {x, mean, variance, options ? options->weight : NULL, options ? options->bias : NULL}};
    if (!wick__call_reserved(&call, options ? options->reserved : NULL) || !wick__call_check(&call) ||
        !has_channels(&call))
        return NULL;
    double epsilon = options ? options->epsilon : 0;
    if (!check_operands(&call, epsilon, 1, x->layout.shape + 1)) return NULL;
    call.p.norm.epsilon = epsilon;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}
