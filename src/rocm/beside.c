/* What ROCm's libraries beside the runtime have in common: each belongs to one version of HIP, and has a folder of
 * kernels for some GPUs. */
#define _GNU_SOURCE /* secure_getenv */
#define _XOPEN_SOURCE 700
#include "rocm/rocm.h"

#include "core/folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wick__rocm_open(struct wick__opener *opener, const char *const *const versions[3], void *functions) {
    char path[PATH_MAX], reason[256];
    int hip = wick__rocm_major();
    if (hip == 0) {
        opener->tried = true;
        opener->fault = "there is no HIP runtime for it";
        return false;
    }
    opener->versions = versions[hip >= 7 ? 2 : hip == 6 ? 1 : 0];
    int before = wick__library_copies("libamdhip64", path, sizeof path);
    if (!wick__library_open(opener, functions)) return false;
    if (wick__library_copies("libamdhip64", path, sizeof path) == before) return true;
    snprintf(reason, sizeof reason, "it brought a second HIP runtime, other than %.160s", wick__hip_opener.path);
    wick__library_refuse(opener, reason);
    return false;
}

static bool is_there(void *context, const char *path) {
    (void)context;
    return *path;
}
static bool any_file(const char *folder, const char *inside, const char *gfx) {
    char pattern[PATH_MAX];
    int length = snprintf(pattern, sizeof pattern, "%s%s/*%s*", folder, inside, gfx);
    return length > 0 && (size_t)length < sizeof pattern && wick__folder_match(pattern, false, is_there, NULL);
}

const char *wick__rocm_lacks(const struct wick__opener *opener, const char *variable, const char *const *places,
                             const char *target) {
    static _Thread_local char text[PATH_MAX + 128];
    char gfx[32], folder[PATH_MAX];
    snprintf(gfx, sizeof gfx, "%.*s", (int)strcspn(target, ":"), target);
    const char *given = secure_getenv(variable);
    if (given && *given) {
        if (any_file(given, "", gfx)) return NULL;
        snprintf(text, sizeof text, "%s=%s has no kernels for %s", variable, given, gfx);
        return text;
    }
    if (!realpath(opener->path, folder)) return NULL;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    for (const char *const *place = places; *place; place++)
        if (any_file(folder, *place, gfx)) return NULL;
    snprintf(text, sizeof text, "%s has no kernels for %s in %s%.*s", opener->path, gfx, folder,
             (int)strcspn(places[0] + 1, "/") + 1, places[0]);
    return text;
}
