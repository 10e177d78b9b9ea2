/* Parameters of the gradients of pooling. */
#ifndef WICK_KERNELS_POOL_BACKWARD_H
#define WICK_KERNELS_POOL_BACKWARD_H

#include "params.h"

/* One dim: `in` elements, `out` windows. */
struct gpu_pool_axis {
    i64 in, out, kernel, stride, padding, step;
    struct gpu_divisor by_in, by_stride; /* when narrow */
};

/* gradient [planes, out...] to out [planes, in...], both contiguous; missing leading dims have one element and one
 * window. */
struct gpu_pool_backward {
    const void *gradient;
    const u32 *indices; /* of max pooling: the position in its plane that each window's gradient goes to */
    void *out;
    i64 count; /* of out */
    struct gpu_pool_axis axis[3];
    i64 divisor;       /* of averages; 0: the number of elements */
    u32 count_padding; /* with those in the padding */
    u32 narrow;        /* count, and every dim with its padding, are below 2^31 */
};

#endif
