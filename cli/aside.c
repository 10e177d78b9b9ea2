/* Files of text written aside. */
#include "cli/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *aside_begin(struct aside *aside, const char *path) {
    struct stat about;
    aside->direct = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    aside->file = NULL;
    if (aside->direct) return (aside->file = fopen(path, "we")) ? NULL : strerror(errno);
    const char *why = wick__aside_open(&aside->aside, path);
    if (why) return why;
    /* A descriptor of its own, which fclose can close. */
    int fd = fcntl(aside->aside.fd, F_DUPFD_CLOEXEC, 0);
    aside->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (aside->file) return NULL;
    why = strerror(errno);
    if (fd >= 0) close(fd);
    (void)wick__aside_close(&aside->aside, false);
    return why;
}

bool aside_end(struct aside *aside, bool keep) {
    if (!aside->file) return !keep;
    bool good = keep && fflush(aside->file) == 0 && !ferror(aside->file);
    int why = errno;
    if (fclose(aside->file) != 0 && good) {
        good = false;
        why = errno;
    }
    aside->file = NULL;
    if (!aside->direct && !wick__aside_close(&aside->aside, good)) {
        good = false;
        why = errno;
    }
    errno = why;
    return good || !keep;
}
