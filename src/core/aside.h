/* A file that appears whole or not at all: it is written under another name beside its place, and renamed. */
#ifndef WICK_CORE_ASIDE_H
#define WICK_CORE_ASIDE_H

#include <stdbool.h>

struct wick__aside {
    int fd;            /* to write to */
    char target[4096]; /* what is replaced: the file at the end of symbolic links */
    char name[4096 + 48];
};

/* Makes the file "TARGET.PID-N.tmp", with the owner and mode of the file that is to be replaced, where this process may
 * set them. Removes those that earlier writers of this file left when they were killed, once they are an hour old.
 * NULL, or why not, which strerror may have written; then nothing is left behind, and wick__aside_close must not be
 * called. A folder, a pipe or a device is refused: it must not be replaced. */
const char *wick__aside_open(struct wick__aside *aside, const char *path);

/* Closes. With `keep`, flushes, renames and flushes the folder; otherwise, or when that fails, removes the file. False,
 * with errno set, when it should have been kept and was not. */
bool wick__aside_close(struct wick__aside *aside, bool keep);

#endif
