/* The driver of the elementwise kernels: see cpu/kernels/elementwise.h. */
#include "cpu/kernels/elementwise.h"

#include "core/convert.h"
#include "cpu/runtime/parallel.h"
#include "cpu/kernels/stream.h"
#include "cpu/kernels/transpose.h"

#include "core/checked.h"

#include <immintrin.h>

/* The least that is worth waking a thread for: 128 and 64 KiB of f32. */
enum { LIGHT_BLOCKS = 32, HEAVY_BLOCKS = 16 };

/* Rows from ROW elements on are worth a call of their own. Dims from TURNED on are worth turning. */
enum { ROW = 128, TURNED = 8, LINE = 64, COLUMNS = 256 };

struct operand {
    struct wick__layout layout; /* broadcast to the result's shape, then collapsed: of tiles, with all others */
    const char *data;
    size_t size;
    enum wick_dtype dtype;
    bool convert;
};

/* How the result is cut where operands differ in layout: rows of the last dim, `columns` elements of them; where an
 * operand is transposed, `rows` of them at a time, neighbours along `dim`, where its elements are neighbours too. */
struct tiles {
    struct wick__layout out;
    int dim; /* -1: a row at a time */
    int64_t rows, columns;
    int64_t down, across; /* tiles along dim, along the last dim */
};

struct job {
    struct tiles tiles;
    struct operand in[WICK__ROW_INPUTS];
    int n_in;
    char *out;
    size_t out_size;
    enum wick_dtype out_dtype;
    bool out_convert, stream;
    int64_t count;
    struct wick__elementwise *e;
};

/* Room for a block of one operand: f64 at most, or f32 with the 16-bit elements it was made from behind it. */
union buffer {
    char bytes[WICK__BLOCK * 8];
    float f32[WICK__BLOCK];
    uint64_t align;
};

/* n elements of a size, `stride` elements apart, next to one another. */
static void pick(char *to, const char *from, size_t size, int64_t stride, int64_t n) {
#define PICK(type)                                                                                                     \
    {                                                                                                                  \
        const type *in = (const void *)from;                                                                           \
        type *out = (void *)to;                                                                                        \
        if (stride == 0)                                                                                               \
            for (int64_t i = 0; i < n; i++) out[i] = in[0];                                                            \
        else if (stride == 2)                                                                                          \
            for (int64_t i = 0; i < n; i++) out[i] = in[2 * i];                                                        \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) out[i] = in[i * stride];                                                   \
        return;                                                                                                        \
    }
    if (stride == 1) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    switch (size) {
    case 1: PICK(uint8_t)
    case 2: PICK(uint16_t)
    case 4: PICK(uint32_t)
    default: PICK(uint64_t)
    }
#undef PICK
}

/* Elements begin .. begin+n-1 in row-major order: where they lie if they are next to one another, else in `to`. */
static const char *gather(const struct operand *op, int64_t begin, int64_t n, char *to) {
    const struct wick__layout *layout = &op->layout;
    int last = layout->rank - 1;
    int64_t index[WICK_MAX_RANK], rest = begin, at = 0;
    for (int d = last; d > 0; d--) {
        index[d] = rest % layout->shape[d];
        rest /= layout->shape[d];
        at += index[d] * layout->stride[d];
    }
    index[0] = rest;
    at += rest * layout->stride[0];
    if (layout->stride[last] == 1 && index[last] + n <= layout->shape[last]) return op->data + (size_t)at * op->size;
    for (;;) {
        int64_t piece = wick__min(n, layout->shape[last] - index[last]);
        pick(to, op->data + (size_t)at * op->size, op->size, layout->stride[last], piece);
        n -= piece;
        if (n == 0) break;
        to += (size_t)piece * op->size;
        at -= index[last] * layout->stride[last];
        index[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            at += layout->stride[d];
            if (++index[d] < layout->shape[d]) break;
            at -= index[d] * layout->stride[d];
            index[d] = 0;
        }
    }
    return NULL;
}

