/* Convolutions and transposed convolutions of 1 to 3 spatial dims. */
#include "gpu/ops/conv.h"
#include "gpu/ops/copy.h"
#include "gpu/ops/gemm.h"
#include "gpu/routes/conv.h"

#include "core/checked.h"

#include <math.h>

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sizes and options as 32-bit numbers; false when one does not fit, or coordinates might not. */
static bool set_dim(struct gpu_conv_dim *dim, const struct wick__call *call, bool transposed, int s) {
    *dim = (struct gpu_conv_dim){
        .in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1, .phases = 1, .tap_step = 1, .in_step = 1};
    if (s < 0) return true;
    int64_t in = call->in[0]->layout.shape[2 + s], out = call->out[0]->layout.shape[2 + s];
    int64_t kernel = call->in[1]->layout.shape[2 + s], stride = call->p.window.stride[s];
    int64_t padding = call->p.window.padding[s], dilation = call->p.window.dilation[s];
    const int64_t limit = (int64_t)1 << 30;
    /* A stride past the end, or a dilation that nothing is multiplied with, may be any number. */
    stride = out == 1 && !transposed ? 1 : stride;
    dilation = kernel == 1 ? 1 : dilation;
    if (in >= limit || out >= limit || padding >= limit || stride >= limit || dilation >= limit || kernel >= limit)
        return false;
    *dim = (struct gpu_conv_dim){.in = (i32)in,
                                 .out = (i32)out,
                                 .kernel = (i32)kernel,
                                 .stride = (i32)stride,
                                 .padding = (i32)padding,
                                 .dilation = (i32)dilation,
                                 .phases = transposed ? (i32)wick__min(stride, out) : 1,
                                 .tap_step = transposed ? (i32)(stride / gcd(stride, dilation)) : 1,
                                 .in_step = (i32)(transposed ? -dilation / gcd(stride, dilation) : dilation)};
    return kernel * dilation < limit && out * stride < 2 * limit;
}

static bool set_params(struct gpu_conv *p, const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *out = call->out[0];
    bool transposed = call->op >= WICK_OP_conv_transpose1d;
    int spatial = call->p.window.spatial;
    int64_t groups = call->p.window.groups;
    *p = (struct gpu_conv){.x = wick__data(x),
                           .weight = wick__data(weight),
                           .bias = bias ? wick__data(bias) : NULL,
                           .out = wick__data(out),
                           .n = x->layout.shape[0],
                           .groups = groups,
                           .cin = x->layout.shape[1] / groups,
                           .cout = out->layout.shape[1] / groups,
                           .in_plane = 1,
                           .out_plane = 1,
                           .transposed = transposed,
                           .relu = call->p.window.relu};
    int64_t taps = 1;
    for (int a = 0; a < 3; a++) {
        if (!set_dim(&p->dim[a], call, transposed, a - (3 - spatial))) return false;
        p->in_plane *= p->dim[a].in;
        p->out_plane *= p->dim[a].out;
        taps *= p->dim[a].kernel;
    }
    p->weight_m = transposed ? taps : p->cin * taps;
    p->weight_c = transposed ? p->cout * taps : taps;
    p->weight_group = p->cin * p->cout * taps;
    return p->cin * taps < INT32_MAX;
}

static int64_t tiles(const struct gpu_conv *p, int64_t results, int64_t edge) {
    return (p->cout + edge - 1) / edge * ((results + edge - 1) / edge) * p->groups;
}

static int64_t taps_of(const struct gpu_conv *p) {
    return (int64_t)p->dim[0].kernel * p->dim[1].kernel * p->dim[2].kernel;
}

/* Adds the bias to a result that a library has left without, and relu. */
static enum wick_status finish(const struct wick__call *call) {
    const struct wick_tensor *out = call->out[0], *bias = call->in[2];
    const struct wick__product g = {.dtype = out->dtype,
                                    .m = out->layout.shape[1],
                                    .n = wick__count(out) / out->layout.shape[0] / out->layout.shape[1],
                                    .c = wick__data(out),
                                    .bias = bias ? wick__data(bias) : NULL,
                                    .bias_step = 1,
                                    .bias_by_row = true,
                                    .activation = call->p.window.relu ? WICK_ACTIVATION_RELU : WICK_ACTIVATION_NONE,
                                    .batch_rank = 1,
                                    .batch_shape = {out->layout.shape[0]}};
    return wick__gemm_finish(wick__gpu_of(out), &g);
}

