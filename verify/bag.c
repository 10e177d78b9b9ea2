/* Cases of the composed_bag family. Operands are the gradient, of gradients, weight, ids and weights. i[0] is the mode,
 * i[1] how many offsets there are, 0 for none, i[2] ends, i[3] padding or -1, i[4] where the offsets begin in `i`. Of
 * embedding_backward i[0] is the number of rows. */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* weight [v,d]; ids [bags,n], or [n] with offsets. */
static const struct {
    int64_t v, d, bags, n;
    enum wick_bag_mode mode;
    bool weighted, ends;
    int64_t padding;
    int64_t offsets[5];
} bags[] = {
    {7, 3, 2, 4, WICK_BAG_SUM, false, false, -1, {0}},
    {5, 4, 3, 8, WICK_BAG_MEAN, false, false, 2, {0, 3, 3}},
    {6, 2, 3, 6, WICK_BAG_MAX, false, false, -1, {0, 2, 5}},
    {4, 3, 2, 5, WICK_BAG_SUM, true, false, -1, {0}},
    {9, 2, 4, 7, WICK_BAG_SUM, true, true, 8, {0, 1, 6, 6, 7}},
    {3, 2, 2, 0, WICK_BAG_MEAN, false, false, -1, {0}},
    {11, 33, 3, 40, WICK_BAG_MAX, false, true, 10, {0, 30, 30, 40}},
};
enum { CASES = sizeof bags / sizeof *bags };

static int bag_cases(enum wick_op op) { return op == WICK_OP_embedding_backward ? 4 : CASES; }

static bool listed(int k) { return bags[k].bags > 2; }

static struct verify_operand matrix(int64_t rows, int64_t columns) {
    return (struct verify_operand){.role = VERIFY_VALUE, .rank = 2, .shape = {rows, columns}, .low = -4, .high = 4};
}

/* Ids [5,3] or fewer, and the gradient of their rows. */
static void make_embedding(int k, struct verify_case *c) {
    struct verify_operand ids = {
        .role = VERIFY_INDEX, .rank = k % 3, .shape = {5, k == 2 ? 0 : 3}, .low = 0, .high = 8};
    c->n_in = 2;
    c->i[0] = 9;
    c->i[3] = k == 1 ? 4 : -1;
    c->in[1] = ids;
    if (k == 3) { /* many for each row */
        c->in[1].rank = 1;
        c->in[1].shape[0] = 300;
    }
    c->in[0] = c->in[1];
    c->in[0].role = VERIFY_VALUE;
    c->in[0].low = -4;
    c->in[0].high = 4;
    c->in[0].shape[c->in[0].rank++] = 6;
}

static void bag_make(enum wick_op op, int k, struct verify_case *c) {
    int x = op == WICK_OP_embedding_bag_backward;
    c->n_out = 1;
    if (op == WICK_OP_embedding_backward) {
        make_embedding(k, c);
        return;
    }
    c->n_in = x + 3;
    c->n_out = x && bags[k].weighted ? 2 : 1;
    c->i[0] = bags[k].mode;
    c->i[1] = listed(k) ? bags[k].bags + bags[k].ends : 0;
    c->i[2] = bags[k].ends;
    c->i[3] = bags[k].padding;
    c->i[4] = bags[k].bags;
    memcpy(c->i + 5, bags[k].offsets, sizeof bags[k].offsets);
    c->in[0] = matrix(bags[k].bags, bags[k].d);
    c->in[x] = matrix(bags[k].v, bags[k].d);
    c->in[x + 1] = matrix(bags[k].bags, bags[k].n);
    if (listed(k)) {
        c->in[x + 1].rank = 1;
        c->in[x + 1].shape[0] = bags[k].n;
    }
    c->in[x + 2] = c->in[x + 1];
    c->in[x + 1].role = VERIFY_INDEX;
    c->in[x + 1].low = 0;
    c->in[x + 1].high = (double)(bags[k].v - 1);
    if (!bags[k].weighted) c->in[x + 2].role = VERIFY_ABSENT;
}

static bool bag_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    if (c->op == WICK_OP_embedding_backward) {
        out[0] = wick_embedding_backward(in[0], in[1], c->i[0], c->i[3]);
        return out[0] != NULL;
    }
    int x = c->op == WICK_OP_embedding_bag_backward;
    struct wick_bag_options o = {.mode = (enum wick_bag_mode)c->i[0],
                                 .ends = c->i[2] != 0,
                                 .weights = in[x + 2],
                                 .padded = c->i[3] >= 0,
                                 .padding = c->i[3] >= 0 ? c->i[3] : 0};
    struct wick_tensor *offsets = NULL;
    if (c->i[1] > 0) {
        int32_t values[5];
        for (int i = 0; i < c->i[1]; i++) values[i] = (int32_t)c->i[5 + i];
        o.offsets = offsets =
            wick_from_data(verify_device(), WICK_I32, WICK_SHAPE(c->i[1]), values, (size_t)c->i[1] * sizeof *values);
        if (!offsets) return false;
    }
    out[0] = x ? wick_embedding_bag_backward(in[0], in[1], in[2], &o, c->n_out > 1 ? &out[1] : NULL)
               : wick_embedding_bag(in[0], in[1], &o);
    wick_release(offsets);
    return out[0] != NULL;
}

