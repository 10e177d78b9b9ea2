/* Parameters of the gradients of softmax. */
#ifndef WICK_KERNELS_SOFTMAX_BACKWARD_H
#define WICK_KERNELS_SOFTMAX_BACKWARD_H

#include "params.h"

/* All are [outer,n,inner], contiguous. */
struct gpu_softmax_backward {
    const void *gradient, *result;
    void *out;
    i64 outer, n, inner;
    i64 tiles; /* of `across` lines of one outer index */
    u32 across; /* a power of two up to GPU_BLOCK; inner == 1: not used */
    u32 group;  /* inner == 1: threads for a row: up to GPU_WAVE lanes, or a block of as many */
    u32 vectors; /* every row begins at a multiple of 16 bytes and is whole vectors */
    u32 log;
};

#endif
