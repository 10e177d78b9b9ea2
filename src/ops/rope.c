/* Rotary position embedding. */
#include "ops/dispatch.h"

static struct wick_tensor *rope(enum wick_op op, const struct wick_tensor *x, const struct wick_tensor *cosine,
                                const struct wick_tensor *sine, bool interleaved) {
    struct wick__call call = {.op = op, .n_in = 3, .in = {x, cosine, sine}};
    if (!wick__call_check(&call)) return NULL;
    const struct wick__layout *a = &x->layout, *c = &cosine->layout;
    if (a->rank != 4 || a->shape[3] % 2 != 0) {
        wick__call_fail(&call, WICK_SHAPE, "x must have rank 4 and an even last dim");
        return NULL;
    }
    int64_t times = a->shape[op == WICK_OP_rope ? 2 : 1];
    bool fits = (c->rank == 2 || (c->rank == 3 && c->shape[0] == a->shape[0])) && c->shape[c->rank - 2] == times &&
                c->shape[c->rank - 1] == a->shape[3] / 2 && wick__shape_equal(c, &sine->layout);
    if (!fits) {
        wick__call_fail(&call, WICK_SHAPE, "cosine and sine must be [%lld,%lld] or [%lld,%lld,%lld]", (long long)times,
                        (long long)a->shape[3] / 2, (long long)a->shape[0], (long long)times,
                        (long long)a->shape[3] / 2);
        return NULL;
    }
    call.p.rope.interleaved = interleaved;
    if (!wick__call_out(&call, x->dtype, 4, a->shape)) return NULL;
    return wick__call_run(&call);
}

struct wick_tensor *wick_rope(const struct wick_tensor *x, const struct wick_tensor *cosine,
                              const struct wick_tensor *sine, bool interleaved) {
    return rope(WICK_OP_rope, x, cosine, sine, interleaved);
}

struct wick_tensor *wick_rope_thd(const struct wick_tensor *x, const struct wick_tensor *cosine,
                                  const struct wick_tensor *sine, bool interleaved) {
    return rope(WICK_OP_rope_thd, x, cosine, sine, interleaved);
}
