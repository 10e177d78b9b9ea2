/* Convolutions by matrix instructions, of f32 by those of eleven bits (kernels/mma_tf32.h): the copy of the input with
 * channels innermost, and the launch. */
#include "gpu/ops/conv.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"

enum { EDGE = 64, FEW_TERMS = 24 };

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

/* Channels that are worth a tile. Of 16 bits half as many do where windows are a stride apart and results have many
 * terms, as a thread would sum those alone: 10 channels to 4, transposed, 5x5 with strides and dilations of 2, took an
 * H200 120 us, and 10 to 30 by tiles 29. */
static int64_t least_channels(enum wick_dtype dtype, const struct gpu_conv *conv) {
    enum { MANY_TERMS = 64 };
    const bool narrow = dtype == WICK_BF16 || dtype == WICK_F16;
    const bool apart = conv->transposed && phases_of(conv) > 1 && conv->cin * most_taps(conv) >= MANY_TERMS;
    return narrow && apart ? WICK__FEW_CHANNELS / 2 : WICK__FEW_CHANNELS;
}

bool wick__conv_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    if (!wick__has_mma(gpu) || conv->cin * most_taps(conv) < FEW_TERMS) return false;
    if (conv->cout < least_channels(dtype, conv)) return false;
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
    return plane < INT32_MAX && results < INT32_MAX && weights < INT32_MAX / pitch && packed_elements(conv) < 0x1p35 &&
           conv->n * conv->groups < INT32_MAX && conv->in_plane < INT32_MAX && takes_dtype(gpu, dtype, conv);
}

static enum wick_status launch_pack(struct wick__gpu *gpu, enum wick__gpu_kernel kernel, struct gpu_conv_pack *p,
                                    void *params) {
    p->out_plane = p->out_size[0] * p->out_size[1] * p->out_size[2];
    p->channel_tiles = (p->pitch + EDGE - 1) / EDGE;
    p->grid_batch = (u32)wick__min(p->batch, 65535);
    u32 blocks = (p->out_plane + EDGE - 1) / EDGE * p->channel_tiles;
    if (kernel == WICK__GPU_K_conv_pack_few) blocks = (p->out_plane + GPU_BLOCK - 1) / GPU_BLOCK;
    if (kernel == WICK__GPU_K_conv_pack_fours || kernel == WICK__GPU_K_conv_pack_weights_fours) {
        bool margins = false; /* whether the packed input has any */
        for (int a = 0; a < 3; a++)
            margins = margins || p->first[a] < 0 || p->first[a] + (i64)p->out_size[a] > (i64)p->size[a];
        p->runs = (p->size[0] * p->step + EDGE - 1) / EDGE;
        blocks = (p->runs + (margins ? (p->out_plane + GPU_BLOCK - 1) / GPU_BLOCK : 0)) * p->channel_tiles;
    }
    struct wick__launch launch = {.kernel = kernel, .grid = {blocks, p->grid_batch}};
    return wick__gpu_launch(gpu, &launch, params);
}

/* Whether planes lie together, and channels begin at multiples of four elements. */
static bool has_fours(const struct gpu_conv_pack *p) {
    u32 plane = p->size[0] * p->step;
    return !p->f8 && p->step == p->size[1] * p->size[2] && p->channel_step == plane && plane % 4 == 0 &&
           p->in_batch % 4 == 0 && (uintptr_t)p->in % 8 == 0;
}

static enum wick_status pack(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_pack *p) {
    enum { FEW = 16 }; /* channels that threads write whole positions of */
    if (dtype == WICK_F32) return launch_pack(gpu, WICK__GPU_K_conv_pack_f32, p, p);
    enum wick__gpu_kernel kernel = has_fours(p) ? WICK__GPU_K_conv_pack_fours : WICK__GPU_K_conv_pack;
    return launch_pack(gpu, p->pitch <= FEW ? WICK__GPU_K_conv_pack_few : kernel, p, p);
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
    p->stages = (u32)wick__min(stages, wick__div_up(p->part, GPU_CONV_MMA_STEP));
    launch->shared = wick__max(p->stages * stage, (unsigned)GPU_MMA_STORE);
}

