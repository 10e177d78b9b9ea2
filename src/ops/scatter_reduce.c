/* Placing by id what the sources of an element come to: the largest, the smallest, the mean. */
#include "ops/dispatch.h"

/* Checks as scatter's, and begins a scope. */
static bool begin(const struct wick__call *call, int dim, int *along) {
    if (!wick__call_check(call) || !wick__call_dim(call, dim, along)) return false;
    const struct wick__layout *x = &call->in[0]->layout, *ids = &call->in[1]->layout;
    bool fits = ids->rank == x->rank && wick__shape_equal(ids, &call->in[2]->layout);
    for (int d = 0; fits && d < x->rank; d++) fits = d == *along || ids->shape[d] <= x->shape[d];
    if (fits)
        wick_scope_begin();
    else
        wick__call_fail(call, WICK_SHAPE,
                        "ids must have the rank of x and be no larger but along dim %d, and source the shape of ids",
                        *along);
    return fits;
}

/* Sources in ascending order: the last of an element stays in scatter, and NaN comes last. For the smallest, floats
 * change their sign, and integers their order. */
static struct wick_tensor *extreme(const struct wick__call *call, int dim, bool least, bool include) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1], *source = call->in[2];
    if (!begin(call, dim, &dim)) return NULL;
    bool turned = least && wick_dtype_is_float(x->dtype), down = least && !turned;
    struct wick_tensor *order = NULL, *sorted = wick_sort(turned ? wick_neg(source) : source, dim, down, &order);
    const struct wick_tensor *base = turned ? wick_neg(x) : x;
    struct wick_tensor *y = sorted ? wick_scatter(base, dim, wick_gather(ids, dim, order), sorted) : NULL;
    if (include) y = (down ? wick_minimum : wick_maximum)(base, y);
    return wick_scope_end(turned ? wick_neg(y) : y);
}

struct wick_tensor *wick_scatter_amax(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    struct wick__call call = {.op = WICK_OP_scatter_amax, .n_in = 3, .in = {x, ids, source}};
    return extreme(&call, dim, false, include_self);
}

struct wick_tensor *wick_scatter_amin(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    struct wick__call call = {.op = WICK_OP_scatter_amin, .n_in = 3, .in = {x, ids, source}};
    return extreme(&call, dim, true, include_self);
}

struct wick_tensor *wick_scatter_mean(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    struct wick__call call = {.op = WICK_OP_scatter_mean, .n_in = 3, .in = {x, ids, source}};
    if (!begin(&call, dim, &dim)) return NULL;
    enum wick_dtype wide = x->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    struct wick_tensor *own = wick_cast(x, wide), *added = wick_cast(source, wide);
    struct wick_tensor *none = own ? wick_zeros_like(own) : NULL, *ones = added ? wick_ones_like(added) : NULL;
    struct wick_tensor *counts = wick_scatter_add(none, dim, ids, ones);
    struct wick_tensor *sums = wick_scatter_add(include_self ? own : none, dim, ids, added);
    struct wick_tensor *all = include_self ? wick_add_scalar(counts, WICK_INT(1)) : counts;
    struct wick_tensor *y = wick_where(wick_gt_scalar(counts, WICK_INT(0)), wick_div(sums, all), own);
    return wick_scope_end(wick_cast(y, x->dtype));
}
