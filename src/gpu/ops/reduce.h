/* Reductions as GPU op code asks for them, whichever op they are for. */
#ifndef WICK_GPU_OPS_REDUCE_H
#define WICK_GPU_OPS_REDUCE_H

#include "gpu/runtime/gpu.h"
#include "kernels/reduce.h"

struct wick__gpu_reduction {
    const struct wick_tensor *x;
    uint32_t dims; /* those of x that are reduced */
    /* The kind, the finish, where results go and how they are stored, mask, flip, order, correction. With PART, `out`
     * is for the words of a part a line, and `parts` is how many lines there are. */
    struct gpu_reduce_end end;
};

/* Launches it; every line's result goes to `out` in row-major order of the dims that are not reduced. */
enum wick_status wick__gpu_reduce_lines(struct wick__gpu *gpu, const struct wick__gpu_reduction *reduction);

/* How results of a dtype are stored. */
enum gpu_reduce_store wick__gpu_reduce_store(enum wick_dtype dtype);

/* The grid of a kernel that takes a block for each of n > 0 pieces of work (reduce_block of kernels/). */
void wick__gpu_reduce_grid(struct wick__launch *launch, int64_t n);

/* The least power of two >= n, at most `most`. */
static inline uint32_t wick__gpu_power(int64_t n, uint32_t most) {
    uint32_t power = 1;
    while (power < most && power < n) power *= 2;
    return power;
}

#endif
