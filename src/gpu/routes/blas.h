/* Products by the vendor's BLAS. */
#ifndef WICK_GPU_ROUTES_BLAS_H
#define WICK_GPU_ROUTES_BLAS_H

#include "gpu/runtime/gpu.h"
#include "product.h"

/* Makes the product by the vendor's library, if it has it, it is chosen, and it passed its check; *done says so. Bias
 * and activation are left to the caller. */
enum wick_status wick__blas_run(struct wick__gpu *gpu, const struct wick__product *g, bool *done);

/* Frees what the above made. */
void wick__blas_close(struct wick__gpu *gpu);

/* wick_blas_set and wick_blas_describe of a GPU. */
enum wick_status wick__blas_set(struct wick__gpu *gpu, enum wick_blas choice);
enum wick_status wick__blas_describe(struct wick__gpu *gpu, bool check_all, struct wick_blas_info *info);

#endif
