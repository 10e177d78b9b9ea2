/* Gradients of max and average pooling. A row of averages gathers from every row of windows that reaches it. Of the
 * largest, a slab of neighbouring rows goes through the windows that reach it once, and each adds to the place that its
 * index names. Sums are f64, in the order of the windows. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/kernels/planes.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include <string.h>

enum { GRAIN = 16 * 1024, SLAB = 4096, RUN = 512 }; /* elements of a task, of a slab, of windows converted at once */

/* One dim: `in` elements, `out` windows. */
struct axis {
    int64_t in, out, kernel, stride, padding, step;
};

/* Leading dims that are missing have one element and one window. */
struct pool_backward {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *gradient;
    const uint32_t *indices; /* NULL for averages */
    char *out;
    struct axis axis[3];
    bool count_padding;
    int64_t divisor;
    double *scratch; /* of each worker: sums of a row or a slab of x, and values of windows */
    int64_t sums, values;
    int64_t depths, rows;         /* of a slab */
    int64_t deep, across;         /* slabs of a plane in each of these dims */
    double per_width, per_height; /* 1 / in */
};

/* Rows h .. h + rows - 1 at depths d .. d + depths - 1, which lie side by side. */
struct slab {
    int64_t plane, d, depths, h, rows;
    int64_t first, n; /* its elements, as positions in its plane */
    double *sums;     /* [n] */
};

/* The windows that reach element i: begin .. end - 1. */
struct range {
    int64_t begin, end;
};

static struct range windows_of(const struct axis *a, int64_t i) {
    int64_t first = i + a->padding - (a->kernel - 1) * a->step;
    int64_t begin = first > 0 ? (first + a->stride - 1) / a->stride : 0;
    return (struct range){begin, wick__min(a->out, (i + a->padding) / a->stride + 1)};
}

/* How many elements of window o of an average count in the divisor. */
static int64_t counted(const struct pool_backward *s, const struct axis *a, int64_t o) {
    int64_t begin = o * a->stride - a->padding, end = wick__min(begin + a->kernel, a->in + a->padding);
    return s->count_padding ? end - begin : wick__min(end, a->in) - wick__max(begin, 0);
}

static int reaches(const struct axis *a, int64_t o, int64_t i) {
    return (uint64_t)(i + a->padding - o * a->stride) <= (uint64_t)((a->kernel - 1) * a->step);
}

/* Adds the gradients of the windows of a plane of one row where their indices point, as far as that is in the windows
 * and in the row. */
static void add_largest_of_row(const struct axis *a, const uint32_t *index, const double *g, double *row) {
    int64_t reach = (a->kernel - 1) * a->step;
    for (int64_t o = 0; o < a->out; o++) {
        int64_t at = index[o], inside = at + a->padding - o * a->stride;
        if (at < a->in && inside >= 0 && inside <= reach) row[at] += g[o];
    }
}

/* Adds the gradients of a row of windows where its indices point, as far as that is in the windows and in the slab.
 * Half an element more makes the products with reciprocals exact divisions. */
static void add_largest(const struct pool_backward *s, const struct slab *slab, int64_t od, int64_t oh,
                        const uint32_t *index, const double *g) {
    const struct axis *depth = &s->axis[0], *height = &s->axis[1], *width = &s->axis[2];
    for (int64_t o = 0; o < width->out; o++) {
        int64_t at = index[o], row = (int64_t)(((double)at + 0.5) * s->per_width);
        int64_t d = (int64_t)(((double)row + 0.5) * s->per_height);
        int inside = reaches(width, o, at - row * width->in) & reaches(height, oh, row - d * height->in) &
                     reaches(depth, od, d) & ((uint64_t)(at - slab->first) < (uint64_t)slab->n);
        if (inside) slab->sums[at - slab->first] += g[o];
    }
}

static void add_averages(const struct pool_backward *s, int64_t divisor, const double *g, double *row) {
    const struct axis *a = &s->axis[2];
    for (int64_t o = 0; o < a->out; o++) {
        int64_t begin = o * a->stride - a->padding, end = wick__min(begin + a->kernel, a->in);
        double part = g[o] / (double)(s->divisor ? s->divisor : divisor * counted(s, a, o));
        for (int64_t i = wick__max(begin, 0); i < end; i++) row[i] += part;
    }
}

