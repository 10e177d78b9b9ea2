/* Least and largest elements of f32: of rows, and over dims whose neighbours are kept. */
#ifndef WICK_CPU_KERNELS_EXTREMES_H
#define WICK_CPU_KERNELS_EXTREMES_H

#include "cpu/kernels/lines.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"

#include <math.h>

/* values [outs], if not NULL, = the extremes of the lines, NaN where a line has one; places [outs], if not NULL, = the
 * first place of each. False, and nothing done, for lines that are cut among threads or lie in another way. */
bool WICK__ISA(wick__extremes_f32)(const struct lines *lines, bool least, float *values, uint32_t *places);

/* The extreme of n > 0 elements side by side; NaN where one is. */
static inline float wick__row_extreme(const float *x, int64_t n, const bool least) {
    enum { FOUR = 4 * WICK__VF };
    const float none = least ? INFINITY : -INFINITY;
    wick__vf best[4];
    int64_t i = 0;
    for (int k = 0; k < 4; k++) best[k] = wick__vf_all(none);
    for (; i + FOUR <= n; i += FOUR) {
        wick__vf v[4];
        for (int k = 0; k < 4; k++) v[k] = wick__vf_load(x + i + k * WICK__VF);
        if (wick__vf_nan(v[0], v[1]) || wick__vf_nan(v[2], v[3])) return NAN;
        for (int k = 0; k < 4; k++) best[k] = least ? wick__vf_min(best[k], v[k]) : wick__vf_max(best[k], v[k]);
    }
    for (; i < n; i += WICK__VF) {
        wick__vf v = n - i < WICK__VF ? wick__vf_some(x + i, n - i, none) : wick__vf_load(x + i);
        if (wick__vf_nan(v, v)) return NAN;
        best[0] = least ? wick__vf_min(best[0], v) : wick__vf_max(best[0], v);
    }
    if (least) return -wick__vf_greatest(-wick__vf_min(wick__vf_min(best[0], best[1]), wick__vf_min(best[2], best[3])));
    return wick__vf_greatest(wick__vf_max(wick__vf_max(best[0], best[1]), wick__vf_max(best[2], best[3])));
}

/* The first place of `value`, any NaN when it is NaN, among n elements that have it. */
static inline int64_t wick__row_find(const float *x, int64_t n, float value) {
    unsigned found = 0;
    int64_t i = 0;
    if (isnan(value)) {
        while (!isnan(x[i])) i++;
        return i;
    }
    for (; i < n; i += WICK__VF) {
        wick__vf v = n - i < WICK__VF ? wick__vf_some(x + i, n - i, NAN) : wick__vf_load(x + i);
        found = wick__vf_equal(v, wick__vf_all(value));
        if (found) break;
    }
    return i + __builtin_ctz(found);
}

#endif
