/* Gradients of convolutions by their weights by matrix instructions: both sides with channels innermost, and the
 * launches.
 */
#include "gpu/ops/conv.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/conv_weight_mma.h"

enum {
    FEW_ROWS = 8,
    LEAST_ROWS = 4, /* where there are channels for whole pieces */
    FEW_COLUMNS = 16,
    LONG = 4096,     /* terms of a part: f32 sums stay short */
    SHORT = 256,     /* least terms of a part */
    BLOCKS = 264,    /* that fill a device: two a unit of an H100, */
    SMALL = 396,     /* and three of 64 rows */
    MOST = 256 << 20 /* bytes of all parts */
};

static int64_t round_up8(int64_t n) { return (n + 7) / 8 * 8; }

int64_t wick__conv_reach(const struct gpu_conv_weight_dim *dim) {
    return (int64_t)(dim->small - 1) * dim->stride + (int64_t)(dim->kernel - 1) * dim->dilation + 1;
}

static int64_t packed_plane(const struct gpu_conv_weight *g) {
    return wick__conv_reach(&g->dim[0]) * wick__conv_reach(&g->dim[1]) * wick__conv_reach(&g->dim[2]);
}

bool wick__conv_weight_mma_takes(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g) {
    const int64_t limit = INT32_MAX, columns = round_up8(g->channels);
    if (dtype != WICK_BF16 && dtype != WICK_F16 && dtype != WICK_F8E4M3) return false;
    if (g->rows < (g->channels < FEW_ROWS ? FEW_ROWS : LEAST_ROWS) || g->across < FEW_COLUMNS || g->terms == 0 ||
        !wick__has_mma(gpu) || g->groups * g->rows >= limit / (columns * g->taps))
        return false;
    for (int a = 0; a < 3; a++)
        if (wick__conv_reach(&g->dim[a]) > 9 + 5 * (int64_t)g->dim[a].large) return false;
    int64_t images = g->terms / g->small_plane * g->groups, plane = packed_plane(g);
    return plane < limit && g->large_plane < limit && columns * g->taps < limit && images < limit / plane &&
           images * plane < limit / columns * 8 && g->terms * g->groups < limit / round_up8(g->rows) * 8;
}

static enum wick_status pack_small(struct wick__gpu *gpu, const struct gpu_conv_weight *g, bool f8, void *to) {
    u32 plane = (u32)g->small_plane;
    struct gpu_conv_pack p = {.in = g->small,
                              .out = to,
                              .batch = g->terms / g->small_plane * g->groups,
                              .in_batch = g->rows * g->small_plane,
                              .channels = (u32)g->rows,
                              .pitch = (u32)round_up8(g->rows),
                              .size = {1, 1, plane},
                              .out_size = {1, 1, plane},
                              .channel_step = plane,
                              .step = plane,
                              .f8 = f8};
    return wick__conv_pack(gpu, &p);
}

/* Whether windows cover a large side and reach nowhere else. */
static bool is_whole(const struct gpu_conv_weight *g) {
    bool whole = true;
    for (int a = 0; a < 3; a++)
        whole = whole && g->dim[a].padding == 0 && wick__conv_reach(&g->dim[a]) <= g->dim[a].large;
    return whole;
}

/* The same of a large side with channels last. */
static enum wick_status pack_last(struct wick__gpu *gpu, const struct gpu_conv_weight *g, void *to) {
    struct wick__conv_images images = {
        .in = g->large, .out = to, .n = g->terms / g->small_plane, .channels = g->groups * g->channels};
    for (int a = 0; a < 3; a++) {
        images.from[a] = g->dim[a].large;
        images.to[a] = wick__conv_reach(&g->dim[a]);
        images.first[a] = -g->dim[a].padding;
    }
    return wick__conv_pack_last(gpu, &images);
}

static enum wick_status pack_large(struct wick__gpu *gpu, const struct gpu_conv_weight *g, bool f8, void *to) {
    struct gpu_conv_pack p = {.in = g->large,
                              .out = to,
                              .batch = g->terms / g->small_plane * g->groups,
                              .in_batch = g->channels * g->large_plane,
                              .channels = (u32)g->channels,
                              .pitch = (u32)round_up8(g->channels),
                              .channel_step = (u32)g->large_plane,
                              .step = (u32)g->dim[1].large * (u32)g->dim[2].large,
                              .f8 = f8};
    for (int a = 0; a < 3; a++) {
        p.size[a] = (u32)g->dim[a].large;
        p.out_size[a] = (u32)wick__conv_reach(&g->dim[a]);
        p.first[a] = -g->dim[a].padding;
    }
    return wick__conv_pack(gpu, &p);
}