static void average_row(const struct pool_backward *s, int64_t row, double *sums, double *g) {
    const struct axis *depth = &s->axis[0], *height = &s->axis[1], *width = &s->axis[2];
    int64_t h = row % height->in, d = row / height->in % depth->in, plane = row / height->in / depth->in;
    struct range over = windows_of(depth, d), down = windows_of(height, h);
    memset(sums, 0, sizeof *sums * (size_t)width->in);
    for (int64_t od = over.begin; od < over.end; od++)
        for (int64_t oh = down.begin; oh < down.end; oh++) {
            int64_t at = ((plane * depth->out + od) * height->out + oh) * width->out;
            wick__row_to_f64(s->dtype, s->gradient + at * (int64_t)s->size, 1, g, width->out);
            add_averages(s, counted(s, depth, od) * counted(s, height, oh), g, sums);
        }
    wick__row_from_f64(s->dtype, sums, s->out + row * width->in * (int64_t)s->size, width->in);
}

static void largest_slab(const struct pool_backward *s, const struct slab *slab, double *g) {
    const struct axis *depth = &s->axis[0], *height = &s->axis[1], *width = &s->axis[2];
    int64_t od_end = windows_of(depth, slab->d + slab->depths - 1).end;
    int64_t oh_begin = windows_of(height, slab->h).begin, oh_end = windows_of(height, slab->h + slab->rows - 1).end;
    int64_t at_once = s->values / wick__max(1, width->out);
    bool single = depth->in * height->in == 1;
    memset(slab->sums, 0, sizeof *slab->sums * (size_t)slab->n);
    for (int64_t od = windows_of(depth, slab->d).begin; od < od_end; od++)
        for (int64_t oh = oh_begin; oh < oh_end; oh++) {
            int64_t at = ((slab->plane * depth->out + od) * height->out + oh) * width->out;
            int64_t kept = (oh - oh_begin) % at_once; /* rows of windows since the last that were converted */
            if (kept == 0)
                wick__row_to_f64(s->dtype, s->gradient + at * (int64_t)s->size, 1, g,
                                 wick__min(at_once, oh_end - oh) * width->out);
            if (single)
                add_largest_of_row(width, s->indices + at, g + kept * width->out, slab->sums);
            else
                add_largest(s, slab, od, oh, s->indices + at, g + kept * width->out);
        }
    int64_t to = slab->plane * depth->in * height->in * width->in + slab->first;
    wick__row_from_f64(s->dtype, slab->sums, s->out + to * (int64_t)s->size, slab->n);
}

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool_backward *s = context;
    double *sums = s->scratch + worker * (s->sums + s->values);
    for (int64_t row = begin; row < end; row++) average_row(s, row, sums, sums + s->sums);
}

static void slabs_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool_backward *s = context;
    double *sums = s->scratch + worker * (s->sums + s->values);
    for (int64_t i = begin; i < end; i++) {
        int64_t h = i % s->across * s->rows, d = i / s->across % s->deep * s->depths;
        struct slab slab = {.plane = i / s->across / s->deep,
                            .d = d,
                            .depths = wick__min(s->depths, s->axis[0].in - d),
                            .h = h,
                            .rows = wick__min(s->rows, s->axis[1].in - h),
                            .first = (d * s->axis[1].in + h) * s->axis[2].in,
                            .sums = sums};
        slab.n = slab.depths * slab.rows * s->axis[2].in;
        largest_slab(s, &slab, sums + s->sums);
    }
}

/* Slabs of some SLAB elements: a row, rows of a depth, or whole depths. */
static void set_slabs(struct pool_backward *s) {
    int64_t height = s->axis[1].in, width = s->axis[2].in;
    s->rows = wick__min(height, wick__max(1, SLAB / width));
    s->depths = s->rows < height ? 1 : wick__min(s->axis[0].in, wick__max(1, SLAB / (height * width)));
    s->across = (height + s->rows - 1) / s->rows;
    s->deep = (s->axis[0].in + s->depths - 1) / s->depths;
    s->per_width = 1 / (double)width;
    s->per_height = 1 / (double)height;
    s->sums = s->depths * s->rows * width;
    s->values = wick__max(s->axis[2].out, RUN);
}

