/* Parameters of the kernels of recurrent cells. */
#ifndef WICK_KERNELS_RECURRENT_H
#define WICK_KERNELS_RECURRENT_H

#include "params.h"

/* Operands and results in the order of the op's row and of its results; those left out are NULL. `count` elements of a
 * state [N,size], in rows of g gates of operands of [N,g size]. */
struct gpu_recurrent {
    const void *in[6];
    void *out[3];
    i64 count, size;
    struct gpu_divisor by_size; /* valid when narrow */
    u32 narrow;                 /* count < 2^31 */
    u32 relu;
};

#endif
