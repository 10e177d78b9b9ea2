/* Recurrent cells on a GPU, for those who have no tensors of a step. */
#ifndef WICK_GPU_OPS_RECURRENT_CELL_H
#define WICK_GPU_OPS_RECURRENT_CELL_H

#include "gpu/runtime/gpu.h"
#include "kernels/recurrent.h"

/* Launches the kernel of a cell's op, or its gradient's, for p's operands and results, count, size and relu. */
enum wick_status wick__gpu_cell(struct wick__gpu *gpu, enum wick_op op, enum wick_dtype dtype, struct gpu_recurrent *p);

#endif
