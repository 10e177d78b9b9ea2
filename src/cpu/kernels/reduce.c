/* Reductions of some dims.
 *
 * A line is the elements that make one result. Where the lines themselves lie side by side in memory (column sums),
 * many lines are accumulated at once, row by row; otherwise each line is taken block by block, gathered if its
 * elements are apart. Either way lines are cut into segments whose length depends on the shape alone, every segment
 * gives a cell of its own, and cells are joined in order: the result is the same for any number of threads. */
#include "cpu/kernels/extremes.h"
#include "cpu/kernels/lines.h"
#include "cpu/kernels/sums.h"
#include "cpu/kernels/reduce_types.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/memory.h"

enum {
    TILE = 2048,      /* lines side by side in one task */
    APART = 256,      /* lines in one task whose neighbours lie apart */
    FEW = 64,         /* elements up to which lines that lie apart are taken so */
    TILE_ROWS = 128,  /* elements of each of them in one task */
    GRAIN = 32 * 1024 /* elements below which nothing is shared out */
};

/* What a segment of a line comes to. `center` is the mean for SQUARES, the greatest element for EXPS, the greatest or
 * least magnitude for POWERS, the exponent for MANTISSAS. */
struct part {
    union cell acc;
    double center;
    double count; /* elements, for SQUARES */
    double pre; /* SQUARES and their mean are of pre x, a power of two: 1, unless f64 could not hold the squares of x */
};

struct reduce {
    struct lines lines;
    enum kind kind;
    enum wick_op op;
    bool is_float;
    bool centered; /* a center is to be found first: all but norm's SQUARES */
    double correction, order;
    int64_t segments, segment; /* of a line, and the elements in each */
    struct part *parts;        /* outs x segments */
    struct wick_tensor *out;

    /* Lines side by side: `across` of them, `tile` in a task, `step` elements from one to the next; one kind of sweep
     * after the other. */
    int64_t across, tile, tiles, step;
    union cell *cells;  /* segments x outs */
    union cell *totals; /* outs */
    double *centers;    /* outs */
};

static union cell fold(const struct reduce *reduce, enum kind kind, const void *x, int64_t n, double center) {
    return fold_any(reduce->lines.dtype, kind, x, n, center, reduce->order);
}

static union cell start(const struct reduce *reduce, enum kind kind) {
    return reduce->is_float ? (union cell){.f = start_float(kind)} : (union cell){.i = start_int(kind)};
}

static union cell join(const struct reduce *reduce, enum kind kind, union cell a, union cell b) {
    return reduce->is_float ? (union cell){.f = join_float(kind, a.f, b.f)}
                            : (union cell){.i = join_int(kind, a.i, b.i)};
}

/* ---- what is scaled: nothing on the way may leave the range of f64 ---- */

/* The kind that finds the center of EXPS and POWERS. */
static enum kind extreme_of(const struct reduce *reduce) {
    return reduce->kind == EXPS ? MAX : reduce->order > 0 ? ABS_MAX : ABS_MIN;
}

/* Where a center is not usable the sum is void, and the result is the center. */
static bool usable(const struct reduce *reduce, double center) {
    return isfinite(center) && (reduce->kind == EXPS || center != 0);
}

/* What a term is multiplied with when its center moves. */
static double moved(const struct reduce *reduce, double from, double to) {
    return reduce->kind == EXPS ? exp(from - to) : pow(from / to, reduce->order);
}

/* Leaves the mantissa of a product, and adds to its exponent. */
static double split(double product, double *exponent) {
    int e = 0;
    double y = frexp(product, &e);
    if (!isfinite(product)) return product;
    *exponent += e;
    return y;
}

static struct part product_part(const struct reduce *reduce, const char *x, int64_t n) {
    bool wide = reduce->lines.dtype == WICK_F64;
    int64_t size = wide ? 8 : 4, most = wide ? MANTISSAS_MOST : 4 * MANTISSAS_MOST;
    struct part part = {.acc.f = 1};
    for (int64_t i = 0; i < n; i += most) {
        const void *at = x + i * size;
        int64_t few = wick__min(most, n - i);
        double product = wide ? product_f64(at, few, &part.center) : product_f32(at, few, &part.center);
        part.acc.f = split(part.acc.f * product, &part.center);
    }
    return part;
}

