/* Cases of the view family: every view op on several shapes.
 *
 * i[] holds what the op's call needs, as each case's row says; the reference walks positions of the result and says
 * which element of x each one shows. */
#include "verify/verify.h"

#include <string.h>

enum { ROW = 8 };

/* One view: x's shape, the op's arguments, and for the reference the result's shape, and the strides and offset, in
 * elements of row-major x, that address it. Written out by hand. */
static const struct view {
    enum wick_op op;
    int rank;
    int64_t shape[5];
    int64_t i[ROW];
    int out_rank;
    int64_t out_shape[6], stride[6], offset;
} views[] = {
    /* i: rank, shape */
    {WICK_OP_reshape, 3, {2, 3, 4}, {2, 4, -1}, 2, {4, 6}, {6, 1}, 0},
    {WICK_OP_reshape, 3, {2, 3, 4}, {3, 4, 3, 2}, 3, {4, 3, 2}, {6, 2, 1}, 0},
    {WICK_OP_reshape, 0, {0}, {2, 1, 1}, 2, {1, 1}, {1, 1}, 0},
    {WICK_OP_reshape, 1, {1}, {0}, 0, {0}, {0}, 0},
    {WICK_OP_reshape, 3, {2, 0, 4}, {2, 0, 8}, 2, {0, 8}, {8, 1}, 0},
    {WICK_OP_reshape, 2, {60, 34}, {5, 4, 15, 2, 17, -1}, 5, {4, 15, 2, 17, 1}, {510, 34, 17, 1, 1}, 0},
    /* i: dim, or 99 for all */
    {WICK_OP_squeeze, 3, {2, 1, 4}, {1}, 2, {2, 4}, {4, 1}, 0},
    {WICK_OP_squeeze, 3, {2, 1, 4}, {-1}, 3, {2, 1, 4}, {4, 4, 1}, 0},
    {WICK_OP_squeeze, 4, {1, 3, 1, 1}, {99}, 1, {3}, {1}, 0},
    /* i: dim */
    {WICK_OP_unsqueeze, 2, {3, 4}, {0}, 3, {1, 3, 4}, {12, 4, 1}, 0},
    {WICK_OP_unsqueeze, 2, {3, 4}, {-1}, 3, {3, 4, 1}, {4, 1, 1}, 0},
    {WICK_OP_unsqueeze, 0, {0}, {0}, 1, {1}, {1}, 0},
    /* i: from, to */
    {WICK_OP_flatten, 4, {2, 3, 4, 5}, {1, 2}, 3, {2, 12, 5}, {60, 5, 1}, 0},
    {WICK_OP_flatten, 3, {2, 3, 4}, {0, -1}, 1, {24}, {1}, 0},
    {WICK_OP_flatten, 0, {0}, {0, -1}, 1, {1}, {1}, 0},
    /* i: a, b */
    {WICK_OP_transpose, 3, {2, 3, 4}, {0, -1}, 3, {4, 3, 2}, {1, 4, 12}, 0},
    {WICK_OP_transpose, 2, {67, 35}, {0, 1}, 2, {35, 67}, {1, 35}, 0},
    /* i: dims */
    {WICK_OP_permute, 3, {2, 3, 4}, {2, 0, -2}, 3, {4, 2, 3}, {1, 12, 4}, 0},
    {WICK_OP_permute, 0, {0}, {0}, 0, {0}, {0}, 0},
    /* i: dim, start, length */
    {WICK_OP_narrow, 3, {4, 5, 6}, {1, 1, 3}, 3, {4, 3, 6}, {30, 6, 1}, 6},
    {WICK_OP_narrow, 2, {4, 5}, {-1, 5, 0}, 2, {4, 0}, {5, 1}, 0},
    /* i: dim, index */
    {WICK_OP_select, 3, {4, 5, 6}, {1, 2}, 2, {4, 6}, {30, 1}, 12},
    {WICK_OP_select, 1, {5}, {0, -1}, 0, {0}, {0}, 4},
    /* i: dim, start, end, step */
    {WICK_OP_slice, 2, {4, 9}, {1, 1, -1, 3}, 2, {4, 3}, {9, 3}, 1},
    {WICK_OP_slice, 2, {4, 9}, {0, -3, INT64_MAX, 2}, 2, {2, 9}, {18, 1}, 9},
    {WICK_OP_slice, 2, {4, 9}, {0, 3, 2, 1}, 2, {0, 9}, {9, 1}, 0},
    /* i: rank, shape */
    {WICK_OP_broadcast_to, 2, {3, 1}, {3, 2, 3, 5}, 3, {2, 3, 5}, {0, 1, 0}, 0},
    {WICK_OP_broadcast_to, 0, {0}, {1, 7}, 1, {7}, {0}, 0},
    {WICK_OP_expand, 2, {3, 1}, {3, 2, -1, 5}, 3, {2, 3, 5}, {0, 1, 0}, 0},
    /* i: n, dim, which part is looked at */
    {WICK_OP_chunk, 2, {10, 3}, {4, 0, 1}, 2, {3, 3}, {3, 1}, 9},
    {WICK_OP_chunk, 2, {10, 3}, {4, 0, 3}, 2, {2, 3}, {3, 1}, 24},
    {WICK_OP_chunk, 1, {2}, {3, 0, 2}, 1, {0}, {1}, 0},
    /* i: n, dim, which part, sizes */
    {WICK_OP_split, 2, {3, 7}, {3, 1, 1, 2, 4, 1}, 2, {3, 4}, {7, 1}, 2},
    /* i: dim, size, step */
    {WICK_OP_unfold, 1, {10}, {0, 4, 3}, 2, {3, 4}, {3, 1}, 0},
    {WICK_OP_unfold, 2, {6, 5}, {0, 2, 1}, 3, {5, 5, 2}, {5, 1, 5}, 0},
    /* i: offset, a, b */
    {WICK_OP_diagonal, 2, {4, 5}, {0, 0, 1}, 1, {4}, {6}, 0},
    {WICK_OP_diagonal, 3, {4, 2, 5}, {-1, 0, -1}, 2, {2, 3}, {5, 11}, 10},
    {WICK_OP_diagonal, 2, {4, 5}, {9, 0, 1}, 1, {0}, {6}, 0},
    {WICK_OP_to_device, 3, {2, 3, 4}, {0}, 3, {2, 3, 4}, {12, 4, 1}, 0},
    {WICK_OP_to_device, 2, {3, 0}, {0}, 2, {3, 0}, {1, 1}, 0},
    /* i: offset, rank, up to three sizes, then their strides */
    {WICK_OP_as_strided, 2, {4, 5}, {3, 2, 3, 4, 0, 5, 1}, 2, {3, 4}, {5, 1}, 3},
    {WICK_OP_as_strided, 1, {20}, {1, 3, 2, 3, 4, 7, 0, 2}, 3, {2, 3, 4}, {7, 0, 2}, 1},
    {WICK_OP_as_strided, 2, {4, 5}, {19, 0}, 0, {0}, {0}, 19},
    {WICK_OP_as_strided, 2, {3, 3}, {0, 2, 3, 3, 0, 3, 1}, 2, {3, 3}, {3, 1}, 0},
};
enum { VIEWS = sizeof views / sizeof *views };

