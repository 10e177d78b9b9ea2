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

/* The same where the device knows how long the sequences are: `cache[i].keys` is the room in a cache. */
struct gpu_attention_step_at {
    struct gpu_attention_step step;
    const i32 *lengths; /* positions before this one */
    i64 length_stride;
};

/* Elements of `size` bytes, [sequence, head, element], to the last positions of caches. */
struct gpu_attention_put {
    const void *from;
    i64 stride[3];
    i64 heads, depth, count;
    u32 size;
    struct gpu_attention_cache cache[GPU_ATTENTION_CACHES];
};

/* The same to the positions behind `lengths`. */
struct gpu_attention_put_at {
    struct gpu_attention_put put;
    const i32 *lengths;
    i64 length_stride;
};

/* keep[key]: whether the query behind `length` keys, at most `left` ahead of the key, sees it. */
struct gpu_attention_keep {
    const i32 *length;
    u8 *keep;
    i64 keys, left;
};

#endif
