/* Indexing by several tensors of ids, by masks and by what elements are: made
 * of picking, placing, sorting and running sums. Where the size of a result
 * depends on elements, the host reads it, and so waits for the device. */
#include "ops/ids.h"

#include <string.h>

/* ---- what those with results of such a size share ---- */

/* Whether the device may wait: not while a graph records it. */
static bool may_wait(const struct wick__call *call) {
    return wick__call_check(call) && wick__graph_refuse(wick__device(call->in[0]), wick_op_name(call->op)) == WICK_OK;
}

/* An element of a tensor of i64 and rank 1. */
static bool read_element(const struct wick_tensor *x, int64_t i, int64_t *value) {
    struct wick_tensor *one = x ? wick_narrow(x, 0, i, 1) : NULL;
    return one && wick__fetch(one, value, sizeof *value) == WICK_OK;
}

static struct wick_tensor *flat(const struct wick_tensor *x) {
    return x ? wick_reshape(x, 1, (const int64_t[]){wick__count(x)}) : NULL;
}

static struct wick_tensor *count_up(struct wick_device *device, int64_t n) {
    return wick_arange(device, WICK_I64, WICK_INT(0), WICK_INT(n), WICK_INT(1));
}

/* The positions, i64, of the elements of flags [N], u8, that are not 0: each
 * goes to the place that the running sum of flags gives it, and ids of the
 * others are sentinels. */
static struct wick_tensor *positions_of(const struct wick_tensor *flags) {
    int64_t n = flags ? wick__count(flags) : 0, count = 0;
    if (!flags) return NULL;
    struct wick_device *device = wick__device(flags);
    struct wick_tensor *sums = wick_cumsum(wick_cast(flags, WICK_I64), 0);
    if (!sums || (n > 0 && !read_element(sums, n - 1, &count))) return NULL;
    struct wick_tensor *places = wick_add_scalar(sums, WICK_INT(-1));
    wick__scope_drop(sums);
    struct wick_tensor *ids = wick_masked_fill(places, wick_logical_not(flags), WICK_INT(INT64_MAX));
    wick__scope_drop(places);
    return wick_scatter(wick_zeros(device, WICK_I64, 1, &count), 0, ids, count_up(device, n));
}

/* ---- by what elements are ---- */

struct wick_tensor *wick_nonzero(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_nonzero, .n_in = 1, .in = {x}};
    if (!may_wait(&call)) return NULL;
    const struct wick__layout *layout = &x->layout;
    struct wick_tensor *columns[WICK_MAX_RANK] = {NULL};
    wick_scope_begin();
    struct wick_tensor *rest = positions_of(flat(wick_ne_scalar(x, WICK_INT(0))));
    if (!rest) return wick_scope_end(NULL);
    if (layout->rank == 0)
        return wick_scope_end(wick_zeros(wick__device(x), WICK_I64, 2, (const int64_t[]){wick__count(rest), 0}));
    for (int d = layout->rank - 1; d > 0; d--) {
        struct wick_number size = WICK_INT(layout->shape[d] > 0 ? layout->shape[d] : 1);
        struct wick_tensor *quotient = wick_div_scalar(rest, size);
        columns[d] = wick_sub(rest, wick_mul_scalar(quotient, size));
        rest = quotient;
    }
    columns[0] = rest;
    for (int d = 0; d < layout->rank; d++)
        if (!columns[d]) return wick_scope_end(NULL);
    return wick_scope_end(wick_stack(layout->rank, columns, 1));
}

