/* Gradients of f32 convolutions by their weights: the large side with zeros around it, and products of its planes with
 * those of the small side by matrix instructions of eleven bits (kernels/mma_tf32.h). */
#include "gpu/ops/conv.h"
#include "gpu/ops/copy.h"
#include "gpu/ops/gemm.h"

#include "core/checked.h"

#include <math.h>
#include <string.h>

/* ---- windows that reach nowhere outside ---- */

static bool is_inside(const struct gpu_conv_weight *g) {
    bool inside = true;
    for (int a = 0; a < 3; a++)
        inside = inside && g->dim[a].padding == 0 && wick__conv_reach(&g->dim[a]) <= g->dim[a].large;
    return inside;
}

bool wick__conv_is_near(const struct gpu_conv_weight *g) {
    double group = (double)g->channels;
    bool near = true;
    for (int a = 0; a < 3; a++) {
        int64_t reach = wick__max(wick__conv_reach(&g->dim[a]), g->dim[a].large);
        near = near && reach <= 9 + 5 * (int64_t)g->dim[a].large;
        group *= (double)reach;
    }
    return near && group < INT32_MAX;
}

enum wick_status wick__conv_inside(struct wick__gpu *gpu, struct gpu_conv_weight *g, void **copy, size_t *nbytes) {
    const int64_t planes = g->terms == 0 ? 0 : g->terms / g->small_plane * g->groups * g->channels;
    int64_t step = 1, first = 0, stride = 1;
    struct wick__gpu_move zeros = {.to = {.rank = 1, .stride = {1}}, .size = 4};
    struct wick__gpu_move move = {.from = {.rank = 4}, .to = {.rank = 4}, .in = g->large, .size = 4};
    if (planes == 0 || is_inside(g)) return WICK_OK;
    move.from.shape[0] = planes;
    move.from.stride[0] = g->large_plane;
    for (int a = 2; a >= 0; a--) {
        struct gpu_conv_weight_dim *dim = &g->dim[a];
        int64_t reach = wick__conv_reach(dim);
        move.from.shape[1 + a] = wick__max(0, wick__min(dim->large, reach - dim->padding));
        move.from.stride[1 + a] = stride;
        move.to.stride[1 + a] = step;
        first += dim->padding * step;
        stride *= dim->large;
        step *= reach;
        dim->large = (i32)reach;
        dim->padding = 0;
    }
    g->large_plane = move.to.stride[0] = step;
    memcpy(move.to.shape, move.from.shape, sizeof move.to.shape);
    zeros.to.shape[0] = planes * step;
    *nbytes = (size_t)(planes * step) * 4;
    WICK__TRY(wick__gpu_scratch(gpu, *nbytes, copy));
    g->large = zeros.out = *copy;
    move.out = (float *)*copy + first;
    enum wick_status status = wick__gpu_move(gpu, &zeros);
    if (status == WICK_OK && wick__layout_count(&move.from) > 0) status = wick__gpu_move(gpu, &move);
    if (status != WICK_OK) wick__gpu_release(gpu, *copy, *nbytes);
    return status;
}

/* ---- products of planes ---- */

/* For each row of taps the small side's planes meet those of the large side, which a copy has for each column of taps,
 * windows one behind the other: all columns are one product, and the next row of taps lies `dilation` lines on. */
enum { LONG = 4096, MOST = 256 << 20 /* bytes of copies, and of sums */ };

/* How many pieces planes are cut into, whose sums stay short; 0: none. */
static int64_t pieces_of(const struct gpu_conv_weight *g) {
    int64_t h = g->dim[1].small, pieces = 1;
    while (g->small_plane / pieces > LONG && pieces <= h) do
            pieces++;
        while (pieces <= h && h % pieces != 0);
    return pieces <= h ? pieces : 0;
}

static int64_t copied_plane(const struct gpu_conv_weight *g) { return (int64_t)g->dim[1].large * g->dim[2].small; }

/* Whether the large side's planes are such a copy as they lie. */
static bool is_ready(const struct gpu_conv_weight *g) {
    const struct gpu_conv_weight_dim *w = &g->dim[2];
    return w->kernel == 1 && w->stride == 1 && w->large == w->small;
}

/* Microseconds on an H200, by estimates that need only rank the ways. */
static double product_time(const struct gpu_conv_weight *g) {
    static const struct {
        int64_t rows, columns;
        double rate;
    } tiles[] = {{64, 64, 46e6}, {64, 128, 54e6}, {128, 128, 100e6}};
    const int64_t across = g->dim[2].kernel * g->channels;
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        int64_t rows = wick__div_up(g->rows, tiles[i].rows) * tiles[i].rows;
        int64_t columns = wick__div_up(across, tiles[i].columns) * tiles[i].columns;
        best = fmin(best, (double)(rows * columns) / tiles[i].rate);
    }
    double bytes = (double)(g->terms / g->small_plane * g->channels) * 4 * (double)g->large_plane;
    return 20 + bytes * (4 + 2 * (double)g->dim[2].kernel) / 2.5e6 +
           2 * best * (double)g->dim[1].kernel * (double)g->terms;
}

