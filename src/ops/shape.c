/* Views. */
#include "ops/shape.h"

/* False after recording a failure: the view would cut blocks. */
static bool keeps_blocks(const struct wick__call *call, const struct wick__layout *layout) {
    const struct wick__traits *traits = &wick__traits[call->in[0]->dtype];
    char text[WICK__SHAPE_TEXT];
    if (wick__layout_keeps_blocks(layout, traits->elements, traits->kind == WICK_DTYPE_KIND_FLOAT)) return true;
    wick__call_fail(call, WICK_UNSUPPORTED, "a view %s would cut or scatter the blocks of %d elements that make up %s",
                    wick__shape_text(text, layout->rank, layout->shape), traits->elements, traits->name);
    return false;
}

struct wick_tensor *wick__view(struct wick__call *call, struct wick__layout *layout) {
    if (wick__layout_count(layout) == 0) layout->offset = 0;
    return keeps_blocks(call, layout) ? wick__scope_add(wick__call_view(call, layout)) : NULL;
}

static void remove_dim(struct wick__layout *layout, int dim) {
    layout->rank--;
    for (int d = dim; d < layout->rank; d++) {
        layout->shape[d] = layout->shape[d + 1];
        layout->stride[d] = layout->stride[d + 1];
    }
}

/* ---- one buffer, another shape ---- */

