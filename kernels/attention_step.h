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

/* What comes before: heads of q, then those of keys and values, [sequence, head, element]. q goes to `turned`, which has
 * no gaps; keys and values go to the last positions of caches, or to those behind `lengths`. The first 2 * pairs
 * elements of q and of keys turn by the tables, [sequence, pair]. */
struct gpu_attention_put {
    const void *from[3]; /* q, keys, values */
    const void *cosine, *sine;
    void *turned;
    i64 stride[3][3], cosine_stride[2], sine_stride[2];
    i64 q_heads; /* 0: q stays where it is */
    i64 heads, depth, pairs, count;
    const i32 *lengths; /* NULL: the last positions */
    i64 length_stride;
    u32 interleaved; /* pairs (2i, 2i + 1) instead of (i, i + pairs) */
    struct gpu_attention_cache cache[GPU_ATTENTION_CACHES];
};

/* All of a step at once, of rows of f32 side by side, which are q, keys and values of [sequence, head, element], and of
 * caches whose rows are of whole vectors of 16 bytes: what gpu_attention_put does, and then attention. Block (x, y): part
 * y of the keys of GPU_ATTENTION_FEW queries that share them. */
#define GPU_ATTENTION_TOKEN_WIDE 128
#define GPU_ATTENTION_TOKEN_PIECES 4 /* the most parts that blocks join; more take longer than a launch */
struct gpu_attention_token {
    const float *from[3]; /* q, keys, values */
    const float *cosine, *sine;
    float *out;            /* [sequences, heads, depth] */
    float *partial, *stats; /* as those of gpu_attention */
    u32 *tickets; /* for each block x: how many parts have ended, of which the last one joins them; 0 before and after.
                   * NULL: attention_join does, or there is one part */
    i64 stride[3][2];
    i64 cosine_stride[2], sine_stride[2];
    i64 left, total; /* the query sees as many keys before the last one; rows of out */
    const i32 *lengths; /* as gpu_attention_put has them */
    i64 length_stride;
    u32 heads, group, tiles, splits; /* group: query heads of a key head, in so many tiles */
    u32 depth, pairs, interleaved;
    u32 early; /* no kernel that may still run writes lengths, or keys and values ahead of the last ones */
    float scale, cap; /* cap 0: none */
    struct gpu_attention_cache cache[GPU_ATTENTION_CACHES];
};

/* keep[key]: whether the query behind `length` keys, at most `left` ahead of the key, sees it. */
struct gpu_attention_keep {
    const i32 *length;
    u8 *keep;
    i64 keys, left;
};

#endif
