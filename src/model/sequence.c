/* Sequences of tokens, with the keys and values of each layer. */
#include "model/lm.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/tensor.h"
#include "text/tokenizer.h"

#include <string.h>

/* Caches grow by so many tokens, or an eighth if that is more. */
enum { GROWTH = 256 };

struct wick_sequence *wick_sequence_open(const struct wick_lm *lm, const struct wick_sequence_options *options) {
    static const struct wick_sequence_options plain = {.context = 0};
    if (!lm) {
        wick__fail(WICK_INVALID, "sequence_open: lm is NULL");
        return NULL;
    }
    if (!options) options = &plain;
    if (wick__reserved("sequence_open", options->reserved) != WICK_OK) return NULL;
    enum wick_dtype dtype;
    if (wick__lm_cache_dtype("sequence_open", &lm->config, options->cache, &dtype) != WICK_OK) return NULL;
    if (options->context < 0 || options->context > 1 << 30) {
        wick__fail(WICK_RANGE, "sequence_open: a context of %lld tokens", (long long)options->context);
        return NULL;
    }
    struct wick_sequence *sequence = wick__calloc(1, sizeof *sequence);
    if (!sequence) return NULL;
    sequence->lm = lm;
    sequence->dtype = dtype;
    sequence->context = options->context ? options->context : lm->config.context;
    sequence->kv = wick__calloc((size_t)lm->config.n_layers, sizeof *sequence->kv);
    if (sequence->kv) return sequence;
    wick_sequence_close(sequence);
    return NULL;
}

void wick_sequence_close(struct wick_sequence *sequence) {
    if (!sequence) return;
    int64_t n = sequence->lm->config.n_layers;
    wick__lm_step_drop(sequence);
    for (int64_t i = 0; sequence->kv && i < n; i++) wick_release(sequence->kv[i]);
    wick__free(sequence->kv, (size_t)n * sizeof *sequence->kv);
    wick__free(sequence->ids, (size_t)sequence->capacity * sizeof *sequence->ids);
    wick_release(sequence->logits);
    wick__free(sequence, sizeof *sequence);
}

int64_t wick_sequence_length(const struct wick_sequence *sequence) { return sequence ? sequence->length : 0; }
const int32_t *wick_sequence_ids(const struct wick_sequence *sequence) { return sequence ? sequence->ids : NULL; }

static void forget_logits(struct wick_sequence *sequence) {
    wick_release(sequence->logits);
    sequence->logits = NULL;
}

enum wick_status wick_sequence_truncate(struct wick_sequence *sequence, int64_t n) {
    if (!sequence) return wick__fail(WICK_INVALID, "sequence_truncate: sequence is NULL");
    if (n < 0 || n > sequence->length)
        return wick__fail(WICK_RANGE, "sequence_truncate: %lld of %lld tokens", (long long)n,
                          (long long)sequence->length);
    if (n < sequence->length) forget_logits(sequence);
    sequence->length = n;
    return WICK_OK;
}

void wick_sequence_cancel(struct wick_sequence *sequence) {
    if (sequence) atomic_store(&sequence->cancelled, true);
}

/* ---- memory ---- */

/* A larger copy of one layer's keys and values. */
static struct wick_tensor *grow_one(const struct wick_sequence *sequence, const struct wick_tensor *old,
                                    int64_t capacity) {
    int64_t shape[4];
    enum wick_dtype dtype = wick__kv_shape(sequence, capacity, shape);
    shape[1] *= 2;
    wick_scope_begin();
    struct wick_tensor *more = wick_empty(sequence->lm->device, dtype, 4, shape);
    if (more && old && sequence->length > 0 &&
        wick_slice_set_inplace(more, wick_narrow(old, 2, 0, sequence->length), 2, 0) != WICK_OK)
        more = NULL;
    if (more) more = wick_retain(more);
    wick_scope_end(NULL);
    return more;
}

/* To copy a cache of N tokens costs about as much as one token's attention to it, so it may happen often. Where the
 * host has the memory of the device, the old blocks go back at once: pools keep them for others of their size, which
 * never come. */
enum wick_status wick__sequence_reserve(struct wick_sequence *sequence, int64_t n) {
    if (n <= sequence->capacity) return WICK_OK;
    int64_t capacity = sequence->capacity + wick__max(sequence->capacity / 8, GROWTH);
    capacity = wick__max(n, wick__min(capacity, sequence->context));
    struct wick_device *device = sequence->lm->device;
    int64_t layers = sequence->lm->config.n_layers;
    wick__lm_step_drop(sequence);
    /* A layer that has grown already is no harm if a later one can't: capacity is that of the smallest. */
    for (int64_t i = 0; i < layers; i++) {
        struct wick_tensor *more = grow_one(sequence, sequence->kv[i], capacity);
        if (!more) return wick__latest();
        wick_release(sequence->kv[i]);
        sequence->kv[i] = more;
        if (sequence->capacity > 0 && device->heap->host_visible) WICK__TRY(wick_memory_trim(device));
    }
    int32_t *ids =
        wick__realloc(sequence->ids, (size_t)sequence->capacity * sizeof *ids, (size_t)capacity * sizeof *ids);
    if (!ids) return WICK_MEMORY;
    sequence->ids = ids;
    sequence->capacity = capacity;
    return WICK_OK;
}

