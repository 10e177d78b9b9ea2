/* Gradients of max and average pooling: a thread an element of x, or a few. */
#include "core/checked.h"
#include "gpu/ops/pool.h"

#include "kernels/pool_backward.h"

/* The dims, and whether 32 bits hold what is computed with: a window's elements too, with those in the padding. */
static void set_axes(struct gpu_pool_backward *p, const struct wick__call *call) {
    int64_t taps = 1;
    bool apart = (uintptr_t)p->out % 16 == 0, whole = true;
    p->narrow = p->count < INT32_MAX && wick__count(call->in[0]) < INT32_MAX && p->divisor < INT32_MAX;
    for (int d = 0; d < 3; d++) {
        int s = d - (3 - call->p.window.spatial);
        struct gpu_pool_axis *a = &p->axis[d];
        *a = (struct gpu_pool_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1};
        if (s < 0) continue;
        a->in = call->out[0]->layout.shape[2 + s];
        a->out = call->in[0]->layout.shape[2 + s];
        a->kernel = call->p.window.kernel[s];
        a->stride = call->p.window.stride[s];
        a->padding = call->p.window.padding[s];
        a->reach = (a->kernel - 1) * call->p.window.dilation[s];
        taps = a->kernel < INT32_MAX ? wick__min(taps * a->kernel, INT32_MAX) : INT32_MAX;
        apart = apart && a->reach < a->stride;
        if (a->stride >= INT32_MAX || a->padding >= INT32_MAX - a->in || a->reach >= INT32_MAX) p->narrow = 0;
        const int64_t left = a->in + 2 * a->padding - a->kernel - (a->out - 1) * a->stride;
        whole = whole && (a->padding == 0 || p->count_padding) && left >= 0;
    }
    if (taps >= INT32_MAX) p->narrow = 0;
    p->apart = p->narrow && apart;
    if (p->narrow && whole && p->divisor == 0) p->divisor = taps;
    for (int d = 0; d < 3 && p->narrow; d++) {
        wick__gpu_divisor(&p->axis[d].by_in, (uint32_t)p->axis[d].in);
        wick__gpu_divisor(&p->axis[d].by_stride, (uint32_t)p->axis[d].stride);
    }
}

wick__kernel_fn wick__gpu_pool_backward;
enum wick_status wick__gpu_pool_backward(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick__gpu *gpu = wick__gpu_of(gradient);
    struct gpu_pool_backward p = {.gradient = wick__data(gradient),
                                  .indices = call->n_in > 1 ? wick__data(call->in[1]) : NULL,
                                  .out = wick__data(call->out[0]),
                                  .count = wick__count(call->out[0]),
                                  .divisor = call->p.window.divisor,
                                  .count_padding = call->p.window.count_include_pad};
    if (p.count == 0) return WICK_OK;
    bool done = false;
    WICK__TRY(wick__gpu_pool_route(call, p.indices ? WICK__LAYER_MAX_POOL_BACKWARD : WICK__LAYER_AVERAGE_POOL_BACKWARD,
                                   &done));
    if (done) return WICK_OK;
    set_axes(&p, call);
    enum wick__gpu_kernel first =
        p.indices ? WICK__GPU_K_pool_backward_max_bf16 : WICK__GPU_K_pool_backward_average_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, gradient->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.count, p.apart ? GPU_POOL_BACKWARD_EACH : 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}