/* ---- products of each tap's weights and the input, which are then gathered ---- */

/* Microseconds on an H100, by estimates that need only rank the ways: 35 million operations of a product in one, 17 of
 * tiles where there are blocks enough (28 where they are wide), and two million bytes. By matrix instructions 70, and
 * 33 (60). */
static double product_time(const struct gpu_conv *p, bool matrix) {
    double images = (double)p->n * (double)p->in_plane, rows = (double)(p->groups * p->cout) * (double)taps_of(p);
    double turned = p->transposed ? 0 : 4 + rows * (double)p->cin * 8 / 1e6; /* the weights */
    double rate = matrix && p->cin >= 64 ? 70e6 : 35e6;
    return 8 + turned + 2 * images * rows * (double)p->cin / rate + images * rows * 4 * 2 / 2e6;
}

static double tile_time(const struct gpu_conv *p, bool matrix) {
    enum { EDGE = 64, BLOCKS = 264, WIDE_CHANNELS = 96 };
    double phases = 1, results = (double)p->n;
    for (int a = 0; a < 3; a++) {
        /* Where stride and dilation have a factor in common, only one phase in so many meets taps. */
        const struct gpu_conv_dim *dim = &p->dim[a];
        phases *= p->transposed ? (double)wick__min(dim->phases, dim->tap_step) : 1;
        results *= (dim->out + dim->phases - 1) / dim->phases;
    }
    double across = ceil(results / EDGE), down = (double)((p->cout + EDGE - 1) / EDGE);
    double blocks = across * down * phases * (double)p->groups;
    /* All phases together meet each tap once. */
    double work = 2 * across * EDGE * down * EDGE * (double)(p->groups * p->cin) * (double)taps_of(p);
    bool wide = p->cout >= WIDE_CHANNELS && blocks >= 2 * BLOCKS;
    double rate = matrix ? (wide ? 60e6 : 33e6) : wide ? 28e6 : 17e6;
    return 4 + work / rate * (blocks < BLOCKS ? BLOCKS / blocks : 1);
}

/* One by one: 0.23 for each term of a result, or half a million terms in one where they are many. */
static double direct_time(const struct gpu_conv *p) {
    double terms = (double)p->cin * (double)taps_of(p), each = 0.23 * terms;
    double all = terms * (double)(p->groups * p->cout) * (double)p->n;
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &p->dim[a];
        all *= p->transposed ? dim->in : dim->out; /* all phases together meet each tap once */
        each /= p->transposed ? (double)wick__min(dim->tap_step, dim->kernel) : 1;
    }
    return 4 + fmax(each, all / 5e5);
}

/* Few channels leave tiles empty, and results of many phases have a term or none for most taps. Where large windows lie
 * side by side each product is of one result; small ones are faster by tiles (2 x 2 on an H100: 94 us and 149 in f32).
 */
static bool is_gathered(const struct wick__gpu *gpu, const struct gpu_conv *p, enum wick_dtype dtype) {
    enum { MANY_PHASES = 64, FEW_TERMS = 16, SMALL = 8 };
    bool few = p->cout < WICK__FEW_CHANNELS, side_by_side = p->transposed && taps_of(p) > SMALL;
    for (int a = 0; a < 3; a++) {
        const struct gpu_conv_dim *dim = &p->dim[a];
        side_by_side = side_by_side && dim->kernel == dim->stride && dim->padding == 0 && dim->dilation == 1;
    }
    int64_t phases = (int64_t)p->dim[0].phases * p->dim[1].phases * p->dim[2].phases;
    if (p->groups == 1 && p->cin >= FEW_TERMS && p->transposed && (side_by_side || few || phases > MANY_PHASES))
        return true;
    if (p->cin < FEW_TERMS / 2 || (dtype != WICK_F32 && (!few || p->transposed || p->groups > 1))) return false;
    double margin = p->transposed && taps_of(p) <= SMALL ? 0.4 : 0.8;
    bool matrix = dtype == WICK_F32 && wick__conv_mma_takes(gpu, dtype, p);
    return product_time(p, matrix) < margin * (few ? direct_time(p) : tile_time(p, matrix));
}

