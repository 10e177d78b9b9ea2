/* Padding. */
#include "ops/dispatch.h"

/* Checks the padding of dim d, of n elements. */
static bool check_dim(const struct wick__call *call, int d, int64_t n, int64_t *size) {
    enum wick_pad_mode mode = (enum wick_pad_mode)call->p.pad.mode;
    int64_t before = call->p.pad.before[d], after = call->p.pad.after[d];
    const int64_t least = -(INT64_C(1) << 62);
    bool margin = before > 0 || after > 0;
    if (mode == WICK_PAD_REFLECT && margin && (before >= n || after >= n))
        wick__call_fail(call, WICK_SHAPE, "reflection of %lld, %lld is not less than dim %d of size %lld",
                        (long long)before, (long long)after, d, (long long)n);
    else if (mode == WICK_PAD_REPLICATE && n == 0 && margin)
        wick__call_fail(call, WICK_SHAPE, "dim %d is empty and has no edge to replicate", d);
    else if (mode == WICK_PAD_CIRCULAR && n == 0 && margin)
        wick__call_fail(call, WICK_SHAPE, "dim %d is empty and has nothing to repeat", d);
    else if (before < least || after < least || !wick__add(n, before, size) || !wick__add(*size, after, size))
        wick__call_fail(call, WICK_OVERFLOW, "dim %d of the result does not fit in 64 bits", d);
    else if (*size < 0)
        wick__call_fail(call, WICK_SHAPE, "padding %lld, %lld takes more than dim %d of size %lld has",
                        (long long)before, (long long)after, d, (long long)n);
    else
        return true;
    return false;
}

/* Takes the arguments, and checks those that need no sizes. */
static bool begin(struct wick__call *call, int n, const int64_t *before, const int64_t *after,
                  enum wick_pad_mode mode) {
    if (!wick__call_check(call)) return false;
    int rank = call->in[0]->layout.rank;
    if (n != rank || (n > 0 && (!before || !after))) {
        wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d dims", n, n == rank ? " at NULL" : "", rank);
        return false;
    }
    if ((unsigned)mode >= WICK_PAD_MODE_COUNT) {
        wick__call_fail(call, WICK_INVALID, "%d is not a padding mode", (int)mode);
        return false;
    }
    call->p.pad.mode = (int)mode;
    for (int d = 0; d < rank; d++) {
        call->p.pad.before[d] = before[d];
        call->p.pad.after[d] = after[d];
    }
    return true;
}

struct wick_tensor *wick_pad(const struct wick_tensor *x, int n, const int64_t *before, const int64_t *after,
                             enum wick_pad_mode mode, struct wick_number value) {
    struct wick__call call = {.op = WICK_OP_pad, .n_in = 1, .in = {x}, .p.pad.value = value};
    int64_t shape[WICK_MAX_RANK] = {0};
    if (!begin(&call, n, before, after, mode)) return NULL;
    for (int d = 0; d < n; d++)
        if (!check_dim(&call, d, x->layout.shape[d], &shape[d])) return NULL;
    if (!wick__call_out(&call, x->dtype, n, shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_pad_backward(const struct wick_tensor *gradient, int n, const int64_t *before,
                                      const int64_t *after, enum wick_pad_mode mode) {
    struct wick__call call = {.op = WICK_OP_pad_backward, .n_in = 1, .in = {gradient}};
    int64_t shape[WICK_MAX_RANK] = {0}, padded;
    if (!begin(&call, n, before, after, mode)) return NULL;
    for (int d = 0; d < n; d++) {
        int64_t margins;
        if (!wick__add(before[d], after[d], &margins) || margins == INT64_MIN ||
            !wick__add(gradient->layout.shape[d], -margins, &shape[d]) || shape[d] < 0) {
            wick__call_fail(&call, WICK_SHAPE, "no dim %d with padding %lld, %lld has size %lld", d,
                            (long long)before[d], (long long)after[d], (long long)gradient->layout.shape[d]);
            return NULL;
        }
        if (!check_dim(&call, d, shape[d], &padded)) return NULL;
    }
    if (!wick__call_out(&call, gradient->dtype, n, shape)) return NULL;
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