/* Whether a sum of squares may have lost something, or be infinite or NaN on the way alone. */
static bool doubtful(const struct reduce *reduce, double squares) {
    return reduce->lines.dtype == WICK_F64 && reduce->kind == SQUARES && !(squares >= 0x1p-900 && squares <= 0x1p900);
}

static struct part plain_squares(const struct reduce *reduce, const void *x, int64_t n, double pre) {
    struct part part = {.count = (double)n, .pre = pre};
    if (reduce->centered) part.center = fold(reduce, TOTAL, x, n, 0).f / (double)n;
    part.acc = fold(reduce, SQUARES, x, n, part.center);
    return part;
}

static __attribute__((noinline)) struct part scaled_squares(const struct reduce *reduce, const double *x, int64_t n) {
    enum { NEAR = 300, MOST_PRE = 1022 };
    double most = fold(reduce, ABS_MAX, x, n, 0).f, scaled[LINE_BLOCK], pre = ldexp(1, MOST_PRE);
    if (!isfinite(most)) return plain_squares(reduce, x, n, 1);
    if (most > 0) pre = ldexp(1, (int)wick__max(wick__min(NEAR - ilogb(most), MOST_PRE), -MOST_PRE));
    for (int64_t i = 0; i < n; i++) scaled[i] = x[i] * pre;
    return plain_squares(reduce, scaled, n, pre);
}

/* Squares of less of x: `pre` <= a->pre. */
static void rescale(struct part *a, double pre) {
    double by = pre / a->pre;
    a->center *= by;
    a->acc.f *= by * by;
    a->pre = pre;
}

static void join_squares(const struct reduce *reduce, struct part *a, struct part b) {
    double count = a->count + b.count;
    if (b.count == 0) return;
    if (a->count == 0) {
        *a = b;
        return;
    }
    if (a->pre > b.pre)
        rescale(a, b.pre);
    else if (a->pre < b.pre)
        rescale(&b, a->pre);
    a->acc.f += b.acc.f;
    if (reduce->centered) { /* Chan, Golub and LeVeque, 1979 */
        double apart = b.center - a->center;
        a->acc.f += apart * apart * (a->count * b.count / count);
        a->center += apart * (b.count / count);
    }
    a->count = count;
}

/* ---- parts ---- */

static struct part block_part(const struct reduce *reduce, const void *x, int64_t n) {
    struct part part = {.count = (double)n};
    switch (reduce->kind) {
    case MANTISSAS: return product_part(reduce, x, n);
    case SQUARES:
        part = plain_squares(reduce, x, n, 1);
        return doubtful(reduce, part.acc.f) ? scaled_squares(reduce, x, n) : part;
    case EXPS:
    case POWERS:
        part.center = fold(reduce, extreme_of(reduce), x, n, 0).f;
        if (!usable(reduce, part.center)) return part;
        break;
    default: break;
    }
    part.acc = fold(reduce, reduce->kind, x, n, part.center);
    return part;
}

static struct part empty_part(const struct reduce *reduce) {
    bool extreme = reduce->kind == EXPS || reduce->kind == POWERS;
    return (struct part){
        .acc = start(reduce, reduce->kind), .center = extreme ? start_float(extreme_of(reduce)) : 0, .pre = 1};
}

static void join_part(const struct reduce *reduce, struct part *a, const struct part *b) {
    if (reduce->kind == SQUARES) {
        join_squares(reduce, a, *b);
    } else if (reduce->kind == EXPS || reduce->kind == POWERS) {
        double center = join_float(extreme_of(reduce), a->center, b->center);
        if (usable(reduce, center))
            a->acc.f = a->acc.f * moved(reduce, a->center, center) + b->acc.f * moved(reduce, b->center, center);
        a->center = center;
    } else if (reduce->kind == MANTISSAS) {
        a->center += b->center;
        a->acc.f = split(a->acc.f * b->acc.f, &a->center);
    } else {
        a->acc = join(reduce, reduce->kind, a->acc, b->acc);
    }
}

