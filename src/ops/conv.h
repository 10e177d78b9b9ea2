/* What convolutions and their gradients share. */
#ifndef WICK_OPS_CONV_H
#define WICK_OPS_CONV_H

#include "ops/dispatch.h"

/* Takes the options of windows of `kernel` over `in`, one number each of the p.window.spatial dims, into call->p, and
 * finds the sizes of the result. False after recording a failure. */
bool wick__conv_windows(struct wick__call *call, bool transposed, const struct wick_conv_options *options,
                        const int64_t *in, const int64_t *kernel, int64_t *out);

#endif
