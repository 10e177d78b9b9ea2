/* Losses of classes, and their gradients. The kernel gives each row's loss, weight and log(sum(exp)), or the mean of up
 * to MEAN_ROWS rows; other reductions of the first two are ops of their own. */
#include "ops/loss.h"

#include <string.h>

/* Rows that one block of a GPU adds up as fast as a launch takes. */
enum { MEAN_ROWS = 8192 };

static const struct wick_cross_entropy_options defaults;

/* A loss on its way: rows of x, [N,d...], and what its op is like. */
struct classes {
    struct wick__call *call;
    const struct wick_cross_entropy_options *options;
    bool soft, nll;
    int rank;
    int64_t shape[WICK_MAX_RANK];
};

/* The shape of x without its classes, and their number. */
static bool rows_of(struct classes *c, const struct wick_tensor *x, int64_t *n) {
    const struct wick__layout *layout = &x->layout;
    if (layout->rank < 1) {
        wick__call_fail(c->call, WICK_SHAPE, "x must be [C], [N,C] or [N,C,d...]");
        return false;
    }
    int along = layout->rank > 1;
    *n = layout->shape[along];
    for (int d = 0; d < layout->rank; d++)
        if (d != along) c->shape[c->rank++] = layout->shape[d];
    return true;
}

static bool has_shape(const struct wick__call *call, int i, int rank, const int64_t *shape) {
    const struct wick_tensor *x = call->in[i];
    const char *name = wick__operand_name(call->op, i);
    char text[WICK__SHAPE_TEXT];
    if (!x ||
        (x->layout.rank == rank && (rank == 0 || memcmp(x->layout.shape, shape, sizeof *shape * (size_t)rank) == 0)))
        return true;
    wick__call_fail(call, WICK_SHAPE, "%.*s must be %s", (int)strcspn(name, "?"), name,
                    wick__shape_text(text, rank, shape));
    return false;
}

static bool options_fit(const struct classes *c) {
    const struct wick_cross_entropy_options *o = c->options;
    if (!wick__call_reserved(c->call, o->reserved) || !wick__loss_check(c->call, o->reduction, false)) return false;
    if (!(o->smoothing >= 0 && o->smoothing <= 1))
        wick__call_fail(c->call, WICK_INVALID, "smoothing %g is not in 0..1", o->smoothing);
    else if (c->nll && o->smoothing != 0)
        wick__call_fail(c->call, WICK_INVALID, "there is no smoothing");
    else if (c->soft && o->ignore)
        wick__call_fail(c->call, WICK_INVALID, "probabilities have no ignored id");
    else if ((c->nll && o->log_sums) || (c->soft && o->total_weight))
        wick__call_fail(c->call, WICK_INVALID, "there is no %s", c->nll ? "log_sums" : "total_weight");
    else
        return true;
    return false;
}

/* Fills what does not depend on the direction, and checks operands 0, 1 and the last, which is the weight. */
static bool check(struct classes *c) {
    struct wick__call *call = c->call;
    int64_t n;
    c->soft = call->op == WICK_OP_cross_entropy_soft || call->op == WICK_OP_cross_entropy_soft_backward;
    c->nll = call->op == WICK_OP_nll_loss || call->op == WICK_OP_nll_loss_backward;
    if (!c->options) c->options = &defaults;
    call->in[call->n_in - 1] = c->options->weight;
    if (!options_fit(c) || !wick__call_check(call) || !rows_of(c, call->in[0], &n)) return false;
    call->p.classes.smoothing = c->options->smoothing;
    call->p.classes.ignore = c->options->ignore;
    call->p.classes.ignored = c->options->ignore ? c->options->ignored : 0;
    const struct wick__layout *x = &call->in[0]->layout;
    return (c->soft ? has_shape(call, 1, x->rank, x->shape) : has_shape(call, 1, c->rank, c->shape)) &&
           has_shape(call, call->n_in - 1, 1, &n);
}

/* ---- losses ---- */

/* The mean by weights: of rows whose losses and weights are given. *total becomes the sum of the weights. */
static struct wick_tensor *weighted_mean(struct wick_tensor *losses, struct wick_tensor *weights, enum wick_dtype dtype,
                                         struct wick_tensor **total) {
    *total = wick_sum(weights, WICK_ALL_DIMS, false);
    struct wick_tensor *mean = wick_div(wick_sum(losses, WICK_ALL_DIMS, false), *total);
    return mean && mean->dtype != dtype ? wick_cast(mean, dtype) : mean;
}

static struct wick_tensor *forward(struct classes *c) {
    struct wick__call *call = c->call;
    const struct wick_tensor *x = call->in[0];
    const struct wick_cross_entropy_options *o;
    if (!check(c)) return NULL;
    o = c->options;
    enum wick_dtype wide = wick__loss_wide(x);
    struct wick_tensor *y, *total = NULL;
    bool mean = o->reduction == WICK_LOSS_MEAN && !c->soft, at_once = false;
    if (mean) at_once = wick__count(call->in[1]) > 0 && wick__count(call->in[1]) <= MEAN_ROWS;
    int rank = at_once ? 0 : c->rank;
    call->p.classes.mean = at_once;
    wick_scope_begin();
    if (!wick__call_out(call, at_once || o->reduction == WICK_LOSS_NONE ? x->dtype : wide, rank, c->shape) ||
        !wick__call_out(call, wide, rank, c->shape) || !wick__call_out(call, WICK_F64, c->rank, c->shape) ||
        !(y = wick__call_run(call)))
        return wick_scope_end(NULL);
    if (at_once)
        total = call->out[1];
    else if (mean)
        y = weighted_mean(y, call->out[1], x->dtype, &total);
    else
        y = wick__loss_reduce(y, o->reduction, x->dtype);
    if (o->total_weight && !total) total = wick_sum(call->out[1], WICK_ALL_DIMS, false);
    if (!y || (o->total_weight && !total)) return wick_scope_end(NULL);
    if (o->log_sums) *o->log_sums = wick_keep(call->out[2]);
    if (o->total_weight) *o->total_weight = wick_keep(total);
    return wick_scope_end(y);
}