struct wick_tensor *wick_masked_select(const struct wick_tensor *x, const struct wick_tensor *mask) {
    struct wick__call call = {.op = WICK_OP_masked_select, .n_in = 2, .in = {x, mask}};
    int64_t shape[WICK_MAX_RANK];
    int rank;
    if (!may_wait(&call)) return NULL;
    if (!wick__shape_broadcast(&x->layout, &mask->layout, &rank, shape)) {
        wick__call_fail(&call, WICK_SHAPE, "shapes do not broadcast: sizes must be equal, 1 or missing");
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *at = positions_of(flat(wick_broadcast_to(wick_ne_scalar(mask, WICK_INT(0)), rank, shape)));
    return wick_scope_end(at ? wick_index_select(flat(wick_broadcast_to(x, rank, shape)), 0, at) : NULL);
}

/* Where the runs of equal elements of sorted [N] begin. */
static struct wick_tensor *run_starts(const struct wick_tensor *sorted, int64_t n) {
    struct wick_tensor *flags[2] = {wick_ones(wick__device(sorted), WICK_U8, 1, (const int64_t[]){1}), NULL};
    flags[1] = wick_ne(wick_narrow(sorted, 0, 1, n - 1), wick_narrow(sorted, 0, 0, n - 1));
    return flags[0] && flags[1] ? wick_cat(2, flags, 0) : NULL;
}

/* What lies between starts [M] and the next, the last of which is n. */
static struct wick_tensor *gaps(const struct wick_tensor *starts, int64_t n) {
    int64_t m = wick__count(starts);
    struct wick_tensor *next[2] = {
        wick_narrow(starts, 0, 1, m - 1),
        wick_full(wick__device(starts), WICK_I64, 1, (const int64_t[]){1}, WICK_INT(n)),
    };
    return next[0] && next[1] ? wick_sub(wick_cat(2, next, 0), starts) : NULL;
}

struct wick_tensor *wick_unique(const struct wick_tensor *x, struct wick_tensor **inverse,
                                struct wick_tensor **counts) {
    struct wick__call call = {.op = WICK_OP_unique, .n_in = 1, .in = {x}};
    if (!may_wait(&call)) return NULL;
    struct wick_device *device = wick__device(x);
    int64_t n = wick__count(x), none = 0;
    struct wick_tensor *order = NULL, *y = NULL, *rank = NULL, *size = NULL;
    wick_scope_begin();
    if (n == 0) {
        y = wick_empty(device, x->dtype, 1, &none);
        size = wick_empty(device, WICK_I64, 1, &none);
        rank = wick_empty(device, WICK_I64, x->layout.rank, x->layout.shape);
    } else {
        struct wick_tensor *sorted = wick_sort(flat(x), 0, false, &order);
        struct wick_tensor *flags = sorted ? run_starts(sorted, n) : NULL, *starts = positions_of(flags);
        y = wick_index_select(sorted, 0, starts);
        if (y && inverse) {
            rank = wick_add_scalar(wick_cumsum(wick_cast(flags, WICK_I64), 0), WICK_INT(-1));
            rank = wick_scatter(wick_zeros(device, WICK_I64, 1, &n), 0, order, rank);
            rank = rank ? wick_reshape(rank, x->layout.rank, x->layout.shape) : NULL;
        }
        if (y && counts) size = gaps(starts, n);
    }
    if (!y || (inverse && !rank) || (counts && !size)) return wick_scope_end(NULL);
    if (inverse) *inverse = wick_keep(rank);
    if (counts) *counts = wick_keep(size);
    return wick_scope_end(y);
}

struct wick_tensor *wick_bincount(const struct wick_tensor *x, const struct wick_tensor *weights, int64_t least) {
    struct wick__call call = {.op = WICK_OP_bincount, .n_in = 2, .in = {x, weights}};
    int64_t low = 0, high = -1;
    if (!may_wait(&call)) return NULL;
    if (x->layout.rank != 1 || (weights && !wick__shape_equal(&weights->layout, &x->layout))) {
        wick__call_fail(&call, WICK_SHAPE, "x has rank %d, not 1, or weights have another shape", x->layout.rank);
        return NULL;
    }
    if (least < 0) {
        wick__call_fail(&call, WICK_INVALID, "the least size is %lld", (long long)least);
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *ids = wick_cast(x, WICK_I64), *added = NULL;
    int64_t n = wick__count(x);
    if (n > 0) {
        struct wick_tensor *bounds[2] = {wick_min(ids, WICK_ALL_DIMS, true), wick_max(ids, WICK_ALL_DIMS, true)};
        if (!read_element(bounds[0], 0, &low) || !read_element(bounds[1], 0, &high)) return wick_scope_end(NULL);
    }
    if (low < 0 || high == INT64_MAX) {
        wick__call_fail(&call, WICK_RANGE, "x has an element %lld, which nothing counts",
                        (long long)(low < 0 ? low : high));
        return wick_scope_end(NULL);
    }
    int64_t size = wick__max(high + 1, least);
    enum wick_dtype dtype = weights ? weights->dtype : WICK_I64;
    added = weights ? wick_contiguous(weights) : wick_ones(wick__device(x), dtype, 1, &n);
    return wick_scope_end(wick_scatter_add(wick_zeros(wick__device(x), dtype, 1, &size), 0, ids, added));
}

/* ---- by several tensors of ids ---- */

/* A call that indexes the first n dims of x: the result's shape is that of ids,
 * broadcast, and then the other dims. */
struct several {
    const struct wick_tensor *x;
    int n;
    struct wick__layout ids, out; /* shapes alone */
    int64_t lead, inner;          /* elements of the first n dims, and of the others */
};

/* Checks an operand of ids and adds it to the shape. */
static bool add_ids(enum wick_op op, struct several *s, const struct wick_tensor *ids) {
    struct wick__call one = {.op = op, .n_in = 2, .in = {s->x, ids}};
    struct wick__layout sum = {0};
    if (op == WICK_OP_index_put) {
        one.n_in = 3;
        one.in[2] = s->x;
    }
    if (!wick__call_check(&one)) return false;
    if (!wick__shape_broadcast(&s->ids, &ids->layout, &sum.rank, sum.shape)) {
        wick__call_fail(&one, WICK_SHAPE, "ids do not broadcast to one shape");
        return false;
    }
    s->ids = sum;
    return true;
}

static bool check_several(const struct wick__call *call, int n, struct wick_tensor *const *ids, struct several *s) {
    const struct wick_tensor *x = call->in[0];
    *s = (struct several){.x = x, .n = n, .lead = 1, .inner = 1};
    if (!wick__call_check(call)) return false;
    if (n < 1 || n > x->layout.rank) {
        wick__call_fail(call, WICK_INVALID, "ids for %d dims, x has %d", n, x->layout.rank);
        return false;
    }
    for (int k = 0; k < n; k++)
        if (!add_ids(call->op, s, ids[k])) return false;
    s->out = s->ids;
    for (int d = 0; d < x->layout.rank; d++) {
        if (d < n) {
            s->lead *= x->layout.shape[d];
        } else if (s->out.rank < WICK_MAX_RANK) {
            s->inner *= x->layout.shape[d];
            s->out.shape[s->out.rank++] = x->layout.shape[d];
        } else {
            wick__call_fail(call, WICK_SHAPE, "the result would have more than %d dims", WICK_MAX_RANK);
            return false;
        }
    }
    return wick__layout_new(&s->out, wick_op_name(call->op), s->out.rank, s->out.shape) == WICK_OK;
}

/* The ids [K] of the first n dims of x as one. Picking each out of 0 .. size-1
 * finds those out of range. */
static struct wick_tensor *one_id(const struct several *s, struct wick_tensor *const *ids) {
    struct wick_device *device = wick__device(s->x);
    struct wick_tensor *sum = NULL, *none = NULL;
    for (int k = 0; k < s->n; k++) {
        const struct wick__layout *layout = &ids[k]->layout;
        int64_t size = s->x->layout.shape[k];
        struct wick_tensor *good = wick_index_select(count_up(device, size), 0, flat(ids[k]));
        if (!good) return NULL;
        good = wick_reshape(good, layout->rank, layout->shape);
        struct wick_tensor *hidden = wick_eq_scalar(ids[k], WICK_INT(wick__ids_none(ids[k]->dtype)));
        sum = k ? wick_add(wick_mul_scalar(sum, WICK_INT(size)), good) : good;
        none = k ? wick_logical_or(none, hidden) : hidden;
        if (!sum || !none) return NULL;
    }
    return flat(wick_masked_fill(sum, none, WICK_INT(INT64_MAX)));
}

struct wick_tensor *wick_index(const struct wick_tensor *x, int n, struct wick_tensor *const *ids) {
    struct wick__call call = {.op = WICK_OP_index, .n_in = 2, .in = {x, ids ? ids[0] : NULL}};
    struct several s;
    if (!check_several(&call, n, ids, &s)) return NULL;
    wick_scope_begin();
    struct wick_tensor *at = one_id(&s, ids);
    struct wick_tensor *y = at ? wick_reshape(x, 2, (const int64_t[]){s.lead, s.inner}) : NULL;
    y = wick_index_select(y, 0, at);
    return wick_scope_end(y ? wick_reshape(y, s.out.rank, s.out.shape) : NULL);
}

struct wick_tensor *wick_index_put(const struct wick_tensor *x, int n, struct wick_tensor *const *ids,
                                   const struct wick_tensor *values, bool accumulate) {
    struct wick__call call = {.op = WICK_OP_index_put, .n_in = 3, .in = {x, ids ? ids[0] : NULL, values}};
    struct several s;
    struct wick__layout wide;
    if (!check_several(&call, n, ids, &s)) return NULL;
    if (!wick__layout_expand(&values->layout, s.out.rank, s.out.shape, &wide)) {
        wick__call_fail(&call, WICK_SHAPE, "values do not broadcast to the shape of what ids pick");
        return NULL;
    }
    int64_t count = wick__layout_count(&s.ids);
    const int64_t all[2] = {s.lead, s.inner}, some[2] = {count, s.inner}, column[2] = {count, 1};
    wick_scope_begin();
    struct wick_tensor *at = one_id(&s, ids);
    struct wick_tensor *target = at ? wick_reshape(x, 2, all) : NULL;
    struct wick_tensor *source =
        target ? wick_reshape(wick_broadcast_to(values, s.out.rank, s.out.shape), 2, some) : NULL;
    struct wick_tensor *y = NULL;
    if (source && accumulate)
        y = wick_index_add(target, 0, at, source);
    else if (source)
        y = wick_scatter(target, 0, wick_broadcast_to(wick_reshape(at, 2, column), 2, some), source);
    return wick_scope_end(y ? wick_reshape(y, x->layout.rank, x->layout.shape) : NULL);
}

struct wick_tensor *wick_index_copy(const struct wick_tensor *x, int dim, const struct wick_tensor *ids,
                                    const struct wick_tensor *source) {
    struct wick__call call = {.op = WICK_OP_index_copy, .n_in = 3, .in = {x, ids, source}};
    int64_t column[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    int rank = x->layout.rank;
    bool fits = ids->layout.rank == 1 && source->layout.rank == rank;
    for (int d = 0; fits && d < rank; d++) {
        fits = source->layout.shape[d] == (d == dim ? ids->layout.shape[0] : x->layout.shape[d]);
        column[d] = d == dim ? ids->layout.shape[0] : 1;
    }
    if (!fits) {
        wick__call_fail(&call, WICK_SHAPE,
                        "ids must have rank 1, and source the shape of x with "
                        "their count along dim %d",
                        dim);
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *wide = wick_broadcast_to(wick_reshape(ids, rank, column), rank, source->layout.shape);
    return wick_scope_end(wick_scatter(x, dim, wide, source));
}

/* ---- by order ---- */

static bool check_search(const struct wick__call *call) {
    const struct wick__layout *s = &call->in[0]->layout, *v = &call->in[1]->layout;
    bool fits = s->rank == 1 || (s->rank > 1 && s->rank == v->rank);
    for (int d = 0; fits && d < s->rank - 1; d++) fits = s->shape[d] == v->shape[d];
    if (!fits)
        wick__call_fail(call, WICK_SHAPE,
                        "sequence must have rank 1, or the shape of values but for "
                        "the last dim");
    return fits;
}

struct wick_tensor *wick_searchsorted(const struct wick_tensor *sequence, const struct wick_tensor *values,
                                      bool right) {
    struct wick__call call = {.op = WICK_OP_searchsorted, .n_in = 2, .in = {sequence, values}};
    if (!wick__call_check(&call) || !check_search(&call)) return NULL;
    call.p.along.start = right;
    if (!wick__call_out(&call, WICK_I64, values->layout.rank, values->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_repeat_interleave(const struct wick_tensor *x, const struct wick_tensor *repeats, int dim) {
    struct wick__call call = {.op = WICK_OP_repeat_interleave, .n_in = 2, .in = {x, repeats}};
    int64_t total = 0, low = 0;
    if (!may_wait(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    int64_t n = x->layout.shape[dim];
    bool one = repeats->layout.rank == 0;
    if (!one && (repeats->layout.rank != 1 || repeats->layout.shape[0] != n)) {
        wick__call_fail(&call, WICK_SHAPE, "repeats is neither a scalar nor [%lld]", (long long)n);
        return NULL;
    }
    wick_scope_begin();
    struct wick_tensor *times = wick_broadcast_to(wick_cast(repeats, WICK_I64), 1, &n);
    struct wick_tensor *ends = wick_cumsum(times, 0);
    if (!ends) return wick_scope_end(NULL);
    if (n > 0 && (!read_element(wick_min(times, WICK_ALL_DIMS, true), 0, &low) || !read_element(ends, n - 1, &total)))
        return wick_scope_end(NULL);
    if (low < 0 || total < 0) {
        wick__call_fail(&call, WICK_INVALID, "%lld repeats", (long long)(low < 0 ? low : total));
        return wick_scope_end(NULL);
    }
    struct wick_tensor *from = wick_searchsorted(ends, count_up(wick__device(x), total), true);
    return wick_scope_end(wick_index_select(x, dim, from));
}
