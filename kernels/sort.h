/* Parameters of the sorting kernels. */
#ifndef WICK_KERNELS_SORT_H
#define WICK_KERNELS_SORT_H

#include "params.h"

enum gpu_order { GPU_ORDER_UNSIGNED, GPU_ORDER_SIGNED, GPU_ORDER_FLOAT };

enum {
    GPU_SORT_SHORT = 128,    /* up to this many elements a line, each is ranked by comparison with all others */
    GPU_SORT_ITEMS = 16,     /* of a thread, for elements of up to 4 bytes; half as many of 8 bytes */
    GPU_SORT_DIGITS = 256,   /* a pass sorts by 8 bits */
    GPU_SORT_PASSES = 8,     /* at most */
    GPU_SORT_COUNT_TILES = 8 /* a block of sort_count counts so many tiles of GPU_BLOCK * GPU_SORT_ITEMS elements */
};

/* Lines of n elements, [outer, n, inner] in memory, sorted stably; the first k of each go to values and indices, either
 * of which may be NULL. */
struct gpu_sort {
    const void *in;
    void *values;
    u32 *indices;
    i64 lines, n, inner, k;
    u64 most; /* bits of the largest float that is not a NaN, without the sign */
    u32 order, descending;
    u32 passes; /* of 8 bits */
};

/* Lines of many tiles: a pass a launch, least significant digit first. */
struct gpu_sort_pass {
    struct gpu_sort sort;
    const void *keys; /* of the pass before, and their indices; NULL in the first pass */
    const u32 *at;
    void *next_keys; /* NULL in the last pass */
    u32 *next_at;
    u32 *counts;     /* [lines][passes][GPU_SORT_DIGITS]: how many keys of the line have the digit */
    u64 *status;     /* [lines][tiles][GPU_SORT_DIGITS]: tag << 40 | count */
    u32 *ticket;     /* [passes]: the next tile to be taken */
    u32 pass, tiles; /* tiles of a line */
};

/* memory[0 .. vectors-1] = 0, in units of 16 bytes. */
struct gpu_sort_zero {
    void *memory;
    i64 vectors;
};

#endif
