/* Picking elements by id: gather, index_select, embedding. */
#include "cpu/kernels/ids.h"
#include "cpu/runtime/isa.h"
#include "cpu/kernels/stream.h"

#include "core/memory.h"

enum {
    GRAIN = 32768,
    LINE = 4096,             /* ids of a line that one unit of work takes at most */
    SHORT = 16,              /* ids of a line that is not worth a call of its own */
    PIECE = 16384,           /* elements of a row, likewise */
    BAND_MIN = 32,           /* columns of a band at least, a power of two */
    BAND_BYTES = 512 * 1024, /* of x under a band */
};

/* The dims but `dim` of out, ids and x walk in step, with the ids' sizes; `dim` is stepped through on its own. */
struct gather {
    struct wick__layout layout[3]; /* out, ids, x: other dims */
    int64_t step[3];               /* along dim */
    int64_t k, n;                  /* sizes along dim of ids and x */
    char *out;
    const char *ids, *x;
    const int64_t *list; /* ids shared by all rows, when they are, and whether each names an element */
    bool all;
    enum wick_dtype dtype;
    int64_t size; /* bytes of an element */
    int64_t pieces, piece, tall;
    bool stream;
    atomic_bool bad;
};

#define PICK(type)                                                                                                     \
    do {                                                                                                               \
        const type *restrict x = from;                                                                                 \
        type *restrict out = to;                                                                                       \
        if (ids.all && x_step == 0 && dim_step == 1)                                                                   \
            for (int64_t j = 0; j < n; j++) out[j] = x[ids.id[j]];                                                     \
        else if (ids.all)                                                                                              \
            for (int64_t j = 0; j < n; j++) out[j] = x[ids.id[j] * dim_step + j * x_step];                             \
        else                                                                                                           \
            for (int64_t j = 0; j < n; j++) out[j] = ids.id[j] < 0 ? (type)0 : x[ids.id[j] * dim_step + j * x_step];   \
    } while (0)

/* out[j] = x[ids[j] * step[0] + j * step[1]] */
static void pick(void *to, const void *from, struct wick__ids ids, const int64_t step[2], int64_t n, int64_t size) {
    const int64_t dim_step = step[0], x_step = step[1];
    switch (size) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    default: PICK(uint64_t); break;
    }
}
#undef PICK

/* n results that lie side by side, by ids `ids_step` apart. */
static void pick_run(struct gather *g, int64_t out, int64_t ids, int64_t x, const int64_t step[3], int64_t n) {
    int64_t buffer[WICK__IDS], width = (int)wick__size(g->dtype);
    uint64_t results[WICK__IDS];
    for (int64_t j = 0; j < n; j += WICK__IDS) {
        int64_t count = wick__min(WICK__IDS, n - j);
        struct wick__ids got =
            wick__ids_read(g->dtype, g->ids + (ids + j * step[1]) * width, step[1], count, g->n, buffer);
        if (got.bad) atomic_store_explicit(&g->bad, true, memory_order_relaxed);
        char *to = g->out + (out + j) * g->size;
        const char *from = g->x + (x + j * step[2]) * g->size;
        pick(g->stream ? (void *)results : to, from, got, (const int64_t[]){g->step[2], step[2]}, count, g->size);
        if (g->stream) wick__stream_copy(to, results, (size_t)(count * g->size));
    }
}

/* Asks for a line of x that is about to be picked from all over, which the processor's prefetcher can't follow. */
static void prefetch_line(const struct gather *g, int64_t x) {
    enum { CACHE_LINE = 64, MOST = 16 * 1024 };
    int64_t nbytes = g->n * g->size;
    if (g->step[2] != 1 || nbytes > MOST || nbytes / CACHE_LINE > g->k) return;
    for (int64_t at = 0; at < nbytes; at += CACHE_LINE) __builtin_prefetch(g->x + x * g->size + at);
}

/* dim is the innermost dim of out. Units are pieces of lines along it. */
static void gather_lines(void *context, int worker, int64_t begin, int64_t end) {
    struct gather *g = context;
    struct wick__walk walk = wick__walk_new(g->layout, 3, g->layout[0].rank);
    int64_t piece = begin % g->pieces;
    (void)worker;
    wick__walk_to(&walk, begin / g->pieces);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = piece * g->piece, n = wick__min(g->piece, g->k - first);
        const int64_t step[3] = {1, g->step[1], 0};
        if (first == 0) prefetch_line(g, walk.at[2]);
        if (g->list && !g->stream)
            pick(g->out + (walk.at[0] + first) * g->size, g->x + walk.at[2] * g->size,
                 (struct wick__ids){.id = g->list + first, .all = g->all}, (const int64_t[]){g->step[2], 0}, n,
                 g->size);
        else
            pick_run(g, walk.at[0] + first, walk.at[1] + first * g->step[1], walk.at[2], step, n);
        if (++piece == g->pieces) {
            piece = 0;
            wick__walk_next(&walk);
        }
    }
    if (g->stream) wick__stream_end();
}

