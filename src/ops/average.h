/* Averages of any number of spatial dims, and the dtype that ops made of others compute in. */
#ifndef WICK_OPS_AVERAGE_H
#define WICK_OPS_AVERAGE_H

#include "ops/dispatch.h"

static inline struct wick_tensor *wick__average(const struct wick_tensor *x, int n, const int64_t *kernel,
                                                const struct wick_pool_options *options) {
    return n == 1   ? wick_avg_pool1d(x, n, kernel, options)
           : n == 2 ? wick_avg_pool2d(x, n, kernel, options)
                    : wick_avg_pool3d(x, n, kernel, options);
}

static inline struct wick_tensor *wick__average_backward(const struct wick_tensor *gradient, int n, const int64_t *size,
                                                         const int64_t *kernel,
                                                         const struct wick_pool_options *options) {
    return n == 1   ? wick_avg_pool1d_backward(gradient, n, size, kernel, options)
           : n == 2 ? wick_avg_pool2d_backward(gradient, n, size, kernel, options)
                    : wick_avg_pool3d_backward(gradient, n, size, kernel, options);
}

/* x in f32, or in f64 where it is f64. */
static inline struct wick_tensor *wick__widen(const struct wick_tensor *x) {
    return wick_cast(x, x && x->dtype == WICK_F64 ? WICK_F64 : WICK_F32);
}

/* x^exponent, by cheaper functions where there are any. */
static inline struct wick_tensor *wick__power(struct wick_tensor *x, double exponent) {
    if (exponent == 1) return x;
    if (exponent == 2) return wick_sqr(x);
    if (exponent == 0.5) return wick_sqrt(x);
    if (exponent == -1) return wick_recip(x);
    return wick_powf(x, exponent);
}

#endif
