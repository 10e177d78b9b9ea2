/* Parameters of batch norm in training, which takes the planes of x [outer,channels,plane] where they lie. A part, which
 * a block takes, is `rows` of outer, or one of `pieces` of the plane of one of outer, of one channel. */
#ifndef WICK_KERNELS_NORMALIZE_PLANES_H
#define WICK_KERNELS_NORMALIZE_PLANES_H

#include "params.h"

struct gpu_normalize_planes {
    const void *in;
    void *out;
    void *inverse, *mean; /* of every channel, f32, of f64 f64; or NULL */
    const void *weight, *bias; /* may be NULL */
    u64 *stats; /* of the parts, three words each: number w of part k at (w * parts + k) * channels + channel */
    i64 outer, channels, plane;
    i64 rows, pieces, length, parts;
    double epsilon;
    u32 across; /* threads along a plane: a power of two up to those of a block */
    u32 alike;  /* in and out begin alike, modulo 16 bytes */
};

/* Threads of the block that takes a whole channel, at most. */
#define GPU_NORMALIZE_WHOLE 512

#endif
