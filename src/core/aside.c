/* Files written aside. */
#define _GNU_SOURCE /* O_NOFOLLOW, readlink, fchown */
#include "core/aside.h"

#include "core/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Follows symbolic links by their text, so that one to a file that is not there yet serves too. A link's own folder is
 * left to the kernel. */
static bool follow(const char *path, char *target, size_t size) {
    enum { LINKS = 40 }; /* as many as Linux follows */
    char text[4096];
    if (strlen(path) >= size) return errno = ENAMETOOLONG, false;
    memcpy(target, path, strlen(path) + 1);
    for (int i = 0; i < LINKS; i++) {
        ssize_t n = readlink(target, text, sizeof text - 1);
        if (n < 0) return errno == EINVAL || errno == ENOENT; /* no link, or nothing there */
        text[n] = '\0';
        char *slash = strrchr(target, '/');
        size_t folder = slash && *text != '/' ? (size_t)(slash - target) + 1 : 0;
        if (folder + (size_t)n >= size) return errno = ENAMETOOLONG, false;
        memcpy(target + folder, text, (size_t)n + 1);
    }
    return errno = ELOOP, false;
}

static void sweep(const char *target) {
    char prefix[sizeof((struct wick__aside *)NULL)->target + 2];
    const char *slash = strrchr(target, '/');
    snprintf(prefix, sizeof prefix, "%s.", slash ? slash + 1 : target);
    wick__folder_sweep(target, prefix, ".tmp");
}

const char *wick__aside_open(struct wick__aside *aside, const char *path) {
    static atomic_uint counter;
    struct stat about;
    /* stat goes through the kernel, which refuses links that others planted in a shared folder; readlink would not. */
    bool there = stat(path, &about) == 0;
    if (!there && errno != ENOENT) return strerror(errno);
    if (there && S_ISDIR(about.st_mode)) return strerror(EISDIR);
    if (there && !S_ISREG(about.st_mode)) return "it is not a regular file";
    if (!follow(path, aside->target, sizeof aside->target)) return strerror(errno);
    aside->fd = -1;
    for (int tries = 0; tries < 100 && aside->fd < 0; tries++) {
        snprintf(aside->name, sizeof aside->name, "%s.%ld-%u.tmp", aside->target, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        aside->fd = open(aside->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (aside->fd < 0 && errno != EEXIST) break;
    }
    if (aside->fd < 0) return strerror(errno);
    /* Rights that were given to another owner's file are no model for this process's own. */
    if (there && fchown(aside->fd, about.st_uid, about.st_gid) == 0) (void)fchmod(aside->fd, about.st_mode & 0777);
    sweep(aside->target);
    return NULL;
}

static bool flush(int fd) {
    int code;
    do code = fsync(fd);
    while (code != 0 && errno == EINTR);
    return code == 0 || errno == EINVAL || errno == ENOTSUP;
}

bool wick__aside_close(struct wick__aside *aside, bool keep) {
    bool good = keep && flush(aside->fd), renamed = false;
    int why = errno;
    if (close(aside->fd) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good) {
        renamed = rename(aside->name, aside->target) == 0;
        good = renamed && wick__folder_sync(aside->target);
        why = errno;
    }
    if (!renamed) unlink(aside->name);
    errno = why;
    return good || !keep;
}