static enum wick_status check(const char *op, const struct wick_sequence *sequence, int64_t n, const int32_t *ids) {
    int64_t total;
    if (n < 1) return wick__fail(WICK_INVALID, "%s: %lld tokens", op, (long long)n);
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= sequence->lm->config.vocab)
            return wick__fail(WICK_RANGE, "%s: id %d of token %lld is none of 0 .. %lld", op, ids[i], (long long)i,
                              (long long)sequence->lm->config.vocab - 1);
    if (!wick__add(sequence->length, n, &total) || total > sequence->context)
        return wick__fail(WICK_RANGE, "%s: %lld tokens and %lld more exceed the context of %lld", op,
                          (long long)sequence->length, (long long)n, (long long)sequence->context);
    return WICK_OK;
}

/* ---- tokens ---- */

/* Up to WICK__LM_BATCH tokens, for which there is room. */
static struct wick_tensor *append_some(struct wick_sequence *sequence, int64_t n, const int32_t *ids, bool all) {
    const struct wick__lm_span span = {sequence, 0, n};
    const struct wick__lm_batch batch = {n, ids, 1, &span, all};
    struct wick_tensor *logits =
        n == 1 ? wick__lm_step(sequence->lm, &batch) : wick__lm_forward(sequence->lm, &batch, NULL);
    if (!logits && sequence->step && wick__latest() == WICK_MEMORY) { /* there may be enough without its graph */
        struct wick__error first = {0};
        wick__error_swap(&first);
        wick__lm_step_drop(sequence);
        logits = wick__lm_forward(sequence->lm, &batch, NULL);
    }
    if (!logits) return NULL;
    memmove(sequence->ids + sequence->length, ids, (size_t)n * sizeof *ids);
    sequence->length += n;
    return logits;
}

static struct wick_tensor *append(struct wick_sequence *sequence, int64_t n, const int32_t *ids, bool all) {
    if (!sequence || !ids) {
        wick__fail(WICK_INVALID, "sequence_append: %s is NULL", sequence ? "ids" : "sequence");
        return NULL;
    }
    if (check("sequence_append", sequence, n, ids) != WICK_OK) return NULL;
    int64_t before = sequence->length, n_parts = (n + WICK__LM_BATCH - 1) / WICK__LM_BATCH, part = 0;
    struct wick_tensor **parts = wick__calloc((size_t)n_parts, sizeof *parts), *logits = NULL;
    if (!parts) return NULL;
    wick_scope_begin();
    bool room = wick__sequence_reserve(sequence, before + n) == WICK_OK;
    for (int64_t at = 0; room && at < n; at += WICK__LM_BATCH, part++) {
        if (part > 0 && !all) wick__scope_drop(parts[part - 1]);
        parts[part] = append_some(sequence, wick__min(n - at, WICK__LM_BATCH), ids + at, all);
        if (!parts[part]) break;
    }
    if (part == n_parts) logits = all && n_parts > 1 ? wick_cat((int)n_parts, parts, 0) : parts[n_parts - 1];
    wick__free(parts, (size_t)n_parts * sizeof *parts);
    logits = wick_scope_end(logits);
    if (!logits) sequence->length = before;
    if (logits) forget_logits(sequence);
    return logits;
}

struct wick_tensor *wick_sequence_append(struct wick_sequence *sequence, int64_t n, const int32_t *ids) {
    return append(sequence, n, ids, false);
}

struct wick_tensor *wick_sequence_append_all(struct wick_sequence *sequence, int64_t n, const int32_t *ids) {
    return append(sequence, n, ids, true);
}

static bool check_step(int n, struct wick_sequence *const *sequences, const int32_t *ids) {
    const char *rule = n < 1 || !sequences || !ids ? "there are no sequences" : NULL;
    for (int i = 0; i < n && !rule; i++) {
        if (!sequences[i])
            rule = "a sequence is NULL";
        else if (sequences[i]->lm != sequences[0]->lm)
            rule = "the sequences are of different models";
        else if (check("sequences_step", sequences[i], 1, &ids[i]) != WICK_OK)
            return false;
        for (int j = 0; j < i && !rule; j++)
            if (sequences[i] == sequences[j]) rule = "a sequence appears twice";
    }
    if (rule) wick__fail(WICK_INVALID, "sequences_step: %s", rule);
    return !rule;
}

