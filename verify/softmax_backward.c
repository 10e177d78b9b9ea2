/* Cases of the softmax_backward family: the gradient, and the function's result. i[0] is the dim. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[5];
    int dim;
} shapes[] = {
    {1, {1}, 0},        {1, {7}, -1},          {2, {5, 33}, 1},         {2, {5, 33}, 0},
    {0, {0}, -1},       {4, {2, 3, 5, 7}, -2}, {5, {2, 1, 3, 4, 5}, 0}, {3, {4, 5, 200}, 2},
    {2, {3, 0}, 1},     {2, {3, 0}, 0},        {2, {17, 2051}, 0},      {3, {2, 33, 17}, 1},
    {2, {3, 2049}, -1}, {1, {2500}, 0},        {3, {300, 2, 3}, 0},     {3, {2, 70, 9}, 1},
    {3, {3, 8, 32}, 1}, {2, {64, 48}, 0},      {3, {3, 21, 11}, 1},     {3, {600, 3, 16}, 1},
};

static bool is_log(enum wick_op op) { return op == WICK_OP_log_softmax_backward; }

static int softmax_backward_cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static void softmax_backward_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_in = 2;
    c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -4, .high = 4};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[1] = c->in[0];
    c->in[1].low = is_log(op) ? -8 : 0;
    c->in[1].high = is_log(op) ? 0 : 1;
    c->i[0] = shapes[k].dim;
}

static bool softmax_backward_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    verify_make_large(softmax_backward_make, 2, c);
    c->i[0] = 1;
    return true;
}

static bool softmax_backward_call(const struct verify_case *c, struct wick_tensor *const *in,
                                  struct wick_tensor **out) {
    out[0] = is_log(c->op) ? wick_log_softmax_backward(in[0], in[1], (int)c->i[0])
                           : wick_softmax_backward(in[0], in[1], (int)c->i[0]);
    return out[0] != NULL;
}

/* Row j of the transposed Jacobian times the gradient: softmax's is y_i (i == j) - y_i y_j, its logarithm's
 * (i == j) - exp(y_j). `step` lies between elements of the line. */
static void put(const struct verify_case *c, const struct verify_array *in, int64_t first, const int64_t of[3],
                struct verify_array *out) {
    const double *g = in[0].data + first, *y = in[1].data + first;
    int64_t n = of[0], step = of[1], j = of[2] * step;
    long double sum = 0, size = 0, chance = expl(y[j]);
    double growth = verify_scale_growth(c->dtype == WICK_F64, (double)n);
    for (int64_t i = 0; i < n * step; i += step) {
        long double slope = is_log(c->op) ? (i == j) - chance : y[i] * ((i == j) - (long double)y[j]);
        sum += g[i] * slope;
        size += fabsl(g[i] * (is_log(c->op) ? (i == j) + chance * (1 - y[j]) : y[i] * ((i == j) + (long double)y[j])));
    }
    out->data[first + j] = (double)sum;
    out->scale[first + j] = verify_scale_sum((double)size, growth);
}

static bool softmax_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                       struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->rank > 0 ? in->shape[dim] : 1, inner = 1;
    if (!verify_array_new(out, c->dtype, in->rank, in->shape, true)) return false;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    for (int64_t line = 0; n > 0 && line < in->count / n; line++)
        for (int64_t j = 0; j < n; j++)
            put(c, in, line / inner * n * inner + line % inner, (const int64_t[]){n, inner, j}, out);
    return true;
}

const struct verify_family verify_softmax_backward = {
    .name = "softmax_backward",
    .cases = softmax_backward_cases,
    .make = softmax_backward_make,
    .bench = softmax_backward_bench,
    .call = softmax_backward_call,
    .reference = softmax_backward_reference,
};
