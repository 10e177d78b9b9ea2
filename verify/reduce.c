/* Cases of the reduce and argreduce families.
 *
 * i[0] is the mask of reduced dims (0: all of them by WICK_ALL, NONE: no dim), i[1] keepdim; f[0] the correction or the
 * norm's p.
 */
#include "verify/verify.h"
#include "verify/scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = 256, REPEATED = 70000 };

static const struct {
    int rank;
    int64_t shape[5];
    int mask;
} shapes[] = {
    {0, {0}, 0},          {1, {1}, 1},           {1, {7}, 1},
    {1, {4097}, 0},       {1, {70001}, 1},       {1, {REPEATED}, 1},
    {2, {5, 9}, 2},       {2, {5, 9}, 1},        {2, {67, 130}, 1},
    {2, {67, 130}, 3},    {2, {3, 4099}, 2},     {2, {4099, 33}, 1},
    {2, {261, 2065}, 1},  {3, {2, 33, 17}, 2},   {3, {6, 5, 40}, 5},
    {3, {4, 33, 20}, 6},  {4, {2, 3, 5, 7}, 10}, {5, {2, 1, 3, 4, 5}, 13},
    {0, {0}, NONE},       {2, {67, 130}, NONE},  {2, {3, 0}, NONE},
    {3, {3, 6, 34}, 2},   {3, {5, 7, 64}, 2},    {3, {531, 20, 24}, 2},
    {3, {3, 1701, 5}, 2}, {2, {20003, 3}, 1}, /* many rows of a few columns */
    {2, {3, 0}, 1},                           /* no results */
    {2, {3, 0}, 2},                           /* results of nothing: the last ones here, which not every op has */
    {1, {0}, 0},          {3, {0, 2, 20}, 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, OF_NOTHING = 3 };

/* 0, infinite, or a multiple of a half. */
static const double orders[] = {2, 1, 0, INFINITY, 3.5, -INFINITY, -2, 0.5};

/* Whether the op has no result for nothing. */
static bool needs_elements(enum wick_op op) {
    return op == WICK_OP_min || op == WICK_OP_max || op == WICK_OP_argmin || op == WICK_OP_argmax;
}

static int variants(enum wick_op op) {
    if (op == WICK_OP_norm) return sizeof orders / sizeof *orders;
    return op == WICK_OP_var || op == WICK_OP_std ? 2 : 1;
}

static int reduce_cases(enum wick_op op) {
    return (SHAPES - (needs_elements(op) || op == WICK_OP_norm ? OF_NOTHING : 0)) * variants(op);
}

static void reduce_make(enum wick_op op, int k, struct verify_case *c) {
    int n = variants(op), s = k / n;
    c->n_in = c->n_out = 1;
    c->in[0] = (struct verify_operand){.role = VERIFY_VALUE, .rank = shapes[s].rank, .low = -8, .high = 8};
    memcpy(c->in[0].shape, shapes[s].shape, sizeof shapes[s].shape);
    c->in[0].repeated = shapes[s].shape[0] == REPEATED;
    c->in[0].zero_every = op == WICK_OP_prod ? 5000 : 0;
    if (op == WICK_OP_prod) c->in[0].low = k & 1 ? 1 : 0.9, c->in[0].high = k & 1 ? 3 : 1.1;
    if (op == WICK_OP_any || op == WICK_OP_all) c->in[0].low = -1, c->in[0].high = op == WICK_OP_any ? 0 : 200;
    c->i[0] = shapes[s].mask;
    c->i[1] = k & 1;
    c->f[0] = op == WICK_OP_norm ? orders[k % n] : k % n;
}

/* Sums of rows. */
static bool reduce_bench(enum wick_op op, struct verify_case *c) {
    verify_make_large(reduce_make, 0, c);
    c->i[0] = 2;
    c->f[0] = op == WICK_OP_norm ? 2 : 1;
    return true;
}

static bool reduce_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out) {
    int dims[WICK_MAX_RANK], n = 0;
    bool keep = c->i[1];
    for (int d = 0; d < c->in[0].rank; d++)
        if (c->i[0] >> d & 1) dims[n++] = d & 1 ? d - c->in[0].rank : d;
    if (c->i[0] == 0) n = WICK_ALL;
    switch (c->op) {
    case WICK_OP_sum: out[0] = wick_sum(in[0], n, dims, keep); break;
    case WICK_OP_prod: out[0] = wick_prod(in[0], n, dims, keep); break;
    case WICK_OP_min: out[0] = wick_min(in[0], n, dims, keep); break;
    case WICK_OP_max: out[0] = wick_max(in[0], n, dims, keep); break;
    case WICK_OP_any: out[0] = wick_any(in[0], n, dims, keep); break;
    case WICK_OP_all: out[0] = wick_all(in[0], n, dims, keep); break;
    case WICK_OP_argmin: out[0] = wick_argmin(in[0], n, dims, keep); break;
    case WICK_OP_argmax: out[0] = wick_argmax(in[0], n, dims, keep); break;
    case WICK_OP_mean: out[0] = wick_mean(in[0], n, dims, keep); break;
    case WICK_OP_var: out[0] = wick_var(in[0], c->f[0], n, dims, keep); break;
    case WICK_OP_std: out[0] = wick_std(in[0], c->f[0], n, dims, keep); break;
    case WICK_OP_norm: out[0] = wick_norm(in[0], c->f[0], n, dims, keep); break;
    case WICK_OP_log_sum_exp: out[0] = wick_log_sum_exp(in[0], n, dims, keep); break;
    default: out[0] = NULL; break;
    }
    return out[0] != NULL;
}

