/* Parameters of the gradients of attention whose operands come to LDS by bulk tensor copies
 * (attention_backward_bulk.hip). */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_BULK_H
#define WICK_KERNELS_ATTENTION_BACKWARD_BULK_H

#include "attention_backward.h"
#include "tensor_map.h"

/* A block makes tiles of keys until there are none left below `blocks`: that of its own number, and then the next one that
 * no block has. Maps are of elements, positions, heads and batches; a box has 64 elements of GPU_BACKWARD_BULK_STEP
 * positions.
 *
 * `tiles` has GPU_BACKWARD_BULK_TILE bytes of each tile: what blocks need to know of it.
 *
 * `pairs` is f32 [batches, heads, pair_rows, 2]: what the kernels need of a query beside its elements. Row i of the queries
 * of sequence s, which begin at number b, has number (b / 64 + s) * 64 + i, and b = s = 0 unless packed. Rows up to the
 * next multiple of 64 have a weight of 0.
 *
 * `sums` is f32 [batches, heads, pair_rows / 64, GPU_BACKWARD_BULK_SUMS]: of 64 queries the sums of their gradient, in the
 * order of the lanes that made them. Tiles of keys add to them one after the other: `notes`, u32 [batches, heads,
 * pair_rows / 64], has 1 + the number of the tile that was last, 0 before the first. */
struct gpu_attention_backward_bulk {
    struct gpu_tensor_map q, k, v, gradient;
    struct gpu_attention_backward all;
    void *tiles, *pairs, *sums;
    u32 *notes;
    u32 *tickets; /* how many tiles were taken behind blocks' own; 0 before and after */
    u32 pair_rows, pairs_end, blocks; /* pairs_end: how many there are, below 2^31 */
};

/* Groups of waves that multiply, with 64 keys each, beside one that copies; of rows with up to `dim` elements: those that
 * LDS has room for, steps of queries that it holds, places of sums. */
#define GPU_BACKWARD_BULK_STEP 64
#define GPU_BACKWARD_BULK_TILE 448
#define GPU_BACKWARD_BULK_GROUPS 2
#define GPU_BACKWARD_BULK_WIDE(dim) ((dim) <= 64 ? 64 : 128)
#define GPU_BACKWARD_BULK_STAGES(dim) ((dim) <= 64 ? 4 : 2)
#define GPU_BACKWARD_BULK_PLACES 2
#define GPU_BACKWARD_BULK_SUMS(dim) (GPU_BACKWARD_BULK_STEP * GPU_BACKWARD_BULK_WIDE(dim))
#define GPU_BACKWARD_BULK_ROWS (64 * GPU_BACKWARD_BULK_GROUPS)
#define GPU_BACKWARD_BULK_THREADS (128 * (GPU_BACKWARD_BULK_GROUPS + 1))
/* Bytes of LDS: keys and values, steps of queries and of the gradient of out, two steps of dS, places of sums. */
#define GPU_BACKWARD_BULK_SHARED(dim)                                                                                  \
    ((GPU_BACKWARD_BULK_ROWS + GPU_BACKWARD_BULK_STAGES(dim) * GPU_BACKWARD_BULK_STEP) * 2 *                           \
         GPU_BACKWARD_BULK_WIDE(dim) * 2 +                                                                             \
     2 * GPU_BACKWARD_BULK_ROWS * GPU_BACKWARD_BULK_STEP * 2 +                                                         \
     GPU_BACKWARD_BULK_PLACES * GPU_BACKWARD_BULK_SUMS(dim) * 4)

#endif
