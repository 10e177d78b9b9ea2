/* Softmax; layer, RMS, group and batch norm. */
#include "ops/dispatch.h"

#include <string.h>

static struct wick_tensor *softmax(enum wick_op op, const struct wick_tensor *x, int dim) {
    if (wick__is_scalar_line(x, dim)) {
        wick_scope_begin();
        return wick_scope_end(wick_reshape(softmax(op, wick_reshape(x, WICK_SHAPE(1)), 0), 0, NULL));
    }
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

/* Checks that the operands after x have the given shape and x's dtype, and runs the call. */
static struct wick_tensor *normalize(struct wick__call *call, double epsilon, int rank, const int64_t *shape) {
    const struct wick_tensor *x = call->in[0];
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
        return NULL;
    }
    if (!(epsilon >= 0)) {
        wick__call_fail(call, WICK_INVALID, "epsilon %g is not >= 0", epsilon);
        return NULL;
    }
    call->p.norm.epsilon = epsilon;
    if (!wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(call);
}

/* Whether x has at least the dims [N,C]. */
static bool has_channels(const struct wick__call *call) {
    if (call->in[0]->layout.rank >= 2) return true;
    wick__call_fail(call, WICK_SHAPE, "x must be [N,C,...]");
    return false;
}

struct wick_tensor *wick_layer_norm(const struct wick_tensor *x, int axes, const struct wick_tensor *weight,
                                    const struct wick_tensor *bias, double epsilon) {
    struct wick__call call = {.op = WICK_OP_layer_norm, .n_in = 3, .in = {x, weight, bias}, .p.norm.axes = axes};
    if (!wick__call_check(&call)) return NULL;
    if (axes < 1 || axes > x->layout.rank) {
        wick__call_fail(&call, WICK_RANGE, "%d axes are not in 1..%d", axes, x->layout.rank);
        return NULL;
    }
    return normalize(&call, epsilon, axes, x->layout.shape + x->layout.rank - axes);
}

struct wick_tensor *wick_rms_norm(const struct wick_tensor *x, const struct wick_tensor *weight, double epsilon) {
    struct wick__call call = {.op = WICK_OP_rms_norm, .n_in = 2, .in = {x, weight}, .p.norm.axes = 1};
    if (!wick__call_check(&call)) return NULL;
    if (x->layout.rank == 0) {
        wick__call_fail(&call, WICK_SHAPE, "x must be [...,N]");
        return NULL;
    }
    return normalize(&call, epsilon, 1, x->layout.shape + x->layout.rank - 1);
}

struct wick_tensor *wick_group_norm(const struct wick_tensor *x, int64_t groups, const struct wick_tensor *weight,
                                    const struct wick_tensor *bias, double epsilon) {
    struct wick__call call = {.op = WICK_OP_group_norm, .n_in = 3, .in = {x, weight, bias}, .p.norm.groups = groups};
    if (!wick__call_check(&call) || !has_channels(&call)) return NULL;
    if (groups < 1 || x->layout.shape[1] % groups != 0) {
        wick__call_fail(&call, WICK_SHAPE, "%lld groups do not divide %lld channels", (long long)groups,
                        (long long)x->layout.shape[1]);
        return NULL;
    }
    return normalize(&call, epsilon, 1, x->layout.shape + 1);
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
    return normalize(&call, options ? options->epsilon : 0, 1, x->layout.shape + 1);
}
