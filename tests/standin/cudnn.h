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

enum { VALUES = 8, ATTRIBUTES = 12, STANDIN_TENSOR = 17, STANDIN_SDPA = 41 };

/* Of any type: its attributes as they were set, each of up to eight values of up to eight bytes. */
struct object {
    int type, engine; /* of a configuration or an engine: its number; of a knob: its value */
    bool final;
    struct object *graph; /* that a configuration is for */
    int count;
    struct {
        int name, type;
        int64_t count;
        uint64_t value[VALUES];
    } attribute[ATTRIBUTES];
};

/* A tensor of the functions that are older than graphs, dense. */
struct tensor {
    enum standin_dtype dtype;
    int dims;
    long size[4];
};
enum standin_dtype standin_dtype_of(int type);

/* The values of an attribute that must have this type, and `count` of them unless that is 0; NULL when it has not. */
const uint64_t *values_of(const struct object *object, int name, int type, int64_t count);
int64_t count_of(const struct object *object, int name);
/* The descriptor, final and of a type, that is an attribute; NULL when there is none. */
struct object *part(const struct object *object, int name, int type);
/* Where a pack says that a tensor is; NULL when it does not. */
void *address(const struct object *pack, const struct object *tensor);

/* Whether a graph is one operation of attention; the call, and with a pack its operands. */
bool read_attention(const struct object *graph, const struct object *pack, struct standin_attention *a);

#endif
