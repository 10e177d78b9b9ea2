/* Max and average pooling over 1 to 3 dims, plain and adaptive. */
#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"
#include "cpu/kernels/planes.h"
#include "cpu/kernels/sums.h"
#include "cpu/kernels/vmath.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

#include <math.h>

/* The elements of one dim that a result's window covers. */
struct window {
    int64_t start, count; /* the first inside the input, and how many are */
    int64_t full;         /* with those in the padding, for the divisor */
};

struct axis {
    int64_t in, out;
    int64_t step;                 /* distance of neighbouring elements of a window */
    int64_t stride;               /* distance of windows even_begin .. even_end-1, which all are complete and short */
    int64_t even_begin, even_end; /* empty where there are none */
    struct window *window;        /* [out] */
};

struct pool {
    const char *in;
    char *out;
    uint32_t *indices; /* of the largest elements; NULL when nobody wants them */
    enum wick_dtype dtype;
    size_t size;
    bool plain; /* elements are computed with as they are stored */
    bool max;
    bool count_padding;
    int64_t divisor;
    int64_t lowest;      /* of an integer dtype */
    struct axis axis[3]; /* missing leading dims have size 1 */
    char *scratch;       /* of every worker */
    size_t scratch_each;
};

/* Which result row. */
struct place {
    int64_t plane;
    const struct window *d, *h;
};

enum { SHORT = 32 }; /* windows of at most this many elements run along the row, a tap at a time */

__extension__ typedef __int128 int128;

/* column[i] += a[i] + b[i] */
#define ADD_PAIR(name, value, sum)                                                                                     \
    static void add_pair_##name(const value *restrict a, const value *restrict b, sum *restrict column, int64_t n) {   \
        for (int64_t i = 0; i < n; i++) column[i] += (sum)a[i] + b[i];                                                 \
    }
ADD_PAIR(f64, double, double)
ADD_PAIR(i64, int64_t, int128)

/* Two rows at once are more than processors fetch ahead of: those that may come six rows later are asked for, unless
 * rows are so short that they stay in the cache, or so long that they would push others out. */
static void add_pair_f32(const float *a, const float *b, double *column, int64_t n) {
    enum { STEP = 16, NEAR = 128, FAR = 1024 };
    size_t ahead = n >= NEAR && n <= FAR ? 6 * sizeof *a * (size_t)n : 0;
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        if (ahead > 0) {
            __builtin_prefetch((const char *)((uintptr_t)(a + i) + ahead));
            __builtin_prefetch((const char *)((uintptr_t)(b + i) + ahead));
        }
        for (int64_t k = i; k < i + STEP; k += WICK__VD)
            wick__vd_store(column + k, wick__vd_load(column + k) + (wick__vd_of_f32(a + k) + wick__vd_of_f32(b + k)));
    }
    for (; i < n; i++) column[i] += (double)a[i] + (double)b[i];
}

/* f64 adds up f32 without rounding unless magnitudes are far apart: then the order does not tell, and GPUs have these
 * bits too. */
#define VALUE float
#define SUM double
#define IS_NAN(x) ((x) != (x))
#define LOWEST (-INFINITY)
#define ROW wick__row_to_f32
#define NAME(x) x##_f32
#include "cpu/kernels/pool_body.h"
#undef VALUE
#undef SUM
#undef ROW
#undef NAME

#define VALUE double
#define SUM double
#define ROW wick__row_to_f64
#define NAME(x) x##_f64
#include "cpu/kernels/pool_body.h"
#undef VALUE
#undef SUM
#undef IS_NAN
#undef LOWEST
#undef ROW
#undef NAME

#define VALUE int64_t
#define SUM int128
#define IS_NAN(x) 0
#define LOWEST (pool->lowest)
#define ROW wick__row_to_i64
#define NAME(x) x##_i64
#include "cpu/kernels/pool_body.h"

/* Rows are pooled in i64 for integers, in f64 for f64, in f32 for the other floats. */
static void pool_rows(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool *pool = context;
    int64_t n = pool->axis[2].out;
    char *values = pool->scratch + (size_t)worker * pool->scratch_each;
    void *rest = values + ((size_t)n * sizeof(int64_t) + 63) / 64 * 64;
    for (int64_t row = begin; row < end; row++) {
        int64_t h = row % pool->axis[1].out, above = row / pool->axis[1].out;
        struct place place = {.plane = above / pool->axis[0].out,
                              .d = &pool->axis[0].window[above % pool->axis[0].out],
                              .h = &pool->axis[1].window[h]};
        uint32_t *index = pool->indices ? pool->indices + row * n : NULL;
        void *to = pool->out + (size_t)(row * n) * pool->size, *out = pool->plain ? to : (void *)values;
        if (!wick_dtype_is_float(pool->dtype)) {
            pool->max ? max_row_i64(pool, &place, out, rest) : avg_row_i64(pool, &place, out, rest);
            if (index) index_row_i64(pool, &place, index, rest);
            if (!pool->plain) wick__row_from_i64(pool->dtype, out, to, n);
        } else if (pool->dtype == WICK_DTYPE_f64) {
            pool->max ? max_row_f64(pool, &place, out, rest) : avg_row_f64(pool, &place, out, rest);
            if (index) index_row_f64(pool, &place, index, rest);
        } else {
            pool->max ? max_row_f32(pool, &place, out, rest) : avg_row_f32(pool, &place, out, rest);
            if (index) index_row_f32(pool, &place, index, rest);
            if (!pool->plain) wick__row_from_f32(pool->dtype, out, to, n);
        }
    }
}