static double wrap(enum wick_dtype dtype, uint64_t x) {
    switch (dtype) {
    case WICK_U8: return (double)(uint8_t)x;
    case WICK_U32: return (double)(uint32_t)x;
    case WICK_I16: return (double)(int16_t)x;
    case WICK_I32: return (double)(int32_t)x;
    default: return (double)(int64_t)x;
    }
}

static double integers(const struct verify_case *c, const double *x, int64_t n) {
    uint64_t y = c->op == WICK_OP_prod;
    for (int64_t i = 0; i < n; i++) {
        uint64_t term = (uint64_t)(int64_t)x[i];
        y = c->op == WICK_OP_prod ? y * term : y + term;
    }
    return wrap(c->dtype, y);
}

/* Kahan's sum of f(x), of an exponent range that no square and no product of a few leaves. */
static long double sum_of(const double *x, int64_t n, long double (*f)(double x, long double a), long double a) {
    long double sum = 0, lost = 0;
    for (int64_t i = 0; i < n; i++) {
        long double term = f(x[i], a) - lost, next = sum + term;
        lost = isfinite(next) ? next - sum - term : 0;
        sum = next;
    }
    return sum;
}

static long double itself(double x, long double a) { return x + 0 * a; }
static long double size(double x, long double a) { return fabs(x) + 0 * a; }
static long double square_from(double x, long double a) { return (x - a) * (x - a); }
static long double exp_from(double x, long double a) { return expl(x - a); }
static long double square(double x, long double a) { return x * (long double)x + 0 * a; }
/* |x|^a, for multiples of a half. */
static long double power(double x, long double a) {
    long double size = fabs(x), left = fabsl(a), y = 1;
    if (a == 0) return x != 0;
    for (; left >= 1; left--) y *= size;
    if (left > 0) y *= sqrtl(size);
    return a < 0 ? 1 / y : y;
}

/* Factors above 1 while the product is small, others while it is large: it stays in range as long as it can. */
static double product(const double *x, int64_t n) {
    long double y = 1;
    for (int64_t up = 0, down = 0; up < n || down < n;) {
        while (up < n && fabs(x[up]) < 1) up++;
        while (down < n && !(fabs(x[down]) < 1)) down++;
        if (up < n && (down == n || fabsl(y) < 1))
            y *= x[up++];
        else if (down < n)
            y *= x[down++];
    }
    return (double)y;
}

static double extreme(const double *x, int64_t n, bool greatest, int64_t *at) {
    int64_t best = 0;
    for (int64_t i = 1; i < n && !isnan(x[best]); i++)
        if (isnan(x[i]) || (greatest ? x[i] > x[best] : x[i] < x[best])) best = i;
    *at = best;
    return n > 0 ? x[best] : NAN;
}

static double norm_of(double *x, int64_t n, double p) {
    int64_t at;
    if (p == 0) return (double)sum_of(x, n, power, 0);
    if (p == 1) return (double)sum_of(x, n, size, 0);
    if (p == 2) return (double)sqrtl(sum_of(x, n, square, 0));
    if (!isinf(p)) return (double)powl(sum_of(x, n, power, p), 1 / (long double)p);
    for (int64_t i = 0; i < n; i++) x[i] = fabs(x[i]);
    return n > 0 ? extreme(x, n, p > 0, &at) : 0;
}

static double log_sum_exp(const double *x, int64_t n, double *scale) {
    int64_t at;
    double most = extreme(x, n, true, &at);
    if (n == 0) return -INFINITY;
    *scale = verify_scale_log_sum_exp(fabs(most), (double)n);
    if (!isfinite(most)) return most;
    return (double)(most + logl(sum_of(x, n, exp_from, most)));
}

