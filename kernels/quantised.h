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
    u32 nbytes, per_block; /* of a block; groups of a block */
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

#endif
