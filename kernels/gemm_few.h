/* Parameters of products of a matrix of 16 bits, whose rows may begin anywhere, and a few vectors by matrix instructions. */
#ifndef WICK_KERNELS_GEMM_FEW_H
#define WICK_KERNELS_GEMM_FEW_H

#include "gemm.h"

/* Rows of the matrix for a block; most of the few. */
enum { GPU_FEW_TILE = 32, GPU_FEW_MOST = 32 };

/* As gpu_gemv_few, of a matrix whose terms lie side by side. Terms go by pairs: pair j is of terms 2j and 2j + 1
 * where a row begins at a multiple of 4 bytes, else of 2j - 1 and 2j. */
struct gpu_gemm_few {
    struct gpu_gemv_few g;
    void *fragments; /* of the few: [batches, 2, steps, tiles, lanes of a wave]; first those of even rows */
    u32 steps;       /* of MMA_K terms */
    u32 split;       /* of them, in a block */
    u32 tiles;       /* of 16 vectors: 1 or 2 */
};

#endif
