/* CTC loss and its gradient. */
#include "gpu/ops/ids.h"
#include "gpu/ops/reduce.h"

#include "kernels/ctc.h"

wick__kernel_fn wick__gpu_ctc;
enum wick_status wick__gpu_ctc(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    const struct wick__layout *layout = &x->layout;
    bool backward = call->op == WICK_OP_ctc_loss_backward;
    const struct wick_tensor *paths = backward ? call->in[4] : call->out[1];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_ctc p = {.log_probs = wick__data(x),
                        .lengths = wick__data(call->in[2]),
                        .paths = wick__data(paths),
                        .gradient = backward ? wick__data(call->in[3]) : NULL,
                        .out = wick__data(call->out[0]),
                        .steps = layout->shape[0],
                        .n = layout->rank == 3 ? layout->shape[1] : 1,
                        .classes = layout->shape[layout->rank - 1],
                        .states = call->p.ctc.states,
                        .blank = call->p.ctc.blank,
                        .kept = paths->layout.shape[2],
                        .scale = call->p.ctc.scale,
                        .ways = (u32)paths->layout.shape[0],
                        .by_length = call->p.ctc.by_length,
                        .zero_infinity = call->p.ctc.zero_infinity,
                        .wide = call->out[0]->dtype != x->dtype,
                        .single = backward && wick__count(call->in[3]) == 1};
    int64_t blocks = backward ? p.n * p.steps : p.n * p.ways;
    if (blocks == 0 || wick__count(call->out[0]) == 0) return WICK_OK;
    WICK__TRY(wick__gpu_ids(call, call->in[1], p.classes, &p.ids));
    enum wick__gpu_kernel kernel = backward ? WICK__GPU_K_ctc_gradient_bf16 : WICK__GPU_K_ctc_paths_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernel, x->dtype)};
    wick__gpu_reduce_grid(&launch, blocks);
    return wick__gpu_launch(gpu, &launch, &p);
}
