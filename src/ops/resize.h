/* What resizing and its gradient share. */
#ifndef WICK_OPS_RESIZE_H
#define WICK_OPS_RESIZE_H

#include "ops/dispatch.h"

/* Checks the scale that the caller gives for spatial dim s. */
bool wick__resize_scale(const struct wick__call *call, int s, double scale);

/* Says where the elements of spatial dim s of size `out` lie in one of size `in`; kind, centred and align_corners of
 * call->p.resize are set. False after recording that a size is not in 1..2^62. */
bool wick__resize_dim(struct wick__call *call, int s, int64_t in, int64_t out, double scale);

#endif
