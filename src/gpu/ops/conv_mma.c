/* Convolutions by matrix instructions, of f32 by those of eleven bits (kernels/mma_tf32.h): the copy of the input with
 * channels innermost, and the launch. */
#include "gpu/ops/conv.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"

enum { EDGE = 64, FEW_CHANNELS = 8, FEW_TERMS = 24 };

static int64_t round_up8(int64_t n) { return (n + 7) / 8 * 8; }

static int64_t taps_of(const struct gpu_conv *conv) {
    return (int64_t)conv->dim[0].kernel * conv->dim[1].kernel * conv->dim[2].kernel;
}

/* One dim of the packed input: what windows read of x, from place `first` of it on. */
struct side {
    struct gpu_conv_phases phases;
    int64_t first, size;
    int64_t results; /* of the largest phase */
};

int64_t wick__conv_first_tap(const struct gpu_conv_dim *dim, int64_t r, int64_t *at) {
    int64_t tap = 0, last = wick__min(dim->tap_step, dim->kernel);
    *at = r + dim->padding;
    for (; tap < last && *at % dim->stride != 0; tap++) *at -= dim->dilation;
    *at /= dim->stride;
    return tap;
}

static struct side side_of(const struct gpu_conv_dim *dim, bool transposed) {
    struct side s = {.phases.phases = (u32)dim->phases, .results = (dim->out + (int64_t)dim->phases - 1) / dim->phases};
    int64_t at[GPU_CONV_PHASES], low = INT64_MAX, high = INT64_MIN, step = transposed ? 1 : dim->stride;
    for (int64_t r = 0; r < dim->phases; r++) {
        int64_t tap = 0, taps = dim->kernel;
        at[r] = -dim->padding;
        if (transposed) {
            tap = wick__conv_first_tap(dim, r, &at[r]);
            taps = tap < wick__min(dim->tap_step, dim->kernel) ? (dim->kernel - tap - 1) / dim->tap_step + 1 : 0;
        }
        s.phases.taps[r] = (u32)taps;
        s.phases.results[r] = (u32)((dim->out - r - 1) / dim->phases + 1);
        if (taps == 0) continue;
        int64_t reach = (taps - 1) * dim->in_step;
        low = wick__min(low, at[r] + wick__min(reach, 0));
        high = wick__max(high, at[r] + wick__max(reach, 0) + (s.results - 1) * step);
    }
    s.first = low <= high ? low : 0;
    s.size = low <= high ? high - low + 1 : 1;
    for (int64_t r = 0; r < dim->phases; r++) s.phases.first[r] = (u32)(s.phases.taps[r] ? at[r] - s.first : 0);
    return s;
}

/* Elements of a plane of the packed input. */
static int64_t packed_plane(const struct gpu_conv *conv) {
    int64_t plane = 1;
    for (int a = 0; a < 3; a++) plane *= side_of(&conv->dim[a], conv->transposed).size;
    return plane;
}

/* Taps of a phase, at most. */
static int64_t most_taps(const struct gpu_conv *conv) {
    int64_t taps = 1;
    for (int a = 0; a < 3; a++) taps *= (conv->dim[a].kernel - 1) / conv->dim[a].tap_step + 1;
    return taps;
}

static int64_t phases_of(const struct gpu_conv *conv) {
    return (int64_t)conv->dim[0].phases * conv->dim[1].phases * conv->dim[2].phases;
}

/* Elements of the packed input, in f64: sizes beside a 0 may have any product. */
static double packed_elements(const struct gpu_conv *conv) {
    return (double)(conv->n * conv->groups) * (double)packed_plane(conv) * (double)round_up8(conv->cin);
}

/* Of f32 those whose channels fill tiles, of as many terms as products (docs/numerics.md). */
static bool takes_tf32(const struct wick__gpu *gpu, const struct gpu_conv *conv) {
    return wick__has_tf32(gpu) && conv->cout >= WICK__TF32_RESULTS && conv->cin >= WICK__TF32_CHANNELS &&
           conv->cin * most_taps(conv) >= WICK__TF32_TERMS && packed_elements(conv) < 0x1p32;
}

static bool takes_dtype(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    if (dtype == WICK_F32) return takes_tf32(gpu, conv);
    return dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F8E4M3;
}

