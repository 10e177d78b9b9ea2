/* Scaled dot product attention, of a batch and of packed sequences.
 *
 * Both calls have the operands q, k, v, then the mask, or the starts of queries and of keys, and slopes last. */
#include "ops/attention_rank.h"
#include "ops/attention_whole.h"

#include <math.h>
#include <string.h>

bool wick__attention_check(const struct wick__call *call, struct wick__attention_dims at) {
    const struct wick_tensor *const *in = call->in + at.q;
    const int64_t *q = in[0]->layout.shape, *k = in[1]->layout.shape, *v = in[2]->layout.shape;
    for (int i = at.q; i < at.q + 3; i++)
        if (call->in[i]->layout.rank != at.rank) {
            wick__call_fail(call, WICK_SHAPE, "%s has rank %d, not %d", wick__operand_name(call->op, i),
                            call->in[i]->layout.rank, at.rank);
            return false;
        }
    const char *rule = NULL;
    if (at.batch >= 0 && (k[at.batch] != q[at.batch] || v[at.batch] != q[at.batch]))
        rule = "the batches differ";
    else if (k[at.rank - 1] != q[at.rank - 1])
        rule = "the last dims of q and k differ";
    else if (k[at.heads] != v[at.heads] || k[at.positions] != v[at.positions])
        rule = "heads or lengths of k and v differ";
    else if (k[at.heads] == 0 ? q[at.heads] != 0 : q[at.heads] % k[at.heads] != 0)
        rule = "the heads of q are not multiple of those of k";
    if (rule) wick__call_fail(call, WICK_SHAPE, "%s", rule);
    return !rule;
}

bool wick__attention_options(struct wick__call *call, struct wick__attention_dims at,
                             const struct wick_attention_options *options) {
    const int64_t far = WICK__FAR;
    const struct wick__layout *q = &call->in[at.q]->layout;
    if (!wick__call_reserved(call, options->reserved)) return false;
    if (!isfinite(options->scale) || !isfinite(options->soft_cap) || options->soft_cap < 0) {
        wick__call_fail(call, WICK_INVALID, "scale %g and soft_cap %g must be finite, soft_cap not negative",
                        options->scale, options->soft_cap);
        return false;
    }
    if (!(options->dropout >= 0 && options->dropout < 1) || (options->dropout > 0 && at.batch < 0)) {
        wick__call_fail(call, WICK_INVALID, "dropout %g is not in 0 .. 1, or sequences are packed, which have none",
                        options->dropout);
        return false;
    }
    call->p.attention.scale =
        options->scale == 0 ? 1 / sqrt((double)wick__max(1, q->shape[q->rank - 1])) : options->scale;
    call->p.attention.soft_cap = options->soft_cap;
    call->p.attention.align_last = options->align_last;
    call->p.attention.left = options->windowed && options->left >= 0 ? wick__min(options->left, far) : far;
    call->p.attention.right = options->causal                            ? 0
                              : options->windowed && options->right >= 0 ? wick__min(options->right, far)
                                                                         : far;
    return true;
}

bool wick__attention_widen(struct wick__call *call, int i, int rank, const int64_t *shape, struct wick_tensor **wide) {
    struct wick__layout layout;
    char text[WICK__SHAPE_TEXT];
    const char *name = wick__operand_name(call->op, i);
    if (!call->in[i]) return true;
    if (!wick__layout_expand(&call->in[i]->layout, rank, shape, &layout)) {
        wick__call_fail(call, WICK_SHAPE, "%.*s does not broadcast to %s", (int)strcspn(name, "?"), name,
                        wick__shape_text(text, rank, shape));
        return false;
    }
    call->in[i] = *wide = wick__broadcast(call->in[i], &layout);
    return *wide != NULL;
}

