/* Losses of rows, cosine embedding and triplet margin: made of other ops, in f32 (f64 for f64). Each is a tensor with a
 * last dim of size 1 until it is reduced, so that it broadcasts over its row. */
#include "ops/loss.h"

#include <math.h>

typedef const struct wick_tensor *wide;

/* Checks that operands `first` to `last` have one shape, [N,D] or [D]. */
static bool one_shape(const struct wick__call *call, int first, int last) {
    const struct wick__layout *shape = &call->in[first]->layout;
    bool fit = shape->rank == 1 || shape->rank == 2;
    for (int i = first + 1; fit && i <= last; i++) fit = wick__shape_equal(shape, &call->in[i]->layout);
    if (!fit)
        wick__call_fail(call, WICK_SHAPE, "%s and those behind it must be [N,D] or [D], of one shape",
                        wick__operand_name(call->op, first));
    return fit;
}

static wide row_sum(wide x) { return wick_sum(x, WICK_DIMS(-1), true); }

/* 1 where a question's answer is yes, 0 elsewhere, in the dtype of x. */
static wide as_number(wide answer, wide x) { return x ? wick_cast(answer, x->dtype) : NULL; }

/* The losses [..,1] without their last dim, reduced. */
static struct wick_tensor *finish(wide losses, enum wick_reduction reduction, enum wick_dtype dtype) {
    return wick__loss_reduce(losses ? wick_squeeze(losses, -1) : NULL, reduction, dtype);
}

/* The caller's gradient for each row's loss, [N,1] or smaller. */
static wide row_gradient(const struct wick_tensor *gradient, wide x, enum wick_reduction reduction) {
    wide g = wick__loss_cast(gradient, wick__loss_wide(x));
    int rank = x->layout.rank;
    if (reduction == WICK_LOSS_NONE) return wick_unsqueeze(g, -1);
    if (reduction == WICK_LOSS_MEAN && rank == 2) return wick_div_scalar(g, WICK_REAL((double)x->layout.shape[0]));
    return g;
}

/* A gradient in the dtype of x, if it is wanted. False after a failure. */
static bool give(bool wanted, struct wick_tensor *gradient, const struct wick_tensor *x, struct wick_tensor **kept) {
    *kept = NULL;
    if (!wanted) return true;
    *kept = gradient && gradient->dtype == x->dtype ? gradient : wick_cast(gradient, x->dtype);
    return *kept != NULL;
}

/* ---- cosine embedding ---- */

/* cos and what its derivatives are made of, [..,1]. */
struct cosine {
    wide a, b, y; /* in f32 or f64 */
    wide squares_a, squares_b, root, cos;
};

static bool cosine_of(struct cosine *c, const struct wick__call *call, int first) {
    enum wick_dtype dtype = wick__loss_wide(call->in[first]);
    c->a = wick__loss_cast(call->in[first], dtype);
    c->b = wick__loss_cast(call->in[first + 1], dtype);
    c->y = wick_unsqueeze(wick__loss_cast(call->in[first + 2], dtype), -1);
    c->squares_a = wick_add_scalar(row_sum(wick_sqr(c->a)), WICK_REAL(1e-12));
    c->squares_b = wick_add_scalar(row_sum(wick_sqr(c->b)), WICK_REAL(1e-12));
    c->root = wick_mul(wick_sqrt(c->squares_a), wick_sqrt(c->squares_b));
    c->cos = wick_div(row_sum(wick_mul(c->a, c->b)), c->root);
    return c->cos && c->y;
}

static const struct wick_cosine_options no_margin;

static bool check_cosine(const struct wick__call *call, int first, const struct wick_cosine_options *o) {
    if (!wick__call_reserved(call, o->reserved) || !wick__call_check(call) ||
        !wick__loss_check(call, o->reduction, false) || !one_shape(call, first, first + 1))
        return false;
    const struct wick__layout *a = &call->in[first]->layout, *y = &call->in[first + 2]->layout;
    if (y->rank == a->rank - 1 && (y->rank == 0 || y->shape[0] == a->shape[0])) return true;
    wick__call_fail(call, WICK_SHAPE, "y must be %s", a->rank == 2 ? "[N]" : "a scalar");
    return false;
}

