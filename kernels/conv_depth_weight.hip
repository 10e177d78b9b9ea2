/* The gradient by the weight of convolutions of one channel a group by windows of 3 x 3, 5 x 5 and 7 x 7, or of as many planes
 * of these as there are taps along the depth. A block takes all taps of a plane of a channel's window over a part of its
 * patches: a thread keeps the sums of all taps, and for a patch reads what its windows cover line by line, each element
 * once. The sums of parts are added in f64, in order (conv_weight_join). */
#include "conv_depth_line.h"
#include "wave.h"

enum { PATCH = GPU_CONV_PATCH };

/* A patch of C columns, in planes of both sides, whose windows lie S apart. */
template <typename T, int K, int S, int C>
GPU_FN void depth_weight_add(const struct gpu_conv_depth_weight &p, const T *small, const T *large, i32 row, i32 column,
                             f32 (&sum)[K * K]) {
    enum { LINES = (PATCH - 1) * S + K, N = (C - 1) * S + K };
    typedef depth_front<K, C> front;
    i32 down = S > 1 ? 1 : (i32)p.dilation[0].d, across = S > 1 || C > 1 ? 1 : (i32)p.dilation[1].d;
    i32 y = row * S - p.padding[0], x = column * S - (C > 1 ? (i32)front::COUNT : p.padding[1]);
    f32 v[PATCH][C];
    GPU_UNROLL for (int r = 0; r < PATCH; r++) depth_line<T, C, 0, false>(small, p.small_size, row + r * down, column, 1, v[r]);
    GPU_UNROLL for (int i = 0; i < LINES; i++) {
        f32 e[N];
        depth_line<T, C, front::OFF, false>(large, p.large_size, y + i * down, x, across, e);
        GPU_UNROLL for (int r = 0; r < PATCH; r++) {
            int a = i - r * S;
            if (a < 0 || a >= K) continue;
            /* Rows that aren't there are 0, but an element that they would meet may be infinite. */
            if (row + r * down >= p.small_size[0]) continue;
            GPU_UNROLL for (int c = 0; c < C; c++)
                GPU_UNROLL for (int b = 0; b < K; b++) sum[a * K + b] = gpu_fma(v[r][c], e[c * S + b], sum[a * K + b]);
        }
    }
}

template <typename T, int K, int S, int C>
GPU_FN void depth_weight_sums(const struct gpu_conv_depth_weight &p, u32 channel, u32 tap, u32 part, f32 (&sum)[K * K]) {
    u32 first = part * p.part, end = first + p.part < p.patches ? first + p.part : p.patches;
    u32 group = gpu_divide(channel, p.by_rows), groups = gpu_divide(p.channels, p.by_rows);
    u32 small_plane = (u32)(p.small_size[0] * p.small_size[1]), large_plane = (u32)(p.large_size[0] * p.large_size[1]);
    GPU_NO_UNROLL for (u32 i = first + gpu_thread(); i < end; i += GPU_BLOCK) {
        u32 plane = gpu_divide(i, p.by_plane), rest = i - plane * p.by_plane.d, line = gpu_divide(rest, p.by_line);
        u32 image = gpu_divide(plane, p.small_depth), depth = plane - image * p.small_depth.d;
        i32 z = (i32)depth * p.depth_stride - p.depth_padding + (i32)tap * p.depth_dilation;
        if ((u32)z >= (u32)p.large_depth) continue;
        i32 row = depth_begin(line, p.dilation[0], PATCH), column = depth_begin(rest - line * p.by_line.d, p.dilation[1], C);
        const T *small = (const T *)p.small + (u64)((image * p.channels + channel) * p.small_depth.d + depth) * small_plane;
        const T *large = (const T *)p.large + (u64)((image * groups + group) * (u32)p.large_depth + (u32)z) * large_plane;
        depth_weight_add<T, K, S, C>(p, small, large, row, column, sum);
    }
}

template <typename T, int K, int S> GPU_FN void conv_depth_weight(const struct gpu_conv_depth_weight &p) {
    enum { TAPS = K * K, N = TAPS <= 16 ? 16 : 32 };
    GPU_SHARED f64 room[N * GPU_BLOCK / GPU_WAVE];
    i64 item = (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x();
    u32 planes = p.channels * p.by_taps.d; /* of the result */
    if (item >= (i64)(u64)planes * p.parts) return;
    u32 part = (u32)item / planes, plane = (u32)item - part * planes;
    u32 channel = gpu_divide(plane, p.by_taps), tap = plane - channel * p.by_taps.d;
    f32 sum[TAPS];
    GPU_UNROLL for (int k = 0; k < TAPS; k++) sum[k] = 0;
    if (p.columns == 4)
        depth_weight_sums<T, K, S, 4>(p, channel, tap, part, sum);
    else if (p.columns == 2)
        depth_weight_sums<T, K, S, 2>(p, channel, tap, part, sum);
    else
        depth_weight_sums<T, K, S, 1>(p, channel, tap, part, sum);
    GPU_UNROLL for (int from = 0; from < TAPS; from += N) {
        f64 some[N];
        GPU_UNROLL for (int k = 0; k < N; k++) some[k] = from + k < TAPS ? (f64)sum[from + k < TAPS ? from + k : 0] : 0;
        if (from > 0) gpu_sync();
        f32 v = (f32)gpu_block_join_each<gpu_join_add, N>(some, room);
        u32 t = gpu_thread();
        if (t >= N || from + t >= TAPS) continue;
        i64 to = (i64)(u64)plane * TAPS + from + t;
        if (p.parts == 1)
            ((T *)p.out)[to] = gpu_round<T>(v);
        else
            ((f32 *)p.sums)[part * p.count + to] = v;
    }
}

/* Two blocks on a unit where windows leave them registers. */
#define CONV_DEPTH_BLOCKS(T, K, S) ((K) == 3 || ((K) == 5 && sizeof(T) * (S) < 8) ? 2 : 1)
#define CONV_DEPTH_WEIGHT(T, K)                                                                                        \
    GPU_KERNEL_OF(conv_depth_weight##K##_##T, struct gpu_conv_depth_weight, GPU_BLOCK, CONV_DEPTH_BLOCKS(T, K, 1)) {    \
        conv_depth_weight<T, K, 1>(p);                                                                                 \
    }                                                                                                                  \
    GPU_KERNEL_OF(conv_skip_weight##K##_##T, struct gpu_conv_depth_weight, GPU_BLOCK, CONV_DEPTH_BLOCKS(T, K, 2)) {     \
        conv_depth_weight<T, K, 2>(p);                                                                                 \
    }
#define CONV_DEPTH_WEIGHTS(T) CONV_DEPTH_WEIGHT(T, 3) CONV_DEPTH_WEIGHT(T, 5) CONV_DEPTH_WEIGHT(T, 7)
CONV_DEPTH_WEIGHTS(bf16) CONV_DEPTH_WEIGHTS(f16) CONV_DEPTH_WEIGHTS(f32)
