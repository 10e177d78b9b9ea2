/* Records by their keys, oldest first: in memory, and on disk as one entry of the cache of compiled kernels. */
#ifndef WICK_GPU_ROUTES_RECORDS_H
#define WICK_GPU_ROUTES_RECORDS_H

#include "gpu/code/cache.h"

/* All of them are of `size` bytes, and begin with the key, of `key` bytes, both multiples of 8. */
struct wick__record_kind {
    size_t size, key;
};
struct wick__records;

/* NULL when there is none, or no list. */
void *wick__records_find(const struct wick__records *records, const void *key);
/* Adds one, in the place of one of its key. The first one makes the list; a full list, of 1024, loses its oldest. */
void wick__records_put(struct wick__records **records, const struct wick__record_kind *kind, const void *record);
void wick__records_free(struct wick__records *records);

/* Those on disk, whatever they say; NULL when there are none. */
struct wick__records *wick__records_read(const struct wick__cache_key *at, const struct wick__record_kind *kind);
/* Adds some to those on disk. Of processes that do so at once, one may lose what another has added, unless a lock of
 * the cache keeps them apart. */
void wick__records_keep(const struct wick__cache_key *at, const struct wick__records *records);

#endif