static void to_f32(enum wick_dtype dtype, const void *in, float *out, int64_t n) {
    const uint16_t *wide = in;
    const uint8_t *narrow = in;
    if (dtype == WICK_DTYPE_bf16)
        for (int64_t i = 0; i < n; i++) out[i] = wick__bf16_to_f32(wide[i]);
    else if (dtype == WICK_DTYPE_f16)
        wick__row_f16_to_f32(wide, out, n);
    else
        for (int64_t i = 0; i < n; i++) out[i] = wick__f8e4m3_to_f32(narrow[i]);
}

static void from_f32(enum wick_dtype dtype, const float *in, void *out, int64_t n) {
    uint16_t *wide = out;
    uint8_t *narrow = out;
    if (dtype == WICK_DTYPE_bf16)
        for (int64_t i = 0; i < n; i++) wide[i] = wick__f32_to_bf16(in[i]);
    else if (dtype == WICK_DTYPE_f16)
        wick__row_f32_to_f16(in, wide, n);
    else
        for (int64_t i = 0; i < n; i++) narrow[i] = wick__f32_to_f8e4m3(in[i]);
}

/* A block of an operand as the row function takes it. */
static const void *load(const struct operand *op, int64_t begin, int64_t n, union buffer *buffer) {
    char *raw = op->convert ? buffer->bytes + sizeof buffer->f32 : buffer->bytes;
    const char *from = gather(op, begin, n, raw);
    if (!op->convert) return from ? from : raw;
    to_f32(op->dtype, from ? from : raw, buffer->f32, n);
    return buffer->f32;
}

/* Computes a row. Its results are in `to`, or where that is NULL, or nothing is computed, elsewhere: returns where. */
static const void *compute(const struct job *job, struct wick__row *row, void *to, union buffer room[2]) {
    const void *result = row->in[0];
    if (!job->e->copies) {
        row->out = job->out_convert || !to ? room[0].bytes : to;
        job->e->row(row);
        result = row->out;
    }
    if (job->out_convert) {
        row->out = to ? to : room[1].bytes;
        from_f32(job->out_dtype, result, row->out, row->n);
        result = row->out;
    }
    return result;
}

/* A row of a job, with the operands that are one element in their places. */
static struct wick__row begin_row(const struct job *job, union buffer *in, bool *fixed) {
    struct wick__row row = {.params = job->e->params, .failed = &job->e->failed};
    for (int i = 0; i < job->n_in; i++) {
        const struct wick__layout *layout = &job->in[i].layout;
        fixed[i] = true;
        for (int d = 0; d < layout->rank; d++) fixed[i] = fixed[i] && layout->stride[d] == 0;
        if (fixed[i]) row.in[i] = load(&job->in[i], 0, wick__min(WICK__BLOCK, job->count), &in[i]);
    }
    return row;
}

static void run_blocks(void *context, int worker, int64_t begin, int64_t end) {
    struct job *job = context;
    union buffer in[WICK__ROW_INPUTS], room[2];
    bool fixed[WICK__ROW_INPUTS];
    struct wick__row row = begin_row(job, in, fixed);
    (void)worker;
    for (int64_t block = begin; block < end; block++) {
        int64_t first = block * WICK__BLOCK;
        row.n = wick__min(WICK__BLOCK, job->count - first);
        char *to = job->out + (size_t)first * job->out_size;
        if (job->e->copies && !job->stream) {
            const char *from = gather(&job->in[0], first, row.n, to);
            if (from) memcpy(to, from, (size_t)row.n * job->out_size);
            continue;
        }
        for (int i = 0; i < job->n_in; i++)
            if (!fixed[i]) row.in[i] = load(&job->in[i], first, row.n, &in[i]);
        const void *result = compute(job, &row, job->stream ? NULL : to, room);
        if (job->stream)
            wick__stream_copy(to, result, (size_t)row.n * job->out_size);
        else if (result != to)
            memcpy(to, result, (size_t)row.n * job->out_size);
    }
    if (job->stream) wick__stream_end();
}