/* The result that a part comes to. */
static double result(const struct reduce *reduce, const struct part *part) {
    double n = (double)reduce->lines.terms, y = part->acc.f;
    switch (reduce->op) {
    case WICK_OP_mean: return y / n;
    case WICK_OP_prod: return ldexp(y, (int)fmax(-4000, fmin(part->center, 4000)));
    case WICK_OP_var: return y / fmax(0, n - reduce->correction) / part->pre / part->pre;
    case WICK_OP_std: return sqrt(y / fmax(0, n - reduce->correction)) / part->pre;
    case WICK_OP_log_sum_exp: return usable(reduce, part->center) ? part->center + log(y) : part->center;
    case WICK_OP_norm:
        if (reduce->kind == SQUARES) return sqrt(y) / part->pre;
        if (reduce->kind != POWERS) return y;
        return usable(reduce, part->center) ? part->center * pow(y, 1 / reduce->order) : part->center;
    default: return y;
    }
}

/* Writes results i .. i+n-1. */
static void put(const struct reduce *reduce, int64_t i, const union cell *y, int64_t n) {
    enum wick_dtype dtype = reduce->out->dtype;
    char *out = (char *)wick__data(reduce->out) + i * (int)wick__size(dtype);
    if (reduce->is_float)
        wick__row_from_f64(dtype, &y->f, out, n);
    else
        wick__row_from_i64(dtype, &y->i, out, n);
}

static void finish(const struct reduce *reduce, int64_t i, const struct part *part) {
    union cell y = part->acc;
    if (reduce->is_float) y.f = result(reduce, part);
    put(reduce, i, &y, 1);
}

/* ---- line by line ---- */

/* Elements begin .. end-1 of the line at `base`. */
static struct part range_part(const struct reduce *reduce, int64_t base, int64_t begin, int64_t end,
                              struct line_buffer *buffer) {
    struct part part = empty_part(reduce);
    for (int64_t i = begin, n; i < end; i += n) {
        n = line_piece(&reduce->lines, i, end);
        struct part block = block_part(reduce, line_load(&reduce->lines, base, i, n, buffer), n);
        if (n == reduce->lines.terms) return block;
        join_part(reduce, &part, &block);
    }
    return part;
}

static void line_tasks(void *context, int worker, int64_t begin, int64_t end) {
    const struct reduce *reduce = context;
    struct line_buffer buffer;
    (void)worker;
    for (int64_t task = begin; task < end; task++) {
        int64_t line = task / reduce->segments, base = dims_offset(&reduce->lines.kept, line);
        int64_t from = task % reduce->segments * reduce->segment;
        int64_t to = wick__min(from + reduce->segment, reduce->lines.terms);
        struct part part = range_part(reduce, base, from, to, &buffer);
        if (reduce->parts)
            reduce->parts[task] = part;
        else
            finish(reduce, line, &part);
    }
}

static void join_lines(void *context, int worker, int64_t begin, int64_t end) {
    const struct reduce *reduce = context;
    (void)worker;
    for (int64_t line = begin; line < end; line++) {
        struct part part = empty_part(reduce);
        for (int64_t s = 0; s < reduce->segments; s++)
            join_part(reduce, &part, &reduce->parts[line * reduce->segments + s]);
        finish(reduce, line, &part);
    }
}

