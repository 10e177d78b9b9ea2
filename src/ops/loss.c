/* Losses of elements and their gradients; reductions of losses. */
#include "ops/loss.h"

#include <string.h>

/* ---- shared by all losses ---- */

bool wick__loss_check(const struct wick__call *call, enum wick_reduction reduction, bool batch) {
    if ((unsigned)reduction <= (batch ? WICK_LOSS_BATCH_MEAN : WICK_LOSS_NONE)) return true;
    wick__call_fail(call, WICK_INVALID, "reduction %d is not one of this op's", (int)reduction);
    return false;
}

bool wick__loss_check_gradient(const struct wick__call *call, const struct wick_tensor *gradient,
                               const struct wick_tensor *x, enum wick_reduction reduction, int rank,
                               const int64_t *shape) {
    char text[WICK__SHAPE_TEXT];
    if (reduction != WICK_LOSS_NONE) rank = 0;
    if (!gradient)
        wick__call_fail(call, WICK_INVALID, "gradient is NULL");
    else if (gradient->dtype != x->dtype)
        wick__call_fail(call, WICK_DTYPE, "gradient is %s, not %s", wick_dtype_name(gradient->dtype),
                        wick_dtype_name(x->dtype));
    else if (wick__device(gradient) != wick__device(x))
        wick__call_fail(call, WICK_DEVICE, "gradient is on another device");
    else if (gradient->layout.rank != rank ||
             (rank > 0 && memcmp(gradient->layout.shape, shape, sizeof *shape * (size_t)rank) != 0))
        wick__call_fail(call, WICK_SHAPE, "gradient must be %s", wick__shape_text(text, rank, shape));
    else
        return true;
    return false;
}

const struct wick_tensor *wick__loss_cast(const struct wick_tensor *x, enum wick_dtype dtype) {
    return !x || x->dtype == dtype ? x : wick_cast(x, dtype);
}

struct wick_tensor *wick__loss_reduce(struct wick_tensor *losses, enum wick_reduction reduction,
                                      enum wick_dtype dtype) {
    struct wick_tensor *y = losses;
    if (!y) return NULL;
    if (reduction == WICK_LOSS_MEAN)
        y = wick_mean(losses, WICK_ALL_DIMS, false);
    else if (reduction != WICK_LOSS_NONE)
        y = wick_sum(losses, WICK_ALL_DIMS, false);
    if (reduction == WICK_LOSS_BATCH_MEAN && y && losses->layout.rank > 0)
        y = wick_div_scalar(y, WICK_REAL((double)losses->layout.shape[0]));
    return y && y->dtype != dtype ? wick_cast(y, dtype) : y;
}

/* ---- of elements ---- */

/* Checks that x, operand `first`, and the target have one shape, and expands the weights behind them to it. The call is
 * in a scope of its own. */
static bool one_shape(struct wick__call *call, int first) {
    const struct wick_tensor *x = call->in[first], *target = call->in[first + 1];
    struct wick__layout wide;
    if (!wick__shape_equal(&x->layout, &target->layout)) {
        wick__call_fail(call, WICK_SHAPE, "x and target must have one shape");
        return false;
    }
    for (int i = first + 2; i < call->n_in; i++) {
        const char *name = wick__operand_name(call->op, i);
        if (!call->in[i] || wick__shape_equal(&call->in[i]->layout, &x->layout)) continue;
        if (!wick__layout_expand(&call->in[i]->layout, x->layout.rank, x->layout.shape, &wide)) {
            wick__call_fail(call, WICK_SHAPE, "%.*s does not broadcast to x", (int)strcspn(name, "?"), name);
            return false;
        }
        call->in[i] = wick_broadcast_to(call->in[i], x->layout.rank, x->layout.shape);
        if (!call->in[i]) return false;
    }
    return true;
}

/* Whether the loss's number is in its range: beta >= 0, delta > 0. */
static bool number_fits(const struct wick__call *call) {
    double a = call->p.loss.a;
    bool beta = call->op == WICK_OP_smooth_l1_loss || call->op == WICK_OP_smooth_l1_loss_backward;
    bool delta = call->op == WICK_OP_huber_loss || call->op == WICK_OP_huber_loss_backward;
    if ((!beta || a >= 0) && (!delta || a > 0)) return true;
    wick__call_fail(call, WICK_INVALID, beta ? "beta %g is not >= 0" : "delta %g is not > 0", a);
    return false;
}

