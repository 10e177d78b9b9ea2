/* Running sums and products along a dim.
 *
 * A long line is cut into blocks of fixed length: first each block's total, then what comes before each block, then
 * the running values. So long lines use all threads and the result does not depend on how many there are. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

enum {
    RUN = 1024,        /* elements converted at once, and lines taken side by side */
    BLOCK = 64 * 1024, /* elements of a line in one task */
    GRAIN = 16 * 1024
};

/* Floats accumulate in f64, integers in 64 bits without sign, where they wrap around. */
union value {
    double f;
    uint64_t u;
};

struct scan {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *out;
    int64_t n, inner; /* in and out are [outer, n, inner] */
    int64_t blocks;   /* of a line, when inner is 1 */
    int64_t tiles;    /* of up to RUN among inner */
    bool is_float, product;
    union value *before; /* for each block the total, then that of all before it; NULL when lines are one block */
};

static inline union value unit(const struct scan *s) {
    return s->is_float ? (union value){.f = s->product} : (union value){.u = s->product};
}

static inline union value step(const struct scan *s, union value a, union value b) {
    if (s->is_float) return (union value){.f = s->product ? a.f * b.f : a.f + b.f};
    return (union value){.u = s->product ? a.u * b.u : a.u + b.u};
}

static inline void load(const struct scan *s, const char *in, union value *x, int64_t n) {
    if (s->is_float)
        wick__row_to_f64(s->dtype, in, 1, &x->f, n);
    else
        wick__row_to_i64(s->dtype, in, 1, (int64_t *)&x->u, n);
}

static inline void store(const struct scan *s, const union value *x, char *out, int64_t n) {
    if (s->is_float)
        wick__row_from_f64(s->dtype, &x->f, out, n);
    else
        wick__row_from_i64(s->dtype, (const int64_t *)&x->u, out, n);
}

/* Running sums of n elements from `value` on; returns the last. Four stretches at once, as each addition waits for the
 * one before it; then all but the first take in what comes before them. */
static double add_up(union value *x, int64_t n, double value) {
    int64_t stretch = n / 4;
    double sum[4] = {value};
    for (int64_t j = 0; j < stretch; j++)
        for (int k = 0; k < 4; k++) x[k * stretch + j].f = sum[k] += x[k * stretch + j].f;
    value = sum[0];
    for (int k = 1; k < 4; k++) {
        for (int64_t j = 0; j < stretch; j++) x[k * stretch + j].f += value;
        value += sum[k];
    }
    for (int64_t j = 4 * stretch; j < n; j++) x[j].f = value += x[j].f;
    return value;
}

/* Runs through n elements from `value` on, and returns the last; `out` may be NULL. */
static union value run_through(const struct scan *s, const char *in, char *out, int64_t n, union value value) {
    union value x[RUN];
    for (int64_t i = 0; i < n; i += RUN) {
        int64_t m = wick__min(RUN, n - i);
        load(s, in + i * (int64_t)s->size, x, m);
        if (s->is_float && !s->product && s->dtype != WICK_F64) /* f64 might overflow within a stretch alone */
            value.f = add_up(x, m, value.f);
        else
            for (int64_t j = 0; j < m; j++) x[j] = value = step(s, value, x[j]);
        if (out) store(s, x, out + i * (int64_t)s->size, m);
    }
    return value;
}

static void total_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->blocks * BLOCK, at = (i / s->blocks * s->n + first) * (int64_t)s->size;
        s->before[i] = run_through(s, s->in + at, NULL, wick__min(BLOCK, s->n - first), unit(s));
    }
}

static void scan_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->blocks * BLOCK, at = (i / s->blocks * s->n + first) * (int64_t)s->size;
        run_through(s, s->in + at, s->out + at, wick__min(BLOCK, s->n - first), s->before ? s->before[i] : unit(s));
    }
}

static enum wick_status scan_lines(struct scan *s, int64_t lines) {
    size_t nbytes = 0;
    s->blocks = (s->n + BLOCK - 1) / BLOCK;
    if (s->blocks > 1) {
        nbytes = sizeof *s->before * (size_t)(lines * s->blocks);
        s->before = wick__alloc(nbytes);
        if (!s->before) return WICK_MEMORY;
        wick__parallel(lines * s->blocks, 1, total_task, s);
        for (int64_t line = 0; line < lines; line++) {
            union value sum = unit(s);
            for (int64_t b = 0; b < s->blocks; b++) {
                union value *before = &s->before[line * s->blocks + b], total = *before;
                *before = sum;
                sum = step(s, sum, total);
            }
        }
    }
    wick__parallel(lines * s->blocks, wick__max(1, GRAIN / s->n), scan_task, s);
    wick__free(s->before, nbytes);
    return WICK_OK;
}

/* Lines that lie across, up to RUN side by side. */
static void tile_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct scan *s = context;
    union value sums[RUN], x[RUN];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i % s->tiles * RUN, width = wick__min(RUN, s->inner - first);
        int64_t at = (i / s->tiles * s->n * s->inner + first) * (int64_t)s->size;
        for (int64_t j = 0; j < width; j++) sums[j] = unit(s);
        for (int64_t row = 0; row < s->n; row++, at += s->inner * (int64_t)s->size) {
            load(s, s->in + at, x, width);
            for (int64_t j = 0; j < width; j++) sums[j] = step(s, sums[j], x[j]);
            store(s, sums, s->out + at, width);
        }
    }
}

enum wick_status WICK__ISA(wick__cpu_scan)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_scan)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x);
    int dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct scan s = {.dtype = x->dtype,
                     .size = wick__size(x->dtype),
                     .in = wick__data(x),
                     .out = wick__data(call->out[0]),
                     .n = x->layout.shape[dim],
                     .inner = 1,
                     .is_float = wick_dtype_is_float(x->dtype),
                     .product = call->op == WICK_OP_cumprod};
    for (int d = dim + 1; d < x->layout.rank; d++) s.inner *= x->layout.shape[d];
    if (s.inner == 1) return scan_lines(&s, count / s.n);
    s.tiles = (s.inner + RUN - 1) / RUN;
    wick__parallel(count / (s.n * s.inner) * s.tiles, wick__max(1, GRAIN / (s.n * wick__min(s.inner, RUN))), tile_task,
                   &s);
    return WICK_OK;
}
