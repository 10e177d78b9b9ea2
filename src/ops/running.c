/* Running maxima, minima and sums of exponentials, made of functions of two tensors: after a step of 2^k each element
 * has met the 2^k before it, so log2(n) steps do. */
#include "ops/dispatch.h"

typedef struct wick_tensor *join_fn(const struct wick_tensor *before, const struct wick_tensor *x);

/* x[0] o .. o x[i] along dim, where join is o; x itself for one element. */
static struct wick_tensor *doubled(struct wick_tensor *x, int dim, join_fn *join) {
    int64_t n = x ? x->layout.shape[dim] : 0;
    for (int64_t step = 1; step < n && x; step *= 2) {
        struct wick_tensor *parts[2] = {wick_narrow(x, dim, 0, step), NULL};
        parts[1] = join(wick_narrow(x, dim, 0, n - step), wick_narrow(x, dim, step, n - step));
        struct wick_tensor *y = parts[0] && parts[1] ? wick_cat(2, parts, dim) : NULL;
        wick__scope_drop(parts[0]);
        wick__scope_drop(parts[1]);
        x = y;
    }
    return x;
}

/* log(e^a + e^b) of f64. Equal ones apart, since infinities have no difference. */
static struct wick_tensor *log_add(const struct wick_tensor *a, const struct wick_tensor *b) {
    struct wick_tensor *most = wick_maximum(a, b), *below = wick_neg(wick_abs(wick_sub(a, b)));
    struct wick_tensor *sum = wick_add(most, wick_log1p(wick_exp(below)));
    struct wick_tensor *y = wick_where(wick_eq(a, b), wick_add_scalar(most, WICK_REAL(0.69314718055994530942)), sum);
    wick__scope_drop(most);
    wick__scope_drop(below);
    wick__scope_drop(sum);
    return y;
}

static bool check(const struct wick__call *call, int dim, int *along) {
    if (!wick__call_check(call) || !wick__call_dim_or_scalar(call, dim, along)) return false;
    const struct wick__layout *layout = &call->in[0]->layout;
    int64_t n = layout->rank > 0 ? layout->shape[*along] : 1;
    if (n < UINT32_MAX) return true;
    wick__call_fail(call, WICK_OVERFLOW, "the indices of %lld elements do not fit in u32", (long long)n);
    return false;
}

/* The position of the last element, up to each, that is the running value there: of a NaN once there is one. */
static struct wick_tensor *places(const struct wick_tensor *x, const struct wick_tensor *values, int dim) {
    struct wick_device *device = wick__device(x);
    int64_t shape[WICK_MAX_RANK], n = x->layout.shape[dim];
    for (int d = 0; d < x->layout.rank; d++) shape[d] = d == dim ? n : 1;
    struct wick_tensor *found = wick_eq(x, values);
    if (wick_dtype_is_float(x->dtype)) found = wick_logical_or(found, wick_isnan(x));
    struct wick_tensor *at = wick_arange(device, WICK_U32, WICK_INT(0), WICK_INT(n), WICK_INT(1));
    at = wick_where(found, at ? wick_reshape(at, x->layout.rank, shape) : NULL, wick_zeros(device, WICK_U32, 0, NULL));
    return doubled(at, dim, wick_maximum);
}

static struct wick_tensor *extreme(const struct wick__call *call, int dim, join_fn *join,
                                   struct wick_tensor **indices) {
    const struct wick_tensor *x = call->in[0];
    if (!check(call, dim, &dim)) return NULL;
    const struct wick__layout *form = &x->layout;
    wick_scope_begin();
    struct wick_tensor *line = wick__line(x), *y = doubled(wick_clone(line), dim, join);
    struct wick_tensor *at = y && indices ? places(line, y, dim) : NULL;
    y = y ? wick_reshape(y, form->rank, form->shape) : NULL;
    at = at ? wick_reshape(at, form->rank, form->shape) : NULL;
    if (!y || (indices && !at)) return wick_scope_end(NULL);
    if (indices) *indices = wick_keep(at);
    return wick_scope_end(y);
}

struct wick_tensor *wick_cummax(const struct wick_tensor *x, int dim, struct wick_tensor **indices) {
    struct wick__call call = {.op = WICK_OP_cummax, .n_in = 1, .in = {x}};
    return extreme(&call, dim, wick_maximum, indices);
}

struct wick_tensor *wick_cummin(const struct wick_tensor *x, int dim, struct wick_tensor **indices) {
    struct wick__call call = {.op = WICK_OP_cummin, .n_in = 1, .in = {x}};
    return extreme(&call, dim, wick_minimum, indices);
}

struct wick_tensor *wick_logcumsumexp(const struct wick_tensor *x, int dim) {
    struct wick__call call = {.op = WICK_OP_logcumsumexp, .n_in = 1, .in = {x}};
    if (!check(&call, dim, &dim)) return NULL;
    wick_scope_begin();
    struct wick_tensor *y = doubled(wick_cast(wick_clone(wick__line(x)), WICK_F64), dim, log_add);
    y = wick_cast(y, x->dtype);
    return wick_scope_end(y ? wick_reshape(y, x->layout.rank, x->layout.shape) : NULL);
}
