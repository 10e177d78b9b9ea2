/* Parameters of softmax across planes of few lines: x [planes,n,width], of which n is normalized. */
#ifndef WICK_KERNELS_SOFTMAX_PLANES_H
#define WICK_KERNELS_SOFTMAX_PLANES_H

#include "params.h"

/* The most lines of a plane. */
#define GPU_SOFTMAX_PLANES_WIDTH 128

struct gpu_softmax_planes {
    const void *in;
    void *out; /* begins as `in` does, modulo 16 bytes */
    i64 planes;
    u32 n;    /* elements of a plane */
    u32 width;
    u32 step; /* threads of a block that have vectors: those of all of them together are whole rows */
    u32 log;
};

#endif
