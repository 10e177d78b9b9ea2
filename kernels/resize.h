/* Parameters of the resizing kernels. */
#ifndef WICK_KERNELS_RESIZE_H
#define WICK_KERNELS_RESIZE_H

#include "params.h"

/* Element o lies at (o mul + add) / by, exactly, or, where scale is not 0, at (o + offset) / scale - shift. */
struct gpu_position {
    i64 mul, add, by;
    double inverse; /* 1 / by */
    double scale, offset, shift;
    u32 narrow;                 /* o mul + first is below 2^31 for every o: one place further than o */
    u32 first;                  /* add + by */
    struct gpu_divisor divisor; /* by */
};

/* x [planes, from...] to out [planes, to...], both contiguous; missing leading dims have size 1. */
struct gpu_resize {
    const void *in;
    void *out;
    i64 count; /* of out */
    i64 from[3], to[3];
    struct gpu_position at[3];
    u32 narrow;                   /* count < 2^31 */
    struct gpu_divisor by[3];     /* to */
    u32 wide;                     /* rows of the result are vectors of 16 bytes, and numbers of 32 bits do for places */
    struct gpu_divisor by_vector; /* how many */
};

/* The same where the last vector of a row is cut. Kernels of their own: those of whole vectors keep their speed. */
struct gpu_resize_cut {
    struct gpu_resize of; /* wide */
    i64 vectors;          /* of all rows */
};

/* Bicubic resizing by tiles: a thread makes `rows` elements below each other, `across` threads beside each other. */
struct gpu_resize_tiles {
    struct gpu_resize of;
    u32 across, rows;
    u32 high;              /* rows of a tile, of all its threads: up to GPU_BLOCK */
    i64 wide, tall, tiles; /* tiles of a plane, beside and below each other; all of them */
};

#endif
