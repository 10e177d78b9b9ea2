/* Parameters of the copy kernels. */
#ifndef WICK_KERNELS_COPY_H
#define WICK_KERNELS_COPY_H

#include "params.h"

/* Bytes that a thread of copy_flat moves, elements that one of copy_strided does. */
#define GPU_COPY_FLAT 64
#define GPU_COPY_SLOTS(size) ((size) == 16 ? 4 : 8)

/* `nbytes` from one place to another, both multiples of 16; or `value` again and again. */
struct gpu_copy_flat {
    const void *in; /* NULL: value */
    void *out;
    i64 nbytes;
    u64 value[2];
};

/* Elements from any layout to any other, in row-major order of the shape, which is narrow. */
struct gpu_copy_strided {
    const void *in; /* NULL: value */
    void *out;
    u64 value[2];
    struct gpu_shape shape;
    struct gpu_layout layout[2]; /* in, out */
};

#endif
