/* Parameters of reductions of a few lines side by side, whose rows follow each other without a gap: planes of `terms` rows
 * of `width` elements. */
#ifndef WICK_KERNELS_REDUCE_FEW_H
#define WICK_KERNELS_REDUCE_FEW_H

#include "reduce.h"

struct gpu_reduce_few {
    const void *in;
    i64 planes, pitch; /* elements from a plane to the next */
    i64 splits, length; /* of a plane: segments, of `length` elements, a multiple of a vector's in every thread */
    i64 n;              /* elements of a plane: terms * width */
    u32 width;
    u32 threads; /* of a block, that have vectors: those of all of them together are whole rows */
    struct gpu_reduce_end end;
};

#endif
