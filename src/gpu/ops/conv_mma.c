/* Convolutions by matrix instructions: the copy of the input with channels innermost, and the launch. */
#include "gpu/ops/conv.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/conv_mma.h"

enum { EDGE = 64, FEW_CHANNELS = 16, FEW_TERMS = 24 };

static int64_t round_up8(int64_t n) { return (n + 7) / 8 * 8; }

static int64_t taps_of(const struct gpu_conv *conv) {
    return (int64_t)conv->dim[0].kernel * conv->dim[1].kernel * conv->dim[2].kernel;
}

/* Elements of a plane of x with its margins. */
static int64_t padded_plane(const struct gpu_conv *conv) {
    int64_t plane = 1;
    for (int a = 0; a < 3; a++) plane *= conv->dim[a].in + 2 * (int64_t)conv->dim[a].padding;
    return plane;
}

bool wick__conv_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    int64_t taps = taps_of(conv);
    if (dtype != WICK_BF16 && dtype != WICK_F16 && dtype != WICK_F8E4M3) return false;
    if (conv->transposed || conv->cout < FEW_CHANNELS || conv->cin * taps < FEW_TERMS) return false;
    for (int a = 0; a < 3; a++)
        if (conv->dim[a].padding > 4 + 2 * conv->dim[a].in) return false;
    int64_t plane = padded_plane(conv), results = conv->n * conv->out_plane, k = taps * round_up8(conv->cin);
    int64_t weights = conv->groups * conv->cout * conv->cin * taps;
    return plane < INT32_MAX && results < INT32_MAX && weights < INT32_MAX && k < INT32_MAX &&
           conv->n * conv->groups < INT32_MAX && wick__has_mma(gpu);
}

static enum wick_status pack(struct wick__gpu *gpu, struct gpu_conv_pack *p) {
    p->out_plane = 1;
    for (int a = 0; a < 3; a++) p->out_plane *= p->size[a] + 2 * p->margin[a];
    p->channel_tiles = (p->pitch + EDGE - 1) / EDGE;
    p->grid_batch = (u32)wick__min(p->batch, 65535);
    struct wick__launch launch = {.kernel = WICK__GPU_K_conv_pack,
                                  .grid = {(p->out_plane + EDGE - 1) / EDGE * p->channel_tiles, p->grid_batch}};
    return wick__gpu_launch(gpu, &launch, p);
}

static enum wick_status multiply(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                 const void *x, const void *weight) {
    int64_t pitch = round_up8(conv->cin), step = pitch, taps = taps_of(conv);
    struct gpu_conv_mma p = {.x = x,
                             .weight = weight,
                             .bias = conv->bias,
                             .out = conv->out,
                             .cout = (u32)conv->cout,
                             .pitch = (u32)pitch,
                             .k = (u32)(taps * pitch),
                             .groups = (u32)conv->groups,
                             .images = (u32)conv->n,
                             .out_plane = (u32)conv->out_plane,
                             .taps_h = (u32)conv->dim[1].kernel,
                             .taps_w = (u32)conv->dim[2].kernel,
                             .relu = conv->relu,
                             .f8 = dtype == WICK_F8E4M3};
    for (int a = 2; a >= 0; a--) {
        p.out_size[a] = (u32)conv->dim[a].out;
        p.tap_step[a] = step * conv->dim[a].dilation;
        p.result_step[a] = step * conv->dim[a].stride;
        step *= conv->dim[a].in + 2 * (int64_t)conv->dim[a].padding;
    }
    p.group = step;
    p.image = step * conv->groups;
    wick__gpu_divisor(&p.by_plane, p.out_plane);
    wick__gpu_divisor(&p.by_h, p.out_size[1]);
    wick__gpu_divisor(&p.by_w, p.out_size[2]);
    int64_t columns = (conv->n * conv->out_plane + GPU_CONV_MMA_COLUMNS - 1) / GPU_CONV_MMA_COLUMNS;
    /* Larger tiles read less of LDS for each product; smaller ones give more units work. */
    bool wide = conv->cout > 64 && 2 * columns * ((conv->cout + 127) / 128) * conv->groups >= gpu->properties.units;
    unsigned rows = wide ? 128 : 64;
    p.channel_tiles = (u32)((conv->cout + rows - 1) / rows);
    enum wick__gpu_kernel kernel = wide ? WICK__GPU_K_conv_mma_128_bf16 : WICK__GPU_K_conv_mma_64_bf16;
    struct wick__launch launch = {.kernel = (enum wick__gpu_kernel)(kernel + (dtype != WICK_BF16)),
                                  .grid = {(unsigned)(columns * p.channel_tiles * p.groups)},
                                  .apart = true};
    unsigned shared = wick__mma_shared(gpu);
    if (shared) {
        unsigned stage = GPU_CONV_MMA_STAGE(rows);
        int64_t stages = wick__min(3, shared / stage);
        launch.most = (unsigned)wick__max(stages * stage, GPU_MMA_STORE);
        p.stages = (u32)wick__min(stages, (p.k + GPU_CONV_MMA_STEP - 1) / GPU_CONV_MMA_STEP);
        launch.shared = wick__max(p.stages * stage, (unsigned)GPU_MMA_STORE);
    }
    return wick__gpu_launch(gpu, &launch, &p);
}

