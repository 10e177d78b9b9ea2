/* Where tests find the models that tools/fetch-model leaves in the cache. */
#ifndef WICK_TESTS_FETCHED_H
#define WICK_TESTS_FETCHED_H

#include "tests/test.h"

#include <unistd.h>

/* The path of one, valid until the next call; skips the test when it is not there. */
static inline const char *test_fetched(const char *name) {
    static char path[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool set = cache && *cache;
    snprintf(path, sizeof path, "%s%s/wick/models/%s", set ? cache : home ? home : "", set ? "" : "/.cache", name);
    if (access(path, R_OK) != 0) test_skip("the model is not there; tools/fetch-model fetches it");
    return path;
}

/* The folder of all-MiniLM-L6-v2, or what WICK_MODEL says. */
static inline const char *test_minilm(void) {
    const char *model = getenv("WICK_MODEL");
    return model && *model ? model : test_fetched("all-MiniLM-L6-v2");
}

static inline const char *test_smollm2(void) { return test_fetched("SmolLM2-135M-Instruct.Q4_1.gguf"); }

#endif
