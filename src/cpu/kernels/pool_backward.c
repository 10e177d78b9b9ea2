/* Gradients of max and average pooling. A row of averages gathers from every row of windows that reaches it, in f64 and
 * in the order of the windows. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/kernels/planes.h"
#include "cpu/kernels/pointed.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>

enum { GRAIN = 16 * 1024 }; /* elements of a task */

/* One dim: `in` elements, `out` windows. */
struct axis {
    int64_t in, out, kernel, stride, padding, step;
};

/* Leading dims that are missing have one element and one window. */
struct pool_backward {
    enum wick_dtype dtype;
    size_t size; /* of an element */
    const char *gradient;
    char *out;
    struct axis axis[3];
    bool count_padding;
    int64_t divisor;
    double *scratch; /* of each worker: sums of a row of x, and values of a row of windows */
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

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool_backward *s = context;
    const struct axis *width = &s->axis[2];
    double *sums = s->scratch + worker * (width->in + width->out);
    for (int64_t row = begin; row < end; row++) average_row(s, row, sums, sums + width->in);
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
            add_reader(r, i, o, w->s->divisor ? 1 : 1 / (double)counted(w->s, w->axis, o));
    }
}

/* False where planes are f64 or their tiles would be too large, and nothing is done. */
static bool by_planes(const struct pool_backward *s, const struct wick__call *call, enum wick_status *status) {
    const struct wick_tensor *gradient = call->in[0];
    struct wick__planes p = {.kind = WICK__PLANES_SUM_WIDE,
                             .dtype = s->dtype,
                             .x = s->gradient,
                             .y = s->out,
                             .channels_last = !wick__layout_is_contiguous(&gradient->layout),
                             .images = gradient->layout.shape[0],
                             .channels = gradient->layout.shape[1],
                             .divisor = s->divisor ? (double)s->divisor : 1};
    struct windows windows[3];
    if (s->dtype == WICK_F64) return false;
    for (int a = 0; a < 3; a++) {
        windows[a] = (struct windows){s, &s->axis[a]};
        p.from[a] = s->axis[a].out;
        p.to[a] = s->axis[a].in;
    }
    const void *const axes[3] = {&windows[0], &windows[1], &windows[2]};
    return WICK__ISA(wick__planes_try)(&p, list_windows, axes, status);
}

/* ---- of the largest ---- */

/* A window's elements, also those between its own where it is dilated. */
static enum wick_status to_largest(const struct pool_backward *s, const struct wick__call *call) {
    int64_t windows = s->axis[0].out + s->axis[1].out + s->axis[2].out;
    size_t nbytes = sizeof(struct wick__reach) * (size_t)windows;
    struct wick__reach *reach = wick__scratch(nbytes), *next = reach;
    struct wick__pointed p = {.dtype = s->dtype, .x = s->gradient, .indices = wick__data(call->in[1]), .y = s->out};
    if (!reach) return WICK_MEMORY;
    p.planes = call->in[0]->layout.shape[0] * call->in[0]->layout.shape[1];
    for (int d = 0; d < 3; d++) {
        const struct axis *a = &s->axis[d];
        p.from[d] = a->out;
        p.to[d] = a->in;
        p.reach[d] = next;
        for (int64_t o = 0; o < a->out; o++) {
            int64_t begin = o * a->stride - a->padding, end = begin + (a->kernel - 1) * a->step + 1;
            *next++ = (struct wick__reach){wick__max(begin, 0), wick__max(0, wick__min(end, a->in))};
        }
    }
    enum wick_status status = WICK__ISA(wick__pointed_run)(&p);
    wick__scratch_free(reach, nbytes);
    return status;
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
    if (call->n_in > 1) return to_largest(&s, call);
    enum wick_status status;
    if (by_planes(&s, call, &status)) return status;
    int64_t each = s.axis[2].in + s.axis[2].out;
    int workers = wick__workers();
    size_t nbytes = sizeof *s.scratch * (size_t)each * (size_t)workers;
    s.scratch = wick__scratch(nbytes);
    if (!s.scratch) return WICK_MEMORY;
    wick__parallel_with(workers, count / s.axis[2].in, wick__max(1, GRAIN / each), rows_task, &s);
    wick__scratch_free(s.scratch, nbytes);
    return WICK_OK;
}
