/* Convolutions whose windows are one element of few channels. */
#include "gpu/ops/conv.h"

#include "core/checked.h"

enum { RUN = 4, MOST_Y = 65535 };

bool wick__conv_is_point(const struct gpu_conv *p) {
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &p->dim[a];
        if (dim->kernel != 1 || dim->stride != 1 || dim->padding != 0 || dim->in != dim->out) return false;
    }
    return true;
}

static int64_t tiles(const struct gpu_conv *p) { return wick__div_up(p->cout, GPU_CONV_POINT_CHANNELS); }

bool wick__conv_points_takes(enum wick_dtype dtype, const struct gpu_conv *p) {
    bool has_kernels = dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F32;
    return has_kernels && wick__conv_is_point(p) && p->cin > 0 && p->cin < GPU_CONV_POINT_TERMS &&
           p->in_plane < INT32_MAX && p->n < INT32_MAX / p->in_plane && p->groups <= MOST_Y / tiles(p);
}

enum wick_status wick__conv_points(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    struct gpu_conv_points p = {.conv = *conv};
    uintptr_t together = (uintptr_t)RUN * wick__size(dtype);
    bool runs = conv->in_plane % RUN == 0 && ((uintptr_t)conv->x | (uintptr_t)conv->out) % wick__min(together, 16) == 0;
    int64_t plane = runs ? conv->in_plane / RUN : conv->in_plane;
    p.channel_tiles = (u32)tiles(conv);
    p.results = (u32)(conv->n * plane);
    wick__gpu_divisor(&p.runs, (uint32_t)plane);
    struct wick__launch launch = {
        .kernel = wick__gpu_of_floats(runs ? WICK__GPU_K_conv_points_bf16 : WICK__GPU_K_conv_points_each_bf16, dtype),
        .grid = {(unsigned)wick__div_up(p.results, GPU_BLOCK), (unsigned)conv->groups * p.channel_tiles}};
    return wick__gpu_launch(gpu, &launch, &p);
}
