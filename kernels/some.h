/* One element or a vector of 16 bytes, by one text; and sums over threads that stand in columns. */
#ifndef WICK_KERNELS_SOME_H
#define WICK_KERNELS_SOME_H

#include "dtype.h"

/* N is 1, or gpu_vec<T>::N, whose elements begin at a multiple of 16 bytes. */
template <int N, typename T> GPU_FN void gpu_some_load(const T *x, typename gpu_compute<T>::type (&c)[N]) {
    if (N > 1) {
        gpu_vec<T> v = gpu_load16(x);
        GPU_UNROLL for (int k = 0; k < N; k++) c[k] = gpu_up(v.v[k % gpu_vec<T>::N]);
    } else {
        c[0] = gpu_up(*x);
    }
}
template <int N, typename T> GPU_FN void gpu_some_store(T *out, const typename gpu_compute<T>::type (&c)[N]) {
    if (N > 1) {
        gpu_vec<T> v;
        GPU_UNROLL for (int k = 0; k < N; k++) v.v[k % gpu_vec<T>::N] = gpu_round<T>(c[k]);
        gpu_store16(out, v);
    } else {
        *out = gpu_round<T>(c[0]);
    }
}

/* The sum over all threads of a block of GPU_BLOCK whose numbers are equal modulo `across`, a power of two, in an order
 * that depends on nothing else. Every thread must take part; `room` has GPU_BLOCK values and may be used again at once. */
GPU_FN f64 gpu_columns_join(f64 v, u32 across, f64 *room) {
    room[gpu_thread()] = v;
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = GPU_BLOCK / 2; step >= across; step /= 2) {
        if (gpu_thread() < step) room[gpu_thread()] += room[gpu_thread() + step];
        gpu_sync();
    }
    v = room[gpu_thread() % across];
    gpu_sync();
    return v;
}

#endif
