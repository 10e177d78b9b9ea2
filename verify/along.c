/* Cases of the composed_along and running families: reductions of one dim. i[0] is the dim,
 * i[1] keepdim, i[2] the dtype of sum_in and mean_in; f[0] the q of quantile.
 */
#include "verify/elementwise.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int rank;
    int64_t shape[3];
    int dim;
} shapes[] = {{1, {7}, 0},  {2, {5, 9}, 1}, {3, {3, 4, 5}, -2}, {2, {33, 70}, 0},   {2, {0, 3}, 1},
              {0, {0}, -1}, {2, {6, 1}, 1}, {2, {3, 300}, 1},   {3, {2, 200, 3}, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool runs(enum wick_op op) { return op == WICK_OP_cummax || op == WICK_OP_cummin || op == WICK_OP_logcumsumexp; }

static int along_cases(enum wick_op op) { return runs(op) ? SHAPES : SHAPES - 2; }

static bool in_dtype(enum wick_op op) { return op == WICK_OP_sum_in || op == WICK_OP_mean_in; }

static void along_make(enum wick_op op, int k, struct verify_case *c) {
    static const double parts[] = {0, 0.25, 0.5, 0.9, 1};
    static const enum wick_dtype dtypes[] = {WICK_F64, WICK_F32, WICK_I64};
    c->n_in = 1;
    c->n_out = op == WICK_OP_quantile || op == WICK_OP_logcumsumexp || in_dtype(op) ? 1 : 2;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[k].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[k].shape, sizeof shapes[k].shape);
    c->i[0] = shapes[k].dim;
    c->i[1] = k % 2;
    c->i[2] = in_dtype(op) ? (int64_t)dtypes[k % (op == WICK_OP_sum_in ? 3 : 2)] : 0;
    c->f[0] = op == WICK_OP_quantile ? parts[k % 5] : 0;
}

static bool along_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dim = (int)c->i[0];
    bool keep = c->i[1];
    enum wick_dtype dtype = (enum wick_dtype)c->i[2];
    switch (c->op) {
    case WICK_OP_max_along: out[0] = wick_max_along(in[0], dim, keep, &out[1]); break;
    case WICK_OP_min_along: out[0] = wick_min_along(in[0], dim, keep, &out[1]); break;
    case WICK_OP_median: out[0] = wick_median(in[0], dim, keep, &out[1]); break;
    case WICK_OP_cummax: out[0] = wick_cummax(in[0], dim, &out[1]); break;
    case WICK_OP_cummin: out[0] = wick_cummin(in[0], dim, &out[1]); break;
    case WICK_OP_logcumsumexp: out[0] = wick_logcumsumexp(in[0], dim); break;
    case WICK_OP_quantile: out[0] = wick_quantile(in[0], c->f[0], dim, keep); break;
    case WICK_OP_sum_in: out[0] = wick_sum_in(in[0], dtype, 1, &dim, keep); break;
    case WICK_OP_mean_in: out[0] = wick_mean_in(in[0], dtype, 1, &dim, keep); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

/* n elements of a line, `step` apart. */
struct line {
    const double *x;
    int64_t n, step;
};

/* The position of the element that k others come before, of equal ones those in
 * front; of the last NaN if there is one. */
static int64_t ranked(struct line l, int64_t k) {
    for (int64_t i = l.n - 1; i >= 0; i--)
        if (isnan(l.x[i * l.step])) return i;
    for (int64_t i = 0; i < l.n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < l.n; j++) {
            double a = l.x[j * l.step], b = l.x[i * l.step];
            before += a < b || (a == b && j < i);
        }
        if (before == k) return i;
    }
    return 0;
}

static int64_t extreme(struct line l, double sign) {
    int64_t best = 0;
    for (int64_t i = 0; i < l.n; i++) {
        double x = l.x[i * l.step], y = l.x[best * l.step];
        if (isnan(x)) return i;
        if (sign * x > sign * y) best = i;
    }
    return best;
}

static void quantile(const struct verify_case *c, struct line l, double *value, double *scale) {
    double place = c->f[0] * (double)(l.n - 1), low = floor(place), part = place - low;
    double a = l.x[ranked(l, (int64_t)low) * l.step];
    *value = a;
    *scale = fabs(a);
    if (part == 0 || isnan(a)) return;
    double b = l.x[ranked(l, (int64_t)low + 1) * l.step];
    *value = (double)((long double)a * (1 - part) + (long double)b * part);
    *scale = verify_scale_blend(fabs(a), fabs(b));
}

/* The sum or mean of a line's elements in another dtype, into which they are
 * cast one by one. */
static void total(const struct verify_case *c, struct line l, double *value, double *scale) {
    enum wick_dtype dtype = (enum wick_dtype)c->i[2];
    long double sum = 0, terms = 0;
    for (int64_t i = 0; i < l.n; i++) {
        double x = l.x[i * l.step];
        x = dtype == WICK_I64 ? trunc(x) : verify_round(dtype, x);
        sum += x;
        terms += fabs(x);
    }
    double growth = verify_scale_growth(dtype == WICK_F64, (double)l.n);
    *value = (double)(c->op == WICK_OP_mean_in ? sum / l.n : sum);
    *scale = c->op == WICK_OP_mean_in ? verify_scale_mean((double)terms, growth, (double)l.n)
                                      : verify_scale_sum((double)terms, growth);
}

/* Element by element, from the first on. */
static void run_line(const struct verify_case *c, struct line l, struct verify_array *out, int64_t first) {
    long double sum = 0, top = -INFINITY;
    int64_t best = 0;
    for (int64_t i = 0; i < l.n; i++) {
        double x = l.x[i * l.step], y = l.x[best * l.step];
        int64_t p = first + i * l.step;
        if (c->op != WICK_OP_logcumsumexp) {
            if (isnan(x) || (c->op == WICK_OP_cummax ? x >= y : x <= y)) best = i;
            out[0].data[p] = l.x[best * l.step];
            out[1].data[p] = (double)best;
            continue;
        }
        if (x > top) { /* the sum is of exp(x - top) */
            sum *= expl(top - x);
            top = x;
        }
        sum += x == top ? 1 : expl(x - top);
        out[0].data[p] = (double)(top + logl(sum));
        if (isinf(top) && !isnan(sum)) out[0].data[p] = (double)top;
        out[0].scale[p] = verify_scale_log_sum_exp(isfinite(top) ? (double)fabsl(top) : 0, (double)(i + 1));
    }
}

static bool run_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int dim = (int)c->i[0] < 0 && in->rank > 0 ? (int)c->i[0] + in->rank : (int)c->i[0];
    int64_t n = in->rank > 0 ? in->shape[dim] : 1, inner = 1;
    for (int d = dim + 1; d < in->rank; d++) inner *= in->shape[d];
    if (!verify_array_new(&out[0], c->dtype, in->rank, in->shape, c->n_out == 1)) return false;
    if (c->n_out > 1 && !verify_array_new(&out[1], WICK_U32, in->rank, in->shape, false)) return false;
    for (int64_t l = 0; n > 0 && l < in->count / n; l++) {
        int64_t first = l / inner * n * inner + l % inner;
        run_line(c, (struct line){in->data + first, n, inner}, out, first);
    }
    return true;
}

