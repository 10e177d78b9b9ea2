/* Parameters of the gather kernels. */
#ifndef WICK_KERNELS_GATHER_H
#define WICK_KERNELS_GATHER_H

#include "ids.h"

/* out[i] = x[at x's layout + id step], 0 where there is no id. Elements are units of 1 to 16 bytes. */
struct gpu_gather {
    const void *x;
    void *out; /* contiguous */
    struct gpu_ids ids;
    i64 step;               /* of x along the dim that ids count along */
    u32 fourfold;           /* threads take four neighbours at once: size[0] is a multiple of 4, ids lie side by side */
    struct gpu_shape shape; /* of out */
    struct gpu_layout layout[2]; /* ids, x; x has stride 0 along the dim */
};

/* Reports ids out of range. */
struct gpu_check_ids {
    struct gpu_ids ids;
    struct gpu_shape shape;
    struct gpu_layout layout[1];
};

/* out[i] = how many elements of a sorted sequence lie before values[i], or not behind it. All contiguous. */
struct gpu_search {
    const void *sequence, *values;
    i64 *out;
    i64 count, n, m; /* values in all; elements of a sequence; values that go with each */
    u32 shared;      /* one sequence for all values */
    u32 right;
};

#endif
