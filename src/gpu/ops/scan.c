/* cumsum, cumprod: segments side by side, after what stands in front of each has been found. */
#include "gpu/ops/reduce.h"

#include "core/checked.h"
#include "kernels/scan.h"

enum {
    NEAR = 64,             /* bytes of rows of which lanes side by side may have one each */
    SPREAD = 2048,         /* blocks that keep a device busy */
    THREADS = SPREAD * 64, /* threads that do, where each takes columns of its own */
    SHORT = 512,           /* rows that are not worth a second launch, */
    FEW = 64,              /* or vectors for each unit and byte of an element, a thread each, */
    ROWS = 12,             /* unless of so few rows */
    TOGETHER = 16,         /* segments that a block takes of such lines */
    ACROSS = 64,           /* threads side by side where there are segments, */
    WIDE_ENOUGH = 8,       /* threads side by side, with 16 bytes each, where blocks are few */
    BLOCKS = 256,          /* that are not few */
    MEETING = 150          /* the same of such segments */
};

/* Cuts lines along memory; returns the number of blocks. */
static int64_t cut_rows(const struct wick__gpu *gpu, struct gpu_scan *p, int64_t size) {
    int64_t vectors = wick__div_up(p->n * size, 16) + 1; /* a line may begin inside one */
    int64_t tile = 4 * GPU_BLOCK;
    int64_t segments = p->outer >= SPREAD / 4 ? 1 : wick__min(wick__div_up(SPREAD, p->outer), vectors / tile);
    p->group = vectors > 16 * gpu->properties.wave ? GPU_BLOCK : (u32)gpu->properties.wave;
    bool whole = wick__aligned16(p->in) && p->n * size % 16 == 0;
    int64_t most = whole ? vectors - 1 : vectors; /* of a line */
    if (most <= gpu->properties.wave / 2) p->group = wick__gpu_power(most, gpu->properties.wave);
    p->length = segments > 1 ? wick__div_up(wick__div_up(vectors, segments), tile) * tile : vectors;
    p->segments = wick__div_up(vectors, p->length);
    p->aligned = (((uintptr_t)p->in ^ (uintptr_t)p->out) & 15) == 0;
    return wick__div_up(p->outer * p->segments, GPU_BLOCK / p->group);
}

/* Cuts lines across memory for scan_kept, which takes them by elements. A thread has the whole of a short line where
 * there are many. Else fewer lines are side by side where threads have not all rows of a line at once, or blocks are
 * few, as long as they read whole sectors; segments, for which there are three launches, where lines are much longer.
 */
static int64_t cut_kept(const struct wick__gpu *gpu, struct gpu_scan *p, int64_t size) {
    enum { WIDE = 64, NARROW = 8, SECTOR = 32, EACH = 4, LONG = 8, WORTH = 4, MANY = 832, AT_ONCE = 4 };
    int64_t lines = p->outer * p->inner, group = wick__max(NARROW, wick__gpu_power(lines, GPU_BLOCK));
    int64_t most = AT_ONCE * (int64_t)gpu->properties.units; /* blocks that run at once */
    bool alone = p->n <= 2 * GPU_SCAN_KEPT && lines / GPU_BLOCK >= BLOCKS;
    for (; group > NARROW && !alone; group /= 2) {
        int64_t down = GPU_BLOCK / group;
        bool more = group > WIDE || lines / group < BLOCKS ? p->n > EACH * down : p->n > GPU_SCAN_KEPT * down;
        bool full = lines / group >= MANY || (lines / group <= most && lines / group >= most * 7 / 8);
        if (!more || full || (group <= WIDE && group * size <= SECTOR)) break;
    }
    int64_t down = GPU_BLOCK / group, steps = wick__div_up(p->n, down * GPU_SCAN_KEPT);
    p->group = (u32)group;
    p->tiles = wick__div_up(lines, group);
    int64_t segments = wick__min(SPREAD / 2 / p->tiles, steps);
    if (steps < LONG || segments < WORTH) segments = 1;
    steps = wick__div_up(steps, segments);
    p->each = (u32)wick__div_up(wick__div_up(p->n, segments), steps * down);
    p->length = steps * down * p->each;
    p->segments = wick__div_up(p->n, p->length);
    return p->tiles * p->segments;
}

/* Whether more than an eighth of the threads that take `vectors` in tiles would be idle. */
static bool is_idle(int64_t vectors, int64_t across) {
    return 8 * vectors < 7 * wick__div_up(vectors, across) * across;
}

/* Whether 16 bits by vectors, some segments a block, take less than by elements: where lines are long enough, threads
 * enough, and next to none idle. */
static bool is_cut(const struct gpu_scan *p, int64_t size, int64_t vectors) {
    enum { LEAST = 32, VECTORS = 4096 };
    bool long_enough = p->n >= LEAST && p->n <= SHORT;
    return size == 2 && long_enough && p->outer * vectors >= VECTORS && !is_idle(vectors, ACROSS);
}

/* Cuts sums of 16 bits so that a wave keeps all segments of its lines, where these are neither short nor long, and
 * threads enough but not so many that one for each line has all the memory to wait for. Returns the number of blocks, 0
 * for others. */