static double floats(const struct verify_case *c, double *x, int64_t n, double *scale) {
    double y, growth = verify_scale_growth(c->dtype == WICK_F64, (double)n);
    long double mean, squares;
    switch (c->op) {
    case WICK_OP_sum:
        *scale = verify_scale_sum((double)sum_of(x, n, size, 0), growth);
        return (double)sum_of(x, n, itself, 0);
    case WICK_OP_mean:
        *scale = verify_scale_mean((double)sum_of(x, n, size, 0), growth, (double)n);
        return (double)(sum_of(x, n, itself, 0) / n);
    case WICK_OP_prod:
        y = product(x, n);
        *scale = verify_scale_prod(fabs(y), (double)n);
        return y;
    case WICK_OP_norm:
        y = norm_of(x, n, c->f[0]);
        *scale = verify_scale_norm(y, growth);
        return y;
    case WICK_OP_log_sum_exp: return log_sum_exp(x, n, scale);
    default:
        mean = sum_of(x, n, itself, 0) / n;
        squares = sum_of(x, n, square_from, mean) / fmaxl(0, n - c->f[0]);
        *scale = c->op == WICK_OP_std ? verify_scale_std(sqrtl(squares), fabsl(mean), growth)
                                      : verify_scale_var(squares, fabsl(mean), growth);
        return (double)(c->op == WICK_OP_std ? sqrtl(squares) : squares);
    }
}

/* One result from its n elements. */
static double line(const struct verify_case *c, double *x, int64_t n, double *scale) {
    int64_t at = 0, count = 0;
    *scale = 0;
    switch (c->op) {
    case WICK_OP_min: return extreme(x, n, false, &at);
    case WICK_OP_max: return extreme(x, n, true, &at);
    case WICK_OP_argmin: extreme(x, n, false, &at); return (double)at;
    case WICK_OP_argmax: extreme(x, n, true, &at); return (double)at;
    case WICK_OP_any:
    case WICK_OP_all:
        for (int64_t i = 0; i < n; i++) count += x[i] != 0;
        return c->op == WICK_OP_any ? count > 0 : count == n;
    default: return wick_dtype_is_float(c->dtype) ? floats(c, x, n, scale) : integers(c, x, n);
    }
}

static bool reduce_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out) {
    int64_t shape[WICK_MAX_RANK], terms = 1, mask = c->i[0] ? c->i[0] : (1 << in->rank) - 1;
    int rank = 0;
    for (int d = 0; d < in->rank; d++) {
        if (mask >> d & 1) terms *= in->shape[d];
        if (!(mask >> d & 1))
            shape[rank++] = in->shape[d];
        else if (c->i[1])
            shape[rank++] = 1;
    }
    enum wick_dtype dtype = c->op == WICK_OP_any || c->op == WICK_OP_all         ? WICK_U8
                            : c->op == WICK_OP_argmin || c->op == WICK_OP_argmax ? WICK_U32
                                                                                 : c->dtype;
    if (!verify_array_new(out, dtype, rank, shape, true)) return false;
    double *x = malloc(sizeof *x * (size_t)(out->count * terms + 1));
    int64_t *filled = calloc((size_t)out->count + 1, sizeof *filled);
    for (int64_t i = 0; x && filled && i < in->count; i++) {
        int64_t rest = i, to = 0, step = 1;
        for (int d = in->rank - 1; d >= 0; d--) {
            if (!(mask >> d & 1)) {
                to += rest % in->shape[d] * step;
                step *= in->shape[d];
            }
            rest /= in->shape[d];
        }
        x[to * terms + filled[to]++] = in->data[i];
    }
    for (int64_t i = 0; x && filled && i < out->count; i++)
        out->data[i] = line(c, x + i * terms, terms, &out->scale[i]);
    bool done = x && filled;
    free(x);
    free(filled);
    return done;
}

static bool reduce_specials(enum wick_op op) { return needs_elements(op) || op == WICK_OP_any || op == WICK_OP_all; }

/* Sums may overflow on the way, as what they are made of does. */
static bool reduce_wide(enum wick_op op) { return op != WICK_OP_sum && op != WICK_OP_mean; }

static bool reduce_exact(enum wick_op op) { return op == WICK_OP_sum; }

const struct verify_family verify_reduce = {
    .name = "reduce",
    .cases = reduce_cases,
    .make = reduce_make,
    .bench = reduce_bench,
    .call = reduce_call,
    .reference = reduce_reference,
    .specials = reduce_specials,
    .wide = reduce_wide,
    .exact = reduce_exact,
};

const struct verify_family verify_argreduce = {
    .name = "argreduce",
    .cases = reduce_cases,
    .make = reduce_make,
    .bench = reduce_bench,
    .call = reduce_call,
    .reference = reduce_reference,
    .specials = reduce_specials,
};