/* The input with channels innermost and its margins. */
static enum wick_status pack_input(struct wick__gpu *gpu, const struct gpu_conv *conv, bool f8, void *to) {
    struct gpu_conv_pack p = {.in = conv->x,
                              .out = to,
                              .batch = conv->n * conv->groups,
                              .in_batch = conv->cin * conv->in_plane,
                              .channels = (u32)conv->cin,
                              .pitch = (u32)round_up8(conv->cin),
                              .channel_step = (u32)conv->in_plane,
                              .step = (u32)conv->dim[1].in * (u32)conv->dim[2].in,
                              .f8 = f8};
    for (int a = 0; a < 3; a++) {
        p.size[a] = (u32)conv->dim[a].in;
        p.margin[a] = (u32)conv->dim[a].padding;
    }
    return pack(gpu, &p);
}

/* The weights with channels innermost: every channel of the result and tap is a position. */
static enum wick_status pack_weight(struct wick__gpu *gpu, const struct gpu_conv *conv, bool f8, int64_t taps,
                                    void *to) {
    struct gpu_conv_pack p = {.in = conv->weight,
                              .out = to,
                              .batch = 1,
                              .channels = (u32)conv->cin,
                              .pitch = (u32)round_up8(conv->cin),
                              .size = {(u32)(conv->groups * conv->cout), 1, (u32)taps},
                              .channel_step = (u32)taps,
                              .step = (u32)(conv->cin * taps),
                              .f8 = f8};
    return pack(gpu, &p);
}

enum wick_status wick__conv_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    int64_t pitch = round_up8(conv->cin), taps = taps_of(conv);
    bool f8 = dtype == WICK_F8E4M3, ready = taps == 1 && pitch == conv->cin && !f8 && wick__aligned16(conv->weight);
    size_t x_bytes = (size_t)(conv->n * conv->groups * padded_plane(conv) * pitch) * 2;
    size_t weight_bytes = ready ? 0 : (size_t)(conv->groups * conv->cout * taps * pitch) * 2;
    void *x;
    WICK__TRY(wick__gpu_scratch(gpu, x_bytes + weight_bytes, &x));
    void *packed = (char *)x + x_bytes;
    enum wick_status status = pack_input(gpu, conv, f8, x);
    if (status == WICK_OK && !ready) status = pack_weight(gpu, conv, f8, taps, packed);
    if (status == WICK_OK) status = multiply(gpu, dtype, conv, x, ready ? conv->weight : packed);
    wick__gpu_release(gpu, x, x_bytes + weight_bytes);
    return status;
}
