/* A step of several sequences, each with a cache of its own. */
#include "ops/attention.h"

#include "core/memory.h"
#include "step.h"

#include <stdio.h>

static bool has_shape(const struct wick__call *call, const struct wick__layout *x, int64_t batch, int64_t positions,
                      const char *name) {
    const struct wick__layout *kv = &call->in[1]->layout;
    char text[WICK__SHAPE_TEXT];
    if (x->rank == 4 && x->shape[0] == batch && x->shape[1] == kv->shape[1] && x->shape[3] == kv->shape[3] &&
        (positions ? x->shape[2] == positions : x->shape[2] > 0))
        return true;
    wick__call_fail(call, WICK_SHAPE, "%s is %s", name, wick__shape_text(text, x->rank, x->shape));
    return false;
}

static bool check_shapes(const struct wick__call *call, int n) {
    const struct wick__layout *q = &call->in[0]->layout, *kv = &call->in[1]->layout;
    const char *rule = NULL;
    if (q->rank != 4 || kv->rank != 4)
        rule = "q and kv must have rank 4";
    else if (q->shape[0] != n || kv->shape[0] != n || q->shape[2] != 1 || kv->shape[2] != 1)
        rule = "q and kv must have one position of each sequence";
    else if (q->shape[3] != kv->shape[3])
        rule = "the last dims of q and kv differ";
    else if (kv->shape[1] < 2 || kv->shape[1] % 2 != 0 || q->shape[1] % (kv->shape[1] / 2) != 0)
        rule = "kv has not twice as many heads as share those of q";
    if (rule) wick__call_fail(call, WICK_SHAPE, "%s", rule);
    return !rule;
}

static bool check_lengths(const struct wick__call *call, int n) {
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    char text[WICK__SHAPE_TEXT];
    if (!lengths || (lengths->layout.rank == 1 && lengths->layout.shape[0] == n)) return true;
    wick__call_fail(call, WICK_SHAPE, "lengths is %s",
                    wick__shape_text(text, lengths->layout.rank, lengths->layout.shape));
    return false;
}

/* Checks cache i of the list. */
static bool check_cache(const struct wick__call *call, int i) {
    const struct wick_tensor *cache = wick__step_cache(call, i);
    struct wick__call one = {.op = call->op, .n_in = 4, .in = {call->in[0], call->in[1], NULL, cache}};
    char name[32];
    snprintf(name, sizeof name, "cache %d", i);
    if (!wick__call_check(&one) || !has_shape(&one, &cache->layout, 1, 0, name)) return false;
    if (!wick__layout_overlaps(&cache->layout) && !wick__shares_buffer(cache, one.in[0]) &&
        !wick__shares_buffer(cache, one.in[1]))
        return true;
    wick__call_fail(&one, WICK_INVALID, "%s shares its elements", name);
    return false;
}

static bool check_options(struct wick__call *call, const struct wick_attention_options *options) {
    const struct wick__attention_dims at = {.rank = 4, .batch = 0, .heads = 1, .positions = 2};
    if (!wick__attention_options(call, at, options)) return false;
    call->p.attention.align_last = true;
    call->p.attention.right = WICK__FAR;
    if (!options->slopes && options->dropout == 0 && !options->log_sums) return true;
    wick__call_fail(call, WICK_INVALID, "there are no slopes, dropout or log_sums");
    return false;
}

struct wick_tensor *wick_attention_step(const struct wick_tensor *q, const struct wick_tensor *kv,
                                        const struct wick_tensor *lengths, int n, struct wick_tensor *const *caches,
                                        const struct wick_attention_options *options) {
    static const struct wick_attention_options plain = {.causal = false};
    struct wick__call call = {.op = WICK_OP_attention_step, .n_in = 3, .in = {q, kv, lengths}, .n_targets = n};
    if (!wick__call_check(&call)) return NULL;
    if (n < 1 || !caches) {
        wick__call_fail(&call, WICK_INVALID, "%d caches%s", n, caches ? "" : " at NULL");
        return NULL;
    }
    if (!check_shapes(&call, n) || !check_lengths(&call, n) || !check_options(&call, options ? options : &plain))
        return NULL;
    size_t nbytes = (size_t)(n + WICK__STEP_CACHES) * sizeof(struct wick_tensor *);
    struct wick_tensor **list = wick__alloc(nbytes), *out = NULL;
    if (!list) return NULL;
    bool good = true;
    for (int i = 0; i < WICK__STEP_CACHES; i++)
        if (call.in[i]) list[call.n_list++] = (struct wick_tensor *)(uintptr_t)call.in[i];
    for (int i = 0; i < n; i++) list[call.n_list++] = caches[i];
    call.list = list;
    for (int i = 0; i < n && good; i++) good = check_cache(&call, i);
    if (good && wick__call_out(&call, q->dtype, 4, q->layout.shape)) out = wick__call_run(&call);
    wick__free(list, nbytes);
    return out;
}
