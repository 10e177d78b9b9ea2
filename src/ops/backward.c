/* Gradients of softmax. */
#include "ops/dispatch.h"

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
