/* A verdict is an entry of one byte in the cache of compiled kernels (gpu/code/cache.h), whose key is the library's
 * file, its size and time, its version, the card and its driver. */
#include "gpu/routes/verdicts.h"

#include "core/memory.h"
#include "gpu/code/cache.h"

#include <stdio.h>
#include <sys/stat.h>

/* To be raised when a check is changed: what it found before counts no more. */
enum { CHECKS_VERSION = 1 };

static bool key_of(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check,
                   struct wick__cache_key *key) {
    struct wick__library library;
    struct stat file;
    gpu->vendor->library(route->kind, &library);
    if (!library.path || stat(library.path, &file) != 0) return false;
    int n = snprintf(key->text, sizeof key->text,
                     "checks=%d\ncheck=%s\nlibrary=%s\nbytes=%lld\ntime=%lld\ncard=%s\ntarget=%s\ndriver=%d\n",
                     CHECKS_VERSION, route->checks[check], library.path, (long long)file.st_size,
                     (long long)file.st_mtime, gpu->properties.name, gpu->properties.target, gpu->properties.driver);
    snprintf(key->name, sizeof key->name, "route-%s-%s", route->name, gpu->properties.target);
    snprintf(key->compiler, sizeof key->compiler, "%s", route->library(gpu->vendor)->version());
    return n > 0 && (size_t)n < sizeof key->text && *key->compiler;
}

/* Whether it says something of the library, and not of the moment. */
static bool lasts(enum wick__verdict verdict) {
    return verdict == WICK__GOOD || verdict == WICK__WRONG || verdict == WICK__FLUSHES || verdict == WICK__ROUGH;
}

enum wick__verdict wick__verdict_find(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check) {
    struct wick__cache_key key;
    struct wick__image image;
    char reason[256];
    if (!key_of(gpu, route, check, &key) || wick__cache_find(&key, &image, reason, sizeof reason) != WICK__CACHE_FOUND)
        return WICK__UNCHECKED;
    enum wick__verdict verdict = (enum wick__verdict)((const unsigned char *)image.data)[0];
    bool whole = image.nbytes == 1 && lasts(verdict);
    wick__free(image.data, image.room);
    return whole ? verdict : WICK__UNCHECKED;
}

void wick__verdict_keep(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check,
                        enum wick__verdict verdict) {
    struct wick__cache_key key;
    unsigned char byte = (unsigned char)verdict;
    if (lasts(verdict) && key_of(gpu, route, check, &key)) wick__cache_put(&key, &byte, 1);
}
