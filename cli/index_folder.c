/* The folder of the search's indexes. */
#define _GNU_SOURCE /* utimensat, fstatat, secure_getenv */

#include "cli/index_folder.h"

#include "cli/options.h"
#include "cli/output.h"
#include "src/core/trust.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_LIMIT = 1024, STALE_SECONDS = 3600, TOUCH_SECONDS = 86400 };

struct entry {
    char *name;
    int64_t nbytes, used; /* used: when, in seconds */
};

static bool folder_of(const char *file, char *folder, size_t size) {
    int length = snprintf(folder, size, "%s", file);
    char *slash = length > 0 && (size_t)length < size ? strrchr(folder, '/') : NULL;
    if (slash) *slash = '\0';
    return slash != NULL;
}

const char *index_distrust(const char *file) {
    char folder[4096];
    struct stat about;
    const char *fault = NULL;
    if (!folder_of(file, folder, sizeof folder)) return "its path is too long";
    if (stat(folder, &about) == 0) fault = wick__distrust(&about);
    if (!fault && lstat(file, &about) == 0)
        fault = S_ISREG(about.st_mode) ? wick__distrust(&about) : "is not a regular file";
    return fault;
}

void index_touch(const char *file) {
    struct stat about;
    if (stat(file, &about) == 0 && time(NULL) - about.st_mtim.tv_sec > TOUCH_SECONDS)
        (void)utimensat(AT_FDCWD, file, NULL, 0); /* without it, it goes sooner */
}

static int64_t limit(void) {
    const char *wish = secure_getenv("WICK_INDEX_LIMIT");
    int64_t mib = DEFAULT_LIMIT;
    if (wish && !options_number(wish, 0, 1 << 20, &mib))
        output_note("search", "warning: WICK_INDEX_LIMIT=%.20s is not a number from 0 to 1048576; ignored", wish);
    return mib << 20;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int longest_unused_first(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    return (left->used > right->used) - (left->used < right->used);
}

/* Lists the indexes, and removes stale temporary files. Returns their number, with *total their bytes. */
static int list(DIR *folder, struct entry **entries, int64_t *total) {
    int n = 0, capacity = 0;
    struct stat about;
    for (struct dirent *found; (found = readdir(folder));) {
        const char *name = found->d_name;
        if (fstatat(dirfd(folder), name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
        if (strstr(name, ".safetensors.") && ends_with(name, ".tmp") &&
            time(NULL) - about.st_mtim.tv_sec > STALE_SECONDS)
            unlinkat(dirfd(folder), name, 0);
        if (!ends_with(name, ".safetensors")) continue;
        if (n == capacity) {
            struct entry *grown = realloc(*entries, (size_t)(capacity = capacity * 2 + 64) * sizeof *grown);
            if (!grown) break;
            *entries = grown;
        }
        char *copy = strdup(name);
        if (!copy) break;
        (*entries)[n++] = (struct entry){copy, about.st_size, about.st_mtim.tv_sec};
        *total += about.st_size;
    }
    return n;
}

void index_sweep(const char *file) {
    char path[4096];
    struct entry *entries = NULL;
    int64_t total = 0, most = limit();
    DIR *folder = folder_of(file, path, sizeof path) ? opendir(path) : NULL;
    if (!folder) return;
    int n = list(folder, &entries, &total);
    if (n > 0) qsort(entries, (size_t)n, sizeof *entries, longest_unused_first);
    for (int i = 0; i < n; i++) {
        if (total > most && unlinkat(dirfd(folder), entries[i].name, 0) == 0) total -= entries[i].nbytes;
        free(entries[i].name);
    }
    free(entries);
    closedir(folder);
}