bool wick__conv_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    if (!wick__has_mma(gpu) || conv->cout < FEW_CHANNELS || conv->cin * most_taps(conv) < FEW_TERMS) return false;
    int64_t plane = 1, results = conv->n * phases_of(conv), taps = most_taps(conv) * phases_of(conv);
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &conv->dim[a];
        if (dim->phases > GPU_CONV_PHASES) return false;
        struct side s = side_of(dim, conv->transposed);
        if (s.size > 9 + 5 * (int64_t)dim->in) return false;
        plane *= s.size;
        results *= s.results;
    }
    int64_t pitch = round_up8(conv->cin), weights = conv->groups * conv->cout * wick__max(taps, taps_of(conv));
    return plane < INT32_MAX && results < INT32_MAX && weights < INT32_MAX / pitch &&
           conv->n * conv->groups < INT32_MAX && conv->in_plane < INT32_MAX && takes_dtype(gpu, dtype, conv);
}

static enum wick_status launch_pack(struct wick__gpu *gpu, enum wick__gpu_kernel kernel, struct gpu_conv_pack *p,
                                    void *params) {
    p->out_plane = p->out_size[0] * p->out_size[1] * p->out_size[2];
    p->channel_tiles = (p->pitch + EDGE - 1) / EDGE;
    p->grid_batch = (u32)wick__min(p->batch, 65535);
    struct wick__launch launch = {.kernel = kernel,
                                  .grid = {(p->out_plane + EDGE - 1) / EDGE * p->channel_tiles, p->grid_batch}};
    return wick__gpu_launch(gpu, &launch, params);
}

static enum wick_status pack(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_pack *p) {
    return launch_pack(gpu, dtype == WICK_F32 ? WICK__GPU_K_conv_pack_f32 : WICK__GPU_K_conv_pack, p, p);
}

enum wick_status wick__conv_pack(struct wick__gpu *gpu, struct gpu_conv_pack *p) { return pack(gpu, WICK_BF16, p); }

static enum wick__gpu_kernel kernel_of(enum wick_dtype dtype, bool wide) {
    if (dtype == WICK_F32) return wide ? WICK__GPU_K_conv_tf32_128 : WICK__GPU_K_conv_tf32_64;
    enum wick__gpu_kernel kernel = wide ? WICK__GPU_K_conv_mma_128_bf16 : WICK__GPU_K_conv_mma_64_bf16;
    return (enum wick__gpu_kernel)(kernel + (dtype != WICK_BF16));
}

/* Steps that LDS holds where copies are asynchronous. */
static void set_shared(const struct wick__gpu *gpu, unsigned rows, struct gpu_conv_mma *p,
                       struct wick__launch *launch) {
    unsigned stage = GPU_CONV_MMA_STAGE(rows);
    int64_t stages = wick__min(3, wick__mma_shared(gpu) / stage);
    launch->most = (unsigned)wick__max(stages * stage, GPU_MMA_STORE);
    p->stages = (u32)wick__min(stages, (p->k + GPU_CONV_MMA_STEP - 1) / GPU_CONV_MMA_STEP);
    launch->shared = wick__max(p->stages * stage, (unsigned)GPU_MMA_STORE);
}

static enum wick_status multiply(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                 const void *x, const void *weight) {
    int64_t pitch = round_up8(conv->cin), step = pitch, out_step = 1;
    struct gpu_conv_mma p = {.x = x,
                             .weight = weight,
                             .bias = conv->bias,
                             .out = conv->out,
                             .cout = (u32)conv->cout,
                             .pitch = (u32)pitch,
                             .k = (u32)(most_taps(conv) * pitch),
                             .groups = (u32)conv->groups,
                             .phases = (u32)phases_of(conv),
                             .images = (u32)conv->n,
                             .plane = 1,
                             .out_plane = conv->out_plane,
                             .relu = conv->relu,
                             .f8 = dtype == WICK_F8E4M3};
    for (int a = 2; a >= 0; a--) {
        const struct gpu_conv_dim *dim = &conv->dim[a];
        struct side s = side_of(dim, conv->transposed);
        p.dim[a] = s.phases;
        p.results[a] = (u32)s.results;
        p.plane *= p.results[a];
        p.tap_step[a] = step * dim->in_step;
        p.step[a] = step;
        p.result_step[a] = step * (conv->transposed ? 1 : dim->stride);
        p.out_next[a] = out_step;
        p.out_step[a] = out_step * dim->phases;
        step *= s.size;
        out_step *= dim->out;
    }
    p.group = step;
    p.image = step * conv->groups;
    wick__gpu_divisor(&p.by_plane, p.plane);
    wick__gpu_divisor(&p.by_h, p.results[1]);
    wick__gpu_divisor(&p.by_w, p.results[2]);
    int64_t columns = (conv->n * p.plane + GPU_CONV_MMA_COLUMNS - 1) / GPU_CONV_MMA_COLUMNS * p.phases;
    /* Larger tiles read less of LDS for each product; smaller ones give more units work. */
    bool wide = conv->cout > 64 && 2 * columns * ((conv->cout + 127) / 128) * conv->groups >= gpu->properties.units;
    unsigned rows = wide ? 128 : 64;
    p.channel_tiles = (u32)((conv->cout + rows - 1) / rows);
    struct wick__launch launch = {
        .kernel = kernel_of(dtype, wide), .grid = {(unsigned)(columns * p.channel_tiles * p.groups)}, .apart = true};
    if (dtype == WICK_F32)
        wick__tf32_shared(gpu, GPU_CONV_MMA_COLUMNS, rows, &p.stages, &launch); /* results are a tile's 128 rows */
    else if (wick__mma_shared(gpu))
        set_shared(gpu, rows, &p, &launch);
    return wick__gpu_launch(gpu, &launch, &p);
}

