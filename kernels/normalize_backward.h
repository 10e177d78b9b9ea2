/* Parameters of the gradients of layer, RMS and group norm. gradient, x and out are [outer,channels,plane]; what was
 * normalised together is `per` channels that follow each other, and weights go by channel. Layer and RMS norm have one
 * group, and planes of one element. */
#ifndef WICK_KERNELS_NORMALIZE_BACKWARD_H
#define WICK_KERNELS_NORMALIZE_BACKWARD_H

#include "params.h"

/* The gradient of x, row by row: what was normalised together. */
struct gpu_normalize_backward {
    const void *gradient, *x;
    void *out;
    const void *mean, *inverse; /* of every row, f32, of f64 f64; mean may be NULL */
    const void *weight;         /* may be NULL */
    i64 rows, n;
    i64 groups, per, plane;
    struct gpu_divisor by_plane; /* when narrow */
    u32 narrow;                  /* n < 2^31 */
    u32 group;                   /* threads for a row: up to GPU_WAVE lanes, or a block of as many */
    u32 vectors;                 /* every row begins at a multiple of 16 bytes and is whole vectors, as is the weight */
};

/* The same by pieces of rows, a block each, from what gpu_normalize_backward_sums gives for each of outer. */
struct gpu_normalize_backward_pieces {
    struct gpu_normalize_backward of;
    const double *sums;
    i64 pieces, length; /* of a row, and the elements of one */
};

/* Sums for the gradients of weight and bias, [parts,2,channels], each over `rows` of outer. */
struct gpu_normalize_backward_sums {
    const void *gradient, *x;
    const void *mean, *inverse;
    double *sums;
    i64 outer, channels, plane, groups, per;
    i64 rows, parts;
    i64 tiles; /* of `lanes` channels where plane is 1, otherwise of one */
    u32 lanes; /* threads beside each other, along channels or along the plane: a power of two up to GPU_BLOCK */
};

struct gpu_normalize_backward_join {
    const double *sums;
    void *weight, *bias; /* bias may be NULL */
    i64 channels, parts;
};

#endif
