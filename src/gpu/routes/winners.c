/* The winners of an op are one entry of the cache of compiled kernels (gpu/code/cache.h): records, oldest first. Its
 * key is the card and its driver and, in the compiler's place, a hash of the libraries and of our kernels' text. */
#include "gpu/routes/winners.h"

#include "core/memory.h"
#include "gpu/code/cache.h"
#include "gpu/routes/plans.h"
#include "gpu/routes/verdicts.h"

#include <stdio.h>
#include <string.h>

/* VERSION is to be raised when keys, records or the list of routes change. */
enum { VERSION = 2, MOST = 1024, TEXT = 1024 };

struct wick__winners {
    int count;
    uint64_t hash[MOST]; /* of the keys */
    struct wick__winner all[MOST];
};

struct wick__winner *wick__winners_find(struct wick__winners *winners, const int64_t key[WICK__PLAN_KEY]) {
    if (!winners) return NULL;
    const uint64_t hash = wick__plan_hash(key);
    for (int i = winners->count - 1; i >= 0; i--)
        if (winners->hash[i] == hash && memcmp(winners->all[i].key, key, sizeof winners->all[i].key) == 0)
            return &winners->all[i];
    return NULL;
}

void wick__winners_put(struct wick__winners **winners, const struct wick__winner *winner) {
    struct wick__winners *list = *winners;
    if (!list) {
        *winners = list = wick__alloc_quiet(sizeof *list);
        if (!list) return; /* it is measured again */
        list->count = 0;
    }
    struct wick__winner *known = wick__winners_find(list, winner->key);
    if (known) {
        *known = *winner;
        return;
    }
    if (list->count == MOST) {
        list->count--;
        memmove(list->hash, list->hash + 1, sizeof list->hash - sizeof *list->hash);
        memmove(list->all, list->all + 1, sizeof list->all - sizeof *list->all);
    }
    list->hash[list->count] = wick__plan_hash(winner->key);
    list->all[list->count++] = *winner;
}

void wick__winners_free(struct wick__winners *winners) { wick__free(winners, sizeof *winners); }

/* ---- on disk ---- */

static struct wick__cache_key key_of(const struct wick__gpu *gpu, enum wick__chooser chooser) {
    const char *op = chooser == WICK__CHOOSE_BLAS ? "products" : "convolutions";
    struct wick__cache_key key = {.compiler = ""};
    snprintf(key.name, sizeof key.name, "fastest-%s-%s", op, gpu->properties.target);
    snprintf(key.text, sizeof key.text, "fastest=%d\nop=%s\ncard=%s\ntarget=%s\ndriver=%d\n", VERSION, op,
             gpu->properties.name, gpu->properties.target, gpu->properties.driver);
    return key;
}

/* All that the times are of. */
static void add_makers(const struct wick__gpu *gpu, enum wick__chooser chooser, struct wick__cache_key *key) {
    char text[TEXT];
    unsigned char digest[WICK__HASH];
    struct wick__hash hash;
    wick__hash_begin(&hash);
    for (int i = 0; i < WICK__VENDOR_ROUTES; i++) {
        const struct wick__vendor_route *route = wick__routes[i];
        if (route->chooser != chooser || !route->library(gpu->vendor)->create) continue;
        if (!wick__verdict_library(gpu, route, text, sizeof text)) snprintf(text, sizeof text, "no %s\n", route->name);
        wick__hash_add(&hash, text, strlen(text));
    }
    for (int i = 0; i < wick__store_source_count; i++)
        wick__hash_add(&hash, wick__store_sources[i].text, strlen(wick__store_sources[i].text));
    wick__hash_end(&hash, digest);
    wick__hash_text(digest, WICK__HASH, key->compiler);
}

/* Whatever the records say does no harm: a route or a way that there is not refuses its calls. */
static struct wick__winners *read_all(const struct wick__cache_key *key) {
    struct wick__winners *winners = NULL;
    struct wick__image image;
    char reason[256];
    if (wick__cache_find(key, &image, reason, sizeof reason) != WICK__CACHE_FOUND) return NULL;
    const size_t size = sizeof(struct wick__winner), count = image.nbytes / size;
    for (size_t i = 0; i < count && i < MOST; i++) {
        struct wick__winner winner;
        memcpy(&winner, (const char *)image.data + i * size, size);
        winner.way.place = 0;
        wick__winners_put(&winners, &winner);
    }
    wick__free(image.data, image.room);
    return winners;
}

struct wick__winners *wick__winners_read(const struct wick__gpu *gpu, enum wick__chooser chooser) {
    struct wick__cache_key key = key_of(gpu, chooser);
    char reason[256];
    if (wick__cache_find(&key, NULL, reason, sizeof reason) != WICK__CACHE_FOUND) return NULL; /* of any makers */
    add_makers(gpu, chooser, &key);
    return read_all(&key);
}

void wick__winners_keep(const struct wick__gpu *gpu, enum wick__chooser chooser, const struct wick__winner *winner) {
    struct wick__cache_key key = key_of(gpu, chooser);
    add_makers(gpu, chooser, &key);
    int lock = wick__cache_lock(&key);
    struct wick__winners *winners = read_all(&key);
    wick__winners_put(&winners, winner);
    if (winners) wick__cache_put(&key, winners->all, sizeof *winners->all * (size_t)winners->count);
    wick__cache_unlock(&key, lock);
    wick__winners_free(winners);
}