/* Makes the results and runs the call; `batch` is how many sequences there are. */
static struct wick_tensor *run(struct wick__call *call, struct wick__attention_dims at, int64_t batch,
                               const struct wick_attention_options *options) {
    const struct wick_tensor *q = call->in[0], *v = call->in[2];
    struct wick_tensor *slopes = NULL, *out = NULL;
    int64_t shape[4], by_head[2] = {batch, q->layout.shape[at.heads]};
    memcpy(shape, q->layout.shape, (size_t)at.rank * sizeof *shape);
    shape[at.rank - 1] = v->layout.shape[at.rank - 1];
    enum wick_dtype sums = q->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    if (wick__attention_widen(call, call->n_in - 1, 2, by_head, &slopes) &&
        wick__call_out(call, q->dtype, at.rank, shape) &&
        wick__call_wanted(call, options->log_sums != NULL, sums, at.rank - 1, shape)) /* the gradient needs the sums */
        out = wick__call_run(call);
    if (out && options->log_sums) *options->log_sums = call->out[1];
    wick_release(slopes);
    return out;
}

static const struct wick_attention_options defaults = {.causal = false};

struct wick_tensor *wick_scaled_dot_product_attention(const struct wick_tensor *q, const struct wick_tensor *k,
                                                      const struct wick_tensor *v, const struct wick_tensor *mask,
                                                      const struct wick_attention_options *options) {
    if (!options) options = &defaults;
    if (wick__attention_folds(q, k, v)) return wick__attention_folded(q, k, v, mask, options);
    return wick__attention_with(q, k, v, mask, options, NULL);
}

struct wick_tensor *wick__attention_with(const struct wick_tensor *q, const struct wick_tensor *k,
                                         const struct wick_tensor *v, const struct wick_tensor *mask,
                                         const struct wick_attention_options *options, struct wick_tensor **weights) {
    const struct wick__attention_dims at = {.rank = 4, .batch = 0, .heads = 1, .positions = 2};
    struct wick__call call = {
        .op = WICK_OP_scaled_dot_product_attention, .n_in = 5, .in = {q, k, v, mask, options->slopes}};
    if (!wick__call_check(&call) || !wick__attention_check(&call, at) || !wick__attention_options(&call, at, options))
        return NULL;
    const int64_t *shape = q->layout.shape;
    int64_t scores[4] = {shape[0], shape[1], shape[2], k->layout.shape[2]};
    struct wick_tensor *wide = NULL, *out = NULL;
    bool whole = options->dropout > 0 || weights;
    if (wick__attention_widen(&call, 3, 4, scores, &wide))
        out = whole ? wick__attention_whole(&call, options, weights) : run(&call, at, shape[0], options);
    wick_release(wide);
    return out;
}

bool wick__attention_check_starts(const struct wick__call *call, struct wick__attention_dims at, int first) {
    for (int i = first; i < first + 2; i++) {
        const struct wick_tensor *starts = call->in[i];
        const char *rule = NULL;
        if (starts->layout.rank != 1 || starts->layout.shape[0] < 2)
            rule = "must have the shape [B+1] for B >= 1 sequences";
        else if (starts->layout.shape[0] != call->in[first]->layout.shape[0])
            rule = "has another length than q_starts";
        else if (call->in[at.q + i - first]->layout.shape[0] > INT32_MAX) /* of q, of k */
            rule = "can't number 2^31 positions or more";
        if (!rule) continue;
        wick__call_fail(call, WICK_SHAPE, "%s %s", wick__operand_name(call->op, i), rule);
        return false;
    }
    return true;
}

struct wick_tensor *wick_attention_packed(const struct wick_tensor *q, const struct wick_tensor *k,
                                          const struct wick_tensor *v, const struct wick_tensor *q_starts,
                                          const struct wick_tensor *k_starts,
                                          const struct wick_attention_options *options) {
    const struct wick__attention_dims at = {.rank = 3, .batch = -1, .heads = 1, .positions = 0};
    if (!options) options = &defaults;
    struct wick__call call = {
        .op = WICK_OP_attention_packed, .n_in = 6, .in = {q, k, v, q_starts, k_starts, options->slopes}};
    if (!wick__call_check(&call) || !wick__attention_check(&call, at) || !wick__attention_check_starts(&call, at, 3) ||
        !wick__attention_options(&call, at, options))
        return NULL;
    return run(&call, at, q_starts->layout.shape[0] - 1, options);
}
