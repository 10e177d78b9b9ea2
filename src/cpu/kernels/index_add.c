/* index_add: rows of source added to the rows of x that the ids name.
 *
 * The places of each id are listed first, in order (a counting sort). A row of the result is then made in one go, from
 * x and all that belongs to it, and is written once; rows are shared out to the threads. Where rows are single
 * elements, ids are spread over source, and it is a scatter_add. */
#include "core/convert.h"
#include "cpu/kernels/ids.h"
#include "cpu/runtime/isa.h"
#include "cpu/kernels/stream.h"

#include "core/memory.h"

enum { GRAIN = 32768, PIECE = 2048 }; /* elements of a row that are summed at once */

struct index_add {
    struct wick__layout layout[3]; /* out, x, source: the dims but `dim` */
    int64_t step[3];               /* along dim */
    int64_t n, size, pieces;
    char *out;
    const char *x, *source;
    enum wick_dtype dtype, sum_dtype;
    const int64_t *first; /* row r is named at places[first[r]] .. places[first[r + 1] - 1] of ids */
    const int64_t *places;
    bool stream;
    bool even; /* all elements of x are one, rows are whole and lie one behind the other */
};

#define ADD(type)                                                                                                      \
    do {                                                                                                               \
        const type *restrict source = from;                                                                            \
        type *restrict sum = sums;                                                                                     \
        if (step == 1)                                                                                                 \
            for (int64_t i = 0; i < n; i++) sum[i] = (type)(sum[i] + source[i]);                                       \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) sum[i] = (type)(sum[i] + source[i * step]);                                \
    } while (0)

static void add_row(enum wick_dtype dtype, void *sums, const void *from, int64_t step, int64_t n) {
    switch (dtype) {
    case WICK_DTYPE_u8: ADD(uint8_t); break;
    case WICK_DTYPE_i16: ADD(uint16_t); break;
    case WICK_DTYPE_u32:
    case WICK_DTYPE_i32: ADD(uint32_t); break;
    case WICK_DTYPE_i64: ADD(uint64_t); break;
    case WICK_DTYPE_f64: ADD(double); break;
    default: ADD(float); break;
    }
}

static void copy_run(void *to, const char *from, int64_t step, int64_t n, int64_t size) {
    static const char zero[8];
    if (step == 1)
        memcpy(to, from, (size_t)(n * size));
    else if (step == 0 && memcmp(from, zero, (size_t)size) == 0)
        memset(to, 0, (size_t)(n * size));
    else
        for (int64_t i = 0; i < n; i++) memcpy((char *)to + i * size, from + i * step * size, (size_t)size);
}

/* n elements of row r: `x` and `source` are at the first element, of row 0. */
struct piece {
    char *out;
    const char *x, *source;
    int64_t r, n;
};
static void sum_piece(const struct index_add *a, const struct piece *p, const int64_t step[3]) {
    char *out = p->out;
    const char *x = p->x, *source = p->source;
    const int64_t r = p->r, n = p->n;
    union {
        double f64[PIECE];
        float f32[PIECE];
    } sums;
    float values[PIECE];
    int64_t begin = a->first[r], end = a->first[r + 1];
    bool small = a->sum_dtype != a->dtype && begin < end;
    void *at = a->stream || small ? (void *)&sums : out;
    x += r * a->step[1] * a->size;
    if (small)
        wick__row_to_f32(a->dtype, x, step[1], sums.f32, n);
    else if (begin == end && a->stream && step[1] == 1) {
        wick__stream_copy(out, x, (size_t)(n * a->size));
        return;
    } else
        copy_run(at, x, step[1], n, a->size);
    for (int64_t i = begin; i < end; i++) {
        const char *from = source + a->places[i] * a->step[2] * a->size;
        if (small) {
            wick__row_to_f32(a->dtype, from, step[2], values, n);
            add_row(WICK_DTYPE_f32, at, values, 1, n);
        } else {
            add_row(a->dtype, at, from, step[2], n);
        }
    }
    if (small)
        wick__row_from_f32(a->dtype, sums.f32, out, n);
    else if (at != (void *)out)
        wick__stream_copy(out, at, (size_t)(n * a->size));
}

/* How many rows from r on, at most `most`, no id names. */
static int64_t unnamed(const struct index_add *a, int64_t r, int64_t most) {
    int64_t count = 0;
    while (count < most && a->first[r + count] == a->first[r + count + 1]) count++;
    return count;
}

/* Units are pieces of rows, which are numbered over the outer dims and dim. Rows of one value that no id names are
 * written together. */
