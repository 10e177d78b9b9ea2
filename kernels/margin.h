/* Parameters of the kernels of pad, tril and triu, one_hot. */
#ifndef WICK_KERNELS_MARGIN_H
#define WICK_KERNELS_MARGIN_H

#include "ids.h"
#include "walk.h"

/* Elements of a thread. */
#define GPU_PAD_SLOTS 8

enum gpu_pad_mode { GPU_PAD_CONSTANT, GPU_PAD_REFLECT, GPU_PAD_REPLICATE, GPU_PAD_CIRCULAR };

struct gpu_pad {
    const void *in;
    void *out;
    u32 mode;
    u64 value[2];           /* of GPU_PAD_CONSTANT: the bytes of an element */
    struct gpu_shape shape; /* of the result, narrow */
    i64 before[GPU_RANK];   /* position 0 of the operand in the result; negative in a later part of a result */
    i64 from[GPU_RANK];     /* sizes of the operand, last dim first */
    struct gpu_layout layout;
};

/* One operand, of which every element outside the triangle becomes 0: element j of row i lies on diagonal j - i. */
struct gpu_triangle {
    struct gpu_walk walk;
    const void *first; /* element 0 of the whole result, of which `walk` may be a part */
    i64 k;             /* tril keeps the diagonals up to k, triu those from k on */
    u32 upper;
    u32 narrow; /* the whole result has fewer than 2^31 elements */
    i64 rows, columns;
    struct gpu_divisor by_rows, by_columns; /* when narrow */
};

/* out[p, ids[p]] = one; out is zero. */
struct gpu_one_hot {
    struct gpu_ids ids;
    void *out;
    u64 one; /* its bytes */
    u32 size;
    i64 classes;
    struct gpu_shape shape; /* of the ids */
    struct gpu_layout layout[1];
};

#endif
