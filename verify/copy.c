/* Cases of the copy family: contiguous copies of any layout, and copies into any layout. copy_inplace: in[0] is the
 * target, in[1] the source, which broadcasts to it. */
#include "verify/verify.h"

#include <string.h>

static const struct {
    int rank;
    int64_t shape[5];
} shapes[] = {
    {1, {7}},       {0, {0}},         {1, {0}},          {2, {3, 0}},          {1, {1}},     {2, {5, 9}},
    {2, {67, 130}}, {3, {2, 33, 17}}, {4, {2, 3, 5, 7}}, {5, {2, 1, 3, 4, 5}}, {1, {70001}}, {2, {300, 257}},
};

static int copy_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void copy_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -300, .high = 300};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    if (op != WICK_OP_copy_inplace) return;
    c->n_in = 2;
    c->in[1] = c->in[0];
    if (k % 2 && c->in[0].rank > 1) { /* the last dims only, the very last of size 1 */
        c->in[1].rank = c->in[0].rank - 1;
        memcpy(c->in[1].shape, c->in[0].shape + 1, sizeof *c->in[1].shape * (size_t)c->in[1].rank);
        c->in[1].shape[c->in[1].rank - 1] = 1;
    }
}

/* contiguous: of a transposed matrix, see verify_time. */
static bool copy_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(copy_make, 0, c);
}

static bool copy_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    if (c->op != WICK_OP_copy_inplace) {
        out[0] = wick_contiguous(in[0]);
        return out[0] != NULL;
    }
    out[0] = verify_target(in[0]);
    if (out[0] && wick_copy_inplace(out[0], in[1]) == WICK_OK) return true;
    wick_release(out[0]);
    out[0] = NULL;
    return false;
}

static bool copy_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *from = &in[c->n_in - 1];
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, false)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = in->rank - 1; d >= 0; d--) {
            int e = d - (in->rank - from->rank);
            int64_t position = rest % in->shape[d];
            rest /= in->shape[d];
            if (e < 0) continue;
            if (from->shape[e] > 1) at += position * step;
            step *= from->shape[e];
        }
        out->data[i] = from->data[at];
    }
    return true;
}

static bool always(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_copy = {
    .name = "copy",
    .cases = copy_cases,
    .make = copy_make,
    .bench = copy_bench,
    .call = copy_call,
    .reference = copy_reference,
    .specials = always,
};