/* The products of `images` images by weights [cin, cout, kernel...]. */
static struct wick__product products_of(const struct gpu_conv *p, enum wick_dtype dtype, int64_t images) {
    int64_t rows = p->cout * taps_of(p);
    return (struct wick__product){.dtype = dtype,
                                  .other_c = wick__size(dtype) < 4,
                                  .c_dtype = WICK_F32,
                                  .m = rows,
                                  .n = p->in_plane,
                                  .k = p->cin,
                                  .a = p->weight,
                                  .b = p->x,
                                  .c_row = p->in_plane,
                                  .a_row = 1,
                                  .a_k = rows,
                                  .b_k = p->in_plane,
                                  .b_column = 1,
                                  .batch_rank = 2,
                                  .batch_shape = {images, p->groups},
                                  .a_batch = {0, p->weight_group},
                                  .b_batch = {p->groups * p->cin * p->in_plane, p->cin * p->in_plane}};
}

static enum wick_status gather(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *p, void *products) {
    struct gpu_conv part = *p;
    part.x = products;
    part.planes = (u32)(p->n * p->groups * p->cout);
    part.grid_planes = (u32)wick__min(part.planes, 65535);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_conv_gather_bf16, dtype),
                                  .grid = {(unsigned)((p->out_plane + GPU_BLOCK - 1) / GPU_BLOCK), part.grid_planes}};
    return wick__gpu_launch(gpu, &launch, &part);
}

/* The weights of a convolution, [cout, cin, kernel...], as those of a transposed one. */
static enum wick_status turn_weights(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *p, void *to) {
    int64_t taps = taps_of(p);
    struct wick__gpu_move move = {.in = p->weight, .out = to, .size = wick__size(dtype)};
    move.from = (struct wick__layout){.rank = 4,
                                      .shape = {p->groups, p->cin, p->cout, taps},
                                      .stride = {p->weight_group, p->weight_c, p->weight_m, 1}};
    WICK__TRY(wick__layout_new(&move.to, "copy", 4, move.from.shape));
    return wick__gpu_move(gpu, &move);
}

static enum wick_status run_products(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *p,
                                     struct wick__product *g) {
    enum wick_status status = WICK_OK;
    int64_t at_once = g->batch_shape[0];
    for (int64_t first = 0; first < p->n && status == WICK_OK; first += at_once) {
        struct gpu_conv part = *p;
        int64_t bytes = first * (int64_t)wick__size(dtype);
        part.n = g->batch_shape[0] = wick__min(at_once, p->n - first);
        g->b = (const char *)p->x + bytes * p->groups * p->cin * p->in_plane;
        part.out = (char *)p->out + bytes * p->groups * p->cout * p->out_plane;
        status = g->other_c ? wick__gemm_mma(gpu, g) : wick__gemm_run(gpu, g);
        if (status == WICK_OK) status = gather(gpu, dtype, &part, g->c);
    }
    return status;
}

/* Without memory false, and no error. */
static bool try_scratch(struct wick__gpu *gpu, size_t nbytes, void **memory) {
    struct wick__error quiet = {0};
    wick__error_swap(&quiet);
    bool there = wick__gpu_scratch(gpu, nbytes, memory) == WICK_OK;
    wick__error_swap(&quiet);
    return there;
}

/* Some images at a time, whose products a GPU's cache can hold for the most part, or one; *done says whether it takes
 * it. */
static enum wick_status multiply_and_gather(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *p,
                                            bool *done) {
    const int64_t usual = (int64_t)64 << 20, most = (int64_t)256 << 20, size = wick__max(wick__size(dtype), 4);
    int64_t image, at_once = 0;
    if (!wick__mul(p->groups * p->cout * taps_of(p), p->in_plane * size, &image)) image = 0;
    if (image > 0 && image <= most) at_once = wick__min(p->n, wick__max(1, usual / image));
    struct wick__product g = products_of(p, dtype, at_once);
    *done = at_once > 0 && p->out_plane < INT32_MAX && at_once * p->groups * p->cout < INT32_MAX &&
            (!g.other_c || wick__gemm_mma_takes(gpu, &g));
    if (!*done) return WICK_OK;
    int64_t turned = p->transposed ? 0 : (p->groups * p->weight_group * size + 255) / 256 * 256;
    void *memory;
    *done = try_scratch(gpu, (size_t)(turned + at_once * image), &memory);
    if (!*done) return WICK_OK; /* tiles and direct sums have their turn */
    if (turned) g.a = memory;
    enum wick_status status = turned ? turn_weights(gpu, dtype, p, memory) : WICK_OK;
    g.c = (char *)memory + turned;
    if (status == WICK_OK) status = run_products(gpu, dtype, p, &g);
    wick__gpu_release(gpu, memory, (size_t)(turned + at_once * image));
    return status;
}