/* ---- by 16 planes at a time ---- */

struct windows {
    const struct pool_backward *s;
    const struct axis *axis;
};

static void list_windows(struct readers *r, const void *context) {
    const struct windows *w = context;
    for (int64_t i = 0; i < w->axis->in; i++) {
        struct range range = windows_of(w->axis, i);
        for (int64_t o = range.begin; o < range.end; o++)
            add_reader(r, i, o, w->s->indices || w->s->divisor ? 1 : 1 / (double)counted(w->s, w->axis, o));
    }
}

/* False where planes are f64 or their tiles would be too large, and nothing is done. */
static bool by_planes(const struct pool_backward *s, const struct wick__call *call, enum wick_status *status) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick__planes p = {.kind = s->indices ? WICK__PLANES_POINTED : WICK__PLANES_SUM_WIDE,
                             .dtype = s->dtype,
                             .x = s->gradient,
                             .indices = s->indices,
                             .y = s->out,
                             .channels_last = !wick__layout_is_contiguous(&gradient->layout),
                             .images = gradient->layout.shape[0],
                             .channels = gradient->layout.shape[1],
                             .divisor = s->divisor ? (double)s->divisor : 1};
    bool made = true, fits;
    if (s->dtype == WICK_F64) return false;
    for (int a = 0; a < 3 && made; a++) {
        struct windows windows = {s, &s->axis[a]};
        p.from[a] = s->axis[a].out;
        p.to[a] = s->axis[a].in;
        made = readers_make(&p.axis[a], s->axis[a].in, s->axis[a].out, list_windows, &windows);
    }
    fits = made && WICK__ISA(wick__planes_fit)(&p);
    *status = made ? WICK_OK : WICK_MEMORY;
    if (fits) *status = WICK__ISA(wick__planes_run)(&p);
    for (int a = 0; a < 3; a++) readers_free(&p.axis[a]);
    return fits || !made;
}

enum wick_status WICK__ISA(wick__cpu_pool_backward)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_pool_backward)(const struct wick__call *call) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick_tensor *out = call->out[0];
    int64_t count = wick__count(out);
    if (count == 0) return WICK_OK;
    struct pool_backward s = {.dtype = gradient->dtype,
                              .size = wick__size(gradient->dtype),
                              .gradient = wick__data(gradient),
                              .indices = call->n_in > 1 ? wick__data(call->in[1]) : NULL,
                              .out = wick__data(out),
                              .count_padding = call->p.window.count_include_pad,
                              .divisor = call->p.window.divisor};
    for (int a = 0; a < 3; a++) {
        int i = a - (3 - call->p.window.spatial);
        s.axis[a] = (struct axis){1, 1, 1, 1, 0, 1};
        if (i < 0) continue;
        s.axis[a] = (struct axis){out->layout.shape[2 + i], gradient->layout.shape[2 + i], call->p.window.kernel[i],
                                  call->p.window.stride[i], call->p.window.padding[i],     call->p.window.dilation[i]};
    }
    enum wick_status status;
    if (by_planes(&s, call, &status)) return status;
    s.sums = s.axis[2].in;
    s.values = s.axis[2].out;
    if (s.indices) set_slabs(&s);
    int workers = wick__workers();
    size_t nbytes = sizeof *s.scratch * (size_t)(s.sums + s.values) * (size_t)workers;
    s.scratch = wick__alloc(nbytes);
    if (!s.scratch) return WICK_MEMORY;
    int64_t rows = count / s.axis[2].in, grain = wick__max(1, GRAIN / (s.sums + s.values));
    int64_t slabs = rows / (s.axis[0].in * s.axis[1].in) * s.across * s.deep;
    wick__parallel_with(workers, s.indices ? slabs : rows, grain, s.indices ? slabs_task : rows_task, &s);
    wick__free(s.scratch, nbytes);
    return WICK_OK;
}
