/* Sums, means and maxima of the rows that bags of ids name, and the gradients of picking rows. */
#include "ops/ids.h"

#include <wick/backward.h>

#include <math.h>

/* A call: N ids in B bags, of rows of D elements. */
struct bags {
    const struct wick_tensor *weight; /* [V,D] */
    const struct wick_bag_options *options;
    enum wick_dtype dtype, wide; /* of weight; f32 or f64 */
    int64_t n, bags, d;
    struct wick_tensor *ids;  /* [N], i64 */
    struct wick_tensor *bag;  /* [N], i64: where each goes, or the sentinel */
    struct wick_tensor *rows; /* [N,D] */
};

static const struct wick_bag_options defaults = {.mode = WICK_BAG_SUM};

/* Ids [N] of a tensor of them, with the sentinel in place of `padding` too where it is one. */
static struct wick_tensor *skipping(const struct wick_tensor *ids, bool padded, int64_t padding) {
    int64_t n = wick__count(ids), none = wick__ids_none(ids->dtype);
    struct wick_tensor *list = wick_reshape(ids, 1, &n);
    if (!padded || padding >= none) return list;
    return wick_masked_fill(list, wick_eq_scalar(list, WICK_INT(padding)), WICK_INT(none));
}

/* The same as i64, with the sentinel of that. */
static struct wick_tensor *wide_ids(struct wick_tensor *ids) {
    if (!ids || ids->dtype == WICK_I64) return ids;
    struct wick_tensor *list = wick_cast(ids, WICK_I64);
    return wick_masked_fill(list, wick_eq_scalar(list, WICK_INT(wick__ids_none(ids->dtype))), WICK_INT(INT64_MAX));
}

/* ---- checks ---- */

/* Fills the facts of b. `at` is where weight is among the operands; ids, offsets and weights follow. */
static bool check(const struct wick__call *call, int at, struct bags *b) {
    const struct wick_tensor *weight = call->in[at], *ids = call->in[at + 1], *offsets = call->in[at + 2];
    const struct wick_bag_options *o = b->options;
    if (!wick__call_reserved(call, o->reserved) || !wick__call_check(call)) return false;
    const char *rule = NULL;
    enum wick_status status = WICK_SHAPE;
    if (weight->layout.rank != 2)
        rule = "weight is not [V,D]";
    else if (offsets ? ids->layout.rank != 1 || offsets->layout.rank != 1 : ids->layout.rank != 2)
        rule = "ids must be [N] with offsets [B], or [B,L] without";
    else if (offsets && offsets->layout.shape[0] < (o->ends ? 1 : 0))
        rule = "offsets with ends have one element at least";
    else if (o->weights && !wick__shape_equal(&o->weights->layout, &ids->layout))
        rule = "weights do not have the shape of ids";
    else if (status = WICK_INVALID, (unsigned)o->mode > WICK_BAG_MAX)
        rule = "mode is none of enum wick_bag_mode";
    else if (o->weights && o->mode != WICK_BAG_SUM)
        rule = "weights are for sums";
    else if (status = WICK_RANGE, o->padded && (o->padding < 0 || o->padding >= weight->layout.shape[0]))
        rule = "padding is no row of weight";
    if (rule) wick__call_fail(call, status, "%s", rule);
    b->weight = weight;
    b->dtype = weight->dtype;
    b->wide = weight->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    if (rule) return false;
    b->n = wick__count(ids);
    b->d = weight->layout.shape[1];
    b->bags = offsets ? offsets->layout.shape[0] - o->ends : ids->layout.shape[0];
    return true;
}

/* ---- where ids go ---- */

static struct wick_tensor *column(const struct wick_tensor *x, int64_t n) {
    return wick_reshape(x, 2, (const int64_t[]){n, 1});
}

/* The bag of each place, i64 [N]. */
static struct wick_tensor *bag_of(const struct bags *b) {
    const struct wick_tensor *offsets = b->options->offsets;
    struct wick_device *device = wick__device(b->weight);
    if (!offsets) {
        struct wick_tensor *each = wick_arange(device, WICK_I64, WICK_INT(0), WICK_INT(b->bags), WICK_INT(1));
        const int64_t shape[2] = {b->bags, b->bags > 0 ? b->n / b->bags : 0};
        return wick_reshape(wick_broadcast_to(column(each, b->bags), 2, shape), 1, &b->n);
    }
    struct wick_tensor *starts = wick_cast(wick_narrow(offsets, 0, 0, b->bags), WICK_I64);
    struct wick_tensor *places = wick_arange(device, WICK_I64, WICK_INT(0), WICK_INT(b->n), WICK_INT(1));
    return wick_add_scalar(wick_searchsorted(starts, places, true), WICK_INT(-1));
}

