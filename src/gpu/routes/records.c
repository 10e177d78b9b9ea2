/* A list that is as large as it may become, and an entry that holds its records one behind the other. */
#include "gpu/routes/records.h"

#include "core/memory.h"
#include "gpu/vendor.h"

#include <string.h>

enum { MOST = 1024 };

struct wick__records {
    struct wick__record_kind kind;
    int count;
    uint64_t hash[MOST]; /* of the keys */
    unsigned char all[]; /* MOST of them */
};

static size_t nbytes_of(const struct wick__record_kind *kind) {
    return sizeof(struct wick__records) + MOST * kind->size;
}

void *wick__records_find(const struct wick__records *records, const void *key) {
    if (!records) return NULL;
    const struct wick__record_kind *kind = &records->kind;
    const uint64_t hash = wick__fnv_words(key, kind->key);
    for (int i = records->count - 1; i >= 0; i--) {
        const unsigned char *record = records->all + (size_t)i * kind->size;
        if (records->hash[i] == hash && memcmp(record, key, kind->key) == 0) return (void *)(uintptr_t)record;
    }
    return NULL;
}

void wick__records_put(struct wick__records **records, const struct wick__record_kind *kind, const void *record) {
    struct wick__records *list = *records;
    if (!list) {
        *records = list = wick__alloc_quiet(nbytes_of(kind));
        if (!list) return; /* it is found out again */
        list->kind = *kind;
        list->count = 0;
    }
    void *known = wick__records_find(list, record);
    if (known) {
        memcpy(known, record, kind->size);
        return;
    }
    if (list->count == MOST) {
        list->count--;
        memmove(list->hash, list->hash + 1, sizeof list->hash - sizeof *list->hash);
        memmove(list->all, list->all + kind->size, (MOST - 1) * kind->size);
    }
    list->hash[list->count] = wick__fnv_words(record, kind->key);
    memcpy(list->all + (size_t)list->count++ * kind->size, record, kind->size);
}

void wick__records_free(struct wick__records *records) {
    if (records) wick__free(records, nbytes_of(&records->kind));
}

struct wick__records *wick__records_read(const struct wick__cache_key *at, const struct wick__record_kind *kind) {
    struct wick__records *records = NULL;
    struct wick__image image;
    char reason[256];
    if (wick__cache_find(at, &image, reason, sizeof reason) != WICK__CACHE_FOUND) return NULL;
    const size_t count = image.nbytes / kind->size;
    for (size_t i = 0; i < count && i < MOST; i++)
        wick__records_put(&records, kind, (const unsigned char *)image.data + i * kind->size);
    wick__free(image.data, image.room);
    return records;
}

void wick__records_keep(const struct wick__cache_key *at, const struct wick__records *records) {
    if (!records) return;
    const struct wick__record_kind *kind = &records->kind;
    struct wick__records *all = wick__records_read(at, kind);
    for (int i = 0; i < records->count; i++) wick__records_put(&all, kind, records->all + (size_t)i * kind->size);
    if (all) wick__cache_put(at, all->all, (size_t)all->count * kind->size);
    wick__records_free(all);
}
