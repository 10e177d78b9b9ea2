/* Reductions: how lines are cut into segments, and which kernel takes them. The cuts depend on shapes, strides and the
 * device, so that the same tensor gives the same bits, run after run. */
#include "gpu/ops/rows.h"

#include "core/checked.h"
#include "kernels/reduce_few.h"
#include "kernels/reduce_short.h"

#include <stdlib.h>

enum {
    SPREAD = 1024,     /* segments that keep a device busy */
    ACROSS = 512,      /* the same across memory: each comes to parts of many lines */
    THREADS = 1 << 18, /* that keep a device busy, when each has several loads in flight; */
    BUSY = 1 << 16,    /* when each has several vectors */
    SMALL = 1024,      /* elements for each unit that take no longer when they are read one by one, */
    LONG = 12 * 1024,  /* but for lines of more, of which a block's threads would have too many */
    WHOLE = 64 * 1024, /* bytes of a line that are not worth a second kernel */
    LEAST = 16 * 1024, /* bytes of a segment, at least */
    MUCH = 1 << 22,    /* elements of lines that are nearer to each other than their elements are */
    PIECE = 2048,      /* bytes of a run that are worth a group of their own */
    TAKEN = 16,        /* elements of a shorter run for each thread, */
    SECTOR = 32        /* while those side by side read so many bytes */
};

struct lines {
    struct wick__gpu *gpu;
    const struct wick__gpu_reduction *reduction;
    struct wick__layout kept, kept_out, reduced; /* collapsed as far as neighbours allow; kept_out: of the results */
    int64_t outs, terms;
    int64_t size; /* of an element */
    int64_t fold; /* rows across memory that are taken as one */
    const char *data;
};

static void push(struct wick__layout *layout, int64_t size, int64_t stride) {
    int last = layout->rank - 1;
    if (size == 1) return;
    if (last >= 0 && layout->stride[last] == stride * size) {
        layout->shape[last] *= size;
        layout->stride[last] = stride;
        return;
    }
    layout->shape[layout->rank] = size;
    layout->stride[layout->rank++] = stride;
}

