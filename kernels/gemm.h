/* Parameters of the matrix products: gemm (any strides, plain arithmetic), mma and tf32 (matrix instructions), gemv. */
#ifndef WICK_KERNELS_GEMM_H
#define WICK_KERNELS_GEMM_H

#include "params.h"

/* As enum wick_activation. */
enum gpu_activation {
    GPU_ACTIVATION_NONE,
    GPU_ACTIVATION_RELU,
    GPU_ACTIVATION_GELU,
    GPU_ACTIVATION_GELU_TANH,
    GPU_ACTIVATION_SILU,
    GPU_ACTIVATION_TANH
};

/* How a block fetches an operand: whether the four elements a thread takes at a time follow one another along k or
 * along the other dim, and whether they can be had by one aligned load. */
enum gpu_gemm_mode { GPU_GEMM_ALONG_K = 1, GPU_GEMM_VECTOR = 2 };

/* One operand as a matrix of `rows` (m of A, n of B) by k. Strides in elements. */
struct gpu_gemm_side {
    const void *from;
    i64 row, k;
    u32 mode;
};

/* What becomes of the sums: c = round(activation(sum + bias)), c[batch, m, n] row-major; or, when `partial`, the sums
 * themselves, [split, batch, m, n] in the type they are summed in. */
struct gpu_gemm_out {
    void *to;
    const void *bias; /* NULL: none */
    i64 bias_step;    /* from one column of c to the next, or from one row */
    i64 columns;      /* n */
    i64 bias_rows;    /* m when the bias is one a row of c; 0 when it is one a column */
    u32 activation;
    u32 partial;
};

/* Block b of the grid works on tile (b + first) % tiles of split (b + first) / tiles % splits of batch
 * (b + first) / tiles / splits. Tiles are numbered column by column in bands of `band` tile rows. */
struct gpu_gemm {
    i64 m, n, k;
    i64 split; /* terms of k in each split, the last may have fewer */
    u32 splits;
    u32 tile_rows, tile_columns;
    u32 first;
    u32 stages; /* mma with asynchronous copies: steps of k that LDS holds, 1 to 4; all steps, or at least 3. tf32: 2 to 4 */
    u32 f8;     /* mma of f16: the result is f8e4m3 */
    struct gpu_gemm_side a, b;
    struct gpu_gemm_out out;
    struct gpu_shape batch;
    struct gpu_layout stride[2]; /* of A and B from batch to batch */
};

/* LDS that a step of k takes in a tile of `rows` x `columns`, where copies are asynchronous. */
enum { GPU_MMA_STEP = 64 };
#define GPU_MMA_STAGE(rows, columns) (((rows) + (columns)) * GPU_MMA_STEP * 2)
/* The same of f32, whose rows lie PITCH elements apart (gemm_tf32.hip). */
enum { GPU_TF32_STEP = 32, GPU_TF32_PITCH = GPU_TF32_STEP + 4 };
#define GPU_TF32_STAGE(rows, columns) (((rows) + (columns)) * GPU_TF32_PITCH * 4)
/* LDS before these on Hopper, in tiles of 128 rows: two steps of B, each as high and as low parts. */
#define GPU_TF32_SPLIT(columns) (4 * (columns) * GPU_TF32_STEP * 4)
/* LDS for turning sums round before they are stored: 16 rows of 64 columns a wave, or 32 rows of a tile. */
enum { GPU_MMA_STORE_PITCH = 64 + 8, GPU_MMA_STORE = GPU_BLOCK / 32 * 16 * GPU_MMA_STORE_PITCH * 4 };

/* y[batch, i] = sum over k of matrix[i, k] vector[k]. */
struct gpu_gemv {
    i64 rows, k;
    i64 split;
    u32 splits;
    u32 vector_load; /* the matrix can be read in vectors of 16 bytes along its contiguous dim, and so can `vector` */
    u32 early;       /* gemv_wide: no kernel writes the matrix */
    i64 tasks;       /* waves (gemv_rows, gemv_wide) or blocks (gemv_columns) of work */
    const void *matrix, *vector;
    i64 row, step; /* strides of the matrix along rows and k */
    i64 vector_step;
    struct gpu_gemm_out out; /* n of it is `rows` */
    struct gpu_shape batch;
    struct gpu_layout stride[2]; /* of matrix and vector */
};
enum { GPU_WIDE_ROWS = 2 }; /* gemv_wide: rows of the matrix for a wave */

/* gemv_normed: a matrix whose rows of k, a multiple of 8, begin at multiples of 16 bytes, by a vector of f32 after an RMS
 * norm with the weight `norm`. */
struct gpu_gemv_normed {
    u32 rows, k; /* k at most GPU_NORMED */
    u32 early;   /* no kernel writes the matrix and the norm's weight */
    const void *matrix;
    const float *vector, *norm;
    double epsilon;
    struct gpu_gemm_out out;
};
enum { GPU_NORMED = 2 * 8 * GPU_BLOCK };

/* The products of gpu_gemv for `count` vectors at once: y[batch, i, f] = sum over k of matrix[i, k] few[f, k]. A block
 * takes GPU_FEW of them, one of `groups`. */
enum {
    GPU_FEW = 8,
    GPU_FEW_ROWS = 2, /* gemv_few_rows: rows of the matrix for a wave */
    GPU_FEW_EACH = 2  /* gemv_few_columns: for a lane */
};
struct gpu_gemv_few {
    i64 rows, count, k;
    i64 split;
    u32 splits;
    u32 groups;
    const void *matrix, *few;
    i64 row, step; /* strides of the matrix along rows and k */
    i64 few_row, few_step;
    u32 few_columns; /* the few are the result's columns instead of its rows */
    struct gpu_gemm_out out;
    struct gpu_shape batch;
    struct gpu_layout stride[2]; /* of matrix and few */
};

/* out = round(activation(sum over splits + bias)). `columns` is n: the bias of element i is that of column i % n. */
struct gpu_gemm_sum {
    const void *partial; /* [splits, count] */
    i64 count, columns;
    u32 splits;
    u32 wide; /* a wave an element instead of a thread */
    struct gpu_gemm_out out;
};

/* An operand as rows of k elements with `pitch` between them, the rest of a row 0: [batch, rows, pitch]. */
struct gpu_gemm_pack {
    struct gpu_gemm_side from;
    void *to;
    i64 rows, k, pitch;
    u32 block_rows; /* rows for the blocks of one y */
    struct gpu_shape batch;
    struct gpu_layout stride[1];
};

#endif
