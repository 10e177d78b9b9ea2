/* Convolutions of one channel a group or of few, and gradients by the weight of those of one, by patches of planes. */
#include "gpu/ops/conv.h"
#include "gpu/ops/rows.h"
#include "gpu/routes/conv.h"

#include "core/checked.h"

#include "kernels/conv_depth.h"
#include "kernels/conv_few.h"

enum { PATCH = GPU_CONV_PATCH };

static const i32 far = 1 << 26; /* sizes and paddings below it leave coordinates room */

/* A plane's rows or columns. */
struct side {
    i32 in, out, kernel, stride, padding, dilation;
};

static bool has_kernels(enum wick_dtype dtype) { return dtype == WICK_BF16 || dtype == WICK_F16 || dtype == WICK_F32; }

static bool is_near(const struct side *s) {
    return s->in > 0 && s->in < far && s->out < far && s->padding < far && s->dilation < far / 8;
}

/* Whether windows are of 3 x 3, 5 x 5 or 7 x 7 and lie side by side, or two apart with taps side by side. */
static bool fits(const struct side *rows, const struct side *columns) {
    int taps = rows->kernel, stride = rows->stride;
    bool dilated = rows->dilation > 1 || columns->dilation > 1;
    return (taps == 3 || taps == 5 || taps == 7) && columns->kernel == taps && columns->stride == stride &&
           (stride == 1 || (stride == 2 && !dilated)) && is_near(rows) && is_near(columns) &&
           (int64_t)rows->in * columns->in < INT32_MAX && (int64_t)rows->out * columns->out < INT32_MAX;
}

/* Runs of `each` elements, `apart` from each other, that cover n. */
static int64_t runs(int64_t n, int64_t each, int64_t apart) {
    int64_t groups = wick__div_up(n, each * apart);
    return groups == 1 ? wick__min(apart, n) : groups * apart;
}

/* Whether loads of `wide` elements at multiples of as many are possible: of lines of n, of windows half of whose taps
 * lie in front. */
static bool has_vectors(const void *data, enum wick_dtype dtype, const struct side *columns, i32 n, int wide) {
    uintptr_t size = wick__size(dtype) * (uintptr_t)wide;
    return n % wide == 0 && (uintptr_t)data % wick__min(size, 16) == 0 && columns->dilation == 1 &&
           columns->padding == columns->kernel / 2;
}

/* ---- the result ---- */

static struct side side_of(const struct gpu_conv_dim *dim, bool turned) {
    struct side s = {dim->in, dim->out, dim->kernel, dim->stride, dim->padding, dim->dilation};
    /* Transposed with a stride of 1: the taps from the last to the first. */
    if (turned && is_near(&s)) s.padding = dim->dilation * (dim->kernel - 1) - dim->padding;
    return s;
}

static bool is_flat(const struct gpu_conv *c) {
    return c->dim[0].in == 1 && c->dim[0].out == 1 && c->dim[0].kernel == 1 && c->dim[0].padding == 0;
}

