/* Parameters of reductions of short lines that lie across memory: x [outer,n,inner], results [outer,inner]. */
#ifndef WICK_KERNELS_REDUCE_SHORT_H
#define WICK_KERNELS_REDUCE_SHORT_H

#include "reduce.h"

struct gpu_reduce_short {
    const void *in;
    i64 items; /* outer * width */
    i64 width; /* inner / beside */
    i64 n, inner;
    u32 down;   /* threads for a line, a power of two */
    u32 beside; /* lines of an item: 1; 2 of 16 bits; or those of 16 bytes, where rows are whole vectors */
    struct gpu_reduce_end end;
};

#endif
