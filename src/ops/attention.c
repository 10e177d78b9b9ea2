/* Scaled dot product attention. */
#include "ops/dispatch.h"

#include <math.h>

static bool check_shapes(const struct wick__call *call) {
    const struct wick__layout *q = &call->in[0]->layout, *k = &call->in[1]->layout, *v = &call->in[2]->layout;
    for (int i = 0; i < 3; i++)
        if (call->in[i]->layout.rank != 4) {
            wick__call_fail(call, WICK_SHAPE, "%s has rank %d, not 4", wick__operand_name(call->op, i),
                            call->in[i]->layout.rank);
            return false;
        }
    const char *rule = NULL;
    if (k->shape[0] != q->shape[0] || v->shape[0] != q->shape[0])
        rule = "the batches differ";
    else if (k->shape[3] != q->shape[3])
        rule = "the last dims of q and k differ";
    else if (k->shape[1] != v->shape[1] || k->shape[2] != v->shape[2])
        rule = "heads or lengths of k and v differ";
    else if (k->shape[1] == 0 ? q->shape[1] != 0 : q->shape[1] % k->shape[1] != 0)
        rule = "the heads of q are no multiple of those of k";
    if (rule) wick__call_fail(call, WICK_SHAPE, "%s", rule);
    return !rule;
}

static bool check_options(const struct wick__call *call, const struct wick_attention_options *options) {
    if (isfinite(options->scale) && isfinite(options->soft_cap) && options->soft_cap >= 0) return true;
    wick__call_fail(call, WICK_INVALID, "scale %g and soft_cap %g must be finite, soft_cap not negative",
                    options->scale, options->soft_cap);
    return false;
}

struct wick_tensor *wick_scaled_dot_product_attention(const struct wick_tensor *q, const struct wick_tensor *k,
                                                      const struct wick_tensor *v, const struct wick_tensor *mask,
                                                      const struct wick_attention_options *options) {
    static const struct wick_attention_options defaults = {0};
    struct wick__call call = {.op = WICK_OP_scaled_dot_product_attention, .n_in = 4, .in = {q, k, v, mask}};
    if (!options) options = &defaults;
    if (!wick__call_check(&call)) return NULL;
    if (!check_shapes(&call) || !check_options(&call, options)) return NULL;
    const int64_t *in = q->layout.shape;
    int64_t scores[4] = {in[0], in[1], in[2], k->layout.shape[2]};
    int64_t shape[4] = {in[0], in[1], in[2], v->layout.shape[3]};
    struct wick_tensor *wide = NULL;
    if (mask) {
        struct wick__layout layout;
        if (!wick__layout_expand(&mask->layout, 4, scores, &layout)) {
            wick__call_fail(&call, WICK_SHAPE, "mask does not broadcast to [%lld,%lld,%lld,%lld]", (long long)scores[0],
                            (long long)scores[1], (long long)scores[2], (long long)scores[3]);
            return NULL;
        }
        call.in[3] = wide = wick__broadcast(mask, &layout);
        if (!wide) return NULL;
    }
    call.p.attention.scale = options->scale == 0 ? 1 / sqrt((double)wick__max(1, in[3])) : options->scale;
    call.p.attention.soft_cap = options->soft_cap;
    call.p.attention.causal = options->causal;
    struct wick_tensor *out = wick__call_out(&call, q->dtype, 4, shape) ? wick__call_run(&call) : NULL;
    wick_release(wide);
    return out;
}