/* ---- one channel a group: tiles of planes ---- */

/* What the windows of a tile cover of a dim, for tiles of one result of each phase, and where for the first one. */
static int64_t covered_by(const struct gpu_conv_dim *dim, bool transposed, i32 *first) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t r = 0; r < dim->phases; r++) {
        int64_t at = -(int64_t)dim->padding, taps = dim->kernel;
        if (transposed) {
            int64_t tap = wick__conv_first_tap(dim, r, &at);
            taps = tap < wick__min(dim->tap_step, dim->kernel) ? (dim->kernel - tap - 1) / dim->tap_step + 1 : 0;
        }
        if (taps == 0) continue;
        int64_t reach = (taps - 1) * dim->in_step;
        low = wick__min(low, at + wick__min(reach, 0));
        high = wick__max(high, at + wick__max(reach, 0));
    }
    *first = low <= high ? (i32)low : 0;
    return low <= high ? high - low + 1 : 1;
}

static int64_t pieces(int64_t n, int64_t most) { return (n + most - 1) / most; }

/* Cuts planes into tiles whose windows cover what LDS holds; false where that is far more than they need. */
static bool set_tiles(struct gpu_conv_planes *p, size_t size) {
    enum { WIDE = 64, LEAST = 16, MOST_PLANES = 16 };
    const struct gpu_conv *c = &p->conv;
    int64_t room = GPU_CONV_TILE_BYTES / (int64_t)size, taps = taps_of(c), results[2], mul[2], reach[2];
    for (int a = 0; a < 2; a++) {
        const struct gpu_conv_dim *dim = &c->dim[1 + a];
        results[a] = (dim->out + dim->phases - 1) / dim->phases;
        mul[a] = c->transposed ? 1 : dim->stride;
        reach[a] = covered_by(dim, c->transposed, a == 0 ? &p->top : &p->left);
    }
    int64_t columns = pieces(results[1], pieces(results[1], results[0] == 1 ? GPU_CONV_TILE : WIDE));
    int64_t rows = wick__min(results[0], GPU_CONV_TILE / columns), height, width;
    rows = pieces(results[0], pieces(results[0], rows));
    for (;;) {
        height = (rows - 1) * mul[0] + reach[0];
        width = (columns - 1) * mul[1] + reach[1];
        if (height <= room && width <= room && height * width <= room) break;
        if (rows * columns <= LEAST) return false;
        if (rows > 1 && height >= width)
            rows = (rows + 1) / 2;
        else if (columns > 1)
            columns = (columns + 1) / 2;
        else
            rows = (rows + 1) / 2;
    }
    int64_t planes = 1;
    while (planes < MOST_PLANES && 2 * planes * rows * columns <= GPU_CONV_TILE &&
           2 * planes * height * width <= room && 2 * planes * taps <= GPU_CONV_TILE_TAPS)
        planes *= 2;
    p->planes = (u32)planes;
    p->rows = (u32)rows;
    p->columns = (u32)columns;
    p->down = (u32)pieces(results[0], rows);
    p->across = (u32)pieces(results[1], columns);
    p->height = (u32)height;
    p->width = (u32)width;
    wick__gpu_divisor(&p->by_columns, p->columns);
    wick__gpu_divisor(&p->by_width, p->width);
    return height * width <= 2 * rows * columns * taps;
}

/* Whether it is one for them: then its launch, too. Few taps of results that lie apart in x share little: an H200 takes
 * 33 us by tiles and 23 one by one for 32x192x28x28, 3x3 with a stride of 2. */
