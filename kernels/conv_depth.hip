/* Convolutions of one channel a group by windows of 3 x 3, 5 x 5 and 7 x 7, as depthwise layers have. A thread makes a patch
 * of 4 x 4 results of a plane: it reads what their windows cover line by line, each element once, and adds a line to all
 * the results that it belongs to. Neighbours' lines are in the cache. Of small planes of odd
 * width a block takes several, by way of LDS. */
#include "conv_depth_patch.h"

template <typename T> GPU_FN const T *depth_plane(const struct gpu_conv_depth &p, u32 plane) {
    return (const T *)p.x + (i64)(u64)gpu_divide(plane, p.by_cout) * (p.in_size[0] * p.in_size[1]);
}

template <typename T, int K> GPU_FN const T *depth_taps(const struct gpu_conv_depth &p, u32 channel) {
    return (const T *)p.weight + (u64)channel * (K * K);
}

template <typename T, int K, int S> GPU_FN void conv_depth(const struct gpu_conv_depth &p) {
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread(), which = gpu_divide(i, p.by_plane);
    if (i >= p.patches) return;
    struct depth_patch at = depth_patch_of(p, which, i - which * p.by_plane.d);
    f32 sum[PATCH][PATCH];
    depth_clear(sum);
    if (p.wide == 4)
        depth_sums<T, K, S, 4, false>(p, at, depth_taps<T, K>(p, at.channel), depth_plane<T>(p, at.plane), sum);
    else if (p.wide == 2)
        depth_sums<T, K, S, 2, false>(p, at, depth_taps<T, K>(p, at.channel), depth_plane<T>(p, at.plane), sum);
    else
        depth_sums<T, K, S, 1, false>(p, at, depth_taps<T, K>(p, at.channel), depth_plane<T>(p, at.plane), sum);
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
        depth_spread<T, K, 1>(p, at, depth_taps<T, K>(p, at.channel), depth_plane<T>(p, at.plane), sum);
    else
        depth_spread<T, K, 0>(p, at, depth_taps<T, K>(p, at.channel), depth_plane<T>(p, at.plane), sum);
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
    if (there) depth_sums<T, K, 1, 1, true>(p, at, depth_taps<T, K>(p, at.channel), plane, sum);
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
