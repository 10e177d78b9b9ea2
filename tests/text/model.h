/* Where the tests find all-MiniLM-L6-v2: as tools/fetch-model leaves it. */
#ifndef WICK_TESTS_TEXT_MODEL_H
#define WICK_TESTS_TEXT_MODEL_H

#include "tests/test.h"

#include <unistd.h>

/* The folder; skips the test when it is not there. */
static inline const char *test_model(void) {
    static char path[4096];
    const char *model = getenv("WICK_MODEL"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (model && *model)
        snprintf(path, sizeof path, "%s", model);
    else if (cache && *cache)
        snprintf(path, sizeof path, "%s/wick/models/all-MiniLM-L6-v2", cache);
    else
        snprintf(path, sizeof path, "%s/.cache/wick/models/all-MiniLM-L6-v2", home ? home : "");
    if (access(path, R_OK) != 0) test_skip("the model is not there; tools/fetch-model fetches it");
    return path;
}

#endif
