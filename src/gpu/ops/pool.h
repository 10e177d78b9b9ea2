/* What pooling and its gradients share. */
#ifndef WICK_GPU_OPS_POOL_H
#define WICK_GPU_OPS_POOL_H

#include "gpu/routes/layer.h"

/* Pooling, or its gradient, by a vendor's library; *done says whether that ran it. */
enum wick_status wick__gpu_pool_route(const struct wick__call *call, enum wick__layer kind, bool *done);

/* Pooling of x with channels last, of bf16, f16 or f32, as it lies; *done says whether it is one for that. */
enum wick_status wick__gpu_pool_last(const struct wick__call *call, bool *done);

#endif