static bool by_planes(const struct gpu_conv *c, enum wick_dtype dtype, struct gpu_conv_planes *p, int64_t *blocks) {
    enum { FEW = 8, FEW_TAPS = 9 };
    int64_t planes = c->n * c->groups * c->cout, taps = taps_of(c);
    bool flat = c->dim[0].in == 1 && c->dim[0].out == 1 && c->dim[0].kernel == 1 && c->dim[0].padding == 0;
    if (!wick_dtype_is_float(dtype) || !flat || c->cin != 1 || c->cout >= FEW || taps == 1 ||
        taps > GPU_CONV_TILE_TAPS || (!c->transposed && c->dim[1].stride * c->dim[2].stride > 1 && taps <= FEW_TAPS) ||
        c->dim[1].phases > GPU_CONV_TILE_PHASES || c->dim[2].phases > GPU_CONV_TILE_PHASES || planes > INT32_MAX ||
        c->in_plane > INT32_MAX || c->out_plane > INT32_MAX)
        return false;
    *p = (struct gpu_conv_planes){.conv = *c};
    p->conv.planes = (u32)planes;
    if (!set_tiles(p, dtype == WICK_F64 ? 8 : 4)) return false;
    *blocks = pieces(planes, p->planes) * p->down * p->across;
    return *blocks < INT32_MAX;
}

/* ---- tiles, and results one by one ---- */

static enum wick_status run_direct(struct wick__gpu *gpu, const struct wick__call *call, struct gpu_conv *p) {
    int64_t planes = p->n * p->groups * p->cout, blocks;
    struct gpu_conv_planes tiled;
    if (by_planes(p, call->out[0]->dtype, &tiled, &blocks)) {
        struct wick__launch launch = {.kernel = wick__gpu_of_floats(WICK__GPU_K_conv_planes_bf16, call->out[0]->dtype),
                                      .grid = {(unsigned)blocks}};
        return wick__gpu_launch(gpu, &launch, &tiled);
    }
    if (planes > UINT32_MAX || p->out_plane > INT32_MAX)
        return wick__fail(WICK_OVERFLOW, "%s: %lld planes of %lld elements are too many for %s", wick_op_name(call->op),
                          (long long)planes, (long long)p->out_plane, gpu->device->name);
    const struct gpu_conv_dim *rows = &p->dim[1];
    int64_t of_phase = (rows->out + rows->phases - 1) / rows->phases; /* of the first, which is the largest */
    p->planes = (u32)planes;
    p->row_runs = (u32)((of_phase + GPU_CONV_ROWS - 1) / GPU_CONV_ROWS * rows->phases);
    int64_t each = p->out_plane / rows->out * p->row_runs;
    struct wick__launch launch = {.kernel = wick__gpu_of_all(WICK__GPU_K_conv_direct_u8, call->out[0]->dtype),
                                  .grid = {wick__gpu_blocks(gpu, planes * each, 1)}};
    return wick__gpu_launch(gpu, &launch, p);
}

static enum wick_status run_tiles(struct wick__gpu *gpu, const struct wick__call *call, struct gpu_conv *p) {
    enum { WIDE = 128, NARROW = 64 };
    enum wick_dtype dtype = call->out[0]->dtype;
    int64_t phases = (int64_t)p->dim[0].phases * p->dim[1].phases * p->dim[2].phases, results = p->n;
    /* Phases are of nearly one size: the first is the largest. */
    for (int a = 0; a < 3; a++) results *= (p->dim[a].out + p->dim[a].phases - 1) / p->dim[a].phases;
    int64_t wide = tiles(p, results, WIDE) * phases;
    bool is_wide = dtype == WICK_F32 && p->cout >= 96 && wide >= gpu->properties.units;
    int64_t all = is_wide ? wide : tiles(p, results, NARROW) * phases;
    if (p->cout < WICK__FEW_CHANNELS || p->cin == 0 || phases > 4096 || results >= INT32_MAX || all >= INT32_MAX ||
        p->cin * p->in_plane >= INT32_MAX || p->weight_group >= INT32_MAX)
        return run_direct(gpu, call, p);
    struct wick__launch launch = {.kernel = is_wide ? WICK__GPU_K_conv_wide_f32
                                                    : wick__gpu_of_all(WICK__GPU_K_conv_tile_u8, dtype),
                                  .grid = {(unsigned)all}};
    return wick__gpu_launch(gpu, &launch, p);
}

