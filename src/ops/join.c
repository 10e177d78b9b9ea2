/* Copies that join, repeat, turn and cut tensors. */
#include "ops/dispatch.h"

/* Copies x into `to`, a view of a result or of a caller's tensor, as a part of the call. Releases `to`. */
static enum wick_status place(const struct wick__call *whole, const struct wick_tensor *x, struct wick_tensor *to) {
    struct wick__call call = {.op = whole->op, .n_in = 1, .in = {x}, .n_out = 1, .out = {to}};
    enum wick_status status = to ? wick__call_kernel(&call) : WICK_MEMORY;
    wick_release(to);
    return status;
}

/* Positions start .. start+length-1 of dim `dim` of x, in no scope. */
static struct wick_tensor *part(const struct wick_tensor *x, int dim, int64_t start, int64_t length) {
    struct wick__layout layout = x->layout;
    layout.shape[dim] = length;
    if (wick__layout_count(&layout) == 0)
        layout.offset = 0;
    else
        layout.offset += start * layout.stride[dim];
    return wick__tensor_view(x, &layout);
}

/* ---- joining ---- */

/* Checks tensors of equal shapes, but for dim `but` (-1: no exception), and of one dtype and device. */
static bool check_list(enum wick_op op, int n, struct wick_tensor *const *tensors, int but) {
    for (int i = 1; i < n; i++) {
        struct wick__call call = {.op = op, .n_in = 2, .in = {tensors[0], tensors[i]}};
        if (!wick__call_check(&call)) return false;
        bool same = tensors[i]->layout.rank == tensors[0]->layout.rank;
        for (int d = 0; same && d < tensors[0]->layout.rank; d++)
            same = d == but || tensors[i]->layout.shape[d] == tensors[0]->layout.shape[d];
        if (!same) {
            wick__call_fail(&call, WICK_SHAPE, "i = %d: shapes differ%s", i, but < 0 ? "" : " in another dim");
            return false;
        }
    }
    return true;
}

/* The first of a list, checked; false after a failure is recorded. */
static bool check_first(struct wick__call *call, int n, struct wick_tensor *const *tensors) {
    if (n < 1 || !tensors) {
        wick__fail(WICK_INVALID, "%s: %d tensors%s", wick_op_name(call->op), n, tensors ? "" : " at NULL");
        return false;
    }
    call->n_in = 1;
    call->in[0] = tensors[0];
    return wick__call_check(call);
}

/* Part i of a stack, without the dim of size 1. */
static struct wick_tensor *layer(const struct wick_tensor *y, int dim, int64_t i) {
    struct wick_tensor *to = part(y, dim, i, 1);
    if (!to) return NULL;
    to->layout.rank--;
    for (int d = dim; d < to->layout.rank; d++) {
        to->layout.shape[d] = to->layout.shape[d + 1];
        to->layout.stride[d] = to->layout.stride[d + 1];
    }
    return to;
}

static enum wick_status run_join(const struct wick__call *call) {
    int dim = call->p.along.dim;
    int64_t begin = 0;
    for (int i = 0; i < call->n_list; i++) {
        const struct wick_tensor *x = call->list[i];
        int64_t length = call->op == WICK_OP_stack ? 1 : x->layout.shape[dim];
        WICK__TRY(place(
            call, x, call->op == WICK_OP_stack ? layer(call->out[0], dim, i) : part(call->out[0], dim, begin, length)));
        begin += length;
    }
    return WICK_OK;
}

/* Runs a call that was checked and has its result. */
static struct wick_tensor *join(struct wick__call *call, int n, struct wick_tensor *const *tensors, int dim) {
    call->n_list = n;
    call->list = tensors;
    call->p.along.dim = dim;
    return wick__call_run(call);
}

