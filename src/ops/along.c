/* Reductions along one dim that are made of others: the largest element with
 * its index, medians, quantiles; and sums in another dtype. */
#include "ops/dispatch.h"

#include <math.h>

/* A reduction of one dim: x, where a scalar is seen as [1], and the dim. */
struct line {
    const struct wick_tensor *x;
    int dim;
    int64_t n; /* size of dim */
    bool scalar, keepdim;
};

/* Checks the operand and the dim, and that it has elements. Begins a scope
 * where it is true. */
static bool begin(const struct wick__call *call, int dim, bool keepdim, struct line *line) {
    const struct wick_tensor *x = call->in[0];
    if (!wick__call_check(call) || !wick__call_dim_or_scalar(call, dim, &line->dim)) return false;
    line->scalar = x->layout.rank == 0;
    line->keepdim = keepdim;
    line->n = line->scalar ? 1 : x->layout.shape[line->dim];
    if (line->n == 0) {
        wick__call_fail(call, WICK_SHAPE, "dim %d has size 0, and no such element", line->dim);
        return false;
    }
    wick_scope_begin();
    line->x = wick__line(x);
    return true;
}

/* A result whose dim has size 1, as the caller wants it. */
static struct wick_tensor *shaped(const struct line *line, struct wick_tensor *y) {
    if (line->scalar) return wick_reshape(y, 0, NULL);
    return line->keepdim ? y : wick_squeeze(y, line->dim);
}

/* Ends the scope with both results, the second one only where the caller wants
 * it. */
static struct wick_tensor *end(const struct line *line, struct wick_tensor *values, struct wick_tensor *index,
                               struct wick_tensor **indices) {
    values = values && index ? shaped(line, values) : NULL;
    index = values ? shaped(line, index) : NULL;
    if (!values || !index) return wick_scope_end(NULL);
    if (indices) *indices = wick_keep(index);
    return wick_scope_end(values);
}

struct wick_tensor *wick_max_along(const struct wick_tensor *x, int dim, bool keepdim, struct wick_tensor **indices) {
    struct wick__call call = {.op = WICK_OP_max_along, .n_in = 1, .in = {x}};
    struct line line;
    if (!begin(&call, dim, keepdim, &line)) return NULL;
    struct wick_tensor *at = wick_argmax(line.x, 1, &line.dim, true);
    return end(&line, wick_gather(line.x, line.dim, at), at, indices);
}

struct wick_tensor *wick_min_along(const struct wick_tensor *x, int dim, bool keepdim, struct wick_tensor **indices) {
    struct wick__call call = {.op = WICK_OP_min_along, .n_in = 1, .in = {x}};
    struct line line;
    if (!begin(&call, dim, keepdim, &line)) return NULL;
    struct wick_tensor *at = wick_argmin(line.x, 1, &line.dim, true);
    return end(&line, wick_gather(line.x, line.dim, at), at, indices);
}

/* Element k of sorted lines, or the last one where that is NaN: NaN comes last.
 * `of` is sorted, or goes with it. */
static struct wick_tensor *ranked(const struct line *line, const struct wick_tensor *sorted, int64_t k,
                                  const struct wick_tensor *of) {
    struct wick_tensor *y = wick_narrow(of, line->dim, k, 1);
    if (!sorted || !wick_dtype_is_float(sorted->dtype)) return wick_clone(y);
    struct wick_tensor *none = wick_isnan(wick_narrow(sorted, line->dim, line->n - 1, 1));
    return wick_where(none, wick_narrow(of, line->dim, line->n - 1, 1), y);
}

struct wick_tensor *wick_median(const struct wick_tensor *x, int dim, bool keepdim, struct wick_tensor **indices) {
    struct wick__call call = {.op = WICK_OP_median, .n_in = 1, .in = {x}};
    struct line line;
    if (!begin(&call, dim, keepdim, &line)) return NULL;
    int64_t k = (line.n - 1) / 2;
    struct wick_tensor *order = NULL, *sorted = wick_sort(line.x, line.dim, false, &order);
    return end(&line, ranked(&line, sorted, k, sorted), ranked(&line, sorted, k, order), indices);
}

struct wick_tensor *wick_quantile(const struct wick_tensor *x, double q, int dim, bool keepdim) {
    struct wick__call call = {.op = WICK_OP_quantile, .n_in = 1, .in = {x}};
    struct line line;
    if (wick__call_check(&call) && !(q >= 0 && q <= 1)) {
        wick__call_fail(&call, WICK_INVALID, "q %g is not in 0..1", q);
        return NULL;
    }
    if (!begin(&call, dim, keepdim, &line)) return NULL;
    double place = q * (double)(line.n - 1), low = floor(place), part = place - low;
    struct wick_tensor *sorted = wick_sort(line.x, line.dim, false, NULL);
    struct wick_tensor *y = ranked(&line, sorted, (int64_t)low, sorted);
    if (part > 0) {
        struct wick_tensor *next = wick_cast(ranked(&line, sorted, (int64_t)low + 1, sorted), WICK_F64);
        y = wick_mul_scalar(wick_cast(y, WICK_F64), WICK_REAL(1 - part));
        y = wick_cast(wick_add(y, wick_mul_scalar(next, WICK_REAL(part))), x->dtype);
    }
    return wick_scope_end(y ? shaped(&line, y) : NULL);
}

/* ---- in another dtype ---- */

static bool check_dtype(const struct wick__call *call, enum wick_dtype dtype, bool floats) {
    if (!wick__call_check(call)) return false;
    if ((unsigned)dtype < WICK_DTYPE_COMPUTE_COUNT && (!floats || wick_dtype_is_float(dtype))) return true;
    wick__call_fail(call, WICK_DTYPE, "results are of a %s dtype, not %s", floats ? "float" : "compute",
                    wick_dtype_name(dtype));
    return false;
}

struct wick_tensor *wick_sum_in(const struct wick_tensor *x, enum wick_dtype dtype, int n_dims, const int *dims,
                                bool keepdim) {
    struct wick__call call = {.op = WICK_OP_sum_in, .n_in = 1, .in = {x}};
    if (!check_dtype(&call, dtype, false)) return NULL;
    wick_scope_begin();
    return wick_scope_end(wick_sum(wick_cast(x, dtype), n_dims, dims, keepdim));
}

struct wick_tensor *wick_mean_in(const struct wick_tensor *x, enum wick_dtype dtype, int n_dims, const int *dims,
                                 bool keepdim) {
    struct wick__call call = {.op = WICK_OP_mean_in, .n_in = 1, .in = {x}};
    if (!check_dtype(&call, dtype, true)) return NULL;
    wick_scope_begin();
    return wick_scope_end(wick_mean(wick_cast(x, dtype), n_dims, dims, keepdim));
}
