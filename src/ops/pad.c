/* Padding. */
#include "ops/dispatch.h"

static bool check_dim(const struct wick__call *call, int d, enum wick_pad_mode mode, int64_t *size) {
    int64_t n = call->in[0]->layout.shape[d], before = call->p.pad.before[d], after = call->p.pad.after[d];
    if (before < 0 || after < 0)
        wick__call_fail(call, WICK_INVALID, "padding %lld, %lld of dim %d is negative", (long long)before,
                        (long long)after, d);
    else if (mode == WICK_PAD_REFLECT && (before > 0 || after > 0) && (before >= n || after >= n))
        wick__call_fail(call, WICK_SHAPE, "reflection of %lld, %lld is not less than dim %d of size %lld",
                        (long long)before, (long long)after, d, (long long)n);
    else if (mode == WICK_PAD_REPLICATE && n == 0 && (before > 0 || after > 0))
        wick__call_fail(call, WICK_SHAPE, "dim %d is empty and has no edge to replicate", d);
    else if (!wick__add(n, before, size) || !wick__add(*size, after, size))
        wick__call_fail(call, WICK_OVERFLOW, "dim %d of the result does not fit in 64 bits", d);
    else
        return true;
    return false;
}

struct wick_tensor *wick_pad(const struct wick_tensor *x, int n, const int64_t *before, const int64_t *after,
                             enum wick_pad_mode mode, struct wick_number value) {
    struct wick__call call = {.op = WICK_OP_pad, .n_in = 1, .in = {x}};
    int64_t shape[WICK_MAX_RANK] = {0};
    if (!wick__call_check(&call)) return NULL;
    int rank = x->layout.rank;
    if (n != rank || (n > 0 && (!before || !after))) {
        wick__call_fail(&call, WICK_INVALID, "%d sizes%s for %d dims", n, n == rank ? " at NULL" : "", rank);
        return NULL;
    }
    if ((unsigned)mode >= WICK_PAD_MODE_COUNT) {
        wick__call_fail(&call, WICK_INVALID, "%d is not a padding mode", (int)mode);
        return NULL;
    }
    call.p.pad.mode = (int)mode;
    call.p.pad.value = value;
    for (int d = 0; d < rank; d++) {
        call.p.pad.before[d] = before[d];
        call.p.pad.after[d] = after[d];
        if (!check_dim(&call, d, mode, &shape[d])) return NULL;
    }
    if (!wick__call_out(&call, x->dtype, rank, shape)) return NULL;
    return wick__call_run(&call);
}

static struct wick_tensor *pad_one(const struct wick_tensor *x, int dim, int64_t before, int64_t after,
                                   enum wick_pad_mode mode) {
    struct wick__call call = {.op = WICK_OP_pad, .n_in = 1, .in = {x}};
    int64_t front[WICK_MAX_RANK] = {0}, back[WICK_MAX_RANK] = {0};
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &dim)) return NULL;
    front[dim] = before;
    back[dim] = after;
    return wick_pad(x, x->layout.rank, front, back, mode, WICK_INT(0));
}

struct wick_tensor *wick_pad_with_zeros(const struct wick_tensor *x, int dim, int64_t before, int64_t after) {
    return pad_one(x, dim, before, after, WICK_PAD_CONSTANT);
}

struct wick_tensor *wick_pad_with_same(const struct wick_tensor *x, int dim, int64_t before, int64_t after) {
    return pad_one(x, dim, before, after, WICK_PAD_REPLICATE);
}