/* What windows read of the input, with channels innermost. */
static enum wick_status pack_input(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                   void *to) {
    struct gpu_conv_pack p = {.in = conv->x,
                              .out = to,
                              .batch = conv->n * conv->groups,
                              .in_batch = conv->cin * conv->in_plane,
                              .channels = (u32)conv->cin,
                              .pitch = (u32)round_up8(conv->cin),
                              .channel_step = (u32)conv->in_plane,
                              .step = (u32)conv->dim[1].in * (u32)conv->dim[2].in,
                              .f8 = dtype == WICK_F8E4M3};
    for (int a = 0; a < 3; a++) {
        struct side s = side_of(&conv->dim[a], conv->transposed);
        p.size[a] = (u32)conv->dim[a].in;
        p.out_size[a] = (u32)s.size;
        p.first[a] = (i32)s.first;
    }
    return pack(gpu, dtype, &p);
}

/* The weights with channels innermost: every channel of the result and tap is a position. */
static enum wick_status pack_weight(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                    void *to) {
    u32 taps = (u32)taps_of(conv), rows = (u32)(conv->transposed ? conv->cout : conv->groups * conv->cout);
    struct gpu_conv_pack_weights p = {.pack = {.in = conv->weight,
                                               .out = to,
                                               .batch = conv->transposed ? conv->groups : 1,
                                               .in_batch = conv->weight_group,
                                               .channels = (u32)conv->cin,
                                               .pitch = (u32)round_up8(conv->cin),
                                               .size = {rows, 1, taps},
                                               .out_size = {rows, 1, taps},
                                               .channel_step = (u32)conv->weight_c,
                                               .step = (u32)conv->weight_m,
                                               .f8 = dtype == WICK_F8E4M3},
                                      .groups = (u32)conv->groups,
                                      .cout = (u32)conv->cout,
                                      .k = (u32)(most_taps(conv) * round_up8(conv->cin))};
    if (!conv->transposed) return pack(gpu, dtype, &p.pack);
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &conv->dim[a];
        p.kernel[a] = (u32)dim->kernel;
        p.stride[a] = (u32)dim->stride;
        p.padding[a] = (u32)dim->padding;
        p.dilation[a] = (u32)dim->dilation;
        p.tap_step[a] = (u32)dim->tap_step;
        p.dim[a] = side_of(dim, true).phases;
    }
    return launch_pack(gpu, dtype == WICK_F32 ? WICK__GPU_K_conv_pack_weights_f32 : WICK__GPU_K_conv_pack_weights,
                       &p.pack, &p);
}

enum wick_status wick__conv_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    int64_t pitch = round_up8(conv->cin), taps = phases_of(conv) * most_taps(conv);
    bool plain = !conv->transposed && taps == 1 && dtype != WICK_F8E4M3;
    bool ready = plain && pitch == conv->cin && wick__aligned16(conv->weight);
    size_t size = dtype == WICK_F32 ? 4 : 2;
    size_t x_bytes = (size_t)(conv->n * conv->groups * packed_plane(conv) * pitch) * size;
    size_t weight_bytes = ready ? 0 : (size_t)(conv->groups * conv->cout * taps * pitch) * size;
    void *x;
    WICK__TRY(wick__gpu_scratch(gpu, x_bytes + weight_bytes, &x));
    void *packed = (char *)x + x_bytes;
    enum wick_status status = pack_input(gpu, dtype, conv, x);
    if (status == WICK_OK && !ready) status = pack_weight(gpu, dtype, conv, packed);
    if (status == WICK_OK) status = multiply(gpu, dtype, conv, x, ready ? conv->weight : packed);
    wick__gpu_release(gpu, x, x_bytes + weight_bytes);
    return status;
}