static enum wick_status run_lines(struct reduce *reduce) {
    int64_t terms = reduce->lines.terms, outs = reduce->lines.outs;
    size_t nbytes = 0;
    reduce->segment = LINE_SEGMENT;
    reduce->segments = wick__max(1, (terms + LINE_SEGMENT - 1) / LINE_SEGMENT);
    if (reduce->segments > 1) {
        nbytes = sizeof *reduce->parts * (size_t)(outs * reduce->segments);
        reduce->parts = wick__scratch(nbytes);
        if (!reduce->parts) return WICK_MEMORY;
    }
    int64_t work = wick__min(terms, LINE_SEGMENT) + 16;
    wick__parallel(outs * reduce->segments, wick__max(1, GRAIN / work), line_tasks, reduce);
    if (reduce->parts) wick__parallel(outs, GRAIN / 8, join_lines, reduce);
    wick__scratch_free(reduce->parts, nbytes);
    return WICK_OK;
}

/* ---- lines side by side ---- */

static void take_rows(const struct reduce *reduce, union cell *acc, const void *const *rows, int count, int64_t n,
                      const double *centers) {
    enum kind kind = reduce->kind;
    double p = reduce->order;
    switch (reduce->lines.dtype) {
    case WICK_U8: rows_u8(kind, acc, rows, count, n, NULL, p); break;
    case WICK_U32: rows_u32(kind, acc, rows, count, n, NULL, p); break;
    case WICK_I16: rows_i16(kind, acc, rows, count, n, NULL, p); break;
    case WICK_I32: rows_i32(kind, acc, rows, count, n, NULL, p); break;
    case WICK_I64: rows_i64(kind, acc, rows, count, n, NULL, p); break;
    case WICK_F64: rows_f64(kind, acc, rows, count, n, centers, p); break;
    default: rows_f32(kind, acc, rows, count, n, centers, p); break;
    }
}

/* One segment of a tile of lines that begin at `base`: n accumulators. */
static void tile_segment(const struct reduce *reduce, union cell *acc, int64_t base, int64_t n, int64_t segment,
                         const double *centers) {
    static const wick__dtypes small = WICK__BIT(bf16) | WICK__BIT(f16) | WICK__BIT(f8e4m3);
    const struct lines *lines = &reduce->lines;
    _Alignas(64) float wide[ROWS][TILE];
    _Alignas(64) char apart[ROWS][APART * 8];
    int64_t end = wick__min((segment + 1) * reduce->segment, lines->terms);
    for (int64_t j = 0; j < (n + LANES - 1) / LANES * LANES; j++) acc[j] = start(reduce, reduce->kind);
    for (int64_t r = segment * reduce->segment; r < end; r += ROWS) {
        const void *rows[ROWS];
        int count = (int)wick__min(ROWS, end - r);
        for (int i = 0; i < count; i++) {
            int64_t offset = base + dims_offset(&lines->reduced, r + i);
            rows[i] = lines->data + offset * (int64_t)lines->size;
            if (reduce->step != 1) {
                gather_run(apart[i], rows[i], n, reduce->step, lines->size);
                rows[i] = apart[i];
            }
            if (!wick__has(small, lines->dtype)) continue;
            wick__row_to_f32(lines->dtype, rows[i], 1, wide[i], n);
            rows[i] = wide[i];
        }
        take_rows(reduce, acc, rows, count, n, centers);
    }
}

static void tile_tasks(void *context, int worker, int64_t begin, int64_t end) {
    const struct reduce *reduce = context;
    _Alignas(64) union cell acc[TILE];
    _Alignas(64) double centers[TILE];
    (void)worker;
    if (reduce->kind == SQUARES || reduce->kind == EXPS || reduce->kind == POWERS) memset(centers, 0, sizeof centers);
    for (int64_t task = begin; task < end; task++) {
        int64_t segment = task % reduce->segments, tile = task / reduce->segments;
        int64_t first = tile / reduce->tiles * reduce->across + tile % reduce->tiles * reduce->tile;
        int64_t n = wick__min(reduce->tile, reduce->across - tile % reduce->tiles * reduce->tile);
        if (reduce->centers) memcpy(centers, reduce->centers + first, sizeof *centers * (size_t)n);
        tile_segment(reduce, acc, dims_offset(&reduce->lines.kept, first), n, segment, centers);
        memcpy(reduce->cells + segment * reduce->lines.outs + first, acc, sizeof *acc * (size_t)n);
    }
}

