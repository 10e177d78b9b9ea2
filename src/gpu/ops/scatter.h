/* Adding by id, for ops that come down to it. */
#ifndef WICK_GPU_OPS_SCATTER_H
#define WICK_GPU_OPS_SCATTER_H

#include "gpu/runtime/gpu.h"
#include "kernels/scatter.h"

wick__kernel_fn wick__gpu_scatter, wick__gpu_copy;

/* Queues a scatter, or scatter_add, of source (in[2]) into a copy of x (in[0]), or into it; `shared` when ids (in[1])
 * have rank 1 and lie along the dim alone. */
enum wick_status wick__gpu_scatter_run(const struct wick__call *call, bool shared);

#endif