/* A tile: its first element's position in each dim, and its size. */
struct tile {
    int64_t at[WICK_MAX_RANK], rows, columns;
    bool packed; /* rows follow each other in the result, and are taken as one */
};

/* Tiles are found in place: returned by value, a tile would be copied before its stores are through. */
static void find_tile(const struct job *job, int64_t number, struct tile *tile) {
    const struct tiles *t = &job->tiles;
    int last = t->out.rank - 1;
    tile->rows = 1;
    tile->at[last] = number % t->across * t->columns;
    tile->columns = wick__min(t->columns, t->out.shape[last] - tile->at[last]);
    number /= t->across;
    if (t->dim >= 0) {
        tile->at[t->dim] = number % t->down * t->rows;
        tile->rows = wick__min(t->rows, t->out.shape[t->dim] - tile->at[t->dim]);
        number /= t->down;
    }
    tile->packed = t->dim >= 0 && t->out.stride[t->dim] == tile->columns && tile->rows * tile->columns <= WICK__BLOCK;
    for (int d = last - 1; d >= 0; d--) {
        if (d == t->dim) continue;
        tile->at[d] = number % t->out.shape[d];
        number /= t->out.shape[d];
    }
}

static int64_t offset_of(const struct wick__layout *layout, const struct tile *tile) {
    int64_t at = 0;
    for (int d = 0; d < layout->rank; d++) at += tile->at[d] * layout->stride[d];
    return at;
}

/* Rows of one element each, `down` apart, next to one another: whole vectors, of which the next row overwrites what is
 * too much. There is room for a vector behind the last row. */
static void spread(char *to, const char *from, size_t size, int64_t down, int64_t rows, int64_t columns) {
#define SPREAD(type)                                                                                                   \
    {                                                                                                                  \
        typedef type vector __attribute__((vector_size(LINE), aligned(sizeof(type)), may_alias));                      \
        type *out = (void *)to;                                                                                        \
        for (int64_t r = 0; r < rows; r++, out += columns)                                                             \
            for (int64_t i = 0; i < columns; i += LINE / (int64_t)sizeof(type))                                        \
                *(vector *)(void *)(out + i) = ((const type *)(const void *)from)[r * down] - (vector){0};             \
        return;                                                                                                        \
    }
    switch (size) {
    case 1: SPREAD(uint8_t)
    case 2: SPREAD(uint16_t)
    case 4: SPREAD(uint32_t)
    default: SPREAD(uint64_t)
    }
#undef SPREAD
}

/* Rows of neighbours, `down` bytes apart, next to one another. There is room for a vector behind the last row. */
static void join_rows(char *to, const char *from, size_t row, int64_t down, int64_t rows) {
#if WICK_ISA_LEVEL >= 2
    size_t whole = row / LINE * LINE;
    __mmask64 rest = _bzhi_u64(~UINT64_C(0), (unsigned)(row - whole));
    for (int64_t r = 0; r < rows; r++, to += row, from += down) {
        for (size_t i = 0; i < whole; i += LINE) _mm512_storeu_si512(to + i, _mm512_loadu_si512(from + i));
        if (rest) _mm512_storeu_si512(to + whole, _mm512_maskz_loadu_epi8(rest, from + whole));
    }
#else
    for (int64_t r = 0; r < rows; r++, to += row, from += down) memcpy(to, from, row);
#endif
}

/* The rows of a tile of an operand, `step` bytes apart. Of one that is the same all along a row, `filled` says which
 * element the first `n` elements of its buffer are. */
struct source {
    const char *at, *filled;
    size_t step;
    int64_t n;
};