struct wick_tensor *wick_cosine_embedding_loss(const struct wick_tensor *a, const struct wick_tensor *b,
                                               const struct wick_tensor *y, const struct wick_cosine_options *options) {
    struct wick__call call = {.op = WICK_OP_cosine_embedding_loss, .n_in = 3, .in = {a, b, y}};
    struct cosine c;
    if (!options) options = &no_margin;
    if (!check_cosine(&call, 0, options)) return NULL;
    wick_scope_begin();
    if (!cosine_of(&c, &call, 0)) return wick_scope_end(NULL);
    wide zero = wick_zeros_like(c.cos), like = wick_affine(c.cos, WICK_REAL(-1), WICK_REAL(1));
    wide apart = wick_relu(wick_add_scalar(c.cos, WICK_REAL(-options->margin)));
    wide losses =
        wick_where(wick_eq_scalar(c.y, WICK_INT(1)), like, wick_where(wick_eq_scalar(c.y, WICK_INT(-1)), apart, zero));
    return wick_scope_end(finish(losses, options->reduction, a->dtype));
}

/* factor (other / root - cos own / squares of own): the gradient by `own`. */
static struct wick_tensor *cosine_gradient(const struct cosine *c, wide factor, wide own, wide other, wide squares) {
    wide toward = wick_mul(wick_div(factor, c->root), other);
    return wick_sub(toward, wick_mul(wick_div(wick_mul(factor, c->cos), squares), own));
}

struct wick_tensor *wick_cosine_embedding_loss_backward(const struct wick_tensor *gradient, const struct wick_tensor *a,
                                                        const struct wick_tensor *b, const struct wick_tensor *y,
                                                        const struct wick_cosine_options *options,
                                                        struct wick_tensor **b_gradient) {
    struct wick__call call = {.op = WICK_OP_cosine_embedding_loss_backward, .n_in = 4, .in = {gradient, a, b, y}};
    struct cosine c;
    struct wick_tensor *of_a, *of_b;
    if (!options) options = &no_margin;
    enum wick_reduction reduction = options->reduction;
    if (!check_cosine(&call, 1, options) ||
        !wick__loss_check_gradient(&call, gradient, a, reduction, y->layout.rank, y->layout.shape))
        return NULL;
    wick_scope_begin();
    if (!cosine_of(&c, &call, 1)) return wick_scope_end(NULL);
    wide like = as_number(wick_eq_scalar(c.y, WICK_INT(1)), c.cos);
    wide apart = wick_where(wick_ge_scalar(c.cos, WICK_REAL(options->margin)),
                            as_number(wick_eq_scalar(c.y, WICK_INT(-1)), c.cos), wick_zeros_like(c.cos));
    wide factor = wick_mul(row_gradient(gradient, a, reduction), wick_sub(apart, like));
    if (!give(true, cosine_gradient(&c, factor, c.a, c.b, c.squares_a), a, &of_a) ||
        !give(b_gradient != NULL, b_gradient ? cosine_gradient(&c, factor, c.b, c.a, c.squares_b) : NULL, a, &of_b))
        return wick_scope_end(NULL);
    if (b_gradient) *b_gradient = wick_keep(of_b);
    return wick_scope_end(of_a);
}

/* ---- triplet margin ---- */

static const struct wick_triplet_options pytorch = {.margin = 1, .p = 2, .epsilon = 1e-6};

/* A difference [..,D] with epsilon, and its p-norm [..,1]. */
struct distance {
    wide apart, norm;
};

struct triplet {
    struct distance positive, negative, swapped;
    wide active,
        nearer; /* 1 where the margin is not kept, with PyTorch at its edge too; 1 where the swapped distance counts */
    wide losses;
};

static struct distance distance_of(wide a, wide b, const struct wick_triplet_options *o) {
    struct distance d = {.apart = wick_add_scalar(wick_sub(a, b), WICK_REAL(o->epsilon))};
    d.norm = wick_norm(d.apart, o->p == 0 ? 2 : o->p, WICK_DIMS(-1), true);
    return d;
}

static bool triplet_of(struct triplet *t, const struct wick__call *call, int first,
                       const struct wick_triplet_options *o) {
    enum wick_dtype dtype = wick__loss_wide(call->in[first]);
    wide anchor = wick__loss_cast(call->in[first], dtype), positive = wick__loss_cast(call->in[first + 1], dtype);
    wide negative = wick__loss_cast(call->in[first + 2], dtype), far;
    t->positive = distance_of(anchor, positive, o);
    t->negative = distance_of(anchor, negative, o);
    far = t->negative.norm;
    if (o->swap) {
        t->swapped = distance_of(positive, negative, o);
        t->nearer = as_number(wick_lt(t->swapped.norm, t->negative.norm), far);
        far = wick_minimum(t->negative.norm, t->swapped.norm);
    }
    wide over = wick_add_scalar(wick_sub(t->positive.norm, far), WICK_REAL(o->margin));
    t->losses = wick_relu(over);
    t->active = as_number(wick_ge_scalar(over, WICK_INT(0)), over);
    return t->losses && t->active && (!o->swap || t->nearer);
}