struct wick_tensor *wick_cat(int n, struct wick_tensor *const *tensors, int dim) {
    struct wick__call call = {.op = WICK_OP_cat, .in_parts = run_join};
    int64_t shape[WICK_MAX_RANK], total = 0;
    if (!check_first(&call, n, tensors) || !wick__call_dim(&call, dim, &dim) ||
        !check_list(WICK_OP_cat, n, tensors, dim))
        return NULL;
    for (int i = 0; i < n; i++)
        if (!wick__add(total, tensors[i]->layout.shape[dim], &total)) {
            wick__call_fail(&call, WICK_OVERFLOW, "the sizes along dim %d add up to more than 64 bits", dim);
            return NULL;
        }
    for (int d = 0; d < tensors[0]->layout.rank; d++) shape[d] = d == dim ? total : tensors[0]->layout.shape[d];
    if (!wick__call_out(&call, tensors[0]->dtype, tensors[0]->layout.rank, shape)) return NULL;
    return join(&call, n, tensors, dim);
}

struct wick_tensor *wick_stack(int n, struct wick_tensor *const *tensors, int dim) {
    struct wick__call call = {.op = WICK_OP_stack, .in_parts = run_join};
    int64_t shape[WICK_MAX_RANK];
    if (!check_first(&call, n, tensors)) return NULL;
    int rank = tensors[0]->layout.rank, at = dim < 0 ? dim + rank + 1 : dim;
    if (rank == WICK_MAX_RANK) {
        wick__call_fail(&call, WICK_SHAPE, "the result would have more than %d dims", WICK_MAX_RANK);
        return NULL;
    }
    if (at < 0 || at > rank) {
        wick__call_fail(&call, WICK_RANGE, "dim %d is not in %d..%d", dim, -rank - 1, rank);
        return NULL;
    }
    if (!check_list(WICK_OP_stack, n, tensors, -1)) return NULL;
    for (int d = 0; d <= rank; d++) shape[d] = d == at ? n : tensors[0]->layout.shape[d < at ? d : d - 1];
    if (!wick__call_out(&call, tensors[0]->dtype, rank + 1, shape)) return NULL;
    return join(&call, n, tensors, at);
}

/* ---- writing a slice ---- */

/* Checks x, source, and that source fits at `start` of dim. */
static bool check_slice(const struct wick__call *call, int dim, int64_t start, int *resolved) {
    if (!wick__call_check(call) || !wick__call_dim(call, dim, resolved)) return false;
    const struct wick__layout *x = &call->in[0]->layout, *source = &call->in[1]->layout;
    bool fits = x->rank == source->rank;
    for (int d = 0; fits && d < x->rank; d++) fits = d == *resolved || x->shape[d] == source->shape[d];
    if (!fits) {
        wick__call_fail(call, WICK_SHAPE, "shapes differ outside dim %d", *resolved);
        return false;
    }
    int64_t size = x->shape[*resolved], length = source->shape[*resolved];
    if (start >= 0 && length <= size && start <= size - length) return true;
    wick__call_fail(call, WICK_RANGE, "%lld positions from %lld on do not lie in dim %d of size %lld",
                    (long long)length, (long long)start, *resolved, (long long)size);
    return false;
}

static enum wick_status run_slice_set(const struct wick__call *call) {
    const struct wick_tensor *source = call->in[1];
    int dim = call->p.along.dim;
    return place(call, source, part(call->out[0], dim, call->p.along.start, source->layout.shape[dim]));
}

enum wick_status wick_slice_set_inplace(struct wick_tensor *target, const struct wick_tensor *source, int dim,
                                        int64_t start) {
    struct wick__call call = {
        .op = WICK_OP_slice_set_inplace, .in_parts = run_slice_set, .n_in = 2, .in = {target, source}};
    if (!check_slice(&call, dim, start, &dim)) return wick__latest();
    if (wick__shares_buffer(target, source))
        return wick__call_fail(&call, WICK_INVALID, "target and source share their elements");
    if (wick__layout_overlaps(&target->layout))
        return wick__call_fail(&call, WICK_INVALID, "target is broadcast or unfolded: its elements share addresses");
    call.p.along.dim = dim;
    call.p.along.start = start;
    call.n_out = 1;
    call.out[0] = target;
    return wick__call_run_inplace(&call, "target");
}