static bool along_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    if (runs(c->op)) return run_reference(c, in, out);
    int dim = (int)c->i[0] < 0 && in->rank > 0 ? (int)c->i[0] + in->rank : (int)c->i[0], rank = 0;
    int64_t shape[WICK_MAX_RANK], n = in->rank > 0 ? in->shape[dim] : 1, inner = 1;
    for (int d = 0; d < in->rank; d++) {
        if (d > dim) inner *= in->shape[d];
        if (d != dim || c->i[1]) shape[rank++] = d == dim ? 1 : in->shape[d];
    }
    enum wick_dtype dtype = in_dtype(c->op) ? (enum wick_dtype)c->i[2] : c->dtype;
    if (!verify_array_new(&out[0], dtype, rank, shape, c->n_out == 1)) return false;
    if (c->n_out > 1 && !verify_array_new(&out[1], WICK_U32, rank, shape, false)) return false;
    for (int64_t p = 0; p < out[0].count; p++) {
        struct line l = {in->data + p / inner * n * inner + p % inner, n, inner};
        int64_t at;
        if (c->op == WICK_OP_quantile) {
            quantile(c, l, &out[0].data[p], &out[0].scale[p]);
            continue;
        }
        if (in_dtype(c->op)) {
            total(c, l, &out[0].data[p], &out[0].scale[p]);
            continue;
        }
        at = c->op == WICK_OP_median ? ranked(l, (n - 1) / 2) : extreme(l, c->op == WICK_OP_max_along ? 1 : -1);
        out[0].data[p] = l.x[at * inner];
        out[1].data[p] = (double)at;
    }
    return true;
}

static bool along_specials(enum wick_op op) { return !in_dtype(op); }

/* Lines along memory. */
static bool running_bench(enum wick_op op, struct verify_case *c) {
    (void)op;
    return verify_make_large(along_make, 1, c);
}

const struct verify_family verify_running = {
    .name = "running",
    .cases = along_cases,
    .make = along_make,
    .bench = running_bench,
    .call = along_call,
    .reference = along_reference,
    .specials = along_specials,
};

const struct verify_family verify_composed_along = {
    .name = "composed_along",
    .cases = along_cases,
    .make = along_make,
    .call = along_call,
    .reference = along_reference,
    .specials = along_specials,
};
