/* Convolutions of one channel a group by windows of 3 x 3, 5 x 5 and 7 x 7, as depthwise layers have. A thread makes a patch
 * of 4 x 4 results of a plane: it reads what their windows cover line by line, each element once, and adds a line to all
 * the results that it belongs to. Neighbours' lines are in the cache. Of small planes of odd
 * width a block takes several, by way of LDS. */
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

template <typename T> GPU_FN const T *depth_plane(const struct gpu_conv_depth &p, u32 plane) {
    return (const T *)p.x + (i64)(u64)gpu_divide(plane, p.by_cout) * (p.in_size[0] * p.in_size[1]);
}

/* AMD would keep the places of all taps in scalar registers, of which there are too few; NVIDIA would load both orders. */
template <typename T, int TAPS> GPU_FN void depth_weights(const struct gpu_conv_depth &p, u32 channel, f32 (&w)[TAPS]) {
    const T *weight = (const T *)p.weight + (u64)channel * TAPS;
#if defined(GPU_AMD)
    if (p.turned) {
        GPU_UNROLL for (int k = 0; k < TAPS; k++) w[k] = gpu_up(weight[TAPS - 1 - k]);
    } else {
        GPU_UNROLL for (int k = 0; k < TAPS; k++) w[k] = gpu_up(weight[k]);
    }
#else
    i32 first = p.turned ? TAPS - 1 : 0, step = p.turned ? -1 : 1;
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

/* The results of a patch whose windows lie S apart; the plane is in LDS at `near`, if NEAR says so. */
template <typename T, int K, int S, int V, bool NEAR>
GPU_FN void depth_sums(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *near,
                       f32 (&sum)[PATCH][PATCH]) {
    enum { N = (PATCH - 1) * S + K };
    typedef depth_front<K, V> front;
    f32 w[K * K];
    depth_weights<T>(p, at.channel, w);
    const T *plane = NEAR ? near : depth_plane<T>(p, at.plane);
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
GPU_FN void depth_spread(const struct gpu_conv_depth &p, const struct depth_patch &at, f32 (&sum)[PATCH][PATCH]) {
    enum { N = (K + 3) / 2, ABOVE = K / 2, LEFT = (K - 2 * ODD) / 2 }; /* elements before the middle of the first window */
    f32 w[K * K];
    depth_weights<T>(p, at.channel, w);
    const T *plane = depth_plane<T>(p, at.plane);
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

template <typename T, int K, int S> GPU_FN void conv_depth(const struct gpu_conv_depth &p) {
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread(), which = gpu_divide(i, p.by_plane);
    if (i >= p.patches) return;
    struct depth_patch at = depth_patch_of(p, which, i - which * p.by_plane.d);
    const T *none = (const T *)0;
    f32 sum[PATCH][PATCH];
    depth_clear(sum);
    if (p.wide == 4)
        depth_sums<T, K, S, 4, false>(p, at, none, sum);
    else if (p.wide == 2)
        depth_sums<T, K, S, 2, false>(p, at, none, sum);
    else
        depth_sums<T, K, S, 1, false>(p, at, none, sum);
    depth_put<T>(p, at, sum);
}

template <typename T, int K> GPU_FN void conv_spread(const struct gpu_conv_depth &p) {
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread(), which = gpu_divide(i, p.by_plane);
    if (i >= p.patches) return;
    struct depth_patch at = depth_patch_of(p, which, i - which * p.by_plane.d);
    at.row -= p.padding[0] & 1;
    f32 sum[PATCH][PATCH];
    depth_clear(sum);
    if (p.padding[1] & 1)
        depth_spread<T, K, 1>(p, at, sum);
    else
        depth_spread<T, K, 0>(p, at, sum);
    depth_put<T>(p, at, sum);
}

/* ---- small planes of odd width, several a block: read and written as they lie together, by way of LDS ---- */

/* `count` elements from or to a multiple of 16 bytes. */
template <typename T> GPU_FN void near_take(T *room, const T *x, u32 count) {
    enum { N = gpu_vec<T>::N };
    u32 vectors = count / N;
    GPU_NO_UNROLL for (u32 v = gpu_thread(); v < vectors; v += GPU_BLOCK) *(gpu_vec<T> *)(room + v * N) = gpu_load16(x + v * N);
    u32 rest = vectors * N + gpu_thread();
    if (rest < count) room[rest] = x[rest];
}
template <typename T> GPU_FN void near_give(T *out, const T *room, u32 count) {
    enum { N = gpu_vec<T>::N };
    u32 vectors = count / N;
    GPU_NO_UNROLL for (u32 v = gpu_thread(); v < vectors; v += GPU_BLOCK)
        gpu_store16(out + v * N, *(const gpu_vec<T> *)(room + v * N));
    u32 rest = vectors * N + gpu_thread();
    if (rest < count) out[rest] = room[rest];
}

template <typename T, int K> GPU_FN void conv_near(const struct gpu_conv_depth &p) {
    GPU_SHARED gpu_vec<T> room_[GPU_CONV_NEAR / gpu_vec<T>::N];
    T *room = room_->v;
    u32 first = gpu_block_x() * p.near, count = p.planes - first < p.near ? p.planes - first : p.near;
    u32 in_plane = (u32)(p.in_size[0] * p.in_size[1]), out_plane = (u32)(p.out_size[0] * p.out_size[1]);
    u32 which = gpu_divide(gpu_thread(), p.by_plane);
    bool there = which < count;
    struct depth_patch at = depth_patch_of(p, first + (there ? which : 0), gpu_thread() - which * p.by_plane.d);
    f32 sum[PATCH][PATCH];
    depth_clear(sum);
    near_take(room, (const T *)p.x + (i64)(u64)first * in_plane, count * in_plane);
    gpu_sync();
    const T *plane = room + (there ? which : 0) * in_plane;
    if (there) depth_sums<T, K, 1, 1, true>(p, at, plane, sum);
    gpu_sync();
    if (there) {
        f32 bias = p.bias ? gpu_up(((const T *)p.bias)[at.channel]) : 0;
        GPU_UNROLL for (int r = 0; r < PATCH; r++) {
            i32 row = at.row + r * (i32)p.dilation[0].d;
            GPU_UNROLL for (int c = 0; c < PATCH; c++) {
                i32 column = at.column + c * (i32)p.dilation[1].d;
                if (row < p.out_size[0] && column < p.out_size[1])
                    room[which * out_plane + (u32)(row * p.out_size[1] + column)] = depth_finish<T>(p, bias, sum[r][c]);
            }
        }
    }
    gpu_sync();
    near_give((T *)p.out + (i64)(u64)first * out_plane, room, count * out_plane);
}

/* Registers for so many blocks on a unit as have loads enough in flight, and none spilled. */
#define CONV_DEPTH(T, K, BLOCKS)                                                                                       \
    GPU_KERNEL_OF(conv_depth##K##_##T, struct gpu_conv_depth, GPU_BLOCK, BLOCKS) { conv_depth<T, K, 1>(p); }           \
    GPU_KERNEL_OF(conv_skip##K##_##T, struct gpu_conv_depth, GPU_BLOCK, BLOCKS) { conv_depth<T, K, 2>(p); }            \
    GPU_KERNEL_OF(conv_spread##K##_##T, struct gpu_conv_depth, GPU_BLOCK, BLOCKS) { conv_spread<T, K>(p); }            \
    GPU_KERNEL_OF(conv_near##K##_##T, struct gpu_conv_depth, GPU_BLOCK, BLOCKS) { conv_near<T, K>(p); }
CONV_DEPTH(bf16, 3, 3) CONV_DEPTH(bf16, 5, 2) CONV_DEPTH(bf16, 7, 2)
CONV_DEPTH(f16, 3, 3) CONV_DEPTH(f16, 5, 2) CONV_DEPTH(f16, 7, 2)
CONV_DEPTH(f32, 3, 3) CONV_DEPTH(f32, 5, 2) CONV_DEPTH(f32, 7, 1)