static enum wick_status run_slice_scatter(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *source = call->in[1];
    const struct wick_tensor *y = call->out[0];
    int dim = call->p.along.dim;
    int64_t start = call->p.along.start, size = x->layout.shape[dim], end = start + source->layout.shape[dim];
    struct wick_tensor *before = part(x, dim, 0, start), *after = part(x, dim, end, size - end);
    enum wick_status status = before && after ? WICK_OK : WICK_MEMORY;
    if (status == WICK_OK) status = place(call, before, part(y, dim, 0, start));
    if (status == WICK_OK) status = place(call, source, part(y, dim, start, end - start));
    if (status == WICK_OK) status = place(call, after, part(y, dim, end, size - end));
    wick_release(before);
    wick_release(after);
    return status;
}

struct wick_tensor *wick_slice_scatter(const struct wick_tensor *x, const struct wick_tensor *source, int dim,
                                       int64_t start) {
    struct wick__call call = {.op = WICK_OP_slice_scatter, .in_parts = run_slice_scatter, .n_in = 2, .in = {x, source}};
    if (!check_slice(&call, dim, start, &call.p.along.dim)) return NULL;
    call.p.along.start = start;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* ---- repeating and turning ---- */

struct wick_tensor *wick_repeat(const struct wick_tensor *x, int rank, const int64_t *repeats) {
    struct wick__call call = {.op = WICK_OP_repeat, .n_in = 1, .in = {x}};
    struct wick__layout layout;
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call)) return NULL;
    int added = rank < 0 ? -1 : rank - x->layout.rank;
    if (rank > WICK_MAX_RANK || added < 0 || (rank > 0 && !repeats)) {
        wick__call_fail(&call, WICK_INVALID, "%d repeats%s for %d dims", rank, rank > 0 && !repeats ? " at NULL" : "",
                        x->layout.rank);
        return NULL;
    }
    for (int d = 0; d < rank; d++) {
        int64_t size = d < added ? 1 : x->layout.shape[d - added];
        if (repeats[d] < 0 || !wick__mul(size, repeats[d], &shape[d])) {
            wick__call_fail(&call, WICK_INVALID, "%lld repeats of dim %d", (long long)repeats[d], d);
            return NULL;
        }
    }
    if (wick__layout_new(&layout, "repeat", rank, shape) != WICK_OK) return NULL;
    if (wick__layout_count(&layout) == 0) return wick_empty(wick__device(x), x->dtype, rank, shape);
    /* One dim after the other, from the last: [outer, 1, n * inner] -> [outer, repeats, n * inner]. */
    wick_scope_begin();
    struct wick_tensor *y = wick_contiguous(x);
    int64_t inner = 1;
    for (int d = rank - 1; d >= 0 && y; d--) {
        inner *= d < added ? 1 : x->layout.shape[d - added];
        if (repeats[d] != 1) {
            int64_t outer = wick__count(y) / inner;
            y = wick_reshape(y, 3, (const int64_t[]){outer, 1, inner});
            y = wick_contiguous(wick_broadcast_to(y, 3, (const int64_t[]){outer, repeats[d], inner}));
        }
        inner *= repeats[d];
    }
    y = y ? wick_reshape(y, rank, shape) : NULL;
    if (y && y->storage == x->storage) { /* nothing was repeated, yet the result is a copy */
        call.op = WICK_OP_contiguous;
        call.in[0] = y;
        y = wick__call_out(&call, y->dtype, rank, shape) ? wick__call_run(&call) : NULL;
    }
    return wick_scope_end(y);
}

