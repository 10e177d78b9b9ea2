/* Convolutions whose windows are one element: of few channels, and transposed ones with strides. */
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

bool wick__conv_is_apart(enum wick_dtype dtype, const struct gpu_conv *p) {
    bool has_kernels = dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F32;
    int64_t met = 1; /* elements of a channel of x that results need */
    if (!has_kernels || !p->transposed || wick__conv_is_point(p) || p->cin == 0 || p->in_plane == 0) return false;
    if (p->n * p->groups * p->cout > INT32_MAX / wick__max(p->in_plane, p->out_plane)) return false;
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &p->dim[a];
        int64_t last = wick__min(dim->in, ((int64_t)dim->out + dim->padding - 1) / dim->stride + 1);
        if (dim->kernel != 1) return false;
        met *= wick__max(0, last - wick__div_up(dim->padding, dim->stride));
    }
    return 2 * met >= p->in_plane;
}

enum wick_status wick__conv_apart(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                  const void *results) {
    int64_t together = 16 / (int64_t)wick__size(dtype);
    bool each = conv->dim[2].out < together || !wick__aligned16(conv->out);
    struct gpu_conv_apart p = {.products = results,
                               .bias = conv->bias,
                               .out = conv->out,
                               .count = (u32)(conv->n * conv->groups * conv->cout * conv->out_plane),
                               .relu = conv->relu};
    for (int a = 0; a < 3; a++) {
        p.in[a] = (u32)conv->dim[a].in;
        p.padding[a] = (u32)conv->dim[a].padding;
        wick__gpu_divisor(&p.out_size[a], (u32)conv->dim[a].out);
        wick__gpu_divisor(&p.stride[a], (u32)conv->dim[a].stride);
    }
    wick__gpu_divisor(&p.channels, (u32)(conv->groups * conv->cout));
    struct wick__launch launch = {
        .kernel = wick__gpu_of_floats(each ? WICK__GPU_K_conv_apart_each_bf16 : WICK__GPU_K_conv_apart_bf16, dtype),
        .grid = {(unsigned)wick__div_up(p.count, GPU_BLOCK * (each ? 1 : together))}};
    return wick__gpu_launch(gpu, &launch, &p);
}