static int64_t cut_held(const struct wick__gpu *gpu, struct gpu_scan *p, int64_t size, int64_t vectors) {
    enum { LEAST = 32, VECTORS = 4096, MOST_VECTORS = 1 << 16, NARROW = 2 };
    int64_t segments = 8, wave = gpu->properties.wave, all = p->outer * vectors;
    while (segments * GPU_SCAN_HELD < p->n && segments < wave) segments *= 2;
    bool fits = p->n >= LEAST && segments * NARROW <= wave && segments * GPU_SCAN_HELD >= p->n;
    if (size != 2 || p->product || !fits || all < VECTORS || all > MOST_VECTORS) return 0;
    p->held = p->together = 1;
    p->group = (u32)(wave / segments);
    p->tiles = wick__div_up(vectors, p->group);
    p->length = wick__div_up(p->n, segments);
    p->segments = wick__div_up(p->n, p->length);
    return wick__div_up(p->outer * p->tiles, GPU_BLOCK / wave);
}

/* The same for lines across memory: by vectors where every row is whole ones, and there are enough of them for lines to
 * be gone along by a thread or some each. */
static int64_t cut_columns(const struct wick__gpu *gpu, struct gpu_scan *p, int64_t size, bool is_float) {
    int64_t vectors = p->inner * size / 16, all = p->outer * vectors;
    bool brief = p->n <= SHORT, alone = brief && all >= THREADS / 5, cut = !alone && is_cut(p, size, vectors);
    int64_t each = cut ? 16 : 32; /* rows of a segment, at least */
    int64_t segments = alone ? 1 : wick__max(1, wick__min(wick__div_up(THREADS, wick__max(all, 1)), p->n / each));
    bool whole = wick__aligned16(p->in) && wick__aligned16(p->out) && p->inner * size % 16 == 0;
    bool few = all < FEW * size * (int64_t)gpu->properties.units && p->n > ROWS && brief && !alone && !cut;
    int64_t held = whole && is_float ? cut_held(gpu, p, size, vectors) : 0;
    if (held > 0) return held;
    if (!whole || few) return cut_kept(gpu, p, size);
    p->group = wick__gpu_power(vectors, segments > 1 ? ACROSS : GPU_BLOCK);
    while (segments == 1 && p->group > WIDE_ENOUGH && is_idle(vectors, p->group)) p->group /= 2;
    p->tiles = wick__div_up(vectors, p->group);
    p->together = segments > 1 && p->n <= SHORT && size > 1;
    for (; p->together && p->group > WIDE_ENOUGH && p->outer * p->tiles < MEETING;
         p->tiles = wick__div_up(vectors, p->group))
        p->group /= 2;
    if (p->together) segments = wick__min(wick__min(TOGETHER, GPU_BLOCK / p->group), p->n / 8);
    p->length = wick__div_up(p->n, segments);
    p->segments = wick__div_up(p->n, p->length);
    if (p->together) return p->outer * p->tiles;
    return wick__div_up(p->outer * p->tiles * p->segments, GPU_BLOCK / p->group);
}

static enum wick_status run_before(struct wick__gpu *gpu, const struct gpu_scan *p, bool is_float) {
    struct gpu_scan_before b = {.words = p->totals,
                                .outer = p->outer,
                                .segments = p->segments,
                                .inner = p->inner,
                                .by_block = p->segments >= 64 && p->outer * p->inner < 4 * SPREAD,
                                .product = p->product,
                                .is_float = is_float};
    struct wick__launch launch = {.kernel = WICK__GPU_K_scan_before};
    wick__gpu_reduce_grid(&launch, b.by_block ? b.outer * b.inner : wick__div_up(b.outer * b.inner, GPU_BLOCK));
    return wick__gpu_launch(gpu, &launch, &b);
}

wick__kernel_fn wick__gpu_scan;
enum wick_status wick__gpu_scan(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick__gpu *gpu = wick__gpu_of(x);
    int64_t count = wick__count(x), size = (int)wick__size(x->dtype);
    int dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    void *out = wick__data(call->out[0]);
    bool is_float = wick_dtype_is_float(x->dtype);
    struct gpu_scan p = {
        .in = wick__data(x), .out = out, .n = x->layout.shape[dim], .inner = 1, .product = call->op == WICK_OP_cumprod};
    for (int d = dim + 1; d < x->layout.rank; d++) p.inner *= x->layout.shape[d];
    p.outer = count / (p.n * p.inner);
    bool rows = p.inner == 1 && p.n * size > NEAR;
    int64_t blocks = rows ? cut_rows(gpu, &p, size) : cut_columns(gpu, &p, size, is_float);
    enum wick__gpu_kernel floats = rows     ? WICK__GPU_K_scan_rows_bf16
                                   : p.held ? WICK__GPU_K_scan_held_bf16
                                   : p.each ? WICK__GPU_K_scan_kept_bf16
                                            : WICK__GPU_K_scan_columns_bf16;
    enum wick__gpu_kernel sizes = rows     ? WICK__GPU_K_scan_rows_b1
                                  : p.each ? WICK__GPU_K_scan_kept_b1
                                           : WICK__GPU_K_scan_columns_b1;
    struct wick__launch launch = {.kernel = is_float ? wick__gpu_of_floats(floats, x->dtype)
                                                     : wick__gpu_of_size(sizes, (size_t)size)};
    wick__gpu_reduce_grid(&launch, blocks);
    if (p.segments == 1 || p.together) return wick__gpu_launch(gpu, &launch, &p);
    void *totals;
    size_t nbytes = (size_t)(p.outer * p.segments * p.inner) * sizeof(u64);
    WICK__TRY(wick__gpu_scratch(gpu, nbytes, &totals));
    p.totals = totals;
    p.out = NULL;
    enum wick_status status = wick__gpu_launch(gpu, &launch, &p);
    if (status == WICK_OK) status = run_before(gpu, &p, is_float);
    p.out = out;
    p.before = totals;
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, &p);
    wick__gpu_release(gpu, totals, nbytes);
    return status;
}
