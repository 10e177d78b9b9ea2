/* Gradients of convolutions by their weights in plain arithmetic: a product in tiles or element by element, in parts,
 * which are joined. */
#include "gpu/ops/conv.h"
#include "gpu/ops/copy.h"
#include "gpu/ops/rows.h"
#include "gpu/routes/conv.h"

#include "core/checked.h"

enum {
    DEPTH = 16,          /* terms of a step of a tile */
    WASTE = 3,           /* tiles that have no more than so many times the elements of the result are worth it */
    LONG = 4096,         /* terms of a tile's part: f32 sums stay short */
    VERY_LONG = 1 << 16, /* of a few elements', of which each thread adds a part */
    SHORT = 128,         /* least terms of a tile's part */
    NOT_SHORT = 2048,    /* and of a few elements', whose threads' sums take as long to add as many terms */
    BLOCKS = 512,        /* that fill a device */
    MOST = 256 << 20     /* bytes of all parts */
};

/* Sizes and options as 32-bit numbers; false when one does not fit, or coordinates might not. */
static bool set_dim(struct gpu_conv_weight_dim *dim, const struct wick__call *call, const int64_t *small,
                    const int64_t *large, int s) {
    const int64_t limit = (int64_t)1 << 30;
    *dim = (struct gpu_conv_weight_dim){.small = 1, .large = 1, .kernel = 1, .stride = 1, .dilation = 1};
    if (s < 0) return true;
    int64_t kernel = call->p.window.kernel[s], padding = call->p.window.padding[s];
    /* The stride of a single window, and the dilation of a single tap, may be any number. */
    int64_t stride = small[2 + s] == 1 ? 1 : call->p.window.stride[s];
    int64_t dilation = kernel == 1 ? 1 : call->p.window.dilation[s];
    if (small[2 + s] >= limit || large[2 + s] >= limit || padding >= limit || stride >= limit || dilation >= limit ||
        kernel >= limit)
        return false;
    *dim = (struct gpu_conv_weight_dim){.small = (i32)small[2 + s],
                                        .large = (i32)large[2 + s],
                                        .kernel = (i32)kernel,
                                        .stride = (i32)stride,
                                        .padding = (i32)padding,
                                        .dilation = (i32)dilation};
    return kernel * dilation < limit && small[2 + s] * stride < limit;
}

static bool set_params(struct gpu_conv_weight *p, const struct wick__call *call) {
    bool transposed = call->op >= WICK_OP_conv_transpose1d_backward_weight;
    const struct wick_tensor *small = call->in[transposed], *large = call->in[!transposed];
    int64_t groups = call->p.window.groups, terms = small->layout.shape[0], taps = 1;
    *p = (struct gpu_conv_weight){.out = wick__data(call->out[0]),
                                  .groups = groups,
                                  .rows = small->layout.shape[1] / groups,
                                  .channels = large->layout.shape[1] / groups,
                                  .small_plane = 1,
                                  .large_plane = 1,
                                  .count = wick__count(call->out[0])};
    for (int a = 0; a < 3; a++) {
        struct gpu_conv_weight_dim *dim = &p->dim[a];
        if (!set_dim(dim, call, small->layout.shape, large->layout.shape, a - (3 - call->p.window.spatial)))
            return false;
        p->small_plane *= dim->small;
        p->large_plane *= dim->large;
        taps *= dim->kernel;
    }
    if (wick__count(large) == 0) terms = 0;
    if (terms > 0) {
        p->small = wick__data(small);
        p->large = wick__data(large);
    }
    terms *= p->small_plane;
    if (terms >= INT32_MAX || p->channels * taps >= INT32_MAX || groups >= INT32_MAX) return false;
    if (terms > 0) {
        wick__gpu_divisor(&p->by_plane, (u32)p->small_plane);
        wick__gpu_divisor(&p->by_h, (u32)p->dim[1].small);
        wick__gpu_divisor(&p->by_w, (u32)p->dim[2].small);
    }
    p->terms = (u32)terms;
    p->taps = (u32)taps;
    p->across = (u32)(p->channels * taps);
    return true;
}