/* Rows of a tile, and how many tiles and parts there are: by shape alone, so that the same shape has the same bits on
 * all devices of a kind. */
struct cut {
    int64_t rows, row_tiles, column_tiles, parts;
};

static struct cut cut_of(const struct gpu_conv_weight *g) {
    int64_t across = g->taps * round_up8(g->channels), rows = g->rows > 64 ? 128 : 64;
    struct cut c = {.rows = rows,
                    .row_tiles = wick__div_up(g->rows, rows),
                    .column_tiles = wick__div_up(across, GPU_CONV_WEIGHT_COLUMNS)};
    int64_t blocks = c.row_tiles * c.column_tiles * g->groups, parts = wick__div_up(g->terms, LONG);
    parts = wick__max(parts, wick__min((rows == 64 ? SMALL : BLOCKS) / blocks, wick__div_up(g->terms, SHORT)));
    parts = wick__min(parts, wick__max(1, MOST / (g->groups * g->rows * across * 4)));
    c.parts = parts;
    return c;
}

/* Sums of parts: [parts, rows, taps, pitch] of groups of which `merged` are one. */
struct sums {
    const void *from;
    int64_t pitch, merged, parts;
};

/* The sum of the parts. */
static enum wick_status finish(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g,
                               const struct sums *sums) {
    const int64_t pitch = sums->pitch, parts = sums->parts;
    /* Channels of a block: as many as give threads eight elements where there are few parts, else one. */
    int64_t most = parts < GPU_CONV_WEIGHT_MANY ? GPU_CONV_WEIGHT_TURNED : wick__max(8, GPU_BLOCK / g->taps);
    int64_t run = wick__max(1, wick__min(most, GPU_CONV_WEIGHT_TURNED / g->taps));
    int64_t across = g->taps * pitch, runs = wick__div_up(g->channels, run);
    run = wick__min(run, round_up8(wick__div_up(g->channels, runs))); /* of about one length */
    runs = wick__div_up(g->channels, run);
    struct gpu_conv_weight_finish p = {.sums = sums->from,
                                       .out = g->out,
                                       .count = g->groups * g->rows * across,
                                       .run = (u32)run,
                                       .channel_runs = (u32)runs,
                                       .parts = (u32)parts,
                                       .across = (u32)across,
                                       .pitch = (u32)pitch,
                                       .channels = (u32)g->channels,
                                       .taps = g->taps,
                                       .rows = (u32)g->rows,
                                       .merged = (u32)sums->merged,
                                       .f8 = dtype == WICK_F8E4M3};
    struct wick__launch launch = {.kernel = dtype == WICK_BF16 ? WICK__GPU_K_conv_weight_finish_bf16
                                                               : WICK__GPU_K_conv_weight_finish_f16,
                                  .grid = {(unsigned)(g->groups * g->rows * runs)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* How both sides lie; `whole`: the large one has all its positions, else those that windows reach. */
static void set_steps(const struct gpu_conv_weight *g, bool whole, struct gpu_conv_weight_mma *p) {
    u32 step = p->large_pitch / 8;
    for (int a = 2; a >= 0; a--) {
        p->small_size[a] = (u32)g->dim[a].small;
        p->tap_step[a] = step * (u32)g->dim[a].dilation;
        p->window_step[a] = step * (u32)g->dim[a].stride;
        step *= whole ? (u32)g->dim[a].large : (u32)wick__conv_reach(&g->dim[a]);
    }
    p->large_group = step;
    p->small_group = p->small_plane * (p->small_pitch / 8);
    wick__gpu_divisor(&p->by_plane, p->small_plane);
    wick__gpu_divisor(&p->by_h, p->small_size[1]);
    wick__gpu_divisor(&p->by_w, p->small_size[2]);
}

/* *parts is how many there are. */
static enum wick_status multiply(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g,
                                 const struct cut *c, struct gpu_conv_weight_mma *p, int64_t *parts) {
    p->part = (u32)(wick__div_up(wick__div_up(g->terms, c->parts), GPU_CONV_WEIGHT_STEP) * GPU_CONV_WEIGHT_STEP);
    *parts = wick__div_up(g->terms, p->part);
    enum wick__gpu_kernel kernel = c->rows == 128 ? WICK__GPU_K_conv_weight_128_bf16 : WICK__GPU_K_conv_weight_64_bf16;
    struct wick__launch launch = {.apart = true,
                                  .kernel = (enum wick__gpu_kernel)(kernel + (dtype != WICK_BF16)),
                                  .grid = {(unsigned)(c->row_tiles * c->column_tiles * g->groups * *parts)}};
    unsigned shared = wick__mma_shared(gpu);
    if (shared) {
        unsigned stage = GPU_CONV_WEIGHT_STAGE((unsigned)c->rows), stages = (unsigned)wick__min(3, shared / stage);
        launch.most = stages * stage;
        p->stages = (u32)wick__min(stages, p->part / GPU_CONV_WEIGHT_STEP);
        launch.shared = p->stages * stage;
    }
    return wick__gpu_launch(gpu, &launch, p);
}

/* ---- windows of one element ---- */

/* Where planes are whole pieces, terms that are neighbours lie together as they are: a product of each image, or of
 * each of some pieces of its plane, whose sums are parts. Neither side is packed. */
static int64_t pieces_of(const struct gpu_conv_weight *g) {
    enum { UNITS = 132, TILE = 128, LEAST_POINTS = 16 };
    int64_t images = g->terms / g->small_plane, least = 2 * g->rows * g->channels / (g->rows + g->channels), pieces = 1;
    int64_t blocks = images * g->groups * wick__div_up(g->rows, TILE) * wick__div_up(g->channels, TILE);
    least = wick__max(least, SHORT); /* terms of a part that are worth its sums */
    for (int a = 0; a < 3; a++)
        if (g->dim[a].kernel != 1 || g->dim[a].padding != 0 || g->dim[a].small != g->dim[a].large) return 0;
    if (g->rows < LEAST_POINTS || g->small_plane < least) return 0;
    while (g->small_plane / pieces > LONG) pieces *= 2;
    if (g->small_plane % (pieces * 8) != 0) return 0;
    while (blocks * pieces < UNITS && g->small_plane % (pieces * 16) == 0 && g->small_plane / (pieces * 2) >= least)
        pieces *= 2;
    return images * pieces * g->groups * g->rows * g->channels * 4 <= MOST ? pieces : 0;
}

static struct wick__product product_of(enum wick_dtype dtype, const struct gpu_conv_weight *g, int64_t pieces) {
    int64_t images = g->terms / g->small_plane, plane = g->small_plane, k = plane / pieces;
    return (struct wick__product){.dtype = dtype,
                                  .other_c = true,
                                  .c_dtype = WICK_F32,
                                  .m = g->rows,
                                  .n = g->channels,
                                  .k = k,
                                  .a = g->small,
                                  .b = g->large,
                                  .c_row = g->channels,
                                  .a_row = plane,
                                  .a_k = 1,
                                  .b_k = 1,
                                  .b_column = plane,
                                  .batch_rank = 3,
                                  .batch_shape = {images, pieces, g->groups},
                                  .a_batch = {g->groups * g->rows * plane, k, g->rows * plane},
                                  .b_batch = {g->groups * g->channels * plane, k, g->channels * plane}};
}

static enum wick_status multiply_points(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g,
                                        struct wick__product *product) {
    int64_t parts = product->batch_shape[0] * product->batch_shape[1];
    size_t bytes = (size_t)(parts * g->groups * g->rows * g->channels) * 4;
    WICK__TRY(wick__gpu_scratch(gpu, bytes, &product->c));
    enum wick_status status = wick__gemm_mma(gpu, product);
    const struct sums sums = {product->c, g->channels, 1, parts};
    if (status == WICK_OK) status = finish(gpu, dtype, g, &sums);
    wick__gpu_release(gpu, product->c, bytes);
    return status;
}

/* ---- tiles ---- */

/* How many groups become one whose rows and columns fill tiles: products of a row with columns of other groups are left
 * out in the end. */
static int64_t merged_of(const struct gpu_conv_weight *g) {
    enum { TILE = 64 };
    int64_t merged = wick__max(1, wick__min(g->groups, TILE / wick__max(g->rows, g->channels)));
    if (g->rows % 8 != 0 || g->channels % 8 != 0) return 1;
    while (g->groups % merged != 0) merged--;
    return g->groups * g->rows >= INT32_MAX / (g->channels * g->taps * merged) ? 1 : merged;
}

/* How both sides come to a product by tiles: NULL where they lie so already. */
struct sides {
    void *small, *large;
};

static enum wick_status pack_sides(struct wick__gpu *gpu, const struct gpu_conv_weight *g, bool f8,
                                   const struct wick__conv_last *last, const struct sides *to) {
    if (to->small) WICK__TRY(pack_small(gpu, g, f8, to->small));
    if (!to->large) return WICK_OK;
    return last->large ? pack_last(gpu, g, to->large) : pack_large(gpu, g, f8, to->large);
}

static enum wick_status multiply_tiles(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *own,
                                       const struct wick__conv_last *last) {
    struct gpu_conv_weight merged = *own, *g = &merged;
    int64_t images = own->terms / own->small_plane, by = merged_of(own), parts;
    g->groups /= by;
    g->rows *= by;
    g->channels *= by;
    g->across *= (u32)by;
    struct cut c = cut_of(g);
    struct gpu_conv_weight_mma p = {.groups = (u32)g->groups,
                                    .rows = (u32)g->rows,
                                    .across = (u32)(g->taps * round_up8(g->channels)),
                                    .row_tiles = (u32)c.row_tiles,
                                    .column_tiles = (u32)c.column_tiles,
                                    .terms = g->terms,
                                    .small_pitch = (u32)round_up8(g->rows),
                                    .large_pitch = (u32)round_up8(g->channels),
                                    .small_plane = (u32)g->small_plane,
                                    .taps_h = (u32)g->dim[1].kernel,
                                    .taps_w = (u32)g->dim[2].kernel};
    const bool whole = last->large && is_whole(g);
    size_t sums = (size_t)c.parts * (size_t)(g->groups * g->rows * p.across) * 4;
    size_t small = last->small ? 0 : (size_t)(g->terms * g->groups * p.small_pitch) * 2;
    size_t large = whole ? 0 : (size_t)(images * g->groups * packed_plane(g) * p.large_pitch) * 2;
    void *scratch;
    WICK__TRY(wick__gpu_scratch(gpu, sums + small + large, &scratch));
    const struct sides sides = {small ? scratch : NULL, large ? (char *)scratch + small : NULL};
    p.small = small ? sides.small : g->small;
    p.large = large ? sides.large : g->large;
    p.sums = (char *)scratch + small + large;
    enum wick_status status = pack_sides(gpu, g, dtype == WICK_F8E4M3, last, &sides);
    set_steps(g, whole, &p);
    if (status == WICK_OK) status = multiply(gpu, dtype, g, &c, &p, &parts);
    if (status == WICK_OK) status = finish(gpu, dtype, own, &(struct sums){p.sums, p.large_pitch, by, parts});
    wick__gpu_release(gpu, scratch, sums + small + large);
    return status;
}

bool wick__conv_weight_mma_takes_last(const struct wick__gpu *gpu, enum wick_dtype dtype,
                                      const struct gpu_conv_weight *g, const struct wick__conv_last *last) {
    const double limit = 0x1p33; /* 2^30 pieces */
    const double images = (double)(g->terms / g->small_plane) * (double)(g->groups * g->channels);
    return (dtype == WICK_BF16 || dtype == WICK_F16) && merged_of(g) == g->groups &&
           images * (double)g->large_plane < limit && images * (double)packed_plane(g) < limit &&
           (!last->small || (g->rows % WICK__CONV_PIECE == 0 && wick__aligned16(g->small))) &&
           (!last->large || (g->channels % WICK__CONV_PIECE == 0 && wick__aligned16(g->large))) &&
           wick__conv_weight_mma_takes(gpu, dtype, g);
}

enum wick_status wick__conv_weight_mma_last(struct wick__gpu *gpu, enum wick_dtype dtype,
                                            const struct gpu_conv_weight *g, const struct wick__conv_last *last) {
    return multiply_tiles(gpu, dtype, g, last);
}

enum wick_status wick__conv_weight_mma(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g) {
    int64_t pieces = dtype == WICK_F8E4M3 ? 0 : pieces_of(g);
    struct wick__product product = product_of(dtype, g, wick__max(pieces, 1));
    if (pieces > 0 && wick__gemm_mma_ready(gpu, &product, false) && wick__gemm_mma_ready(gpu, &product, true))
        return multiply_points(gpu, dtype, g, &product);
    return multiply_tiles(gpu, dtype, g, &(struct wick__conv_last){false, false});
}
