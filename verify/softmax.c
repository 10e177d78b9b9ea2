/* Cases of the softmax family. i[0] is the dim. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[5];
    int dim;
} shapes[] = {
    {1, {1}, 0},         {1, {7}, -1},          {1, {9000}, 0},          {2, {5, 33}, 1},
    {2, {5, 33}, 0},     {2, {3, 2049}, -1},    {2, {17, 2051}, 0},      {3, {2, 33, 17}, 1},
    {3, {4, 5, 130}, 2}, {4, {2, 3, 5, 7}, -2}, {5, {2, 1, 3, 4, 5}, 0}, {2, {3, 0}, 1},
    {2, {3, 0}, 0},      {1, {70000}, 0},       {2, {41, 5}, 1},         {3, {2, 70, 9}, 1},
    {3, {3, 8, 32}, 1},  {2, {64, 48}, 0},      {3, {3, 21, 11}, 1},     {3, {600, 3, 16}, 1},
    {2, {7, 301}, 1},    {2, {3, 512}, 1},      {3, {65, 70, 33}, 1},    {3, {64, 3001, 3}, 1},
};

static int softmax_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void softmax_make(enum wick_op op, int k, struct verify_case *c) {
    (void)op;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->i[0] = shapes[k].dim;
}

static bool softmax_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    verify_make_large(softmax_make, 0, c);
    c->i[0] = 1;
    return true;
}

static bool softmax_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    out[0] = c->op == WICK_OP_softmax ? wick_softmax(in[0], (int)c->i[0]) : wick_log_softmax(in[0], (int)c->i[0]);
    return out[0] != NULL;
}

static bool softmax_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->shape[dim], inner = 1;
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    for (int64_t line = 0; n > 0 && line < in->count / n; line++) {
        int64_t first = line / inner * n * inner + line % inner;
        double most = -INFINITY;
        long double sum = 0;
        for (int64_t i = 0; i < n; i++) most = fmax(most, in->data[first + i * inner]);
        for (int64_t i = 0; i < n; i++) sum += expl(in->data[first + i * inner] - (long double)most);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = first + i * inner;
            long double less = in->data[at] - (long double)most;
            out->data[at] = (double)(c->op == WICK_OP_softmax ? expl(less) / sum : less - logl(sum));
            /* The difference is rounded before it is exponentiated, which scales with its size; the sum is rounded
             * before its logarithm is taken, which is an absolute error. */
            out->scale[at] = c->op == WICK_OP_softmax ? verify_scale_softmax(out->data[at], -(double)less)
                                                      : verify_scale_log_softmax((double)sum, -(double)less);
        }
    }
    return true;
}

static bool softmax_wide(enum wick_op op) {
    (void)op;
    return true;
}

const struct verify_family verify_softmax = {
    .name = "softmax",
    .cases = softmax_cases,
    .make = softmax_make,
    .bench = softmax_bench,
    .call = softmax_call,
    .reference = softmax_reference,
    .wide = softmax_wide,
};