/* Cuts the terms into parts: by shape alone, so that the same shape has the same bits on every device. */
static void set_parts(struct gpu_conv_weight *p, int64_t blocks, int64_t least, int64_t longest, int64_t size) {
    int64_t parts = wick__max(1, wick__div_up(p->terms, longest));
    if (parts * blocks < BLOCKS)
        parts = wick__max(parts, wick__min(wick__div_up(BLOCKS, blocks), wick__div_up(p->terms, least)));
    parts = wick__min(parts, wick__max(1, MOST / (p->count * size)));
    p->part = (u32)(wick__div_up(wick__div_up(p->terms, parts), DEPTH) * DEPTH);
    p->parts = (u32)wick__max(1, wick__div_up(p->terms, wick__max(1, p->part)));
}

enum wick_status wick__conv_weight_join(struct wick__gpu *gpu, enum wick_dtype dtype,
                                        struct gpu_conv_weight_join *join) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_conv_weight_join_bf16, dtype),
                                  .grid = {wick__gpu_blocks(gpu, join->count, 1)}};
    return wick__gpu_launch(gpu, &launch, join);
}

static enum wick_status run(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_weight *p,
                            const struct wick__launch *launch) {
    enum { MANY = 64, GROUPS = 16 }; /* parts that are first joined to those of so many groups */
    const enum wick_dtype sum = dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    const size_t part = (size_t)p->count * wick__size(sum), groups = p->parts >= MANY ? GROUPS : 0;
    const size_t nbytes = (p->parts + groups) * part;
    if (p->parts <= 1) return wick__gpu_launch(gpu, launch, p);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p->sums));
    struct gpu_conv_weight_join join = {
        .sums = p->sums, .out = p->out, .count = p->count, .total = p->count * (int64_t)p->parts};
    enum wick_status status = wick__gpu_launch(gpu, launch, p);
    if (status == WICK_OK && groups) {
        void *joined = (char *)p->sums + p->parts * part;
        struct gpu_conv_weight_join first = join;
        first.out = joined;
        first.count *= GROUPS;
        join.sums = joined;
        join.total = first.count;
        status = wick__conv_weight_join(gpu, sum, &first);
    }
    if (status == WICK_OK) status = wick__conv_weight_join(gpu, dtype, &join);
    wick__gpu_release(gpu, p->sums, nbytes);
    return status;
}

/* Whether tiles are faster than a few elements a block, by microseconds on an H100. */
static bool by_tiles(const struct gpu_conv_weight *p, int64_t tiles) {
    double terms = (double)p->terms * (double)p->groups, all = (double)tiles * GPU_CONV_WEIGHT_TILE;
    double few =
        (double)wick__div_up(p->rows, GPU_CONV_FEW_ROWS) * (double)wick__div_up(p->across, GPU_CONV_FEW_COLUMNS);
    return all <= WASTE * (double)p->rows * (double)p->across ||
           25 + 2 * all * terms / 17e6 < 4 + few * terms * 13.4 / 1e6;
}

/* Cuts the result into tiles, if these are faster and take it. */
static bool cut_tiles(enum wick_dtype dtype, struct gpu_conv_weight *p) {
    const int64_t edge = dtype == WICK_F32 ? GPU_CONV_WEIGHT_ROWS_F32 : GPU_CONV_WEIGHT_ROWS;
    int64_t row_tiles = wick__div_up(p->rows, edge),
            column_tiles = wick__div_up(p->across, GPU_CONV_WEIGHT_TILE / edge);
    int64_t tiles = row_tiles * column_tiles;
    if (tiles >= INT32_MAX / p->groups || !by_tiles(p, tiles) || (dtype == WICK_F32 && !wick__conv_is_near(p)))
        return false;
    p->row_tiles = (u32)row_tiles;
    p->column_tiles = (u32)column_tiles;
    set_parts(p, tiles * p->groups, SHORT, LONG, dtype == WICK_F64 ? 8 : 4);
    return tiles * p->groups * p->parts < INT32_MAX;
}

static enum wick_status run_tiles(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_weight *p) {
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_conv_weight_tile_bf16, dtype),
                                  .grid = {(unsigned)(p->row_tiles * p->column_tiles * p->groups * p->parts)}};
    return run(gpu, dtype, p, &launch);
}