/* Begins a scope and finds rows and bags. */
static bool begin(const struct wick_tensor *ids, struct bags *b) {
    wick_scope_begin();
    b->ids = wide_ids(skipping(ids, b->options->padded, b->options->padding));
    struct wick_tensor *none = wick_eq_scalar(b->ids, WICK_INT(INT64_MAX));
    b->bag = wick_masked_fill(bag_of(b), none, WICK_INT(INT64_MAX));
    b->rows = wick_index_select(b->weight, 0, b->ids);
    return b->bag && b->rows;
}

/* The sums [n,D] of those rows [N,D] that have one id; ids [N] are below n. */
static struct wick_tensor *sums_by(const struct wick_tensor *ids, const struct wick_tensor *rows, int64_t n) {
    if (!ids || !rows) return NULL;
    struct wick_tensor *zero = wick_zeros(wick__device(rows), rows->dtype, 0, NULL);
    const int64_t shape[2] = {n, rows->layout.shape[1]};
    return wick_index_add(wick_broadcast_to(zero, 2, shape), 0, ids, rows);
}

/* The weights as [N,1], in f32 or f64. */
static struct wick_tensor *factors(const struct bags *b) {
    return wick_cast(column(b->options->weights, b->n), b->wide);
}

/* How many ids each bag has, at least 1: [B,1]. */
static struct wick_tensor *counts_of(const struct bags *b) {
    struct wick_device *device = wick__device(b->weight);
    struct wick_tensor *ones = wick_ones(device, WICK_I64, 1, &b->n);
    struct wick_tensor *counts = wick_index_add(wick_zeros(device, WICK_I64, 1, &b->bags), 0, b->bag, ones);
    return wick_cast(column(wick_maximum_scalar(counts, WICK_INT(1)), b->bags), b->wide);
}

/* The bag of each element of rows, [N,D]. */
static struct wick_tensor *spread(const struct bags *b) {
    return wick_broadcast_to(column(b->bag, b->n), 2, (const int64_t[]){b->n, b->d});
}

static struct wick_tensor *largest(const struct bags *b) {
    struct wick_tensor *zeros = wick_zeros(wick__device(b->weight), b->dtype, 2, (const int64_t[]){b->bags, b->d});
    return wick_scatter_amax(zeros, 0, spread(b), b->rows, false);
}

static struct wick_tensor *joined(const struct bags *b) {
    if (b->options->mode == WICK_BAG_MAX) return largest(b);
    if (b->options->mode == WICK_BAG_MEAN)
        return wick_cast(wick_div(sums_by(b->bag, wick_cast(b->rows, b->wide), b->bags), counts_of(b)), b->dtype);
    if (!b->options->weights) return sums_by(b->bag, b->rows, b->bags);
    return wick_cast(sums_by(b->bag, wick_mul(wick_cast(b->rows, b->wide), factors(b)), b->bags), b->dtype);
}

struct wick_tensor *wick_embedding_bag(const struct wick_tensor *weight, const struct wick_tensor *ids,
                                       const struct wick_bag_options *options) {
    struct bags b = {.options = options ? options : &defaults};
    struct wick__call call = {
        .op = WICK_OP_embedding_bag, .n_in = 4, .in = {weight, ids, b.options->offsets, b.options->weights}};
    if (!check(&call, 0, &b)) return NULL;
    return wick_scope_end(begin(ids, &b) ? joined(&b) : NULL);
}

/* ---- gradients ---- */

static struct wick_tensor *back(const struct bags *b, const struct wick_tensor *rows) {
    return wick_cast(sums_by(b->ids, rows, b->weight->layout.shape[0]), b->dtype);
}

