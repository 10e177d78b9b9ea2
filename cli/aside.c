/* Files written aside. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fresh file beside the path. */
static FILE *create(struct aside *aside) {
    size_t size = strlen(aside->path) + 48;
    int fd = -1;
    aside->temporary = malloc(size);
    for (int tries = 0; aside->temporary && fd < 0 && tries < 100; tries++) {
        snprintf(aside->temporary, size, "%s.%ld-%d.tmp", aside->path, (long)getpid(), tries);
        fd = open(aside->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    int why = errno;
    if (!file && fd >= 0) close(fd);
    if (!file && fd >= 0) unlink(aside->temporary);
    errno = why;
    return file;
}

static void forget(struct aside *aside) {
    int why = errno;
    free(aside->path);
    free(aside->temporary);
    *aside = (struct aside){0};
    errno = why;
}

bool aside_begin(struct aside *aside, const char *path) {
    struct stat about;
    bool there = stat(path, &about) == 0;
    *aside = (struct aside){.path = there ? realpath(path, NULL) : strdup(path)};
    if (aside->path) aside->file = there && !S_ISREG(about.st_mode) ? fopen(path, "we") : create(aside);
    if (aside->file) return true;
    forget(aside);
    return false;
}

bool aside_end(struct aside *aside, bool keep) {
    if (!aside->file) return !keep;
    bool good = keep && fflush(aside->file) == 0 && !ferror(aside->file);
    if (good && aside->temporary) good = fsync(fileno(aside->file)) == 0 || errno == EINVAL || errno == ENOTSUP;
    int why = errno;
    if (fclose(aside->file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && aside->temporary && rename(aside->temporary, aside->path) != 0) {
        good = false;
        why = errno;
    }
    if (!good && aside->temporary) unlink(aside->temporary);
    errno = why;
    forget(aside);
    return good || !keep;
}
