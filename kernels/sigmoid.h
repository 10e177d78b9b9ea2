/* The sigmoid and what is multiplied with it, with their whole tails. e^-x overflows long before e^x is 0, so e^-|x| is
 * computed. Below FAR the sigmoid is e^x itself; it is computed as e^(x + shift), in the middle of the range, and e^-shift
 * comes in two factors of e^-(shift / 2): nothing but the result is rounded to a number near the least. x + shift is
 * exact. */
#ifndef WICK_KERNELS_SIGMOID_H
#define WICK_KERNELS_SIGMOID_H

#include "gpu.h"

template <typename C> struct gpu_far;
template <> struct gpu_far<float> {
    GPU_FN float below(void) { return -80.0f; }
    GPU_FN float shift(void) { return 115.0f; }
    GPU_FN float half(void) { return 1.066761395e-25f; }
};
template <> struct gpu_far<double> {
    GPU_FN double below(void) { return -600; }
    GPU_FN double shift(void) { return 750; }
    GPU_FN double half(void) { return 1.37901594025413882e-163; }
};

template <typename C> GPU_FN C gpu_sigmoid(C x) {
    C e = gpu_exp(-gpu_fabs(x));
    return (x < 0 ? e : (C)1) / (1 + e);
}

/* The result times factor^2 is the sigmoid. */
template <typename C> GPU_FN C gpu_far_sigmoid(C x, C *factor) {
    typedef gpu_far<C> Far;
    bool far = x < Far::below();
    C e = gpu_exp((far ? Far::shift() : (C)0) - gpu_fabs(x));
    *factor = far ? Far::half() : (C)1;
    return (x < 0 ? e : (C)1) / (1 + (far ? (C)0 : e));
}

template <typename C> GPU_FN C gpu_silu(C x) {
    C factor, s = gpu_far_sigmoid(x, &factor);
    return x * s * factor * factor;
}

/* silu(x) b: what is greater than 1 comes first, so that a product near the least is not multiplied up. */
template <typename C> GPU_FN C gpu_silu_by(C x, C b) {
    C factor, s = gpu_far_sigmoid(x, &factor), by = b * factor;
    bool large = gpu_fabs(b) > 1;
    return s * (large ? by : x) * (large ? x : by) * factor;
}

/* x tanh(log(1 + e)) = x e (e + 2) / (e (e + 2) + 2), e = exp x; beyond 40 it is x. */
template <typename C> GPU_FN C gpu_mish(C x) {
    typedef gpu_far<C> Far;
    bool far = x < Far::below();
    C e = gpu_exp((x > 40 ? (C)40 : x) + (far ? Far::shift() : (C)0)), n = e * (e + 2);
    return far ? x * e * Far::half() * Far::half() : x * (n / (n + 2));
}

#endif
