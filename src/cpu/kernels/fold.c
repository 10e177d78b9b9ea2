/* Sums of columns, col2im: an element gathers from the windows that reach it. Sums are f64. */
#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <string.h>

enum { GRAIN = 16 * 1024 };

/* One dim: `in` elements of the result, `out` windows. Leading dims that are missing have one of each. */
struct axis {
    int64_t in, out, kernel, stride, padding, step;
};

struct fold {
    enum wick_dtype dtype;
    size_t size;
    const char *columns;
    char *out;
    struct axis axis[3];
    double *scratch; /* of each worker: a row of the result, and one of columns */
};

/* The window whose element k is element i of the result; -1 for none. */
static int64_t window_of(const struct axis *a, int64_t i, int64_t k) {
    int64_t from = i + a->padding - k * a->step;
    return from >= 0 && from % a->stride == 0 && from / a->stride < a->out ? from / a->stride : -1;
}

/* Adds element k of the last dim of a row of windows. */
static void add_row(const struct axis *a, int64_t k, const double *column, double *sums) {
    for (int64_t o = 0; o < a->out; o++) {
        int64_t i = o * a->stride + k * a->step - a->padding;
        if (i >= 0 && i < a->in) sums[i] += column[o];
    }
}

static void fold_row(const struct fold *f, int64_t row, double *sums, double *column) {
    const struct axis *depth = &f->axis[0], *height = &f->axis[1], *width = &f->axis[2];
    int64_t h = row % height->in, d = row / height->in % depth->in, plane = row / height->in / depth->in;
    memset(sums, 0, sizeof *sums * (size_t)width->in);
    for (int64_t kd = 0; kd < depth->kernel; kd++)
        for (int64_t kh = 0; kh < height->kernel; kh++) {
            int64_t od = window_of(depth, d, kd), oh = window_of(height, h, kh);
            if (od < 0 || oh < 0) continue;
            for (int64_t kw = 0; kw < width->kernel; kw++) {
                int64_t element = ((plane * depth->kernel + kd) * height->kernel + kh) * width->kernel + kw;
                int64_t at = ((element * depth->out + od) * height->out + oh) * width->out;
                wick__row_to_f64(f->dtype, f->columns + at * (int64_t)f->size, 1, column, width->out);
                add_row(width, kw, column, sums);
            }
        }
    wick__row_from_f64(f->dtype, sums, f->out + row * width->in * (int64_t)f->size, width->in);
}

static void rows_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct fold *f = context;
    double *sums = f->scratch + worker * (f->axis[2].in + f->axis[2].out);
    for (int64_t row = begin; row < end; row++) fold_row(f, row, sums, sums + f->axis[2].in);
}

enum wick_status WICK__ISA(wick__cpu_fold)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_fold)(const struct wick__call *call) {
    struct wick_tensor *out = call->out[0];
    int64_t count = wick__count(out);
    if (count == 0) return WICK_OK;
    struct fold f = {.dtype = out->dtype,
                     .size = wick__size(out->dtype),
                     .columns = wick__data(call->in[0]),
                     .out = wick__data(out)};
    for (int a = 0; a < 3; a++) {
        int s = a - (3 - call->p.window.spatial);
        struct axis *axis = &f.axis[a];
        *axis = (struct axis){1, 1, 1, 1, 0, 1};
        if (s < 0) continue;
        *axis = (struct axis){out->layout.shape[2 + s],  0,
                              call->p.window.kernel[s],  call->p.window.stride[s],
                              call->p.window.padding[s], call->p.window.dilation[s]};
        axis->out = (axis->in + 2 * axis->padding - axis->step * (axis->kernel - 1) - 1) / axis->stride + 1;
    }
    int64_t width = f.axis[2].in, each = width + f.axis[2].out;
    int workers = wick__workers();
    size_t nbytes = sizeof *f.scratch * (size_t)each * (size_t)workers;
    f.scratch = wick__scratch(nbytes);
    if (!f.scratch) return WICK_MEMORY;
    wick__parallel_with(workers, count / width, wick__max(1, GRAIN / each), rows_task, &f);
    wick__scratch_free(f.scratch, nbytes);
    return WICK_OK;
}
