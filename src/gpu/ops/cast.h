/* Conversion of what is no tensor. */
#ifndef WICK_GPU_OPS_CAST_H
#define WICK_GPU_OPS_CAST_H

#include "gpu/routes/layer.h"

wick__convert_fn wick__gpu_convert;

#endif
