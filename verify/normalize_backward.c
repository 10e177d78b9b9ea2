/* Cases of the normalize_backward family. i[0] is axes, or groups; i[1] whether the gradients of weight and bias are
 * wanted. Operands are the op's, in its order; statistics are drawn, and need not be those of x. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape {
    int rank;
    int64_t shape[4];
    int64_t argument; /* axes, or groups */
    bool weight;
};

static const struct shape rows[] = {
    {1, {1}, 1, true},
    {1, {7}, 1, false},
    {2, {5, 33}, 1, true},
    {2, {3, 24}, 1, true},
    {4, {2, 3, 5, 3}, 1, true},
    {3, {2, 3, 16}, 1, true},
    {2, {0, 4}, 1, true},
    {2, {4, 0}, 1, true},
    {2, {1, 1027}, 1, true},
    {2, {500, 40}, 1, true},
    {2, {1, 1024}, 1, false},
    /* layer norm alone */
    {3, {4, 2, 6}, 2, true},
    {3, {4, 5, 30}, 3, false},
};
static const struct shape channels[] = {
    {2, {5, 6}, 2, true},
    {3, {2, 4, 5}, 4, true},
    {4, {2, 6, 3, 1}, 3, true},
    {4, {2, 3, 0, 4}, 3, true},
    {3, {0, 4, 3}, 2, true},
    {4, {3, 2, 1, 1}, 1, false},
    {4, {2, 8, 7, 9}, 2, true},
    {3, {1, 2, 514}, 1, true},
    {2, {3, 2050}, 10, true},
    {3, {400, 3, 2}, 3, true},
    {3, {2, 4, 256}, 2, true},
    /* long rows of some channels */
    {4, {2, 4, 21, 100}, 1, true},
    {3, {1, 10, 1649}, 2, true},
    /* planes of odd lengths */
    {4, {3, 6, 19, 27}, 2, true},
    {3, {1, 2, 4099}, 2, false},
    {3, {2, 8, 2064}, 2, true}, /* whole vectors of every dtype */
};

static bool by_channel(enum wick_op op) { return op == WICK_OP_group_norm_backward; }
static bool is_root(enum wick_op op) { return op == WICK_OP_rms_norm_backward; }

static int normalize_backward_cases(enum wick_op op) {
    if (by_channel(op)) return sizeof channels / sizeof *channels;
    return sizeof rows / sizeof *rows - (is_root(op) ? 2 : 0);
}

static void normalize_backward_make(enum wick_op op, int k, struct verify_case *c) {
    const struct shape *s = by_channel(op) ? &channels[k] : &rows[k];
    struct verify_operand statistic = {.role = VERIFY_STATISTIC, .rank = s->rank - (int)s->argument, .high = 2};
    int weight = is_root(op) ? 3 : 4;
    c->n_in = weight + 1;
    c->i[0] = s->argument;
    c->i[1] = k % 5 != 4;
    c->n_out = !c->i[1] ? 1 : is_root(op) ? 2 : 3;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = s->rank, .low = -4, .high = 4};
    memcpy(c->in[0].shape, s->shape, sizeof s->shape);
    c->in[1] = c->in[0];
    memcpy(statistic.shape, s->shape, sizeof s->shape);
    if (by_channel(op)) {
        statistic.rank = 2;
        statistic.shape[1] = s->argument;
    }
    c->in[2] = c->in[weight - 1] = statistic;
    if (!is_root(op)) c->in[2].low = -2;
    c->in[weight - 1].low = 0.25;
    c->in[weight] = (struct verify_operand){.role = VERIFY_VALUE, .rank = 1, .low = -2, .high = 2};
    if (!s->weight) c->in[weight].role = VERIFY_ABSENT;
    if (by_channel(op))
        c->in[weight].shape[0] = s->shape[1];
    else
        memcpy(c->in[weight].shape, s->shape + s->rank - s->argument, sizeof *s->shape * (size_t)s->argument);
    if (!by_channel(op)) c->in[weight].rank = (int)s->argument;
}

static bool normalize_backward_bench(enum wick_op op, struct verify_case *c) {
    int weight = is_root(op) ? 3 : 4;
    bool grouped = by_channel(op);
    const int64_t image[4] = {16, 64, 64, 64}, matrix[2] = {VERIFY_ROWS, VERIFY_COLUMNS};
    normalize_backward_make(op, grouped ? 0 : 2, c);
    c->i[0] = grouped ? 8 : 1;
    for (int i = 0; i < 2; i++) verify_operand_resize(&c->in[i], grouped ? 4 : 2, grouped ? image : matrix);
    for (int i = 2; i < weight; i++)
        verify_operand_resize(&c->in[i], grouped ? 2 : 1, grouped ? (const int64_t[]){16, 8} : matrix);
    verify_operand_resize(&c->in[weight], 1, grouped ? image + 1 : matrix + 1);
    return true;
}

