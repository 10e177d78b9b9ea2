/* Lines of f32 that lie side by side: vectors go along the kept dim whose elements are neighbours, so that each lane
 * has a line of its own. */
#ifndef WICK_CPU_KERNELS_ACROSS_H
#define WICK_CPU_KERNELS_ACROSS_H

#include "cpu/kernels/lines.h"

/* Up to this many dims of a line. Where there are FEW jobs, LONG lines are to be cut: how many threads there are must
 * not tell. */
enum { ACROSS_DIMS = 3, ACROSS_FEW = 8, ACROSS_LONG = 16 * 1024 };

struct across {
    int64_t n, columns, chunks, jobs;                /* neighbours; parts of up to `columns` of them; parts in all */
    int64_t shape[ACROSS_DIMS], stride[ACROSS_DIMS]; /* of a line; missing leading dims have one element */
};

/* For each element of the line at x, in the order of the dims, `at` its address. */
#define ACROSS_EACH(across, x)                                                                                         \
    for (int64_t a = 0; a < (across)->shape[0]; a++)                                                                   \
        for (int64_t b = 0; b < (across)->shape[1]; b++)                                                               \
            for (const float *at = (x) + a * (across)->stride[0] + b * (across)->stride[1],                            \
                             *end = at + (across)->shape[2] * (across)->stride[2];                                     \
                 at != end; at += (across)->stride[2])

/* Makes parts of up to `columns` lines. False for lines that are cut among threads or lie in another way. */
static inline bool across_init(struct across *across, const struct lines *lines, int64_t columns) {
    const struct dims *kept = &lines->kept, *reduced = &lines->reduced;
    if (lines->dtype != WICK_F32 || reduced->n == 0 || reduced->n > ACROSS_DIMS || kept->n == 0) return false;
    if (kept->stride[kept->n - 1] != 1) return false;
    across->n = kept->shape[kept->n - 1];
    across->columns = columns;
    across->chunks = (across->n + columns - 1) / columns;
    across->jobs = lines->outs / across->n * across->chunks;
    if (across->jobs < ACROSS_FEW && lines->terms > ACROSS_LONG) return false;
    for (int d = 0; d < ACROSS_DIMS; d++) {
        int from = d - (ACROSS_DIMS - reduced->n);
        across->shape[d] = from < 0 ? 1 : reduced->shape[from];
        across->stride[d] = from < 0 ? 1 : reduced->stride[from];
        if (across->stride[d] == 0) return false;
    }
    return true;
}

/* The first line of part `i`, and how many lines it has. */
static inline int64_t across_part(const struct across *across, int64_t i, int64_t *n) {
    int64_t column = i % across->chunks * across->columns;
    *n = wick__min(across->columns, across->n - column);
    return i / across->chunks * across->n + column;
}

#endif
