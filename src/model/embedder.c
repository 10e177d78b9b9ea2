/* Texts to vectors: tokens, batches of similar length, the network, pooling, normalization. */
#include "model/embedder.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of a batch: enough to keep all cores or a GPU busy, little enough for activations of some tens of MB on a
 * processor. */
enum { BATCH_TOKENS = 1024, GPU_BATCH_TOKENS = 65536 };

/* One text: its ids are ids[start .. start + length). */
struct item {
    int64_t index, start, length;
};

struct work {
    const struct wick_embedder *embedder;
    const int32_t *ids;
    struct item *items;                    /* n, by length */
    struct wick__bert_group *groups;       /* of the present batch; room for n */
    struct wick_tensor **parts, **batches; /* room for n each */
    int32_t *packed;                       /* ids, then positions of the present batch */
    int64_t packed_capacity, batch_tokens;
    int64_t n;
};

struct wick_embedder *wick_embedder_open(const char *folder, struct wick_device *device) {
    return wick_embedder_open_with(folder, device, NULL);
}

struct wick_embedder *wick_embedder_open_with(const char *folder, struct wick_device *device,
                                              const struct wick_embedder_options *options) {
    struct wick_device_info info;
    if (!folder || !device) {
        wick__fail(WICK_INVALID, "embedder_open: %s is NULL", folder ? "device" : "folder");
        return NULL;
    }
    if (wick__reserved("embedder_open", options ? options->reserved : NULL) != WICK_OK) return NULL;
    if (wick_device_describe(device, &info) != WICK_OK) return NULL;
    struct wick_embedder *embedder = wick__calloc(1, sizeof *embedder);
    if (!embedder) return NULL;
    embedder->bert.device = device;
    embedder->bert.dtype = options && options->fast && info.fast_bf16 ? WICK_BF16 : WICK_F32;
    enum wick_status status = wick__bert_load(&embedder->bert, folder, options ? &options->files : NULL);
    if (status == WICK_OK && !(embedder->tokenizer = wick_tokenizer_open(folder))) status = wick__latest();
    if (status == WICK_OK) status = wick__embedder_configure(embedder, folder);
    if (status == WICK_OK) return embedder;
    wick_embedder_close(embedder);
    return NULL;
}

void wick_embedder_close(struct wick_embedder *embedder) {
    if (!embedder) return;
    wick__bert_free(&embedder->bert);
    wick_tokenizer_close(embedder->tokenizer);
    wick__free(embedder, sizeof *embedder);
}

enum wick_dtype wick_embedder_dtype(const struct wick_embedder *embedder) {
    return embedder ? embedder->bert.dtype : WICK_F32;
}

int64_t wick_embedder_dim(const struct wick_embedder *embedder) { return embedder ? embedder->dim : 0; }

int64_t wick_embedder_max_length(const struct wick_embedder *embedder) { return embedder ? embedder->max_length : 0; }

const struct wick_tokenizer *wick_embedder_tokenizer(const struct wick_embedder *embedder) {
    return embedder ? embedder->tokenizer : NULL;
}

/* ---- behind the network ---- */

/* One vector for each sequence of a group. [count, length, hidden] -> [count, dim] */
static struct wick_tensor *pool(const struct wick_embedder *embedder, const struct wick_tensor *x, int64_t length) {
    struct wick_tensor *parts[4];
    int n = 0;
    if (embedder->pooling & WICK__POOL_CLS) parts[n++] = wick_select(x, 1, 0);
    if (embedder->pooling & WICK__POOL_MAX) parts[n++] = wick_max(x, WICK_DIMS(1), false);
    if (embedder->pooling & WICK__POOL_MEAN) parts[n++] = wick_mean(x, WICK_DIMS(1), false);
    if (embedder->pooling & WICK__POOL_MEAN_SQRT)
        parts[n++] = wick_affine(wick_sum(x, WICK_DIMS(1), false), WICK_REAL(1 / sqrt((double)length)), WICK_INT(0));
    return n == 1 ? parts[0] : wick_cat(n, parts, 1);
}

/* x / max(|x|, 1e-12), row by row. */
static struct wick_tensor *normalize(const struct wick_tensor *x) {
    return wick_div(x, wick_clamp(wick_norm(x, 2, WICK_DIMS(-1), true), WICK_REAL(1e-12), WICK_REAL(INFINITY)));
}

/* ---- batches ---- */

