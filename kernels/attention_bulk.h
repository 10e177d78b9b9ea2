/* Parameters of attention whose keys and values come to LDS by bulk tensor copies (attention_bulk.hip). */
#ifndef WICK_KERNELS_ATTENTION_BULK_H
#define WICK_KERNELS_ATTENTION_BULK_H

#include "attention.h"
#include "tensor_map.h"

/* A u8 mask as bits. A row has four words for every 128 keys; bit 4 j + n of word w is that of key 16 j + 8 (n / 2) + 2 w +
 * n % 2, so that a word is what a lane has of a row (attention_bulk_mask.hip). Strides, of batch, head and query, are words. */
struct gpu_attention_bits {
    const u32 *words; /* NULL: there is no such mask */
    u32 stride[3];
};

/* attention_mask_bits, attention_mask_lay: rows of `keys` elements, one after another in `to`, `pitch` words or elements a
 * row; attention_mask_lay fills them up with 0. */
struct gpu_attention_lay {
    const void *from;
    void *to;
    i64 stride[4]; /* of `from` */
    u32 heads, queries; /* rows of a batch */
    u32 keys, pitch;
    i64 rows;
};

/* A block makes tiles of queries until there are none left below `blocks`: that of its own number, and then the next one
 * that no block has, or, where tiles are alike, each that lies a multiple of the grid's blocks behind. Numbers mean what
 * struct gpu_attention says of blocks. Maps are of elements, positions, heads and batches; a box has 64 elements of
 * GPU_ATTENTION_BULK_KEYS keys, of 64 queries or values, or of 16 results. */
struct gpu_attention_bulk {
    struct gpu_tensor_map q, k, v, out;
    struct gpu_attention a;
    u32 *tickets; /* for each block y: how many tiles were drawn behind blocks' own; 0 before and after */
    u32 blocks, rows; /* of a tile: 64 for each group, or 64 for the first one alone */
    u16 boxed; /* q has a map, and a tile's rows are of one head */
    u16 put;   /* out has a map, by which results leave where LDS has more than two tiles' queries */
    u16 late;  /* tiles differ: a block draws its next one, when it is nearly done with the last */
    /* attention_bulk_mask: a u8 mask; scale, cap, and 2 log2(e) scale / cap. */
    struct gpu_attention_bits bits;
    float scale, cap, turn;
};

/* Of rows with up to `dim` elements, 64, 96 or 128, by groups of waves that multiply, with 64 queries each, beside one
 * that gets things ready: steps of keys and of values that LDS holds, tiles whose queries it holds (an even number),
 * threads, bytes of dynamic LDS. */
#define GPU_ATTENTION_BULK_KEYS 128
#define GPU_ATTENTION_BULK_STAGES(dim) ((dim) <= 64 ? 4 : 2)
#define GPU_ATTENTION_BULK_TILES(dim, groups) ((dim) <= 64 && (groups) == 2 ? 4 : 2)
#define GPU_ATTENTION_BULK_THREADS(groups) (128 * ((groups) + 1))
#define GPU_ATTENTION_BULK_SHARED(dim, groups)                                                                         \
    ((64 * (groups) * GPU_ATTENTION_BULK_TILES(dim, groups) +                                                          \
      2 * GPU_ATTENTION_BULK_STAGES(dim) * GPU_ATTENTION_BULK_KEYS) *                                                  \
     ((dim) <= 64 ? 64 : 128) * 2)

#endif