static void index_add_pieces(void *context, int worker, int64_t begin, int64_t end) {
    const struct index_add *a = context;
    int last = a->layout[0].rank - 1;
    struct wick__walk walk = wick__walk_new(a->layout, 3, last);
    int64_t n = a->layout[0].shape[last], piece = begin % a->pieces, row = begin / a->pieces, r = row % a->n;
    const int64_t step[3] = {1, a->layout[1].stride[last], a->layout[2].stride[last]};
    (void)worker;
    wick__walk_to(&walk, row / a->n);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = piece * PIECE, count = wick__min(PIECE, n - first);
        int64_t rows = a->even ? unnamed(a, r, wick__min(end - unit, a->n - r)) : 0;
        if (rows > 1) {
            copy_run(a->out + r * n * a->size, a->x, 0, rows * n, a->size);
            unit += rows - 1;
            r += rows;
            continue;
        }
        const struct piece one = {a->out + (walk.at[0] + r * a->step[0] + first) * a->size,
                                  a->x + (walk.at[1] + first * step[1]) * a->size,
                                  a->source + (walk.at[2] + first * step[2]) * a->size, r, count};
        sum_piece(a, &one, step);
        if (++piece < a->pieces) continue;
        piece = 0;
        if (++r < a->n) continue;
        r = 0;
        wick__walk_next(&walk);
    }
    if (a->stream) wick__stream_end();
}

/* first[0 .. n] and places[0 .. k-1] from ids[0 .. k-1]. */
static void list_places(const int64_t *ids, int64_t k, int64_t n, int64_t *first, int64_t *places) {
    memset(first, 0, (size_t)(n + 1) * sizeof *first);
    for (int64_t i = 0; i < k; i++)
        if (ids[i] >= 0) first[ids[i] + 1]++;
    for (int64_t r = 0; r < n; r++) first[r + 1] += first[r];
    for (int64_t i = 0; i < k; i++)
        if (ids[i] >= 0) places[first[ids[i]]++] = i;
    for (int64_t r = n; r > 0; r--) first[r] = first[r - 1];
    first[0] = 0;
}

static void fill(struct index_add *a, const struct wick__call *call, int dim) {
    const struct wick__layout *from[3] = {&call->out[0]->layout, &call->in[0]->layout, &call->in[2]->layout};
    for (int i = 0; i < 3; i++) {
        a->layout[i] = (struct wick__layout){.rank = from[0]->rank - 1};
        a->step[i] = from[i]->stride[dim];
        for (int d = 0, at = 0; d < from[0]->rank; d++) {
            if (d == dim) continue;
            a->layout[i].shape[at] = from[0]->shape[d];
            a->layout[i].stride[at++] = from[i]->stride[d];
        }
    }
    a->n = from[0]->shape[dim];
    wick__layout_collapse(a->layout, 3);
}

wick__kernel_fn WICK__ISA(wick__cpu_scatter);

/* Single elements: ids repeated along the other dims of source. */
static enum wick_status add_elements(const struct wick__call *call, int dim) {
    struct wick__call scatter = *call;
    struct wick_tensor spread = {.dtype = call->in[1]->dtype, .layout = call->in[2]->layout};
    spread.storage = call->in[1]->storage;
    for (int d = 0; d < spread.layout.rank; d++) spread.layout.stride[d] = d == dim ? call->in[1]->layout.stride[0] : 0;
    spread.layout.offset = call->in[1]->layout.offset;
    scatter.in[1] = &spread;
    return WICK__ISA(wick__cpu_scatter)(&scatter);
}

static void run(struct index_add *a, int64_t count) {
    int64_t width = a->layout[0].shape[a->layout[0].rank - 1];
    a->pieces = (width + PIECE - 1) / PIECE;
    a->stream = count * a->size >= WICK__STREAM_FROM && width * a->size >= 256;
    a->even = !a->stream && a->pieces == 1 && a->layout[0].rank == 1 && a->layout[1].stride[0] == 0 && a->step[1] == 0;
    wick__parallel(count / width * a->pieces, wick__max(1, GRAIN / width), index_add_pieces, a);
}

enum wick_status WICK__ISA(wick__cpu_index_add)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_index_add)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1], *source = call->in[2];
    int dim = call->p.along.dim;
    int64_t count = wick__count(x), n = x->layout.shape[dim], k = ids->layout.shape[0];
    if (count == 0 || wick__count(source) == 0 || call->out[0]->layout.stride[dim] == 1) {
        WICK__TRY(wick__ids_scan(call, ids, n, NULL));
        return add_elements(call, dim);
    }
    size_t nbytes = (size_t)(2 * k + n + 1) * sizeof(int64_t);
    int64_t *list = wick__alloc(nbytes);
    if (!list) return wick__latest();
    int64_t *places = list + k, *first = places + k;
    enum wick_status status = wick__ids_scan(call, ids, n, list);
    if (status == WICK_OK) {
        bool small = x->dtype == WICK_DTYPE_bf16 || x->dtype == WICK_DTYPE_f16 || x->dtype == WICK_DTYPE_f8e4m3;
        struct index_add a = {.size = (int)wick__size(x->dtype),
                              .out = wick__data(call->out[0]),
                              .x = wick__data(x),
                              .source = wick__data(source),
                              .dtype = x->dtype,
                              .sum_dtype = small ? WICK_DTYPE_f32 : x->dtype,
                              .first = first,
                              .places = places};
        list_places(list, k, n, first, places);
        fill(&a, call, dim);
        run(&a, count);
    }
    wick__free(list, nbytes);
    return status;
}
