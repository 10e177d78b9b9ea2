/* Moving elements between layouts, which many ops come down to. */
#ifndef WICK_GPU_OPS_COPY_H
#define WICK_GPU_OPS_COPY_H

#include "gpu/runtime/gpu.h"

/* Elements of `size` bytes (1, 2, 4 or 8) from `from` to `to`, which have one shape; strides may be negative. */
struct wick__gpu_move {
    struct wick__layout from, to; /* their offsets are not looked at */
    const void *in;               /* where element 0 lies; NULL: `value` everywhere, and `from` is unused */
    void *out;
    size_t size;
    uint64_t value[2]; /* one element's bytes, zeros behind them */
};
enum wick_status wick__gpu_move(struct wick__gpu *gpu, const struct wick__gpu_move *move);

/* A copy of x without gaps; NULL after a failure, which is recorded. */
struct wick_tensor *wick__gpu_packed(const struct wick__call *call, const struct wick_tensor *x);
/* Runs `kernel` with such copies of those operands that have gaps or another order: of a family that takes them only at
 * times. */
enum wick_status wick__gpu_run_packed(const struct wick__call *call, wick__kernel_fn *kernel);

#endif
