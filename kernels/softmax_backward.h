/* Parameters of the gradients of softmax. */
#ifndef WICK_KERNELS_SOFTMAX_BACKWARD_H
#define WICK_KERNELS_SOFTMAX_BACKWARD_H

#include "params.h"

/* Rows kept in registers: elements of each operand that a thread keeps, but for those at the ends, and the most threads
 * for a row. */
#define GPU_SOFTMAX_BACKWARD_KEPT(size) ((size) == 8 ? 8 : 16)
#define GPU_SOFTMAX_BACKWARD_THREADS(size) ((size) == 1 || (size) == 8 ? 512 : 1024)

/* Lines of a few elements across memory: the elements of each operand that a thread keeps, and the most threads for a
 * line. */
#define GPU_SOFTMAX_BACKWARD_SHORT(size) ((size) == 1 ? 2 : (size) == 2 ? 4 : 8)
#define GPU_SOFTMAX_BACKWARD_DOWN(size) ((size) <= 2 ? 16 : 8)

/* All are [outer,n,inner], contiguous. */
struct gpu_softmax_backward {
    const void *gradient, *result;
    void *out;
    i64 outer, n, inner;
    i64 tiles; /* of `across` lines of one outer index */
    u32 across; /* a power of two up to GPU_BLOCK; pieces of inner == 1: 1 */
    u32 group;  /* inner == 1: threads for a row: up to GPU_WAVE lanes, or a block of as many */
    u32 vectors; /* every row begins at a multiple of 16 bytes and is whole vectors */
    u32 log;
    u32 alike; /* inner == 1: all three begin alike, modulo 16 bytes */
    /* Where lines are long and few: a first launch makes the sums of their pieces, and a second one adds these up. */
    i64 pieces, length; /* of a line; elements of a piece */
    double *parts;      /* [outer,pieces,inner] */
};

/* Short lines, as gpu_softmax_short takes them. */
struct gpu_softmax_backward_short {
    const void *gradient, *result;
    void *out;
    i64 items, width, n, inner;
    u32 down, vectors, log;
};

#endif
