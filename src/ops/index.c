/* Indexing. */
#include "ops/dispatch.h"

static bool check_rank_one(const struct wick__call *call, int i) {
    if (call->in[i]->layout.rank == 1) return true;
    wick__call_fail(call, WICK_SHAPE, "ids have rank %d, not 1", call->in[i]->layout.rank);
    return false;
}

/* ---- picking ---- */

struct wick_tensor *wick_index_select(const struct wick_tensor *x, int dim, const struct wick_tensor *ids) {
    if (wick__is_scalar_line(x, dim)) return wick__end_scalar(wick_index_select(wick__begin_line(x), 0, ids));
    struct wick__call call = {.op = WICK_OP_index_select, .n_in = 2, .in = {x, ids}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim) || !check_rank_one(&call, 1)) return NULL;
    if (!wick__is_plain(x->dtype) && dim == x->layout.rank - 1) {
        wick__call_fail(&call, WICK_UNSUPPORTED, "the last dim of %s consists of blocks, not elements",
                        wick_dtype_name(x->dtype));
        return NULL;
    }
    for (int d = 0; d < x->layout.rank; d++) shape[d] = d == dim ? ids->layout.shape[0] : x->layout.shape[d];
    call.p.along.dim = dim;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_embedding(const struct wick_tensor *weight, const struct wick_tensor *ids) {
    struct wick__call call = {.op = WICK_OP_embedding, .n_in = 2, .in = {weight, ids}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call)) return NULL;
    int rank = ids->layout.rank;
    if (weight->layout.rank != 2 || rank == WICK_MAX_RANK) {
        wick__call_fail(&call, WICK_SHAPE, "weight has rank %d, not 2, or ids more than %d dims", weight->layout.rank,
                        WICK_MAX_RANK - 1);
        return NULL;
    }
    for (int d = 0; d < rank; d++) shape[d] = ids->layout.shape[d];
    shape[rank] = weight->layout.shape[1];
    int64_t count = wick__count(ids);
    wick_scope_begin();
    call.in[1] = wick_reshape(ids, 1, &count);
    struct wick_tensor *y = NULL;
    if (call.in[1] && wick__call_out(&call, weight->dtype, 2, (const int64_t[]){count, shape[rank]}))
        y = wick__call_run(&call);
    return wick_scope_end(y ? wick_reshape(y, rank + 1, shape) : NULL);
}

/* ids (in[1]) has the rank of x (in[0]) and is nowhere larger but along dim. */
static bool check_along(struct wick__call *call, int dim) {
    if (!wick__call_check(call) || !wick__call_dim(call, dim, &dim)) return false;
    const struct wick__layout *x = &call->in[0]->layout, *ids = &call->in[1]->layout;
    bool fits = ids->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++) fits = d == dim || ids->shape[d] <= x->shape[d];
    if (!fits) wick__call_fail(call, WICK_SHAPE, "ids must have the rank of x and be no larger but along dim %d", dim);
    call->p.along.dim = dim;
    return fits;
}