static const struct view *nth(enum wick_op op, int k) {
    for (int i = 0; i < VIEWS; i++)
        if (views[i].op == op && k-- == 0) return &views[i];
    return NULL;
}

/* meshgrid, which has several operands, is written out on its own: i[0] which grid is looked at. */
static const int64_t axes[3] = {3, 4, 2};

static int view_cases(enum wick_op op) {
    int n = 0;
    while (nth(op, n)) n++;
    return op == WICK_OP_meshgrid ? 3 : n;
}

static void view_make(enum wick_op op, int k, struct verify_case *c) {
    const struct view *view = nth(op, k);
    c->n_in = op == WICK_OP_meshgrid ? 3 : 1;
    c->n_out = 1;
    for (int i = 0; i < c->n_in; i++) {
        c->in[i] =
            (struct verify_operand){.role = VERIFY_VALUE, .rank = view ? view->rank : 1, .low = -300, .high = 300};
        c->in[i].shape[0] = axes[i];
        if (view) memcpy(c->in[i].shape, view->shape, sizeof view->shape);
    }
    c->i[0] = k;
    if (!view) return;
    memcpy(c->i, view->i, sizeof view->i);
    c->i[ROW] = k;
}

/* Keeps one of n parts. */
static struct wick_tensor *keep(enum wick_status status, struct wick_tensor **parts, int n, int64_t which) {
    struct wick_tensor *kept = NULL;
    for (int i = 0; status == WICK_OK && i < n; i++)
        if (i == which)
            kept = parts[i];
        else
            wick_release(parts[i]);
    return kept;
}

