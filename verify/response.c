/* Cases of the composed_response family. i: size, within_channels; f: alpha, beta, k. */
#include "verify/scales.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[5], size, within;
    double alpha, beta, k;
} shapes[] = {
    {4, {2, 5, 3, 4}, 3, 0, 0.5, 0.75, 1},  {3, {1, 8, 7}, 4, 0, 0.25, 0.5, 2},    {2, {3, 9}, 5, 0, 1, 1, 1},
    {4, {1, 2, 5, 6}, 3, 1, 0.5, 0.75, 1},  {5, {1, 2, 3, 4, 4}, 3, 1, 1, 2, 2},   {3, {2, 2, 9}, 5, 1, 0.5, 0.75, 1},
    {4, {1, 3, 2, 33}, 7, 0, 0.5, 0.75, 1}, {4, {0, 4, 2, 3}, 3, 0, 0.5, 0.75, 1}, {3, {2, 6, 5}, 1, 0, 1e-4, 0.75, 1},
};

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static bool is_backward(enum wick_op op) { return op == WICK_OP_local_response_norm_backward; }

static void response_make(enum wick_op op, int k, struct verify_case *c) {
    c->n_in = is_backward(op) ? 2 : 1;
    c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -4, .high = 4};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[1] = c->in[0];
    c->i[0] = shapes[k].size;
    c->i[1] = shapes[k].within;
    c->f[0] = shapes[k].alpha;
    c->f[1] = shapes[k].beta;
    c->f[2] = shapes[k].k;
}

static bool response_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_response_options o = {
        .size = c->i[0], .within_channels = c->i[1] != 0, .alpha = c->f[0], .beta = c->f[1], .k = c->f[2]};
    out[0] =
        is_backward(c->op) ? wick_local_response_norm_backward(in[0], in[1], &o) : wick_local_response_norm(in[0], &o);
    return out[0] != NULL;
}

/* Whether element j of x is in the window of element i, elements being told apart by all dims. */
static bool meets(const struct verify_case *c, const struct verify_array *x, int64_t i, int64_t j) {
    for (int d = x->rank - 1; d >= 0; d--) {
        int64_t apart = j % x->shape[d] - i % x->shape[d], n = c->i[0];
        bool window = c->i[1] ? d >= 2 : d == 1;
        if (window ? apart < -(n / 2) || apart > (n - 1) / 2 : apart != 0) return false;
        i /= x->shape[d];
        j /= x->shape[d];
    }
    return true;
}

/* k + alpha mean(x^2) of the window of element i, and how many elements its mean has. */
static double divisor(const struct verify_case *c, const struct verify_array *x, int64_t i, double *count) {
    long double sum = 0;
    int64_t n = 0;
    for (int64_t j = x->count - 1; j >= 0; j--)
        if (meets(c, x, i, j)) sum += (long double)x->data[j] * x->data[j], n++;
    *count = c->i[1] ? (double)n : (double)c->i[0];
    return (double)(c->f[2] + c->f[0] * sum / *count);
}

static bool response_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    const struct verify_array *x = &in[is_backward(c->op)];
    double beta = c->f[1], count;
    if (!verify_array_new(out, c->dtype, x->rank, x->shape, is_backward(c->op))) return false;
    for (int64_t i = 0; i < x->count; i++) {
        double d = divisor(c, x, i, &count);
        if (!is_backward(c->op)) {
            out->data[i] = x->data[i] * pow(d, -beta);
            continue;
        }
        /* The derivatives of all results by x[i]. */
        double own = in[0].data[i] * pow(d, -beta), sum = own, others = 0;
        for (int64_t j = 0; j < x->count; j++) {
            if (!meets(c, x, j, i)) continue;
            d = divisor(c, x, j, &count);
            double by = -beta * pow(d, -beta - 1) * 2 * c->f[0] * x->data[i] / count;
            sum += in[0].data[j] * x->data[j] * by;
            others += fabs(in[0].data[j] * x->data[j] * by);
        }
        out->data[i] = sum;
        out->scale[i] = verify_scale_response(fabs(own), others);
    }
    return true;
}

const struct verify_family verify_composed_response = {
    .name = "composed_response",
    .cases = cases,
    .make = response_make,
    .call = response_call,
    .reference = response_reference,
};