/* Room for one more token of each. Where a graph would be lost, caches grow together, so that it is seldom. */
static enum wick_status reserve_all(int n, struct wick_sequence *const *sequences) {
    bool full = false;
    for (int i = 0; i < n; i++) full = full || sequences[i]->length == sequences[i]->capacity;
    if (!full) return WICK_OK;
    for (int i = 0; i < n; i++) {
        const struct wick_sequence *s = sequences[i];
        int64_t room = wick__lm_records(s->lm) ? wick__min(GROWTH, s->context - s->length) : 1;
        WICK__TRY(wick__sequence_reserve(sequences[i], s->length + room));
    }
    return WICK_OK;
}

struct wick_tensor *wick_sequences_step(int n, struct wick_sequence *const *sequences, const int32_t *ids) {
    if (!check_step(n, sequences, ids)) return NULL;
    size_t nbytes = (size_t)n * sizeof(struct wick__lm_span);
    struct wick__lm_span *spans = wick__alloc(nbytes);
    if (!spans) return NULL;
    bool good = reserve_all(n, sequences) == WICK_OK;
    for (int i = 0; i < n; i++) spans[i] = (struct wick__lm_span){sequences[i], i, 1};
    struct wick_tensor *logits = NULL;
    if (good) logits = wick__lm_step(sequences[0]->lm, &(struct wick__lm_batch){n, ids, n, spans, false});
    for (int i = 0; i < n && logits; i++) {
        sequences[i]->ids[sequences[i]->length++] = ids[i];
        forget_logits(sequences[i]);
    }
    wick__free(spans, nbytes);
    return logits;
}

/* ---- prompts ---- */

enum wick_status wick__sequence_add(struct wick_sequence *sequence, int64_t n, const int32_t *ids) {
    wick_scope_begin();
    struct wick_tensor *logits = wick_sequence_append(sequence, n, ids);
    if (logits) sequence->logits = wick_retain(logits);
    wick_scope_end(NULL);
    return logits ? WICK_OK : wick__latest();
}

/* Keeps the common beginning, but computes at least the last token, whose logits are wanted. */
static enum wick_status hold(struct wick_sequence *sequence, int64_t n, const int32_t *ids) {
    int64_t same = 0;
    if (n < 1) return wick__fail(WICK_INVALID, "sequence_prompt: the prompt has no tokens");
    while (same < wick__min(n, sequence->length) && ids[same] == sequence->ids[same]) same++;
    if (same == n && same == sequence->length && sequence->logits) return WICK_OK;
    WICK__TRY(wick_sequence_truncate(sequence, wick__min(same, n - 1)));
    return wick__sequence_add(sequence, n - sequence->length, ids + sequence->length);
}

static enum wick_status too_long(const struct wick_sequence *sequence, int64_t n, size_t nbytes) {
    return wick__fail(WICK_RANGE, "sequence_prompt: %lld tokens of a text of %zu bytes exceed the context of %lld",
                      (long long)n, nbytes, (long long)sequence->context);
}

/* Encodes into memory for `max` ids that the caller frees. Few texts have more ids than bytes; those go through twice.
 */
static enum wick_status encode_prompt(const struct wick_sequence *sequence, const char *text, size_t nbytes,
                                      unsigned flags, struct wick_ids *ids) {
    const struct wick_tokenizer *tokenizer = sequence->lm->tokenizer;
    int64_t least = wick__tokenizer_least(tokenizer, nbytes), before = 0;
    if (least > sequence->context) return too_long(sequence, least, nbytes); /* no time is lost on such a text */
    ids->n = wick__min((int64_t)nbytes, sequence->context) + 2 * WICK__TEMPLATE_MAX;
    while (ids->n > before) {
        int32_t *room = wick__realloc(ids->ids, (size_t)before * sizeof *room, (size_t)ids->n * sizeof *room);
        if (!room) return WICK_MEMORY;
        ids->ids = room;
        ids->max = before = ids->n;
        WICK__TRY(wick_tokenizer_encode_with(tokenizer, text, nbytes, flags, ids));
        if (ids->n > sequence->context) return too_long(sequence, ids->n, nbytes);
    }
    return WICK_OK;
}

enum wick_status wick_sequence_prompt(struct wick_sequence *sequence, const char *text, size_t nbytes, unsigned flags) {
    struct wick_ids ids = {NULL, 0, 0};
    if (!sequence || !text)
        return wick__fail(WICK_INVALID, "sequence_prompt: %s is NULL", sequence ? "text" : "sequence");
    enum wick_status status = encode_prompt(sequence, text, nbytes, flags, &ids);
    if (status == WICK_OK) status = hold(sequence, ids.n, ids.ids);
    wick__free(ids.ids, (size_t)ids.max * sizeof *ids.ids);
    return status;
}
