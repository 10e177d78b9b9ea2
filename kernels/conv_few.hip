/* Convolutions of few channels a group by windows whose planes are of 3 x 3, 5 x 5 and 7 x 7. A thread makes a patch of 4 x 4
 * results of a plane, as for one channel a group (conv_depth.hip), and adds channel after channel of the input, and plane after
 * plane of the windows. */
#include "conv_depth_patch.h"
#include "conv_few.h"
#include "kept.h"

/* The plane of the input that a plane of the window meets, if it is below in_depth. */
GPU_FN u32 few_plane(const struct gpu_conv_few &p, i32 depth, i32 tap) {
    if (!p.transposed) return (u32)(depth * p.stride - p.padding + tap * p.dilation);
    i32 at = depth + p.padding - tap * p.dilation;
    if (p.stride == 1 || at < 0) return (u32)at;
    return at % p.stride == 0 ? (u32)(at / p.stride) : (u32)p.in_depth;
}

/* The products of one plane of a channel of the input: for windows S apart by loads of V elements, for those of a transposed
 * convolution with a stride of 2, and for R channels of the result at once, whose weights are `step` apart. */
template <typename T, int K, int S, int V> struct few_next {
    enum { R = 1, SHIFT = 0, WIDE = V };
    GPU_FN void add(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *weight, u32, const T *plane,
                    f32 (&sum)[1][PATCH][PATCH]) {
        depth_sums<T, K, S, V, false>(p, at, weight, plane, sum[0]);
    }
};
template <typename T, int K, int ODD> struct few_spread {
    enum { R = 1, SHIFT = 1 };
    GPU_FN void add(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *weight, u32, const T *plane,
                    f32 (&sum)[1][PATCH][PATCH]) {
        depth_spread<T, K, ODD>(p, at, weight, plane, sum[0]);
    }
};
template <typename T, int K, int V> struct few_both {
    enum { R = 2, SHIFT = 0, WIDE = V, N = PATCH - 1 + K };
    GPU_FN void add(const struct gpu_conv_depth &p, const struct depth_patch &at, const T *weight, u32 step,
                    const T *plane, f32 (&sum)[R][PATCH][PATCH]) {
        typedef depth_front<K, V> front;
        f32 w[R][K * K];
        GPU_UNROLL for (int m = 0; m < R; m++) depth_weights<T>(weight + (u32)m * step, p.turned, w[m]);
        i32 y = at.row - p.padding[0], x = at.column - (V > 1 ? (i32)front::COUNT : p.padding[1]);
        i32 down = (i32)p.dilation[0].d, across = V > 1 ? 1 : (i32)p.dilation[1].d;
        GPU_UNROLL for (int i = 0; i < N; i++) {
            f32 e[N];
            if (i % 2 == 0) GPU_UNROLL for (int m = 0; m < R; m++) depth_settle(sum[m]);
            depth_line<T, V, front::OFF, false>(plane, p.in_size, y + i * down, x, across, e);
            GPU_UNROLL for (int m = 0; m < R; m++) GPU_UNROLL for (int r = 0; r < PATCH; r++) {
                int a = i - r;
                if (a < 0 || a >= K) continue;
                GPU_UNROLL for (int b = 0; b < K; b++)
                    GPU_UNROLL for (int c = 0; c < PATCH; c++)
                        sum[m][r][c] = gpu_fma(e[c + b], w[m][a * K + b], sum[m][r][c]);
            }
        }
    }
};

/* A patch of R channels of the result: its plane, and of which run of channels of an image, and of all images, that is. */
struct few_patch {
    struct depth_patch at;
    i32 depth;
    u32 run, line;
};

template <typename PLANE> GPU_FN struct few_patch few_patch_of(const struct gpu_conv_few &p, u32 i) {
    struct few_patch r;
    u32 which = gpu_divide(i, p.flat.by_plane);
    r.at = depth_patch_of(p.flat, which, i - which * p.flat.by_plane.d);
    if (PLANE::SHIFT) r.at.row -= p.flat.padding[0] & 1; /* the first row and the padding are even together */
    r.line = gpu_divide(which, p.by_depth);
    r.depth = (i32)(which - r.line * p.by_depth.d);
    r.run = r.line - gpu_divide(r.line, p.flat.by_channels) * p.flat.by_channels.d;
    return r;
}

