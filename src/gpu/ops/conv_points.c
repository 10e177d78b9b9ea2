/* Convolutions whose windows are one element: as products, of few channels, and transposed ones with strides. */
#include "gpu/ops/conv.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "points.h"

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

/* ---- products ---- */

/* Whether images are one element of each channel, so that they are the rows of one product. */
static bool is_rows(const struct gpu_conv *p, enum wick_dtype dtype) {
    return (dtype == WICK_BF16 || dtype == WICK_F16) && wick__conv_is_point(p) && p->in_plane == 1 && p->n > 1 &&
           p->groups == 1 && !p->transposed && p->cin > 0 && p->cin % 8 == 0 && p->cout >= WICK__FEW_CHANNELS;
}

/* Of `rows` images these are times the weight, else an image's result is weight times image. */
static struct wick__product product_of(enum wick_dtype dtype, const struct gpu_conv *p, bool rows) {
    struct wick__product g = {.dtype = dtype,
                              .k = p->cin,
                              .c = p->out,
                              .bias = p->bias,
                              .bias_step = 1,
                              .bias_by_row = !rows,
                              .activation = p->relu ? WICK_ACTIVATION_RELU : WICK_ACTIVATION_NONE,
                              .batch_rank = 1,
                              .batch_shape = {rows ? 1 : p->n}};
    if (rows) {
        g.m = p->n, g.n = g.c_row = p->cout;
        g.a = p->x, g.a_row = p->cin, g.a_k = 1;
        g.b = p->weight, g.b_k = p->weight_c, g.b_column = p->weight_m;
    } else {
        g.m = p->cout, g.n = g.c_row = g.b_k = p->in_plane;
        g.a = p->weight, g.a_row = p->weight_m, g.a_k = p->weight_c;
        g.b = p->x, g.b_column = 1, g.b_batch[0] = p->cin * p->in_plane;
    }
    return g;
}

/* Whether images fill tiles of f32 badly that all of them together fill. */
static bool is_small_plane(const struct wick__gpu *gpu, const struct gpu_conv *p, enum wick_dtype dtype) {
    return dtype == WICK_F32 && p->in_plane < 128 && p->n > 1 && wick__conv_mma_takes(gpu, dtype, p);
}

enum wick_status wick__conv_product(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *p,
                                    bool *done) {
    enum { MATRIX_TERMS = 16 }; /* of matrix instructions */
    const bool narrow = dtype == WICK_BF16 || dtype == WICK_F16, wide = dtype == WICK_F32 || dtype == WICK_F64;
    *done = is_rows(p, dtype);
    struct wick__product g = product_of(dtype, p, *done);
    if (*done) return wick__gemm_run(gpu, &g);
    if (!(narrow || wide) || !wick__conv_is_point(p) || p->groups != 1 || p->cin == 0 || p->cout < WICK__FEW_CHANNELS)
        return WICK_OK;
    /* 16 bits want rows at multiples of 16 bytes. Weights are packed for that sooner than images are for conv_mma. */
    bool aligned = p->in_plane % 8 == 0 && (p->transposed ? p->cout : p->cin) % 8 == 0;
    bool packs = narrow && !aligned && !wick__conv_points_takes(dtype, p) && wick__gemm_mma_ready(gpu, &g, true) &&
                 wick__gemm_mma_takes(gpu, &g);
    *done = wide ? !wick__conv_points_takes(dtype, p) && !is_small_plane(gpu, p, dtype)
                 : (aligned || packs) && p->cin >= MATRIX_TERMS;
    if (!*done) return WICK_OK;
    return packs ? wick__gemm_mma(gpu, &g) : wick__gemm_run(gpu, &g);
}

enum wick_status wick__conv_product_last(const struct wick__call *call, bool *done) {
    struct wick__product g;
    *done = wick__product_of_points(call, &g);
    if (!*done) return WICK_OK;
    g.a = wick__data(call->in[1]);
    g.b = wick__data(call->in[0]);
    g.c = wick__data(call->out[0]);
    g.bias = call->in[2] ? wick__data(call->in[2]) : NULL;
    return wick__gemm_run(wick__gpu_of(call->out[0]), &g);
}

/* ---- transposed, with strides ---- */

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
