/* A vocabulary: tokens to ids and back. Open addressing with linear probing, at most half full. */
#define _GNU_SOURCE
#include "text/vocab.h"

#include <stdatomic.h>
#include <sys/random.h>

uint64_t wick__hash_seed(void) {
    static _Atomic uint64_t seed; /* 0: not chosen yet */
    uint64_t have = atomic_load_explicit(&seed, memory_order_relaxed), chosen;
    if (have) return have;
    if (getrandom(&chosen, sizeof chosen, GRND_NONBLOCK) != sizeof chosen) chosen = 1;
    chosen |= 1;
    return atomic_compare_exchange_strong(&seed, &have, chosen) ? chosen : have;
}

static const struct wick__vocab_entry *entry_at(const struct wick__vocab *vocab, uint32_t i) {
    return (const struct wick__vocab_entry *)(const void *)vocab->entries.data + i;
}

static uint64_t hash_bytes(const char *text, size_t nbytes) {
    uint64_t hash = wick__hash_start();
    for (size_t i = 0; i < nbytes; i++) hash = wick__hash_byte(hash, text[i]);
    return hash;
}

static uint32_t first_slot(const struct wick__vocab *vocab, uint64_t hash) {
    return (uint32_t)(hash ^ hash >> 32) & (vocab->n_slots - 1);
}

static void insert(struct wick__vocab *vocab, uint32_t number) {
    const struct wick__vocab_entry *entry = entry_at(vocab, number);
    uint32_t slot = first_slot(vocab, hash_bytes(vocab->bytes.data + entry->start, entry->nbytes));
    while (vocab->slots[slot]) slot = (slot + 1) & (vocab->n_slots - 1);
    vocab->slots[slot] = number + 1;
}

static enum wick_status grow(struct wick__vocab *vocab) {
    uint32_t n_slots = vocab->n_slots ? vocab->n_slots * 2 : 1024;
    uint32_t *slots = wick__calloc(n_slots, sizeof *slots);
    if (!slots) return WICK_MEMORY;
    wick__free(vocab->slots, vocab->n_slots * sizeof *slots);
    vocab->slots = slots;
    vocab->n_slots = n_slots;
    for (uint32_t i = 0; i < vocab->n; i++) insert(vocab, i);
    return WICK_OK;
}

/* The number of the entry that is prefix + text, or -1. */
static int64_t find(const struct wick__vocab *vocab, uint64_t hash, const struct wick__buffer *prefix, const char *text,
                    size_t nbytes) {
    size_t skip = prefix ? prefix->nbytes : 0;
    if (!vocab->n_slots) return -1;
    for (uint32_t slot = first_slot(vocab, hash); vocab->slots[slot]; slot = (slot + 1) & (vocab->n_slots - 1)) {
        const struct wick__vocab_entry *entry = entry_at(vocab, vocab->slots[slot] - 1);
        const char *token = vocab->bytes.data + entry->start;
        if (entry->nbytes == skip + nbytes && (skip == 0 || memcmp(token, prefix->data, skip) == 0) &&
            memcmp(token + skip, text, nbytes) == 0)
            return vocab->slots[slot] - 1;
    }
    return -1;
}

int32_t wick__vocab_find(const struct wick__vocab *vocab, uint64_t hash, const struct wick__buffer *prefix,
                         const char *text, size_t nbytes) {
    int64_t number = find(vocab, hash, prefix, text, nbytes);
    return number < 0 ? -1 : entry_at(vocab, (uint32_t)number)->id;
}

int32_t wick__vocab_id(const struct wick__vocab *vocab, const char *token, size_t nbytes) {
    return wick__vocab_find(vocab, hash_bytes(token, nbytes), NULL, token, nbytes);
}

enum wick_status wick__vocab_add(struct wick__vocab *vocab, const char *token, size_t nbytes, int64_t id) {
    if (id < 0 || id >= WICK__VOCAB_MAX)
        return wick__fail(WICK_FORMAT, "id %lld of a token is not in 0..%d", (long long)id, WICK__VOCAB_MAX - 1);
    if (nbytes > UINT32_MAX / 2 - vocab->bytes.nbytes)
        return wick__fail(WICK_FORMAT, "the vocabulary is larger than 2 GiB");
    if (id >= vocab->n_ids) vocab->n_ids = (int32_t)id + 1;
    int64_t known = find(vocab, hash_bytes(token, nbytes), NULL, token, nbytes);
    if (known >= 0) {
        ((struct wick__vocab_entry *)(void *)vocab->entries.data)[known].id = (int32_t)id;
        return WICK_OK;
    }
    if (vocab->n == (uint32_t)WICK__VOCAB_MAX) return wick__fail(WICK_FORMAT, "more than %d tokens", WICK__VOCAB_MAX);
    if (vocab->n >= vocab->n_slots / 2) WICK__TRY(grow(vocab));
    struct wick__vocab_entry entry = {(uint32_t)vocab->bytes.nbytes, (uint32_t)nbytes, (int32_t)id};
    WICK__TRY(wick__buffer_reserve(&vocab->bytes, nbytes + 1));
    WICK__TRY(wick__buffer_append(&vocab->entries, &entry, sizeof entry));
    wick__buffer_append(&vocab->bytes, token, nbytes);
    vocab->bytes.data[vocab->bytes.nbytes++] = '\0';
    if (nbytes > vocab->longest) vocab->longest = (uint32_t)nbytes;
    insert(vocab, vocab->n++);
    return WICK_OK;
}

enum wick_status wick__vocab_finish(struct wick__vocab *vocab) {
    vocab->by_id = wick__alloc((size_t)vocab->n_ids * sizeof *vocab->by_id);
    if (!vocab->by_id) return WICK_MEMORY;
    for (int32_t i = 0; i < vocab->n_ids; i++) vocab->by_id[i] = -1;
    for (uint32_t i = 0; i < vocab->n; i++) vocab->by_id[entry_at(vocab, i)->id] = (int32_t)i;
    return WICK_OK;
}

const char *wick__vocab_token(const struct wick__vocab *vocab, int32_t id) {
    if (!vocab->by_id || id < 0 || id >= vocab->n_ids || vocab->by_id[id] < 0) return NULL;
    return vocab->bytes.data + entry_at(vocab, (uint32_t)vocab->by_id[id])->start;
}

size_t wick__vocab_token_nbytes(const struct wick__vocab *vocab, int32_t id) {
    return wick__vocab_token(vocab, id) ? entry_at(vocab, (uint32_t)vocab->by_id[id])->nbytes : 0;
}

void wick__vocab_free(struct wick__vocab *vocab) {
    wick__free(vocab->slots, vocab->n_slots * sizeof *vocab->slots);
    wick__free(vocab->by_id, (size_t)vocab->n_ids * sizeof *vocab->by_id);
    wick__buffer_free(&vocab->bytes);
    wick__buffer_free(&vocab->entries);
    *vocab = (struct wick__vocab){0};
}
