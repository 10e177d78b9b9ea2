/* What pooling and its gradients share. */
#ifndef WICK_GPU_OPS_POOL_H
#define WICK_GPU_OPS_POOL_H

#include "gpu/routes/layer.h"

/* Pooling, or its gradient, by a vendor's library; *done says whether that ran it. */
enum wick_status wick__gpu_pool_route(const struct wick__call *call, enum wick__layer kind, bool *done);

#endif