static void join_tiles(void *context, int worker, int64_t begin, int64_t end) {
    const struct reduce *reduce = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) reduce->totals[i] = start(reduce, reduce->kind);
    for (int64_t s = 0; s < reduce->segments; s++) {
        const union cell *cells = reduce->cells + s * reduce->lines.outs;
        if (reduce->is_float && reduce->kind == SUM)
            for (int64_t i = begin; i < end; i++) reduce->totals[i].f += cells[i].f;
        else if (reduce->kind == MANTISSAS)
            for (int64_t i = begin; i < end; i++)
                reduce->totals[i].f = split(reduce->totals[i].f * cells[i].f, &reduce->centers[i]);
        else
            for (int64_t i = begin; i < end; i++)
                reduce->totals[i] = join(reduce, reduce->kind, reduce->totals[i], cells[i]);
    }
}

/* A line by itself, for those of which a tile could not hold the squares. */
static __attribute__((noinline)) struct part whole_line(const struct reduce *reduce, int64_t line) {
    struct line_buffer buffer;
    return range_part(reduce, dims_offset(&reduce->lines.kept, line), 0, reduce->lines.terms, &buffer);
}

static void finish_tiles(void *context, int worker, int64_t begin, int64_t end) {
    const struct reduce *reduce = context;
    (void)worker;
    for (int64_t i = begin; i < end && reduce->is_float && reduce->op != WICK_OP_sum; i++) {
        struct part part = {.acc = reduce->totals[i], .center = reduce->centers ? reduce->centers[i] : 0, .pre = 1};
        if (doubtful(reduce, part.acc.f)) part = whole_line(reduce, i);
        reduce->totals[i].f = result(reduce, &part);
    }
    put(reduce, begin, reduce->totals + begin, end - begin);
}

static void sweep(struct reduce *reduce, enum kind kind) {
    int64_t outs = reduce->lines.outs;
    int64_t work = wick__min(reduce->segment, reduce->lines.terms) * wick__min(reduce->across, reduce->tile);
    reduce->kind = kind;
    wick__parallel(outs / reduce->across * reduce->tiles * reduce->segments, wick__max(1, GRAIN / work), tile_tasks,
                   reduce);
    if (reduce->totals != reduce->cells)
        wick__parallel(outs, wick__max(LANES, GRAIN / reduce->segments), join_tiles, reduce);
}

static enum wick_status run_tiles(struct reduce *reduce) {
    struct lines *lines = &reduce->lines;
    int64_t outs = lines->outs, terms = lines->terms;
    enum kind kind = reduce->kind;
    reduce->across = lines->kept.shape[lines->kept.n - 1];
    reduce->step = lines->kept.stride[lines->kept.n - 1];
    reduce->tile = reduce->step == 1 ? TILE : APART;
    reduce->tiles = (reduce->across + reduce->tile - 1) / reduce->tile;
    reduce->segment = TILE_ROWS;
    reduce->segments = (terms + reduce->segment - 1) / reduce->segment;
    size_t n = (size_t)outs * (size_t)(reduce->segments + 1 + reduce->centered), nbytes = n * sizeof(union cell);
    void *scratch;
    enum wick_status status = wick__pool_alloc(nbytes, &scratch);
    if (status != WICK_OK) return status;
    reduce->cells = scratch;
    reduce->totals = reduce->segments > 1 ? reduce->cells + outs * reduce->segments : reduce->cells;
    if (reduce->centered) {
        double *centers = &reduce->cells[outs * (reduce->segments + 1)].f;
        sweep(reduce, kind == SQUARES ? TOTAL : kind == MANTISSAS ? EXPONENTS : extreme_of(reduce));
        for (int64_t i = 0; i < outs; i++)
            centers[i] = kind == SQUARES ? reduce->totals[i].f / (double)terms : reduce->totals[i].f;
        reduce->centers = centers;
    }
    sweep(reduce, kind);
    wick__parallel(outs, GRAIN / 4, finish_tiles, reduce);
    wick__pool_free(scratch, nbytes);
    return WICK_OK;
}

