/* Parameters of the kernels over blocks of quantised dtypes. */
#ifndef WICK_KERNELS_QUANTISED_H
#define WICK_KERNELS_QUANTISED_H

#include "gemm.h"

/* Types are enum block_type of blocks.h. */
struct gpu_dequantise {
    const u8 *x;
    void *out;
    i64 groups; /* of 16 elements */
    u32 type, to; /* to: as enum gpu_plain */
    u32 nbytes, per_block_log2; /* of a block; groups of a block */
    u32 aligned;                /* as below */
};
enum gpu_plain { GPU_PLAIN_bf16, GPU_PLAIN_f16, GPU_PLAIN_f32 };

/* Activations to whole numbers of 8 bits, 32 by one scale. */
struct gpu_activations {
    const void *x;
    i8 *q;
    float *scale;
    i64 count; /* of scales */
};

/* out[m,n] = activation(x[m,k] weight[n,k]^T + bias[n]); x as it is, or as gpu_activations left it. */
struct gpu_linear_quantised {
    const void *x;
    const i8 *q;
    const float *scale;
    const u8 *weight;
    const void *bias; /* NULL: none */
    void *out;
    i64 m, n, k, row_nbytes;
    u32 type, nbytes, per_block_log2, activation;
    u32 aligned; /* weight lies at a multiple of 2, or of 4 where nbytes is one */
};

/* Weights of stream_8_bit: out[n] = activation(x[k] weight[n,k]^T + bias[n]). */
struct gpu_stream_part {
    const u8 *weight;
    const void *bias; /* NULL: none */
    void *out;
    u32 n, row_nbytes;
    u32 type, blocks; /* blocks of the grid */
};
/* Products of one row by one or two weights, after an RMS norm with the weight `norm`, where k is at most
 * GPU_QUANTISED_NORMED; or NULL. */
struct gpu_stream {
    const void *x, *norm;
    double epsilon;
    u32 k, activation;
    u32 early; /* no kernel writes the weights, and the norm's */
    const struct gpu_stream_image *rounded; /* x as the first part's type takes it; or NULL, and blocks round it */
    struct gpu_stream_part part[2];
};
/* swiglu(x) of a row of 2 k numbers, rounded to 8 bits for weights of a type. */
struct gpu_stream_swiglu {
    const float *x;
    struct gpu_stream_image *to;
    u32 k, type;
};
#define GPU_QUANTISED_COLUMNS 4
/* One row of so many activations at most is rounded by each block for itself (vector_8_bit), without a pass of its own. */
#define GPU_QUANTISED_VECTOR 16384
#define GPU_QUANTISED_NORMED (2 * GPU_BLOCK * 16) /* two groups a thread */
/* A rounded row: its numbers, a scale of each 32, and sums of each 16. */
struct gpu_stream_image {
    u32 words[GPU_QUANTISED_VECTOR / 4];
    float scales[GPU_QUANTISED_VECTOR / 32];
    i32 sums[GPU_QUANTISED_VECTOR / 16];
};

/* X(name) of the types that block_words.h reads by words, which vector_8_bit takes. */
#define GPU_QUANTISED_WORD_TYPES(X) X(q4_0) X(q4_1) X(q5_0) X(q5_1) X(q8_0) X(q2_k) X(q4_k) X(q5_k) X(q6_k)

/* X(name) of those that stream_8_bit takes, where x, the weights and their rows begin at multiples of 16 bytes. */
#define GPU_QUANTISED_STREAM_TYPES(X)                                                                                  \
    X(q8_0) X(q4_k) X(q5_k) X(q6_k) X(q4_0) X(q4_1) X(q5_0) X(q5_1) X(iq4_nl) X(iq4_xs) X(q2_k) X(q3_k)
/* Those of the most models. A kernel of them alone (stream_usual, by x of f32) takes fewer registers and less time. */
#define GPU_QUANTISED_USUAL_TYPES(X) X(q8_0) X(q4_k) X(q6_k)

/* ---- by matrix instructions of signed bytes, from two rows of activations on (quantised_mma.hip) ---- */

/* X(name) of the types that kernels of tiles take, where the weights begin at a multiple of 16 bytes and k is one of
 * GPU_TILE_STEP. Each has a kernel for so many columns, X(name, columns). */
#define GPU_QUANTISED_TILE_TYPES(X)                                                                                    \
    X(q4_0) X(q8_0) X(q4_k) X(q5_k) X(q6_k) X(q4_1) X(q5_0) X(q5_1) X(iq4_nl) X(iq4_xs) X(q3_k) X(q2_k)
#define GPU_QUANTISED_TILES(X, name) X(name, 8) X(name, 16) X(name, 32) X(name, 64)
enum { GPU_TILE_ROWS = 128, GPU_TILE_STEP = 256, GPU_TILE_GROUP = 16, GPU_TILE_STAGES = 4 };
/* Bytes between rows of weights in LDS: a step of a row, and what keeps eight rows off each other's banks. And the most
 * columns of a tile of which registers leave room for two blocks on a unit. */
enum { GPU_TILE_PITCH_q4_0 = 144, GPU_TILE_PAIR_q4_0 = 32 };
enum { GPU_TILE_PITCH_q8_0 = 272, GPU_TILE_PAIR_q8_0 = 32 };
enum { GPU_TILE_PITCH_q4_k = 144, GPU_TILE_PAIR_q4_k = 32 };
enum { GPU_TILE_PITCH_q5_k = 176, GPU_TILE_PAIR_q5_k = 32 };
enum { GPU_TILE_PITCH_q6_k = 240, GPU_TILE_PAIR_q6_k = 16 };
enum { GPU_TILE_PITCH_q4_1 = 176, GPU_TILE_PAIR_q4_1 = 32 };
enum { GPU_TILE_PITCH_q5_0 = 176, GPU_TILE_PAIR_q5_0 = 32 };
enum { GPU_TILE_PITCH_q5_1 = 208, GPU_TILE_PAIR_q5_1 = 32 };
enum { GPU_TILE_PITCH_iq4_nl = 144, GPU_TILE_PAIR_iq4_nl = 32 };
enum { GPU_TILE_PITCH_iq4_xs = 144, GPU_TILE_PAIR_iq4_xs = 32 };
enum { GPU_TILE_PITCH_q3_k = 144, GPU_TILE_PAIR_q3_k = 16 };
enum { GPU_TILE_PITCH_q2_k = 112, GPU_TILE_PAIR_q2_k = 32 };
/* Bytes of a step of 16 columns of activations: their numbers, then their scales and what shifts are multiplied by. */
enum { GPU_TILE_SCALES = 16 * GPU_TILE_STEP, GPU_TILE_X = GPU_TILE_SCALES + 16 * GPU_TILE_STEP / 32 * 8 };

/* Activations to [k / 256, groups, GPU_TILE_X]; columns behind the last are 0. */
struct gpu_round_tiles {
    const void *x;
    u8 *to;
    i64 columns, k;
    u32 groups;
};

/* Block (x, y, z) of the grid: 128 rows of weights, one of the splits of k, and columns. */
struct gpu_linear_tiles {
    const u8 *weight, *end, *x; /* end: of weight; x: as gpu_round_tiles leaves it */
    i64 rows, columns, row_nbytes;
    u32 steps, split; /* steps of k, and those of a split */
    u32 groups, stages;
    u32 dtype; /* of the result, enum gpu_plain */
    struct gpu_gemm_out out;
};

#endif