/* The parameters, if patches are possible. */
static bool set_patches(struct gpu_conv_depth *p, enum wick_dtype dtype, const struct gpu_conv *c) {
    bool turned = c->transposed && c->dim[1].stride == 1, spread = c->transposed && !turned;
    const struct side rows = side_of(&c->dim[1], turned), columns = side_of(&c->dim[2], turned);
    int64_t channels = c->groups * c->cout, planes = c->n * channels;
    if (!has_kernels(dtype) || !fits(&rows, &columns) || planes >= INT32_MAX / c->dim[0].out) return false;
    planes *= c->dim[0].out;
    int64_t line = runs(columns.out, PATCH, columns.dilation);
    int64_t plane = line * runs(rows.out + (spread ? rows.padding & 1 : 0), PATCH, rows.dilation);
    if (plane >= INT32_MAX || plane * planes >= INT32_MAX) return false;
    *p = (struct gpu_conv_depth){.x = c->x,
                                 .weight = c->weight,
                                 .bias = c->bias,
                                 .out = c->out,
                                 .patches = (u32)(plane * planes),
                                 .planes = (u32)planes,
                                 .relu = c->relu,
                                 .turned = turned,
                                 .wide = 1,
                                 .wide_out = 1,
                                 .in_size = {rows.in, columns.in},
                                 .out_size = {rows.out, columns.out},
                                 .padding = {rows.padding, columns.padding}};
    for (int wide = PATCH; wide > 1 && p->wide == 1; wide /= 2)
        if (has_vectors(c->x, dtype, &columns, columns.in, wide)) p->wide = (u32)wide;
    uintptr_t size = wick__size(dtype);
    for (uintptr_t wide = PATCH; wide > 1 && p->wide_out == 1; wide /= 2)
        if (columns.out % (int)wide == 0 && columns.dilation == 1 &&
            (uintptr_t)c->out % wick__min(wide * size, 16) == 0)
            p->wide_out = (u32)wide;
    wick__gpu_divisor(&p->by_plane, (u32)plane);
    wick__gpu_divisor(&p->by_line, (u32)line);
    wick__gpu_divisor(&p->by_channels, (u32)channels);
    wick__gpu_divisor(&p->by_cout, (u32)c->cout);
    wick__gpu_divisor(&p->dilation[0], (u32)rows.dilation);
    wick__gpu_divisor(&p->dilation[1], (u32)columns.dilation);
    return true;
}

/* The planes of a block where they are small and of odd width: without LDS, a load of a wave would touch a line of 128
 * bytes for every few elements. Wider loads are faster without, and blocks that planes fill badly. 0: they aren't. */
static u32 near_planes(const struct gpu_conv_depth *p, enum wick_dtype dtype, const struct gpu_conv *c) {
    enum { FEW = 16 }; /* patches */
    int64_t vector = 16 / (int64_t)wick__size(dtype), most = wick__max(c->in_plane, c->out_plane);
    int64_t planes = wick__min(GPU_BLOCK / p->by_plane.d, GPU_CONV_NEAR / most) / vector * vector;
    bool small = p->by_plane.d <= FEW || c->dim[1].kernel == 3;
    bool aligned = wick__aligned16(c->x) && wick__aligned16(c->out);
    return c->dim[1].stride == 1 && c->cout == 1 && p->wide == 1 && small && aligned ? (u32)planes : 0;
}

/* Whether groups have few channels, so that patches are better than tiles of matrix instructions. */
static bool has_few(const struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *c) {
    enum { MOST = 16 };
    if ((dtype != WICK_BF16 && dtype != WICK_F16) || c->cin < 1 || c->cout > MOST) return false;
    if (c->cin > MOST && c->groups == 1) return false;
    return !wick__conv_mma_takes(gpu, dtype, c) || wick__conv_has_few(c->cin, c->cout);
}

