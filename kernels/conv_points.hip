/* Convolutions whose windows are one element of few channels, so that reading and writing takes longer than arithmetic. A
 * thread makes many channels of E neighbours of a plane; a block's threads have the channels in common, whose weights
 * wait in LDS. Transposed convolutions with strides are that, and a copy of its results to where they belong. */
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

/* ---- results a stride apart ---- */

/* A row of the result: where the row of products begins that it meets, how many of those there are, and what other elements
 * of it are. */
struct apart_row {
    u32 from, count;
    f32 fill;
};

template <typename T> GPU_FN struct apart_row apart_row_of(const struct gpu_conv_apart &p, u32 row) {
    struct apart_row r;
    u32 line = gpu_divide(row, p.out_size[1]), plane = gpu_divide(line, p.out_size[0]);
    u32 h = row - line * p.out_size[1].d + p.padding[1], d = line - plane * p.out_size[0].d + p.padding[0];
    u32 y = gpu_divide(h, p.stride[1]), z = gpu_divide(d, p.stride[0]);
    bool meets = y * p.stride[1].d == h && y < p.in[1] && z * p.stride[0].d == d && z < p.in[0];
    r.from = ((plane * p.in[0] + z) * p.in[1] + y) * p.in[2];
    r.count = meets ? p.in[2] : 0;
    r.fill = p.bias ? gpu_up(((const T *)p.bias)[plane - gpu_divide(plane, p.channels) * p.channels.d]) : 0;
    if (p.relu && r.fill < 0) r.fill = 0;
    return r;
}

/* A thread makes E neighbours, which belong to one row or two. */
template <typename T, int E> GPU_FN void conv_apart(const struct gpu_conv_apart &p) {
    u32 i = (gpu_block_x() * GPU_BLOCK + gpu_thread()) * E;
    if (i >= p.count) return;
    u32 row = gpu_divide(i, p.out_size[2]), w = i - row * p.out_size[2].d, left = p.out_size[2].d - w;
    struct apart_row one = apart_row_of<T>(p, row), two = one;
    if (left < E && left < p.count - i) two = apart_row_of<T>(p, row + 1);
    T fill = gpu_round<T>(one.fill), fill_two = gpu_round<T>(two.fill);
    gpu_pack<T, E> v;
    GPU_UNROLL for (u32 e = 0; e < E; e++) {
        bool next = e >= left;
        u32 at = p.padding[2] + e + (next ? 0 - left : w), x = gpu_divide(at, p.stride[2]);
        v.v[e] = fill;
        if (next) v.v[e] = fill_two;
        if (x * p.stride[2].d == at && x < (next ? two.count : one.count))
            v.v[e] = ((const T *)p.products)[(next ? two.from : one.from) + x];
    }
    T *out = (T *)p.out + i;
    if (E <= p.count - i)
        gpu_store_pack(out, v);
    else
        GPU_UNROLL for (u32 e = 0; e < E; e++) if (e < p.count - i) out[e] = v.v[e];
}

#define CONV_POINTS(T)                                                                                                 \
    GPU_KERNEL(conv_points_##T, struct gpu_conv_points) { conv_points<T, 4>(p); }                                      \
    GPU_KERNEL(conv_points_each_##T, struct gpu_conv_points) { conv_points<T, 1>(p); }                            \
    GPU_KERNEL(conv_apart_##T, struct gpu_conv_apart) { conv_apart<T, gpu_vec<T>::N>(p); }                             \
    GPU_KERNEL(conv_apart_each_##T, struct gpu_conv_apart) { conv_apart<T, 1>(p); }
CONV_POINTS(bf16) CONV_POINTS(f16) CONV_POINTS(f32)
