/* Nearest and linear resizing. */
#include "gpu/runtime/gpu.h"
#include "kernels/resize.h"

static struct gpu_position position_of(struct wick__position at) {
    double inverse = at.by > 0 ? 1 / (double)at.by : 0;
    return (struct gpu_position){at.mul, at.add, at.by, inverse, at.scale, at.offset};
}

wick__kernel_fn wick__gpu_resize;
enum wick_status wick__gpu_resize(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(y);
    bool linear = call->op >= WICK_OP_upsample_linear1d && call->op <= WICK_OP_upsample_trilinear3d;
    int missing = 3 - call->p.resize.spatial;
    struct gpu_resize p = {
        .in = wick__data(x), .out = wick__data(y), .count = wick__count(y), .narrow = wick__count(y) < INT32_MAX};
    if (p.count == 0) return WICK_OK;
    for (int d = 0; d < 3; d++) {
        int s = d - missing;
        p.from[d] = s < 0 ? 1 : x->layout.shape[2 + s];
        p.to[d] = s < 0 ? 1 : y->layout.shape[2 + s];
        p.at[d] = position_of(s < 0 ? (struct wick__position){.by = 1} : call->p.resize.at[s]);
        if (p.narrow) wick__gpu_divisor(&p.by[d], (u32)p.to[d]);
    }
    struct wick__launch launch = {.kernel =
                                      linear ? wick__gpu_of_all(WICK__GPU_K_resize_linear_u8, x->dtype)
                                             : wick__gpu_of_size(WICK__GPU_K_resize_nearest_b1, wick__size(x->dtype)),
                                  .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
