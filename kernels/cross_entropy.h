/* Parameters of the losses of classes and their gradients. */
#ifndef WICK_KERNELS_CROSS_ENTROPY_H
#define WICK_KERNELS_CROSS_ENTROPY_H

#include "ids.h"

/* x is [outer,n,inner], contiguous, as is all else: a line has an id, or n probabilities. */
struct gpu_cross_entropy {
    const void *x, *probabilities; /* probabilities NULL: ids */
    const void *weight;            /* [n], or NULL */
    void *out;                     /* losses, or the gradient of x */
    void *weights;                 /* losses: of the lines, as they are computed */
    double *log_sums;              /* losses: written; gradients: read */
    const void *gradient;          /* of the lines, or single */
    void *of_target;               /* gradients: of the probabilities, or NULL */
    struct gpu_ids ids;
    u64 ignored;
    i64 lines, n, inner;
    i64 tiles;  /* across > 0: of `across` lines of one outer index */
    double smoothing;
    u32 across; /* lines side by side that a block takes, a power of two; 0: `group` threads take a line */
    u32 group;
    u32 vectors; /* inner == 1: lines are read, and gradients written, by vectors of 16 bytes */
    u32 ignore;  /* there is an ignored id */
    u32 nll;
    u32 wide;   /* losses are stored as they are computed */
    u32 single; /* the gradient is one element */
};

/* The mean of losses by weights, by one block. */
struct gpu_cross_entropy_mean {
    const void *losses, *weights; /* [lines], as they are computed */
    void *out, *total;            /* scalars: the mean in the dtype of x, the sum of the weights as it is computed */
    i64 lines;
};

#endif
