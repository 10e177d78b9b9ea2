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

/* Threads beside each other in the joining of these sums, along channels. */
#define GPU_NORMALIZE_JOIN 16
struct gpu_normalize_backward_join {
    const double *sums;
    void *weight, *bias; /* bias may be NULL */
    i64 channels, parts;
};

/* Planes that begin anywhere, in two launches: the sums of parts, and the gradient of x, which may need those of more
 * than one part. A part is `rows` of outer, or one of `pieces` of each plane of one of outer, of one channel. */
struct gpu_normalize_backward_planes {
    const void *gradient, *x;
    void *out;
    const void *mean, *inverse; /* of every row; batch: of every channel */
    const void *weight;         /* may be NULL */
    double *sums;               /* [parts,2,channels] */
    void *weight_out, *bias_out; /* batch: their gradients, or NULL */
    i64 outer, channels, plane, per, groups;
    i64 n; /* elements that were normalised together */
    i64 rows, pieces, length, parts;
    i64 joined; /* parts of a channel that were normalised together: pieces, or batch: all */
    u32 batch;  /* a channel's elements in all of outer were normalised together; per is 1 */
    u32 group;  /* threads for a part of a channel: up to GPU_WAVE lanes, or a block of as many */
    u32 alike;  /* gradient, x and out begin alike, modulo 16 bytes */
};

#endif