static enum wick_status run(struct wick__gpu *gpu, const struct wick__call *call, struct gpu_conv *p) {
    enum wick_dtype dtype = call->out[0]->dtype;
    bool done;
    WICK__TRY(wick__conv_product(gpu, dtype, p, &done));
    if (!done) WICK__TRY(wick__conv_depth(gpu, dtype, p, &done));
    if (done) return WICK_OK;
    if (wick__conv_points_takes(dtype, p)) return wick__conv_points(gpu, dtype, p);
    if (wick_dtype_is_float(dtype) && is_gathered(gpu, p, dtype)) WICK__TRY(multiply_and_gather(gpu, dtype, p, &done));
    if (done) return WICK_OK;
    if (!wick__conv_mma_takes(gpu, dtype, p)) return run_tiles(gpu, call, p);
    struct wick__error quiet = {0};
    if (dtype != WICK_F32) return wick__conv_mma(gpu, dtype, p, false);
    wick__error_swap(&quiet); /* without memory for copies, tiles have their turn */
    enum wick_status status = wick__conv_mma(gpu, dtype, p, false);
    wick__error_swap(&quiet);
    return status == WICK_OK ? WICK_OK : run_tiles(gpu, call, p);
}

/* ---- windows of one element, a stride apart ---- */

/* All elements' results, as those of a stride of 1, and then the copy. Without memory for them, *done is false. */
static enum wick_status run_apart(struct wick__gpu *gpu, const struct wick__call *call, const struct gpu_conv *p,
                                  bool *done) {
    enum wick_dtype dtype = call->out[0]->dtype;
    size_t nbytes = (size_t)(p->n * p->groups * p->cout * p->in_plane) * wick__size(dtype);
    struct gpu_conv all = *p;
    *done = try_scratch(gpu, nbytes, &all.out);
    if (!*done) return WICK_OK;
    void *const results = all.out;
    all.out_plane = p->in_plane;
    for (int a = 0; a < 3; a++) {
        struct gpu_conv_dim *dim = &all.dim[a];
        dim->out = dim->in;
        dim->padding = 0;
        dim->stride = dim->phases = dim->tap_step = 1;
    }
    enum wick_status status = run(gpu, call, &all);
    if (status == WICK_OK) status = wick__conv_apart(gpu, dtype, p, results);
    wick__gpu_release(gpu, results, nbytes);
    return status;
}

/* The parameters of a call, or an error. */
static enum wick_status params_of(const struct wick__call *call, struct gpu_conv *p) {
    if (set_params(p, call)) return WICK_OK;
    return wick__fail(WICK_OVERFLOW, "%s: a spatial size or option is beyond 2^30, on %s", wick_op_name(call->op),
                      wick__gpu_of(call->out[0])->device->name);
}

wick__kernel_fn wick__gpu_conv;

/* Of an x with channels last, if that is taken as it lies. */
static enum wick_status run_last(const struct wick__call *call, bool *done) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    enum wick_dtype dtype = call->out[0]->dtype;
    struct gpu_conv p;
    bool rest;
    WICK__TRY(wick__conv_product_last(call, done));
    if (*done) return WICK_OK;
    WICK__TRY(params_of(call, &p));
    *done = !wick__conv_is_apart(dtype, &p) && !is_gathered(gpu, &p, dtype) && p.cout >= WICK__FEW_CHANNELS &&
            wick__conv_mma_takes_last(gpu, dtype, &p);
    if (!*done) return WICK_OK;
    WICK__TRY(wick__conv_run(call, wick__gpu_conv, wick__gpu_packed, done, &rest));
    if (*done) return rest ? finish(call) : WICK_OK;
    *done = true;
    return wick__conv_mma(gpu, dtype, &p, true);
}

enum wick_status wick__gpu_conv(const struct wick__call *call) {
    struct wick__gpu *gpu = wick__gpu_of(call->out[0]);
    struct gpu_conv p;
    bool done, rest;
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    if (!wick__layout_is_contiguous(&call->in[0]->layout)) {
        WICK__TRY(run_last(call, &done));
        return done ? WICK_OK : wick__gpu_run_packed(call, wick__gpu_conv);
    }
    WICK__TRY(wick__conv_run(call, wick__gpu_conv, wick__gpu_packed, &done, &rest));
    if (done) return rest ? finish(call) : WICK_OK;
    WICK__TRY(params_of(call, &p));
    if (wick__conv_is_apart(call->out[0]->dtype, &p)) WICK__TRY(run_apart(gpu, call, &p, &done));
    return done ? WICK_OK : run(gpu, call, &p);
}