/* The windows of one dim. PyTorch's rules: a window may reach past the padding in ceil mode, and that part of it does
 * not count; padding counts in `full`. */
static void fill_windows(struct axis *axis, const struct wick__call *call, int s, bool adaptive) {
    int64_t in = axis->in, n = axis->out;
    for (int64_t o = 0; o < n; o++) {
        struct window *window = &axis->window[o];
        if (adaptive) {
            /* floor(o in / n) without the product: o (in / n) + floor(o (in % n) / n). */
            int64_t whole = in / n, part = in % n;
            int64_t first = o * whole + (int64_t)((int128)o * part / n);
            int64_t last = (o + 1) * whole + (int64_t)(((int128)(o + 1) * part + n - 1) / n);
            *window = (struct window){.start = first, .count = last - first, .full = last - first};
            continue;
        }
        int64_t padding = call->p.window.padding[s], kernel = call->p.window.kernel[s], step = axis->step;
        int64_t start = o * axis->stride - padding;
        int64_t stop = wick__min(start + (kernel - 1) * step + 1, in + padding);
        window->full = stop - start;
        int64_t skipped = start < 0 ? (-start - 1) / step + 1 : 0;
        window->start = start + skipped * step;
        stop = wick__min(stop, in);
        window->count = stop > window->start ? (stop - window->start - 1) / step + 1 : 0;
        bool complete = window->count == kernel && kernel <= SHORT;
        if (complete && axis->even_end == 0) axis->even_begin = o;
        if (complete) axis->even_end = o + 1;
    }
}

static void set_axes(struct pool *pool, const struct wick__call *call, struct window *windows, bool adaptive) {
    int spatial = call->p.window.spatial;
    const struct wick__layout *x = &call->in[0]->layout, *y = &call->out[0]->layout;
    for (int a = 0; a < 3; a++) {
        int s = a - (3 - spatial);
        struct axis *axis = &pool->axis[a];
        axis->window = windows;
        windows += s < 0 ? 1 : y->shape[2 + s];
        if (s < 0) {
            axis->in = axis->out = axis->step = axis->stride = 1;
            axis->window[0] = (struct window){.start = 0, .count = 1, .full = 1};
            continue;
        }
        axis->in = x->shape[2 + s];
        axis->out = y->shape[2 + s];
        axis->step = adaptive ? 1 : call->p.window.dilation[s];
        axis->stride = call->p.window.stride[s];
        fill_windows(axis, call, s, adaptive);
    }
}

static int64_t lowest(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_i16: return INT16_MIN;
    case WICK_DTYPE_i32: return INT32_MIN;
    case WICK_DTYPE_i64: return INT64_MIN;
    default: return 0;
    }
}

static bool is_max(enum wick_op op) {
    return (op >= WICK_OP_max_pool1d && op <= WICK_OP_max_pool3d) ||
           (op >= WICK_OP_adaptive_max_pool1d && op <= WICK_OP_adaptive_max_pool3d);
}

/* ---- by 16 planes at a time ---- */

static void list_window(struct readers *r, const void *context) {
    const struct axis *axis = context;
    for (int64_t o = 0; o < axis->out; o++)
        for (int64_t k = 0; k < axis->window[o].count; k++) add_reader(r, o, axis->window[o].start + k * axis->step, 1);
}

static void list_counts(const struct pool *pool, const struct axis *axis, double *count) {
    for (int64_t o = 0; o < axis->out; o++)
        count[o] = (double)(pool->count_padding ? axis->window[o].full : axis->window[o].count);
}

/* Whether planes side by side are better: rows are short, or planes lie so already. */
static bool by_planes(const struct pool *pool, const struct wick_tensor *x) {
    enum { NARROW = 48 };
    bool contiguous = wick__layout_is_contiguous(&x->layout);
    return wick_dtype_is_float(pool->dtype) && pool->dtype != WICK_DTYPE_f64 &&
           (!contiguous || pool->axis[2].in <= NARROW);
}

