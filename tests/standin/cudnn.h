/* What the parts of libcudnn.so.9 over the stand-in driver share. */
#ifndef STANDIN_CUDNN_H
#define STANDIN_CUDNN_H

#include "blas.h"

#include <stdint.h>
#include <stdlib.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 1001, BAD_PARAM = 2000, NOT_SUPPORTED = 3000, NO_MEMORY = 4003, FAILED = 5000 };

#define ENTER(function) STANDIN_ENTER(function, NOT_INITIALIZED, FAILED, "libcuda.so.1")
/* Everything that is made is counted as a handle, so that what is never destroyed shows. */
#define MAKE(function, to)                                                                                             \
    ENTER(function);                                                                                                   \
    *(to) = calloc(1, sizeof **(to));                                                                                  \
    if (!*(to)) return d->leave(NO_MEMORY);                                                                            \
    d->count(1);                                                                                                       \
    return d->leave(SUCCESS)
/* A fault in giving back loses nothing here. */
#define DESTROY(function, what)                                                                                        \
    STANDIN_FIND(function, NOT_INITIALIZED, "libcuda.so.1");                                                           \
    int fault_ = d->enter(&entry_);                                                                                    \
    free(what);                                                                                                        \
    d->count(-1);                                                                                                      \
    return d->leave(fault_ ? FAILED : SUCCESS)

#endif
