/* Parameters of layer, RMS, group and batch norm. */
#ifndef WICK_KERNELS_NORMALIZE_H
#define WICK_KERNELS_NORMALIZE_H

#include "params.h"

/* Which weight, bias, mean and variance belong to element i of a row. */
enum gpu_normalize_by {
    GPU_NORMALIZE_ELEMENT, /* number i */
    GPU_NORMALIZE_CHANNEL  /* number row % groups * per_group + i / plane; per_group == 1: without i / plane */
};

/* What a row's elements become: (x - mean) / sqrt(variance + epsilon) * weight + bias, where weight and bias may be
 * NULL. */
struct gpu_normalize {
    const void *in;
    void *out;
    void *inverse, *mean_out; /* of every row, f32, of f64 f64; or NULL */
    const void *weight, *bias;
    const void *mean, *variance; /* batch norm: by element or channel as weight is; otherwise NULL */
    /* Where rows are not kept in registers and no mean is given: `lines` parts of lines of `terms` elements, each for
     * `share` rows; of MOMENTS, or, not centered, of SQUARES, but for f64, where the root of those may be out of range. */
    const u64 *stats;
    i64 lines, share, terms;
    i64 rows, n;
    i64 per_group, groups;
    i64 pieces, length; /* of rows that are not kept: pieces of `length` elements */
    struct gpu_divisor plane;
    double epsilon;
    u32 by;
    u32 centered;
    u32 group;   /* threads for a row, or for a piece of one */
    u32 aligned; /* in and out begin alike, modulo 16 bytes */
    u32 vectors; /* weight and bias begin at multiples of 16 bytes, as all rows do */
};

#endif
