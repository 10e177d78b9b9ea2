/* Gradients of layer, RMS and group norm. Sums are f64, and their order depends on the shape alone. */
#include "layout.h"
#include "reduce_body.h"
#include "some.h"
#include "wave.h"

#include "normalize_backward.h"

/* N elements of the gradient from number i of a row on get the weights of their channels, the row's first is `channel`. */
template <typename T, int N>
GPU_FN void backward_weigh(const struct gpu_normalize_backward &p, typename gpu_compute<T>::type (&g)[N], i64 i,
                           i64 channel) {
    typedef typename gpu_compute<T>::type C;
    const T *weight = (const T *)p.weight + channel;
    if (!p.weight) return;
    if (p.plane == 1) {
        C w[N];
        gpu_some_load<N>(weight + i, w);
        GPU_UNROLL for (int k = 0; k < N; k++) g[k] *= w[k];
        return;
    }
    GPU_UNROLL for (int k = 0; k < N; k++)
        g[k] *= gpu_up(weight[p.narrow ? (i64)gpu_divide((u32)(i + k), p.by_plane) : (i + k) / p.plane]);
}

/* A row by `group` threads; N elements a time. */
template <typename T, int N> GPU_FN void backward_row(const struct gpu_normalize_backward &p, f64 *room) {
    typedef typename gpu_compute<T>::type C;
    i64 row = reduce_block() * (gpu_threads() / p.group) + gpu_thread() / p.group;
    bool live = row < p.rows;
    if (!live) row = 0;
    i64 n = live ? p.n : 0, step = (i64)p.group * N, channel = row % p.groups * p.per;
    const T *gradient = (const T *)p.gradient + row * p.n, *in = (const T *)p.x + row * p.n;
    T *out = (T *)p.out + row * p.n;
    C mean = p.mean ? ((const C *)p.mean)[row] : (C)0, inverse = ((const C *)p.inverse)[row];
    f64 sum = 0, product = 0;
    GPU_NO_UNROLL for (i64 i = (i64)(gpu_thread() % p.group) * N; i < n; i += step) {
        C g[N], x[N];
        f64 a[N], b[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(in + i, x);
        backward_weigh<T, N>(p, g, i, channel);
        GPU_UNROLL for (int k = 0; k < N; k++) {
            a[k] = (f64)g[k];
            b[k] = (f64)(g[k] * ((x[k] - mean) * inverse));
        }
        sum += gpu_tree<N>::template of<gpu_join_add>(a);
        product += gpu_tree<N>::template of<gpu_join_add>(b);
    }
    C constant = 0, slope = (C)(gpu_group_join<gpu_join_add>(product, p.group, room) / (f64)p.n);
    if (p.mean) constant = (C)(gpu_group_join<gpu_join_add>(sum, p.group, room) / (f64)p.n);
    GPU_NO_UNROLL for (i64 i = (i64)(gpu_thread() % p.group) * N; i < n; i += step) {
        C g[N], x[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(in + i, x);
        backward_weigh<T, N>(p, g, i, channel);
        GPU_UNROLL for (int k = 0; k < N; k++)
            g[k] = inverse * (g[k] - constant - (x[k] - mean) * inverse * slope);
        gpu_some_store<N>(out + i, g);
    }
}

template <typename T> GPU_FN void normalize_backward_rows(const struct gpu_normalize_backward &p) {
    GPU_SHARED f64 room[GPU_WAVES];
    if (reduce_block() * (gpu_threads() / p.group) >= p.rows) return;
    if (p.vectors)
        backward_row<T, gpu_vec<T>::N>(p, room);
    else
        backward_row<T, 1>(p, room);
}

/* A piece of a row whose channels' sums are there: a kernel of its own, beside which that of whole rows keeps its speed. */
template <typename T, int N> GPU_FN void backward_piece(const struct gpu_normalize_backward_pieces &q, f64 *room) {
    const struct gpu_normalize_backward &p = q.of;
    typedef typename gpu_compute<T>::type C;
    i64 item = reduce_block(), row = item / q.pieces, from = (item - row * q.pieces) * q.length;
    i64 to = from + q.length < p.n ? from + q.length : p.n, channels = p.groups * p.per, channel = row % p.groups * p.per;
    const f64 *sums = q.sums + row / p.groups * 2 * channels + channel;
    f64 sum = 0, product = 0;
    GPU_NO_UNROLL for (i64 c = gpu_thread(); c < p.per; c += GPU_BLOCK) {
        f64 w = p.weight ? (f64)gpu_up(((const T *)p.weight)[channel + c]) : 1;
        product += w * sums[c];
        sum += w * sums[channels + c];
    }
    C slope = (C)(gpu_block_join<gpu_join_add>(product, room) / (f64)p.n), constant = 0;
    if (p.mean) constant = (C)(gpu_block_join<gpu_join_add>(sum, room) / (f64)p.n);
    const T *gradient = (const T *)p.gradient + row * p.n, *in = (const T *)p.x + row * p.n;
    T *out = (T *)p.out + row * p.n;
    C mean = p.mean ? ((const C *)p.mean)[row] : (C)0, inverse = ((const C *)p.inverse)[row];
    GPU_NO_UNROLL for (i64 i = from + (i64)gpu_thread() * N; i < to; i += (i64)GPU_BLOCK * N) {
        C g[N], x[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(in + i, x);
        backward_weigh<T, N>(p, g, i, channel);
        GPU_UNROLL for (int k = 0; k < N; k++)
            g[k] = inverse * (g[k] - constant - (x[k] - mean) * inverse * slope);
        gpu_some_store<N>(out + i, g);
    }
}

template <typename T> GPU_FN void normalize_backward_pieces(const struct gpu_normalize_backward_pieces &p) {
    GPU_SHARED f64 room[GPU_WAVES];
    if (reduce_block() >= p.of.rows * p.pieces) return;
    if (p.of.vectors)
        backward_piece<T, gpu_vec<T>::N>(p, room);
    else
        backward_piece<T, 1>(p, room);
}

template <typename T> GPU_FN void normalize_backward_sums(const struct gpu_normalize_backward_sums &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_BLOCK];
    i64 item = reduce_block(), part = item / p.tiles, tile = item - part * p.tiles;
    if (part >= p.parts) return;
    bool points = p.plane == 1;
    u32 lane = gpu_thread() % p.lanes, across = points ? p.lanes : 1;
    i64 channel = points ? tile * p.lanes + lane : tile, to = (part + 1) * p.rows, group = channel / p.per;
    if (to > p.outer) to = p.outer;
    if (channel >= p.channels) to = 0;
    f64 weight = 0, bias = 0;
    GPU_NO_UNROLL for (i64 o = part * p.rows + gpu_thread() / p.lanes; o < to; o += GPU_BLOCK / p.lanes) {
        i64 row = o * p.groups + group, at = (o * p.channels + channel) * p.plane;
        C mean = p.mean ? ((const C *)p.mean)[row] : (C)0, inverse = ((const C *)p.inverse)[row];
        GPU_NO_UNROLL for (i64 i = points ? 0 : lane; i < p.plane; i += p.lanes) {
            C g = gpu_up(((const T *)p.gradient)[at + i]), x = gpu_up(((const T *)p.x)[at + i]);
            weight += (f64)(g * ((x - mean) * inverse));
            bias += (f64)g;
        }
    }
    weight = gpu_columns_join(weight, across, room);
    bias = gpu_columns_join(bias, across, room);
    if (gpu_thread() >= across || channel >= p.channels) return;
    p.sums[part * 2 * p.channels + channel] = weight;
    p.sums[(part * 2 + 1) * p.channels + channel] = bias;
}

template <typename T> GPU_FN void normalize_backward_join(const struct gpu_normalize_backward_join &p) {
    typedef typename gpu_compute<T>::type C;
    i64 channel = (i64)gpu_global();
    if (channel >= p.channels) return;
    f64 weight = 0, bias = 0;
    GPU_NO_UNROLL for (i64 part = 0; part < p.parts; part++) {
        weight += p.sums[part * 2 * p.channels + channel];
        bias += p.sums[(part * 2 + 1) * p.channels + channel];
    }
    ((T *)p.weight)[channel] = gpu_round<T>((C)weight);
    if (p.bias) ((T *)p.bias)[channel] = gpu_round<T>((C)bias);
}

#define NORMALIZE_BACKWARD(T)                                                                                          \
    GPU_KERNEL(normalize_backward_rows_##T, struct gpu_normalize_backward) { normalize_backward_rows<T>(p); }          \
    GPU_KERNEL(normalize_backward_pieces_##T, struct gpu_normalize_backward_pieces) {                                  \
        normalize_backward_pieces<T>(p);                                                                               \
    }                                                                                                                  \
    GPU_KERNEL(normalize_backward_sums_##T, struct gpu_normalize_backward_sums) { normalize_backward_sums<T>(p); }     \
    GPU_KERNEL(normalize_backward_join_##T, struct gpu_normalize_backward_join) { normalize_backward_join<T>(p); }
GPU_FLOATS(NORMALIZE_BACKWARD)
