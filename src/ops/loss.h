/* What the files of losses share. */
#ifndef WICK_OPS_LOSS_H
#define WICK_OPS_LOSS_H

#include "ops/dispatch.h"

/* The dtype in which losses of x are kept until they are reduced: f32, f64 for f64. */
static inline enum wick_dtype wick__loss_wide(const struct wick_tensor *x) {
    return x->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
}

/* Checks that the reduction is one of the enum's, WICK_LOSS_BATCH_MEAN only where `batch` is true. */
bool wick__loss_check(const struct wick__call *call, enum wick_reduction reduction, bool batch);

/* Checks that `gradient` has the dtype of x, and that it is a scalar, or for WICK_LOSS_NONE of a shape. */
bool wick__loss_check_gradient(const struct wick__call *call, const struct wick_tensor *gradient,
                               const struct wick_tensor *x, enum wick_reduction reduction, int rank,
                               const int64_t *shape);

/* x in a dtype; x itself where it has it. NULL for NULL. */
const struct wick_tensor *wick__loss_cast(const struct wick_tensor *x, enum wick_dtype dtype);

/* The sum or the mean of losses, in a dtype; the losses themselves for WICK_LOSS_NONE. All in the innermost scope. */
struct wick_tensor *wick__loss_reduce(struct wick_tensor *losses, enum wick_reduction reduction, enum wick_dtype dtype);

#endif
