/* What GPUs run each op with, and for what. */
#ifndef WICK_GPU_OPS_TABLE_H
#define WICK_GPU_OPS_TABLE_H

#include "backend.h"

extern const struct wick__kernel wick__gpu_kernels[WICK_OP_COUNT];

#endif