/* Products or tiles of f32, behind a copy; false, and no error, where there is no memory for that. */
static bool run_inside(struct wick__gpu *gpu, const struct gpu_conv_weight *own, bool products) {
    struct gpu_conv_weight p = *own;
    struct wick__error quiet = {0};
    void *copy = NULL;
    size_t nbytes = 0;
    wick__error_swap(&quiet);
    enum wick_status status = wick__conv_inside(gpu, &p, &copy, &nbytes);
    if (status == WICK_OK) {
        status = products ? wick__conv_weight_products(gpu, &p) : run_tiles(gpu, WICK_F32, &p);
        if (copy) wick__gpu_release(gpu, copy, nbytes);
    }
    wick__error_swap(&quiet);
    return status == WICK_OK;
}

/* A few elements a block. */
static enum wick_status run_few(struct wick__gpu *gpu, const struct wick__call *call, struct gpu_conv_weight *p) {
    enum wick_dtype dtype = call->out[0]->dtype;
    bool one = p->rows == 1, less = dtype == WICK_F64 || dtype == WICK_F8E4M3;
    int64_t row_tiles = wick__div_up(p->rows, one ? 1 : GPU_CONV_FEW_ROWS);
    int64_t column_tiles = wick__div_up(p->across, less ? GPU_CONV_FEW_COLUMNS_F64 : GPU_CONV_FEW_COLUMNS), blocks;
    struct wick__launch launch = {
        .kernel =
            wick__gpu_of_floats(one ? WICK__GPU_K_conv_weight_one_bf16 : WICK__GPU_K_conv_weight_few_bf16, dtype)};
    if (__builtin_mul_overflow(row_tiles * column_tiles, p->groups, &blocks) || blocks >= INT32_MAX)
        return wick__fail(WICK_OVERFLOW, "%s: a result of %lld elements is too large for %s", wick_op_name(call->op),
                          (long long)p->count, gpu->device->name);
    p->row_tiles = (u32)row_tiles;
    p->column_tiles = (u32)column_tiles;
    set_parts(p, blocks, NOT_SHORT, VERY_LONG, dtype == WICK_F64 ? 8 : 4);
    wick__gpu_reduce_grid(&launch, blocks * p->parts);
    return run(gpu, dtype, p, &launch);
}

/* Whether all taps of a channel go to one block: planes of one channel by 3 x 3, 5 x 5 or 7 x 7 taps. */
static bool has_planes(const struct gpu_conv_weight *p) {
    int taps = p->dim[1].kernel;
    return p->channels == 1 && p->dim[0].kernel == 1 && p->dim[0].large == 1 && p->dim[0].small == 1 &&
           (taps == 3 || taps == 5 || taps == 7) && p->dim[2].kernel == taps && p->dim[2].small <= VERY_LONG &&
           p->large_plane < INT32_MAX && p->groups * p->rows < INT32_MAX / 4;
}

static enum wick_status run_planes(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_weight *p) {
    enum { LEAST = 4 }; /* lines of a thread's windows in a part */
    int64_t windows = p->dim[2].small, blocks = p->groups * p->rows;
    int taps = p->dim[1].kernel, cuts = taps == 7 ? 2 : 1; /* blocks that share the rows of taps */
    enum wick__gpu_kernel first = taps == 3   ? WICK__GPU_K_conv_weight_planes3_bf16
                                  : taps == 5 ? WICK__GPU_K_conv_weight_planes5_bf16
                                              : WICK__GPU_K_conv_weight_planes7_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, dtype)};
    p->across = wick__gpu_power(windows, GPU_BLOCK);
    p->terms /= (u32)windows;
    int64_t lines = GPU_BLOCK / p->across, along = wick__div_up(windows, p->across);
    set_parts(p, blocks, lines * LEAST, wick__max(lines, VERY_LONG / (p->across * along)), dtype == WICK_F64 ? 8 : 4);
    wick__gpu_reduce_grid(&launch, blocks * p->parts * cuts);
    return run(gpu, dtype, p, &launch);
}

/* Whether windows are one element of one channel, side by side. */
static bool has_points(enum wick_dtype dtype, const struct gpu_conv_weight *p) {
    bool has_kernels = dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F32;
    for (int a = 0; a < 3; a++)
        if (p->dim[a].kernel != 1 || p->dim[a].padding != 0 || p->dim[a].small != p->dim[a].large) return false;
    return has_kernels && p->channels == 1 && p->terms > 0 && p->groups * p->rows < INT32_MAX / 4;
}

