/* Sorting along a dim. */
#include "ops/dispatch.h"

/* Checks common to all: the dim, and that its indices fit into u32. */
static bool check(struct wick__call *call, int dim) {
    if (!wick__call_check(call) || !wick__call_dim(call, dim, &call->p.along.dim)) return false;
    int64_t n = call->in[0]->layout.shape[call->p.along.dim];
    if (n < UINT32_MAX) return true;
    wick__call_fail(call, WICK_OVERFLOW, "the indices of %lld elements do not fit in u32", (long long)n);
    return false;
}

/* Runs a call with the first k elements of the dim as results: values, and their indices when asked for. */
static struct wick_tensor *first_k(struct wick__call *call, int64_t k, struct wick_tensor **indices) {
    const struct wick_tensor *x = call->in[0];
    int64_t shape[WICK_MAX_RANK];
    for (int d = 0; d < x->layout.rank; d++) shape[d] = d == call->p.along.dim ? k : x->layout.shape[d];
    if (!wick__call_out(call, x->dtype, x->layout.rank, shape)) return NULL;
    if (indices && !wick__call_out(call, WICK_U32, x->layout.rank, shape)) return NULL;
    struct wick_tensor *values = wick__call_run(call);
    if (values && indices) *indices = call->out[1];
    return values;
}

/* The results of sorting a scalar as [1], as scalars, which the innermost scope's end leaves; it ends that scope. */
static struct wick_tensor *scalars(struct wick_tensor *values, struct wick_tensor *index,
                                   struct wick_tensor **indices) {
    struct wick_tensor *i = values && index ? wick_reshape(index, 0, NULL) : NULL;
    if (!values || (index && !i)) return wick_scope_end(NULL);
    struct wick_tensor *y = wick_reshape(values, 0, NULL);
    if (y && index) *indices = wick_keep(i);
    return wick_scope_end(y);
}

struct wick_tensor *wick_sort(const struct wick_tensor *x, int dim, bool descending, struct wick_tensor **indices) {
    if (wick__is_scalar_line(x, dim)) {
        struct wick_tensor *index = NULL;
        struct wick_tensor *y = wick_sort(wick__begin_line(x), 0, descending, indices ? &index : NULL);
        return scalars(y, index, indices);
    }
    struct wick__call call = {.op = WICK_OP_sort, .n_in = 1, .in = {x}, .p.along.descending = descending};
    if (!check(&call, dim)) return NULL;
    return first_k(&call, x->layout.shape[call.p.along.dim], indices);
}

struct wick_tensor *wick_argsort(const struct wick_tensor *x, int dim, bool descending) {
    if (wick__is_scalar_line(x, dim)) return wick__end_scalar(wick_argsort(wick__begin_line(x), 0, descending));
    struct wick__call call = {.op = WICK_OP_argsort, .n_in = 1, .in = {x}, .p.along.descending = descending};
    if (!check(&call, dim)) return NULL;
    if (!wick__call_out(&call, WICK_U32, x->layout.rank, x->layout.shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_topk(const struct wick_tensor *x, int64_t k, int dim, bool largest,
                              struct wick_tensor **indices) {
    if (wick__is_scalar_line(x, dim) && k == 1) {
        struct wick_tensor *index = NULL;
        struct wick_tensor *y = wick_topk(wick__begin_line(x), 1, 0, largest, indices ? &index : NULL);
        return scalars(y, index, indices);
    }
    struct wick__call call = {.op = WICK_OP_topk, .n_in = 1, .in = {x}, .p.along.descending = largest};
    if (!check(&call, dim)) return NULL;
    if (k < 0 || k > x->layout.shape[call.p.along.dim]) {
        wick__call_fail(&call, WICK_RANGE, "k %lld is not in 0..%lld", (long long)k,
                        (long long)x->layout.shape[call.p.along.dim]);
        return NULL;
    }
    return first_k(&call, k, indices);
}
