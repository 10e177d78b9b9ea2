/* A tensor in memory and the boxes that bulk copies take of it, as the driver encodes them. */
#ifndef WICK_KERNELS_TENSOR_MAP_H
#define WICK_KERNELS_TENSOR_MAP_H

#include "params.h"

struct gpu_tensor_map {
#if defined(__cplusplus)
    alignas(64) u8 bytes[128];
#else
    _Alignas(64) u8 bytes[128];
#endif
};

#endif
