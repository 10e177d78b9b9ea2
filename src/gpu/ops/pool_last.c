/* Pooling of images with channels last, which are read as they lie. */
#include "gpu/ops/pool.h"
#include "gpu/ops/reduce.h"
#include "kernels/pool_last.h"

#include "core/checked.h"

/* Elements of windows that a thread goes through; of larger ones a copy and several threads each take less. Blocks that
 * a launch may have. */
enum { MOST_TAPS = 64, MANY = 1 << 23 };

/* Sizes and windows of a dim, or of one that is not there. */
static void set_dim(struct gpu_pool_last *p, const struct wick__call *call, int d, int s) {
    const bool there = s >= 0;
    p->from[d] = there ? (i32)call->in[0]->layout.shape[2 + s] : 1;
    p->kernel[d] = there ? (i32)call->p.window.kernel[s] : 1;
    p->stride[d] = there ? (i32)call->p.window.stride[s] : 1;
    p->padding[d] = there ? (i32)call->p.window.padding[s] : 0;
    wick__gpu_divisor(&p->by[d], there ? (u32)call->out[0]->layout.shape[2 + s] : 1);
}

/* Whether channels lie last, windows are plain and small, and places 32-bit numbers. */
static bool takes(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    const int64_t limit = INT32_MAX / 4;
    int64_t plane = 1, places = 1, taps = 1;
    const bool adaptive = call->op >= WICK_OP_adaptive_max_pool1d && call->op <= WICK_OP_adaptive_avg_pool3d;
    const bool has_kernel = x->dtype == WICK_BF16 || x->dtype == WICK_F16 || x->dtype == WICK_F32;
    if (!has_kernel || adaptive || call->n_out > 1 || !wick__layout_is_channels_last(&x->layout)) return false;
    for (int s = 0; s < call->p.window.spatial; s++) {
        const int64_t kernel = call->p.window.kernel[s], stride = call->p.window.stride[s];
        if (call->p.window.dilation[s] != 1 || kernel > MOST_TAPS || stride > limit) return false;
        if (x->layout.shape[2 + s] > limit / plane || y->layout.shape[2 + s] > limit / places) return false;
        if ((y->layout.shape[2 + s] - 1) * stride > limit) return false;
        plane *= x->layout.shape[2 + s];
        places *= y->layout.shape[2 + s];
        taps *= kernel;
        if (taps > MOST_TAPS) return false;
    }
    return true;
}

/* How wide tiles are: as many channels as threads read together, and more where an image has fewer results; fewer
 * results where blocks are few. Returns how many blocks there are. */
static int64_t cut(const struct wick__gpu *gpu, struct gpu_pool_last *p, int64_t images, int64_t per_vector) {
    enum { BESIDE = 4, BUSY = 4 };
    const int64_t together = GPU_POOL_LAST_EACH, wanted = p->channels / per_vector;
    p->across = wick__gpu_power(wanted, BESIDE);
    while (p->across < wanted && GPU_BLOCK / p->across * together >= 2 * p->places &&
           2 * p->across * per_vector <= GPU_POOL_LAST_CHANNELS && 2 * p->across <= GPU_BLOCK)
        p->across *= 2;
    p->channel_tiles = wick__div_up(p->channels, p->across * per_vector);
    int64_t wide = GPU_BLOCK / p->across * together, tiles = images * p->channel_tiles;
    p->each = (u32)together;
    while (p->each > 1 && tiles * wick__div_up(p->places, wide) < BUSY * (int64_t)gpu->properties.units) {
        p->each /= 2;
        wide /= 2;
    }
    while (1u << p->log2_wide < wide) p->log2_wide++;
    p->place_tiles = wick__div_up(p->places, wide);
    return tiles * p->place_tiles;
}

enum wick_status wick__gpu_pool_last(const struct wick__call *call, bool *done) {
    const struct wick_tensor *x = call->in[0], *y = call->out[0];
    const int64_t per_vector = 16 / (int64_t)wick__size(x->dtype);
    const int missing = 3 - call->p.window.spatial;
    struct gpu_pool_last p = {.in = wick__data(x),
                              .out = wick__data(y),
                              .channels = x->layout.shape[1],
                              .divisor = call->p.window.divisor,
                              .plane = 1,
                              .places = 1,
                              .max = call->op >= WICK_OP_max_pool1d && call->op <= WICK_OP_max_pool3d,
                              .count_padding = call->p.window.count_include_pad};
    *done = takes(call) && p.channels % per_vector == 0 && wick__aligned16(p.in);
    if (!*done) return WICK_OK;
    for (int d = 0; d < 3; d++) {
        set_dim(&p, call, d, d - missing);
        p.plane *= (u32)p.from[d];
        p.places *= p.by[d].d;
    }
    struct wick__gpu *gpu = wick__gpu_of(y);
    const int64_t blocks = cut(gpu, &p, x->layout.shape[0], per_vector);
    *done = blocks < MANY;
    if (!*done) return WICK_OK;
    const enum wick__gpu_kernel kernel = x->dtype == WICK_BF16  ? WICK__GPU_K_pool_last_bf16
                                         : x->dtype == WICK_F16 ? WICK__GPU_K_pool_last_f16
                                                                : WICK__GPU_K_pool_last_f32;
    const struct wick__launch launch = {.kernel = kernel, .grid = {(unsigned)blocks}};
    return wick__gpu_launch(gpu, &launch, &p);
}
