/* Attention of other ranks than 4: [H,M,D] as a batch of one, and all dims before the heads as one batch. */
#ifndef WICK_OPS_ATTENTION_RANK_H
#define WICK_OPS_ATTENTION_RANK_H

#include "ops/attention.h"

#include <wick/backward.h>

/* Whether q, k and v have such a rank, and agree in the dims before the heads. */
bool wick__attention_folds(const struct wick_tensor *q, const struct wick_tensor *k, const struct wick_tensor *v);

struct wick_tensor *wick__attention_folded(const struct wick_tensor *q, const struct wick_tensor *k,
                                           const struct wick_tensor *v, const struct wick_tensor *mask,
                                           const struct wick_attention_options *options);
struct wick_tensor *wick__attention_backward_folded(const struct wick_tensor *gradient, const struct wick_tensor *q,
                                                    const struct wick_tensor *k, const struct wick_tensor *v,
                                                    const struct wick_attention_backward *options);

#endif