static double tile_time(const struct gpu_conv_weight *g) {
    const int64_t rows = GPU_CONV_WEIGHT_ROWS_F32, columns = GPU_CONV_WEIGHT_TILE / rows;
    double all = (double)(wick__div_up(g->rows, rows) * wick__div_up(g->across, columns)) * GPU_CONV_WEIGHT_TILE;
    return 12 + 2 * all * (double)g->terms / 22e6;
}

bool wick__conv_weight_products_takes(const struct wick__gpu *gpu, enum wick_dtype dtype,
                                      const struct gpu_conv_weight *g) {
    const struct gpu_conv_weight_dim *d = &g->dim[0], *h = &g->dim[1];
    if (dtype != WICK_F32 || !wick__has_tf32(gpu) || g->groups != 1 || g->terms == 0 || !wick__conv_is_near(g) ||
        wick__min(g->rows, g->channels) < WICK__TF32_RESULTS || d->kernel * d->small != 1 || d->large != 1 ||
        d->padding != 0 || h->stride != 1)
        return false;
    int64_t pieces = pieces_of(g), images = g->terms / g->small_plane;
    if (pieces == 0 || g->small_plane / pieces < WICK__TF32_TERMS) return false;
    double copy = (double)(images * g->channels * g->dim[2].kernel) * (double)(wick__conv_reach(h) * g->dim[2].small);
    double sums = (double)(images * pieces) * (double)g->count;
    return copy * 4 <= MOST && sums * 4 <= MOST && product_time(g) < tile_time(g);
}

/* The copy: [images, columns of taps, channels, rows, windows]. */
static enum wick_status copy_windows(struct wick__gpu *gpu, const struct gpu_conv_weight *g, int64_t images, void *to) {
    const struct gpu_conv_weight_dim *h = &g->dim[1], *w = &g->dim[2];
    struct wick__gpu_move move = {.in = g->large, .out = to, .size = 4};
    move.from = (struct wick__layout){
        .rank = 5,
        .shape = {images, w->kernel, g->channels, h->large, w->small},
        .stride = {g->channels * g->large_plane, w->dilation, g->large_plane, w->large, w->stride}};
    WICK__TRY(wick__layout_new(&move.to, "copy", 5, move.from.shape));
    return wick__gpu_move(gpu, &move);
}

/* Sums of [rows of taps, rows, columns of taps, channels] as [rows, channels, taps]. */
static enum wick_status turn(struct wick__gpu *gpu, const struct gpu_conv_weight *g, const void *sums) {
    const int64_t h = g->dim[1].kernel, w = g->dim[2].kernel, c = g->channels;
    struct wick__gpu_move move = {.in = sums, .out = g->out, .size = 4};
    move.from = (struct wick__layout){.rank = 4, .shape = {g->rows, c, h, w}, .stride = {w * c, 1, g->rows * w * c, c}};
    WICK__TRY(wick__layout_new(&move.to, "copy", 4, move.from.shape));
    return wick__gpu_move(gpu, &move);
}

static struct wick__product product_of(const struct gpu_conv_weight *g, int64_t images, int64_t pieces) {
    const struct gpu_conv_weight_dim *h = &g->dim[1], *w = &g->dim[2];
    int64_t plane = copied_plane(g), piece = g->small_plane / pieces, across = w->kernel * g->channels;
    return (struct wick__product){.dtype = WICK_F32,
                                  .m = g->rows,
                                  .n = across,
                                  .k = piece,
                                  .a = g->small,
                                  .c_row = across,
                                  .a_row = g->small_plane,
                                  .a_k = 1,
                                  .b_k = 1,
                                  .b_column = plane,
                                  .batch_rank = 3,
                                  .batch_shape = {images, pieces, h->kernel},
                                  .a_batch = {g->rows * g->small_plane, piece},
                                  .b_batch = {across * plane, piece, (int64_t)h->dilation * w->small}};
}

static size_t bytes_of(int64_t elements) { return ((size_t)elements * 4 + 255) / 256 * 256; }

enum wick_status wick__conv_weight_products(struct wick__gpu *gpu, const struct gpu_conv_weight *g) {
    const int64_t images = g->terms / g->small_plane, pieces = pieces_of(g), parts = images * pieces;
    const int64_t copied = is_ready(g) ? 0 : images * g->dim[2].kernel * g->channels * copied_plane(g);
    const size_t copy = bytes_of(copied), sums = bytes_of(parts * g->count),
                 joined = parts > 1 ? bytes_of(g->count) : 0;
    struct wick__product product = product_of(g, images, pieces);
    char *memory;
    void *taken;
    WICK__TRY(wick__gpu_scratch(gpu, copy + sums + joined, &taken));
    memory = taken;
    product.b = copy ? memory : g->large;
    product.c = memory + copy;
    struct gpu_conv_weight_join join = {
        .sums = product.c, .out = memory + copy + sums, .count = g->count, .total = parts * g->count};
    enum wick_status status = copy ? copy_windows(gpu, g, images, memory) : WICK_OK;
    if (status == WICK_OK) status = wick__gemm_own(gpu, &product);
    if (status == WICK_OK && joined) status = wick__conv_weight_join(gpu, WICK_F32, &join);
    if (status == WICK_OK) status = turn(gpu, g, joined ? join.out : product.c);
    wick__gpu_release(gpu, taken, copy + sums + joined);
    return status;
}
