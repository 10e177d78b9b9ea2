/* What norms make of a mean and a variance. */
#ifndef WICK_KERNELS_NORMALIZE_MOMENTS_H
#define WICK_KERNELS_NORMALIZE_MOMENTS_H

#include "reduce_body.h"

/* What a row is normalised by: (x pre - high - low) scale. The mean is in two parts, so that no digit of it is lost where
 * elements are large and lie close together. pre is a power of two, 1 unless differences or scale would leave C's range. */
template <typename C> struct normalize_moments {
    C high, low, scale, pre;
};

/* Of the mean and, with epsilon, the variance of x times `scaled`; the scale is times `weight`. */
GPU_FN normalize_moments<f32> normalize_by(f64 mean, f64 variance, f32, f64 weight) {
    normalize_moments<f32> m;
    f64 root = gpu_sqrt(variance) / weight, size = gpu_fabs(root);
    m.pre = size > 1.2e30 ? 5.421010862e-20f : size < 7.8e-31 ? 1.844674407e19f : 1.0f; /* 2^100, 2^-64; 2^-100, 2^64 */
    m.high = (f32)mean;
    m.low = (f32)(mean - (f64)m.high) * m.pre;
    m.high *= m.pre;
    m.scale = (f32)(1 / (root * (f64)m.pre));
    return m;
}
GPU_FN normalize_moments<f64> normalize_by(f64 mean, f64 variance, f64 scaled, f64 weight) {
    normalize_moments<f64> m = {mean, 0, weight / gpu_sqrt(variance), scaled};
    return m;
}

template <typename C> GPU_FN C normalize_apart(const normalize_moments<C> &m, C x) {
    return gpu_fma(x, m.pre, -m.high) - m.low;
}

/* What f64 is multiplied with before it is squared: a power of two that brings `most` near 2^300, as far as epsilon times
 * its square stays in range. f64 can hold the squares of the others. */
GPU_FN f32 normalize_scaled(f32, f64) { return 1; }
GPU_FN f64 normalize_scaled(f64 most, f64 epsilon) {
    i32 exponent = 1323 - (i32)(gpu_bits<u64>(most) >> 52), limit = (1023 - (i32)(gpu_bits<u64>(epsilon) >> 52)) / 2;
    if (!reduce_finite(most) || most == 0) return 1;
    if (epsilon > 0 && exponent > limit) exponent = limit;
    exponent = exponent > 1022 ? 1022 : exponent < -1022 ? -1022 : exponent;
    return gpu_bits<f64>((u64)(1023 + exponent) << 52);
}

/* The variance with epsilon of x times `scaled`, by which the mean is multiplied too; not centered, the mean square.
 * root is that of the mean of squared distances to the mean. */
GPU_FN f64 normalize_variance(f64 &mean, f64 root, f64 scaled, bool centered, f64 epsilon) {
    mean *= scaled;
    root *= scaled;
    f64 variance = centered ? root * root : root * root + mean * mean;
    return variance + epsilon * scaled * scaled;
}

#endif
