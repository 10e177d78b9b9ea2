/* Placing by id what the sources of an element come to: the sum, the product, the mean, the largest, the smallest. */
#include "ops/ids.h"

#include <math.h>

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

/* What changes nothing. */
static struct wick_number unit_of(enum wick_op op, enum wick_dtype dtype) {
    if (op == WICK_OP_scatter_add || op == WICK_OP_scatter_prod) return WICK_INT(op == WICK_OP_scatter_prod);
    bool most = op == WICK_OP_scatter_amin;
    if (wick_dtype_is_float(dtype)) return WICK_REAL(most ? INFINITY : -INFINITY);
    if (most) return WICK_INT(wick__ids_none(dtype));
    switch (dtype) {
    case WICK_DTYPE_i16: return WICK_INT(INT16_MIN);
    case WICK_DTYPE_i32: return WICK_INT(INT32_MIN);
    case WICK_DTYPE_i64: return WICK_INT(INT64_MIN);
    default: return WICK_INT(0);
    }
}

/* The op on x, or on x with the unit wherever ids lead. */
static struct wick_tensor *reduced(enum wick_op op, const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                   const struct wick_tensor *source, bool include) {
    struct wick__call call = {.op = op, .n_in = 3, .in = {x, ids, source}};
    if (!begin(&call, dim, &dim)) return NULL;
    if (!include) {
        struct wick_tensor *unit = wick_full(wick__device(x), x->dtype, 0, NULL, unit_of(op, x->dtype));
        call.in[0] = wick_scatter(x, dim, ids, wick_broadcast_to(unit, ids->layout.rank, ids->layout.shape));
        if (!call.in[0]) return wick_scope_end(NULL);
    }
    call.p.along.dim = dim;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return wick_scope_end(NULL);
    return wick_scope_end(wick__call_run(&call));
}

struct wick_tensor *wick_scatter_prod(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    return reduced(WICK_OP_scatter_prod, x, dim, ids, source, include_self);
}

struct wick_tensor *wick_scatter_amax(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    return reduced(WICK_OP_scatter_amax, x, dim, ids, source, include_self);
}

struct wick_tensor *wick_scatter_amin(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, bool include_self) {
    return reduced(WICK_OP_scatter_amin, x, dim, ids, source, include_self);
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

/* ---- by kind ---- */

static struct wick_tensor *by_kind(const struct wick__call *call, int dim, const struct wick_tensor *ids,
                                   enum wick_scatter_kind kind, bool include) {
    const struct wick_tensor *x = call->in[0], *source = call->in[2];
    switch (kind) {
    case WICK_SCATTER_SUM: return reduced(WICK_OP_scatter_add, x, dim, ids, source, include);
    case WICK_SCATTER_PROD: return wick_scatter_prod(x, dim, ids, source, include);
    case WICK_SCATTER_MEAN: return wick_scatter_mean(x, dim, ids, source, include);
    case WICK_SCATTER_AMAX: return wick_scatter_amax(x, dim, ids, source, include);
    case WICK_SCATTER_AMIN: return wick_scatter_amin(x, dim, ids, source, include);
    }
    wick__call_fail(call, WICK_INVALID, "kind %d is none of enum wick_scatter_kind", (int)kind);
    return NULL;
}

struct wick_tensor *wick_scatter_reduce(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                        const struct wick_tensor *source, enum wick_scatter_kind kind,
                                        bool include_self) {
    struct wick__call call = {.op = WICK_OP_scatter_reduce, .n_in = 3, .in = {x, ids, source}};
    return wick__call_check(&call) ? by_kind(&call, dim, ids, kind, include_self) : NULL;
}

struct wick_tensor *wick_index_reduce(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source, enum wick_scatter_kind kind,
                                      bool include_self) {
    struct wick__call call = {.op = WICK_OP_index_reduce, .n_in = 3, .in = {x, ids, source}};
    int64_t column[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    int rank = x->layout.rank;
    bool fits = ids->layout.rank == 1 && source->layout.rank == rank;
    for (int d = 0; fits && d < rank; d++) {
        column[d] = d == dim ? ids->layout.shape[0] : 1;
        fits = source->layout.shape[d] == (d == dim ? column[d] : x->layout.shape[d]);
    }
    if (!fits) {
        wick__call_fail(&call, WICK_SHAPE,
                        "ids must have rank 1, and source the shape of x with their count along dim %d", dim);
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *wide = wick_broadcast_to(wick_reshape(ids, rank, column), rank, source->layout.shape);
    return wick_scope_end(wide ? by_kind(&call, dim, wide, kind, include_self) : NULL);
}
