/* Parameters of attention whose keys and values come to LDS by bulk tensor copies (attention_bulk.hip). */
#ifndef WICK_KERNELS_ATTENTION_BULK_H
#define WICK_KERNELS_ATTENTION_BULK_H

#include "attention.h"
#include "tensor_map.h"

/* A block makes tiles of queries until there are none left below `blocks`: that of its own number, and then the next one
 * that no block has. Numbers mean what struct gpu_attention says of blocks. Maps are of elements, positions, heads and
 * batches; a box has 64 elements of GPU_ATTENTION_BULK_KEYS keys, or of 64 values. */
struct gpu_attention_bulk {
    struct gpu_tensor_map k, v;
    struct gpu_attention a;
    u32 *tickets; /* for each block y: how many tiles were taken behind blocks' own; 0 before and after */
    u32 blocks;
};

/* Of rows with up to 64 elements and with more: groups of waves that multiply, with 64 queries each, beside one that
 * asks for copies; steps of keys and of values that LDS holds. */
#define GPU_ATTENTION_BULK_KEYS 128
#define GPU_ATTENTION_BULK_GROUPS(dim) ((dim) <= 64 ? 3 : 2)
#define GPU_ATTENTION_BULK_STAGES(dim) ((dim) <= 64 ? 4 : 2)
#define GPU_ATTENTION_BULK_ROWS(dim) (64 * GPU_ATTENTION_BULK_GROUPS(dim))
#define GPU_ATTENTION_BULK_THREADS(dim) (128 * (GPU_ATTENTION_BULK_GROUPS(dim) + 1))
#define GPU_ATTENTION_BULK_SHARED(dim)                                                                                 \
    ((GPU_ATTENTION_BULK_ROWS(dim) * 2 + 2 * GPU_ATTENTION_BULK_STAGES(dim) * GPU_ATTENTION_BULK_KEYS) *               \
     ((dim) <= 64 ? 64 : 128) * 2)

#endif
