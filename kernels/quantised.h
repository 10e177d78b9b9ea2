/* Parameters of the kernels over blocks of quantised dtypes. */
#ifndef WICK_KERNELS_QUANTISED_H
#define WICK_KERNELS_QUANTISED_H

#include "params.h"

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
#define GPU_QUANTISED_COLUMNS 4
/* One row of so many activations at most is rounded by each block for itself (vector_8_bit), without a pass of its own. */
#define GPU_QUANTISED_VECTOR 16384
/* X(name) of the types that block_words.h reads by words, which vector_8_bit takes. */
#define GPU_QUANTISED_WORD_TYPES(X) X(q4_0) X(q4_1) X(q5_0) X(q5_1) X(q8_0) X(q2_k) X(q4_k) X(q5_k) X(q6_k)

/* X(name) of those that stream_8_bit takes, where x, the weights and their rows begin at multiples of 16 bytes. */
#define GPU_QUANTISED_STREAM_TYPES(X) X(q8_0) X(q4_k) X(q5_k) X(q6_k)

#endif