/* Pools by planes. False where their tiles would be too large, and nothing is done. */
static bool pool_planes(const struct pool *pool, const struct wick__call *call, double *counts,
                        enum wick_status *status) {
    const struct wick_tensor *x = call->in[0];
    struct wick__planes p = {.kind = pool->max ? WICK__PLANES_LARGEST : WICK__PLANES_SUM_WIDE,
                             .dtype = pool->dtype,
                             .x = pool->in,
                             .y = pool->out,
                             .largest = pool->indices,
                             .channels_last = !wick__layout_is_contiguous(&x->layout),
                             .images = x->layout.shape[0],
                             .channels = x->layout.shape[1],
                             .divisor = (double)pool->divisor};
    for (int a = 0; a < 3; a++) {
        const struct axis *axis = &pool->axis[a];
        p.from[a] = axis->in;
        p.to[a] = axis->out;
        if (pool->divisor > 0) continue;
        list_counts(pool, axis, counts);
        p.divide[a] = counts;
        counts += axis->out;
    }
    const void *const axes[3] = {&pool->axis[0], &pool->axis[1], &pool->axis[2]};
    return WICK__ISA(wick__planes_try)(&p, list_window, axes, status);
}

/* ---- averages of whole planes of f32 ---- */

static bool is_whole(const struct pool *pool, const struct wick_tensor *x) {
    bool whole = !pool->max && pool->dtype == WICK_F32 && wick__layout_is_contiguous(&x->layout);
    for (int a = 0; a < 3; a++) {
        const struct axis *axis = &pool->axis[a];
        whole = whole && axis->out == 1 && axis->window[0].count == axis->in && axis->step == 1;
    }
    return whole;
}

static void whole_planes(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool *pool = context;
    int64_t n = pool->axis[0].in * pool->axis[1].in * pool->axis[2].in;
    struct place place = {.d = pool->axis[0].window, .h = pool->axis[1].window};
    double divisor = divisor_f32(pool, &place, pool->axis[2].window);
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *plane = (const float *)(const void *)pool->in + i * n;
        double sum = wick__row_sum(plane, n);
        if (!isfinite(sum)) sum = wick__vf_sum(plane, n); /* four in f32 may have been too large */
        ((float *)(void *)pool->out)[i] = (float)(sum / divisor);
    }
}

enum wick_status WICK__ISA(wick__cpu_pool)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_pool)(const struct wick__call *call) {
    const struct wick_tensor *x = call->in[0];
    struct wick_tensor *y = call->out[0];
    if (wick__count(y) == 0) return WICK_OK;
    struct pool pool = {.in = wick__data(x),
                        .out = wick__data(y),
                        .indices = call->n_out > 1 ? wick__data(call->out[1]) : NULL,
                        .dtype = x->dtype,
                        .size = wick__size(x->dtype),
                        .plain = x->dtype == WICK_DTYPE_f32 || x->dtype == WICK_DTYPE_f64 || x->dtype == WICK_DTYPE_i64,
                        .max = is_max(call->op),
                        .count_padding = call->p.window.count_include_pad,
                        .divisor = call->p.window.divisor,
                        .lowest = lowest(x->dtype)};
    int rank = y->layout.rank;
    int64_t in = x->layout.shape[rank - 1], out = y->layout.shape[rank - 1], windows = 3;
    for (int d = 2; d < rank; d++) windows += y->layout.shape[d];
    /* A worker has a result row, and an input row and a result row of sums, and two input rows of values. */
    pool.scratch_each = ((size_t)out * 8 + 63) / 64 * 64 + (size_t)(in + out) * 16 + (size_t)in * 16 + 64;
    size_t table = ((size_t)windows * (sizeof(struct window) + sizeof(double)) + 63) / 64 * 64;
    int workers = wick__workers();
    size_t nbytes = table + pool.scratch_each / 64 * 64 * (size_t)workers;
    pool.scratch_each = pool.scratch_each / 64 * 64;
    char *memory = wick__scratch(nbytes);
    if (!memory) return WICK_MEMORY;
    pool.scratch = memory + table;
    set_axes(&pool, call, (struct window *)(void *)memory,
             call->op >= WICK_OP_adaptive_max_pool1d && call->op <= WICK_OP_adaptive_avg_pool3d);
    double *counts = (double *)(void *)(memory + (size_t)windows * sizeof(struct window));
    enum wick_status status = WICK_OK;
    if (is_whole(&pool, x)) {
        int64_t plane = pool.axis[0].in * pool.axis[1].in * pool.axis[2].in;
        wick__parallel_with(workers, wick__count(y), wick__max(1, 16384 / plane), whole_planes, &pool);
    } else if (!by_planes(&pool, x) || !pool_planes(&pool, call, counts, &status)) {
        int64_t taps = wick__max(1, pool.axis[0].window[0].count) * wick__max(1, pool.axis[1].window[0].count);
        int64_t work = taps * in + out * wick__max(1, pool.axis[2].window[0].count);
        wick__parallel_with(workers, wick__count(y) / out, wick__max(1, 16384 / wick__max(1, work)), pool_rows, &pool);
    }
    wick__scratch_free(memory, nbytes);
    return status;
}
