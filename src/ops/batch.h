/* What batch norm and its gradient ask of group norm's. */
#ifndef WICK_OPS_BATCH_H
#define WICK_OPS_BATCH_H

#include "ops/dispatch.h"

/* wick_group_norm_with of single channels, each of all images of x [N,C,...] together. Statistics are [C]. */
struct wick_tensor *wick__batch_norm(const struct wick_tensor *x, const struct wick_norm_options *options);

/* wick_group_norm_backward of single channels, each of all images of x [N,C,...] together. mean and inverse deviation
 * are [C]. */
struct wick_tensor *wick__batch_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                              const struct wick_tensor *mean,
                                              const struct wick_tensor *inverse_deviation,
                                              const struct wick_norm_backward_options *options);

#endif
