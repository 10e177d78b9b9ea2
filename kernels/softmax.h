/* Parameters of softmax. */
#ifndef WICK_KERNELS_SOFTMAX_H
#define WICK_KERNELS_SOFTMAX_H

#include "params.h"

/* Rows that `group` threads keep in registers: up to GPU_WAVE lanes, or a block of as many threads. */
struct gpu_softmax_rows {
    const void *in;
    void *out;
    i64 rows, n;
    u32 group;
    u32 log;
    u32 aligned; /* in and out begin alike, modulo 16 bytes */
};

/* Lines of a few elements, across memory or rows that are no whole vectors, kept in registers: the elements of one that
 * a thread keeps, and the most threads for a line. */
#define GPU_SOFTMAX_SHORT(size) ((size) == 1 ? 2 : (size) == 2 ? 4 : 8)
#define GPU_SOFTMAX_DOWN(size) ((size) <= 2 ? 16 : 8)
struct gpu_softmax_short {
    const void *in;
    void *out;
    i64 items;   /* outer * width */
    i64 width;   /* inner, in vectors, pairs (softmax_pairs) or elements */
    i64 n, inner;
    u32 down;    /* threads for a line, a power of two */
    u32 vectors; /* every row begins at a multiple of 16 bytes and is whole vectors */
    u32 log;
};

/* Pieces of long rows, kept in registers by a block each: the greatest element of a piece and its sum of exponentials. */
struct gpu_softmax_pieces {
    const void *in;
    u64 *stats; /* [2][lines,pieces], each f64 */
    i64 lines, n, pieces, length;
};

/* x [outer,n,inner] with the greatest element and the sum of exponentials of each of `lines` = outer * inner lines, as
 * parts of GPU_REDUCE_EXPS. */
struct gpu_softmax_apply {
    const void *in;
    void *out;
    const u64 *stats; /* softmax_apply_pieces: of each piece instead, at most GPU_BLOCK of them */
    i64 lines, n, inner;
    i64 pieces; /* inner == 1: blocks for a line; otherwise: of `length` elements of each line of a tile */
    i64 length;
    i64 tiles;  /* inner > 1: of `across` vectors, or of columns where rows are no whole ones */
    u32 across; /* threads beside each other */
    u32 log;
    u32 aligned; /* inner == 1: as above; otherwise: rows are whole vectors */
};

#endif