/* How the packed input lies: elements from one position to the next, of a group to the next, of an image to the next;
 * whether it is the input itself. */
struct packed {
    int64_t step, group, image;
    bool in_place;
};

static void set_params(enum wick_dtype dtype, const struct gpu_conv *conv, const struct packed *x,
                       struct gpu_conv_mma *p) {
    int64_t run = dtype == WICK_F32 ? 1 : 8, step = x->step / run, out_step = 1;
    *p = (struct gpu_conv_mma){.bias = conv->bias,
                               .out = conv->out,
                               .cout = (u32)conv->cout,
                               .pitch = (u32)round_up8(conv->cin),
                               .k = (u32)(most_taps(conv) * round_up8(conv->cin)),
                               .groups = (u32)conv->groups,
                               .phases = (u32)phases_of(conv),
                               .images = (u32)conv->n,
                               .plane = 1,
                               .image = (u32)(x->image / run),
                               .group = (u32)(x->group / run),
                               .out_plane = conv->out_plane,
                               .relu = conv->relu,
                               .f8 = dtype == WICK_F8E4M3,
                               .count = conv->n * conv->groups * conv->cout * conv->out_plane};
    for (int a = 2; a >= 0; a--) {
        const struct gpu_conv_dim *dim = &conv->dim[a];
        struct side s = side_of(dim, conv->transposed);
        p->dim[a] = s.phases;
        p->results[a] = (u32)s.results;
        p->plane *= p->results[a];
        p->tap_step[a] = (u32)(step * dim->in_step);
        p->step[a] = (u32)step;
        p->result_step[a] = (u32)(step * (conv->transposed ? 1 : dim->stride));
        p->out_next[a] = out_step;
        p->out_step[a] = out_step * dim->phases;
        step *= x->in_place ? dim->in : s.size;
        out_step *= dim->out;
    }
    /* Results of one phase lie in their order. */
    p->fours = p->phases == 1 && conv->out_plane % 4 == 0 && dtype != WICK_F8E4M3 && (uintptr_t)conv->out % 16 == 0;
    wick__gpu_divisor(&p->by_plane, p->plane);
    wick__gpu_divisor(&p->by_h, p->results[1]);
    wick__gpu_divisor(&p->by_w, p->results[2]);
}

/* Rows of a tile, and how many tiles there are and parts of the sum. */
struct cut {
    unsigned rows;
    int64_t tiles, parts;
};

/* Parts of `steps` where there are few tiles. They follow from the shape and the kind of tile, so that the same shape
 * has the same bits on all devices of a kind. A part costs a store and a load of every sum. */
static int64_t parts_of(int64_t tiles, int64_t steps) {
    enum { BLOCKS = 264 /* that fill a device: two a unit of an H100 */, FEW_STEPS = 16, LEAST = 4, WORTH = 3 };
    return steps < FEW_STEPS || BLOCKS / tiles < WORTH ? 1 : wick__min(BLOCKS / tiles, steps / LEAST);
}

static struct cut cut_of(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                         const struct gpu_conv_mma *p) {
    enum { UNITS = 132 };
    int64_t columns = wick__div_up(conv->n * p->plane, GPU_CONV_MMA_COLUMNS) * p->phases * conv->groups;
    int64_t steps = dtype == WICK_F32 || p->count >= INT32_MAX ? 0 : wick__div_up(p->k, GPU_CONV_MMA_STEP);
    int64_t wide = columns * wick__div_up(conv->cout, 128), narrow = columns * wick__div_up(conv->cout, 64);
    int64_t parts = parts_of(wide, steps);
    /* Larger tiles read less of LDS for each product; smaller ones give more units work. */
    if (conv->cout > 64 && (2 * wide >= gpu->properties.units || (parts > 1 && wide * parts >= UNITS)))
        return (struct cut){.rows = 128, .tiles = wide, .parts = parts};
    return (struct cut){.rows = 64, .tiles = narrow, .parts = parts_of(narrow, steps)};
}

