/* A step of several sequences, each with a cache of its own. */
#include "ops/attention.h"

#include "core/memory.h"
#include "step.h"

#include <stdio.h>

/* How many heads keys have. */
static int64_t key_heads(const struct wick__call *call) {
    int64_t heads = call->in[WICK__STEP_KV]->layout.shape[1];
    return call->in[WICK__STEP_V] ? heads : heads / 2;
}

static bool has_shape(const struct wick__call *call, const struct wick_tensor *x, int64_t batch, int64_t positions,
                      const char *name) {
    const int64_t heads = key_heads(call) * (x == call->in[WICK__STEP_V] ? 1 : 2);
    const struct wick__layout *layout = &x->layout;
    char text[WICK__SHAPE_TEXT];
    if (layout->rank == 4 && layout->shape[0] == batch && layout->shape[1] == heads &&
        layout->shape[3] == call->in[0]->layout.shape[3] &&
        (positions ? layout->shape[2] == positions : layout->shape[2] > 0))
        return true;
    wick__call_fail(call, WICK_SHAPE, "%s is %s", name, wick__shape_text(text, layout->rank, layout->shape));
    return false;
}

static bool check_shapes(const struct wick__call *call, int n) {
    const struct wick__layout *q = &call->in[0]->layout, *kv = &call->in[1]->layout;
    const struct wick_tensor *v = call->in[WICK__STEP_V];
    const char *rule = NULL;
    if (q->rank != 4 || kv->rank != 4)
        rule = "q and kv must have rank 4";
    else if (q->shape[0] != n || kv->shape[0] != n || q->shape[2] != 1 || kv->shape[2] != 1)
        rule = "q and kv must have one position of each sequence";
    else if (q->shape[3] != kv->shape[3])
        rule = "the last dims of q and kv differ";
    else if (v && (kv->shape[1] < 1 || q->shape[1] % kv->shape[1] != 0))
        rule = "the heads of kv do not share those of q";
    else if (!v && (kv->shape[1] < 2 || kv->shape[1] % 2 != 0 || q->shape[1] % (kv->shape[1] / 2) != 0))
        rule = "kv has not twice as many heads as share those of q";
    if (rule) wick__call_fail(call, WICK_SHAPE, "%s", rule);
    return !rule && (!v || has_shape(call, v, n, 1, "v"));
}

static bool check_lengths(const struct wick__call *call, int n) {
    const struct wick_tensor *lengths = call->in[WICK__STEP_LENGTHS];
    char text[WICK__SHAPE_TEXT];
    if (!lengths || (lengths->layout.rank == 1 && lengths->layout.shape[0] == n)) return true;
    wick__call_fail(call, WICK_SHAPE, "lengths is %s",
                    wick__shape_text(text, lengths->layout.rank, lengths->layout.shape));
    return false;
}

static bool check_tables(const struct wick__call *call, int n) {
    static const char *const names[] = {"cosine", "sine"};
    const int64_t depth = call->in[0]->layout.shape[3];
    char text[WICK__SHAPE_TEXT];
    if (!call->in[WICK__STEP_COSINE] && !call->in[WICK__STEP_SINE]) return true;
    for (int i = 0; i < 2; i++) {
        const struct wick_tensor *table = call->in[WICK__STEP_COSINE + i];
        if (!table) {
            wick__call_fail(call, WICK_INVALID, "%s is NULL", names[i]);
            return false;
        }
        const struct wick__layout *x = &table->layout;
        if (x->rank == 2 && x->shape[0] == n && x->shape[1] <= depth / 2 &&
            wick__shape_equal(x, &call->in[WICK__STEP_COSINE]->layout))
            continue;
        wick__call_fail(call, WICK_SHAPE, "%s is %s", names[i], wick__shape_text(text, x->rank, x->shape));
        return false;
    }
    return true;
}