struct wick_tensor *wick_gather(const struct wick_tensor *x, int dim, const struct wick_tensor *ids) {
    if (wick__is_scalar_line(x, dim)) {
        struct wick_tensor *y = wick_gather(wick__begin_line(x), 0, wick__line(ids));
        return ids && ids->layout.rank == 0 ? wick__end_scalar(y) : wick_scope_end(y);
    }
    struct wick__call call = {.op = WICK_OP_gather, .n_in = 2, .in = {x, ids}};
    if (!check_along(&call, dim)) return NULL;
    if (!wick__call_out(&call, x->dtype, ids->layout.rank, ids->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* ---- placing ---- */

static bool check_scatter(struct wick__call *call, int dim) {
    if (!check_along(call, dim)) return false;
    if (wick__shape_equal(&call->in[1]->layout, &call->in[2]->layout)) return true;
    wick__call_fail(call, WICK_SHAPE, "source does not have the shape of ids");
    return false;
}

static struct wick_tensor *scatter(enum wick_op op, const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                   const struct wick_tensor *source) {
    if (wick__is_scalar_line(x, dim))
        return wick__end_scalar(scatter(op, wick__begin_line(x), 0, wick__line(ids), wick__line(source)));
    struct wick__call call = {.op = op, .n_in = 3, .in = {x, ids, source}};
    if (!check_scatter(&call, dim)) return NULL;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_scatter(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                 const struct wick_tensor *source) {
    return scatter(WICK_OP_scatter, x, dim, ids, source);
}

struct wick_tensor *wick_scatter_add(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                     const struct wick_tensor *source) {
    return scatter(WICK_OP_scatter_add, x, dim, ids, source);
}

static enum wick_status scatter_inplace(enum wick_op op, struct wick_tensor *target, int dim,
                                        const struct wick_tensor *ids, const struct wick_tensor *source) {
    if (wick__is_scalar_line(target, dim)) {
        struct wick_tensor *line = wick__begin_line(target);
        enum wick_status status = scatter_inplace(op, line, 0, wick__line(ids), wick__line(source));
        wick_scope_end(NULL);
        return status;
    }
    struct wick__call call = {.op = op, .n_in = 3, .in = {target, ids, source}};
    if (!check_scatter(&call, dim)) return wick__latest();
    if (wick__shares_buffer(target, source) || wick__shares_buffer(target, ids))
        return wick__call_fail(&call, WICK_INVALID, "target shares its elements with ids or source");
    call.out[0] = target;
    call.n_out = 1;
    return wick__call_run_inplace(&call, "target");
}

enum wick_status wick_scatter_inplace(struct wick_tensor *target, int dim, const struct wick_tensor *ids,
                                      const struct wick_tensor *source) {
    return scatter_inplace(WICK_OP_scatter_inplace, target, dim, ids, source);
}

enum wick_status wick_scatter_add_inplace(struct wick_tensor *target, int dim, const struct wick_tensor *ids,
                                          const struct wick_tensor *source) {
    return scatter_inplace(WICK_OP_scatter_add_inplace, target, dim, ids, source);
}

struct wick_tensor *wick_index_add(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                   const struct wick_tensor *source) {
    if (wick__is_scalar_line(x, dim))
        return wick__end_scalar(wick_index_add(wick__begin_line(x), 0, ids, wick__line(source)));
    struct wick__call call = {.op = WICK_OP_index_add, .n_in = 3, .in = {x, ids, source}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim) || !check_rank_one(&call, 1)) return NULL;
    bool fits = source->layout.rank == x->layout.rank;
    for (int d = 0; fits && d < x->layout.rank; d++)
        fits = source->layout.shape[d] == (d == dim ? ids->layout.shape[0] : x->layout.shape[d]);
    if (!fits) {
        wick__call_fail(&call, WICK_SHAPE, "source must have the shape of x, with %lld along dim %d",
                        (long long)ids->layout.shape[0], dim);
        return NULL;
    }
    call.p.along.dim = dim;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* ---- masks ---- */

struct wick_tensor *wick_masked_fill(const struct wick_tensor *x, const struct wick_tensor *mask,
                                     struct wick_number value) {
    struct wick__call call = {.op = WICK_OP_masked_fill, .n_in = 2, .in = {x, mask}, .p.number = {value}};
    struct wick__layout wide;
    if (!wick__call_check(&call)) return NULL;
    if (!wick__layout_expand(&mask->layout, x->layout.rank, x->layout.shape, &wide)) {
        wick__call_fail(&call, WICK_SHAPE, "mask does not broadcast to the shape of x");
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    struct wick_tensor *spread = wick__broadcast(mask, &wide);
    if (!spread) {
        wick_release(call.out[0]);
        return NULL;
    }
    call.in[1] = spread;
    struct wick_tensor *y = wick__call_run(&call);
    wick_release(spread);
    return y;
}

struct wick_tensor *wick_one_hot(const struct wick_tensor *ids, int64_t classes, enum wick_dtype dtype) {
    struct wick__call call = {.op = WICK_OP_one_hot, .n_in = 1, .in = {ids}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call)) return NULL;
    int rank = ids->layout.rank;
    if ((unsigned)dtype >= WICK_DTYPE_COMPUTE_COUNT) {
        wick__call_fail(&call, WICK_DTYPE, "results are of a compute dtype, not %s", wick_dtype_name(dtype));
        return NULL;
    }
    if (classes < 0 || rank == WICK_MAX_RANK) {
        wick__call_fail(&call, WICK_INVALID, "%lld classes, or more than %d dims", (long long)classes,
                        WICK_MAX_RANK - 1);
        return NULL;
    }
    for (int d = 0; d < rank; d++) shape[d] = ids->layout.shape[d];
    shape[rank] = classes;
    if (!wick__call_out(&call, dtype, rank + 1, shape)) return NULL;
    return wick__call_run(&call);
}
