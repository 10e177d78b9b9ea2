/* Products with known results, by which vendors' libraries are checked. */
#ifndef WICK_GPU_ROUTES_TRIAL_H
#define WICK_GPU_ROUTES_TRIAL_H

#include "gpu/routes/route.h"

/* What is tried: operands of a dtype, results of another, and whether bias and activation belong to the product. */
struct wick__trial_kind {
    enum wick_dtype dtype, c_dtype;
    bool fused;   /* of one batch */
    bool aligned; /* rows start at multiples of eight elements */
    enum wick_activation activation;
};

/* Makes a product on the device. */
typedef enum wick__ran wick__multiply_fn(struct wick__gpu *gpu, struct wick__held *held,
                                         const struct wick__blas_product *product);

/* Runs such products, and looks at every element of the results and at what lies between their rows. GOOD, ABSENT when
 * the library refuses one, WRONG, FLUSHES when only those with subnormal operands are wrong, ROUGH; UNCHECKED when
 * there is no memory for it. */
enum wick__verdict wick__trials(struct wick__gpu *gpu, struct wick__held *held, const struct wick__trial_kind *kind,
                                wick__multiply_fn *multiply);

#endif