/* Packs items from `first` on, and returns how many the batch has. */
static int64_t pack(struct work *work, int64_t first, int64_t *n_tokens, int *n_groups) {
    int64_t at = 0, i = first;
    struct wick__bert_group *group = work->groups - 1;
    *n_groups = 0;
    for (; i < work->n; i++) {
        const struct item *item = &work->items[i];
        if (i > first && at + item->length > work->batch_tokens) break;
        if (*n_groups == 0 || group->length != item->length) {
            *++group = (struct wick__bert_group){at, 0, item->length};
            ++*n_groups;
        }
        group->count++;
        memcpy(work->packed + at, work->ids + item->start, (size_t)item->length * sizeof *work->packed);
        for (int64_t p = 0; p < item->length; p++) work->packed[work->packed_capacity + at + p] = (int32_t)p;
        at += item->length;
    }
    *n_tokens = at;
    return i - first;
}

/* Groups of texts of one length each, one after the other. -> [texts, dim] */
static struct wick_tensor *run_groups(const struct wick_embedder *embedder, const struct wick_tensor *ids,
                                      const struct wick_tensor *positions, int n, const struct wick__bert_group *groups,
                                      struct wick_tensor **parts) {
    struct wick_tensor *x = wick__bert_forward(&embedder->bert, ids, positions, n, groups);
    for (int i = 0; i < n; i++) parts[i] = pool(embedder, wick__bert_group_view(x, &groups[i]), groups[i].length);
    struct wick_tensor *vectors = n == 1 ? parts[0] : wick_cat(n, parts, 0);
    if (embedder->normalize) vectors = normalize(vectors);
    return vectors ? wick_contiguous(vectors) : NULL;
}

static struct wick_tensor *run_batch(struct work *work, int64_t n_tokens, int n_groups) {
    struct wick_device *device = work->embedder->bert.device;
    wick_scope_begin();
    struct wick_tensor *ids =
        wick_from_data(device, WICK_I32, WICK_SHAPE(n_tokens), work->packed, (size_t)n_tokens * sizeof(int32_t));
    struct wick_tensor *positions =
        wick_from_data(device, WICK_I32, WICK_SHAPE(n_tokens), work->packed + work->packed_capacity,
                       (size_t)n_tokens * sizeof(int32_t));
    return wick_scope_end(run_groups(work->embedder, ids, positions, n_groups, work->groups, work->parts));
}

struct wick_tensor *wick_embedder_forward(const struct wick_embedder *embedder, const struct wick_tensor *ids) {
    if (!embedder || !ids) {
        wick__fail(WICK_INVALID, "embedder_forward: %s is NULL", embedder ? "ids" : "embedder");
        return NULL;
    }
    const int64_t *shape = wick_tensor_shape(ids);
    if (wick_tensor_rank(ids) != 2 || wick_tensor_dtype(ids) != WICK_I32 || shape[0] < 1 || shape[1] < 1 ||
        shape[1] > embedder->bert.positions) {
        char text[WICK__TENSOR_TEXT];
        wick__fail(WICK_INVALID, "embedder_forward: ids %s, not [N,L] i32 with 1 <= L <= %lld",
                   wick__tensor_text(text, ids), (long long)embedder->bert.positions);
        return NULL;
    }
    struct wick__bert_group all = {0, shape[0], shape[1]};
    struct wick_tensor *part;
    wick_scope_begin();
    struct wick_tensor *position =
        wick_arange(embedder->bert.device, WICK_I32, WICK_INT(0), WICK_INT(shape[1]), WICK_INT(1));
    struct wick_tensor *positions = wick_flatten(wick_broadcast_to(position, 2, shape), 0, -1);
    return wick_scope_end(run_groups(embedder, wick_flatten(ids, 0, -1), positions, 1, &all, &part));
}

/* Vectors in the order of `items`, put back into the caller's. */
static struct wick_tensor *run_batches(struct work *work) {
    int n_batches = 0, n_groups;
    int64_t n_tokens;
    for (int64_t first = 0; first < work->n;) {
        first += pack(work, first, &n_tokens, &n_groups);
        struct wick_tensor *vectors = run_batch(work, n_tokens, n_groups);
        if (!vectors) return NULL;
        work->batches[n_batches++] = vectors;
    }
    struct wick_tensor *sorted = n_batches == 1 ? work->batches[0] : wick_cat(n_batches, work->batches, 0);
    for (int64_t i = 0; i < work->n; i++) work->packed[work->items[i].index] = (int32_t)i;
    struct wick_tensor *order = wick_from_data(work->embedder->bert.device, WICK_I32, WICK_SHAPE(work->n), work->packed,
                                               (size_t)work->n * sizeof(int32_t));
    return wick_index_select(sorted, 0, order);
}

static int shorter_first(const void *a, const void *b) {
    const struct item *left = a, *right = b;
    if (left->length != right->length) return left->length < right->length ? -1 : 1;
    return left->index < right->index ? -1 : 1;
}