static bool is_kl(enum wick_op op) { return op == WICK_OP_kl_div_loss || op == WICK_OP_kl_div_loss_backward; }

static struct wick_tensor *forward(struct wick__call *call, enum wick_reduction reduction) {
    if (!wick__call_check(call) || !wick__loss_check(call, reduction, is_kl(call->op)) || !number_fits(call))
        return NULL;
    const struct wick_tensor *x = call->in[0];
    enum wick_dtype dtype = reduction == WICK_LOSS_NONE ? x->dtype : wick__loss_wide(x);
    wick_scope_begin();
    if (!one_shape(call, 0) || !wick__call_out(call, dtype, x->layout.rank, x->layout.shape))
        return wick_scope_end(NULL);
    return wick_scope_end(wick__loss_reduce(wick__call_run(call), reduction, x->dtype));
}

/* What gradients are multiplied with for the reduction of losses of x. */
static double scale_of(enum wick_reduction reduction, const struct wick_tensor *x) {
    if (reduction == WICK_LOSS_MEAN) return 1 / (double)wick__count(x);
    if (reduction == WICK_LOSS_BATCH_MEAN && x->layout.rank > 0) return 1 / (double)x->layout.shape[0];
    return 1;
}

static struct wick_tensor *backward(struct wick__call *call, enum wick_reduction reduction,
                                    struct wick_tensor **target_gradient) {
    if (!wick__call_check(call) || !wick__loss_check(call, reduction, is_kl(call->op)) || !number_fits(call))
        return NULL;
    const struct wick_tensor *x = call->in[1];
    if (!wick__loss_check_gradient(call, call->in[0], x, reduction, x->layout.rank, x->layout.shape)) return NULL;
    call->p.loss.scale = scale_of(reduction, x);
    wick_scope_begin();
    if (!one_shape(call, 1) || !wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape) ||
        (target_gradient && !wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape)))
        return wick_scope_end(NULL);
    struct wick_tensor *y = wick__call_run(call);
    if (y && target_gradient) *target_gradient = wick_keep(call->out[1]);
    return wick_scope_end(y);
}

/* ---- the functions ---- */

struct wick_tensor *wick_mse_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                  enum wick_reduction reduction) {
    struct wick__call call = {.op = WICK_OP_mse_loss, .n_in = 2, .in = {x, target}};
    return forward(&call, reduction);
}

struct wick_tensor *wick_mse_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                           const struct wick_tensor *target, enum wick_reduction reduction,
                                           struct wick_tensor **target_gradient) {
    struct wick__call call = {.op = WICK_OP_mse_loss_backward, .n_in = 3, .in = {gradient, x, target}};
    return backward(&call, reduction, target_gradient);
}

struct wick_tensor *wick_l1_loss(const struct wick_tensor *x, const struct wick_tensor *target,
                                 enum wick_reduction reduction) {
    struct wick__call call = {.op = WICK_OP_l1_loss, .n_in = 2, .in = {x, target}};
    return forward(&call, reduction);
}

struct wick_tensor *wick_l1_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                          const struct wick_tensor *target, enum wick_reduction reduction,
                                          struct wick_tensor **target_gradient) {
    struct wick__call call = {.op = WICK_OP_l1_loss_backward, .n_in = 3, .in = {gradient, x, target}};
    return backward(&call, reduction, target_gradient);
}

struct wick_tensor *wick_smooth_l1_loss(const struct wick_tensor *x, const struct wick_tensor *target, double beta,
                                        enum wick_reduction reduction) {
    struct wick__call call = {.op = WICK_OP_smooth_l1_loss, .n_in = 2, .in = {x, target}, .p.loss.a = beta};
    return forward(&call, reduction);
}

