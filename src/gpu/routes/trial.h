/* Products with known results, by which vendors' libraries are checked. */
#ifndef WICK_GPU_ROUTES_TRIAL_H
#define WICK_GPU_ROUTES_TRIAL_H

#include "gpu/runtime/gpu.h"

/* Makes a product on the device; 0, or the vendor's code. */
typedef int wick__multiply_fn(struct wick__gpu *gpu, void *handle, const struct wick__blas_product *product);

/* Runs products of operands of a dtype with results of another, and looks at every element of the results and at what
 * lies between their rows. GOOD, ABSENT when the library refuses one, WRONG, FLUSHES when only those with subnormal
 * operands are wrong; UNCHECKED when there is no memory for it. */
enum wick_blas_verdict wick__trials(struct wick__gpu *gpu, void *handle, enum wick_dtype dtype, enum wick_dtype c_dtype,
                                    wick__multiply_fn *multiply);

#endif
