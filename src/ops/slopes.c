/* Gradients that are made of others: of units with a gate, and of prelu. */
#include "ops/dispatch.h"

#include <wick/backward.h>

static enum wick_dtype wide_of(const struct wick_tensor *x) { return x->dtype == WICK_F64 ? WICK_F64 : WICK_F32; }

/* ---- gates ---- */

/* The halves of x along a dim and the gradient, in f32 or f64. */
struct gate {
    struct wick_tensor *a, *b, *gradient;
    int dim;
};

/* Checks the shapes and begins a scope. */
static bool begin(const struct wick__call *call, int dim, struct gate *gate) {
    if (!wick__call_check(call)) return false;
    const struct wick_tensor *gradient = call->in[0], *x = call->in[1];
    struct wick__call of_x = {.op = call->op, .n_in = 2, .in = {x, gradient}};
    if (!wick__call_dim(&of_x, dim, &gate->dim)) return false;
    struct wick__layout half = x->layout;
    half.shape[gate->dim] /= 2;
    if (x->layout.shape[gate->dim] % 2 != 0 || !wick__shape_equal(&half, &gradient->layout)) {
        wick__call_fail(call, WICK_SHAPE, "the halves of x along dim %d do not have the shape of gradient", gate->dim);
        return false;
    }
    int64_t n = half.shape[gate->dim];
    wick_scope_begin();
    gate->a = wick_cast(wick_narrow(x, gate->dim, 0, n), wide_of(x));
    gate->b = wick_cast(wick_narrow(x, gate->dim, n, n), wide_of(x));
    gate->gradient = wick_cast(gradient, wide_of(x));
    return true;
}

/* Ends the scope with both gradients side by side. */
static struct wick_tensor *end(const struct gate *gate, enum wick_dtype dtype, struct wick_tensor *a,
                               struct wick_tensor *b) {
    struct wick_tensor *both = a && b ? wick_cat(2, (struct wick_tensor *[]){a, b}, gate->dim) : NULL;
    return wick_scope_end(wick_cast(both, dtype));
}

struct wick_tensor *wick_glu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x, int dim) {
    struct wick__call call = {.op = WICK_OP_glu_backward, .n_in = 2, .in = {gradient, x}};
    struct gate gate;
    if (!begin(&call, dim, &gate)) return NULL;
    struct wick_tensor *s = wick_sigmoid(gate.b);
    return end(&gate, x->dtype, wick_mul(gate.gradient, s), wick_sigmoid_backward(wick_mul(gate.gradient, gate.a), s));
}

struct wick_tensor *wick_swiglu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_swiglu_backward, .n_in = 2, .in = {gradient, x}};
    struct gate gate;
    if (!begin(&call, -1, &gate)) return NULL;
    return end(&gate, x->dtype, wick_silu_backward(wick_mul(gate.gradient, gate.b), gate.a),
               wick_mul(gate.gradient, wick_silu(gate.a)));
}

/* ---- prelu ---- */

/* The sum of gradient x where x <= 0, by channel if the weight has several. */
static struct wick_tensor *slope_gradient(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                          const struct wick_tensor *weight, const struct wick_tensor *positive) {
    enum wick_dtype wide = wide_of(x);
    int dims[WICK_MAX_RANK], n = 0, rank = x->layout.rank, channel = rank > 1 ? 1 : 0;
    struct wick_tensor *products = wick_mul(wick_cast(gradient, wide), wick_cast(x, wide));
    products = wick_masked_fill(products, positive, WICK_INT(0));
    for (int d = 0; d < rank; d++)
        if (d != channel || wick__count(weight) == 1) dims[n++] = d;
    struct wick_tensor *sum = wick_cast(wick_sum(products, n, dims, false), x->dtype);
    return sum ? wick_reshape(sum, weight->layout.rank, weight->layout.shape) : NULL;
}

struct wick_tensor *wick_prelu_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                        const struct wick_tensor *weight, struct wick_tensor **weight_gradient) {
    struct wick__call call = {.op = WICK_OP_prelu_backward, .n_in = 3, .in = {gradient, x, weight}};
    if (!wick__call_check(&call)) return NULL;
    int rank = x->layout.rank, channel = rank > 1 ? 1 : 0;
    int64_t count = wick__count(weight), spread[WICK_MAX_RANK];
    bool one = count == 1, fits = wick__shape_equal(&gradient->layout, &x->layout);
    if (!fits || (!one && (weight->layout.rank != 1 || rank == 0 || count != x->layout.shape[channel]))) {
        wick__call_fail(&call, WICK_SHAPE,
                        "gradient must have the shape of x, and weight one element, or one for each channel");
        return NULL;
    }
    for (int d = channel; d < rank; d++) spread[d - channel] = d == channel ? count : 1;
    wick_scope_begin();
    struct wick_tensor *slope = wick_reshape(weight, one ? 0 : rank - channel, spread), *sum = NULL;
    struct wick_tensor *positive = wick_gt_scalar(x, WICK_INT(0));
    struct wick_tensor *y = wick_where(positive, gradient, wick_mul(gradient, slope));
    if (y && weight_gradient) {
        sum = slope_gradient(gradient, x, weight, positive);
        if (!sum) return wick_scope_end(NULL);
        *weight_gradient = wick_keep(sum);
    }
    return wick_scope_end(y);
}
