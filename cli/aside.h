/* A file that appears whole or not at all: it is written aside, and renamed when all is well. */
#ifndef WICK_CLI_ASIDE_H
#define WICK_CLI_ASIDE_H

#include <stdbool.h>
#include <stdio.h>

struct aside {
    FILE *file;
    char *path, *temporary; /* temporary: NULL when path is no regular file and is written as it is */
};

/* Opens; false with errno set. A path that is there and is no regular file (a pipe, a terminal) is written directly; of
 * a symbolic link the file it points to is replaced. End with aside_end in any case. */
bool aside_begin(struct aside *aside, const char *path);
/* Closes. Puts the file in its place when `keep` is set and everything could be written, or else removes it. False,
 * with errno set, when it should have been kept and was not. */
bool aside_end(struct aside *aside, bool keep);

#endif