#define PICK(type)                                                                                                     \
    do {                                                                                                               \
        const type *restrict x = from;                                                                                 \
        type *restrict out = to;                                                                                       \
        if (id_step == 0 && id[0] >= 0)                                                                                \
            for (int64_t i = 0; i < n; i++) out[i * out_line] = x[i * x_line + first];                                 \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                int64_t at = id[i * id_step];                                                                          \
                out[i * out_line] = at < 0 ? (type)0 : x[i * x_line + at * g->step[2]];                                \
            }                                                                                                          \
    } while (0)

/* One id of each of n lines. */
static void pick_down(const struct gather *g, void *to, const void *from, const int64_t *id, int64_t id_step,
                      int64_t n) {
    const int64_t out_line = g->layout[0].stride[0], x_line = g->layout[2].stride[0], first = id[0] * g->step[2];
    switch (g->size) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    default: PICK(uint64_t); break;
    }
}
#undef PICK

/* Short lines that are evenly apart, and whose ids follow each other or are the same: of as many lines as their ids can
 * be read at once, first all first ids, then all second ones. Units are lines. */
static void gather_short(void *context, int worker, int64_t begin, int64_t end) {
    struct gather *g = context;
    int64_t buffer[WICK__IDS], at_once = WICK__IDS / g->k, width = (int)wick__size(g->dtype);
    (void)worker;
    for (int64_t line = begin; line < end; line += at_once) {
        int64_t n = wick__min(at_once, end - line);
        struct wick__ids got = {.id = g->list};
        if (!g->list) got = wick__ids_read(g->dtype, g->ids + line * g->k * width, 1, n * g->k, g->n, buffer);
        if (got.bad) atomic_store_explicit(&g->bad, true, memory_order_relaxed);
        char *to = g->out + line * g->layout[0].stride[0] * g->size;
        const char *from = g->x + line * g->layout[2].stride[0] * g->size;
        for (int64_t j = 0; j < g->k; j++) pick_down(g, to + j * g->size, from, got.id + j, g->list ? 0 : g->k, n);
    }
}

static bool is_short(const struct gather *g) {
    bool follow = g->step[1] == 1 && g->layout[1].stride[0] == g->k;
    return g->k <= SHORT && g->layout[0].rank == 1 && !g->stream && (g->list || follow);
}

/* dim lies outside the innermost one, which is cut into bands of columns: the part of x under a band stays in the
 * cache while all rows of ids go over it. Units are `tall` rows of a band; those of one band follow each other. */
static void gather_bands(void *context, int worker, int64_t begin, int64_t end) {
    struct gather *g = context;
    int last = g->layout[0].rank - 1;
    struct wick__walk walk = wick__walk_new(g->layout, 3, last);
    int64_t n = g->layout[0].shape[last], blocks = (g->k + g->tall - 1) / g->tall;
    const int64_t step[3] = {1, g->layout[1].stride[last], g->layout[2].stride[last]};
    (void)worker;
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t band = unit / blocks, first = band % g->pieces * g->piece, count = wick__min(g->piece, n - first);
        int64_t k = unit % blocks * g->tall, k_end = wick__min(k + g->tall, g->k);
        wick__walk_to(&walk, band / g->pieces);
        for (; k < k_end; k++)
            pick_run(g, walk.at[0] + k * g->step[0] + first, walk.at[1] + k * g->step[1] + first * step[1],
                     walk.at[2] + first * step[2], step, count);
    }
    if (g->stream) wick__stream_end();
}

/* n elements of one row of x, or zeros. */
static void copy_row(const struct gather *g, int64_t out, int64_t x, int64_t step, int64_t id, int64_t n) {
    char *to = g->out + out * g->size;
    const char *from = g->x + (x + id * g->step[2]) * g->size;
    if (id < 0)
        memset(to, 0, (size_t)(n * g->size));
    else if (step == 1 && g->stream)
        wick__stream_copy(to, from, (size_t)(n * g->size));
    else if (step == 1)
        memcpy(to, from, (size_t)(n * g->size));
    else
        for (int64_t i = 0; i < n; i++) memcpy(to + i * g->size, from + i * step * g->size, (size_t)g->size);
}

/* The same with one list of ids for all rows. Units are pieces of the rows of out, which are numbered over the outer
 * dims and dim. */
