/* Rows that kernels keep in registers (kernels/rows.h). */
#ifndef WICK_GPU_OPS_ROWS_H
#define WICK_GPU_OPS_ROWS_H

#include "gpu/ops/reduce.h"

/* The threads for a row of n elements, contiguous rows from `data` on, of which each keeps `elements`: up to a wave's
 * lanes, or a block of a power of two that is more. 0 when that would be more than `most`. */
static inline uint32_t wick__gpu_row_group(enum wick_dtype dtype, const void *data, int64_t n, int elements,
                                           uint32_t most) {
    int64_t size = (int)wick__size(dtype), per_vector = 16 / size, kept = elements / per_vector;
    int64_t lanes = (n / per_vector + kept - 1) / kept;
    int64_t ends = wick__aligned16(data) && n * size % 16 == 0 ? 1 : 2 * per_vector - 2;
    if (ends > n) ends = n;
    if (lanes < ends) lanes = ends;
    return lanes > most ? 0 : wick__gpu_power(lanes, most);
}

/* Threads of a block, and blocks, for `rows` rows. */
static inline void wick__gpu_row_launch(const struct wick__gpu *gpu, struct wick__launch *launch, int64_t rows,
                                        uint32_t group) {
    launch->threads = group > (uint32_t)gpu->properties.wave ? group : GPU_BLOCK;
    int64_t per_block = launch->threads / group;
    wick__gpu_reduce_grid(launch, (rows + per_block - 1) / per_block);
}

/* The threads for each of some short lines of n elements across memory (kernels/short.h), of which one keeps `kept`:
 * more than are needed where `items` lines or vectors of them leave a device idle. */
static inline uint32_t wick__gpu_short_down(int64_t n, int64_t items, int64_t kept, uint32_t most) {
    enum { BUSY = 1 << 16 }; /* threads */
    uint32_t down = wick__gpu_power((n + kept - 1) / kept, most);
    while (down < most && down < n && items * down < BUSY) down *= 2;
    return down;
}

/* Of group norm, that of single channels in a batch: batch norm in training. */
enum wick_status wick__gpu_normalize_planes(const struct wick__call *call);

#endif
