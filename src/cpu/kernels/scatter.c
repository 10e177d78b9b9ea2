/* Placing elements by id, and adding, multiplying and comparing them: scatter and its kind, on a copy or in place.
 *
 * Elements meet only when they differ in their position along dim, so every line along dim is one worker's, who goes
 * over it in order. Dims other than dim are cut for the workers: the outer ones, and the innermost into pieces. */
#include "core/convert.h"
#include "cpu/kernels/ids.h"
#include "cpu/runtime/isa.h"

#include "core/memory.h"

enum { SCRATCH_BYTES = 1 << 20 }; /* of a worker's f32 sums, where that leaves pieces of SCRATCH_PIECE elements */
enum { SCRATCH_PIECE = 16 };

struct scatter {
    struct wick__layout layout[3]; /* out, ids, source: the dims but `dim`, with the sizes of ids */
    int64_t step[3];               /* along dim */
    int64_t k, n;                  /* sizes along dim of ids and out */
    char *out;
    const char *ids, *source;
    enum wick_dtype ids_dtype, dtype;
    int64_t size;
    enum how { PLACE, ADD, MULTIPLY, LARGEST, LEAST } how;
    bool sums;  /* in f32 scratch, rounded once */
    bool lines; /* dim is innermost; no pieces */
    int64_t pieces, piece;
    float *scratch; /* n * piece for each worker */
};

#define EACH(type, statement)                                                                                          \
    do {                                                                                                               \
        const type *source = from;                                                                                     \
        type *out = to;                                                                                                \
        for (int64_t j = 0; j < n; j++)                                                                                \
            if (ids.id[j] >= 0) {                                                                                      \
                type *at = out + ids.id[j] * dim_step + j * out_step;                                                  \
                type v = source[j * step];                                                                             \
                statement;                                                                                             \
            }                                                                                                          \
    } while (0)

/* n elements of a run: out[id * dim + j * out] and source[j * source]. */
struct steps {
    int64_t n, dim, out, source;
};

/* out[ids[j] * dim + j * out] = source[j * source]. */
static void set(int64_t size, void *to, struct wick__ids ids, const void *from, struct steps by) {
    const int64_t n = by.n, dim_step = by.dim, out_step = by.out, step = by.source;
    switch (size) {
    case 1: EACH(uint8_t, *at = v); break;
    case 2: EACH(uint16_t, *at = v); break;
    case 4: EACH(uint32_t, *at = v); break;
    default: EACH(uint64_t, *at = v); break;
    }
}

/* Integers are added and multiplied without sign, where they wrap around. NaN is the largest and the least. */
#define JOIN_INTEGERS(type, unsigned_type)                                                                             \
    switch (how) {                                                                                                     \
    case ADD: EACH(unsigned_type, *at = (unsigned_type)(*at + v)); break;                                              \
    case MULTIPLY: EACH(unsigned_type, *at = (unsigned_type)((uint64_t)*at * v)); break;                               \
    case LARGEST: EACH(type, *at = v > *at ? v : *at); break;                                                          \
    default: EACH(type, *at = v < *at ? v : *at); break;                                                               \
    }                                                                                                                  \
    break
#define JOIN_FLOATS(type)                                                                                              \
    switch (how) {                                                                                                     \
    case ADD: EACH(type, *at += v); break;                                                                             \
    case MULTIPLY: EACH(type, *at *= v); break;                                                                        \
    case LARGEST: EACH(type, *at = v > *at || v != v ? v : *at); break;                                                \
    default: EACH(type, *at = v < *at || v != v ? v : *at); break;                                                     \
    }                                                                                                                  \
    break

/* The same with what both come to. */
static void join(enum how how, enum wick_dtype dtype, void *to, struct wick__ids ids, const void *from,
                 struct steps by) {
    const int64_t n = by.n, dim_step = by.dim, out_step = by.out, step = by.source;
    switch (dtype) {
    case WICK_DTYPE_u8: JOIN_INTEGERS(uint8_t, uint8_t);
    case WICK_DTYPE_i16: JOIN_INTEGERS(int16_t, uint16_t);
    case WICK_DTYPE_u32: JOIN_INTEGERS(uint32_t, uint32_t);
    case WICK_DTYPE_i32: JOIN_INTEGERS(int32_t, uint32_t);
    case WICK_DTYPE_i64: JOIN_INTEGERS(int64_t, uint64_t);
    case WICK_DTYPE_f64: JOIN_FLOATS(double);
    default: JOIN_FLOATS(float);
    }
}

