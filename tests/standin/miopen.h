/* What the parts of libMIOpen.so.1 over the stand-in driver share. */
#ifndef STANDIN_MIOPEN_H
#define STANDIN_MIOPEN_H

#include "blas.h"

#include <stdint.h>
#include <stdlib.h>

enum { SUCCESS, NOT_INITIALIZED, INVALID_VALUE, BAD_PARAM, NO_MEMORY, INTERNAL, NOT_IMPLEMENTED, UNKNOWN };
enum { SOLUTIONS = 6 }; /* of convolutions */

struct tensor {
    enum standin_dtype dtype;
    int dims;
    long size[5];
};
struct handle {
    struct standin_blas blas;
    bool compiled[SOLUTIONS];
};

#define ENTER(function)                                                                                                \
    STANDIN_ENTER(function, NOT_INITIALIZED, UNKNOWN, "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5")
/* Everything that is made is counted as a handle, so that what is never destroyed shows. */
#define MAKE(function, to)                                                                                             \
    ENTER(function);                                                                                                   \
    *(to) = calloc(1, sizeof **(to));                                                                                  \
    if (!*(to)) return d->leave(NO_MEMORY);                                                                            \
    d->count(1);                                                                                                       \
    return d->leave(SUCCESS)
/* A fault in giving back loses nothing here. */
#define DESTROY(function, what)                                                                                        \
    STANDIN_FIND(function, NOT_INITIALIZED, "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5");               \
    int fault_ = d->enter(&entry_);                                                                                    \
    free(what);                                                                                                        \
    d->count(-1);                                                                                                      \
    return d->leave(fault_ ? UNKNOWN : SUCCESS)

#endif
