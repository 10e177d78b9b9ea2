/* Parameters of running sums and products. Floats run in f64, integers without sign; both are words of 8 bytes. */
#ifndef WICK_KERNELS_SCAN_H
#define WICK_KERNELS_SCAN_H

#include "params.h"

/* Rows that a thread of scan_kept has at a time, at most. */
#define GPU_SCAN_KEPT 16
/* Rows of a segment that a thread of scan_held keeps, at most. */
#define GPU_SCAN_HELD 8

/* in and out are [outer,n,inner]. Lines are cut into segments; where there are several, a first launch writes their totals,
 * scan_before makes of those what stands in front of each, and a second launch begins there. */
struct gpu_scan {
    const void *in;
    void *out;   /* NULL: totals alone */
    u64 *totals; /* [outer,segments,inner] */
    u64 *before; /* the same, or NULL for nothing */
    i64 outer, n, inner;
    i64 segments, length; /* scan_rows: of `length` vectors of 16 bytes, counted from the one the line begins in;
                           * otherwise of `length` rows */
    i64 tiles;            /* scan_columns: of `group` vectors; scan_kept: of `group` lines */
    u32 group;            /* scan_rows: threads for a segment, a wave or a block, or lanes for a whole line; otherwise:
                           * threads across */
    u32 product;
    u32 together; /* scan_columns, elements of 2 bytes or more: one block has all segments of its lines, in one launch */
    u32 aligned;  /* scan_rows: in and out begin alike, modulo 16 bytes */
    u32 each;     /* scan_kept: rows that a thread takes at a time; 0: another kernel */
    u32 held;     /* sums of 16 bits `together`, whose segments scan_held keeps: a wave has `group` vectors of each */
};

/* Running maxima, minima (in and out of one dtype), and sums of exponentials. A thread takes a segment of a line; where
 * there are several, a first launch writes what they come to. */
struct gpu_running {
    const void *in;
    void *out;              /* NULL: what segments come to, alone */
    u32 *index;             /* of extremes: where they are; or NULL */
    struct gpu_run *totals; /* [outer,segments,inner] */
    i64 outer, n, inner;
    i64 segments, length; /* of the lines; elements of a segment */
    u32 least;            /* minima */
};
struct gpu_run {
    double top, sum; /* the largest element so far, and the sum of exp(x - top) */
    i64 at;          /* where the extreme is; -1: nothing yet */
};

/* words[o,s,i] becomes what words [o,0,i] .. [o,s-1,i] come to. */
struct gpu_scan_before {
    u64 *words;
    i64 outer, segments, inner;
    u32 by_block; /* a block for each line, instead of a thread */
    u32 product;
    u32 is_float;
};

#endif