static bool normalize_backward_call(const struct verify_case *c, struct wick_tensor *const *in,
                                    struct wick_tensor **out) {
    struct wick_norm_backward_options options = {.weight = in[is_root(c->op) ? 3 : 4]};
    if (c->i[1]) options.weight_gradient = &out[1];
    if (c->i[1] && !is_root(c->op)) options.bias_gradient = &out[2];
    if (by_channel(c->op))
        out[0] = wick_group_norm_backward(in[0], in[1], in[2], in[3], c->i[0], &options);
    else if (is_root(c->op))
        out[0] = wick_rms_norm_backward(in[0], in[1], in[2], &options);
    else
        out[0] = wick_layer_norm_backward(in[0], in[1], in[2], in[3], (int)c->i[0], &options);
    return out[0] != NULL;
}

/* What was normalised together. */
struct row {
    const double *g, *x;
    double mean, inverse;
    int64_t n;
    bool centered;
    long double *apart, *slope;   /* [n]: the normalised elements; their gradients by the inverse deviation */
    long double slopes, products; /* sums of the magnitudes of slope, and of slope apart */
};

/* `weight` is that of the first element, one for each `plane` of them; NULL for 1. */
static void normalised(struct row *r, const double *weight, int64_t plane) {
    r->slopes = r->products = 0;
    for (int64_t i = 0; i < r->n; i++) {
        r->apart[i] = ((long double)r->x[i] - r->mean) * r->inverse;
        r->slope[i] = (weight ? weight[i / plane] : 1) * (long double)r->g[i] * r->inverse;
        r->slopes += fabsl(r->slope[i]);
        r->products += fabsl(r->slope[i] * r->apart[i]);
    }
}

/* Row j of the transposed Jacobian of the normalised elements, times what the gradient is there. */
static void put(const struct row *r, int64_t j, double *result, double *scale) {
    long double sum = r->slope[j], shared = r->centered ? 1.0L / r->n : 0, here = r->apart[j] / r->n;
    long double of_mean = r->centered ? fabsl(r->mean * r->inverse * here) : 0;
    for (int64_t i = 0; i < r->n; i++) sum -= r->slope[i] * (shared + r->apart[i] * here);
    long double size = fabsl(r->slope[j]) + (shared + of_mean) * r->slopes + fabsl(here) * r->products;
    *result = (double)sum;
    *scale = verify_scale_norm_gradient((double)size);
}

static bool normalize_backward_reference(const struct verify_case *c, const struct verify_array *in,
                                         struct verify_array *out) {
    const struct verify_array *x = &in[1];
    int weight = is_root(c->op) ? 3 : 4;
    int64_t plane = 1, channel_count = 1, groups = by_channel(c->op) ? c->i[0] : 1;
    for (int d = 2; d < x->rank && by_channel(c->op); d++) plane *= x->shape[d];
    for (int d = x->rank - (int)c->i[0]; d < x->rank && !by_channel(c->op); d++) channel_count *= x->shape[d];
    if (by_channel(c->op)) channel_count = x->shape[1];
    if (!verify_array_new(out, c->dtype, x->rank, x->shape, true)) return false;
    for (int i = 1; i < c->n_out; i++) {
        const int64_t *shape = by_channel(c->op) ? x->shape + 1 : x->shape + x->rank - c->i[0];
        if (!verify_array_new(&out[i], c->dtype, by_channel(c->op) ? 1 : (int)c->i[0], shape, true)) return false;
        memset(out[i].scale, 0, sizeof(double) * (size_t)channel_count);
    }
    int64_t n = channel_count / groups * plane;
    /* Of the weight, of the bias; of a row. */
    long double *sums = calloc(2 * (size_t)channel_count + 2 * (size_t)n + 1, sizeof *sums);
    if (!sums) return false;
    for (int64_t k = 0; n > 0 && k < x->count / n; k++) {
        int64_t first = k % groups * (channel_count / groups);
        struct row r = {.g = in[0].data + k * n, .x = x->data + k * n, .n = n};
        r.centered = !is_root(c->op);
        r.mean = r.centered ? in[2].data[k] : 0;
        r.inverse = in[weight - 1].data[k];
        r.apart = sums + 2 * channel_count;
        r.slope = r.apart + n;
        normalised(&r, c->in[weight].role != VERIFY_ABSENT ? in[weight].data + first : NULL, plane);
        for (int64_t j = 0; j < n; j++) put(&r, j, &out->data[k * n + j], &out->scale[k * n + j]);
        for (int64_t j = 0; j < n && c->n_out > 1; j++) {
            int64_t at = first + j / plane;
            sums[at] += r.g[j] * r.apart[j];
            sums[channel_count + at] += r.g[j];
            out[1].scale[at] += fabs(r.g[j] * r.inverse) * (fabs(r.x[j]) + fabs(r.mean));
            if (c->n_out > 2) out[2].scale[at] += fabs(r.g[j]);
        }
    }
    for (int i = 1; i < c->n_out; i++)
        for (int64_t at = 0; at < channel_count; at++) out[i].data[at] = (double)sums[(i - 1) * channel_count + at];
    free(sums);
    return true;
}

const struct verify_family verify_normalize_backward = {
    .name = "normalize_backward",
    .cases = normalize_backward_cases,
    .make = normalize_backward_make,
    .bench = normalize_backward_bench,
    .call = normalize_backward_call,
    .reference = normalize_backward_reference,
};
