/* Parameters of the kernels of gradients of functions of one tensor. */
#ifndef WICK_KERNELS_GRADIENT_H
#define WICK_KERNELS_GRADIENT_H

#include "op_numbers.h"
#include "walk.h"

struct gpu_gradient {
    struct gpu_walk walk; /* the gradient; x, or the function's result */
    u32 op;               /* enum gpu_op */
    double f[2];          /* the numbers */
};

/* Elements that a thread takes at a time, by their bytes. More would make the switch over functions very long. */
#define GPU_CHUNK_OF_GRADIENT(bytes) ((bytes) == 1 ? 8 : GPU_CHUNK(bytes))

#endif
