/* The gradient of padding, and sums of columns: a thread an element of x. */
#include "gpu/runtime/gpu.h"

#include "kernels/margin.h"
#include "kernels/resample.h"

/* Dims that are not padded become one with those behind them that are not. */
static void set_dims(struct gpu_pad_backward *p, const struct wick__call *call) {
    const struct wick__layout *x = &call->out[0]->layout, *y = &call->in[0]->layout;
    int64_t step = 1;
    u32 rank = 0;
    bool whole = false; /* the last of the dims so far is not padded */
    for (int d = x->rank - 1; d >= 0; d--) {
        bool same = x->shape[d] == y->shape[d] && call->p.pad.before[d] == 0;
        if (whole && same) {
            p->shape.size[rank - 1] *= x->shape[d];
            p->to[rank - 1] *= y->shape[d];
        } else {
            p->shape.size[rank] = x->shape[d];
            p->to[rank] = y->shape[d];
            p->before[rank] = call->p.pad.before[d];
            p->step[rank++] = step;
            whole = same;
        }
        step *= y->shape[d];
    }
    if (rank == 0) p->shape.size[rank] = p->to[rank] = 1, p->step[rank++] = 1;
    p->shape.rank = rank;
    p->shape.count = wick__count(call->out[0]);
    p->shape.narrow = p->shape.count < INT32_MAX;
    for (u32 d = 0; d < rank && p->shape.narrow; d++)
        wick__gpu_divisor(&p->shape.divisor[d], (uint32_t)p->shape.size[d]);
}

wick__kernel_fn wick__gpu_pad_backward;
enum wick_status wick__gpu_pad_backward(const struct wick__call *call) {
    struct wick_tensor *x = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_pad_backward p = {
        .gradient = wick__data(call->in[0]), .out = wick__data(x), .mode = (u32)call->p.pad.mode};
    if (wick__count(x) == 0) return WICK_OK;
    set_dims(&p, call);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_pad_backward_bf16, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.shape.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

wick__kernel_fn wick__gpu_fold;
enum wick_status wick__gpu_fold(const struct wick__call *call) {
    struct wick_tensor *x = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    struct gpu_fold p = {.columns = wick__data(call->in[0]), .out = wick__data(x), .count = wick__count(x)};
    if (p.count == 0) return WICK_OK;
    p.narrow = p.count < INT32_MAX;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - call->p.window.spatial);
        struct gpu_fold_axis *a = &p.axis[d];
        *a = (struct gpu_fold_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .step = 1};
        if (s < 0) continue;
        a->in = x->layout.shape[2 + s];
        a->kernel = call->p.window.kernel[s];
        a->stride = call->p.window.stride[s];
        a->padding = call->p.window.padding[s];
        a->step = call->p.window.dilation[s];
        a->out = (a->in + 2 * a->padding - a->step * (a->kernel - 1) - 1) / a->stride + 1;
        if (a->stride >= INT32_MAX || a->padding >= INT32_MAX - a->in) p.narrow = 0;
    }
    for (int d = 0; d < 3 && p.narrow; d++) {
        wick__gpu_divisor(&p.axis[d].by_in, (uint32_t)p.axis[d].in);
        wick__gpu_divisor(&p.axis[d].by_stride, (uint32_t)p.axis[d].stride);
    }
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_fold_bf16, x->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
