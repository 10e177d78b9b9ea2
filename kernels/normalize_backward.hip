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
    enum { ACROSS = GPU_NORMALIZE_JOIN, DOWN = GPU_BLOCK / ACROSS };
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_BLOCK];
    i64 channel = (i64)gpu_block_x() * ACROSS + gpu_thread() % ACROSS;
    f64 weight = 0, bias = 0;
    GPU_NO_UNROLL for (i64 part = gpu_thread() / ACROSS; part < p.parts && channel < p.channels; part += DOWN) {
        weight += p.sums[part * 2 * p.channels + channel];
        bias += p.sums[(part * 2 + 1) * p.channels + channel];
    }
    weight = gpu_columns_join(weight, ACROSS, room);
    bias = gpu_columns_join(bias, ACROSS, room);
    if (gpu_thread() >= ACROSS || channel >= p.channels) return;
    ((T *)p.weight)[channel] = gpu_round<T>((C)weight);
    if (p.bias) ((T *)p.bias)[channel] = gpu_round<T>((C)bias);
}

/* ---- planes that begin anywhere: vectors at multiples of 16 bytes, and single elements before and after them ---- */

/* Elements from .. to - 1 of the planes of one channel, in first .. last - 1 of outer. */
struct backward_part {
    i64 number, channel, first, last, from, to;
};
GPU_FN backward_part backward_find(const struct gpu_normalize_backward_planes &p, i64 item) {
    backward_part s = {0, 0, 0, 0, 0, 0}; /* nothing, behind the last item */
    if (item < 0 || item >= p.parts * p.channels) return s;
    s.number = item / p.channels;
    s.channel = item - s.number * p.channels;
    i64 image = p.pieces == 1 ? s.number : s.number / p.pieces;
    s.first = image * p.rows;
    s.last = s.first + p.rows < p.outer ? s.first + p.rows : p.outer;
    s.from = (s.number - image * p.pieces) * p.length;
    s.to = s.from + p.length < p.plane ? s.from + p.length : p.plane;
    return s;
}

/* The n elements of a part in one of outer: where they begin, how many stand before the first vector, and how many are
 * in vectors. */
struct backward_run {
    i64 at, row, n, head, body;
};
template <typename T>
GPU_FN backward_run backward_place(const struct gpu_normalize_backward_planes &p, const backward_part &s, i64 o) {
    enum { N = gpu_vec<T>::N };
    backward_run r;
    r.at = (o * p.channels + s.channel) * p.plane + s.from;
    r.row = p.batch ? s.channel : o * p.groups + s.channel / p.per;
    r.n = s.to - s.from;
    r.head = (i64)((16 - ((u64)((const T *)p.x + r.at) & 15)) % 16 / sizeof(T));
    if (r.head > r.n || !p.alike) r.head = r.n;
    r.body = (r.n - r.head) / N * N;
    return r;
}

template <int N, typename T, typename C>
GPU_FN void backward_add(const T *gradient, const T *in, C mean, C inverse, f64 &sum, f64 &product) {
    C g[N], x[N];
    f64 a[N], b[N];
    gpu_some_load<N>(gradient, g);
    gpu_some_load<N>(in, x);
    GPU_UNROLL for (int k = 0; k < N; k++) {
        a[k] = (f64)g[k];
        b[k] = (f64)(g[k] * ((x[k] - mean) * inverse));
    }
    sum += gpu_tree<N>::template of<gpu_join_add>(a);
    product += gpu_tree<N>::template of<gpu_join_add>(b);
}

template <typename T> GPU_FN void normalize_backward_plane_sums(const struct gpu_normalize_backward_planes &p) {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_WAVES];
    u32 lane = gpu_thread() % p.group, per_block = gpu_threads() / p.group;
    i64 item = reduce_block() * per_block + gpu_thread() / p.group;
    if (reduce_block() * per_block >= p.parts * p.channels) return;
    backward_part s = backward_find(p, item);
    f64 sum = 0, product = 0;
    GPU_NO_UNROLL for (i64 o = s.first; o < s.last; o++) {
        backward_run r = backward_place<T>(p, s, o);
        const T *gradient = (const T *)p.gradient + r.at, *x = (const T *)p.x + r.at;
        C mean = ((const C *)p.mean)[r.row], inverse = ((const C *)p.inverse)[r.row];
        GPU_NO_UNROLL for (i64 i = r.head + lane * N; i < r.head + r.body; i += (i64)p.group * N)
            backward_add<N>(gradient + i, x + i, mean, inverse, sum, product);
        GPU_NO_UNROLL for (i64 k = lane; k < r.n - r.body; k += p.group) {
            i64 i = k < r.head ? k : k + r.body;
            backward_add<1>(gradient + i, x + i, mean, inverse, sum, product);
        }
    }
    product = gpu_group_join<gpu_join_add>(product, p.group, room);
    sum = gpu_group_join<gpu_join_add>(sum, p.group, room);
    if (lane > 0 || s.last == 0) return;
    p.sums[s.number * 2 * p.channels + s.channel] = product;
    p.sums[(s.number * 2 + 1) * p.channels + s.channel] = sum;
}

