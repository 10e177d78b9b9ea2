/* Cases of the composed_lp_pool family. i: kernel [3], stride [3], padding [3], ceil_mode; f: p. */
#include "verify/scales.h"
#include "verify/verify.h"

#include <math.h>
#include <string.h>

static const struct {
    int spatial;
    double p, low;
    int64_t n, c, in[3], kernel[3], stride[3], padding[3], ceil_mode;
} shapes[] = {
    {2, 2, -4, 2, 3, {6, 7}, {2, 3}, {0}, {0}, 0},     {2, 3, 0.25, 1, 2, {7, 8}, {3, 2}, {2, 1}, {0}, 1},
    {1, 1.5, 0.25, 2, 2, {17}, {3}, {2}, {1}, 0},      {3, 2, -4, 1, 2, {4, 5, 4}, {2, 2, 3}, {1, 2, 1}, {0}, 1},
    {2, 0.5, 0.25, 1, 1, {5, 5}, {2, 2}, {0}, {0}, 0}, {2, 1, -4, 1, 2, {5, 33}, {3, 3}, {1, 1}, {0}, 0},
    {2, 2, -4, 0, 2, {5, 4}, {2, 2}, {0}, {0}, 0},
};

static int cases(enum wick_op op) {
    (void)op;
    return sizeof shapes / sizeof *shapes;
}

static bool is_backward(enum wick_op op) { return op == WICK_OP_lp_pool_backward; }

/* Windows over spatial dim s of `in` elements. */
static int64_t windows_of(const struct verify_case *c, int s, int64_t in) {
    int64_t stride = c->i[3 + s] ? c->i[3 + s] : c->i[s];
    double steps = (double)(in + 2 * c->i[6 + s] - c->i[s]) / (double)stride;
    int64_t n = (int64_t)(c->i[9] ? ceil(steps) : floor(steps)) + 1;
    return c->i[9] && (n - 1) * stride >= in + c->i[6 + s] ? n - 1 : n;
}

static void lp_make(enum wick_op op, int k, struct verify_case *c) {
    int n = shapes[k].spatial;
    memcpy(c->i, shapes[k].kernel, sizeof shapes[k].kernel);
    memcpy(c->i + 3, shapes[k].stride, sizeof shapes[k].stride);
    memcpy(c->i + 6, shapes[k].padding, sizeof shapes[k].padding);
    c->i[9] = shapes[k].ceil_mode;
    c->f[0] = shapes[k].p;
    c->n_out = 1;
    c->n_in = is_backward(op) ? 2 : 1;
    struct verify_operand x = {.role = VERIFY_VALUE, .rank = 2 + n, .low = shapes[k].low, .high = 4};
    x.shape[0] = shapes[k].n;
    x.shape[1] = shapes[k].c;
    memcpy(x.shape + 2, shapes[k].in, sizeof *x.shape * (size_t)n);
    c->in[is_backward(op)] = x;
    if (!is_backward(op)) return;
    for (int s = 0; s < n; s++) x.shape[2 + s] = windows_of(c, s, x.shape[2 + s]);
    x.low = -4;
    c->in[0] = x;
}

static bool lp_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    struct wick_pool_options o = {.ceil_mode = c->i[9] != 0};
    int n = c->in[0].rank - 2;
    memcpy(o.stride, c->i + 3, sizeof o.stride);
    memcpy(o.padding, c->i + 6, sizeof o.padding);
    out[0] = is_backward(c->op) ? wick_lp_pool_backward(in[0], in[1], c->f[0], n, c->i, &o)
                                : wick_lp_pool(in[0], c->f[0], n, c->i, &o);
    return out[0] != NULL;
}

/* The range of window o over dim d of x, and how often its elements count as PyTorch has it. */
static double range_of(const struct verify_case *c, const struct verify_array *x, int d, int64_t o, int64_t range[2]) {
    int64_t stride = c->i[1 + d] ? c->i[1 + d] : c->i[d - 2], kernel = c->i[d - 2], padding = c->i[4 + d];
    int64_t begin = o * stride - padding, end = begin + kernel, all = x->shape[d] + padding;
    if (end > all) end = all;
    range[0] = begin > 0 ? begin : 0;
    range[1] = end < x->shape[d] ? end : x->shape[d];
    return (double)kernel / (double)(end - begin);
}

/* Calls `add` for each element i of x in window o of the results; gives how often they count. */
static double each(const struct verify_case *c, const struct verify_array *x, const int64_t *shape, int64_t o,
                   void (*add)(void *to, int64_t i), void *to) {
    int64_t range[3][2] = {{0, 1}, {0, 1}, {0, 1}}, size[3] = {1, 1, 1}, rest = o;
    double often = 1;
    for (int d = x->rank - 1; d >= 2; d--) {
        int a = d - x->rank + 3;
        size[a] = x->shape[d];
        often *= range_of(c, x, d, rest % shape[d], range[a]);
        rest /= shape[d];
    }
    for (int64_t i = range[0][0]; i < range[0][1]; i++)
        for (int64_t j = range[1][0]; j < range[1][1]; j++)
            for (int64_t k = range[2][0]; k < range[2][1]; k++)
                add(to, ((rest * size[0] + i) * size[1] + j) * size[2] + k);
    return often;
}

struct sum {
    const double *x;
    double *to, *scale;   /* NULL: the sum of powers */
    double p, sum, terms; /* terms: the sum of magnitudes */
};

static void add_power(void *to, int64_t i) {
    struct sum *s = to;
    double share = pow(s->x[i], s->to ? s->p - 1 : s->p);
    if (!s->to) {
        s->sum += share;
        s->terms += fabs(share);
        return;
    }
    s->to[i] += s->sum * share;
    s->scale[i] += verify_scale_window(fabs(s->sum * share));
}

static bool lp_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool back = is_backward(c->op);
    const struct verify_array *x = &in[back];
    int64_t shape[WICK_MAX_RANK] = {x->shape[0], x->shape[1]}, count = x->shape[0] * x->shape[1];
    for (int d = 2; d < x->rank; d++) {
        shape[d] = windows_of(c, d - 2, x->shape[d]);
        count *= shape[d];
    }
    if (!verify_array_new(out, c->dtype, x->rank, back ? x->shape : shape, true)) return false;
    if (back) memset(out->data, 0, sizeof *out->data * (size_t)out->count);
    if (back) memset(out->scale, 0, sizeof *out->scale * (size_t)out->count);
    for (int64_t o = 0; o < count; o++) {
        struct sum s = {.x = x->data, .p = c->f[0]}, none = s;
        double often = each(c, x, shape, o, add_power, &s);
        if (!back) {
            out->data[o] = pow(s.sum * often, 1 / s.p);
            out->scale[o] = verify_scale_window(fabs(out->data[o]) * s.terms / fabs(s.sum));
            continue;
        }
        none.sum = in[0].data[o] * pow(s.sum * often, 1 / s.p - 1) * often;
        none.to = out->data;
        none.scale = out->scale;
        each(c, x, shape, o, add_power, &none);
    }
    return true;
}

const struct verify_family verify_composed_lp_pool = {
    .name = "composed_lp_pool",
    .cases = cases,
    .make = lp_make,
    .call = lp_call,
    .reference = lp_reference,
};
