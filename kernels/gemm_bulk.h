/* Parameters of products of bf16 and f16 whose operands come to LDS by bulk tensor copies (gemm_bulk.hip). */
#ifndef WICK_KERNELS_GEMM_BULK_H
#define WICK_KERNELS_GEMM_BULK_H

#include "gemm.h"
#include "tensor_map.h"

/* A block makes tiles of ROWS x COLUMNS until there are none left: numbers b, b + blocks, ... below `tiles`, which mean
 * what struct gpu_gemm says of blocks.
 *
 * Boxes are of 64 elements in a line, lines from `ALONG_K` operands' rows or, of others, from terms; z is the batch. */
struct gpu_gemm_bulk {
    struct gpu_tensor_map a, b, c;
    struct gpu_gemm g;
    u32 tiles;
    u32 c_mapped; /* results leave by c: 16 bits each, boxes of 64 columns by 16 rows */
    u32 a_batches, b_batches; /* whether the operand has one matrix a batch, or one for all */
};

enum {
    GPU_BULK_ROWS = 128,
    GPU_BULK_COLUMNS = 256,
    GPU_BULK_THREADS = 3 * 128, /* two groups of waves that multiply, one that asks for copies */
    GPU_BULK_STAGES = 4,        /* steps that LDS holds */
    GPU_BULK_BOX = 16 * 64 * 2, /* results of a wave on their way out, of which it has two boxes */
    GPU_BULK_STORE = 8 * 2 * GPU_BULK_BOX,
    GPU_BULK_BIAS = 2 * GPU_BULK_COLUMNS * 4, /* of two tiles, as f32 */
    GPU_BULK_SHARED = GPU_BULK_STAGES * GPU_MMA_STAGE(GPU_BULK_ROWS, GPU_BULK_COLUMNS) + GPU_BULK_STORE +
                      GPU_BULK_BIAS + 2 * GPU_BULK_STAGES * 8
};

#endif
