/* Parameters of the gradients of attention whose operands come to LDS by bulk tensor copies
 * (attention_backward_bulk.hip). */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_BULK_H
#define WICK_KERNELS_ATTENTION_BACKWARD_BULK_H

#include "attention_backward.h"
#include "tensor_map.h"

/* A block makes tiles of lines until there are none left below `blocks`: that of its own number, and then the next one that
 * no block has. Maps are of elements, positions, heads and batches; a box has 64 elements of GPU_BACKWARD_BULK_STEP
 * positions.
 *
 * `pairs` is f32 [batches, heads, pair_rows, 2]: what the kernels need of a query beside its elements. Row i of the queries
 * of sequence s, which begin at number b, has number (b / 64 + s) * 64 + i, and b = s = 0 unless packed. Rows up to the
 * next multiple of 64 have a weight of 0. */
struct gpu_attention_backward_bulk {
    struct gpu_tensor_map q, k, v, gradient;
    struct gpu_attention_backward all;
    void *pairs;
    u32 *tickets; /* how many tiles were taken behind blocks' own; 0 before and after */
    u32 pair_rows, pairs_end, blocks; /* pairs_end: how many there are, below 2^31 */
};

/* Groups of waves that multiply, with 64 lines each, beside one that asks for copies; of rows with up to 64 elements and with
 * more, steps of the others that LDS holds. */
#define GPU_BACKWARD_BULK_STEP 64
#define GPU_BACKWARD_BULK_GROUPS 2
#define GPU_BACKWARD_BULK_STAGES(dim) ((dim) <= 64 ? 8 : 4)
#define GPU_BACKWARD_BULK_ROWS (64 * GPU_BACKWARD_BULK_GROUPS)
#define GPU_BACKWARD_BULK_THREADS (128 * (GPU_BACKWARD_BULK_GROUPS + 1))
#define GPU_BACKWARD_BULK_SHARED(dim)                                                                                  \
    ((GPU_BACKWARD_BULK_ROWS + GPU_BACKWARD_BULK_STAGES(dim) * GPU_BACKWARD_BULK_STEP) * 2 *                           \
     ((dim) <= 64 ? 64 : 128) * 2)

#endif
