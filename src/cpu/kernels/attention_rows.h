/* Rows of keys and values by a single query, read where they lie. For kernel files. */
#ifndef WICK_CPU_KERNELS_ATTENTION_ROWS_H
#define WICK_CPU_KERNELS_ATTENTION_ROWS_H

#include "core/convert.h"
#include "cpu/kernels/vmath.h"

#include <string.h>

#define ATTENTION_FN static inline __attribute__((always_inline))

enum { ATTENTION_PART = 4 * WICK__VF /* elements of a row that are taken at once */ };

/* n rows, `step` bytes apart, whose elements of `size` bytes lie side by side. */
struct attention_rows {
    enum wick_dtype dtype;
    int64_t size, step, n;
    const char *from;
};

/* n <= ATTENTION_PART elements from d on of row j as f32: where they lie, or a copy of them. */
ATTENTION_FN const float *attention_floats(const struct attention_rows *rows, int64_t j, int64_t d, const int64_t n,
                                           float *copy) {
    const char *from = rows->from + j * rows->step + d * rows->size;
    if (rows->dtype == WICK_F32) return (const float *)(const void *)from;
    wick__row_to_f32(rows->dtype, from, 1, copy, n);
    return copy;
}

/* scores[j] += what n elements from d on give. Four rows at a time, whose lanes are added up together. */
ATTENTION_FN void attention_score_part(const struct attention_rows *keys, const float *q, int64_t d, const int64_t n,
                                       float *scores) {
    enum { ROWS = 4 };
    float copy[ROWS][ATTENTION_PART] = {{0}}, total[ROWS];
    for (int64_t j = 0; j < keys->n; j += ROWS) {
        const float *k[ROWS];
        wick__vf sum[ROWS];
        int64_t i = 0, left = keys->n - j < ROWS ? keys->n - j : ROWS;
        for (int r = 0; r < ROWS; r++) {
            k[r] = attention_floats(keys, j + (r < left ? r : left - 1), d, n, copy[r]);
            sum[r] = wick__vf_all(0);
        }
        for (; i + WICK__VF <= n; i += WICK__VF) {
            wick__vf part = wick__vf_load(q + d + i);
            for (int r = 0; r < ROWS; r++) sum[r] = wick__vf_fma(part, wick__vf_load(k[r] + i), sum[r]);
        }
        if (i < n) {
            wick__vf part = wick__vf_some(q + d + i, n - i, 0);
            for (int r = 0; r < ROWS; r++) sum[r] = wick__vf_fma(part, wick__vf_some(k[r] + i, n - i, 0), sum[r]);
        }
        _mm_storeu_ps(total, wick__vf_totals(sum[0], sum[1], sum[2], sum[3]));
        for (int64_t r = 0; r < left; r++) scores[j + r] += total[r];
    }
}

/* sums[i] += the sum of weights[j] times element i of row j, for n elements from d on. */
ATTENTION_FN void attention_add_part(const struct attention_rows *values, const float *weights, int64_t d,
                                     const int64_t n, float *sums) {
    const int64_t vectors = n / WICK__VF, rest = n % WICK__VF;
    float copy[ATTENTION_PART] = {0};
    wick__vf sum[ATTENTION_PART / WICK__VF], last = wick__vf_some(sums + d + n - rest, rest, 0);
    for (int64_t v = 0; v < vectors; v++) sum[v] = wick__vf_load(sums + d + v * WICK__VF);
    for (int64_t j = 0; j < values->n; j++) {
        const float *x = attention_floats(values, j, d, n, copy);
        for (int64_t v = 0; v < vectors; v++)
            sum[v] = wick__vf_fma(wick__vf_all(weights[j]), wick__vf_load(x + v * WICK__VF), sum[v]);
        if (rest > 0) last = wick__vf_fma(wick__vf_all(weights[j]), wick__vf_some(x + n - rest, rest, 0), last);
    }
    for (int64_t v = 0; v < vectors; v++) wick__vf_store(sums + d + v * WICK__VF, sum[v]);
    if (rest > 0) wick__vf_store_some(sums + d + n - rest, last, rest);
}

/* scores[j] = q times row j of keys. Full parts have a constant length, for the compiler. */
static inline void attention_scores(const struct attention_rows *keys, const float *q, int64_t depth, float *scores) {
    int64_t d = 0;
    memset(scores, 0, (size_t)keys->n * sizeof *scores);
    for (; d + ATTENTION_PART <= depth; d += ATTENTION_PART) attention_score_part(keys, q, d, ATTENTION_PART, scores);
    if (d < depth) attention_score_part(keys, q, d, depth - d, scores);
}

/* sums[i] += the sum of weights[j] times element i of row j. */
static inline void attention_add(const struct attention_rows *values, const float *weights, int64_t width,
                                 float *sums) {
    int64_t d = 0;
    for (; d + ATTENTION_PART <= width; d += ATTENTION_PART)
        attention_add_part(values, weights, d, ATTENTION_PART, sums);
    if (d < width) attention_add_part(values, weights, d, width - d, sums);
}

#endif
