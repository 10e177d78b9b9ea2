/* Weights of blocks by some rows of activations that are rounded to 8 bits, by matrix instructions of signed bytes. */
#ifndef WICK_GPU_OPS_QUANTISED_H
#define WICK_GPU_OPS_QUANTISED_H

#include "backend.h"
#include "gpu/runtime/target.h"

/* Whether a call of linear_quantised with products of 8 bits has a kernel of tiles that is worth while, and that
 * product. */
bool wick__tiles_take(const struct wick__gpu *gpu, const struct wick__call *call);
enum wick_status wick__tiles_multiply(struct wick__gpu *gpu, const struct wick__call *call);

#endif
