/* Parameters of scaled dot product attention. */
#ifndef WICK_KERNELS_ATTENTION_H
#define WICK_KERNELS_ATTENTION_H

#include "report.h"

/* attention_few: queries of a block, and the longest rows of q and v; half as long in f64. */
#define GPU_ATTENTION_FEW 4
#define GPU_ATTENTION_FEW_WIDE 256
/* attention_pieces_mma: queries of a block, its threads at most, and those of all blocks that a unit has registers for. */
#define GPU_ATTENTION_FEW_MMA 8
#define GPU_ATTENTION_FEW_THREADS 256
#define GPU_ATTENTION_FEW_RESIDENT 384

/* attention_mma where tiles pass through registers: from a key or value to the next it is fewer elements than this. */
#define GPU_ATTENTION_STRIDE (1 << 24)

/* attention_tf32: threads and queries of a block, keys of a step, and elements from a row to the next in LDS. */
#define GPU_ATTENTION_TF32_THREADS 128
#define GPU_ATTENTION_TF32_ROWS 64
#define GPU_ATTENTION_TF32_KEYS 32
#define GPU_ATTENTION_TF32_PITCH(dim) ((dim) + 4)

enum gpu_attention_mask { GPU_ATTENTION_FREE, GPU_ATTENTION_KEEP, GPU_ATTENTION_ADD };

/* Strides are of batch, head, position and element. A unit is what shares keys: one head, or, when `merged`, all
 * `group` query heads of a key head, one after another. Block first + x works on a tile of a unit: first on the last tiles of
 * `across` units, then on the tiles before, so that with causal rows short ones fill what long ones leave; block y on a run of
 * keys; block z on a run of columns of v.
 *
 * Packed sequences lie one after another along the positions of a single batch. Sequence s then has the tiles from
 * number rows of a unit before it / rows of a tile + s on: at least as many as it needs. */
struct gpu_attention {
    const void *q, *k, *v, *mask;
    const void *slopes;            /* f32; NULL: none */
    const u32 *q_starts, *k_starts; /* [sequences + 1] when packed, else NULL */
    struct gpu_report report;      /* of starts that are wrong */
    void *out;                     /* [batch, heads, queries, width], or [queries, heads, width] when packed */
    void *log_sums;                /* the same but for width, in the type of sums; NULL: not wanted */
    void *partial; /* with more than one split: [splits, rows of out, width] in the type of sums */
    void *stats;   /* and [splits, rows of out] times two: the largest score, the sum of weights */
    i64 q_stride[4], k_stride[4], v_stride[4], mask_stride[4], slope_stride[2], start_stride[2];
    i64 queries, keys; /* of a batch; of all sequences */
    i64 split;         /* keys of a block; 0: an even part of each sequence's */
    i64 depth, width;
    i64 left, right; /* a query at position p sees keys p - left .. p + right */
    u64 first;
    u32 units, heads, group, merged; /* units of a batch */
    u32 tiles, splits, sequences;
    u32 align_last; /* query i is at position i + keys - queries instead of i */
    u16 masked;     /* enum gpu_attention_mask. Eight more bytes in this struct, and attention_backward_mma spills */
    u16 wide;       /* out is of the type of sums */
    u32 across;     /* a divisor of all units, of all batches */
    double scale, cap; /* cap 0: none */
    i64 total;         /* rows of out */
};

/* attention_pieces_mma: the most parts that blocks join themselves, and what they are told beside the call. */
#define GPU_ATTENTION_PIECES_PARTS 32
struct gpu_attention_pieces {
    struct gpu_attention all;
    u32 *tickets; /* for each block x: how many parts have ended, of which the last one joins them; 0 before and after.
                   * NULL: attention_join does, or there is one part */
};

#endif
