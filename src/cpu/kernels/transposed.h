/* Gradients of functions whose results are weighted sums of elements of each dim on its own: an element of x gathers
 * from the results that it is in, dim by dim, row by row. Sums are f64, in the order of the results. */
#ifndef WICK_CPU_KERNELS_TRANSPOSED_H
#define WICK_CPU_KERNELS_TRANSPOSED_H

#include "cpu/kernels/readers.h"

#include "backend.h"
#include "core/checked.h"
#include "core/convert.h"
#include "core/memory.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include <stdlib.h>
#include <string.h>

enum { TRANSPOSED_GRAIN = 16 * 1024 };

/* Dim 0 .. n - 1, in front of which stand planes with results of their own. */
struct transposed {
    enum wick_dtype dtype;
    size_t size;
    const char *gradient;
    char *out;
    int n;
    struct readers dim[WICK_MAX_RANK];
    double *scratch; /* of each worker: a row of x, and two of results */
};

static inline void transposed_free(struct transposed *t) {
    for (int d = 0; d < t->n; d++) readers_free(&t->dim[d]);
}

/* One row of x: its place in each dim, its sums, and two rows of results. */
struct transposed_row {
    int64_t at[WICK_MAX_RANK], first; /* first: its position in its plane */
    double *sums, *whole, *buffer;
};

/* Adds the rows of results that read the row of x, from dim d on. `from` is the row of results in the dims before.
 * Compilers would inline it into itself, eight deep, and with it the reading of every dtype. */
static __attribute__((noinline)) void add_rows(const struct transposed *t, struct transposed_row *row, int d,
                                               int64_t from, double weight) {
    const struct readers *dim = &t->dim[d];
    if (d < t->n - 1) {
        for (int64_t k = dim->start[row->at[d]]; k < dim->start[row->at[d] + 1]; k++)
            add_rows(t, row, d + 1, from * dim->out + dim->reader[k].at, weight * dim->reader[k].weight);
        return;
    }
    int64_t begin = from * dim->out;
    wick__row_to_f64(t->dtype, t->gradient + begin * (int64_t)t->size, 1, row->buffer, dim->out);
    for (int64_t o = 0; o < dim->out; o++) row->whole[o] += weight * row->buffer[o];
}

static inline void transposed_task(void *context, int worker, int64_t begin, int64_t end) {
    const struct transposed *t = context;
    const struct readers *last = &t->dim[t->n - 1];
    struct transposed_row row = {.sums = t->scratch + worker * (last->in + 2 * last->out)};
    row.whole = row.sums + last->in;
    row.buffer = row.whole + last->out;
    for (int64_t r = begin; r < end; r++) {
        int64_t plane = r, inside = 0, step = last->in;
        for (int d = t->n - 2; d >= 0; d--) {
            row.at[d] = plane % t->dim[d].in;
            plane /= t->dim[d].in;
            inside += row.at[d] * step;
            step *= t->dim[d].in;
        }
        row.first = inside;
        memset(row.sums, 0, sizeof *row.sums * (size_t)(last->in + last->out));
        add_rows(t, &row, 0, plane, 1);
        for (int64_t i = 0; i < last->in; i++)
            for (int64_t k = last->start[i]; k < last->start[i + 1]; k++)
                row.sums[i] += last->reader[k].weight * row.whole[last->reader[k].at];
        wick__row_from_f64(t->dtype, row.sums, t->out + r * last->in * (int64_t)t->size, last->in);
    }
}

/* Runs it on `count` > 0 elements of x. */
static inline enum wick_status transposed_run(struct transposed *t, int64_t count) {
    const struct readers *last = &t->dim[t->n - 1];
    int64_t each = last->in + 2 * last->out;
    int workers = wick__workers();
    size_t nbytes = sizeof *t->scratch * (size_t)each * (size_t)workers;
    t->scratch = wick__scratch(nbytes);
    if (!t->scratch) return WICK_MEMORY;
    wick__parallel_with(workers, count / last->in, wick__max(1, TRANSPOSED_GRAIN / each), transposed_task, t);
    wick__scratch_free(t->scratch, nbytes);
    return WICK_OK;
}

#endif