/* A whole number of steps in each part, and as many parts as have any. */
static void set_part(struct gpu_conv_mma *p, struct cut *c) {
    int64_t steps = wick__div_up(p->k, GPU_CONV_MMA_STEP), part = wick__div_up(steps, c->parts);
    c->parts = wick__max(1, wick__div_up(steps, part));
    p->part = (u32)(part * GPU_CONV_MMA_STEP);
}

static enum wick_status multiply(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_mma *p,
                                 const struct cut *c) {
    p->channel_tiles = (u32)wick__div_up(p->cout, c->rows);
    struct wick__launch launch = {
        .kernel = kernel_of(dtype, c->rows == 128), .grid = {(unsigned)c->tiles, (unsigned)c->parts}, .apart = true};
    if (dtype == WICK_F32)
        wick__tf32_shared(gpu, GPU_CONV_MMA_COLUMNS, c->rows, &p->stages, &launch); /* results are a tile's 128 rows */
    else if (wick__mma_shared(gpu))
        set_shared(gpu, c->rows, p, &launch);
    WICK__TRY(wick__gpu_launch(gpu, &launch, p));
    if (!p->sums) return WICK_OK;
    struct gpu_conv_mma_finish finish = {.sums = p->sums,
                                         .bias = p->bias,
                                         .out = p->out,
                                         .odd = p->odd,
                                         .count = (u32)p->count,
                                         .parts = (u32)c->parts,
                                         .channels = p->groups * p->cout,
                                         .relu = p->relu,
                                         .f8 = p->f8};
    wick__gpu_divisor(&finish.by_plane, (u32)p->out_plane);
    struct wick__launch last = {.kernel = dtype == WICK_BF16 ? WICK__GPU_K_conv_mma_finish_bf16
                                                             : WICK__GPU_K_conv_mma_finish_f16,
                                .grid = {wick__gpu_blocks(gpu, p->count, 1)}};
    return wick__gpu_launch(gpu, &last, &finish);
}

/* What windows read of the input, with channels innermost, or with those of all groups together. `odd`: see
 * struct gpu_conv_pack. */
static enum wick_status pack_input(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv,
                                   bool together, void *odd, void *to) {
    int64_t batches = together ? conv->n : conv->n * conv->groups;
    int64_t channels = together ? conv->groups * conv->cin : conv->cin;
    struct gpu_conv_pack p = {.in = conv->x,
                              .out = to,
                              .batch = batches,
                              .in_batch = channels * conv->in_plane,
                              .channels = (u32)channels,
                              .pitch = (u32)round_up8(channels),
                              .channel_step = (u32)conv->in_plane,
                              .step = (u32)conv->dim[1].in * (u32)conv->dim[2].in,
                              .f8 = dtype == WICK_F8E4M3,
                              .odd = odd,
                              .mask = dtype == WICK_BF16 ? 0x7f80 : 0x7c00};
    for (int a = 0; a < 3; a++) {
        struct side s = side_of(&conv->dim[a], conv->transposed);
        p.size[a] = (u32)conv->dim[a].in;
        p.out_size[a] = (u32)s.size;
        p.first[a] = (i32)s.first;
    }
    return pack(gpu, dtype, &p);
}

/* The same of an input with channels last. */
static enum wick_status pack_last(struct wick__gpu *gpu, const struct gpu_conv *conv, void *to) {
    struct wick__conv_images images = {.in = conv->x, .out = to, .n = conv->n, .channels = conv->groups * conv->cin};
    for (int a = 0; a < 3; a++) {
        struct side s = side_of(&conv->dim[a], conv->transposed);
        images.from[a] = conv->dim[a].in;
        images.to[a] = s.size;
        images.first[a] = s.first;
    }
    return wick__conv_pack_last(gpu, &images);
}