/* The rows along dim of n elements, `step` apart, to rows of f32 side by side, and back. */
static void load_sums(const struct scatter *s, const char *out, int64_t step, int64_t n, float *sums) {
    const int64_t row_step = s->step[0], rows = s->n;
    if (n == 1) {
        wick__row_to_f32(s->dtype, out, row_step, sums, rows);
        return;
    }
    for (int64_t r = 0; r < rows; r++) wick__row_to_f32(s->dtype, out + r * row_step * s->size, step, sums + r * n, n);
}

static void store_run(const struct scatter *s, const float *sums, char *out, int64_t step, int64_t n) {
    if (step == 1) {
        wick__row_from_f32(s->dtype, sums, out, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) wick__store_f32(s->dtype, sums[i], out + i * step * s->size);
}

static void store_sums(const struct scatter *s, char *out, int64_t step, int64_t n, const float *sums) {
    const int64_t row_step = s->step[0], rows = s->n;
    if (n == 1) {
        store_run(s, sums, out, row_step, rows);
        return;
    }
    for (int64_t r = 0; r < rows; r++) store_run(s, sums + r * n, out + r * row_step * s->size, step, n);
}

/* All of ids along dim at one place of the outer dims, for `width` elements of the innermost one (1 in lines). */
static void scatter_unit(const struct scatter *s, const int64_t at[3], const int64_t inner[3], int64_t width,
                         float *sums) {
    int64_t buffer[WICK__IDS], id_size = (int)wick__size(s->ids_dtype);
    float values[WICK__IDS];
    char *out = s->out + at[0] * s->size;
    if (s->sums) load_sums(s, out, inner[0], width, sums);
    /* In lines the run goes along dim, otherwise along the innermost dim at each place of dim. */
    int64_t n = s->lines ? s->k : width, times = s->lines ? 1 : s->k;
    const int64_t run[3] = {s->lines ? 0 : inner[0], s->lines ? s->step[1] : inner[1],
                            s->lines ? s->step[2] : inner[2]};
    for (int64_t k = 0; k < times; k++)
        for (int64_t j = 0; j < n; j += WICK__IDS) {
            int64_t count = wick__min(WICK__IDS, n - j);
            const char *id = s->ids + (at[1] + k * s->step[1] + j * run[1]) * id_size;
            const char *from = s->source + (at[2] + k * s->step[2] + j * run[2]) * s->size;
            struct wick__ids ids = wick__ids_read(s->ids_dtype, id, run[1], count, s->n, buffer);
            if (s->sums) {
                wick__row_to_f32(s->dtype, from, run[2], values, count);
                join(s->how, WICK_DTYPE_f32, sums + (s->lines ? 0 : j), ids, values,
                     (struct steps){count, s->lines ? 1 : width, !s->lines, 1});
            } else if (s->how != PLACE) {
                join(s->how, s->dtype, out + j * run[0] * s->size, ids, from,
                     (struct steps){count, s->step[0], run[0], run[2]});
            } else {
                set(s->size, out + j * run[0] * s->size, ids, from, (struct steps){count, s->step[0], run[0], run[2]});
            }
        }
    if (s->sums) store_sums(s, out, inner[0], width, sums);
}

/* Units are lines, or pieces of the innermost dim at each place of the outer ones. */
static void scatter_units(void *context, int worker, int64_t begin, int64_t end) {
    const struct scatter *s = context;
    int outer = s->lines ? s->layout[0].rank : s->layout[0].rank - 1;
    struct wick__walk walk = wick__walk_new(s->layout, 3, outer);
    int64_t inner[3] = {0, 0, 0}, n = 1, piece = begin % s->pieces;
    float *sums = s->scratch ? s->scratch + worker * s->n * s->piece : NULL;
    for (int i = 0; i < 3 && !s->lines; i++) inner[i] = s->layout[i].stride[outer];
    if (!s->lines) n = s->layout[0].shape[outer];
    wick__walk_to(&walk, begin / s->pieces);
    for (int64_t unit = begin; unit < end; unit++) {
        int64_t first = piece * s->piece, width = wick__min(s->piece, n - first);
        const int64_t at[3] = {walk.at[0] + first * inner[0], walk.at[1] + first * inner[1],
                               walk.at[2] + first * inner[2]};
        scatter_unit(s, at, inner, width, sums);
        if (++piece == s->pieces) {
            piece = 0;
            wick__walk_next(&walk);
        }
    }
}

static void fill(struct scatter *s, const struct wick__call *call, int dim) {
    const struct wick__layout *from[3] = {&call->out[0]->layout, &call->in[1]->layout, &call->in[2]->layout};
    for (int i = 0; i < 3; i++) {
        s->layout[i] = (struct wick__layout){.rank = from[0]->rank - 1};
        s->step[i] = from[i]->stride[dim];
        for (int d = 0, at = 0; d < from[0]->rank; d++) {
            if (d == dim) continue;
            s->layout[i].shape[at] = from[1]->shape[d];
            s->layout[i].stride[at++] = from[i]->stride[d];
        }
    }
    s->k = from[1]->shape[dim];
    s->n = from[0]->shape[dim];
    wick__layout_collapse(s->layout, 3);
}

/* Lines when the elements of ids lie closer along dim than along the innermost of the other dims. */
static enum wick_status run(struct scatter *s, int64_t count) {
    int last = s->layout[1].rank - 1, workers = wick__workers();
    int64_t width = s->layout[1].shape[last];
    s->lines = width == 1 || (s->k > 1 && s->step[2] < s->layout[2].stride[last]);
    if (s->lines) width = 1;
    s->piece = s->lines ? 1 : wick__max(SCRATCH_PIECE, wick__min(WICK__IDS, width / (4 * workers)));
    if (s->sums) {
        if (!s->lines) s->piece = wick__max(SCRATCH_PIECE, wick__min(s->piece, SCRATCH_BYTES / 4 / wick__max(1, s->n)));
        s->piece = wick__min(s->piece, width);
        s->scratch = wick__calloc((size_t)(workers * s->n), (size_t)s->piece * sizeof *s->scratch);
        if (!s->scratch) return wick__latest();
    }
    s->pieces = (width + s->piece - 1) / s->piece;
    int64_t units = count / s->k / width * s->pieces, work = s->piece * (s->k + (s->sums ? s->n : 0));
    wick__parallel_with(workers, units, wick__max(1, 8192 / work), scatter_units, s);
    if (s->sums) wick__free(s->scratch, (size_t)(workers * s->n * s->piece) * sizeof *s->scratch);
    return WICK_OK;
}

static enum how how_of(enum wick_op op) {
    switch (op) {
    case WICK_OP_scatter:
    case WICK_OP_scatter_inplace: return PLACE;
    case WICK_OP_scatter_prod: return MULTIPLY;
    case WICK_OP_scatter_amax: return LARGEST;
    case WICK_OP_scatter_amin: return LEAST;
    default: return ADD;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_place);

enum wick_status WICK__ISA(wick__cpu_scatter)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_scatter)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0], *ids = call->in[1], *source = call->in[2];
    struct wick_tensor *y = call->out[0];
    enum wick_dtype dtype = x->dtype;
    WICK__TRY(wick__ids_scan(call, ids, x->layout.shape[call->p.along.dim], NULL));
    if (x->storage != y->storage) {
        struct wick__call copy = {.op = WICK_OP_contiguous, .n_in = 1, .in = {x}, .n_out = 1, .out = {y}};
        WICK__TRY(WICK__ISA(wick__cpu_place)(&copy));
    }
    if (wick__count(ids) == 0 || wick__count(y) == 0) return WICK_OK;
    struct scatter s = {.out = wick__data(y),
                        .ids = wick__data(ids),
                        .source = wick__data(source),
                        .ids_dtype = ids->dtype,
                        .dtype = dtype,
                        .size = (int)wick__size(dtype),
                        .how = how_of(call->op)};
    s.sums = s.how != PLACE && (dtype == WICK_DTYPE_bf16 || dtype == WICK_DTYPE_f16 || dtype == WICK_DTYPE_f8e4m3);
    fill(&s, call, call->p.along.dim);
    return run(&s, wick__count(ids));
}
