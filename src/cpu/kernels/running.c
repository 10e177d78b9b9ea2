/* Running maxima and minima with their indices, and running sums of exponentials. A line is one worker's. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include "core/checked.h"
#include "backend.h"

#include <math.h>

enum {
    RUN = 256, /* elements converted at once, and lines taken side by side */
    GRAIN = 16 * 1024
};

/* An element: a float, or an integer. */
union value {
    double f;
    int64_t i;
};

struct running {
    enum wick_op op;
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *in;
    char *out;
    uint32_t *index;  /* NULL: not wanted */
    int64_t n, inner; /* in and out are [outer, n, inner] */
    int64_t tiles;    /* of up to RUN among inner */
    bool is_float;
};

/* What a line has come to: its extreme, and where it is; or the sum of exp(x - top). */
struct state {
    union value top;
    double sum;
    int64_t at; /* -1: nothing yet */
};

static inline void load(const struct running *r, int64_t at, union value *x, int64_t n) {
    if (r->is_float)
        wick__row_to_f64(r->dtype, r->in + at * (int64_t)r->size, 1, &x->f, n);
    else
        wick__row_to_i64(r->dtype, r->in + at * (int64_t)r->size, 1, &x->i, n);
}

static inline void store(const struct running *r, const union value *x, int64_t at, int64_t n) {
    if (r->is_float)
        wick__row_from_f64(r->dtype, &x->f, r->out + at * (int64_t)r->size, n);
    else
        wick__row_from_i64(r->dtype, &x->i, r->out + at * (int64_t)r->size, n);
}

/* Whether x takes the place of the extreme: the last of equal ones does, and NaN. */
static inline bool takes(const struct running *r, union value x, union value top) {
    bool least = r->op == WICK_OP_cummin;
    if (!r->is_float) return least ? x.i <= top.i : x.i >= top.i;
    return isnan(x.f) || (least ? x.f <= top.f : x.f >= top.f);
}

/* Adds exp(x); infinities have no differences. */
static inline void add_exp(struct state *s, double x) {
    if (s->at < 0 || x > s->top.f) {
        s->sum = s->at < 0 ? 1 : s->sum * exp(s->top.f - x) + 1;
        s->top.f = x;
    } else {
        s->sum += x == s->top.f ? 1 : exp(x - s->top.f);
    }
}

/* Meets element number i of a line, and returns what the line comes to. */
static inline union value meet(const struct running *r, struct state *s, union value x, int64_t i) {
    if (r->op != WICK_OP_logcumsumexp) {
        if (s->at < 0 || takes(r, x, s->top)) {
            s->top = x;
            s->at = i;
        }
        return s->top;
    }
    add_exp(s, x.f);
    s->at = i;
    return (union value){.f = isinf(s->top.f) && !isnan(s->sum) ? s->top.f : s->top.f + log(s->sum)};
}

/* The line that begins at element `first`, along memory. */
static void run_line(const struct running *r, int64_t first) {
    union value x[RUN];
    struct state s = {.at = -1};
    for (int64_t i = 0; i < r->n; i += RUN) {
        int64_t m = wick__min(RUN, r->n - i);
        load(r, first + i, x, m);
        for (int64_t j = 0; j < m; j++) {
            x[j] = meet(r, &s, x[j], i + j);
            if (r->index) r->index[first + i + j] = (uint32_t)s.at;
        }
        store(r, x, first + i, m);
    }
}

/* Lines side by side, across memory. */
static void run_tile(const struct running *r, int64_t first, int64_t width) {
    union value x[RUN];
    struct state s[RUN];
    for (int64_t j = 0; j < width; j++) s[j].at = -1;
    for (int64_t i = 0; i < r->n; i++, first += r->inner) {
        load(r, first, x, width);
        for (int64_t j = 0; j < width; j++) {
            x[j] = meet(r, &s[j], x[j], i);
            if (r->index) r->index[first + j] = (uint32_t)s[j].at;
        }
        store(r, x, first, width);
    }
}

static void run_tiles(void *context, int worker, int64_t begin, int64_t end) {
    const struct running *r = context;
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        int64_t column = t % r->tiles * RUN, first = t / r->tiles * r->n * r->inner + column;
        if (r->inner == 1)
            run_line(r, first);
        else
            run_tile(r, first, wick__min(RUN, r->inner - column));
    }
}

enum wick_status WICK__ISA(wick__cpu_running)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_running)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    int64_t count = wick__count(x);
    int dim = call->p.along.dim;
    if (count == 0) return WICK_OK;
    struct running r = {.op = call->op,
                        .dtype = x->dtype,
                        .size = wick__size(x->dtype),
                        .in = wick__data(x),
                        .out = wick__data(call->out[0]),
                        .index = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                        .n = x->layout.shape[dim],
                        .inner = 1,
                        .is_float = wick_dtype_is_float(x->dtype)};
    for (int d = dim + 1; d < x->layout.rank; d++) r.inner *= x->layout.shape[d];
    r.tiles = (r.inner + RUN - 1) / RUN;
    wick__parallel(count / (r.n * r.inner) * r.tiles, wick__max(1, GRAIN / (r.n * wick__min(r.inner, RUN))), run_tiles,
                   &r);
    return WICK_OK;
}