/* Where the windows begin in an input with channels last, `step` elements from one position to the next. */
static const void *first_of(const struct gpu_conv *conv, int64_t step) {
    int64_t first = 0;
    for (int a = 2; a >= 0; a--) {
        first += side_of(&conv->dim[a], conv->transposed).first * step;
        step *= conv->dim[a].in;
    }
    return (const char *)conv->x + 2 * first;
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
    if (dtype == WICK_F32) return launch_pack(gpu, WICK__GPU_K_conv_pack_weights_f32, &p.pack, &p);
    bool fours = has_fours(&p.pack);
    return launch_pack(gpu, fours ? WICK__GPU_K_conv_pack_weights_fours : WICK__GPU_K_conv_pack_weights, &p.pack, &p);
}

/* ---- groups of few channels ---- */

/* How many groups become one whose channels fill a tile: with weights of 0 for channels of another group, that is no
 * more work than as many tiles that are mostly empty. 1: they stay as they are. */
static int64_t merged_of(enum wick_dtype dtype, const struct gpu_conv *conv) {
    enum { TILE = 64, LEAST = 4, FEW_RESULTS = 1 << 15 };
    int64_t widest = wick__max(conv->cin, conv->cout), merged = wick__min(conv->groups, TILE / widest);
    if (dtype == WICK_F32 || conv->cin % 8 != 0 || merged < LEAST) return 1;
    if (conv->n * conv->groups * conv->cout * conv->out_plane < FEW_RESULTS) return 1;
    while (conv->groups % merged != 0) merged--;
    int64_t weights = phases_of(conv) * most_taps(conv) * conv->groups * conv->cout * conv->cin;
    return merged < LEAST || weights >= INT32_MAX / merged ? 1 : merged;
}