static bool check_triplet(const struct wick__call *call, int first, const struct wick_triplet_options *o) {
    if (!wick__call_reserved(call, o->reserved) || !wick__call_check(call) ||
        !wick__loss_check(call, o->reduction, false) || !one_shape(call, first, first + 2))
        return false;
    if (o->p >= 0) return true;
    wick__call_fail(call, WICK_INVALID, "p %g is not >= 0", o->p);
    return false;
}

struct wick_tensor *wick_triplet_margin_loss(const struct wick_tensor *anchor, const struct wick_tensor *positive,
                                             const struct wick_tensor *negative,
                                             const struct wick_triplet_options *options) {
    struct wick__call call = {.op = WICK_OP_triplet_margin_loss, .n_in = 3, .in = {anchor, positive, negative}};
    struct triplet t = {.losses = NULL};
    if (!options) options = &pytorch;
    if (!check_triplet(&call, 0, options)) return NULL;
    wick_scope_begin();
    if (!triplet_of(&t, &call, 0, options)) return wick_scope_end(NULL);
    return wick_scope_end(finish(t.losses, options->reduction, anchor->dtype));
}

/* factor times the derivative of a distance by its difference: sign(v) (|v| / norm)^(p - 1), 0 where v is 0; for
 * an infinite p the sign at the largest, shared out among equals. */
static struct wick_tensor *slope(const struct distance *d, wide factor, double p) {
    wide v = d->apart, size = wick_abs(v), share;
    if (p == 0) p = 2;
    if (isinf(p)) {
        wide most = as_number(wick_eq(size, d->norm), v);
        share = wick_div(wick_mul(wick_sign(v), most), row_sum(most));
    } else if (p == 2) {
        share = wick_div(v, d->norm);
    } else {
        share = wick_mul(wick_sign(v), wick_powf(wick_div(size, d->norm), p - 1));
    }
    wide none = share ? wick_zeros_like(share) : NULL;
    return wick_mul(factor, wick_where(wick_eq_scalar(size, WICK_INT(0)), none, share));
}

struct wick_tensor *wick_triplet_margin_loss_backward(const struct wick_tensor *gradient,
                                                      const struct wick_tensor *anchor,
                                                      const struct wick_tensor *positive,
                                                      const struct wick_tensor *negative,
                                                      const struct wick_triplet_options *options) {
    struct wick__call call = {
        .op = WICK_OP_triplet_margin_loss_backward, .n_in = 4, .in = {gradient, anchor, positive, negative}};
    struct triplet t = {.losses = NULL};
    struct wick_tensor *y, *by_positive, *by_negative;
    if (!options) options = &pytorch;
    if (!check_triplet(&call, 1, options) || !wick__loss_check_gradient(&call, gradient, anchor, options->reduction,
                                                                        anchor->layout.rank - 1, anchor->layout.shape))
        return NULL;
    wick_scope_begin();
    if (!triplet_of(&t, &call, 1, options)) return wick_scope_end(NULL);
    wide factor = wick_mul(row_gradient(gradient, anchor, options->reduction), t.active), far = factor;
    if (options->swap) far = wick_mul(factor, wick_affine(t.nearer, WICK_REAL(-1), WICK_REAL(1)));
    struct wick_tensor *near = slope(&t.positive, factor, options->p), *away = slope(&t.negative, far, options->p);
    struct wick_tensor *of_positive = wick_neg(near), *of_negative = away;
    if (options->swap) {
        wide between = slope(&t.swapped, wick_mul(factor, t.nearer), options->p);
        of_positive = wick_sub(of_positive, between);
        of_negative = wick_add(of_negative, between);
    }
    if (!give(true, wick_sub(near, away), anchor, &y) ||
        !give(options->positive_gradient != NULL, of_positive, anchor, &by_positive) ||
        !give(options->negative_gradient != NULL, of_negative, anchor, &by_negative))
        return wick_scope_end(NULL);
    if (options->positive_gradient) *options->positive_gradient = wick_keep(by_positive);
    if (options->negative_gradient) *options->negative_gradient = wick_keep(by_negative);
    return wick_scope_end(y);
}