static enum wick_status run_few(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *c, bool *done) {
    static const enum wick__gpu_kernel kernels[4][3] = {
        {WICK__GPU_K_conv_few3_bf16, WICK__GPU_K_conv_few5_bf16, WICK__GPU_K_conv_few7_bf16},
        {WICK__GPU_K_conv_few_skip3_bf16, WICK__GPU_K_conv_few_skip5_bf16, WICK__GPU_K_conv_few_skip7_bf16},
        {WICK__GPU_K_conv_few_spread3_bf16, WICK__GPU_K_conv_few_spread5_bf16, WICK__GPU_K_conv_few_spread7_bf16},
        {WICK__GPU_K_conv_few_both3_bf16}};
    const struct gpu_conv_dim *depth = &c->dim[0], *rows = &c->dim[1];
    const struct side along = side_of(depth, false);
    struct gpu_conv pairs = *c;
    pairs.cout = wick__div_up(c->cout, 2);
    struct gpu_conv_few p = {.cin = (u32)c->cin,
                             .cout = (u32)c->cout,
                             .transposed = c->transposed,
                             .in_depth = depth->in,
                             .taps = depth->kernel,
                             .stride = depth->stride,
                             .padding = depth->padding,
                             .dilation = depth->dilation,
                             .weight_m = (u32)c->weight_m,
                             .weight_c = (u32)c->weight_c,
                             .weight_group = (u32)c->weight_group,
                             .in_volume = c->in_plane};
    *done = has_few(gpu, dtype, c) && is_near(&along) && c->groups * c->weight_group < INT32_MAX &&
            set_patches(&p.flat, dtype, c);
    if (!*done) return WICK_OK;
    /* Two channels of the result a thread, where that leaves every unit a block. */
    bool both = rows->kernel == 3 && rows->stride == 1 && c->cout > 1 &&
                p.flat.patches / 2 >= GPU_BLOCK * (u32)gpu->properties.units && set_patches(&p.flat, dtype, &pairs);
    wick__gpu_divisor(&p.by_depth, (u32)depth->out);
    int way = both ? 3 : rows->stride == 1 ? 0 : c->transposed ? 2 : 1;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernels[way][rows->kernel / 2 - 1], dtype),
                                  .grid = {(unsigned)wick__div_up(p.flat.patches, GPU_BLOCK)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

enum wick_status wick__conv_depth(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv *c, bool *done) {
    static const enum wick__gpu_kernel kernels[4][3] = {
        {WICK__GPU_K_conv_depth3_bf16, WICK__GPU_K_conv_depth5_bf16, WICK__GPU_K_conv_depth7_bf16},
        {WICK__GPU_K_conv_skip3_bf16, WICK__GPU_K_conv_skip5_bf16, WICK__GPU_K_conv_skip7_bf16},
        {WICK__GPU_K_conv_spread3_bf16, WICK__GPU_K_conv_spread5_bf16, WICK__GPU_K_conv_spread7_bf16},
        {WICK__GPU_K_conv_near3_bf16, WICK__GPU_K_conv_near5_bf16, WICK__GPU_K_conv_near7_bf16}};
    struct gpu_conv_depth p;
    if (c->cin != 1 || !is_flat(c)) return run_few(gpu, dtype, c, done);
    *done = set_patches(&p, dtype, c);
    if (!*done) return WICK_OK;
    p.near = near_planes(&p, dtype, c);
    int way = p.near > 0 ? 3 : c->dim[1].stride == 1 ? 0 : c->transposed ? 2 : 1;
    int64_t blocks = p.near > 0 ? wick__div_up(p.planes, p.near) : wick__div_up(p.patches, GPU_BLOCK);
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(kernels[way][c->dim[1].kernel / 2 - 1], dtype),
                                  .grid = {(unsigned)blocks}};
    return wick__gpu_launch(gpu, &launch, &p);
}

/* ---- the gradient by the weight ---- */

/* The parameters but for parts, if patches are possible. */
static bool set_weight(struct gpu_conv_depth_weight *p, enum wick_dtype dtype, const struct gpu_conv_weight *g) {
    struct side side[2];
    const struct gpu_conv_weight_dim *depth = &g->dim[0];
    for (int a = 0; a < 2; a++) {
        const struct gpu_conv_weight_dim *dim = &g->dim[1 + a];
        side[a] = (struct side){dim->large, dim->small, dim->kernel, dim->stride, dim->padding, dim->dilation};
    }
    int64_t channels = g->groups * g->rows, images = g->terms / g->small_plane, planes = images * depth->small;
    if (!has_kernels(dtype) || g->channels != 1 || !fits(&side[0], &side[1]) || depth->padding >= far ||
        channels * depth->kernel >= INT32_MAX / 4 || planes >= INT32_MAX / channels ||
        images * g->groups >= INT32_MAX / depth->large)
        return false;
    int columns = PATCH;
    while (columns > 1 && (side[1].out % columns != 0 ||
                           (uintptr_t)g->small % wick__min(wick__size(dtype) * (uintptr_t)columns, 16) != 0 ||
                           !has_vectors(g->large, dtype, &side[1], side[1].in, columns)))
        columns /= 2;
    int64_t line = runs(side[1].out, columns, side[1].dilation),
            plane = line * runs(side[0].out, PATCH, side[0].dilation);
    if (plane >= INT32_MAX || plane * planes >= INT32_MAX) return false;
    *p = (struct gpu_conv_depth_weight){.small = g->small,
                                        .large = g->large,
                                        .out = g->out,
                                        .count = g->count,
                                        .channels = (u32)channels,
                                        .patches = (u32)(plane * planes),
                                        .columns = (u32)columns,
                                        .small_size = {side[0].out, side[1].out},
                                        .large_size = {side[0].in, side[1].in},
                                        .padding = {side[0].padding, side[1].padding},
                                        .large_depth = depth->large,
                                        .depth_stride = depth->stride,
                                        .depth_padding = depth->padding,
                                        .depth_dilation = depth->dilation};
    wick__gpu_divisor(&p->by_plane, (u32)plane);
    wick__gpu_divisor(&p->by_line, (u32)line);
    wick__gpu_divisor(&p->by_rows, (u32)g->rows);
    wick__gpu_divisor(&p->small_depth, (u32)depth->small);
    wick__gpu_divisor(&p->by_taps, (u32)depth->kernel);
    wick__gpu_divisor(&p->dilation[0], (u32)side[0].dilation);
    wick__gpu_divisor(&p->dilation[1], (u32)side[1].dilation);
    return true;
}