/* There and back: results lie on the device of x. */
static struct wick_tensor *travel(const struct wick_tensor *x) {
    struct wick_device *cpu = wick_device_open("cpu");
    struct wick_tensor *there = cpu ? wick_to_device(x, cpu) : NULL;
    struct wick_tensor *back = there ? wick_to_device(there, wick_tensor_device(x)) : NULL;
    wick_release(there);
    wick_device_close(cpu);
    return back;
}

/* The strides and the offset of a case are those of a tensor without gaps; of another one, a copy is viewed. */
static struct wick_tensor *strided(const struct wick_tensor *x, const int64_t *i) {
    struct wick_tensor *whole = wick_contiguous(x);
    struct wick_tensor *y = wick_as_strided(whole, (int)i[1], i + 2, i + 5, wick_tensor_offset(whole) + i[0]);
    wick_release(whole);
    if (wick_tensor_is_contiguous(x)) return y;
    struct wick_tensor *copy = wick_clone(y);
    wick_release(y);
    return copy;
}

static bool view_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    const struct wick_tensor *x = in[0];
    const int64_t *i = c->i;
    struct wick_tensor *parts[8];
    int first = (int)i[0], second = (int)i[1], dims[5];
    for (int d = 0; d < 5; d++) dims[d] = (int)i[d];
    switch (c->op) {
    case WICK_OP_reshape: out[0] = wick_reshape(x, first, i + 1); break;
    case WICK_OP_squeeze: out[0] = first == 99 ? wick_squeeze_all(x) : wick_squeeze(x, first); break;
    case WICK_OP_unsqueeze: out[0] = wick_unsqueeze(x, first); break;
    case WICK_OP_flatten: out[0] = wick_flatten(x, first, second); break;
    case WICK_OP_transpose: out[0] = c->in[0].rank == 2 ? wick_t(x) : wick_transpose(x, first, second); break;
    case WICK_OP_permute: out[0] = wick_permute(x, c->in[0].rank, dims); break;
    case WICK_OP_narrow: out[0] = wick_narrow(x, first, i[1], i[2]); break;
    case WICK_OP_select: out[0] = wick_select(x, first, i[1]); break;
    case WICK_OP_slice: out[0] = wick_slice(x, first, i[1], i[2], i[3]); break;
    case WICK_OP_broadcast_to: out[0] = wick_broadcast_to(x, first, i + 1); break;
    case WICK_OP_expand: out[0] = wick_expand(x, first, i + 1); break;
    case WICK_OP_chunk: out[0] = keep(wick_chunk(x, i[0], second, parts), parts, first, i[2]); break;
    case WICK_OP_split: out[0] = keep(wick_split(x, first, i + 3, second, parts), parts, first, i[2]); break;
    case WICK_OP_unfold: out[0] = wick_unfold(x, first, i[1], i[2]); break;
    case WICK_OP_diagonal: out[0] = wick_diagonal(x, i[0], second, (int)i[2]); break;
    case WICK_OP_to_device: out[0] = travel(x); break;
    case WICK_OP_as_strided: out[0] = strided(x, i); break;
    case WICK_OP_meshgrid: out[0] = keep(wick_meshgrid(3, in, parts), parts, 3, i[0]); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static bool view_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    struct view grid = {.out_rank = 3};
    const struct view *view = nth(c->op, (int)c->i[ROW]);
    if (c->op == WICK_OP_meshgrid) {
        memcpy(grid.out_shape, axes, sizeof axes);
        grid.stride[c->i[0]] = 1;
        in += c->i[0];
        view = &grid;
    }
    if (!verify_array_new(out, c->dtype, view->out_rank, view->out_shape, false)) return false;
    for (int64_t p = 0; p < out->count; p++) {
        int64_t rest = p, at = view->offset;
        for (int d = view->out_rank - 1; d >= 0; d--) {
            at += rest % view->out_shape[d] * view->stride[d];
            rest /= view->out_shape[d];
        }
        out->data[p] = in->data[at];
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_view = {.name = "view",
                                          .cases = view_cases,
                                          .make = view_make,
                                          .call = view_call,
                                          .reference = view_reference,
                                          .specials = always};
