/* What the kernels of matrix products share: types that sums are kept in, the last step on them, and their stores. */
#ifndef WICK_KERNELS_GEMM_COMMON_H
#define WICK_KERNELS_GEMM_COMMON_H

#include "dtype.h"
#include "gemm.h"
#include "layout.h"
#include "sigmoid.h"

/* The type a dtype is multiplied and summed in: integers in unsigned arithmetic, which wraps. */
template <typename T> struct gemm_sum { typedef typename gpu_compute<T>::type type; };
template <> struct gemm_sum<u8> { typedef u32 type; };
template <> struct gemm_sum<i16> { typedef u32 type; };
template <> struct gemm_sum<i32> { typedef u32 type; };
template <> struct gemm_sum<i64> { typedef u64 type; };

GPU_FN f32 gemm_up(bf16 x) { return gpu_up(x); }
GPU_FN f32 gemm_up(f16 x) { return gpu_up(x); }
GPU_FN f32 gemm_up(f8e4m3 x) { return gpu_up(x); }
GPU_FN f32 gemm_up(f32 x) { return x; }
GPU_FN f64 gemm_up(f64 x) { return x; }
GPU_FN u32 gemm_up(u8 x) { return x; }
GPU_FN u32 gemm_up(u32 x) { return x; }
GPU_FN u32 gemm_up(i16 x) { return (u32)x; }
GPU_FN u32 gemm_up(i32 x) { return (u32)x; }
GPU_FN u64 gemm_up(i64 x) { return (u64)x; }

template <typename T> GPU_FN void gemm_down(T *r, u32 x) { *r = (T)x; }
template <typename T> GPU_FN void gemm_down(T *r, u64 x) { *r = (T)x; }
template <typename T> GPU_FN void gemm_down(T *r, f32 x) { gpu_down(r, x); }
template <typename T> GPU_FN void gemm_down(T *r, f64 x) { gpu_down(r, x); }

GPU_FN f32 gemm_mad(f32 a, f32 b, f32 c) { return gpu_fma(a, b, c); }
GPU_FN f64 gemm_mad(f64 a, f64 b, f64 c) { return gpu_fma(a, b, c); }
GPU_FN u32 gemm_mad(u32 a, u32 b, u32 c) { return a * b + c; }
GPU_FN u64 gemm_mad(u64 a, u64 b, u64 c) { return a * b + c; }

/* Four neighbours and two, moved at once where they are aligned. */
template <typename T> struct alignas(4 * sizeof(T)) gemm_quad { T v[4]; };
template <typename T> struct alignas(2 * sizeof(T)) gemm_pair { T v[2]; };

/* Stores the first n of four in as few pieces as their place allows. */
template <typename T> GPU_FN void gemm_put(T *to, u32 n, const gemm_quad<T> &x) {
    u32 off = (u32)(u64)to / sizeof(T) % 4;
    if (n < 4) {
        GPU_UNROLL for (u32 j = 0; j < 3; j++) if (j < n) to[j] = x.v[j];
    } else if (off == 0) {
        *(gemm_quad<T> *)to = x;
    } else if (off == 2) {
        *(gemm_pair<T> *)to = {x.v[0], x.v[1]};
        *(gemm_pair<T> *)(to + 2) = {x.v[2], x.v[3]};
    } else {
        to[0] = x.v[0];
        *(gemm_pair<T> *)(to + 1) = {x.v[1], x.v[2]};
        to[3] = x.v[3];
    }
}

template <typename F> GPU_FN F gemm_activate_float(u32 activation, F x) {
    switch (activation) {
    case GPU_ACTIVATION_RELU: return x < 0 ? (F)0 : x;
    case GPU_ACTIVATION_GELU: return (F)0.5 * x * ((F)1 + gpu_erf(x * (F)0.70710678118654752440));
    case GPU_ACTIVATION_GELU_TANH:
        return (F)0.5 * x * ((F)1 + gpu_tanh((F)0.79788456080286535588 * (x + (F)0.044715 * x * x * x)));
    case GPU_ACTIVATION_SILU: return gpu_silu(x);
    case GPU_ACTIVATION_TANH: return gpu_tanh(x);
    default: return x;
    }
}

