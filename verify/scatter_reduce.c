/* Cases of scatter_prod and its kind: i[0] is the dim, i[1] include_self, i[2] the kind of scatter_reduce and
 * index_reduce; in[1] are the ids. */
#include "verify/scatter.h"
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x, the dim, and how many ids along it. */
static const struct {
    int rank;
    int64_t shape[3];
    int dim;
    int64_t ids;
} shapes[] = {{1, {7}, 0, 3},       {2, {4, 6}, 1, 9},  {3, {3, 5, 2}, -2, 3},  {2, {3, 0}, 0, 9},   {1, {1}, 0, 3},
              {2, {41, 30}, 0, 90}, {1, {20}, 0, 1100}, {2, {2, 2500}, 1, 300}, {1, {17000}, 0, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SMALL = 6 };

bool verify_reduces(enum wick_op op) {
    return op == WICK_OP_scatter_prod || op == WICK_OP_scatter_amax || op == WICK_OP_scatter_amin ||
           op == WICK_OP_scatter_mean || op == WICK_OP_scatter_reduce || op == WICK_OP_index_reduce;
}

int verify_reduce_cases(enum wick_op op) {
    return op == WICK_OP_scatter_prod || op == WICK_OP_scatter_amax || op == WICK_OP_scatter_amin ? SHAPES : SMALL;
}

/* What the sources come to; integers have no mean. */
static enum wick_scatter_kind kind_of(const struct verify_case *c) {
    switch (c->op) {
    case WICK_OP_scatter_prod: return WICK_SCATTER_PROD;
    case WICK_OP_scatter_amax: return WICK_SCATTER_AMAX;
    case WICK_OP_scatter_amin: return WICK_SCATTER_AMIN;
    case WICK_OP_scatter_mean: return WICK_SCATTER_MEAN;
    default: break;
    }
    bool mean = c->i[2] == WICK_SCATTER_MEAN && wick_dtype_is_float(c->dtype);
    return c->i[2] == WICK_SCATTER_MEAN && !mean ? WICK_SCATTER_SUM : (enum wick_scatter_kind)c->i[2];
}

void verify_reduce_make(enum wick_op op, int k, struct verify_case *c) {
    static const enum wick_scatter_kind kinds[SMALL] = {WICK_SCATTER_SUM,  WICK_SCATTER_AMIN, WICK_SCATTER_PROD,
                                                        WICK_SCATTER_AMAX, WICK_SCATTER_PROD, WICK_SCATTER_MEAN};
    int dim = shapes[k].dim < 0 ? shapes[k].dim + shapes[k].rank : shapes[k].dim;
    double most = op == WICK_OP_scatter_prod || op == WICK_OP_scatter_reduce || op == WICK_OP_index_reduce ? 2 : 8;
    c->n_in = 3;
    c->n_out = 1;
    c->i[0] = shapes[k].dim;
    c->i[1] = k % 3 != 0;
    c->i[2] = op == WICK_OP_scatter_reduce || op == WICK_OP_index_reduce ? (int64_t)kinds[k] : 0;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -most, .high = most};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->in[2] = c->in[0];
    c->in[2].shape[dim] = shapes[k].ids;
    c->in[1] = c->in[2];
    c->in[1].role = VERIFY_INDEX;
    c->in[1].low = 0;
    c->in[1].high = (double)(shapes[k].shape[dim] - 1);
    if (op == WICK_OP_index_reduce) {
        c->in[1].rank = 1;
        c->in[1].shape[0] = shapes[k].ids;
    }
}

bool verify_reduce_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dim = (int)c->i[0];
    bool self = c->i[1];
    switch (c->op) {
    case WICK_OP_scatter_prod: out[0] = wick_scatter_prod(in[0], dim, in[1], in[2], self); break;
    case WICK_OP_scatter_amax: out[0] = wick_scatter_amax(in[0], dim, in[1], in[2], self); break;
    case WICK_OP_scatter_amin: out[0] = wick_scatter_amin(in[0], dim, in[1], in[2], self); break;
    case WICK_OP_scatter_mean: out[0] = wick_scatter_mean(in[0], dim, in[1], in[2], self); break;
    case WICK_OP_scatter_reduce: out[0] = wick_scatter_reduce(in[0], dim, in[1], in[2], kind_of(c), self); break;
    default: out[0] = wick_index_reduce(in[0], dim, in[1], in[2], kind_of(c), self); break;
    }
    return out[0] != NULL;
}

/* What has come to an element so far. */
struct sum {
    long double value;
    verify_wide whole; /* the same of integers, wrapped around */
    double terms;      /* sum of the magnitudes */
    int64_t n;
};

static void join(const struct verify_case *c, struct sum *s, double x) {
    enum wick_scatter_kind kind = kind_of(c);
    bool first = s->n == 0;
    if (kind == WICK_SCATTER_PROD) {
        s->value = first ? x : s->value * x;
        s->whole = first ? (verify_wide)x : (verify_wide)verify_wrap(c->dtype, s->whole * (verify_wide)x);
    } else if (kind == WICK_SCATTER_AMAX || kind == WICK_SCATTER_AMIN) {
        bool over = kind == WICK_SCATTER_AMAX ? x > (double)s->value : x < (double)s->value;
        if (first || isnan(x) || (!isnan(s->value) && over)) s->value = x;
    } else {
        s->value += x;
        if (!wick_dtype_is_float(c->dtype)) s->whole += (verify_wide)x;
    }
    s->terms += fabs(x);
    s->n++;
}

static void finish(const struct verify_case *c, const struct sum *s, double *value, double *scale) {
    enum wick_scatter_kind kind = kind_of(c);
    bool is_float = wick_dtype_is_float(c->dtype), extreme = kind == WICK_SCATTER_AMAX || kind == WICK_SCATTER_AMIN;
    *value = is_float || extreme ? (double)s->value : verify_wrap(c->dtype, s->whole);
    if (kind == WICK_SCATTER_MEAN) *value = (double)(s->value / s->n);
    double sum = verify_scale_added(s->terms, s->terms * (double)s->n, 0);
    *scale = extreme ? 0 : kind == WICK_SCATTER_PROD ? verify_scale_factors(fabs(*value), (double)s->n) : sum;
}

/* One source after the other, from the last, each met where its id leads. */
bool verify_reduce_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] + (c->i[0] < 0 ? in->rank : 0);
    int64_t n = in->shape[dim], k = in[2].shape[dim], inner = 1;
    bool list = c->op == WICK_OP_index_reduce;
    struct sum *sums = calloc((size_t)in->count + 1, sizeof *sums);
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    if (!sums || !verify_array_new(out, c->dtype, in->rank, in->shape, true)) {
        free(sums);
        return false;
    }
    for (int64_t p = in[2].count - 1; p >= 0; p--) {
        double id = in[1].data[list ? p / inner % k : p];
        if (id < (double)n) join(c, &sums[(p / (k * inner) * n + (int64_t)id) * inner + p % inner], in[2].data[p]);
    }
    for (int64_t p = 0; p < out->count; p++) {
        out->data[p] = in->data[p];
        out->scale[p] = 0;
        if (sums[p].n == 0) continue;
        if (c->i[1]) join(c, &sums[p], in->data[p]);
        finish(c, &sums[p], &out->data[p], &out->scale[p]);
    }
    free(sums);
    return true;
}

const struct verify_family verify_composed_reduce = {
    .name = "composed_reduce",
    .cases = verify_reduce_cases,
    .make = verify_reduce_make,
    .call = verify_reduce_call,
    .reference = verify_reduce_reference,
};
