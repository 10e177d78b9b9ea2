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

#endif