static enum wick_status pack_merged(struct wick__gpu *gpu, const struct gpu_conv *conv, int64_t merged,
                                    const void *from, void *to, void *odd) {
    int64_t taps = most_taps(conv), rows = phases_of(conv) * conv->groups * conv->cout;
    struct gpu_conv_pack_merged p = {.from = from,
                                     .to = to,
                                     .odd = odd,
                                     .count = (u32)(rows * taps * merged * conv->cin / 8),
                                     .merged = (u32)merged,
                                     .cout = (u32)conv->cout,
                                     .taps = (u32)taps,
                                     .pitch = (u32)(conv->cin / 8)};
    struct wick__launch launch = {.kernel = WICK__GPU_K_conv_pack_merged, .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* What a convolution keeps in scratch memory: the input, weights where they have to be packed, those of merged groups,
 * the word that says whether the input has infinities or NaN, and the sums of parts. */
struct pieces {
    size_t x, weight, merged, odd, sums;
};

static size_t all_of(const struct pieces *b) { return b->x + b->weight + b->merged + b->odd + b->sums; }

/* A convolution, whether its input has channels last, how many groups are merged, how it is cut, and what it keeps. */
struct work {
    enum wick_dtype dtype;
    const struct gpu_conv *conv;
    bool last;
    int64_t merged;
    struct cut cut;
    struct pieces pieces;
};

static enum wick_status run(struct wick__gpu *gpu, const struct work *work, struct gpu_conv_mma *p, char *memory) {
    const struct gpu_conv *conv = work->conv;
    const struct pieces *b = &work->pieces;
    const enum wick_dtype dtype = work->dtype;
    const int64_t merged = work->merged;
    const void *weight = b->weight ? memory + b->x : conv->weight;
    char *rest = memory + b->x + b->weight, *odd = b->odd ? rest + b->merged : NULL;
    p->x = b->x ? memory : first_of(conv, conv->groups * conv->cin);
    p->weight = merged > 1 ? rest : weight;
    p->odd = (const u32 *)odd;
    p->sums = b->sums ? rest + b->merged + b->odd : NULL;
    if (b->weight) WICK__TRY(pack_weight(gpu, dtype, conv, memory + b->x));
    if (merged > 1) WICK__TRY(pack_merged(gpu, conv, merged, weight, rest, odd));
    if (b->x)
        WICK__TRY(work->last ? pack_last(gpu, conv, memory) : pack_input(gpu, dtype, conv, merged > 1, odd, memory));
    WICK__TRY(multiply(gpu, dtype, p, &work->cut));
    if (merged == 1) return WICK_OK;
    /* 0 times an infinity of another group is NaN: with any in x, this is right, and otherwise does nothing. */
    struct gpu_conv_mma plain;
    const struct packed x = {
        .step = conv->groups * conv->cin, .group = conv->cin, .image = packed_plane(conv) * conv->groups * conv->cin};
    set_params(dtype, conv, &x, &plain);
    plain.x = memory;
    plain.weight = weight;
    plain.odd = p->odd;
    struct wick__launch launch = {.kernel = dtype == WICK_BF16 ? WICK__GPU_K_conv_mma_again_bf16
                                                               : WICK__GPU_K_conv_mma_again_f16,
                                  .grid = {(unsigned)gpu->properties.units * 2}};
    return wick__gpu_launch(gpu, &launch, &plain);
}

/* Whether no window reaches outside the input. */
static bool is_inside(const struct gpu_conv *conv) {
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        struct side s = side_of(&conv->dim[a], conv->transposed);
        inside = inside && s.first >= 0 && s.first + s.size <= conv->dim[a].in;
    }
    return inside;
}

bool wick__conv_mma_takes_last(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv) {
    const double limit = 0x1p33; /* 2^30 pieces */
    const double elements = (double)(conv->n * conv->groups) * (double)conv->in_plane * (double)conv->cin;
    return (dtype == WICK_BF16 || dtype == WICK_F16) && conv->cin % WICK__CONV_PIECE == 0 && wick__aligned16(conv->x) &&
           elements < limit && packed_elements(conv) < limit && merged_of(dtype, conv) == 1 &&
           wick__conv_mma_takes(gpu, dtype, conv);
}

/* Where the packed input of a convolution, or that with channels last, goes. */
static struct packed packed_of(const struct gpu_conv *conv, bool last) {
    const int64_t pitch = round_up8(conv->cin), plane = packed_plane(conv);
    if (!last) return (struct packed){.step = pitch, .group = plane * pitch, .image = plane * pitch * conv->groups};
    struct packed x = {.step = conv->groups * pitch, .group = pitch, .in_place = is_inside(conv)};
    x.image = x.step * (x.in_place ? conv->in_plane : plane);
    return x;
}

enum wick_status wick__conv_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *conv, bool last) {
    int64_t pitch = round_up8(conv->cin), taps = phases_of(conv) * most_taps(conv), merged = merged_of(dtype, conv);
    bool plain = !conv->transposed && taps == 1 && dtype != WICK_F8E4M3;
    bool ready = plain && pitch == conv->cin && wick__aligned16(conv->weight);
    int64_t size = dtype == WICK_F32 ? 4 : 2, weights = conv->groups * conv->cout * taps * pitch;
    struct packed x = packed_of(conv, last);
    struct gpu_conv seen = *conv; /* with merged groups */
    if (merged > 1) {
        seen.groups /= merged;
        seen.cin *= merged;
        seen.cout *= merged;
        x.step = conv->groups * conv->cin;
        x.group = seen.cin;
    }
    struct gpu_conv_mma p;
    set_params(dtype, &seen, &x, &p);
    struct cut c = cut_of(gpu, dtype, &seen, &p);
    set_part(&p, &c);
    const struct pieces b = {.x = x.in_place ? 0 : (size_t)(conv->n * x.image * size),
                             .weight = ready ? 0 : (size_t)(weights * size),
                             .merged = merged > 1 ? (size_t)(weights * merged * size) : 0,
                             .odd = merged > 1 ? 256 : 0,
                             .sums = c.parts > 1 ? (size_t)(c.parts * p.count) * 4 : 0};
    void *memory;
    WICK__TRY(wick__gpu_scratch(gpu, all_of(&b), &memory));
    const struct work work = {dtype, conv, last, merged, c, b};
    enum wick_status status = run(gpu, &work, &p, memory);
    wick__gpu_release(gpu, memory, all_of(&b));
    return status;
}
