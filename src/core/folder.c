/* Flushing, sweeping and searching folders. */
#define _GNU_SOURCE /* strverscmp, FNM_PERIOD */
#include "core/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE = 3600 }; /* seconds */

/* The folder that `path` lies in, opened; -1 when it can't be. */
static int open_folder(const char *path) {
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0; /* with the slash, for the root's sake */
    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (slash) {
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool wick__folder_sync(const char *path) {
    int fd = open_folder(path);
    if (fd < 0) return errno == EACCES; /* a folder that can be written and not read */
    int code, why;
    do code = fsync(fd);
    while (code != 0 && errno == EINTR);
    why = errno;
    close(fd);
    errno = why;
    return code == 0 || why == EINVAL || why == ENOTSUP;
}

void wick__folder_sweep(const char *path, const char *prefix, const char *suffix) {
    int fd = open_folder(path);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    size_t head = strlen(prefix), tail = strlen(suffix);
    if (fd >= 0 && !entries) close(fd);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        struct stat info;
        size_t length = strlen(entry->d_name);
        if (length <= head + tail || memcmp(entry->d_name, prefix, head) != 0 ||
            memcmp(entry->d_name + length - tail, suffix, tail) != 0)
            continue;
        if (fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
            info.st_uid == geteuid() && info.st_mtime < time(NULL) - STALE)
            (void)unlinkat(fd, entry->d_name, 0);
    }
    if (entries) closedir(entries);
}

/* ---- patterns ---- */

struct search {
    bool last_first;
    bool (*take)(void *context, const char *path);
    void *context;
};

/* Puts the next name in `folder` that matches, after the one that `name` holds, into `name`; "" begins. Folders are
 * read anew for each, which needs no memory for lists. */
static bool next_match(const struct search *search, const char *folder, const char *part, char name[NAME_MAX + 1]) {
    char best[NAME_MAX + 1] = "";
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *found = entry->d_name;
        if (fnmatch(part, found, FNM_PERIOD) != 0) continue;
        int to_last = *name ? strverscmp(found, name) : 0, to_best = *best ? strverscmp(found, best) : 0;
        if (search->last_first) to_last = -to_last, to_best = -to_best;
        if ((*name && to_last <= 0) || (*best && to_best >= 0)) continue;
        snprintf(best, sizeof best, "%s", found);
    }
    if (entries) closedir(entries);
    memcpy(name, best, sizeof best);
    return *best;
}

/* `done`: the length of what stands in `path` already; `rest`: the pattern after it. */
static bool match_rest(const struct search *search, char path[PATH_MAX], size_t done, const char *rest) {
    size_t plain = 0; /* up to the part with a wildcard */
    for (size_t i = 0; rest[i] && !strchr("*?[", rest[i]); i++)
        if (rest[i] == '/') plain = i + 1;
    if (!strpbrk(rest, "*?[")) plain = strlen(rest);
    if (done + plain >= PATH_MAX) return false;
    memcpy(path + done, rest, plain);
    path[done + plain] = 0;
    done += plain;
    rest += plain;
    if (!*rest) return access(path, F_OK) == 0 && search->take(search->context, path);
    size_t part = strcspn(rest, "/");
    char pattern[NAME_MAX + 1], name[NAME_MAX + 1] = "", folder[PATH_MAX];
    if (part >= sizeof pattern) return false;
    memcpy(pattern, rest, part);
    pattern[part] = 0;
    snprintf(folder, sizeof folder, "%s", done ? path : ".");
    while (next_match(search, folder, pattern, name)) {
        size_t length = strlen(name);
        if (done + length >= PATH_MAX) continue;
        memcpy(path + done, name, length + 1);
        if (match_rest(search, path, done + length, rest + part)) return true;
    }
    return false;
}

bool wick__folder_match(const char *pattern, bool last_first, bool (*take)(void *context, const char *path),
                        void *context) {
    const struct search search = {last_first, take, context};
    char path[PATH_MAX] = "";
    return match_rest(&search, path, 0, pattern);
}
