/* Argmin and argmax: block by block the extreme element, and where it is better than the best so far, its place. */
#include "cpu/kernels/extremes.h"
#include "cpu/kernels/lines.h"
#include "cpu/kernels/reduce_kinds.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#undef KINDS
#undef INT_KINDS
#undef FLOAT_KINDS
#define KINDS(X) X(MIN) X(MAX)
#define INT_KINDS(X)
#define FLOAT_KINDS(X)
#include "cpu/kernels/reduce_types.h"

#include "core/memory.h"

enum { GRAIN = 32 * 1024 };

struct best {
    union cell value;
    int64_t at; /* -1: nothing yet */
};

struct argreduce {
    struct lines lines;
    enum kind kind; /* MIN or MAX */
    bool is_float;
    int64_t segments;
    struct best *bests; /* outs x segments, or NULL when a line is one segment */
    uint32_t *out;
};

/* The first place of `value`, any NaN when it is NaN, among n elements that have it. */
#define FIND(suffix, T, ACC)                                                                                           \
    static int64_t find_##suffix(const T *x, int64_t n, ACC value) {                                                   \
        int64_t i = 0;                                                                                                 \
        T v = (T)value;                                                                                                \
        for (; i + 64 <= n; i += 64) {                                                                                 \
            int hit = 0;                                                                                               \
            for (int j = 0; j < 64; j++) hit |= x[i + j] == v || x[i + j] != x[i + j];                                 \
            if (hit) break;                                                                                            \
        }                                                                                                              \
        while (i < n - 1 && !(x[i] == v || x[i] != x[i])) i++;                                                         \
        return i;                                                                                                      \
    }
FIND(u8, uint8_t, int64_t)
FIND(u32, uint32_t, int64_t)
FIND(i16, int16_t, int64_t)
FIND(i32, int32_t, int64_t)
FIND(i64, int64_t, int64_t)
FIND(f64, double, double)

static int64_t find(enum wick_dtype dtype, const void *x, int64_t n, union cell value) {
    switch (dtype) {
    case WICK_U8: return find_u8(x, n, value.i);
    case WICK_U32: return find_u32(x, n, value.i);
    case WICK_I16: return find_i16(x, n, value.i);
    case WICK_I32: return find_i32(x, n, value.i);
    case WICK_I64: return find_i64(x, n, value.i);
    case WICK_F64: return find_f64(x, n, value.f);
    default: return wick__row_find(x, n, (float)value.f);
    }
}

/* Whether b, which comes later, takes the place of a: it must be better, or the first NaN. */
static bool better(const struct argreduce *arg, union cell b, union cell a) {
    if (!arg->is_float) return arg->kind == MIN ? b.i < a.i : b.i > a.i;
    if (isnan(a.f)) return false;
    return isnan(b.f) || (arg->kind == MIN ? b.f < a.f : b.f > a.f);
}

static struct best segment_best(const struct argreduce *arg, int64_t base, int64_t segment,
                                struct line_buffer *buffer) {
    const struct lines *lines = &arg->lines;
    struct best best = {.at = -1};
    int64_t end = wick__min((segment + 1) * LINE_SEGMENT, lines->terms);
    for (int64_t i = segment * LINE_SEGMENT; i < end; i += LINE_BLOCK) {
        int64_t n = wick__min(LINE_BLOCK, end - i);
        const void *x = line_load(lines, base, i, n, buffer);
        union cell value = fold_any(lines->dtype, arg->kind, x, n, 0, 0);
        if (best.at >= 0 && !better(arg, value, best.value)) continue;
        best.value = value;
        best.at = i + find(lines->dtype, x, n, value);
    }
    return best;
}

static void segment_tasks(void *context, int worker, int64_t begin, int64_t end) {
    const struct argreduce *arg = context;
    struct line_buffer buffer;
    (void)worker;
    for (int64_t task = begin; task < end; task++) {
        int64_t line = task / arg->segments, base = dims_offset(&arg->lines.kept, line);
        struct best best = segment_best(arg, base, task % arg->segments, &buffer);
        if (arg->bests)
            arg->bests[task] = best;
        else
            arg->out[line] = (uint32_t)best.at;
    }
}

static void join_segments(const struct argreduce *arg) {
    for (int64_t line = 0; line < arg->lines.outs; line++) {
        const struct best *bests = arg->bests + line * arg->segments, *best = bests;
        for (int64_t s = 1; s < arg->segments; s++)
            if (better(arg, bests[s].value, best->value)) best = &bests[s];
        arg->out[line] = (uint32_t)best->at;
    }
}

/* Lines of one element have their extreme at place 0. */
static void first_places(void *context, int worker, int64_t begin, int64_t end) {
    const struct argreduce *arg = context;
    (void)worker;
    memset(arg->out + begin, 0, sizeof *arg->out * (size_t)(end - begin));
}

enum wick_status WICK__ISA(wick__cpu_argreduce)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_argreduce)(const struct wick__call *call) {
    struct argreduce arg = {.kind = call->op == WICK_OP_argmin ? MIN : MAX,
                            .is_float = wick_dtype_is_float(call->in[0]->dtype),
                            .out = wick__data(call->out[0])};
    size_t nbytes = 0;
    lines_init(&arg.lines, call->in[0], call->p.reduce.dims, true);
    if (arg.lines.outs == 0) return WICK_OK;
    if (arg.lines.terms == 1) {
        wick__parallel(arg.lines.outs, GRAIN, first_places, &arg);
        return WICK_OK;
    }
    if (WICK__ISA(wick__extremes_f32)(&arg.lines, arg.kind == MIN, NULL, arg.out)) return WICK_OK;
    arg.segments = (arg.lines.terms + LINE_SEGMENT - 1) / LINE_SEGMENT;
    if (arg.segments > 1) {
        nbytes = sizeof *arg.bests * (size_t)(arg.lines.outs * arg.segments);
        arg.bests = wick__scratch(nbytes);
        if (!arg.bests) return WICK_MEMORY;
    }
    int64_t work = wick__min(arg.lines.terms, LINE_SEGMENT) + 16;
    wick__parallel(arg.lines.outs * arg.segments, wick__max(1, GRAIN / work), segment_tasks, &arg);
    if (arg.bests) join_segments(&arg);
    wick__scratch_free(arg.bests, nbytes);
    return WICK_OK;
}
