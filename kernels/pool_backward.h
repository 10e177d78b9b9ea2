/* Parameters of the gradients of pooling. */
#ifndef WICK_KERNELS_POOL_BACKWARD_H
#define WICK_KERNELS_POOL_BACKWARD_H

#include "params.h"

enum { GPU_POOL_BACKWARD_EACH = 4 }; /* elements of a thread where windows are apart */

/* One dim: `in` elements, `out` windows. */
struct gpu_pool_axis {
    i64 in, out, kernel, stride, padding;
    i64 reach; /* from the first element of a window to its last */
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
    u32 narrow;        /* counts, windows, strides and every dim with its padding are below 2^31 */
    u32 apart;         /* narrow, no window reaches into another, and out is of whole vectors */
};

#endif
