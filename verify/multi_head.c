/* Cases of the composed_heads family. Operands: query, key, value, in_weight, out_weight, mask. i[0]: heads, i[1]: kind
 * of mask, i[2]: separate weights, made of in_weight, i[3]: biases, made of the weights' first columns, i[4]: causal,
 * i[5]: what weights are wanted, i[6]: the seed of dropout; f[0]: dropout. */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum mask { NONE, KEEP, ADD, KEYS };
enum wanted { NOTHING, MEAN, EACH };

static const struct {
    int64_t batch, queries, keys, features, heads;
    enum mask mask;
    bool apart, biased, causal;
    enum wanted weights;
    double dropout;
} shapes[] = {
    {2, 3, 4, 4, 2, NONE, false, true, false, NOTHING, 0}, {1, 4, 4, 6, 3, KEYS, true, true, true, MEAN, 0},
    {2, 5, 3, 4, 1, ADD, false, false, false, EACH, 0},    {2, 4, 5, 6, 2, KEEP, true, false, false, MEAN, 0.25},
    {0, 3, 2, 2, 1, NONE, false, true, false, NOTHING, 0}, {1, 20, 33, 32, 4, KEYS, false, true, false, NOTHING, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 40 /* keys, features */ };

static int heads_cases(enum wick_op op) {
    (void)op;
    return SHAPES;
}

static struct verify_operand operand(int rank, int64_t a, int64_t b, int64_t c) {
    return (struct verify_operand){.role = VERIFY_VALUE, .rank = rank, .shape = {a, b, c}, .low = -1, .high = 1};
}

static void heads_make(enum wick_op op, int k, struct verify_case *c) {
    int64_t b = shapes[k].batch, m = shapes[k].queries, n = shapes[k].keys, e = shapes[k].features;
    (void)op;
    c->n_in = 6;
    c->n_out = shapes[k].weights == NOTHING ? 1 : 2;
    c->in[0] = operand(3, b, m, e);
    c->in[1] = c->in[2] = operand(3, b, n, e);
    c->in[3] = operand(2, 3 * e, e, 0);
    c->in[4] = operand(2, e, e, 0);
    c->in[5] = shapes[k].mask == KEYS ? operand(2, b, n, 0) : operand(2, m, n, 0);
    if (shapes[k].mask == NONE) c->in[5].role = VERIFY_ABSENT;
    if (shapes[k].mask == KEEP || shapes[k].mask == KEYS) c->in[5].role = VERIFY_CONDITION;
    c->i[0] = shapes[k].heads;
    c->i[1] = shapes[k].mask;
    c->i[2] = shapes[k].apart;
    c->i[3] = shapes[k].biased;
    c->i[4] = shapes[k].causal;
    c->i[5] = shapes[k].weights;
    c->i[6] = shapes[k].dropout > 0 ? 77 + k : 0;
    c->f[0] = shapes[k].dropout;
}

static bool heads_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int64_t e = c->in[0].shape[2];
    const struct wick_attention_options attention = {
        .causal = c->i[4] != 0, .dropout = c->f[0], .seed = (uint64_t)c->i[6]};
    struct wick_multi_head_options options = {.heads = c->i[0],
                                              .in_weight = in[3],
                                              .out_weight = in[4],
                                              .mask = c->i[1] == KEYS ? NULL : in[5],
                                              .key_mask = c->i[1] == KEYS ? in[5] : NULL,
                                              .attention = &attention,
                                              .weights = c->n_out > 1 ? &out[1] : NULL,
                                              .each_head = c->i[5] == EACH};
    wick_scope_begin();
    if (c->i[2]) {
        options.in_weight = NULL;
        options.q_weight = wick_narrow(in[3], 0, 0, e);
        options.k_weight = wick_narrow(in[3], 0, e, e);
        options.v_weight = wick_narrow(in[3], 0, 2 * e, e);
    }
    if (c->i[3]) {
        options.in_bias = wick_select(in[3], 1, 0);
        options.out_bias = wick_select(in[4], 1, 0);
    }
    struct wick_tensor *y = wick_multi_head_attention(in[0], in[1], in[2], &options);
    if (y && c->n_out > 1) wick_keep(out[1]);
    out[0] = wick_scope_end(y);
    return out[0] != NULL;
}

/* ---- the reference, element by element ---- */

/* A sum, and that of its terms' magnitudes. */
struct sum {
    double value, size;
};

/* Feature f of the projection number `which` of a row of x; biases are the weights' first column. */
static struct sum project(const struct verify_case *c, const struct verify_array *weight, const double *row,
                          int64_t f) {
    int64_t e = weight->shape[1];
    const double *w = weight->data + f * e;
    struct sum s = {c->i[3] ? w[0] : 0, c->i[3] ? fabs(w[0]) : 0};
    for (int64_t i = e - 1; i >= 0; i--) {
        s.value += w[i] * row[i];
        s.size += fabs(w[i] * row[i]);
    }
    return s;
}

