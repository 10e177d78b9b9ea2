/* Cases of the copy family: contiguous copies of any layout. */
#include "verify/verify.h"

#include <string.h>

static const struct {
    int rank;
    int64_t shape[5];
} shapes[] = {
    {1, {7}}, {0, {0}},          {1, {0}},          {2, {3, 0}},      {1, {1}},
    {2, {5, 9}}, {2, {67, 130}}, {3, {2, 33, 17}}, {4, {2, 3, 5, 7}}, {5, {2, 1, 3, 4, 5}},
    {1, {70001}}, {2, {300, 257}},
};

static int copy_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void copy_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -300, .high = 300};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
}

static bool copy_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    (void)c;
    out[0] = wick_contiguous(in[0]);
    return out[0] != NULL;
}

static bool copy_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, false)) return false;
    memcpy(out->data, in->data, sizeof *in->data * (size_t)in->count);
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
    .call = copy_call,
    .reference = copy_reference,
    .specials = always,
};
