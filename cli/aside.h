/* A file of text that appears whole or not at all. */
#ifndef WICK_CLI_ASIDE_H
#define WICK_CLI_ASIDE_H

#include "src/core/aside.h"

#include <stdio.h>

struct aside {
    FILE *file;
    bool direct; /* the path is a pipe or a device, which is written as it is */
    struct wick__aside aside;
};

/* Opens. NULL, or why not. A path that is there and is not a regular file (a pipe, a terminal) is written directly; of
 * a symbolic link the file it points to is replaced. End with aside_end in any case. */
const char *aside_begin(struct aside *aside, const char *path);
/* Closes. Puts the file in its place when `keep` is set and everything could be written, or else removes it. False,
 * with errno set, when it should have been kept and was not. */
bool aside_end(struct aside *aside, bool keep);

#endif