/* Bias and activation; integers have neither. `n` says how many of the four are there. */
template <typename T> GPU_FN void gemm_finish(const struct gpu_gemm_out &, i64, i64, u32, gemm_quad<u32> &) {}
template <typename T> GPU_FN void gemm_finish(const struct gpu_gemm_out &, i64, i64, u32, gemm_quad<u64> &) {}
template <typename T, typename F>
GPU_FN void gemm_finish_float(const struct gpu_gemm_out &out, i64 at, i64 column, u32 n, gemm_quad<F> &x) {
    if (out.bias && out.bias_rows) {
        F bias = gemm_up(((const T *)out.bias)[at / out.columns % out.bias_rows * out.bias_step]);
        GPU_UNROLL for (u32 j = 0; j < 4; j++) x.v[j] += bias;
    } else if (out.bias) {
        const T *bias = (const T *)out.bias + column * out.bias_step;
        GPU_UNROLL for (u32 j = 0; j < 4; j++) if (j < n) x.v[j] += gemm_up(bias[j * out.bias_step]);
    }
    if (out.activation == GPU_ACTIVATION_NONE) return;
    if (out.activation == GPU_ACTIVATION_RELU) {
        GPU_UNROLL for (int j = 0; j < 4; j++) x.v[j] = x.v[j] < 0 ? (F)0 : x.v[j];
        return;
    }
    /* One copy of the functions for all four: they turn round through the first place. */
    GPU_NO_UNROLL for (int j = 0; j < 4; j++) {
        F y = gemm_activate_float(out.activation, x.v[0]);
        x.v[0] = x.v[1];
        x.v[1] = x.v[2];
        x.v[2] = x.v[3];
        x.v[3] = y;
    }
}
template <typename T>
GPU_FN void gemm_finish(const struct gpu_gemm_out &out, i64 at, i64 column, u32 n, gemm_quad<f32> &x) {
    gemm_finish_float<T>(out, at, column, n, x);
}
template <typename T>
GPU_FN void gemm_finish(const struct gpu_gemm_out &out, i64 at, i64 column, u32 n, gemm_quad<f64> &x) {
    gemm_finish_float<T>(out, at, column, n, x);
}

/* Stores the first n of four sums, of columns `column` and up, at element `at` of the result. */
template <typename T, typename S>
GPU_FN void gemm_store(const struct gpu_gemm_out &out, i64 at, i64 column, u32 n, gemm_quad<S> x) {
    if (out.partial) {
        gemm_put((S *)out.to + at, n, x);
        return;
    }
    gemm_finish<T>(out, at, column, n, x);
    gemm_quad<T> y;
    GPU_UNROLL for (int j = 0; j < 4; j++) gemm_down(&y.v[j], x.v[j]);
    gemm_put((T *)out.to + at, n, y);
}

/* What a block works on. */
struct gemm_place {
    u32 tile_row, tile_column;
    i64 batch;
    u32 split;
    i64 k0, k1;
    i64 a, b; /* offsets of the batch's matrices */
    i64 to;   /* element of the result where the batch's begins */
};
/* Tile rows that are worked on together, so that what they share of B is still in a cache. */
enum { GEMM_BAND = 8 };
GPU_FN struct gemm_place gemm_locate_block(const struct gpu_gemm &p, u32 block) {
    struct gemm_place at;
    u32 tiles = p.tile_rows * p.tile_columns;
    u32 whole = block / tiles, tile = block - whole * tiles;
    u32 band = tile / (GEMM_BAND * p.tile_columns), rest = tile - band * GEMM_BAND * p.tile_columns;
    u32 height = p.tile_rows - band * GEMM_BAND;
    if (height > GEMM_BAND) height = GEMM_BAND;
    at.tile_column = rest / height;
    at.tile_row = band * GEMM_BAND + rest - at.tile_column * height;
    at.batch = (i64)(whole / p.splits);
    at.split = whole - (u32)at.batch * p.splits;
    at.k0 = (i64)at.split * p.split;
    at.k1 = at.k0 + p.split < p.k ? at.k0 + p.split : p.k;
    gpu_offsets<2> o = gpu_locate<2>((u64)at.batch, p.batch, p.stride);
    at.a = o.at[0];
    at.b = o.at[1];
    at.to = (at.batch + (i64)at.split * p.batch.count) * p.m * p.n;
    return at;
}
GPU_FN struct gemm_place gemm_locate(const struct gpu_gemm &p) { return gemm_locate_block(p, gpu_block_x() + p.first); }

#endif
