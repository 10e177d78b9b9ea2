/* Parameters of the kernels that make random numbers. */
#ifndef WICK_KERNELS_RANDOM_H
#define WICK_KERNELS_RANDOM_H

#include "params.h"

enum gpu_random_kind { GPU_UNIFORM, GPU_NORMAL, GPU_DROPOUT, GPU_BERNOULLI, GPU_RANDINT };

/* By the recipes of include/wick/random.h. */
struct gpu_random {
    const void *in; /* dropout; contiguous, any alignment of its dtype */
    void *out;      /* contiguous, aligned to 16 bytes */
    u8 *mask;       /* dropout: 1 for what stays; or NULL */
    i64 count;
    u64 seed, offset; /* the key, and the number of the first block */
    u64 threshold;    /* bernoulli, dropout */
    double a, b;      /* uniform: low, high. normal: mean, deviation. dropout: 1 - p. */
    u64 low, range;   /* randint */
    u64 one;          /* bernoulli: the bits of 1 in the dtype */
    u32 kind;         /* enum gpu_random_kind */
    u32 significand;  /* uniform */
};

/* out[i] = in[i], elements of `size` bytes. */
struct gpu_narrow_indices {
    const u32 *in;
    void *out;
    i64 count;
    u32 size;
};

#endif
