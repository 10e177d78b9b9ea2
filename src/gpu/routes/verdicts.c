/* A verdict is an entry of one byte in the cache of compiled kernels (gpu/code/cache.h), whose key is the library's
 * file and those that it depends on, their sizes and times, its version, the card and its driver. */
#include "gpu/routes/verdicts.h"

#include "core/memory.h"
#include "gpu/code/cache.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* To be raised when a check is changed: what it found before counts no more. */
enum { CHECKS_VERSION = 2 };

/* Adds "library=/usr/lib/librocblas.so.4 12345 1700000000", the last two its size and time. */
static bool put_file(char *text, size_t size, const char *what, const char *path) {
    struct stat file;
    const size_t at = strlen(text), left = size - at;
    if (!path || stat(path, &file) != 0) return false;
    int n =
        snprintf(text + at, left, "%s=%s %lld %lld\n", what, path, (long long)file.st_size, (long long)file.st_mtime);
    return n > 0 && (size_t)n < left;
}

bool wick__verdict_library(const struct wick__gpu *gpu, const struct wick__vendor_route *route, char *text,
                           size_t size) {
    struct wick__library library;
    const struct wick__companion *companion = route->library(gpu->vendor);
    const char *path;
    gpu->vendor->library(route->kind, &library);
    *text = '\0';
    if (!put_file(text, size, "library", library.path)) return false;
    for (int i = 0; companion->beside && (path = companion->beside(i)) != NULL; i++)
        if (!put_file(text, size, "beside", path)) return false;
    return *companion->version();
}

bool wick__verdict_key(const struct wick__gpu *gpu, const struct wick__vendor_route *route, const char *name,
                       const char *what, struct wick__cache_key *key) {
    int n = snprintf(key->text, sizeof key->text, "%scard=%s\ntarget=%s\ndriver=%d\n", what, gpu->properties.name,
                     gpu->properties.target, gpu->properties.driver);
    if (n <= 0 || (size_t)n >= sizeof key->text ||
        !wick__verdict_library(gpu, route, key->text + n, sizeof key->text - (size_t)n))
        return false;
    snprintf(key->name, sizeof key->name, "%s-%s-%s", name, route->name, gpu->properties.target);
    snprintf(key->compiler, sizeof key->compiler, "%s", route->library(gpu->vendor)->version());
    return true;
}

static bool key_of(const struct wick__gpu *gpu, const struct wick__vendor_route *route, int check,
                   struct wick__cache_key *key) {
    char what[128];
    snprintf(what, sizeof what, "checks=%d\ncheck=%s\n", CHECKS_VERSION, route->checks[check]);
    return wick__verdict_key(gpu, route, "route", what, key);
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
