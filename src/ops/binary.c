/* Functions and comparisons of two tensors, and choice between two. */
#include "ops/dispatch.h"

/* The shape that operands 0 .. n-1 broadcast to. False after recording WICK_SHAPE. */
static bool broadcast(const struct wick__call *call, int n, struct wick__layout *wide) {
    *wide = call->in[0]->layout;
    for (int i = 1; i < n; i++) {
        const struct wick__layout *other = &call->in[i]->layout;
        struct wick__layout sum = {0};
        if (!wick__shape_broadcast(wide, other, &sum.rank, sum.shape)) {
            wick__call_fail(call, WICK_SHAPE, "shapes do not broadcast: sizes must be equal, 1 or missing");
            return false;
        }
        *wide = sum;
    }
    return true;
}

static struct wick_tensor *binary(enum wick_op op, const struct wick_tensor *lhs, const struct wick_tensor *rhs,
                                  bool question) {
    struct wick__call call = {.op = op, .n_in = 2, .in = {lhs, rhs}};
    struct wick__layout wide;
    if (!wick__call_check(&call) || !broadcast(&call, 2, &wide)) return NULL;
    if (!wick__call_out_like(&call, question ? WICK_U8 : lhs->dtype, wide.rank, wide.shape)) return NULL;
    return wick__call_run(&call);
}

#define WICK__BINARY(number, name, ...)                                                                                \
    struct wick_tensor *wick_##name(const struct wick_tensor *lhs, const struct wick_tensor *rhs) {                    \
        return binary(WICK_OP_##name, lhs, rhs, false);                                                                \
    }
#define WICK__COMPARISON(number, name, ...)                                                                            \
    struct wick_tensor *wick_##name(const struct wick_tensor *lhs, const struct wick_tensor *rhs) {                    \
        return binary(WICK_OP_##name, lhs, rhs, true);                                                                 \
    }
#include "kernels/elementwise_ops.h"

struct wick_tensor *wick_prelu(const struct wick_tensor *x, const struct wick_tensor *weight) {
    struct wick__call call = {.op = WICK_OP_prelu, .n_in = 2, .in = {x, weight}};
    if (!wick__call_check(&call)) return NULL;
    int rank = x->layout.rank, channel = rank > 1 ? 1 : 0;
    int64_t count = wick__count(weight), channels = rank > 0 ? x->layout.shape[channel] : 1;
    if (count != 1 && (weight->layout.rank != 1 || count != channels)) {
        wick__call_fail(&call, WICK_SHAPE, "weight has neither one element nor one for each of %lld channels",
                        (long long)channels);
        return NULL;
    }
    /* The weight seen as [C,1,..], so that it broadcasts. */
    struct wick__layout spread = {.rank = count == 1 ? 0 : rank - channel, .offset = weight->layout.offset};
    for (int d = 0; d < spread.rank; d++) spread.shape[d] = d == 0 ? count : 1;
    if (spread.rank > 0) spread.stride[0] = weight->layout.stride[0];
    struct wick__call reshape = {.op = WICK_OP_reshape, .n_in = 1, .in = {weight}};
    struct wick_tensor *view = wick__call_view(&reshape, &spread), *result = NULL;
    if (!view) return NULL;
    call.in[1] = view;
    if (wick__call_out_like(&call, x->dtype, rank, x->layout.shape)) result = wick__call_run(&call);
    wick_release(view);
    return result;
}

/* The half of x along a dim that begins at `start`, in no scope. */
static struct wick_tensor *half_of(const struct wick_tensor *x, const struct wick__layout *half, int dim,
                                   int64_t start) {
    struct wick__call call = {.op = WICK_OP_narrow, .n_in = 1, .in = {x}};
    call.p.view.dim = dim;
    call.p.view.start = start;
    call.p.view.length = half->shape[dim];
    return wick__call_view(&call, half);
}

/* The op of the two halves of x along a dim. */
static struct wick_tensor *halves(struct wick__call *call, int dim) {
    const struct wick_tensor *x = call->in[0];
    struct wick__layout half = x->layout;
    half.shape[dim] /= 2;
    struct wick_tensor *a = half_of(x, &half, dim, 0), *result = NULL;
    if (wick__layout_count(&half) > 0) half.offset += half.shape[dim] * half.stride[dim];
    struct wick_tensor *b = a ? half_of(x, &half, dim, half.shape[dim]) : NULL;
    if (b) {
        call->n_in = 2;
        call->in[0] = a;
        call->in[1] = b;
        if (wick__call_out_like(call, x->dtype, half.rank, half.shape)) result = wick__call_run(call);
    }
    wick_release(a);
    wick_release(b);
    return result;
}

struct wick_tensor *wick_swiglu(const struct wick_tensor *x) {
    struct wick__call call = {.op = WICK_OP_swiglu, .n_in = 1, .in = {x}};
    if (!wick__call_check(&call)) return NULL;
    int last = x->layout.rank - 1;
    if (last >= 0 && x->layout.shape[last] % 2 == 0) return halves(&call, last);
    wick__call_fail(&call, WICK_SHAPE, "the last dim has no two halves");
    return NULL;
}

struct wick_tensor *wick_glu(const struct wick_tensor *x, int dim) {
    struct wick__call call = {.op = WICK_OP_glu, .n_in = 1, .in = {x}};
    int along;
    if (!wick__call_check(&call) || !wick__call_dim(&call, dim, &along)) return NULL;
    if (x->layout.shape[along] % 2 == 0) return halves(&call, along);
    wick__call_fail(&call, WICK_SHAPE, "dim %d has no two halves", along);
    return NULL;
}

struct wick_tensor *wick_where(const struct wick_tensor *condition, const struct wick_tensor *a,
                               const struct wick_tensor *b) {
    struct wick__call call = {.op = WICK_OP_where, .n_in = 3, .in = {a, b, condition}};
    struct wick__layout wide;
    if (!wick__call_check(&call)) return NULL;
    if (!broadcast(&call, 3, &wide)) return NULL;
    if (!wick__call_out_like(&call, a->dtype, wide.rank, wide.shape)) return NULL;
    return wick__call_run(&call);
}
