/* Patches of 4 x 4 results of a plane. */
#ifndef WICK_KERNELS_CONV_DEPTH_PATCH_H
#define WICK_KERNELS_CONV_DEPTH_PATCH_H

#include "conv_depth_line.h"

enum { PATCH = GPU_CONV_PATCH };

/* Results of a thread. */
struct depth_patch {
    u32 plane, channel;
    i32 row, column; /* of the first */
};

/* Patch number `rest` of a plane. */
GPU_FN struct depth_patch depth_patch_of(const struct gpu_conv_depth &p, u32 plane, u32 rest) {
    struct depth_patch r;
    u32 line = gpu_divide(rest, p.by_line);
    r.plane = plane;
    r.channel = plane - gpu_divide(plane, p.by_channels) * p.by_channels.d;
    r.row = depth_begin(line, p.dilation[0], PATCH);
    r.column = depth_begin(rest - line * p.by_line.d, p.dilation[1], PATCH);
    return r;
}

/* AMD would keep the places of all taps in scalar registers, of which there are too few; NVIDIA would load both orders. */
template <typename T, int TAPS> GPU_FN void depth_weights(const T *weight, u32 turned, f32 (&w)[TAPS]) {
#if defined(GPU_AMD)
    if (turned) {
        GPU_UNROLL for (int k = 0; k < TAPS; k++) w[k] = gpu_up(weight[TAPS - 1 - k]);
    } else {
        GPU_UNROLL for (int k = 0; k < TAPS; k++) w[k] = gpu_up(weight[k]);
    }
#else
    i32 first = turned ? TAPS - 1 : 0, step = turned ? -1 : 1;
    GPU_UNROLL for (int k = 0; k < TAPS; k++) w[k] = gpu_up(weight[first + k * step]);
#endif
}

/* On AMD, no load below moves up, and no sum is left for later: LLVM would do so until registers spill. */
#if defined(GPU_AMD)
GPU_FN void depth_settle(f32 (&sum)[PATCH][PATCH]) {
    GPU_UNROLL for (int k = 0; k < PATCH * PATCH; k++) asm volatile("" : "+v"(sum[k / PATCH][k % PATCH]));
    asm volatile("" : : : "memory");
}
#else
GPU_FN void depth_settle(f32 (&)[PATCH][PATCH]) {}
#endif

/* Adds the products of a plane and the weights of its taps to the results of a patch whose windows lie S apart; the plane is
 * in LDS, if NEAR says so. */
template <typename T, int K, int S, int V, bool NEAR>
GPU_FN void depth_sums(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *weight, const T *plane,
                       f32 (&sum)[PATCH][PATCH]) {
    enum { N = (PATCH - 1) * S + K };
    typedef depth_front<K, V> front;
    f32 w[K * K];
    depth_weights<T>(weight, p.turned, w);
    i32 y = at.row * S - p.padding[0], x = at.column * S - (V > 1 ? (i32)front::COUNT : p.padding[1]);
    i32 down = S > 1 ? 1 : (i32)p.dilation[0].d, across = S > 1 || V > 1 ? 1 : (i32)p.dilation[1].d;
    GPU_UNROLL for (int i = 0; i < N; i++) {
        f32 e[N];
        if (N > 6 && i % (S == 1 ? 2 : 1) == 0) depth_settle(sum);
        depth_line<T, V, front::OFF, NEAR>(plane, p.in_size, y + i * down, x, across, e);
        GPU_UNROLL for (int r = 0; r < PATCH; r++) {
            int a = i - r * S;
            if (a < 0 || a >= K) continue;
            GPU_UNROLL for (int b = 0; b < K; b++)
                GPU_UNROLL for (int c = 0; c < PATCH; c++) sum[r][c] = gpu_fma(e[c * S + b], w[a * K + b], sum[r][c]);
        }
    }
}

/* Those of a transposed convolution with a stride of 2, where only taps of one parity meet the input. A patch begins
 * where its first row and the padding are even together, and ODD says whether its first column and the padding are not. */
template <typename T, int K, int ODD>
GPU_FN void depth_spread(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *weight, const T *plane,
                         f32 (&sum)[PATCH][PATCH]) {
    enum { N = (K + 3) / 2, ABOVE = K / 2, LEFT = (K - 2 * ODD) / 2 }; /* elements before the middle of the first window */
    f32 w[K * K];
    depth_weights<T>(weight, p.turned, w);
    i32 y = (at.row + p.padding[0]) / 2 - ABOVE, x = (at.column + p.padding[1] - ODD) / 2 - LEFT;
    GPU_UNROLL for (int i = 0; i < N; i++) {
        f32 e[N];
        depth_line<T, 1, 0, false>(plane, p.in_size, y + i, x, 1, e);
        GPU_UNROLL for (int r = 0; r < PATCH; r++) {
            int a = r - 2 * (i - ABOVE);
            if (a < 0 || a >= K) continue;
            GPU_UNROLL for (int b = 0; b < K; b++)
                GPU_UNROLL for (int c = (b + ODD) % 2; c < PATCH; c += 2) {
                    int n = (c + ODD - b + 2 * LEFT) / 2;
                    sum[r][c] = gpu_fma(e[n], w[a * K + b], sum[r][c]);
                }
        }
    }
}

template <typename T> GPU_FN T depth_finish(const struct gpu_conv_depth &p, f32 bias, f32 sum) {
    if (p.bias) sum += bias;
    return gpu_round<T>(p.relu && sum < 0 ? 0 : sum);
}

template <typename T>
GPU_FN void depth_put(const struct gpu_conv_depth &p, const struct depth_patch &at, const f32 (&sum)[PATCH][PATCH]) {
    T *out = (T *)p.out + (i64)(u64)at.plane * (p.out_size[0] * p.out_size[1]);
    f32 bias = p.bias ? gpu_up(((const T *)p.bias)[at.channel]) : 0;
    i32 down = (i32)p.dilation[0].d, across = (i32)p.dilation[1].d, left = p.out_size[1] - at.column;
    GPU_UNROLL for (int r = 0; r < PATCH; r++) {
        i32 row = at.row + r * down;
        if ((u32)row >= (u32)p.out_size[0]) continue;
        T *to = out + (u32)(row * p.out_size[1] + at.column);
        gpu_pack<T, 4> v;
        GPU_UNROLL for (int c = 0; c < PATCH; c++) v.v[c] = depth_finish<T>(p, bias, sum[r][c]);
        if (p.wide_out == 4) {
            gpu_store_pack(to, v);
        } else if (p.wide_out == 2) {
            gpu_pack<T, 2> two = {{v.v[0], v.v[1]}}, more = {{v.v[2], v.v[3]}};
            gpu_store_pack(to, two);
            if (left > 2) gpu_store_pack(to + 2, more);
        } else {
            GPU_UNROLL for (int c = 0; c < PATCH; c++)
                if (c * across < left) to[c * across] = v.v[c];
        }
    }
}

GPU_FN void depth_clear(f32 (&sum)[PATCH][PATCH]) {
    GPU_UNROLL for (int k = 0; k < PATCH * PATCH; k++) sum[k / PATCH][k % PATCH] = 0;
}

#endif