/* By shape alone, so that the same shape has the same bits on every device of a kind. */
static void set_parts(struct gpu_conv_depth_weight *p) {
    enum { BLOCKS = 1024, LEAST = 4, MOST = 128 }; /* patches of a thread in a part */
    int64_t parts = wick__div_up(BLOCKS, p->channels * p->by_taps.d);
    parts = wick__min(parts, wick__div_up(p->patches, LEAST * GPU_BLOCK));
    parts = wick__max(parts, wick__div_up(p->patches, MOST * GPU_BLOCK));
    p->part = (u32)(wick__div_up(wick__div_up(p->patches, parts), GPU_BLOCK) * GPU_BLOCK);
    p->parts = (u32)wick__div_up(p->patches, p->part);
}

static enum wick_status run_weight(struct wick__gpu *gpu, enum wick_dtype dtype, struct gpu_conv_depth_weight *p,
                                   enum wick__gpu_kernel kernel) {
    size_t nbytes = p->parts > 1 ? sizeof(float) * (size_t)p->parts * (size_t)p->count : 0;
    struct wick__launch launch = {.kernel = kernel};
    wick__gpu_reduce_grid(&launch, (int64_t)p->channels * p->by_taps.d * p->parts);
    if (nbytes == 0) return wick__gpu_launch(gpu, &launch, p);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &p->sums));
    struct gpu_conv_weight_join join = {
        .sums = p->sums, .out = p->out, .count = p->count, .total = p->count * (int64_t)p->parts};
    enum wick_status status = wick__gpu_launch(gpu, &launch, p);
    if (status == WICK_OK) status = wick__conv_weight_join(gpu, dtype, &join);
    wick__gpu_release(gpu, p->sums, nbytes);
    return status;
}

enum wick_status wick__conv_depth_weight(struct wick__gpu *gpu, enum wick_dtype dtype, const struct gpu_conv_weight *g,
                                         bool *done) {
    static const enum wick__gpu_kernel kernels[2][3] = {
        {WICK__GPU_K_conv_depth_weight3_bf16, WICK__GPU_K_conv_depth_weight5_bf16, WICK__GPU_K_conv_depth_weight7_bf16},
        {WICK__GPU_K_conv_skip_weight3_bf16, WICK__GPU_K_conv_skip_weight5_bf16, WICK__GPU_K_conv_skip_weight7_bf16}};
    struct gpu_conv_depth_weight p;
    *done = g->terms > 0 && set_weight(&p, dtype, g);
    if (!*done) return WICK_OK;
    set_parts(&p);
    return run_weight(gpu, dtype, &p,
                      wick__gpu_of_floats(kernels[g->dim[1].stride - 1][g->dim[1].kernel / 2 - 1], dtype));
}
