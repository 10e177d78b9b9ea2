/* Attention that stores its M x N weights: with dropout, with gradients of the mask, with the weights as a result. */
#ifndef WICK_OPS_ATTENTION_WHOLE_H
#define WICK_OPS_ATTENTION_WHOLE_H

#include "ops/attention.h"

#include <wick/backward.h>

/* The result of a checked call of wick_scaled_dot_product_attention, whose parameters are set. If `weights` is not
 * NULL, *weights receives the weights [B,H,M,N] after dropout, f32 (f64 for f64), in the innermost scope. */
struct wick_tensor *wick__attention_whole(const struct wick__call *call, const struct wick_attention_options *options,
                                          struct wick_tensor **weights);

/* The same of its gradients. */
struct wick_tensor *wick__attention_whole_backward(const struct wick__call *call,
                                                   const struct wick_attention_options *function,
                                                   const struct wick_attention_backward *options);

#endif