/* Each element's gradient goes to the row of the first id that has the maximum. */
static struct wick_tensor *largest_back(const struct bags *b, const struct wick_tensor *gradient) {
    const int64_t all = b->bags * b->d, shape[2] = {b->bags, b->d};
    struct wick_device *device = wick__device(gradient);
    struct wick_tensor *most = wick_index_select(largest(b), 0, b->bag);
    struct wick_tensor *other = wick_logical_not(wick_logical_or(wick_eq(b->rows, most), wick_isnan(b->rows)));
    struct wick_tensor *places = wick_arange(device, WICK_I64, WICK_INT(0), WICK_INT(b->n), WICK_INT(1));
    places = wick_broadcast_to(column(places, b->n), 2, (const int64_t[]){b->n, b->d});
    places = wick_masked_fill(places, other, WICK_INT(INT64_MAX));
    struct wick_tensor *none = wick_full(device, WICK_I64, 2, shape, WICK_INT(INT64_MAX));
    struct wick_tensor *first = wick_scatter_amin(none, 0, spread(b), places, true);
    struct wick_tensor *list = first ? wick_reshape(first, 1, &all) : NULL;
    struct wick_tensor *ids = wick_index_select(b->ids, 0, list);
    ids = wick_masked_fill(ids, wick_eq_scalar(list, WICK_INT(INT64_MAX)), WICK_INT(INT64_MAX));
    struct wick_tensor *zeros = wick_zeros(device, b->dtype, 2, b->weight->layout.shape);
    return ids ? wick_scatter_add(zeros, 0, wick_reshape(ids, 2, shape), gradient) : NULL;
}

/* The sum of gradient times row, in the shape of the weights. */
static struct wick_tensor *weights_back(const struct bags *b, const struct wick_tensor *rows) {
    const struct wick__layout *layout = &b->options->weights->layout;
    struct wick_tensor *products = wick_mul(rows, wick_cast(b->rows, b->wide));
    struct wick_tensor *y = wick_cast(wick_sum(products, WICK_DIMS(1), false), b->dtype);
    return y ? wick_reshape(y, layout->rank, layout->shape) : NULL;
}

struct wick_tensor *wick_embedding_bag_backward(const struct wick_tensor *gradient, const struct wick_tensor *weight,
                                                const struct wick_tensor *ids, const struct wick_bag_options *options,
                                                struct wick_tensor **weights_gradient) {
    struct bags b = {.options = options ? options : &defaults};
    struct wick__call call = {.op = WICK_OP_embedding_bag_backward,
                              .n_in = 5,
                              .in = {gradient, weight, ids, b.options->offsets, b.options->weights}};
    struct wick_tensor *y = NULL, *of_weights = NULL;
    if (!check(&call, 1, &b)) return NULL;
    if (weights_gradient && !b.options->weights) {
        wick__call_fail(&call, WICK_INVALID, "the gradient of weights is wanted, and there are none");
        return NULL;
    }
    if (gradient->layout.rank != 2 || gradient->layout.shape[0] != b.bags || gradient->layout.shape[1] != b.d) {
        wick__call_fail(&call, WICK_SHAPE, "gradient is not [%lld,%lld]", (long long)b.bags, (long long)b.d);
        return NULL;
    }
    if (!begin(ids, &b)) return wick_scope_end(NULL);
    if (b.options->mode == WICK_BAG_MAX) return wick_scope_end(largest_back(&b, gradient));
    bool plain = b.options->mode == WICK_BAG_SUM && !b.options->weights;
    const struct wick_tensor *g = plain ? gradient : wick_cast(gradient, b.wide);
    if (b.options->mode == WICK_BAG_MEAN) g = wick_div(g, counts_of(&b));
    struct wick_tensor *rows = wick_index_select(g, 0, b.bag);
    y = back(&b, b.options->weights ? wick_mul(rows, factors(&b)) : rows);
    if (y && weights_gradient) {
        of_weights = weights_back(&b, rows);
        if (!of_weights) return wick_scope_end(NULL);
        *weights_gradient = wick_keep(of_weights);
    }
    return wick_scope_end(y);
}

struct wick_tensor *wick_embedding_backward(const struct wick_tensor *gradient, const struct wick_tensor *ids,
                                            int64_t rows, int64_t padding) {
    struct wick__call call = {.op = WICK_OP_embedding_backward, .n_in = 2, .in = {gradient, ids}};
    if (!wick__call_check(&call)) return NULL;
    int rank = ids->layout.rank;
    bool fits = gradient->layout.rank == rank + 1;
    for (int d = 0; fits && d < rank; d++) fits = gradient->layout.shape[d] == ids->layout.shape[d];
    if (!fits || rows < 0) {
        wick__call_fail(&call, fits ? WICK_INVALID : WICK_SHAPE,
                        "gradient must have the shape of ids and one more dim, and rows, %lld, not be negative",
                        (long long)rows);
        return NULL;
    }
    const int64_t from[2] = {wick__count(ids), gradient->layout.shape[rank]};
    wick_scope_begin();
    struct wick_tensor *list = skipping(ids, padding >= 0, padding);
    return wick_scope_end(list ? sums_by(list, wick_reshape(gradient, 2, from), rows) : NULL);
}