/* Reduced dims come in the order in which they lie in memory, but where places are asked for. */
static struct lines lines_of(struct wick__gpu *gpu, const struct wick__gpu_reduction *reduction) {
    const struct wick__layout *layout = &reduction->x->layout;
    struct lines lines = {.gpu = gpu, .reduction = reduction, .outs = 1, .terms = 1, .fold = 1};
    int order[WICK_MAX_RANK], n = 0;
    lines.size = (int)wick__size(reduction->x->dtype);
    lines.data = wick__data(reduction->x);
    for (int d = 0; d < layout->rank; d++) {
        if (!(reduction->dims >> d & 1)) {
            lines.outs *= layout->shape[d];
            push(&lines.kept, layout->shape[d], layout->stride[d]);
            continue;
        }
        lines.terms *= layout->shape[d];
        int at = n++;
        bool ordered = reduction->end.kind == GPU_REDUCE_ARG;
        for (; !ordered && at > 0 && layout->stride[order[at - 1]] < layout->stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    for (int i = 0; i < n; i++) push(&lines.reduced, layout->shape[order[i]], layout->stride[order[i]]);
    lines.kept_out = lines.kept;
    int64_t stride = 1;
    for (int d = lines.kept.rank - 1; d >= 0; d--) {
        lines.kept_out.stride[d] = stride;
        stride *= lines.kept.shape[d];
    }
    return lines;
}

/* Whether any cut of lines gives the same bits. */
static bool is_free(const struct lines *lines) {
    uint32_t kind = lines->reduction->end.kind;
    return kind == GPU_REDUCE_EXTREME || kind == GPU_REDUCE_ARG;
}

void wick__gpu_reduce_grid(struct wick__launch *launch, int64_t n) {
    enum { ROW = 1 << 20 }; /* blocks in x; AMD's limit is 2^32 threads */
    launch->grid[0] = (unsigned)wick__min(n, ROW);
    launch->grid[1] = (unsigned)wick__div_up(n, ROW);
}

static enum wick__gpu_kernel kernel_of(const struct lines *lines, bool columns) {
    enum wick_dtype dtype = lines->reduction->x->dtype;
    uint32_t kind = lines->reduction->end.kind;
    if (!wick_dtype_is_float(dtype) || kind == GPU_REDUCE_COUNT)
        return wick__gpu_of_size(columns ? WICK__GPU_K_reduce_columns_b1 : WICK__GPU_K_reduce_rows_b1,
                                 (size_t)lines->size);
    if (kind > GPU_REDUCE_MOMENTS || (kind == GPU_REDUCE_MOMENTS && columns))
        return wick__gpu_of_floats(columns ? WICK__GPU_K_stats_columns_bf16 : WICK__GPU_K_stats_rows_bf16, dtype);
    return wick__gpu_of_floats(columns ? WICK__GPU_K_reduce_columns_bf16 : WICK__GPU_K_reduce_rows_bf16, dtype);
}

static int64_t words_of(uint32_t kind) {
    bool two = kind == GPU_REDUCE_EXPS || kind == GPU_REDUCE_ARG || kind == GPU_REDUCE_PRODUCT;
    return kind == GPU_REDUCE_MOMENTS ? 3 : two ? 2 : 1;
}

/* Joins the parts that `end` says were made. */
static enum wick_status join(const struct lines *lines, const struct gpu_reduce_end *end) {
    struct gpu_reduce_join params = {
        .in = end->out, .end = *end, .fold = (u32)lines->fold, .splits = end->segments / lines->fold};
    const struct gpu_reduce_end *last = &lines->reduction->end;
    uint32_t wave = (uint32_t)lines->gpu->properties.wave;
    int64_t segments = end->segments;
    params.end.out = last->out;
    params.end.finish = last->finish;
    params.parts = end->parts;
    params.end.parts = end->outs;
    params.end.group = params.across = 1;
    if (end->part_out == 1 && end->outs >= 8) /* Lines side by side are read together. */
        params.across = segments >= 64 || (segments >= 32 && end->outs < 8192) ? 8 : segments >= 8 ? 32 : GPU_BLOCK;
    else if (segments >= 256 && end->outs < 1024)
        params.end.group = GPU_BLOCK;
    else
        params.end.group = wick__gpu_power(segments / 4, wave);
    bool is_float = wick_dtype_is_float(lines->reduction->x->dtype);
    bool is_stats = end->kind == GPU_REDUCE_MOMENTS || end->kind == GPU_REDUCE_POWERS;
    struct wick__launch last_launch = {.kernel = is_stats   ? WICK__GPU_K_reduce_join_stats
                                                 : is_float ? WICK__GPU_K_reduce_join_float
                                                            : WICK__GPU_K_reduce_join_int};
    int64_t per_block = params.across > 1 ? params.across : GPU_BLOCK / params.end.group;
    wick__gpu_reduce_grid(&last_launch, wick__div_up(end->outs, per_block));
    return wick__gpu_launch(lines->gpu, &last_launch, &params);
}

/* Launches a kernel whose parameters hold `end`, on parts in scratch memory where a line has several segments, and for
 * sums of powers, whose root reduce_join_stats takes. */
static enum wick_status launch(const struct lines *lines, const struct wick__launch *first, void *params,
                               struct gpu_reduce_end *end) {
    void *scratch;
    if (end->segments == 1 && end->kind != GPU_REDUCE_POWERS) return wick__gpu_launch(lines->gpu, first, params);
    end->parts = lines->outs * end->segments;
    end->finish = GPU_FINISH_PART;
    size_t nbytes = (size_t)(end->parts * words_of(end->kind)) * sizeof(u64);
    WICK__TRY(wick__gpu_scratch(lines->gpu, nbytes, &scratch));
    end->out = scratch;
    enum wick_status status = wick__gpu_launch(lines->gpu, first, params);
    if (status == WICK_OK) status = join(lines, end);
    wick__gpu_release(lines->gpu, scratch, nbytes);
    return status;
}

/* ---- along memory ---- */

/* Whether lines are nearer to each other than their elements are, and enough for a thread each: lanes that had the
 * elements of one would read as many pages. */
static bool is_near(const struct lines *lines) {
    enum { LINES = 2048, NARROW = 4 }; /* lines, and bytes of those side by side, at least; of 8 bytes each, a sector */
    int last = lines->kept.rank - 1, wave = lines->gpu->properties.wave;
    if (lines->reduced.rank != 1 || last < 0 || lines->outs < LINES || lines->outs * lines->terms < MUCH) return false;
    int64_t beside = lines->kept.shape[last], stride = lines->kept.stride[last];
    bool sectors = stride == 1 && beside * lines->size >= (lines->size < 8 ? NARROW : SECTOR);
    return (beside >= wave || sectors) && llabs(stride) < llabs(lines->reduced.stride[0]);
}

/* Whether the kernels read rows by columns wherever they begin, and an element of each of some runs at once. */
static bool is_eager(const struct lines *lines) {
    uint32_t kind = lines->reduction->end.kind;
    bool is_float = wick_dtype_is_float(lines->reduction->x->dtype) && (lines->size == 2 || lines->size == 4);
    return is_float && (kind == GPU_REDUCE_SUM || kind == GPU_REDUCE_EXTREME || kind == GPU_REDUCE_SQUARES);
}

/* Cuts lines that are not direct: by runs, or by elements when there is one run. */
static void cut_pieces(const struct lines *lines, struct gpu_reduce_rows *p) {
    if (is_near(lines)) {
        enum { EACH = 32 }; /* elements of a segment, at least */
        int64_t splits = wick__min(wick__div_up(THREADS / 2, lines->outs), wick__div_up(p->inner, EACH));
        p->length = wick__div_up(p->inner, splits);
        p->end.segments = p->splits = wick__div_up(p->inner, p->length);
        p->end.group = p->across = 1;
        return;
    }
    uint32_t wave = (uint32_t)lines->gpu->properties.wave;
    int64_t units = p->runs > 1 ? p->runs : p->inner, each = p->runs > 1 ? p->inner : 1;
    int64_t most = lines->terms * lines->size <= WHOLE ? 1 : wick__div_up(lines->terms * lines->size, LEAST);
    int64_t splits = wick__max(1, wick__min(wick__div_up(SPREAD, lines->outs), wick__min(most, units)));
    p->length = wick__max(1, wick__div_up(units, splits));
    p->splits = wick__max(1, wick__div_up(units, p->length));
    int64_t elements = p->length * each;
    bool few = lines->outs * p->splits < SPREAD / 2; /* blocks, of which a thread has an element at least */
    p->end.group = elements >= (few ? GPU_BLOCK : 32 * (int64_t)wave) ? GPU_BLOCK : wick__gpu_power(elements / 4, wave);
    p->across = wick__gpu_power(p->inner, p->end.group);
    /* A thread has four elements of a run in flight at once, so it is better to take many of each of more runs, as long
     * as threads side by side read whole sectors and each has a run. Or a thread has an element of some runs. */
    bool whole = p->runs > 1 && p->inner <= p->across && 4 * p->inner >= 3 * p->across;
    p->some = whole && p->outer.rank == 1 && is_eager(lines) && p->length >= 4 * p->end.group / p->across;
    while (p->runs > 1 && !p->some && p->across * TAKEN > p->inner && p->across * lines->size > SECTOR &&
           2 * p->end.group / p->across <= p->length)
        p->across /= 2;
    p->end.segments = p->splits;
}

static void cut_runs(const struct lines *lines, struct gpu_reduce_rows *p) {
    uint32_t wave = (uint32_t)lines->gpu->properties.wave;
    int64_t bytes = p->inner * lines->size, whole = WHOLE;
    if (is_free(lines) && lines->outs >= SPREAD / 4) whole *= 2; /* blocks enough without a second kernel */
    int64_t most = bytes <= whole ? 1 : wick__div_up(bytes, LEAST);
    int64_t splits = wick__max(1, wick__min(wick__div_up(SPREAD, lines->outs * wick__max(p->runs, 1)), most));
    p->length = wick__max(1, wick__div_up(p->inner, splits));
    if (splits > 1) p->length = wick__div_up(p->length, 1024) * 1024; /* whole vectors */
    p->splits = wick__max(1, wick__div_up(p->inner, p->length));
    p->end.segments = wick__max(1, p->runs) * p->splits;
    int64_t vectors = p->length * lines->size / 16;
    int64_t rows = lines->outs * p->end.segments;
    p->across = 1;
    p->end.group = wick__gpu_power(vectors / 4, wave);
    /* Whole blocks where waves would be too few, or their rows are long; and where there are many rows, fewer threads
     * for each, so that several share the work of joining them. */
    if (vectors >= 2 * (int64_t)wave && (rows * wave < THREADS / 2 || vectors >= 64 * (int64_t)wave))
        p->end.group = GPU_BLOCK;
    else
        while (p->end.group > vectors / 16 && p->end.group > 1 && rows * p->end.group >= 2 * THREADS) p->end.group /= 2;
}

static enum wick_status run_rows(const struct lines *lines) {
    struct gpu_reduce_rows p = {.in = lines->data, .runs = 1, .inner = 1, .end = lines->reduction->end};
    struct wick__layout kept = lines->kept, outer = lines->reduced;
    if (outer.rank > 0) {
        outer.rank--;
        p.inner = outer.shape[outer.rank];
        p.stride = outer.stride[outer.rank];
    }
    for (int d = 0; d < outer.rank; d++) p.runs *= outer.shape[d];
    wick__gpu_shape(&kept, 1, &p.kept, p.kept_at);
    wick__gpu_shape(&outer, 1, &p.outer, p.outer_at);
    p.end.outs = lines->outs;
    p.end.terms = lines->terms;
    p.direct = p.stride == 1 && (p.runs == 1 || p.inner * lines->size >= PIECE);
    if (p.direct)
        cut_runs(lines, &p);
    else
        cut_pieces(lines, &p);
    p.end.part_out = p.end.segments;
    p.end.part_segment = 1;
    struct wick__launch first = {.kernel = kernel_of(lines, false)};
    wick__gpu_reduce_grid(&first, wick__div_up(p.end.outs * p.end.segments, GPU_BLOCK / p.end.group));
    return launch(lines, &first, &p, &p.end);
}

/* ---- across memory ---- */

/* The kept dim whose elements lie side by side, or -1. */
static int column_dim(const struct lines *lines) {
    for (int d = lines->kept.rank - 1; d >= 0; d--)
        if (lines->kept.stride[d] == 1) return d;
    return -1;
}

/* How many rows that follow each other are taken as one, so that each begins at a multiple of 16 bytes. */
static int64_t fold_of(const struct lines *lines, const struct gpu_reduce_columns *p) {
    int64_t pitch = p->width * lines->size, fold = 1;
    bool adjacent = lines->reduced.rank == 1 && lines->reduced.stride[0] == p->width;
    if (!adjacent || lines->terms * pitch < WHOLE) return 1;
    while (fold * pitch % 16 != 0) fold *= 2;
    return fold;
}

/* Whether all that is added to the address of x is a multiple of 16 bytes. */
static bool aligned(const struct lines *lines, const struct gpu_reduce_columns *p) {
    bool all = wick__aligned16(lines->data);
    for (u32 d = 0; d < p->reduced.rank; d++) all = all && p->reduced_at[0].stride[d] * lines->size % 16 == 0;
    return all;
}

/* Whether more than an eighth of the threads that take `vectors` in tiles would be idle. */
static bool is_idle(int64_t vectors, int64_t across) {
    return 8 * vectors < 7 * wick__div_up(vectors, across) * across;
}

/* Threads of a block side by side, a vector each: a power of two, or where that leaves too many idle, as many as share
 * the vectors evenly. */
static uint32_t across_of(int64_t vectors) {
    enum { MOST = 64, LEAST_ACROSS = 8 };
    uint32_t across = wick__gpu_power(vectors, MOST);
    while (across > LEAST_ACROSS && is_idle(vectors, across)) across /= 2;
    return is_idle(vectors, across) ? (uint32_t)wick__div_up(vectors, wick__div_up(vectors, MOST)) : across;
}

/* Whether threads have so few rows that to join them takes as long as to read them. */
static bool is_brief(const struct gpu_reduce_columns *p, int64_t beside) { return p->rows < beside * 32; }

/* Segments of the rows of a column, of which a block takes `beside` at a time. Where bits do not depend on the cut
 * there are more and shorter ones: rows that are no whole vectors have few loads in flight. */
static int64_t splits_of(const struct lines *lines, const struct gpu_reduce_columns *p, int64_t tiles, int64_t beside) {
    enum { EACH = 16, EACH_FEW = 4, FEW = 128, MANY = 2048 };
    int64_t most = p->rows / (beside * EACH), across = is_free(lines) ? MANY : ACROSS;
    if (is_brief(p, beside) && tiles >= ACROSS) return 1;
    if (is_free(lines) && (!p->aligned || tiles * most < FEW)) most = p->rows / (beside * EACH_FEW);
    return wick__max(1, wick__min(wick__div_up(across, tiles), most));
}

static enum wick_status run_columns(struct lines *lines, int dim) {
    struct gpu_reduce_columns p = {.in = lines->data, .limit = INT64_MAX, .end = lines->reduction->end};
    struct wick__layout kept[2] = {lines->kept, lines->kept_out}, reduced = lines->reduced;
    int64_t per_vector = 16 / lines->size;
    p.columns = p.width = kept[0].shape[dim];
    p.out_stride = kept[1].stride[dim];
    kept[0].shape[dim] = kept[1].shape[dim] = 1;
    wick__gpu_shape(kept, 2, &p.kept, p.kept_at);
    p.rows = lines->terms;
    int64_t fold = lines->fold = fold_of(lines, &p);
    if (fold > 1) {
        p.limit = p.rows * p.width;
        p.width *= fold;
        p.rows = wick__div_up(p.rows, fold);
        reduced.shape[0] = p.rows;
        reduced.stride[0] = p.width;
    }
    wick__gpu_shape(&reduced, 1, &p.reduced, p.reduced_at);
    p.aligned = aligned(lines, &p);
    int64_t vectors = wick__div_up(p.width, per_vector);
    p.end.group = across_of(vectors);
    p.tiles = wick__div_up(vectors, p.end.group);
    int64_t beside = GPU_BLOCK / p.end.group, tiles = p.kept.count * p.tiles;
    int64_t splits = splits_of(lines, &p, tiles, beside);
    while (splits == 1 && beside > 1 && is_brief(&p, beside) && tiles * p.end.group * beside >= 2 * BUSY) beside /= 2;
    p.threads = (u32)(p.end.group * beside);
    p.busy = GPU_BLOCK / p.threads * p.threads;
    p.half = beside > 1 ? p.end.group : 0;
    while (p.half > 0 && 2 * p.half < p.threads) p.half *= 2;
    p.length = wick__max(1, wick__div_up(p.rows, splits));
    if (splits > 1) p.length = wick__div_up(p.length, beside * 4) * beside * 4;
    p.splits = wick__max(1, wick__div_up(p.rows, p.length));
    p.end.outs = lines->outs;
    p.end.terms = lines->terms;
    p.end.segments = p.splits * fold;
    p.end.part_out = 1;
    p.end.part_segment = lines->outs;
    struct wick__launch first = {.kernel = kernel_of(lines, true)};
    wick__gpu_reduce_grid(&first, wick__div_up(tiles * p.splits, GPU_BLOCK / p.threads));
    return launch(lines, &first, &p, &p.end);
}

/* ---- lines of a few elements across memory ---- */

/* Whether lines are rows that follow each other, and no whole vectors. Of many a thread may as well take one each. */
static bool is_short_row(const struct lines *lines) {
    enum { MOST_READ = 1 << 20 }; /* elements */
    const struct wick__layout *kept = &lines->kept;
    bool rows = lines->reduced.rank == 1 && lines->reduced.stride[0] == 1 && kept->rank == 1;
    if (lines->outs * lines->terms > MOST_READ) return false;
    return rows && kept->stride[0] == lines->terms && lines->terms * lines->size % 16 != 0;
}

/* Whether x is [outer,n,inner], of which n is reduced to a place and small. Where neighbours are less than a sector, a
 * thread that takes a line alone reads its sectors more than once, which a cache can bear for short ones. */
static bool is_short(const struct lines *lines, int dim) {
    enum { MOST = 64, NEAR = 256 }; /* elements of a line; bytes of neighbouring lines */
    const struct wick__layout *kept = &lines->kept;
    if (lines->reduction->end.kind != GPU_REDUCE_ARG || lines->size == 1) return false;
    if (lines->reduced.rank != 1 || lines->terms > MOST) return false;
    if (is_short_row(lines)) return true;
    if (dim < 0 || dim != kept->rank - 1 || lines->reduced.stride[0] != kept->shape[dim]) return false;
    if (kept->rank > 2 || (kept->rank == 2 && kept->stride[0] != lines->terms * kept->shape[dim])) return false;
    int64_t bytes = kept->shape[dim] * lines->size;
    return bytes >= SECTOR || lines->terms * bytes <= NEAR;
}

static enum wick_status run_short(const struct lines *lines) {
    enum { KEPT = 64, KEPT_ROW = 8, DOWN = 16 }; /* elements of a thread, at most; threads of a line */
    const struct gpu_reduce_end *end = &lines->reduction->end;
    struct gpu_reduce_short p = {.in = lines->data, .n = lines->terms, .inner = lines->reduced.stride[0], .end = *end};
    int64_t size = lines->size;
    bool pairs = size == 2 && p.inner % 2 == 0 && (uintptr_t)lines->data % 4 == 0;
    p.beside = pairs ? 2 : 1;
    if (wick__aligned16(lines->data) && wick__aligned16(end->out) && p.inner * size % 16 == 0)
        p.beside = (uint32_t)(16 / size);
    p.width = p.inner / p.beside;
    p.items = lines->outs / p.inner * p.width;
    p.down = wick__gpu_short_down(p.n, p.items, is_short_row(lines) ? KEPT_ROW : KEPT, DOWN);
    enum wick_dtype dtype = lines->reduction->x->dtype;
    struct wick__launch launch = {.kernel = wick_dtype_is_float(dtype)
                                                ? wick__gpu_of_floats(WICK__GPU_K_arg_short_bf16, dtype)
                                                : wick__gpu_of_size(WICK__GPU_K_arg_short_b2, (size_t)size / 2)};
    wick__gpu_reduce_grid(&launch, wick__div_up(p.items, GPU_BLOCK / p.down));
    return wick__gpu_launch(lines->gpu, &launch, &p);
}

/* ---- a few lines side by side ---- */

/* Whether rows of a few lines follow each other without a gap, and are together worth a block: of sums of 16 bits, and
 * of places of extremes. Smaller planes are, where they are many. */
static bool is_few(const struct lines *lines, int dim) {
    enum { MOST = 64, PLANE = 16 << 10, SMALL_PLANE = 4 << 10 }; /* lines; bytes of all their rows, at least */
    const struct wick__layout *kept = &lines->kept;
    uint32_t kind = lines->reduction->end.kind;
    bool place = kind == GPU_REDUCE_ARG && wick_dtype_is_float(lines->reduction->x->dtype);
    if (place ? lines->size != 2 && lines->size != 4 : !is_eager(lines) || lines->size != 2 || kind != GPU_REDUCE_SUM)
        return false;
    if (dim < 0 || dim != kept->rank - 1 || kept->rank > 2) return false;
    int64_t width = kept->shape[dim], bytes = width * lines->size;
    bool adjacent = lines->reduced.rank == 1 && lines->reduced.stride[0] == width;
    bool narrow = width > 1 && width <= MOST && (bytes % 16 != 0 || bytes < SECTOR);
    bool many = kept->rank == 2 && kept->shape[0] >= SPREAD / 2;
    return adjacent && narrow && lines->terms * bytes >= (many ? SMALL_PLANE : PLANE) &&
           lines->terms * width < INT32_MAX;
}

static enum wick_status run_few(const struct lines *lines, int dim) {
    enum { EACH = 8, LEAST_EACH = 3 }; /* vectors of a thread in a segment, at least; where blocks are smaller for it */
    const struct wick__layout *kept = &lines->kept;
    struct gpu_reduce_few p = {.in = lines->data, .planes = 1, .end = lines->reduction->end};
    int64_t per_vector = 16 / lines->size, whole = 1; /* threads whose vectors are whole rows */
    p.width = (u32)kept->shape[dim];
    p.n = lines->terms * p.width;
    if (kept->rank == 2) p.planes = kept->shape[0];
    if (kept->rank == 2) p.pitch = kept->stride[0];
    while (whole * per_vector % p.width != 0) whole++;
    uint32_t threads = GPU_BLOCK;
    while (threads > 64 && threads / 2 >= p.width && threads / 2 >= whole && p.n < LEAST_EACH * threads * per_vector)
        threads /= 2;
    p.threads = (u32)(threads / whole * whole);
    int64_t step = p.threads * per_vector, most = wick__max(1, p.n / (step * EACH));
    int64_t splits = wick__min(wick__div_up(SPREAD / 2, p.planes), most);
    p.length = wick__div_up(wick__div_up(p.n, splits), step) * step;
    p.splits = wick__div_up(p.n, p.length);
    p.end.outs = lines->outs;
    p.end.terms = lines->terms;
    p.end.segments = p.splits;
    p.end.part_out = 1;
    p.end.part_segment = lines->outs;
    bool place = p.end.kind == GPU_REDUCE_ARG;
    enum wick__gpu_kernel kernel = place ? WICK__GPU_K_arg_few_bf16 : WICK__GPU_K_reduce_few_bf16;
    struct wick__launch first = {.kernel = wick__gpu_of_floats(kernel, lines->reduction->x->dtype), .threads = threads};
    wick__gpu_reduce_grid(&first, p.planes * p.splits);
    return launch(lines, &first, &p, &p.end);
}

/* Whether a thread a line takes less than blocks that share columns: in 16 bits for places of extremes, and where rows
 * are no whole vectors and neither few nor very many; of words for places where such rows are long or short. */
static bool is_alone(const struct lines *lines, int64_t width, bool vectors) {
    enum { ROWS = 48, MOST = 2048, MOST_NARROW = 4096, NARROW = 12, FEW = 64, WIDE = 1024 };
    int64_t rows = lines->terms;
    bool place = lines->reduction->end.kind == GPU_REDUCE_ARG;
    if (!is_near(lines)) return false;
    if (place && lines->size == 2) return true;
    if (place) return lines->size == 4 && !vectors && (width >= WIDE || (width < FEW && rows <= MOST));
    return lines->size == 2 && !vectors && rows >= ROWS && rows <= (width < NARROW ? MOST_NARROW : MOST);
}

/* Whether deviations of lines side by side are rather read line by line, a few bytes of each sector at a time: threads
 * that share columns take longer to join their parts than that, unless there is much to read. */
static bool is_scattered(const struct lines *lines, int64_t width) {
    enum { NARROW = 256, MOST_READ = 1 << 26 }; /* bytes: side by side, and that are read for all elements */
    return lines->reduction->end.kind == GPU_REDUCE_MOMENTS && lines->size < 8 && width < NARROW &&
           lines->terms * lines->outs * wick__min(width, SECTOR) <= MOST_READ;
}

enum wick_status wick__gpu_reduce_lines(struct wick__gpu *gpu, const struct wick__gpu_reduction *reduction) {
    /* Bytes of a row that is read by vectors though it is no whole ones, at least; of all rows, where these are few. */
    enum { WIDE = 32, FEW = 768 };
    struct lines lines = lines_of(gpu, reduction);
    int last = lines.reduced.rank - 1, dim = column_dim(&lines);
    if (lines.outs == 0) return WICK_OK;
    if (is_short(&lines, dim)) return run_short(&lines);
    if (is_few(&lines, dim)) return run_few(&lines, dim);
    bool across = dim >= 0 && last >= 0 && lines.terms > 0 && lines.reduced.stride[last] != 1;
    /* Blocks that would have next to nothing to do but to join: there a thread or a few take each line. */
    int64_t width = across ? lines.kept.shape[dim] * lines.size : 0, bytes = lines.terms * width;
    bool small = lines.terms <= LONG && lines.terms * lines.outs <= SMALL * (int64_t)gpu->properties.units;
    bool vectors = width % 16 == 0 && width >= SECTOR && wick__aligned16(lines.data);
    bool wide = vectors || (width >= WIDE && is_eager(&lines));
    bool few = bytes < (wide && lines.terms * lines.outs >= MUCH ? FEW : 4096);
    few = few || is_scattered(&lines, width);
    if (small || (width < 256 && few) || (across && is_alone(&lines, width, vectors))) across = false;
    return across ? run_columns(&lines, dim) : run_rows(&lines);
}