struct wick_tensor *wick_contiguous(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (wick__layout_is_contiguous(&x->layout)) return wick__scope_add(wick__call_view(&call, &x->layout));
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_clone(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (!wick__call_out(&call, x->dtype, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

/* Gives `to`, a row-major layout of as many elements as `from`, strides that address those of `from` in the same
 * order. False, and `to` as it was, when there are none. Both shapes are cut into the shortest groups of dims with
 * equal products; each group of `from` must be one run of evenly spaced elements. */
static bool restride(const struct wick__layout *from, struct wick__layout *to) {
    struct wick__layout old = {.rank = 0}, result = *to;
    int i = 0, j = 0;
    for (int d = 0; d < from->rank; d++) {
        if (from->shape[d] == 1) continue;
        old.shape[old.rank] = from->shape[d];
        old.stride[old.rank++] = from->stride[d];
    }
    while (i < old.rank) {
        int i_end = i + 1, j_end = j + 1;
        int64_t have = old.shape[i], want = to->shape[j];
        while (have != want)
            if (have > want) {
                want *= to->shape[j_end++];
            } else {
                if (old.stride[i_end - 1] != old.stride[i_end] * old.shape[i_end]) return false;
                have *= old.shape[i_end++];
            }
        int64_t stride = old.stride[i_end - 1];
        for (int k = j_end - 1; k >= j; k--) {
            result.stride[k] = stride;
            stride *= to->shape[k];
        }
        i = i_end;
        j = j_end;
    }
    for (; j < to->rank; j++) result.stride[j] = 1;
    result.offset = from->offset;
    *to = result;
    return true;
}

/* in[0] with the shape of `to`, a row-major layout of as many elements. */
static struct wick_tensor *reshaped(struct wick__call *call, struct wick__layout *to) {
    if (!keeps_blocks(call, to)) return NULL;
    if (wick__layout_count(to) == 0 || restride(&call->in[0]->layout, to)) return wick__view(call, to);
    struct wick_tensor *copy = wick_contiguous(call->in[0]);
    call->in[0] = copy;
    struct wick_tensor *y = copy ? wick__scope_add(wick__call_view(call, to)) : NULL;
    wick__scope_drop(copy);
    return y;
}

static bool fill_hole(const struct wick__call *call, int rank, int64_t *shape) {
    int64_t rest = 1, count = wick__count(call->in[0]);
    int hole = -1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] == -1 && hole < 0)
            hole = d;
        else if (shape[d] < 0) {
            char text[WICK__SHAPE_TEXT];
            wick__call_fail(call, WICK_INVALID, "shape %s may have one -1 and no other negative size",
                            wick__shape_text(text, rank, shape));
            return false;
        }
    }
    for (int d = 0; d < rank && rest != 0; d++)
        if (d != hole && !wick__mul(rest, shape[d], &rest)) rest = 0;
    if (hole < 0) return true;
    if (rest == 0 || count % rest != 0) {
        char text[WICK__SHAPE_TEXT];
        wick__call_fail(call, WICK_SHAPE, "no size in place of -1 makes %s hold %lld elements",
                        wick__shape_text(text, rank, shape), (long long)count);
        return false;
    }
    shape[hole] = count / rest;
    return true;
}

bool wick__take_shape(const struct wick__call *call, int rank, const int64_t *shape, int64_t taken[WICK_MAX_RANK]) {
    if (rank < 0 || rank > WICK_MAX_RANK) {
        wick__call_fail(call, WICK_INVALID, "rank %d is not in 0..%d", rank, WICK_MAX_RANK);
        return false;
    }
    if (rank > 0 && !shape) {
        wick__call_fail(call, WICK_INVALID, "shape is NULL but rank is %d", rank);
        return false;
    }
    for (int d = 0; d < rank; d++) taken[d] = shape[d];
    return true;
}

struct wick_tensor *wick_reshape(const struct wick_tensor *x, int rank, const int64_t *shape) {
    struct wick__call call = {.op = WICK_OP_reshape, .n_in = 1, .in = {x}};
    int64_t sizes[WICK_MAX_RANK];
    struct wick__layout to;
    if (!wick__call_check(&call) || !wick__take_shape(&call, rank, shape, sizes) || !fill_hole(&call, rank, sizes) ||
        wick__layout_new(&to, "reshape", rank, sizes) != WICK_OK)
        return NULL;
    if (wick__layout_count(&to) != wick__count(x)) {
        char text[WICK__SHAPE_TEXT];
        wick__call_fail(&call, WICK_SHAPE, "shape %s has %lld elements, not %lld", wick__shape_text(text, rank, sizes),
                        (long long)wick__layout_count(&to), (long long)wick__count(x));
        return NULL;
    }
    return reshaped(&call, &to);
}

struct wick_tensor *wick_squeeze(const struct wick_tensor *x, int dim) {
    struct wick__call call = {.op = WICK_OP_squeeze, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim_or_scalar(&call, dim, &dim)) return NULL;
    struct wick__layout layout = x->layout;
    if (layout.rank > 0 && layout.shape[dim] == 1) remove_dim(&layout, dim);
    call.p.view.dim = dim;
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_squeeze_all(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_squeeze, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    struct wick__layout layout = x->layout;
    for (int d = layout.rank - 1; d >= 0; d--)
        if (layout.shape[d] == 1) remove_dim(&layout, d);
    call.p.view.dim = -1;
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_unsqueeze(const struct wick_tensor *x, int dim) {
    struct wick__call call = {.op = WICK_OP_unsqueeze, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    int rank = x->layout.rank, at = dim < 0 ? dim + rank + 1 : dim;
    if (rank == WICK_MAX_RANK) {
        wick__call_fail(&call, WICK_SHAPE, "the result would have more than %d dims", WICK_MAX_RANK);
        return NULL;
    }
    if (at < 0 || at > rank) {
        wick__call_fail(&call, WICK_RANGE, "dim %d is not in %d..%d", dim, -rank - 1, rank);
        return NULL;
    }
    struct wick__layout layout = x->layout;
    layout.rank++;
    for (int d = rank; d > at; d--) {
        layout.shape[d] = layout.shape[d - 1];
        layout.stride[d] = layout.stride[d - 1];
    }
    layout.shape[at] = 1;
    layout.stride[at] = 1;
    call.p.view.dim = at;
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_flatten(const struct wick_tensor *x, int from, int to) {
    struct wick__call call = {.op = WICK_OP_flatten, .n_in = 1, .in = {x}};
    struct wick__layout layout;
    int64_t shape[WICK_MAX_RANK];
    int first = 0, last = 0, rank = 0;
    if (!wick__call_check(&call)) return NULL;
    if (x->layout.rank == 0 && from >= -1 && from <= 0 && to >= -1 && to <= 0) {
        shape[rank++] = 1;
    } else {
        if (!wick__call_dim(&call, from, &first) || !wick__call_dim(&call, to, &last)) return NULL;
        if (first > last) {
            wick__call_fail(&call, WICK_RANGE, "dim %d comes after dim %d", from, to);
            return NULL;
        }
        for (int d = 0; d < x->layout.rank; d++)
            if (d > first && d <= last)
                shape[rank - 1] *= x->layout.shape[d];
            else
                shape[rank++] = x->layout.shape[d];
    }
    call.p.view.dim = first;
    call.p.view.other = last;
    return wick__layout_new(&layout, "flatten", rank, shape) == WICK_OK ? reshaped(&call, &layout) : NULL;
}

/* ---- dims in another order ---- */

static struct wick_tensor *swapped(struct wick__call *call, int a, int b) {
    const struct wick_tensor *x = call->in[0];
    struct wick__layout layout = x->layout;
    call->p.view.dim = a;
    call->p.view.other = b;
    layout.shape[a] = x->layout.shape[b];
    layout.shape[b] = x->layout.shape[a];
    layout.stride[a] = x->layout.stride[b];
    layout.stride[b] = x->layout.stride[a];
    return wick__view(call, &layout);
}

struct wick_tensor *wick_transpose(const struct wick_tensor *x, int a, int b) {
    struct wick__call call = {.op = WICK_OP_transpose, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim_or_scalar(&call, a, &a) || !wick__call_dim_or_scalar(&call, b, &b))
        return NULL;
    return swapped(&call, a, b);
}

struct wick_tensor *wick_t(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_transpose, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (x->layout.rank < 2) {
        wick__call_fail(&call, WICK_SHAPE, "rank %d is less than 2", x->layout.rank);
        return NULL;
    }
    return swapped(&call, x->layout.rank - 2, x->layout.rank - 1);
}

struct wick_tensor *wick_permute(const struct wick_tensor *x, int rank, const int *dims) {
    struct wick__call call = {.op = WICK_OP_permute, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (rank != x->layout.rank || (rank > 0 && !dims)) {
        wick__call_fail(&call, WICK_INVALID, "%d dims given%s, x has %d", rank, rank > 0 && !dims ? " at NULL" : "",
                        x->layout.rank);
        return NULL;
    }
    struct wick__layout layout = x->layout;
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) {
        int dim;
        if (!wick__call_dim(&call, dims[i], &dim)) return NULL;
        if (seen >> dim & 1) {
            wick__call_fail(&call, WICK_INVALID, "dim %d is named twice", dims[i]);
            return NULL;
        }
        seen |= 1u << dim;
        call.p.view.order[i] = dim;
        layout.shape[i] = x->layout.shape[dim];
        layout.stride[i] = x->layout.stride[dim];
    }
    return wick__view(&call, &layout);
}

/* ---- parts of a dim ---- */

struct wick_tensor *wick_narrow(const struct wick_tensor *x, int dim, int64_t start, int64_t length) {
    struct wick__call call = {.op = WICK_OP_narrow, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    struct wick__layout layout = x->layout;
    int64_t size = layout.shape[dim];
    if (start < 0 || length < 0 || start > size || length > size - start) {
        wick__call_fail(&call, WICK_RANGE, "%lld positions from %lld on do not lie in dim %d of size %lld",
                        (long long)length, (long long)start, dim, (long long)size);
        return NULL;
    }
    layout.shape[dim] = length;
    layout.offset += start * layout.stride[dim];
    call.p.view.dim = dim;
    call.p.view.start = start;
    call.p.view.length = length;
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_select(const struct wick_tensor *x, int dim, int64_t index) {
    struct wick__call call = {.op = WICK_OP_select, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    struct wick__layout layout = x->layout;
    int64_t size = layout.shape[dim];
    if (index < -size || index >= size) {
        wick__call_fail(&call, WICK_RANGE, "index %lld is out of range for dim %d of size %lld", (long long)index, dim,
                        (long long)size);
        return NULL;
    }
    call.p.view.dim = dim;
    call.p.view.start = index < 0 ? index + size : index;
    layout.offset += call.p.view.start * layout.stride[dim];
    remove_dim(&layout, dim);
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_slice(const struct wick_tensor *x, int dim, int64_t start, int64_t end, int64_t step) {
    struct wick__call call = {.op = WICK_OP_slice, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    if (step < 1) {
        wick__call_fail(&call, WICK_INVALID, "step %lld is less than 1", (long long)step);
        return NULL;
    }
    struct wick__layout layout = x->layout;
    int64_t size = layout.shape[dim];
    start = wick__min(wick__max(start < 0 ? start + size : start, 0), size);
    end = wick__min(wick__max(end < 0 ? end + size : end, start), size);
    int64_t length = end == start ? 0 : (end - start - 1) / step + 1;
    layout.shape[dim] = length;
    layout.offset += start * layout.stride[dim];
    if (length > 1) layout.stride[dim] *= step;
    call.p.view.dim = dim;
    call.p.view.start = start;
    call.p.view.length = length;
    call.p.view.step = step;
    return wick__view(&call, &layout);
}

/* The parts that begin where the one before ends; sizes[i], or an even share of the dim when sizes is NULL. */
static enum wick_status parts(struct wick__call *call, int64_t n, const int64_t *sizes, int dim,
                              struct wick_tensor **out) {
    const struct wick_tensor *x = call->in[0];
    struct wick__layout layout = x->layout;
    int64_t size = x->layout.shape[dim], begin = 0;
    for (int64_t i = 0; i < n; i++) {
        layout.shape[dim] = sizes ? sizes[i] : size / n + (i < size % n);
        layout.offset = x->layout.offset + begin * layout.stride[dim];
        call->p.view.dim = dim;
        call->p.view.start = begin;
        call->p.view.length = layout.shape[dim];
        begin += layout.shape[dim];
        out[i] = wick__view(call, &layout);
        if (out[i]) continue;
        while (i-- > 0) {
            wick_release(out[i]);
            out[i] = NULL;
        }
        return wick__latest();
    }
    return WICK_OK;
}

enum wick_status wick_chunk(const struct wick_tensor *x, int64_t n, int dim, struct wick_tensor **out) {
    struct wick__call call = {.op = WICK_OP_chunk, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return wick__latest();
    if (n < 1 || !out)
        return wick__call_fail(&call, WICK_INVALID, "%lld parts%s", (long long)n, out ? "" : ", out is NULL");
    return parts(&call, n, NULL, dim, out);
}

enum wick_status wick_split(const struct wick_tensor *x, int n, const int64_t *sizes, int dim,
                            struct wick_tensor **out) {
    struct wick__call call = {.op = WICK_OP_split, .n_in = 1, .in = {x}};
    int64_t total = 0;
    bool valid = true;
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return wick__latest();
    if (n < 1 || !sizes || !out)
        return wick__call_fail(&call, WICK_INVALID, "%d parts%s", n, sizes && out ? "" : ", sizes or out is NULL");
    for (int i = 0; i < n; i++) valid = valid && sizes[i] >= 0 && wick__add(total, sizes[i], &total);
    if (!valid || total != x->layout.shape[dim]) {
        char text[WICK__SHAPE_TEXT];
        return wick__call_fail(&call, WICK_SHAPE, "parts of %s do not add up to dim %d of size %lld",
                               wick__shape_text(text, n, sizes), dim, (long long)x->layout.shape[dim]);
    }
    return parts(&call, n, sizes, dim, out);
}

/* ---- elements seen more than once, or along a diagonal ---- */

static struct wick_tensor *broadcast(struct wick__call *call, int rank, const int64_t *shape) {
    const struct wick_tensor *x = call->in[0];
    struct wick__layout checked, wide;
    if (wick__layout_new(&checked, wick_op_name(call->op), rank, shape) != WICK_OK) return NULL;
    if (wick__layout_expand(&x->layout, rank, shape, &wide)) return wick__view(call, &wide);
    char text[WICK__SHAPE_TEXT];
    wick__call_fail(call, WICK_SHAPE, "x does not broadcast to %s", wick__shape_text(text, rank, shape));
    return NULL;
}

struct wick_tensor *wick_broadcast_to(const struct wick_tensor *x, int rank, const int64_t *shape) {
    struct wick__call call = {.op = WICK_OP_broadcast_to, .n_in = 1, .in = {x}};
    return wick__call_check(&call) ? broadcast(&call, rank, shape) : NULL;
}

struct wick_tensor *wick_expand(const struct wick_tensor *x, int rank, const int64_t *shape) {
    struct wick__call call = {.op = WICK_OP_expand, .n_in = 1, .in = {x}};
    int64_t sizes[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !wick__take_shape(&call, rank, shape, sizes)) return NULL;
    int added = rank - x->layout.rank;
    for (int d = 0; d < rank; d++)
        if (sizes[d] == -1 && d >= added) sizes[d] = x->layout.shape[d - added];
    return broadcast(&call, rank, sizes);
}

struct wick_tensor *wick_unfold(const struct wick_tensor *x, int dim, int64_t size, int64_t step) {
    if (wick__is_scalar_line(x, dim)) { /* one window */
        struct wick_tensor *windows = wick_unfold(wick__begin_line(x), 0, size, step);
        return wick_scope_end(windows ? wick_select(windows, 0, 0) : NULL);
    }
    struct wick__call call = {.op = WICK_OP_unfold, .n_in = 1, .in = {x}};
    struct wick__layout checked;
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    struct wick__layout layout = x->layout;
    if (layout.rank == WICK_MAX_RANK) {
        wick__call_fail(&call, WICK_SHAPE, "the result would have more than %d dims", WICK_MAX_RANK);
        return NULL;
    }
    if (step < 1) {
        wick__call_fail(&call, WICK_INVALID, "step %lld is less than 1", (long long)step);
        return NULL;
    }
    if (size < 0 || size > layout.shape[dim]) {
        wick__call_fail(&call, WICK_RANGE, "window %lld does not lie in dim %d of size %lld", (long long)size, dim,
                        (long long)layout.shape[dim]);
        return NULL;
    }
    layout.shape[layout.rank] = size;
    layout.stride[layout.rank++] = layout.stride[dim];
    layout.shape[dim] = (layout.shape[dim] - size) / step + 1;
    if (layout.shape[dim] > 1) layout.stride[dim] *= step;
    if (wick__layout_new(&checked, "unfold", layout.rank, layout.shape) != WICK_OK) return NULL;
    call.p.view.dim = dim;
    call.p.view.length = size;
    call.p.view.step = step;
    return wick__view(&call, &layout);
}

struct wick_tensor *wick_diagonal(const struct wick_tensor *x, int64_t offset, int a, int b) {
    struct wick__call call = {.op = WICK_OP_diagonal, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, a, &a) || !wick__call_dim(&call, b, &b)) return NULL;
    if (a == b) {
        wick__call_fail(&call, WICK_INVALID, "the diagonal of dim %d with itself", a);
        return NULL;
    }
    struct wick__layout layout = x->layout;
    int64_t rows = layout.shape[a], columns = layout.shape[b];
    int64_t down = offset < 0 ? (offset < -rows ? rows : -offset) : 0,
            right = offset > 0 ? wick__min(offset, columns) : 0;
    layout.offset += down * layout.stride[a] + right * layout.stride[b];
    int64_t stride = layout.stride[a] + layout.stride[b];
    remove_dim(&layout, a > b ? a : b);
    remove_dim(&layout, a > b ? b : a);
    layout.shape[layout.rank] = wick__min(rows - down, columns - right);
    layout.stride[layout.rank++] = stride;
    call.p.view.dim = a;
    call.p.view.other = b;
    call.p.view.start = offset;
    return wick__view(&call, &layout);
}

/* ---- scalars as lines of one element ---- */

struct wick_tensor *wick__line(const struct wick_tensor *x) {
    return x ? wick_reshape(x, x->layout.rank ? x->layout.rank : 1, x->layout.rank ? x->layout.shape : (int64_t[]){1})
             : NULL;
}

struct wick_tensor *wick__begin_line(const struct wick_tensor *x) {
    wick_scope_begin();
    return wick__line(x);
}

struct wick_tensor *wick__end_scalar(struct wick_tensor *y) {
    return wick_scope_end(y ? wick_reshape(y, 0, NULL) : NULL);
}
