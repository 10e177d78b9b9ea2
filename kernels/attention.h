/* Parameters of scaled dot product attention. */
#ifndef WICK_KERNELS_ATTENTION_H
#define WICK_KERNELS_ATTENTION_H

#include "params.h"

enum gpu_attention_mask { GPU_ATTENTION_FREE, GPU_ATTENTION_KEEP, GPU_ATTENTION_ADD };

/* Strides are of batch, head, position and element. A unit is what shares keys: one head, or, when `merged`, all
 * `group` query heads of a key head, one after another. Block x works on tile x % tiles of unit x / tiles, from the
 * last tile to the first; block y on a run of `split` keys; block z on a run of columns of v. */
struct gpu_attention {
    const void *q, *k, *v, *mask;
    void *out;     /* [batch, heads, queries, width] */
    void *partial; /* with more than one split: [splits, batch, heads, queries, width] in the type of sums */
    void *stats;   /* and [splits, batch, heads, queries] times two: the largest score, the sum of weights */
    i64 q_stride[4], k_stride[4], v_stride[4], mask_stride[4];
    i64 queries, keys, split;
    i64 rows; /* of a unit */
    i64 depth, width;
    u32 units, heads, group, merged; /* units of a batch */
    u32 tiles, splits;
    u32 causal, masked; /* enum gpu_attention_mask */
    double scale, cap;  /* cap 0: none */
    i64 total;          /* batch * heads * queries */
};

#endif