/* Where they lie if a row's elements are side by side, unless they are to be packed; else in `to`. */
static void gather_tile(const struct operand *op, const struct tile *tile, int dim, char *to, struct source *source) {
    int last = op->layout.rank - 1;
    int64_t across = op->layout.stride[last], down = dim < 0 ? 0 : op->layout.stride[dim];
    const char *from = op->data + (size_t)offset_of(&op->layout, tile) * op->size;
    size_t row = (size_t)tile->columns * op->size;
    bool here = across == 1 && (!tile->packed || tile->rows == 1 || down == tile->columns);
    source->at = here ? from : to;
    source->step = here ? (size_t)down * op->size : row;
    if (here || (source->filled == from && tile->rows * tile->columns <= source->n)) return;
    if (down == 1 && across > 1) {
        WICK__ISA(wick__turn)(op->size, from, across, (const int64_t[2]){tile->rows, tile->columns}, to, tile->columns);
        return;
    }
    if (across == 0 && down != 0 && tile->packed) {
        spread(to, from, op->size, down, tile->rows, tile->columns);
        source->filled = NULL;
        return;
    }
    if (across == 1) join_rows(to, from, row, down * (int64_t)op->size, tile->rows);
    for (int64_t r = 0; r < tile->rows && across != 1; r++)
        pick(to + (size_t)r * row, from + (size_t)(r * down) * op->size, op->size, across, tile->columns);
    source->filled = down == 0 && (across == 0 || tile->rows > 1) ? from : NULL;
    source->n = tile->rows * tile->columns;
}

/* Row r as the row function takes it. */
static const void *load_row(const struct operand *op, const struct source *source, int64_t r, int64_t n,
                            union buffer *wide) {
    const char *from = source->at + (size_t)r * source->step;
    if (!op->convert) return from;
    to_f32(op->dtype, from, wide->f32, n);
    return wide->f32;
}

static void run_tiles(void *context, int worker, int64_t begin, int64_t end) {
    struct job *job = context;
    const struct tiles *t = &job->tiles;
    union buffer in[WICK__ROW_INPUTS], room[2];
    _Alignas(64) char tiles[WICK__ROW_INPUTS][COLUMNS * LINE];
    struct source source[WICK__ROW_INPUTS] = {{.at = NULL}};
    bool fixed[WICK__ROW_INPUTS];
    struct tile tile;
    struct wick__row row = begin_row(job, in, fixed);
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        find_tile(job, i, &tile);
        size_t step = t->dim < 0 ? 0 : (size_t)t->out.stride[t->dim] * job->out_size;
        char *to = job->out + (size_t)offset_of(&t->out, &tile) * job->out_size;
        for (int k = 0; k < job->n_in; k++)
            if (!fixed[k]) gather_tile(&job->in[k], &tile, t->dim, tiles[k], &source[k]);
        if (tile.packed) {
            tile.columns *= tile.rows;
            tile.rows = 1;
        }
        row.n = tile.columns;
        for (int64_t r = 0; r < tile.rows; r++, to += step) {
            for (int k = 0; k < job->n_in; k++)
                if (!fixed[k]) row.in[k] = load_row(&job->in[k], &source[k], r, row.n, &in[k]);
            const void *result = compute(job, &row, job->stream ? NULL : to, room);
            if (job->stream)
                wick__stream_copy(to, result, (size_t)row.n * job->out_size);
            else if (result != to)
                memcpy(to, result, (size_t)row.n * job->out_size);
        }
    }
    if (job->stream) wick__stream_end();
}

/* Whether several rows fit into a block, and each operand is contiguous in the last two dims, repeats its row, or has
 * one element a row. Many short rows may also lie apart. */
static bool repeats(const struct job *job, const struct wick__layout *layouts) {
    int last = layouts[0].rank - 1;
    int64_t n = layouts[0].shape[last];
    bool apart = n < ROW && layouts[0].shape[last - 1] >= TURNED;
    if (n > WICK__BLOCK / 2) return false;
    for (int i = 0; i < job->n_in; i++) {
        const int64_t *stride = layouts[i].stride;
        if (stride[last - 1] == 0 || stride[last] == 0) continue;
        if (stride[last] != 1 || (stride[last - 1] != n && !apart)) return false;
    }
    return true;
}

/* Cuts the work into tiles, if some operand is neither flat nor one element, and rows are long enough or it is
 * transposed. The layouts of operands are then collapsed together. */
