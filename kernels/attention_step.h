/* Parameters of attention for one query of each of some sequences. */
#ifndef WICK_KERNELS_ATTENTION_STEP_H
#define WICK_KERNELS_ATTENTION_STEP_H

#include "attention.h"

/* Keys of a sequence, and values below them, in a cache of its own: strides of head, position and element. */
#define GPU_ATTENTION_CACHES 64
struct gpu_attention_cache {
    void *at;
    i64 stride[3];
    i64 keys;
};

/* One query of each of some sequences, which are batches of q and out; `all` has no k and v. */
struct gpu_attention_step {
    struct gpu_attention all;
    struct gpu_attention_cache cache[GPU_ATTENTION_CACHES];
};

/* Elements of `size` bytes, [sequence, head, element], to the last positions of caches. */
struct gpu_attention_put {
    const void *from;
    i64 stride[3];
    i64 heads, depth, count;
    u32 size;
    struct gpu_attention_cache cache[GPU_ATTENTION_CACHES];
};

#endif
