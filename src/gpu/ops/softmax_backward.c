/* Gradients of softmax and of its logarithm. */
#include "gpu/ops/rows.h"

#include "kernels/softmax_backward.h"

wick__kernel_fn wick__gpu_softmax_backward;
enum wick_status wick__gpu_softmax_backward(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    const struct wick__layout *layout = &gradient->layout;
    int64_t count = wick__count(gradient), size = (int)wick__size(gradient->dtype), dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct gpu_softmax_backward p = {.gradient = wick__data(gradient),
                                     .result = wick__data(call->in[1]),
                                     .out = wick__data(call->out[0]),
                                     .n = layout->rank > 0 ? layout->shape[dim] : 1,
                                     .inner = 1,
                                     .log = call->op == WICK_OP_log_softmax_backward};
    for (int d = (int)dim + 1; d < layout->rank; d++) p.inner *= layout->shape[d];
    p.outer = count / (p.n * p.inner);
    struct wick__gpu *gpu = wick__gpu_of(gradient);
    struct wick__launch launch = {.kernel = 0};
    if (p.inner == 1) {
        p.vectors =
            wick__aligned16(p.gradient) && wick__aligned16(p.result) && wick__aligned16(p.out) && p.n * size % 16 == 0;
        int64_t items = p.vectors ? p.n * size / 16 : p.n;
        p.group = wick__gpu_power((items + 1) / 2, GPU_BLOCK);
        launch.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_rows_bf16, gradient->dtype);
        wick__gpu_row_launch(gpu, &launch, p.outer, p.group);
    } else {
        p.across = wick__gpu_power(p.inner, 64);
        p.tiles = (p.inner + p.across - 1) / p.across;
        launch.kernel = wick__gpu_of_floats(WICK__GPU_K_softmax_backward_across_bf16, gradient->dtype);
        wick__gpu_reduce_grid(&launch, p.outer * p.tiles);
    }
    return wick__gpu_launch(gpu, &launch, &p);
}
