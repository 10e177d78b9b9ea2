/* Convolutions whose windows are one element of few channels, so that reading and writing takes longer than arithmetic. A
 * thread makes many channels of E neighbours of a plane; a block's threads have the channels in common, whose weights
 * wait in LDS. */
#include "conv_finish.h"
#include "elementwise.h"

template <typename T, int E> GPU_FN void conv_points(const struct gpu_conv_points &p) {
    enum { CHANNELS = GPU_CONV_POINT_CHANNELS, AHEAD = 4 };
    GPU_SHARED f32 weights[GPU_CONV_POINT_TERMS * CHANNELS];
    const struct gpu_conv &c = p.conv;
    u32 group = gpu_block_y() / p.channel_tiles, channel0 = (gpu_block_y() - group * p.channel_tiles) * CHANNELS;
    u32 cin = (u32)c.cin, channels = (u32)c.cout - channel0;
    const T *weight = (const T *)c.weight + (i64)(u64)group * c.weight_group + (i64)(u64)channel0 * c.weight_m;
    GPU_NO_UNROLL for (u32 i = gpu_thread(); i < cin * CHANNELS; i += GPU_BLOCK) {
        u32 k = i / CHANNELS, j = i - k * CHANNELS;
        weights[i] = j < channels ? gemm_up(weight[(i64)(u64)j * c.weight_m + (i64)(u64)k * c.weight_c]) : 0;
    }
    gpu_sync();
    u32 i = gpu_block_x() * GPU_BLOCK + gpu_thread();
    if (i >= p.results) return;
    u32 image = gpu_divide(i, p.runs);
    i64 place = (i64)(u64)(i - image * p.runs.d) * E, first = (i64)(u64)image * c.groups + group;
    const T *x = (const T *)c.x + first * c.cin * c.in_plane + place;
    f32 sums[CHANNELS * E];
    GPU_UNROLL for (int s = 0; s < CHANNELS * E; s++) sums[s] = 0;
    GPU_NO_UNROLL for (u32 k = 0; k < cin; k += AHEAD) {
        gpu_pack<T, E> v[AHEAD]; /* behind the last channel it again, which is not taken */
        GPU_UNROLL for (int a = 0; a < AHEAD; a++)
            v[a] = gpu_load_pack<T, E>(x + (i64)(u64)(k + (u32)a < cin ? k + (u32)a : cin - 1) * c.in_plane);
        GPU_UNROLL for (int a = 0; a < AHEAD; a++) {
            const f32 *by = weights + (k + (u32)a) * CHANNELS;
            if (k + (u32)a < cin)
                GPU_UNROLL for (int s = 0; s < CHANNELS * E; s++)
                    sums[s] = gemm_mad(by[s / E], gemm_up(v[a].v[s % E]), sums[s]);
        }
    }
    T *out = (T *)c.out + (first * c.cout + channel0) * c.out_plane + place;
    GPU_UNROLL for (int j = 0; j < CHANNELS; j++) {
        gpu_pack<T, E> v;
        if ((u32)j >= channels) continue;
        GPU_UNROLL for (int e = 0; e < E; e++) v.v[e] = conv_finish<T>(c, group * c.cout + channel0 + (u32)j, sums[j * E + e]);
        gpu_store_pack(out + j * c.out_plane, v);
    }
}

#define CONV_POINTS(T)                                                                                                 \
    GPU_KERNEL(conv_points_##T, struct gpu_conv_points) { conv_points<T, 4>(p); }                                      \
    GPU_KERNEL(conv_points_each_##T, struct gpu_conv_points) { conv_points<T, 1>(p); }
CONV_POINTS(bf16) CONV_POINTS(f16) CONV_POINTS(f32)
