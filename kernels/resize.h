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
    u32 wide;                     /* a thread makes 16 bytes of a row, and numbers of 32 bits do for places */
    u32 even;                     /* wide: rows of the result are whole vectors of 16 bytes */
    i64 vectors;                  /* wide: of all rows */
    struct gpu_divisor by_vector; /* wide: of a row */
};

#endif