static enum wick_status run_points(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_weight *p) {
    enum { RUN = 4, LEAST = 4 * GPU_BLOCK }; /* runs of a part */
    uintptr_t together = wick__min(16, RUN * (uintptr_t)wick__size(dtype));
    bool runs = p->small_plane % RUN == 0 && ((uintptr_t)p->small | (uintptr_t)p->large) % together == 0;
    int64_t each = runs ? RUN : 1;
    enum wick__gpu_kernel first = runs ? WICK__GPU_K_conv_weight_points_bf16 : WICK__GPU_K_conv_weight_points_each_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, dtype)};
    p->terms /= (u32)each;
    wick__gpu_divisor(&p->by_plane, (u32)(p->small_plane / each));
    wick__gpu_divisor(&p->by_rows, (u32)p->rows);
    set_parts(p, p->count, LEAST, VERY_LONG / each, 4);
    wick__gpu_reduce_grid(&launch, p->count * p->parts);
    return run(gpu, dtype, p, &launch);
}

/* The parameters of a call, or an error. */
static enum wick_status params_of(const struct wick__call *call, struct gpu_conv_weight *p) {
    if (set_params(p, call)) return WICK_OK;
    return wick__fail(WICK_OVERFLOW, "%s: a size or option is beyond 2^30, on %s", wick_op_name(call->op),
                      wick__gpu_of(call->out[0])->device->name);
}

wick__kernel_fn wick__gpu_conv_backward;

/* Of sides with channels last, if those are taken as they lie. */
static enum wick_status run_last(const struct wick__call *call, bool *done) {
    const bool transposed = call->op >= WICK_OP_conv_transpose1d_backward_weight;
    const struct wick__conv_last last = {!wick__layout_is_contiguous(&call->in[transposed]->layout),
                                         !wick__layout_is_contiguous(&call->in[!transposed]->layout)};
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct gpu_conv_weight p;
    bool rest;
    WICK__TRY(params_of(call, &p));
    *done = p.terms > 0 && wick__conv_weight_mma_takes_last(gpu, call->out[0]->dtype, &p, &last);
    if (!*done) return WICK_OK;
    WICK__TRY(wick__conv_run(call, wick__gpu_conv_backward, wick__gpu_packed, done, &rest));
    if (*done) return WICK_OK;
    *done = true;
    return wick__conv_weight_mma_last(gpu, call->out[0]->dtype, &p, &last);
}

enum wick_status wick__gpu_conv_backward(const struct wick__call *call) {
    enum wick_dtype dtype = call->out[0]->dtype;
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct gpu_conv_weight p;
    bool done, rest;
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    if (!wick__layout_is_contiguous(&call->in[0]->layout) || !wick__layout_is_contiguous(&call->in[1]->layout)) {
        WICK__TRY(run_last(call, &done));
        return done ? WICK_OK : wick__gpu_run_packed(call, wick__gpu_conv_backward);
    }
    WICK__TRY(wick__conv_run(call, wick__gpu_conv_backward, wick__gpu_packed, &done, &rest));
    if (done) return WICK_OK;
    WICK__TRY(params_of(call, &p));
    WICK__TRY(wick__conv_depth_weight(gpu, dtype, &p, &done));
    if (done) return WICK_OK;
    if (has_points(dtype, &p)) return run_points(gpu, dtype, &p);
    if (has_planes(&p) && p.terms > 0) return run_planes(gpu, dtype, &p);
    if (wick__conv_weight_mma_takes(gpu, dtype, &p)) return wick__conv_weight_mma(gpu, dtype, &p);
    if (wick__conv_weight_products_takes(gpu, dtype, &p) && run_inside(gpu, &p, true)) return WICK_OK;
    if (!cut_tiles(dtype, &p)) return run_few(gpu, call, &p);
    if (dtype != WICK_F32) return run_tiles(gpu, dtype, &p);
    return run_inside(gpu, &p, false) ? WICK_OK : run_few(gpu, call, &p);
}
