/* Keys and values of a sequence: how they lie in memory, and attention to them.
 *
 * A cache of floats is [1, 2 kv_heads, capacity, head]. One of q8_0 is the bytes of its blocks, u8 [1, 2 kv_heads,
 * capacity, head / 32 * 34], which ops write and copy by rows as any others. Attention makes floats of BLOCK keys at a
 * time, and merges what it finds in each: a softmax over all keys is the mean of those over some, weighted by their
 * sums. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/tensor.h"

enum { BLOCK = 1024, GROUP = 32 /* elements of a block of q8_0 */, GROUP_BYTES = 34 };

enum wick_dtype wick__kv_shape(const struct wick_sequence *sequence, int64_t n, int64_t shape[4]) {
    const struct wick__lm_config *config = &sequence->lm->config;
    bool blocks = sequence->dtype == WICK_DTYPE_q8_0;
    shape[0] = 1;
    shape[1] = config->kv_heads;
    shape[2] = n;
    shape[3] = blocks ? config->head / GROUP * GROUP_BYTES : config->head;
    return blocks ? WICK_U8 : sequence->dtype;
}

/* x, whose rows have no gaps, as elements of another dtype, `last` of them in a row. */
static struct wick_tensor *retype(const struct wick_tensor *x, enum wick_dtype dtype, int64_t last) {
    if (!x) return NULL;
    struct wick__layout layout = x->layout;
    const int64_t have = wick_dtype_block_bytes(x->dtype), want = wick_dtype_block_bytes(dtype);
    layout.offset = layout.offset / wick_dtype_block(x->dtype) * have / want * wick_dtype_block(dtype);
    for (int d = 0; d < layout.rank - 1; d++)
        layout.stride[d] = layout.stride[d] / wick_dtype_block(x->dtype) * have / want * wick_dtype_block(dtype);
    layout.shape[layout.rank - 1] = last;
    struct wick_tensor *y = wick__tensor_view(x, &layout);
    if (y) y->dtype = dtype;
    return wick__scope_add(y);
}

/* ---- into the cache ---- */

/* Rows [1, heads, n, head] f32 as bytes of q8_0. As GGML: a scale of f16, the largest magnitude / 127, then whole
 * numbers of scales. Scales beyond what f16 holds are its largest number. */
static struct wick_tensor *quantise(const struct wick_tensor *rows) {
    if (!rows) return NULL;
    int64_t heads = wick_tensor_dim(rows, 1), n = wick_tensor_dim(rows, 2), groups = wick_tensor_dim(rows, 3) / GROUP;
    struct wick_tensor *x = wick_reshape(rows, WICK_SHAPE(1, heads, n, groups, GROUP));
    struct wick_tensor *scale = wick_max(wick_abs(x), 1, (int[]){-1}, true);
    scale = wick_clamp(wick_affine(scale, WICK_REAL(1.0 / 127), WICK_INT(0)), WICK_REAL(1e-30), WICK_REAL(65504));
    struct wick_tensor *whole = wick_clamp(wick_round(wick_div(x, scale)), WICK_INT(-127), WICK_INT(127));
    struct wick_tensor *const parts[] = {retype(wick_cast(scale, WICK_F16), WICK_U8, 2),
                                         retype(wick_cast(whole, WICK_DTYPE_i8), WICK_U8, GROUP)};
    return wick_reshape(wick_cat(2, parts, 4), WICK_SHAPE(1, heads, n, groups * GROUP_BYTES));
}

struct wick_tensor *wick__kv_part(const struct wick_sequence *sequence, int64_t number) {
    int64_t heads = sequence->lm->config.kv_heads;
    return wick_narrow(sequence->kv[number / 2], 1, number % 2 * heads, heads);
}

enum wick_status wick__kv_put(const struct wick_sequence *sequence, struct wick_tensor *to,
                              const struct wick_tensor *rows) {
    bool blocks = sequence->dtype == WICK_DTYPE_q8_0;
    const struct wick_tensor *kept = blocks                                       ? quantise(rows)
                                     : wick_tensor_dtype(rows) == sequence->dtype ? rows
                                                                                  : wick_cast(rows, sequence->dtype);
    return wick_slice_set_inplace(to, kept, 2, sequence->length);
}

