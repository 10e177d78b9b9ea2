/* What the files of views share. */
#ifndef WICK_OPS_SHAPE_H
#define WICK_OPS_SHAPE_H

#include "ops/dispatch.h"

/* The result of a view op: in[0] with another layout; NULL after recording a failure, where it would cut blocks. Empty
 * views start at offset 0, so that no address is ever made from the missing buffer of an empty tensor. */
struct wick_tensor *wick__view(struct wick__call *call, struct wick__layout *layout);

/* Copies the caller's shape; false after recording a failure. */
bool wick__take_shape(const struct wick__call *call, int rank, const int64_t *shape, int64_t taken[WICK_MAX_RANK]);

#endif