/* ---- references ---- */

/* A bag's ids: from first to last - 1 of all. */
struct range {
    int64_t first, last;
};

static struct range range_of(const struct verify_case *c, const struct verify_array *ids, int64_t b) {
    int64_t n = ids->shape[ids->rank - 1];
    if (c->i[1] == 0) return (struct range){b * n, (b + 1) * n};
    return (struct range){c->i[5 + b], b + 1 < c->i[1] ? c->i[6 + b] : n};
}

/* The row of place p; -1 for one that counts for nothing. */
static int64_t row_at(const struct verify_case *c, const struct verify_array *ids, int64_t v, int64_t p) {
    int64_t id = (int64_t)ids->data[p];
    return id >= v || id == c->i[3] ? -1 : id;
}

/* How many rows a bag has, and the place of its largest element in a column, -1 for none. */
static int64_t count_rows(const struct verify_case *c, const struct verify_array *in, struct range r, int64_t column,
                          int64_t *most) {
    int64_t d = in[0].shape[1], n = 0;
    *most = -1;
    for (int64_t p = r.first; p < r.last; p++) {
        int64_t row = row_at(c, &in[1], in[0].shape[0], p);
        if (row < 0) continue;
        n++;
        if (*most < 0 || in[0].data[row * d + column] > in[0].data[(int64_t)in[1].data[*most] * d + column]) *most = p;
    }
    return n;
}

/* in: weight, ids, weights. */
static bool forward_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t d = in[0].shape[1], shape[2] = {c->i[4], d}, most;
    if (!verify_array_new(out, c->dtype, 2, shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) {
        struct range r = range_of(c, &in[1], i / d);
        int64_t n = count_rows(c, in, r, i % d, &most);
        long double sum = 0, terms = 0;
        for (int64_t p = r.last - 1; p >= r.first; p--) {
            int64_t row = row_at(c, &in[1], in[0].shape[0], p);
            if (row < 0) continue;
            long double x = in[0].data[row * d + i % d] * (c->in[2].role == VERIFY_ABSENT ? 1 : in[2].data[p]);
            sum += x;
            terms += fabsl(x);
        }
        if (c->i[0] == WICK_BAG_MEAN && n > 0) sum /= n;
        if (c->i[0] == WICK_BAG_MAX) sum = most < 0 ? 0 : in[0].data[(int64_t)in[1].data[most] * d + i % d];
        out->data[i] = (double)sum;
        out->scale[i] = verify_scale_added((double)terms, (double)terms * (double)n, 0);
    }
    return true;
}

/* Adds a gradient to an element. */
static void add(struct verify_array *out, int64_t at, double x) {
    out->data[at] += x;
    out->scale[at] = verify_scale_added(out->scale[at], fabs(out->data[at]), fabs(x));
}

static bool zeros(struct verify_array *out, enum wick_dtype dtype, int rank, const int64_t *shape) {
    if (!verify_array_new(out, dtype, rank, shape, true)) return false;
    for (int64_t i = 0; i < out->count; i++) out->data[i] = out->scale[i] = 0;
    return true;
}

/* in: gradient, weight, ids, weights. */
static bool backward_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    bool weighted = c->in[3].role != VERIFY_ABSENT;
    int64_t d = in[1].shape[1], most;
    if (!zeros(&out[0], c->dtype, 2, in[1].shape)) return false;
    if (weighted && !zeros(&out[1], c->dtype, in[2].rank, in[2].shape)) return false;
    for (int64_t i = 0; i < c->i[4] * d; i++) {
        struct range r = range_of(c, &in[2], i / d);
        int64_t n = count_rows(c, in + 1, r, i % d, &most);
        for (int64_t p = r.first; p < r.last; p++) {
            int64_t row = row_at(c, &in[2], in[1].shape[0], p);
            double g = in[0].data[i];
            if (row < 0 || (c->i[0] == WICK_BAG_MAX && p != most)) continue;
            if (c->i[0] == WICK_BAG_MEAN) g /= (double)n;
            add(&out[0], row * d + i % d, weighted ? g * in[3].data[p] : g);
            if (weighted) add(&out[1], p, g * in[1].data[row * d + i % d]);
        }
    }
    return true;
}

static bool embedding_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t d = in[0].shape[in[0].rank - 1], shape[2] = {c->i[0], d};
    if (!zeros(out, c->dtype, 2, shape)) return false;
    for (int64_t p = in[0].count - 1; p >= 0; p--) {
        int64_t row = row_at(c, &in[1], c->i[0], p / d);
        if (row >= 0) add(out, row * d + p % d, in[0].data[p]);
    }
    return true;
}

static bool bag_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (c->op == WICK_OP_embedding_backward) return embedding_reference(c, in, out);
    return c->op == WICK_OP_embedding_bag ? forward_reference(c, in, out) : backward_reference(c, in, out);
}

const struct verify_family verify_composed_bag = {
    .name = "composed_bag",
    .cases = bag_cases,
    .make = bag_make,
    .call = bag_call,
    .reference = bag_reference,
};
