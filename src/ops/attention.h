/* What attention and its gradients share: the checks of shapes, options and starts. */
#ifndef WICK_OPS_ATTENTION_H
#define WICK_OPS_ATTENTION_H

#include "ops/dispatch.h"

/* Where q, k and v are among the operands, and their dims: batch, -1 when packed, then heads, positions. */
struct wick__attention_dims {
    int q, rank, batch, heads, positions;
};

/* Each is false after recording what is wrong. */
bool wick__attention_check(const struct wick__call *call, struct wick__attention_dims at);
bool wick__attention_options(struct wick__call *call, struct wick__attention_dims at,
                             const struct wick_attention_options *options); /* fills the parameters */
/* The operands q_starts and k_starts, from number i on. */
bool wick__attention_check_starts(const struct wick__call *call, struct wick__attention_dims at, int i);
/* wick_scaled_dot_product_attention; if `weights` is not NULL, *weights receives the weights [B,H,M,N] after dropout,
 * f32 (f64 for f64), in the innermost scope. */
struct wick_tensor *wick__attention_with(const struct wick_tensor *q, const struct wick_tensor *k,
                                         const struct wick_tensor *v, const struct wick_tensor *mask,
                                         const struct wick_attention_options *options, struct wick_tensor **weights);
/* Broadcasts operand i to a shape, into *wide, which the caller releases. */
bool wick__attention_widen(struct wick__call *call, int i, int rank, const int64_t *shape, struct wick_tensor **wide);

#endif
