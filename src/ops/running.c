/* Running maxima, minima and sums of exponentials. */
#include "ops/dispatch.h"

/* `indices` is where the caller wants the second result, or NULL; `indexed` whether the op has one. */
static struct wick_tensor *run(enum wick_op op, const struct wick_tensor *x, int dim, bool indexed,
                               struct wick_tensor **indices) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &call.p.along.dim)) return NULL;
    const struct wick__layout *layout = &x->layout;
    int64_t n = layout->shape[call.p.along.dim];
    if (n >= UINT32_MAX) {
        wick__call_fail(&call, WICK_OVERFLOW, "the indices of %lld elements do not fit in u32", (long long)n);
        return NULL;
    }
    if (!wick__call_out(&call, x->dtype, layout->rank, layout->shape)) return NULL;
    if (indexed && !wick__call_wanted(&call, indices != NULL, WICK_U32, layout->rank, layout->shape)) return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y && indices) *indices = call.out[1];
    return y;
}

/* The same of a scalar, seen as a line of one element. */
static struct wick_tensor *run_any(enum wick_op op, const struct wick_tensor *x, int dim, bool indexed,
                                   struct wick_tensor **indices) {
    if (!wick__is_scalar_line(x, dim)) return run(op, x, dim, indexed, indices);
    struct wick_tensor *at = NULL, *y = run(op, wick__begin_line(x), 0, indexed, indices ? &at : NULL);
    at = y && indices ? wick_reshape(at, 0, NULL) : NULL;
    y = y ? wick_reshape(y, 0, NULL) : NULL;
    if (!y || (indices && !at)) return wick_scope_end(NULL);
    if (indices) *indices = wick_keep(at);
    return wick_scope_end(y);
}

struct wick_tensor *wick_cummax(const struct wick_tensor *x, int dim, struct wick_tensor **indices) {
    return run_any(WICK_OP_cummax, x, dim, true, indices);
}

struct wick_tensor *wick_cummin(const struct wick_tensor *x, int dim, struct wick_tensor **indices) {
    return run_any(WICK_OP_cummin, x, dim, true, indices);
}

struct wick_tensor *wick_logcumsumexp(const struct wick_tensor *x, int dim) {
    return run_any(WICK_OP_logcumsumexp, x, dim, false, NULL);
}
