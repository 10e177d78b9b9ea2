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

/* Leaves the squares of this thread's part of k numbers with those of its wave. They are in f64, as those of wick_rms_norm
 * are. Behind a gpu_sync() all threads know the factor (normed_by). */
GPU_FN void normed_leave(f64 squares, f64 *share) {
    f64 sum = gpu_wave_join<gpu_join_add>(squares);
    if (gpu_lane() == 0) share[gpu_wave()] = sum;
}
GPU_FN f32 normed_by(const f64 *share, f64 per, f64 epsilon) {
    f64 sum = share[0];
    GPU_UNROLL for (u32 w = 1; w < GPU_BLOCK / GPU_WAVE; w++) sum += share[w];
    return (f32)normed_rsqrt(gpu_fma(sum, per, epsilon));
}
GPU_FN f32 normed_scale(f64 squares, f64 per, f64 epsilon) {
    GPU_SHARED f64 share[GPU_BLOCK / GPU_WAVE];
    normed_leave(squares, share);
    gpu_sync();
    return normed_by(share, per, epsilon);
}

#endif
