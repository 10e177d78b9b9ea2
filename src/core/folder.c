/* Flushing and sweeping folders. */
#include "core/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