static enum kind norm_kind(double p) {
    if (p == 0) return COUNT;
    if (p == 1) return ABS_SUM;
    if (p == 2) return SQUARES;
    if (isinf(p)) return p > 0 ? ABS_MAX : ABS_MIN;
    return POWERS;
}

static enum kind kind_of(enum wick_op op, double order, bool is_float) {
    switch (op) {
    case WICK_OP_prod: return is_float ? MANTISSAS : PROD;
    case WICK_OP_min: return MIN;
    case WICK_OP_max: return MAX;
    case WICK_OP_any: return ANY;
    case WICK_OP_all: return ALL;
    case WICK_OP_var:
    case WICK_OP_std: return SQUARES;
    case WICK_OP_norm: return norm_kind(order);
    case WICK_OP_log_sum_exp: return EXPS;
    default: return SUM;
    }
}

/* Whether the result of a line of one element is that element. */
static bool is_copy(enum wick_op op) {
    return op == WICK_OP_sum || op == WICK_OP_mean || op == WICK_OP_prod || op == WICK_OP_min || op == WICK_OP_max;
}

wick__kernel_fn WICK__ISA(wick__cpu_copy);
static enum wick_status copy_ones(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor y = *call->out[0]; /* with the dims of x */
    y.layout = (struct wick__layout){.rank = x->layout.rank, .offset = y.layout.offset};
    for (int64_t d = x->layout.rank - 1, stride = 1; d >= 0; stride *= x->layout.shape[d--]) {
        y.layout.shape[d] = x->layout.shape[d];
        y.layout.stride[d] = stride;
    }
    const struct wick__call copy = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}, .n_out = 1, .out = {&y}};
    return WICK__ISA(wick__cpu_copy)(&copy);
}

enum wick_status WICK__ISA(wick__cpu_reduce)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_reduce)(const struct wick__call *call) {
    bool is_float = wick_dtype_is_float(call->in[0]->dtype);
    struct reduce reduce = {.op = call->op,
                            .kind = kind_of(call->op, call->p.reduce.order, is_float),
                            .correction = call->p.reduce.correction,
                            .order = call->p.reduce.order,
                            .is_float = is_float,
                            .out = call->out[0]};
    const struct dims *kept = &reduce.lines.kept;
    bool scaled = reduce.kind == MANTISSAS || reduce.kind == EXPS || reduce.kind == POWERS;
    reduce.centered = scaled || call->op == WICK_OP_var || call->op == WICK_OP_std;
    lines_init(&reduce.lines, call->in[0], call->p.reduce.dims, false);
    if (reduce.lines.outs == 0) return WICK_OK;
    if (reduce.lines.terms == 1 && is_copy(call->op)) return copy_ones(call);
    double divisor = call->op == WICK_OP_mean ? (double)reduce.lines.terms : 1;
    if ((call->op == WICK_OP_mean || call->op == WICK_OP_sum) && reduce.lines.terms > 1 &&
        call->out[0]->dtype == WICK_F32 && WICK__ISA(wick__sums_f32)(&reduce.lines, divisor, wick__data(call->out[0])))
        return WICK_OK;
    if ((call->op == WICK_OP_min || call->op == WICK_OP_max) && reduce.lines.dtype == WICK_F32 &&
        WICK__ISA(wick__extremes_f32)(&reduce.lines, call->op == WICK_OP_min, wick__data(call->out[0]), NULL))
        return WICK_OK;
    /* Few lines beside each other are worth their tile where they are short: a row of it takes longer than its
     * elements. */
    int64_t across = kept->n > 0 ? kept->shape[kept->n - 1] : 1, terms = reduce.lines.terms;
    bool many = across > 1 && terms > 1 && (across >= 2 * LANES || terms <= 2 * across);
    bool beside = many && !reduce.lines.direct && kept->stride[kept->n - 1] == 1;
    if (beside || (many && reduce.lines.terms <= FEW)) return run_tiles(&reduce);
    return run_lines(&reduce);
}
