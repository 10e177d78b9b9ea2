/* Where an element of a resized dim lies in the dim it comes from. */
#ifndef WICK_KERNELS_PLACE_H
#define WICK_KERNELS_PLACE_H

#include "layout.h"

#include "resize.h"

/* The floor of a narrow place, which is -1 or more; `rest` / by is what the place is beyond that. */
GPU_FN i32 gpu_place_narrow(const struct gpu_position &at, u32 o, u32 *rest) {
    u32 n = o * (u32)at.mul + at.first, further = gpu_divide(n, at.divisor);
    *rest = n - further * at.divisor.d;
    return (i32)further - 1;
}

/* rest / by, rounded once. */
template <typename V> GPU_FN V gpu_place_part(V rest, V by, V inverse) {
    V part = rest * inverse;
    return gpu_fma(gpu_fma(-part, by, rest), inverse, part);
}

/* The floor of the place of element o, which may lie outside the dim, and what it is beyond that. */
GPU_FN i64 gpu_place(const struct gpu_position &at, i64 o, f64 *part) {
    if (gpu_anew(at.scale) > 0) {
        f64 x = ((f64)o + at.offset) / at.scale - at.shift;
        if (x > 4503599627370496.0) x = 4503599627370496.0; /* 2^52 */
        f64 low = gpu_floor(x);
        *part = x - low;
        return (i64)low;
    }
    if (gpu_anew(at.narrow)) {
        u32 rest;
        i32 low = gpu_place_narrow(at, (u32)o, &rest);
        *part = gpu_place_part((f64)rest, (f64)at.divisor.d, at.inverse);
        return low;
    }
    /* The estimate is at most one off, which the remainder tells: exactly, as it wraps. */
    i64 low = (i64)gpu_floor(((f64)o * (f64)at.mul + (f64)at.add) * at.inverse), by = at.by;
    i64 rest = (i64)((u64)o * (u64)at.mul + (u64)at.add - (u64)low * (u64)by);
    if (rest < 0) {
        low--;
        rest += by;
    } else if (rest >= by) {
        low++;
        rest -= by;
    }
    *part = gpu_place_part((f64)rest, (f64)by, at.inverse);
    return low;
}

/* The weight of the element that lies k = -1, 0, 1 or 2 beyond the floor, for a place that lies `part` beyond it: the
 * cubics in factors, which cancel nothing. */
GPU_FN f64 gpu_cubic(f64 part, i64 k) {
    f64 a = k <= 0 ? part : 1 - part, b = k <= 0 ? 1 - part : part;
    return k == 0 || k == 1 ? b * (1 + a - 1.25 * a * a) : -0.75 * a * b * b;
}

#endif
