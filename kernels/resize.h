/* Parameters of the resizing kernels. */
#ifndef WICK_KERNELS_RESIZE_H
#define WICK_KERNELS_RESIZE_H

#include "params.h"

/* x [planes, from...] to out [planes, to...], both contiguous; missing leading dims have size 1. */
struct gpu_resize {
    const void *in;
    void *out;
    i64 count; /* of out */
    i64 from[3], to[3];
    double scale[3];          /* source step per step of the result */
    u32 centers;              /* linear: positions count from the middle of elements */
    u32 narrow;               /* count < 2^31 */
    struct gpu_divisor by[3]; /* to */
};

#endif