template <typename T, int K, typename PLANE, int R>
GPU_FN void few_sums(const struct gpu_conv_few &p, u32 i, f32 (&sum)[R][PATCH][PATCH]) {
    const struct gpu_conv_depth &flat = p.flat;
    struct few_patch patch = few_patch_of<PLANE>(p, i);
    u32 group = gpu_divide(patch.run, flat.by_cout), m = (patch.run - group * flat.by_cout.d) * R;
    const T *x = (const T *)flat.x + (i64)(u64)gpu_divide(patch.line, flat.by_cout) * p.cin * p.in_volume;
    u32 weights = group * p.weight_group + m * p.weight_m;
    u32 step = R > 1 && m + 1 < p.cout ? p.weight_m : 0; /* behind the last channel it again, which is not stored */
    GPU_NO_UNROLL for (i32 tap = 0; tap < p.taps; tap++) {
        u32 z = few_plane(p, patch.depth, tap);
        if (z >= (u32)p.in_depth) continue;
        const T *plane = x + (i64)(u64)z * (flat.in_size[0] * flat.in_size[1]);
        u32 weight = weights + (u32)tap * (K * K);
        GPU_NO_UNROLL for (u32 c = 0; c < p.cin; c++) {
            struct depth_patch at = patch.at; /* or AMD would keep from before the loop which elements are there */
            at.row = gpu_anew(at.row);
            at.column = gpu_anew(at.column);
            PLANE::add(flat, at, (const T *)flat.weight + weight, step, plane, sum);
            plane += p.in_volume;
            weight += p.weight_c;
        }
    }
}

/* What the sums belong to is found again, and not in registers meanwhile. */
template <typename T, typename PLANE, int R>
GPU_FN void few_put(const struct gpu_conv_few &p, u32 i, const f32 (&sum)[R][PATCH][PATCH]) {
    struct few_patch patch = few_patch_of<PLANE>(p, gpu_kept(i));
    struct depth_patch at = patch.at;
    u32 group = gpu_divide(patch.run, p.flat.by_cout), m = (patch.run - group * p.flat.by_cout.d) * R;
    at.channel = group * p.cout + m;
    at.plane = (gpu_divide(patch.line, p.flat.by_cout) * p.cout + m) * p.by_depth.d + (u32)patch.depth;
    GPU_UNROLL for (int k = 0; k < R; k++) {
        if (m + (u32)k < p.cout) depth_put<T>(p.flat, at, sum[k]);
        at.plane += p.by_depth.d;
        at.channel++;
    }
}

/* By loads of 4, 2 and 1 elements. */
template <typename T, int K, typename FOURS, typename TWOS, typename ONES> GPU_FN void conv_few(const struct gpu_conv_few &p) {
    enum { R = ONES::R };
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread();
    if (i >= p.flat.patches) return;
    f32 sum[R][PATCH][PATCH];
    GPU_UNROLL for (int m = 0; m < R; m++) depth_clear(sum[m]);
    if (p.flat.wide == 4)
        few_sums<T, K, FOURS>(p, i, sum);
    else if (TWOS::WIDE == 2 && p.flat.wide == 2)
        few_sums<T, K, TWOS>(p, i, sum);
    else
        few_sums<T, K, ONES>(p, i, sum);
    few_put<T, ONES>(p, i, sum);
}

template <typename T, int K> GPU_FN void conv_few_spread(const struct gpu_conv_few &p) {
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread();
    if (i >= p.flat.patches) return;
    f32 sum[1][PATCH][PATCH];
    depth_clear(sum[0]);
    if (p.flat.padding[1] & 1)
        few_sums<T, K, few_spread<T, K, 1>>(p, i, sum);
    else
        few_sums<T, K, few_spread<T, K, 0>>(p, i, sum);
    few_put<T, few_spread<T, K, 0>>(p, i, sum);
}

/* Registers for so many blocks on a unit as have loads enough in flight, and none spilled; SKIP: by windows two apart.
 * Windows of 7 x 7, and windows two apart, have no loads of two elements. */
#define CONV_FEW(T, K, TWO, BLOCKS, SKIP)                                                                              \
    GPU_KERNEL_OF(conv_few##K##_##T, struct gpu_conv_few, GPU_BLOCK, BLOCKS) {                                         \
        conv_few<T, K, few_next<T, K, 1, 4>, few_next<T, K, 1, TWO>, few_next<T, K, 1, 1>>(p);                         \
    }                                                                                                                  \
    GPU_KERNEL_OF(conv_few_skip##K##_##T, struct gpu_conv_few, GPU_BLOCK, SKIP) {                                      \
        conv_few<T, K, few_next<T, K, 2, 4>, few_next<T, K, 2, 1>, few_next<T, K, 2, 1>>(p);                           \
    }                                                                                                                  \
    GPU_KERNEL_OF(conv_few_spread##K##_##T, struct gpu_conv_few, GPU_BLOCK, BLOCKS) { conv_few_spread<T, K>(p); }
CONV_FEW(bf16, 3, 2, 3, 3) CONV_FEW(bf16, 5, 2, 2, 2) CONV_FEW(bf16, 7, 1, 2, 1)
CONV_FEW(f16, 3, 2, 3, 3) CONV_FEW(f16, 5, 2, 2, 2) CONV_FEW(f16, 7, 1, 2, 1)

#define CONV_FEW_BOTH(T)                                                                                               \
    GPU_KERNEL_OF(conv_few_both3_##T, struct gpu_conv_few, GPU_BLOCK, 2) {                                             \
        conv_few<T, 3, few_both<T, 3, 4>, few_both<T, 3, 2>, few_both<T, 3, 1>>(p);                                    \
    }
CONV_FEW_BOTH(bf16) CONV_FEW_BOTH(f16)
