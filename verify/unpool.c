/* Cases of the composed_unpool family. i: sizes of what was pooled [3]. The indices are made here: element e of a plane
 * has index (7 e + 3) mod the plane's elements, which are no multiple of 7, or 2^32 - 1 for e = 5. */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    int spatial;
    int64_t n, c, in[3], size[3];
} shapes[] = {
    {1, 2, 3, {4}, {9}},       {2, 1, 2, {3, 4}, {6, 9}}, {3, 2, 1, {2, 2, 3}, {4, 5, 6}},
    {2, 0, 2, {3, 4}, {6, 9}}, {2, 2, 3, {1, 1}, {1, 1}}, {2, 1, 300, {2, 3}, {4, 6}},
    {1, 1, 1, {0}, {5}},       {2, 2, 2, {8, 9}, {8, 9}},
};

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static bool is_backward(enum wick_op op) { return op == WICK_OP_max_unpool_backward; }

static void unpool_make(enum wick_op op, int k, struct verify_case *c) {
    int n = shapes[k].spatial;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 2 + n, .low = -8, .high = 8};
    c->in[0].shape[0] = shapes[k].n;
    c->in[0].shape[1] = shapes[k].c;
    memcpy(c->in[0].shape + 2, is_backward(op) ? shapes[k].size : shapes[k].in, sizeof *shapes[k].in * (size_t)n);
    memcpy(c->i, is_backward(op) ? shapes[k].in : shapes[k].size, sizeof shapes[k].size);
}

static bool unpool_bench(enum wick_op op, struct verify_case *c) {
    unpool_make(op, 1, c);
    verify_operand_resize(&c->in[0], 4, (const int64_t[]){1, 64, 256, 256});
    c->i[0] = c->i[1] = 256;
    return true;
}

static int64_t product(const int64_t *sizes, int n) {
    int64_t all = 1;
    for (int s = 0; s < n; s++) all *= sizes[s];
    return all;
}

static int64_t index_of(int64_t e, int64_t plane) { return e == 5 ? UINT32_MAX : (7 * e + 3) % plane; }

/* The indices, [N,C,small...], into planes of `plane` elements. */
static struct wick_tensor *indices_of(const struct verify_case *c, const struct wick_tensor *x, int64_t plane) {
    int n = wick_tensor_rank(x) - 2;
    int64_t shape[WICK_MAX_RANK] = {wick_tensor_shape(x)[0], wick_tensor_shape(x)[1]};
    memcpy(shape + 2, is_backward(c->op) ? c->i : wick_tensor_shape(x) + 2, sizeof *shape * (size_t)n);
    int64_t small = product(shape + 2, n), count = shape[0] * shape[1] * small;
    uint32_t *index = malloc(sizeof *index * (size_t)(count + 1));
    struct wick_tensor *y = NULL;
    for (int64_t i = 0; index && i < count; i++) index[i] = (uint32_t)index_of(i % small, plane);
    if (index) y = wick_from_data(wick_tensor_device(x), WICK_U32, n + 2, shape, index, sizeof *index * (size_t)count);
    free(index);
    return y;
}

static bool unpool_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int n = c->in[0].rank - 2;
    int64_t plane = product(is_backward(c->op) ? c->in[0].shape + 2 : c->i, n);
    struct wick_tensor *indices = indices_of(c, in[0], plane);
    if (!indices) return false;
    out[0] = is_backward(c->op) ? wick_max_unpool_backward(in[0], indices) : wick_max_unpool(in[0], indices, n, c->i);
    wick_release(indices);
    return out[0] != NULL;
}

static bool unpool_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int n = in->rank - 2;
    int64_t shape[WICK_MAX_RANK] = {in->shape[0], in->shape[1]};
    memcpy(shape + 2, c->i, sizeof *shape * (size_t)n);
    if (!verify_array_new(out, c->dtype, in->rank, shape, false)) return false;
    memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    bool back = is_backward(c->op);
    int64_t small = product(back ? c->i : in->shape + 2, n), plane = product(back ? in->shape + 2 : c->i, n);
    for (int64_t i = 0; i < (back ? out : in)->count; i++) {
        int64_t index = index_of(i % small, plane), at = i / small * plane + index;
        if (index == UINT32_MAX) continue;
        if (back)
            out->data[i] = in->data[at];
        else
            out->data[at] = in->data[i];
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_composed_unpool = {
    .name = "composed_unpool",
    .cases = cases,
    .make = unpool_make,
    .bench = unpool_bench,
    .call = unpool_call,
    .reference = unpool_reference,
    .specials = always,
};