static bool prepare(struct work *work, const int64_t *lengths, int64_t n_ids) {
    int64_t start = 0, longest = 0;
    for (int64_t i = 0; i < work->n; i++) {
        if (lengths[i] < 1 || lengths[i] > work->embedder->bert.positions) {
            wick__fail(WICK_INVALID, "embedder_encode_ids: text %lld has %lld ids; the network takes 1 to %lld",
                       (long long)i, (long long)lengths[i], (long long)work->embedder->bert.positions);
            return false;
        }
        work->items[i] = (struct item){i, start, lengths[i]};
        start += lengths[i];
        longest = wick__max(longest, lengths[i]);
    }
    if (start != n_ids) {
        wick__fail(WICK_INVALID, "embedder_encode_ids: the lengths add up to %lld, there are %lld ids",
                   (long long)start, (long long)n_ids);
        return false;
    }
    qsort(work->items, (size_t)work->n, sizeof *work->items, shorter_first);
    work->packed_capacity = wick__max(wick__max(work->batch_tokens, longest), work->n);
    work->packed = wick__calloc((size_t)work->packed_capacity, 2 * sizeof *work->packed);
    return work->packed != NULL;
}

struct wick_tensor *wick_embedder_encode_ids(const struct wick_embedder *embedder, int64_t n, const int64_t *lengths,
                                             int64_t n_ids, const int32_t *ids) {
    if (!embedder || n < 0 || n > INT32_MAX || (n && (!ids || !lengths))) {
        wick__fail(WICK_INVALID, "embedder_encode_ids: NULL argument, or %lld texts", (long long)n);
        return NULL;
    }
    if (n == 0) return wick_empty(embedder->bert.device, WICK_F32, WICK_SHAPE(0, embedder->dim));
    const size_t count = (size_t)n;
    struct work work = {.embedder = embedder, .ids = ids, .n = n, .batch_tokens = BATCH_TOKENS};
    struct wick_device_info info;
    if (wick_device_describe(embedder->bert.device, &info) == WICK_OK && info.units > 0)
        work.batch_tokens = GPU_BATCH_TOKENS;
    struct wick_tensor *result = NULL;
    work.items = wick__calloc(count, sizeof *work.items);
    work.groups = wick__calloc(count, sizeof *work.groups);
    work.parts = wick__calloc(count, sizeof *work.parts);
    work.batches = wick__calloc(count, sizeof *work.batches);
    wick_scope_begin();
    if (work.items && work.groups && work.parts && work.batches && prepare(&work, lengths, n_ids))
        result = run_batches(&work);
    result = wick_scope_end(result);
    wick__free(work.items, count * sizeof *work.items);
    wick__free(work.groups, count * sizeof *work.groups);
    wick__free(work.parts, count * sizeof *work.parts);
    wick__free(work.batches, count * sizeof *work.batches);
    wick__free(work.packed, (size_t)work.packed_capacity * 2 * sizeof *work.packed);
    return result;
}

struct wick_tensor *wick_embedder_encode(const struct wick_embedder *embedder, int64_t n, const char *const *texts,
                                         const size_t *nbytes) {
    if (!embedder || n < 0 || n > INT32_MAX || (n && !texts)) {
        wick__fail(WICK_INVALID, "embedder_encode: NULL argument, or %lld texts", (long long)n);
        return NULL;
    }
    struct wick_tensor *result = NULL;
    size_t capacity = 0, used = 0; /* ids */
    int32_t *ids = NULL;
    int64_t *lengths = wick__calloc((size_t)n, sizeof *lengths);
    bool good = lengths != NULL;
    for (int64_t i = 0; i < n && good; i++) {
        const size_t room = (size_t)embedder->max_length;
        if (!texts[i]) wick__fail(WICK_INVALID, "embedder_encode: text %lld is NULL", (long long)i);
        good = texts[i] != NULL;
        if (good && capacity - used < room) {
            size_t more = capacity * 2 + room;
            int32_t *grown = wick__realloc(ids, capacity * sizeof *ids, more * sizeof *ids);
            good = grown != NULL;
            if (good) ids = grown;
            if (good) capacity = more;
        }
        good = good && wick_tokenizer_encode(embedder->tokenizer, texts[i], nbytes ? nbytes[i] : strlen(texts[i]),
                                             embedder->max_length, ids + used, &lengths[i]) == WICK_OK;
        lengths[i] = wick__min(lengths[i], embedder->max_length);
        used += good ? (size_t)lengths[i] : 0;
    }
    if (good) result = wick_embedder_encode_ids(embedder, n, lengths, (int64_t)used, ids);
    wick__free(ids, capacity * sizeof *ids);
    wick__free(lengths, (size_t)n * sizeof *lengths);
    return result;
}
