/* For products of one row by weights after an RMS norm (quantised_stream.hip, gemv.hip), which each block makes for itself:
 * what the row is multiplied with. */
#ifndef WICK_KERNELS_NORMED_H
#define WICK_KERNELS_NORMED_H

#include "wave.h"

/* 1 / sqrt(x), in fewer steps than a root and a division. */
GPU_FN f64 normed_rsqrt(f64 x) {
#if defined(GPU_NVIDIA)
    return ::rsqrt(x);
#else
    return 1.0 / gpu_sqrt(x);
#endif
}

/* From the squares of this thread's part of k numbers, in f64, as those of wick_rms_norm are. */
GPU_FN f32 normed_scale(f64 squares, f64 per, f64 epsilon) {
    enum { WAVES = GPU_BLOCK / GPU_WAVE };
    GPU_SHARED f64 share[WAVES];
    f64 sum = gpu_wave_join<gpu_join_add>(squares);
    if (gpu_lane() == 0) share[gpu_wave()] = sum;
    gpu_sync();
    sum = share[0];
    GPU_UNROLL for (u32 w = 1; w < WAVES; w++) sum += share[w];
    return (f32)normed_rsqrt(gpu_fma(sum, per, epsilon));
}

#endif
