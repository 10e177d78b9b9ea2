/* Sums of f32 over dims whose neighbours are kept, or in runs, without the detours that other reductions need. */
#ifndef WICK_CPU_KERNELS_SUMS_H
#define WICK_CPU_KERNELS_SUMS_H

#include "cpu/kernels/lines.h"
#include "cpu/kernels/vmath.h"
#include "cpu/runtime/isa.h"

#ifdef WICK_ISA
/* out [outs] = the sums of the lines / divisor, added in f64. False, and nothing done, for lines that lie in another
 * way, and without memory. */
bool WICK__ISA(wick__sums_f32)(const struct lines *lines, double divisor, float *out);
#endif

/* The sum of a line whose elements are side by side. Four vectors are added in f32 first, which rounds twice. */
static inline double wick__row_sum(const float *x, int64_t n) {
    enum { FOUR = 4 * WICK__VF };
    wick__vd sum[2] = {wick__vd_all(0), wick__vd_all(0)};
    int64_t i = 0;
    for (; i + FOUR <= n; i += FOUR) {
        wick__vf low = wick__vf_load(x + i) + wick__vf_load(x + i + WICK__VF);
        wick__vf four = low + (wick__vf_load(x + i + 2 * WICK__VF) + wick__vf_load(x + i + 3 * WICK__VF));
        for (int k = 0; k < WICK__VF / WICK__VD; k++) sum[k] += wick__vf_part(four, k);
    }
    return wick__vd_total(sum[0] + sum[1]) + wick__vf_sum(x + i, n - i);
}

#endif
