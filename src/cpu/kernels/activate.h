/* Activations of layers on vectors of f32, for the last step of products. For kernel files. */
#ifndef WICK_CPU_KERNELS_ACTIVATE_H
#define WICK_CPU_KERNELS_ACTIVATE_H

#include "cpu/kernels/vmath.h"

#include <wick/linalg.h>

static inline __attribute__((always_inline)) void wick__activate(enum wick_activation activation, wick__vf *x,
                                                                 int vectors) {
    const float half_root = 0.70710678118654752f, tanh_scale = 0.79788456080286536f;
    switch (activation) {
    case WICK_ACTIVATION_RELU: {
        float *one = (float *)x;
        for (int i = 0; i < vectors * WICK__VF; i++) one[i] = one[i] < 0 ? 0 : one[i];
        break;
    }
    case WICK_ACTIVATION_GELU:
        for (int v = 0; v < vectors; v++) x[v] = 0.5f * x[v] * (1.0f + wick__vf_erf(x[v] * half_root));
        break;
    case WICK_ACTIVATION_GELU_TANH:
        for (int v = 0; v < vectors; v++)
            x[v] = 0.5f * x[v] * (1.0f + WICK__VF_FN(tanh, u10)(tanh_scale * (x[v] + 0.044715f * x[v] * x[v] * x[v])));
        break;
    case WICK_ACTIVATION_SILU:
        for (int v = 0; v < vectors; v++) x[v] = wick__vf_silu(x[v]);
        break;
    case WICK_ACTIVATION_TANH:
        for (int v = 0; v < vectors; v++) x[v] = WICK__VF_FN(tanh, u10)(x[v]);
        break;
    case WICK_ACTIVATION_NONE:
    case WICK_ACTIVATION_COUNT: break;
    }
}

#endif
