/* Cases of the composed_slopes family. i[0] is the dim of glu_backward. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <string.h>

enum { CASES = 6 };

static int slopes_cases(enum wick_op op) {
    (void)op;
    return CASES;
}

static void make_prelu(int k, struct verify_case *c) {
    static const struct {
        int rank;
        int64_t shape[4];
        int weight_rank;
        int64_t weight;
    } shapes[CASES] = {{1, {5}, 1, 5},    {2, {3, 4}, 1, 4},       {3, {2, 3, 7}, 1, 1},
                       {2, {0, 3}, 1, 3}, {4, {2, 3, 5, 4}, 1, 3}, {0, {0}, 0, 1}};
    c->n_in = 3;
    c->n_out = 2;
    for (int i = 0; i < 3; i++) {
        c->in[i] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -4, .high = 4};
        memcpy(c->in[i].shape, shapes[k].shape, sizeof shapes[k].shape);
    }
    c->in[2].rank = shapes[k].weight_rank;
    c->in[2].shape[0] = shapes[k].weight;
}

static void slopes_make(enum wick_op op, int k, struct verify_case *c) {
    static const struct {
        int rank;
        int64_t shape[3];
        int dim;
    } shapes[CASES] = {{1, {8}, 0},     {2, {3, 10}, -1},  {3, {2, 6, 4}, 1},
                       {2, {3, 0}, -1}, {3, {4, 3, 2}, 0}, {2, {9, 150}, 1}};
    if (op == WICK_OP_prelu_backward) {
        make_prelu(k, c);
        return;
    }
    int dim = op == WICK_OP_glu_backward ? shapes[k].dim : -1, at = dim < 0 ? dim + shapes[k].rank : dim;
    c->n_in = 2;
    c->n_out = 1;
    c->i[0] = dim;
    c->in[1] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[1].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[0] = c->in[1];
    c->in[0].shape[at] /= 2;
}

static bool slopes_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    switch (c->op) {
    case WICK_OP_prelu_backward: out[0] = wick_prelu_backward(in[0], in[1], in[2], &out[1]); break;
    case WICK_OP_glu_backward: out[0] = wick_glu_backward(in[0], in[1], (int)c->i[0]); break;
    default: out[0] = wick_swiglu_backward(in[0], in[1]); break;
    }
    return out[0] != NULL;
}

static bool prelu_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t inner = 1, channels = in[2].count;
    for (int d = 2; d < in[1].rank; d++) inner *= in[1].shape[d];
    if (!verify_array_new(&out[0], c->dtype, in[1].rank, in[1].shape, false) ||
        !verify_array_new(&out[1], c->dtype, in[2].rank, in[2].shape, true))
        return false;
    for (int64_t k = 0; k < channels; k++) {
        long double sum = 0, terms = 0, n = 1;
        for (int64_t p = in[1].count - 1; p >= 0; p--) {
            if (channels > 1 && p / inner % channels != k) continue;
            double g = in[0].data[p], x = in[1].data[p];
            out[0].data[p] = x > 0 ? g : g * in[2].data[k];
            if (x > 0) continue;
            sum += (long double)g * x;
            terms += fabsl((long double)g * x);
            n++;
        }
        out[1].data[k] = (double)sum;
        out[1].scale[k] = verify_scale_sum((double)terms, verify_scale_growth(c->dtype == WICK_F64, (double)n));
    }
    return true;
}

/* By the quotient rule, of a / (1 + e^-b) and b a / (1 + e^-a). */
static bool slopes_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (c->op == WICK_OP_prelu_backward) return prelu_reference(c, in, out);
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in[1].rank : 0);
    int64_t half = 1;
    for (int d = dim; d < in[0].rank; d++) half *= in[0].shape[d];
    if (!verify_array_new(out, c->dtype, in[1].rank, in[1].shape, true)) return false;
    for (int64_t p = 0; p < in[0].count; p++) {
        int64_t at = p / half * 2 * half + p % half;
        long double a = in[1].data[at], b = in[1].data[at + half], g = in[0].data[p];
        long double e = expl(c->op == WICK_OP_glu_backward ? -b : -a), one = 1 + e;
        bool glu = c->op == WICK_OP_glu_backward;
        out->data[at] = (double)(glu ? g / one : g * b * (one + a * e) / (one * one));
        out->data[at + half] = (double)(glu ? g * a * e / (one * one) : g * a / one);
        out->scale[at] = verify_scale_operand((double)fabsl(glu ? g : g * b));
        out->scale[at + half] = verify_scale_operand((double)fabsl(g * a));
    }
    return true;
}

const struct verify_family verify_composed_slopes = {
    .name = "composed_slopes",
    .cases = slopes_cases,
    .make = slopes_make,
    .call = slopes_call,
    .reference = slopes_reference,
};