struct wick_tensor *wick_cross_entropy(const struct wick_tensor *x, const struct wick_tensor *ids,
                                       const struct wick_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_cross_entropy, .n_in = 3, .in = {x, ids}};
    return forward(&(struct classes){.call = &call, .options = options});
}

struct wick_tensor *wick_cross_entropy_soft(const struct wick_tensor *x, const struct wick_tensor *probabilities,
                                            const struct wick_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_cross_entropy_soft, .n_in = 3, .in = {x, probabilities}};
    return forward(&(struct classes){.call = &call, .options = options});
}

struct wick_tensor *wick_nll_loss(const struct wick_tensor *x, const struct wick_tensor *ids,
                                  const struct wick_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_nll_loss, .n_in = 3, .in = {x, ids}};
    return forward(&(struct classes){.call = &call, .options = options});
}

/* ---- gradients ---- */

/* Checks the sum of the rows' weights, which the mean over ids needs. */
static bool check_total(const struct classes *c, const struct wick_tensor *total) {
    const struct wick_tensor *x = c->call->in[0];
    bool needed = c->options->reduction == WICK_LOSS_MEAN && !c->soft;
    if (!needed && !total) return true;
    if (!needed)
        wick__call_fail(c->call, WICK_INVALID, "total_weight is for the mean alone");
    else if (!total)
        wick__call_fail(c->call, WICK_INVALID, "the mean needs total_weight");
    else if (total->layout.rank != 0 || total->dtype != wick__loss_wide(x))
        wick__call_fail(c->call, WICK_SHAPE, "total_weight must be a scalar of %s",
                        wick_dtype_name(wick__loss_wide(x)));
    else if (wick__device(total) != wick__device(x))
        wick__call_fail(c->call, WICK_DEVICE, "total_weight is on another device");
    else
        return true;
    return false;
}

/* The gradient of each row's loss, or of all: in f32 or f64, divided for the mean. */
static const struct wick_tensor *row_gradient(const struct classes *c, const struct wick_tensor *gradient,
                                              const struct wick_tensor *total) {
    const struct wick_tensor *g = wick__loss_cast(gradient, wick__loss_wide(c->call->in[0]));
    int64_t rows = 1;
    if (c->options->reduction != WICK_LOSS_MEAN) return g;
    for (int d = 0; d < c->rank; d++) rows *= c->shape[d];
    return c->soft ? wick_div_scalar(g, WICK_REAL((double)rows)) : wick_div(g, total);
}

/* The gradient is the caller's; that of the rows becomes operand 2. */
static struct wick_tensor *backward(struct classes *c, const struct wick_tensor *gradient,
                                    const struct wick_tensor *total, struct wick_tensor **probabilities_gradient) {
    struct wick__call *call = c->call;
    const struct wick_tensor *x = call->in[0];
    wick_scope_begin();
    if (x) call->in[2] = wick_empty(wick__device(x), wick__loss_wide(x), 0, NULL); /* until all is known to fit */
    if ((x && !call->in[2]) || !check(c) || !check_total(c, total) ||
        !wick__loss_check_gradient(call, gradient, x, c->options->reduction, c->rank, c->shape) ||
        (!c->nll && !has_shape(call, 3, c->rank, c->shape)))
        return wick_scope_end(NULL);
    call->in[2] = row_gradient(c, gradient, total);
    if (!call->in[2] || !wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape) ||
        (probabilities_gradient && !wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape)))
        return wick_scope_end(NULL);
    struct wick_tensor *y = wick__call_run(call);
    if (y && probabilities_gradient) *probabilities_gradient = wick_keep(call->out[1]);
    return wick_scope_end(y);
}

struct wick_tensor *wick_cross_entropy_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                const struct wick_tensor *ids, const struct wick_tensor *log_sums,
                                                const struct wick_tensor *total_weight,
                                                const struct wick_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_cross_entropy_backward, .n_in = 5, .in = {x, ids, NULL, log_sums}};
    return backward(&(struct classes){.call = &call, .options = options}, gradient, total_weight, NULL);
}

struct wick_tensor *wick_cross_entropy_soft_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                     const struct wick_tensor *probabilities,
                                                     const struct wick_tensor *log_sums,
                                                     const struct wick_cross_entropy_options *options,
                                                     struct wick_tensor **probabilities_gradient) {
    struct wick__call call = {
        .op = WICK_OP_cross_entropy_soft_backward, .n_in = 5, .in = {x, probabilities, NULL, log_sums}};
    return backward(&(struct classes){.call = &call, .options = options}, gradient, NULL, probabilities_gradient);
}

struct wick_tensor *wick_nll_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                           const struct wick_tensor *ids, const struct wick_tensor *total_weight,
                                           const struct wick_cross_entropy_options *options) {
    struct wick__call call = {.op = WICK_OP_nll_loss_backward, .n_in = 4, .in = {x, ids}};
    return backward(&(struct classes){.call = &call, .options = options}, gradient, total_weight, NULL);
}