/* ---- out of it ---- */

/* Keys or values first .. first + n - 1. */
static struct wick_tensor *seen(const struct wick_sequence *sequence, int64_t number, int64_t first, int64_t n) {
    struct wick_tensor *rows = wick_narrow(wick__kv_part(sequence, number), 2, first, n);
    if (sequence->dtype != WICK_DTYPE_q8_0) return rows;
    return wick_cast(retype(rows, WICK_DTYPE_q8_0, sequence->lm->config.head), WICK_F32);
}

/* Attention to some keys: the result, and the logarithms of the sums of exponentials. Both are owned. */
struct part {
    struct wick_tensor *mixed, *log_sums;
};

static void release(struct part *part) {
    wick_release(part->mixed);
    wick_release(part->log_sums);
    *part = (struct part){NULL, NULL};
}

/* The weights are softmax over the two sums. */
static struct part merge(const struct part *a, const struct part *b) {
    struct wick_tensor *sums = wick_stack(2, (struct wick_tensor *[]){a->log_sums, b->log_sums}, 3);
    struct wick_tensor *mixed = wick_stack(2, (struct wick_tensor *[]){a->mixed, b->mixed}, 3);
    mixed = wick_mul(mixed, wick_unsqueeze(wick_softmax(sums, -1), 4));
    return (struct part){wick_sum(mixed, 1, (int[]){3}, false), wick_log_sum_exp(sums, 1, (int[]){-1}, false)};
}

/* The queries of one layer. */
struct queries {
    const struct wick_sequence *sequence;
    int64_t layer;
    const struct wick_tensor *q;
};

/* Adds attention to keys first .. first + n - 1 to what is there. False after a failure. */
static bool add(const struct queries *queries, int64_t first, int64_t n, const struct wick_attention_options *given,
                struct part *all) {
    const struct wick_sequence *sequence = queries->sequence;
    struct part part = {NULL, NULL};
    struct wick_attention_options options = *given;
    options.log_sums = &part.log_sums;
    wick_scope_begin();
    struct wick_tensor *k = seen(sequence, 2 * queries->layer, first, n);
    struct wick_tensor *v = seen(sequence, 2 * queries->layer + 1, first, n);
    part.mixed = wick_scaled_dot_product_attention(queries->q, k, v, NULL, &options);
    if (part.mixed && all->mixed) part = merge(all, &part);
    bool good = part.mixed && part.log_sums;
    if (good) part = (struct part){wick_retain(part.mixed), wick_retain(part.log_sums)};
    wick_scope_end(NULL);
    release(all);
    if (good) *all = part;
    return good;
}

/* The last keys are those of the queries themselves, with some before them: there, queries see different keys. Queries
 * see all keys of the blocks before, because layers with windows have but one block. */
static struct wick_tensor *attend_blocks(const struct queries *queries, int64_t total,
                                         const struct wick_attention_options *options) {
    struct wick_attention_options older = {.scale = options->scale, .soft_cap = options->soft_cap};
    int64_t start = total - wick__max(wick_tensor_dim(queries->q, 2), BLOCK);
    struct part all = {NULL, NULL};
    bool good = add(queries, start, total - start, options, &all);
    for (int64_t at = 0; good && at < start; at += BLOCK)
        good = add(queries, at, wick__min(BLOCK, start - at), &older, &all);
    struct wick_tensor *mixed = good ? wick__scope_add(wick_retain(all.mixed)) : NULL;
    release(&all);
    return mixed;
}

struct wick_tensor *wick__kv_attend(const struct wick_sequence *sequence, int64_t layer, const struct wick_tensor *q,
                                    int64_t total, const struct wick_attention_options *options) {
    bool blocks = sequence->dtype == WICK_DTYPE_q8_0;
    if (!q) return NULL;
    int64_t first = blocks && options->windowed ? wick__max(0, total - wick_tensor_dim(q, 2) - options->left) : 0;
    if (!blocks || options->windowed || total <= BLOCK)
        return wick_scaled_dot_product_attention(q, seen(sequence, 2 * layer, first, total - first),
                                                 seen(sequence, 2 * layer + 1, first, total - first), NULL, options);
    return attend_blocks(&(struct queries){sequence, layer, q}, total, options);
}