struct wick_tensor *wick_smooth_l1_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                 const struct wick_tensor *target, double beta,
                                                 enum wick_reduction reduction, struct wick_tensor **target_gradient) {
    struct wick__call call = {
        .op = WICK_OP_smooth_l1_loss_backward, .n_in = 3, .in = {gradient, x, target}, .p.loss.a = beta};
    return backward(&call, reduction, target_gradient);
}

struct wick_tensor *wick_huber_loss(const struct wick_tensor *x, const struct wick_tensor *target, double delta,
                                    enum wick_reduction reduction) {
    struct wick__call call = {.op = WICK_OP_huber_loss, .n_in = 2, .in = {x, target}, .p.loss.a = delta};
    return forward(&call, reduction);
}

struct wick_tensor *wick_huber_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                             const struct wick_tensor *target, double delta,
                                             enum wick_reduction reduction, struct wick_tensor **target_gradient) {
    struct wick__call call = {
        .op = WICK_OP_huber_loss_backward, .n_in = 3, .in = {gradient, x, target}, .p.loss.a = delta};
    return backward(&call, reduction, target_gradient);
}

struct wick_tensor *wick_kl_div_loss(const struct wick_tensor *x, const struct wick_tensor *target, bool log_target,
                                     enum wick_reduction reduction) {
    struct wick__call call = {.op = WICK_OP_kl_div_loss, .n_in = 2, .in = {x, target}, .p.loss.log = log_target};
    return forward(&call, reduction);
}

struct wick_tensor *wick_kl_div_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                              const struct wick_tensor *target, bool log_target,
                                              enum wick_reduction reduction, struct wick_tensor **target_gradient) {
    struct wick__call call = {
        .op = WICK_OP_kl_div_loss_backward, .n_in = 3, .in = {gradient, x, target}, .p.loss.log = log_target};
    return backward(&call, reduction, target_gradient);
}

/* Binary cross entropy, whose weights stand behind the target; of probabilities there is one. */
static bool binary(struct wick__call *call, const struct wick_binary_cross_entropy_options **options, bool logits) {
    static const struct wick_binary_cross_entropy_options defaults;
    if (!*options) *options = &defaults;
    int last = call->n_in;
    call->in[call->n_in++] = (*options)->weight;
    if (logits) call->in[call->n_in++] = (*options)->pos_weight;
    if (!wick__call_reserved(call, (*options)->reserved)) return false;
    if (logits || !(*options)->pos_weight) return true;
    call->n_in = last;
    wick__call_fail(call, WICK_INVALID, "pos_weight is for logits");
    return false;
}

struct wick_tensor *wick_binary_cross_entropy(const struct wick_tensor *x, const struct wick_tensor *target,
                                              const struct wick_binary_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_binary_cross_entropy, .n_in = 2, .in = {x, target}};
    return binary(&call, &options, false) ? forward(&call, options->reduction) : NULL;
}

struct wick_tensor *wick_binary_cross_entropy_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                       const struct wick_tensor *target,
                                                       const struct wick_binary_cross_entropy_options *options,
                                                       struct wick_tensor **target_gradient) {
    struct wick__call call = {.op = WICK_OP_binary_cross_entropy_backward, .n_in = 3, .in = {gradient, x, target}};
    return binary(&call, &options, false) ? backward(&call, options->reduction, target_gradient) : NULL;
}

struct wick_tensor *wick_binary_cross_entropy_with_logits(const struct wick_tensor *x, const struct wick_tensor *target,
                                                          const struct wick_binary_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_binary_cross_entropy_with_logits, .n_in = 2, .in = {x, target}};
    return binary(&call, &options, true) ? forward(&call, options->reduction) : NULL;
}

struct wick_tensor *wick_binary_cross_entropy_with_logits_backward(
    const struct wick_tensor *gradient, const struct wick_tensor *x, const struct wick_tensor *target,
    const struct wick_binary_cross_entropy_options *options, struct wick_tensor **target_gradient) {
    struct wick__call call = {
        .op = WICK_OP_binary_cross_entropy_with_logits_backward, .n_in = 3, .in = {gradient, x, target}};
    return binary(&call, &options, true) ? backward(&call, options->reduction, target_gradient) : NULL;
}