static void select_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct gather *g = context;
    int last = g->layout[0].rank - 1;
    struct wick__walk walk = wick__walk_new(g->layout, 3, last);
    int64_t n = g->layout[0].shape[last], piece = begin % g->pieces, row = begin / g->pieces, k = row % g->k;
    int64_t step = g->layout[2].stride[last];
    (void)worker;
    wick__walk_to(&walk, row / g->k);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = piece * g->piece, count = wick__min(g->piece, n - first);
        copy_row(g, walk.at[0] + k * g->step[0] + first, walk.at[2] + first * step, step, g->list[k], count);
        if (++piece < g->pieces) continue;
        piece = 0;
        if (++k < g->k) continue;
        k = 0;
        wick__walk_next(&walk);
    }
    if (g->stream) wick__stream_end();
}

/* The dims but `dim` of out, ids and x, collapsed. `shared`: ids has dim `dim` alone. */
static void fill(struct gather *g, const struct wick__call *call, int dim, bool shared) {
    const struct wick__layout *from[3] = {&call->out[0]->layout, &call->in[1]->layout, &call->in[0]->layout};
    for (int i = 0; i < 3; i++) {
        bool alone = shared && i == 1;
        g->layout[i] = (struct wick__layout){.rank = from[0]->rank - 1};
        g->step[i] = from[i]->stride[alone ? 0 : dim];
        for (int d = 0, at = 0; d < from[0]->rank; d++) {
            if (d == dim) continue;
            g->layout[i].shape[at] = from[0]->shape[d];
            g->layout[i].stride[at++] = alone ? 0 : from[i]->stride[d];
        }
    }
    g->k = from[0]->shape[dim];
    g->n = from[2]->shape[dim];
    wick__layout_collapse(g->layout, 3);
}

/* Runs lines when the elements along dim lie side by side in out, bands or rows otherwise. */
static void run(struct gather *g, int64_t count) {
    bool lines = g->step[0] == 1 && g->k > 1;
    int64_t width = lines ? g->k : g->layout[0].shape[g->layout[0].rank - 1];
    int64_t band = wick__max(BAND_MIN, BAND_BYTES / g->size / wick__max(1, g->n)) & -BAND_MIN;
    g->piece = wick__min(width, lines ? LINE : g->list ? PIECE : band);
    g->pieces = (width + g->piece - 1) / g->piece;
    g->stream = count * g->size >= WICK__STREAM_FROM;
    int64_t units = count / width * g->pieces, grain = wick__max(1, GRAIN / g->piece);
    if (lines || g->list) {
        wick__parallel(units, grain, !lines ? select_rows : is_short(g) ? gather_short : gather_lines, g);
        return;
    }
    g->tall = wick__min(g->k, grain);
    wick__parallel(units / g->k * ((g->k + g->tall - 1) / g->tall), 1, gather_bands, g);
}

static enum wick_status gather(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1];
    int64_t count = wick__count(call->out[0]), listed = 0;
    bool shared = call->op != WICK_OP_gather;
    if (count == 0) return wick__ids_scan(call, ids, x->layout.shape[call->p.along.dim], NULL);
    struct gather g = {.out = wick__data(call->out[0]),
                       .ids = wick__data(ids),
                       .x = wick__data(wick__count(x) ? x : call->out[0]),
                       .dtype = ids->dtype,
                       .size = (int)wick__size(x->dtype)};
    fill(&g, call, call->p.along.dim, shared);
    atomic_init(&g.bad, false);
    int64_t *list = NULL;
    if (shared && count > g.k) { /* every row uses the ids again */
        enum wick_status status;
        listed = g.k;
        list = wick__alloc((size_t)listed * sizeof *list);
        if (!list) return wick__latest();
        status = wick__ids_scan(call, ids, g.n, list);
        if (status != WICK_OK) {
            wick__free(list, (size_t)listed * sizeof *list);
            return status;
        }
        g.list = list;
        g.all = true;
        for (int64_t k = 0; k < g.k; k++) g.all &= list[k] >= 0;
        g.ids = (const char *)list; /* for lines; -1 is in no range, so that it is 0 there too */
        g.dtype = WICK_DTYPE_i64;
        g.step[1] = 1;
    }
    run(&g, count);
    bool failed = !list && atomic_load(&g.bad);
    wick__free(list, (size_t)listed * sizeof *list);
    return failed ? wick__ids_scan(call, ids, g.n, NULL) : WICK_OK;
}

enum wick_status WICK__ISA(wick__cpu_gather)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_gather)(const struct wick__call *call) {
    if (wick__is_plain(call->in[0]->dtype)) return gather(call);
    struct wick_tensor x = wick__as_bytes(call->in[0]), out = wick__as_bytes(call->out[0]);
    struct wick__call bytes = *call;
    bytes.in[0] = &x;
    bytes.out[0] = &out;
    return gather(&bytes);
}
