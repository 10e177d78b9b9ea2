/* Gradients of max and average pooling, row by row: a row gathers from every row of windows that reaches it. Sums are
 * f64, in the order of the windows. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"

#include <string.h>

enum { GRAIN = 16 * 1024 };

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
    double *scratch; /* of each worker: a row of x, and one of windows */
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

/* Adds the gradients of a row of windows to those elements of the row of x that begins at position `first` of its plane
 * where the indices point. */
static void add_largest(const struct pool_backward *s, const uint32_t *index, const double *g, int64_t first,
                        double *row) {
    const struct axis *a = &s->axis[2];
    int64_t reach = (a->kernel - 1) * a->step;
    for (int64_t o = 0; o < a->out; o++) {
        int64_t at = (int64_t)index[o] - first, inside = at + a->padding - o * a->stride;
        if (at >= 0 && at < a->in && inside >= 0 && inside <= reach) row[at] += g[o];
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

static void backward_row(const struct pool_backward *s, int64_t row, double *sums, double *g) {
    const struct axis *depth = &s->axis[0], *height = &s->axis[1], *width = &s->axis[2];
    int64_t h = row % height->in, d = row / height->in % depth->in, plane = row / height->in / depth->in;
    struct range over = windows_of(depth, d), down = windows_of(height, h);
    memset(sums, 0, sizeof *sums * (size_t)width->in);
    for (int64_t od = over.begin; od < over.end; od++)
        for (int64_t oh = down.begin; oh < down.end; oh++) {
            int64_t at = ((plane * depth->out + od) * height->out + oh) * width->out;
            wick__row_to_f64(s->dtype, s->gradient + at * (int64_t)s->size, 1, g, width->out);
            if (s->indices)
                add_largest(s, s->indices + at, g, (d * height->in + h) * width->in, sums);
            else
                add_averages(s, counted(s, depth, od) * counted(s, height, oh), g, sums);
        }
    wick__row_from_f64(s->dtype, sums, s->out + row * width->in * (int64_t)s->size, width->in);
}

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct pool_backward *s = context;
    double *sums = s->scratch + worker * (s->axis[2].in + s->axis[2].out);
    for (int64_t row = begin; row < end; row++) backward_row(s, row, sums, sums + s->axis[2].in);
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
    int64_t width = s.axis[2].in, each = width + s.axis[2].out;
    int workers = wick__workers();
    size_t nbytes = sizeof *s.scratch * (size_t)each * (size_t)workers;
    s.scratch = wick__alloc(nbytes);
    if (!s.scratch) return WICK_MEMORY;
    wick__parallel_with(workers, count / width, wick__max(1, GRAIN / each), rows_task, &s);
    wick__free(s.scratch, nbytes);
    return WICK_OK;
}
