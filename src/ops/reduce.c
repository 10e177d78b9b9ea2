/* Reductions over some dims, or all. */
#include "ops/dispatch.h"

#include <math.h>

/* The dims as a mask in call->p, sorted out and checked; *terms is how many elements make one result. */
static bool resolve_dims(struct wick__call *call, int n_dims, const int *dims, int64_t *terms) {
    const struct wick__layout *layout = &call->in[0]->layout;
    uint32_t mask = 0;
    if (n_dims < WICK_ALL || (n_dims > 0 && !dims)) {
        wick__call_fail(call, WICK_INVALID, n_dims < 0 ? "%d dims" : "dims is NULL but there are %d", n_dims);
        return false;
    }
    for (int i = 0; i < n_dims; i++) {
        int dim;
        if (!wick__call_dim_or_scalar(call, dims[i], &dim)) return false;
        if (mask >> dim & 1) {
            wick__call_fail(call, WICK_INVALID, "dim %d is given twice", dims[i]);
            return false;
        }
        mask |= 1u << dim;
    }
    uint32_t all = (1u << layout->rank) - 1;
    call->p.reduce.dims = n_dims == WICK_ALL ? all : mask & all;
    *terms = 1; /* can't overflow: the product of a layout's sizes, zeros left out, fits */
    for (int d = 0; d < layout->rank; d++)
        if (call->p.reduce.dims >> d & 1) *terms *= layout->shape[d];
    return true;
}

/* Adds the result: x's shape with the dims of the mask gone, or of size 1. */
static bool reduced_out(struct wick__call *call, enum wick_dtype dtype, bool keepdim) {
    const struct wick__layout *layout = &call->in[0]->layout;
    int64_t shape[WICK_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < layout->rank; d++)
        if (!(call->p.reduce.dims >> d & 1))
            shape[rank++] = layout->shape[d];
        else if (keepdim)
            shape[rank++] = 1;
    return wick__call_out(call, dtype, rank, shape);
}

static struct wick_tensor *reduce(struct wick__call *call, enum wick_dtype dtype, int n_dims, const int *dims,
                                  bool keepdim) {
    int64_t terms;
    if (!resolve_dims(call, n_dims, dims, &terms)) return NULL;
    if (!reduced_out(call, dtype, keepdim)) return NULL;
    return wick__call_run(call);
}

/* As reduce, for ops that have no result for nothing. A result without elements is fine. */
static struct wick_tensor *reduce_some(struct wick__call *call, enum wick_dtype dtype, int64_t most, int n_dims,
                                       const int *dims, bool keepdim) {
    int64_t terms;
    if (!resolve_dims(call, n_dims, dims, &terms)) return NULL;
    if (terms > most) {
        wick__call_fail(call, WICK_OVERFLOW, "the index of %lld elements does not fit in u32", (long long)terms);
        return NULL;
    }
    if (!reduced_out(call, dtype, keepdim)) return NULL;
    if (terms == 0 && wick__count(call->out[0]) > 0) {
        wick_release(call->out[0]);
        call->n_out = 0;
        wick__call_fail(call, WICK_SHAPE, "a dim of size 0 has no such element");
        return NULL;
    }
    return wick__call_run(call);
}

#define CALL(op_, x_)                                                                                                  \
    {                                                                                                                  \
        .op = WICK_OP_##op_, .n_in = 1, .in = { x_ }                                                                   \
    }

struct wick_tensor *wick_sum(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(sum, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}

struct wick_tensor *wick_prod(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(prod, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}

struct wick_tensor *wick_min(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(min, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce_some(&call, x->dtype, INT64_MAX, n_dims, dims, keepdim);
}

struct wick_tensor *wick_max(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(max, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce_some(&call, x->dtype, INT64_MAX, n_dims, dims, keepdim);
}

struct wick_tensor *wick_any(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(any, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, WICK_U8, n_dims, dims, keepdim);
}

struct wick_tensor *wick_all(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(all, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, WICK_U8, n_dims, dims, keepdim);
}

struct wick_tensor *wick_argmin(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(argmin, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce_some(&call, WICK_U32, UINT32_MAX - (int64_t)1, n_dims, dims, keepdim);
}

struct wick_tensor *wick_argmax(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(argmax, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce_some(&call, WICK_U32, UINT32_MAX - (int64_t)1, n_dims, dims, keepdim);
}

struct wick_tensor *wick_mean(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(mean, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}

static struct wick_tensor *variance(enum wick_op op, const struct wick_tensor *x, double correction, int n_dims,
                                    const int *dims, bool keepdim) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    if (isnan(correction)) {
        wick__call_fail(&call, WICK_INVALID, "the correction is NaN");
        return NULL;
    }
    call.p.reduce.correction = correction;
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}

struct wick_tensor *wick_var(const struct wick_tensor *x, double correction, int n_dims, const int *dims,
                             bool keepdim) {
    return variance(WICK_OP_var, x, correction, n_dims, dims, keepdim);
}

struct wick_tensor *wick_std(const struct wick_tensor *x, double correction, int n_dims, const int *dims,
                             bool keepdim) {
    return variance(WICK_OP_std, x, correction, n_dims, dims, keepdim);
}

struct wick_tensor *wick_norm(const struct wick_tensor *x, double p, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(norm, x);
    if (!wick__call_check(&call)) return NULL;
    if (isnan(p)) {
        wick__call_fail(&call, WICK_INVALID, "p is NaN");
        return NULL;
    }
    call.p.reduce.order = p;
    if (p < 0) return reduce_some(&call, x->dtype, INT64_MAX, n_dims, dims, keepdim);
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}

struct wick_tensor *wick_log_sum_exp(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim) {
    struct wick__call call = CALL(log_sum_exp, x);
    if (!wick__call_check(&call)) return NULL;
    return reduce(&call, x->dtype, n_dims, dims, keepdim);
}
