/* Sorting on the device, for ops that sort on their way. */
#ifndef WICK_GPU_OPS_SORT_H
#define WICK_GPU_OPS_SORT_H

#include "gpu/runtime/gpu.h"
#include "kernels/sort.h"

/* Queues a stable sort of lines of elements of 1, 2, 4 or 8 bytes, n < 2^32, by the lowest `passes` bytes of their
 * keys. `in` must not be written before it is done; the results must not overlap it. */
enum wick_status wick__gpu_sort_lines(struct wick__gpu *gpu, const struct gpu_sort *sort, size_t size);

/* Queues the clearing of memory, of a multiple of 16 bytes. */
enum wick_status wick__gpu_zero(struct wick__gpu *gpu, void *memory, int64_t nbytes);

#endif