static bool cut(struct job *job) {
    struct wick__layout layouts[WICK__ROW_INPUTS + 1];
    struct tiles *t = &job->tiles;
    size_t widest = job->out_size;
    for (int i = 0; i < job->n_in; i++) {
        const struct wick_tensor *x = job->e->in[i];
        wick__layout_expand(&x->layout, job->e->out->layout.rank, job->e->out->layout.shape, &layouts[i]);
        widest = job->in[i].size > widest ? job->in[i].size : widest;
    }
    layouts[job->n_in] = job->e->out->layout;
    wick__layout_collapse(layouts, job->n_in + 1);
    t->out = layouts[job->n_in];
    t->dim = -1;
    int last = t->out.rank - 1;
    bool turned = false;
    if (last == 0) return false;
    for (int i = 0; i < job->n_in; i++)
        for (int d = 0; d < last && layouts[i].stride[last] > 1; d++)
            if (layouts[i].stride[d] == 1 && t->out.shape[d] >= TURNED) t->dim = d, turned = true;
    if (t->dim < 0 && repeats(job, layouts)) t->dim = last - 1;
    if (t->dim < 0 && t->out.shape[last] < ROW) return false;
    t->rows = 1;
    t->columns = wick__min(t->out.shape[last], WICK__BLOCK);
    if (turned) {
        t->columns = wick__min(t->columns, COLUMNS);
        t->rows = wick__max(LINE / (int64_t)widest, WICK__BLOCK / t->columns);
        /* Rows that follow each other in the result are taken as one, if that is a block at most. */
        if (t->out.stride[t->dim] == t->columns && WICK__BLOCK / t->columns >= TURNED)
            t->rows = WICK__BLOCK / t->columns / TURNED * TURNED;
    } else if (t->dim >= 0) {
        t->rows = WICK__BLOCK / t->columns;
    }
    if (t->dim >= 0) t->rows = wick__min(t->rows, t->out.shape[t->dim]);
    t->across = (t->out.shape[last] + t->columns - 1) / t->columns;
    t->down = t->dim < 0 ? 1 : (t->out.shape[t->dim] + t->rows - 1) / t->rows;
    for (int i = 0; i < job->n_in; i++) job->in[i].layout = layouts[i];
    return true;
}

void WICK__ISA(wick__elementwise)(struct wick__elementwise *e) {
    const struct wick__layout *shape = &e->out->layout;
    struct job job;
    int64_t blocks = e->heavy ? HEAVY_BLOCKS : LIGHT_BLOCKS;
    job.n_in = e->n_in;
    job.out = wick__data(e->out);
    job.out_size = wick__size(e->out->dtype);
    job.out_dtype = e->out->dtype;
    job.out_convert = !e->raw && wick__row_dtype(e->out->dtype) != e->out->dtype;
    job.count = wick__count(e->out);
    job.stream = (size_t)job.count * job.out_size >= (size_t)WICK__STREAM_FROM;
    job.e = e;
    atomic_init(&e->failed, false);
    if (job.count == 0) return;
    for (int i = 0; i < e->n_in; i++) {
        const struct wick_tensor *x = e->in[i];
        struct operand *op = &job.in[i];
        wick__layout_expand(&x->layout, shape->rank, shape->shape, &op->layout);
        wick__layout_collapse(&op->layout, 1);
        op->data = wick__data(x);
        op->size = wick__size(x->dtype);
        op->dtype = x->dtype;
        op->convert = !e->raw && wick__row_dtype(x->dtype) != x->dtype;
    }
    if (!cut(&job)) {
        wick__parallel((job.count + WICK__BLOCK - 1) / WICK__BLOCK, blocks, run_blocks, &job);
        return;
    }
    const struct tiles *t = &job.tiles;
    int64_t size = t->rows * t->columns, last = t->out.shape[t->out.rank - 1];
    int64_t lines = job.count / last / (t->dim < 0 ? 1 : t->out.shape[t->dim]);
    /* Rows that share lines of memory would be streamed in pieces. */
    if ((size_t)last * job.out_size % LINE != 0) job.stream = false;
    wick__parallel(lines * t->down * t->across, wick__max(1, blocks * WICK__BLOCK / size), run_tiles, &job);
}
