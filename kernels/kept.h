/* Numbers that stay in registers. */
#ifndef WICK_KERNELS_KEPT_H
#define WICK_KERNELS_KEPT_H

#include "gpu.h"

/* x, which NVIDIA's compiler else finds anew at each use in a loop, at the price of whatever x cost. */
GPU_FN u32 gpu_kept(u32 x) {
#if defined(GPU_NVIDIA)
    asm volatile("" : "+r"(x));
#endif
    return x;
}

#endif
