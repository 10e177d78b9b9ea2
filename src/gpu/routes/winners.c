/* The winners of an op are records (gpu/routes/records.h) of one entry. Its key is the card and its driver and, in the
 * compiler's place, a hash of the libraries and of our kernels' text. */
#include "gpu/routes/winners.h"

#include "gpu/routes/verdicts.h"

#include <stdio.h>
#include <string.h>

/* VERSION is to be raised when keys, records, names of ways or the list of routes change. */
enum { VERSION = 3, TEXT = 1024 };

static const struct wick__record_kind kind = {sizeof(struct wick__winner), offsetof(struct wick__winner, route)};

void wick__winners_put(struct wick__records **winners, const struct wick__winner *winner) {
    wick__records_put(winners, &kind, winner);
}

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
    for (int i = 0; i < wick__store_source_count; i++) {
        const char *source = wick__store_source(i)->text;
        wick__hash_add(&hash, source, strlen(source));
    }
    wick__hash_end(&hash, digest);
    wick__hash_text(digest, WICK__HASH, key->compiler);
}

/* Whatever the records say does no harm: a route or a way that there is not refuses its calls. */
struct wick__records *wick__winners_read(const struct wick__gpu *gpu, enum wick__chooser chooser) {
    struct wick__cache_key key = key_of(gpu, chooser);
    char reason[256];
    if (wick__cache_find(&key, NULL, reason, sizeof reason) != WICK__CACHE_FOUND) return NULL; /* of any makers */
    add_makers(gpu, chooser, &key);
    return wick__records_read(&key, &kind);
}

void wick__winners_keep(const struct wick__gpu *gpu, enum wick__chooser chooser, const struct wick__winner *winner) {
    struct wick__cache_key key = key_of(gpu, chooser);
    add_makers(gpu, chooser, &key);
    struct wick__records *one = NULL;
    wick__winners_put(&one, winner);
    int lock = wick__cache_lock(&key);
    wick__records_keep(&key, one);
    wick__cache_unlock(&key, lock);
    wick__records_free(one);
}