/* What the elements that were normalised together with a part share. */
template <typename C> struct backward_shared {
    C weight, constant, slope;
};
template <typename T, typename C>
GPU_FN backward_shared<C> backward_share(const struct gpu_normalize_backward_planes &p, const backward_part &s,
                                         u32 lane, f64 *room) {
    i64 part = p.batch ? 0 : s.number / p.pieces * p.pieces, channel = s.channel / p.per * p.per;
    const T *weight = (const T *)p.weight;
    backward_shared<C> r = {weight ? gpu_up(weight[s.channel]) : (C)1, 0, 0};
    f64 sum = 0, product = 0;
    GPU_NO_UNROLL for (i64 k = lane; k < p.joined * p.per; k += p.group) {
        i64 j = p.per == 1 ? k : k / p.per, c = channel + k - j * p.per;
        const f64 *sums = p.sums + (part + j) * 2 * p.channels + c;
        f64 w = weight && !p.batch ? (f64)gpu_up(weight[c]) : 1;
        product += w * sums[0];
        sum += w * sums[p.channels];
    }
    product = gpu_group_join<gpu_join_add>(product, p.group, room);
    sum = gpu_group_join<gpu_join_add>(sum, p.group, room);
    if (p.batch && lane == 0 && s.last > 0 && s.first == 0 && s.from == 0) {
        if (p.weight_out) ((T *)p.weight_out)[s.channel] = gpu_round<T>((C)product);
        if (p.bias_out) ((T *)p.bias_out)[s.channel] = gpu_round<T>((C)sum);
    }
    f64 scale = (p.batch ? (f64)r.weight : 1) / (f64)p.n;
    r.slope = (C)(product * scale);
    r.constant = (C)(sum * scale);
    return r;
}

template <int N, typename T, typename C>
GPU_FN void backward_put(const T *gradient, const T *in, T *out, C mean, C inverse, const backward_shared<C> &s) {
    C g[N], x[N];
    gpu_some_load<N>(gradient, g);
    gpu_some_load<N>(in, x);
    GPU_UNROLL for (int k = 0; k < N; k++)
        g[k] = inverse * (g[k] * s.weight - s.constant - (x[k] - mean) * inverse * s.slope);
    gpu_some_store<N>(out, g);
}

/* The parts come in reverse order: what was read last for the sums may still be in a cache. */
template <typename T> GPU_FN void normalize_backward_planes(const struct gpu_normalize_backward_planes &p) {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_WAVES];
    u32 lane = gpu_thread() % p.group, per_block = gpu_threads() / p.group;
    i64 items = p.parts * p.channels, item = reduce_block() * per_block + gpu_thread() / p.group;
    if (reduce_block() * per_block >= items) return;
    backward_part s = backward_find(p, items - 1 - item);
    backward_shared<C> shared = backward_share<T, C>(p, s, lane, room);
    GPU_NO_UNROLL for (i64 o = s.first; o < s.last; o++) {
        backward_run r = backward_place<T>(p, s, o);
        const T *gradient = (const T *)p.gradient + r.at, *x = (const T *)p.x + r.at;
        T *out = (T *)p.out + r.at;
        C mean = ((const C *)p.mean)[r.row], inverse = ((const C *)p.inverse)[r.row];
        GPU_NO_UNROLL for (i64 i = r.head + lane * N; i < r.head + r.body; i += (i64)p.group * N)
            backward_put<N>(gradient + i, x + i, out + i, mean, inverse, shared);
        GPU_NO_UNROLL for (i64 k = lane; k < r.n - r.body; k += p.group) {
            i64 i = k < r.head ? k : k + r.body;
            backward_put<1>(gradient + i, x + i, out + i, mean, inverse, shared);
        }
    }
}

/* Blocks on a unit at a time, at least: enough loads in flight. */
#define PLANES(T) (sizeof(T) >= 4 ? 5 : sizeof(T) == 2 ? 4 : 3)

#define NORMALIZE_BACKWARD(T)                                                                                          \
    GPU_KERNEL(normalize_backward_rows_##T, struct gpu_normalize_backward) { normalize_backward_rows<T>(p); }          \
    GPU_KERNEL(normalize_backward_pieces_##T, struct gpu_normalize_backward_pieces) {                                  \
        normalize_backward_pieces<T>(p);                                                                               \
    }                                                                                                                  \
    GPU_KERNEL(normalize_backward_sums_##T, struct gpu_normalize_backward_sums) { normalize_backward_sums<T>(p); }     \
    GPU_KERNEL(normalize_backward_join_##T, struct gpu_normalize_backward_join) { normalize_backward_join<T>(p); }     \
    GPU_KERNEL_OF(normalize_backward_plane_sums_##T, struct gpu_normalize_backward_planes, GPU_BLOCK, PLANES(T)) {     \
        normalize_backward_plane_sums<T>(p);                                                                           \
    }                                                                                                                  \
    GPU_KERNEL_OF(normalize_backward_planes_##T, struct gpu_normalize_backward_planes, GPU_BLOCK, PLANES(T)) {         \
        normalize_backward_planes<T>(p);                                                                               \
    }
GPU_FLOATS(NORMALIZE_BACKWARD)