/* A query of a head: its weights, and the largest sum of magnitudes in a score. */
struct row {
    double weight[MOST], largest;
};

static bool hidden(const struct verify_case *c, const struct verify_array *in, int64_t b, int64_t i, int64_t j) {
    int64_t n = in[1].shape[1];
    if (c->i[4] && j > i) return true;
    return (c->i[1] == KEEP && in[5].data[i * n + j] == 0) || (c->i[1] == KEYS && in[5].data[b * n + j] == 0);
}

static double kept(const struct verify_case *c, int64_t i) {
    if (c->f[0] == 0) return 1;
    return verify_philox((uint64_t)c->i[6], (uint64_t)i / 4, i % 4) < c->f[0] * 0x1p32 ? 0 : 1 / (1 - c->f[0]);
}

static void weigh(const struct verify_case *c, const struct verify_array *in, int64_t b, int64_t h, int64_t i,
                  struct row *row) {
    int64_t m = in[0].shape[1], n = in[1].shape[1], e = in[0].shape[2], d = e / c->i[0];
    double total = 0;
    row->largest = 0;
    for (int64_t j = 0; j < n; j++) {
        double score = 0, size = 0;
        for (int64_t f = h * d; f < (h + 1) * d; f++) {
            struct sum q = project(c, &in[3], in[0].data + (b * m + i) * e, f);
            struct sum k = project(c, &in[3], in[1].data + (b * n + j) * e, e + f);
            score += q.value * k.value / sqrt((double)d);
            size += q.size * k.size / sqrt((double)d);
        }
        if (c->i[1] == ADD) score += in[5].data[i * n + j];
        row->weight[j] = hidden(c, in, b, i, j) ? 0 : exp(score);
        row->largest = fmax(row->largest, size + fabs(score));
        total += row->weight[j];
    }
    for (int64_t j = 0; j < n; j++)
        row->weight[j] *= total == 0 ? 0 : kept(c, ((b * c->i[0] + h) * m + i) * n + j) / total;
}

/* Adds a head's part to the sums of all features of a row. */
static void attend(const struct verify_case *c, const struct verify_array *in, int64_t b, int64_t h,
                   const struct row *row, struct sum *sums) {
    int64_t n = in[1].shape[1], e = in[0].shape[2], d = e / c->i[0];
    for (int64_t f = h * d; f < (h + 1) * d; f++) {
        struct sum x = {0, 0};
        for (int64_t j = 0; j < n; j++) {
            struct sum v = project(c, &in[3], in[2].data + (b * n + j) * e, 2 * e + f);
            x.value += row->weight[j] * v.value;
            x.size += row->weight[j] * v.size;
        }
        for (int64_t o = 0; o < e; o++) {
            sums[o].value += in[4].data[o * e + f] * x.value;
            sums[o].size += verify_scale_heads(fabs(in[4].data[o * e + f]) * x.size, row->largest);
        }
    }
}

static void show(const struct verify_case *c, const struct row *row, int64_t b, int64_t h, int64_t i,
                 struct verify_array *weights) {
    int64_t n = weights->shape[weights->rank - 1], m = weights->shape[weights->rank - 2], heads = c->i[0];
    bool each = c->i[5] == EACH;
    for (int64_t j = 0; j < n; j++) {
        int64_t at = ((each ? b * heads + h : b) * m + i) * n + j;
        double share = row->weight[j] / (double)(each ? 1 : heads);
        weights->data[at] += share;
        weights->scale[at] += verify_scale_heads(share, row->largest);
    }
}

static bool heads_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t batch = in[0].shape[0], m = in[0].shape[1], n = in[1].shape[1], e = in[0].shape[2];
    int64_t mean[3] = {batch, m, n}, each[4] = {batch, c->i[0], m, n};
    struct row row;
    if (!verify_array_new(&out[0], c->dtype, 3, in[0].shape, true)) return false;
    if (c->n_out > 1) {
        if (!verify_array_new(&out[1], c->dtype, c->i[5] == EACH ? 4 : 3, c->i[5] == EACH ? each : mean, true))
            return false;
        for (int64_t p = 0; p < out[1].count; p++) out[1].data[p] = out[1].scale[p] = 0;
    }
    for (int64_t r = 0; r < batch * m; r++) {
        struct sum sums[MOST] = {{0, 0}};
        for (int64_t h = 0; h < c->i[0]; h++) {
            weigh(c, in, r / m, h, r % m, &row);
            attend(c, in, r / m, h, &row, sums);
            if (c->n_out > 1) show(c, &row, r / m, h, r % m, &out[1]);
        }
        for (int64_t o = 0; o < e; o++) {
            double bias = c->i[3] ? in[4].data[o * e] : 0;
            out[0].data[r * e + o] = sums[o].value + bias;
            out[0].scale[r * e + o] = sums[o].size + fabs(bias);
        }
    }
    return true;
}

const struct verify_family verify_composed_heads = {
    .name = "composed_heads",
    .cases = heads_cases,
    .make = heads_make,
    .call = heads_call,
    .reference = heads_reference,
};
