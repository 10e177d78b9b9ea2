/* Parameters of the pooling kernels. */
#ifndef WICK_KERNELS_POOL_H
#define WICK_KERNELS_POOL_H

#include "params.h"

/* What a window covers of one dim. */
struct gpu_window {
    i64 start, count; /* the first element inside x, and how many are */
    i64 full;         /* with those in the padding */
};

/* x [planes, from...] to out [planes, to...], both contiguous; missing leading dims have size 1. PyTorch's windows. */
struct gpu_pool {
    const void *in;
    void *out;
    u32 *indices; /* pool_index: where in its plane each largest element lies */
    i64 count; /* of out */
    i64 from[3], to[3];
    i64 kernel[3], stride[3], padding[3], step[3]; /* step: of elements within a window */
    struct gpu_window *windows[3];                 /* [to], which pool_windows fills; not for pool_wide, pool_plain */
    i64 divisor;                                   /* of averages; 0: the number of elements */
    u32 max, adaptive, count_padding;
    u32 group, across;        /* threads for an element, also of pool_lines; pool_wide: those along a row of its window */
    u32 narrow;               /* count < 2^31, and so is to * from where adaptive */
    struct gpu_divisor by[3]; /* to */
    /* Windows that are whole planes: of `whole` elements, in pieces of `length`, what each comes to at `parts` where
     * there are several. */
    i64 whole, pieces, length;
    void *parts; /* [count,pieces], of up to 16 bytes */
};

#endif