struct wick_tensor *wick_flip(const struct wick_tensor *x, int n, const int *dims) {
    struct wick__call call = {.op = WICK_OP_flip, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (n < 0 || (n > 0 && !dims)) {
        wick__call_fail(&call, WICK_INVALID, "%d dims%s", n, dims ? "" : " at NULL");
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        int dim;
        if (!wick__call_dim_or_scalar(&call, dims[i], &dim)) return NULL;
        if (call.p.flip.dims >> dim & 1) {
            wick__call_fail(&call, WICK_INVALID, "dim %d is named twice", dims[i]);
            return NULL;
        }
        call.p.flip.dims |= 1u << dim;
    }
    call.p.flip.dims &= (1u << x->layout.rank) - 1; /* a scalar has nothing to turn */
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

static enum wick_status run_roll(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    int dim = call->p.along.dim;
    int64_t size = x->layout.shape[dim], by = size == 0 ? 0 : call->p.along.start % size;
    if (by < 0) by += size;
    struct wick_tensor *head = part(x, dim, 0, size - by), *tail = part(x, dim, size - by, by);
    enum wick_status status = head && tail ? WICK_OK : WICK_MEMORY;
    if (status == WICK_OK) status = place(call, head, part(y, dim, by, size - by));
    if (status == WICK_OK) status = place(call, tail, part(y, dim, 0, by));
    wick_release(head);
    wick_release(tail);
    return status;
}

struct wick_tensor *wick_roll(const struct wick_tensor *x, int64_t shift, int dim) {
    struct wick__call call = {.op = WICK_OP_roll, .in_parts = run_roll, .n_in = 1, .in = {x}, .p.along.start = shift};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &call.p.along.dim) ||
        !wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape))
        return NULL;
    return wick__call_run(&call);
}

/* ---- matrices ---- */

static struct wick_tensor *triangle(enum wick_op op, const struct wick_tensor *x, int64_t k) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}, .p.along.start = k};
    if (!wick__call_check(&call)) return NULL;
    if (x->layout.rank < 2) {
        wick__call_fail(&call, WICK_SHAPE, "rank %d is less than 2", x->layout.rank);
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_tril(const struct wick_tensor *x, int64_t k) {
    return triangle(WICK_OP_tril, x, k);
}

struct wick_tensor *wick_triu(const struct wick_tensor *x, int64_t k) {
    return triangle(WICK_OP_triu, x, k);
}

struct wick_tensor *wick_eye(struct wick_device *device, enum wick_dtype dtype, int64_t rows, int64_t columns) {
    struct wick__call call = {.op = WICK_OP_eye};
    if (!wick__call_out_on(&call, device, dtype, 2, (const int64_t[]){rows, columns})) return NULL;
    return wick__call_run(&call);
}

enum wick_status wick_meshgrid(int n, struct wick_tensor *const *axes, struct wick_tensor **out) {
    struct wick__call call = {.op = WICK_OP_meshgrid};
    int64_t shape[WICK_MAX_RANK];
    if (!check_first(&call, n, axes)) return wick__latest();
    if (n > WICK_MAX_RANK || !out)
        return wick__call_fail(&call, WICK_INVALID, "%d axes%s", n, out ? "" : ", out is NULL");
    for (int i = 0; i < n; i++) {
        struct wick__call one = {.op = WICK_OP_meshgrid, .n_in = 1, .in = {axes[i]}};
        if (!wick__call_check(&one)) return wick__latest();
        if (axes[i]->layout.rank != 1)
            return wick__call_fail(&one, WICK_SHAPE, "axis %d has rank %d, not 1", i, axes[i]->layout.rank);
        shape[i] = axes[i]->layout.shape[0];
    }
    struct wick__layout checked;
    WICK__TRY(wick__layout_new(&checked, "meshgrid", n, shape));
    for (int i = 0; i < n; i++) {
        struct wick__layout layout = checked;
        for (int d = 0; d < n; d++) layout.stride[d] = d == i ? axes[i]->layout.stride[0] : 0;
        layout.offset = wick__layout_count(&layout) == 0 ? 0 : axes[i]->layout.offset;
        struct wick__call one = {.op = WICK_OP_meshgrid, .n_in = 1, .in = {axes[i]}, .p.view.dim = i};
        out[i] = wick__scope_add(wick__call_view(&one, &layout));
        if (out[i]) continue;
        while (i-- > 0) {
            wick_release(out[i]);
            out[i] = NULL;
        }
        return wick__latest();
    }
    return WICK_OK;
}
