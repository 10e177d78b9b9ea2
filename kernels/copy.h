/* Parameters of the copy kernels. */
#ifndef WICK_KERNELS_COPY_H
#define WICK_KERNELS_COPY_H

#include "params.h"

/* out[i] = in[i] for contiguous operands; `vectors` of 16 bytes when both are aligned, 0 otherwise. */
struct gpu_copy_flat {
    const void *in;
    void *out;
    i64 count;   /* elements */
    i64 vectors; /* whole vectors, the elements after them come one by one */
};

struct gpu_copy_strided {
    const void *in;
    void *out;
    struct gpu_shape shape;
    struct gpu_layout layout[2]; /* in, out */
};

#endif