/* Checks cache i of the list. */
static bool check_cache(const struct wick__call *call, int i) {
    const struct wick_tensor *cache = wick__step_cache(call, i), *q = call->in[0];
    struct wick__call one = {.op = call->op,
                             .n_in = WICK__STEP_CACHES + 1,
                             .in = {q, call->in[1], call->in[2], [WICK__STEP_CACHES] = cache}};
    char name[32];
    snprintf(name, sizeof name, "cache %d", i);
    if (!wick__call_check(&one)) return false;
    if (cache->dtype != wick__step_cache(call, 0)->dtype || (cache->dtype != q->dtype && q->dtype != WICK_F32)) {
        wick__call_fail(&one, WICK_DTYPE, "%s is %s", name, wick_dtype_name(cache->dtype));
        return false;
    }
    if (!has_shape(&one, cache, 1, 0, name)) return false;
    bool shared = wick__layout_overlaps(&cache->layout);
    for (int k = 0; k < call->n_in; k++) shared = shared || (call->in[k] && wick__shares_buffer(cache, call->in[k]));
    if (shared) wick__call_fail(&one, WICK_INVALID, "%s shares its elements", name);
    return !shared;
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

/* Whether the family turns and rounds on the way into the caches. */
static bool takes_all(const struct wick__call *call, enum wick_dtype cache) {
    const struct wick_tensor *q = call->in[0];
    if (!call->in[WICK__STEP_COSINE] && cache == q->dtype) return true;
    return wick__device(q)->backend != &wick__cpu_backend && q->layout.shape[3] <= wick__step_wide(q->dtype);
}

/* x [n,heads,1,D], turned by the tables of a call. */
static struct wick_tensor *turned(const struct wick__call *call, struct wick_tensor *x) {
    const struct wick_tensor *cosine = call->in[WICK__STEP_COSINE];
    if (!x || !cosine || cosine->layout.shape[1] == 0) return x;
    const int64_t *table = cosine->layout.shape, turns = 2 * table[1], rest = x->layout.shape[3] - turns;
    struct wick_tensor *y = wick_rope(
        wick_narrow(x, 3, 0, turns), wick_reshape(cosine, WICK_SHAPE(table[0], 1, table[1])),
        wick_reshape(call->in[WICK__STEP_SINE], WICK_SHAPE(table[0], 1, table[1])), call->p.attention.interleaved);
    return rest == 0 ? y : wick_cat(2, (struct wick_tensor *[]){y, wick_narrow(x, 3, turns, rest)}, 3);
}

/* By ops of their own for what comes before attention and behind it. */
static struct wick_tensor *by_parts(const struct wick__call *call, int n, struct wick_tensor *const *caches,
                                    const struct wick_step_options *options) {
    const struct wick_tensor *kv = call->in[WICK__STEP_KV], *v = call->in[WICK__STEP_V];
    const enum wick_dtype dtype = caches[0]->dtype;
    const int64_t heads = key_heads(call);
    wick_scope_begin();
    struct wick_tensor *q = turned(call, wick_narrow(call->in[0], 3, 0, kv->layout.shape[3]));
    struct wick_tensor *k = turned(call, wick_narrow(kv, 1, 0, heads));
    const struct wick_step_options plain = {.v = wick_cast(v ? v : wick_narrow(kv, 1, heads, heads), dtype),
                                            .lengths = options->lengths,
                                            .attention = options->attention};
    if (!plain.v) return wick_scope_end(NULL);
    struct wick_tensor *y = wick_attention_step(wick_cast(q, dtype), wick_cast(k, dtype), n, caches, &plain);
    return wick_scope_end(wick_cast(y, kv->dtype));
}

/* Checks the caches of a call, and runs it. */
static struct wick_tensor *run(struct wick__call *call, int n, struct wick_tensor *const *caches,
                               const struct wick_step_options *options) {
    const struct wick_tensor *q = call->in[0];
    size_t nbytes = (size_t)(n + WICK__STEP_CACHES) * sizeof(struct wick_tensor *);
    struct wick_tensor **list = wick__alloc(nbytes), *out = NULL;
    bool good = list != NULL;
    if (!list) return NULL;
    for (int i = 0; i < WICK__STEP_CACHES; i++)
        if (call->in[i]) list[call->n_list++] = (struct wick_tensor *)(uintptr_t)call->in[i];
    for (int i = 0; i < n; i++) list[call->n_list++] = caches[i];
    call->list = list;
    for (int i = 0; i < n && good; i++) good = check_cache(call, i);
    if (good && !takes_all(call, caches[0]->dtype))
        out = by_parts(call, n, caches, options);
    else if (good && wick__call_out(call, q->dtype, 4, q->layout.shape))
        out = wick__call_run(call);
    wick__free(list, nbytes);
    return out;
}

struct wick_tensor *wick_attention_step(const struct wick_tensor *q, const struct wick_tensor *kv, int n,
                                        struct wick_tensor *const *caches, const struct wick_step_options *options) {
    static const struct wick_step_options plain = {.interleaved = false};
    static const struct wick_attention_options attention = {.causal = false};
    if (!options) options = &plain;
    struct wick__call call = {.op = WICK_OP_attention_step,
                              .n_in = WICK__STEP_CACHES,
                              .in = {q, kv, options->v, options->lengths, options->cosine, options->sine},
                              .n_targets = n};
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call)) return NULL;
    if (n < 1 || !caches) {
        wick__call_fail(&call, WICK_INVALID, "%d caches%s", n, caches ? "" : " at NULL");
        return NULL;
    }
    if (!check_shapes(&call, n) || !check_lengths(&call, n) || !check_tables(&call, n) ||
        !check_options(&call, options->attention ? options->attention : &attention))
        return NULL;
    call.p.attention.interleaved = options->interleaved;
    return run(&call, n, caches, options);
}
