/* Layer, RMS, group and batch norm. Rows that fit are kept in registers: read once, written once. Of others, reductions
 * have found mean and variance, or they are given. */
#include "layout.h"
#include "normalize_moments.h"
#include "rows.h"
#include "normalize.h"

/* Deviations that are squared, in f64, which holds those of all floats but f64; these were scaled. */
GPU_FN f64 normalize_deviation(f32 x, f64 mean, f32) { return (f64)x - mean; }
GPU_FN f64 normalize_deviation(f64 x, f64 mean, f64 scaled) { return gpu_fma(x, scaled, -mean); }

/* The type in which a vector's squared distances from the mean add up before they join the row's sum, which is f64. f32
 * holds those of f16, and f64 would cost more than memory does. The sum for the mean stays f64: a mean may cancel an
 * element. */
template <typename T> struct normalize_squares_in {
    typedef f64 type;
};
template <> struct normalize_squares_in<f16> {
    typedef f32 type;
};

template <int N, typename C> GPU_FN f64 normalize_sum(const C *c, C scaled) {
    f64 s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = (f64)(c[i] * scaled);
    return gpu_tree<N>::template of<gpu_join_add>(s);
}
template <int N, typename C> GPU_FN f64 normalize_squares(const C *c, f64 mean, C scaled, f64) {
    f64 s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) {
        f64 d = normalize_deviation(c[i], mean, scaled);
        s[i] = d * d;
    }
    return gpu_tree<N>::template of<gpu_join_add>(s);
}
template <int N> GPU_FN f64 normalize_squares(const f32 *c, f64 mean, f32, f32) {
    f32 s[N], high = (f32)mean, low = (f32)(mean - (f64)high);
    GPU_UNROLL for (int i = 0; i < N; i++) {
        f32 d = c[i] - high - low;
        s[i] = d * d;
    }
    return (f64)gpu_tree<N>::template of<gpu_join_add>(s);
}

/* The number of the weight of element i of a row whose channels begin at `channel`. */
GPU_FN u32 normalize_weight(const struct gpu_normalize &p, u32 i, u32 channel) {
    if (p.by == GPU_NORMALIZE_ELEMENT) return i;
    return p.per_group == 1 ? channel : channel + gpu_divide(i, p.plane);
}
GPU_FN u32 normalize_channel(const struct gpu_normalize &p, i64 row) {
    return p.by == GPU_NORMALIZE_ELEMENT ? 0 : (u32)(row % p.groups * p.per_group);
}

/* N elements from number i on, normalised but for weight and bias, get those; a weight that is not in the scale. */
template <typename T, int N, typename C>
GPU_FN void normalize_weigh(const struct gpu_normalize &p, C *c, u32 i, u32 channel) {
    const T *weight = p.mean ? nullptr : (const T *)p.weight, *bias = (const T *)p.bias;
    if (N > 1 && p.vectors) {
        if (weight) {
            C w[gpu_vec<T>::N];
            gpu_up_vector(gpu_load16(weight + i), w);
            GPU_UNROLL for (int k = 0; k < N; k++) c[k] *= w[k];
        }
        if (bias) {
            C b[gpu_vec<T>::N];
            gpu_up_vector(gpu_load16(bias + i), b);
            GPU_UNROLL for (int k = 0; k < N; k++) c[k] += b[k];
        }
        return;
    }
    GPU_UNROLL for (int k = 0; k < N; k++) {
        u32 at = normalize_weight(p, i + (u32)k, channel);
        if (weight) c[k] *= gpu_up(weight[at]);
        if (bias) c[k] += gpu_up(bias[at]);
    }
}

/* Writes the statistics of a row, where they are wanted: the mean, and the variance with epsilon, of x times `scaled`. */
template <typename C>
GPU_FN void normalize_tell(const struct gpu_normalize &p, i64 row, f64 mean, f64 variance, C scaled) {
    if (p.inverse) ((C *)p.inverse)[row] = (C)((f64)scaled / gpu_sqrt(variance));
    if (p.mean_out) ((C *)p.mean_out)[row] = (C)(mean / (f64)scaled);
}

template <typename T> GPU_FN void normalize_rows(const struct gpu_normalize &p) {
    typedef gpu_raw_row<T, GPU_NORMALIZE_KEPT(sizeof(T))> Row;
    typedef typename gpu_compute<T>::type C;
    enum { N = Row::N };
    GPU_SHARED f64 room[GPU_WAVES];
    u32 per_block = gpu_threads() / p.group;
    i64 first = reduce_block() * per_block, row = first + gpu_thread() / p.group;
    if (first >= p.rows) return;
    bool live = row < p.rows;
    Row r;
    gpu_raw_row_load(&r, (const T *)p.in + (live ? row * p.n : 0), live ? (u32)p.n : 0, gpu_thread() % p.group, p.group);
    bool ends = r.lane < r.rest;
    C c[N], end = ends ? gpu_up(r.end) : (C)0, scaled = 1;
    if (sizeof(C) == 8) {
        C most = gpu_fabs(end);
        GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
            if (!gpu_row_has(r, k)) continue;
            gpu_up_vector(r.v[k], c);
            GPU_UNROLL for (int i = 0; i < N; i++) most = gpu_join_max::of(most, gpu_fabs(c[i]));
        }
        scaled = normalize_scaled(gpu_group_join<gpu_join_max>(most, p.group, (C *)room), p.epsilon);
    }
    f64 mean = 0;
    if (p.centered) {
        f64 sum = (f64)(end * scaled);
        GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
            if (!gpu_row_has(r, k)) continue;
            gpu_up_vector(r.v[k], c);
            sum += normalize_sum<N>(c, scaled);
        }
        mean = gpu_group_join<gpu_join_add>(sum, p.group, room) / (f64)p.n;
    }
    f64 apart = ends ? normalize_deviation(end, mean, scaled) : 0, squares = apart * apart;
    GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
        if (!gpu_row_has(r, k)) continue;
        gpu_up_vector(r.v[k], c);
        squares += normalize_squares<N>(c, mean, scaled, (typename normalize_squares_in<T>::type)0);
    }
    f64 variance = gpu_group_join<gpu_join_add>(squares, p.group, room) / (f64)p.n;
    variance += p.epsilon * (f64)scaled * (f64)scaled;
    normalize_moments<C> m = normalize_by(mean, variance, scaled, 1);
    if (!live) return;
    if (r.lane == 0) normalize_tell(p, row, mean, variance, scaled);
    u32 channel = normalize_channel(p, row);
    T *out = (T *)p.out + row * p.n;
    GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
        if (!gpu_row_has(r, k)) continue;
        gpu_vec<T> v;
        gpu_up_vector(r.v[k], c);
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = normalize_apart(m, c[i]) * m.scale;
        if (p.weight || p.bias) normalize_weigh<T, N>(p, c, gpu_row_at(r, k), channel);
        gpu_down_vector(&v, c);
        gpu_row_put(out + gpu_row_at(r, k), v, p.aligned);
    }
    if (!ends) return;
    end = normalize_apart(m, end) * m.scale;
    if (p.weight || p.bias) normalize_weigh<T, 1>(p, &end, gpu_row_end(r), channel);
    out[gpu_row_end(r)] = gpu_round<T>(end);
}

/* The given moments of element i of a row, its own or its channel's. The weight is in the scale, for without it the
 * element may overflow where the result does not. */
template <typename T, typename C>
GPU_FN normalize_moments<C> normalize_given(const struct gpu_normalize &p, u32 i, u32 channel) {
    u32 at = normalize_weight(p, i, channel);
    f64 mean = (f64)gpu_up(((const T *)p.mean)[at]);
    f64 weight = p.weight ? (f64)gpu_up(((const T *)p.weight)[at]) : 1;
    normalize_moments<C> m = normalize_by(mean, (f64)gpu_up(((const T *)p.variance)[at]) + p.epsilon, (C)1, weight);
    if (gpu_fabs(mean) > (sizeof(C) == 8 ? 1e290 : 1e30) && m.pre == 1) { /* x - mean may overflow */
        m.pre = (C)0.25;
        m.high *= m.pre;
        m.low *= m.pre;
        m.scale *= 4;
    }
    return m;
}
/* The moments that reductions found of a row; `tells` when this thread writes them, too. */
template <typename C> GPU_FN normalize_moments<C> normalize_found(const struct gpu_normalize &p, i64 row, bool tells) {
    i64 line = p.share == 1 ? row : row / p.share;
    bool moments = p.centered || sizeof(C) == 8;
    f64 mean = moments ? gpu_bits<f64>(p.stats[p.lines + line]) : 0;
    f64 root = moments ? gpu_bits<f64>(p.stats[2 * p.lines + line])
                       : gpu_bits<f64>(p.stats[line]) / gpu_sqrt((f64)p.terms);
    f64 scaled = (f64)normalize_scaled((C)gpu_join_max::of(gpu_fabs(mean), root), p.epsilon);
    f64 variance = normalize_variance(mean, root, scaled, p.centered, p.epsilon);
    if (tells && line * p.share == row) normalize_tell(p, line, mean, variance, (C)scaled);
    return normalize_by(p.centered ? mean : 0, variance, (C)scaled, 1);
}

/* N elements of a row from number i on; `m` is the row's, unless each element has its own. */
template <typename T, int N>
GPU_FN void normalize_some(const struct gpu_normalize &p, const T *x, T *out, u32 i, u32 channel,
                           normalize_moments<typename gpu_compute<T>::type> m) {
    typedef typename gpu_compute<T>::type C;
    C c[N];
    T y[N];
    if (N > 1) {
        gpu_vec<T> v = gpu_load16(x);
        GPU_UNROLL for (int k = 0; k < N; k++) c[k] = gpu_up(v.v[k % gpu_vec<T>::N]);
    } else {
        c[0] = gpu_up(*x);
    }
    GPU_UNROLL for (int k = 0; k < N; k++) {
        if (p.mean && p.by == GPU_NORMALIZE_ELEMENT) m = normalize_given<T, C>(p, i + (u32)k, channel);
        c[k] = normalize_apart(m, c[k]) * m.scale;
    }
    if (p.weight || p.bias) normalize_weigh<T, N>(p, c, i, channel);
    GPU_UNROLL for (int k = 0; k < N; k++) y[k] = gpu_round<T>(c[k]);
    if (N > 1) {
        gpu_vec<T> v;
        GPU_UNROLL for (int k = 0; k < N; k++) v.v[k % gpu_vec<T>::N] = y[k];
        gpu_store16(out, v);
    } else {
        *out = y[0];
    }
}

/* A piece of a row, by a group of threads. */
template <typename T> GPU_FN void normalize_apply(const struct gpu_normalize &p) {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    i64 item = reduce_block() * (GPU_BLOCK / p.group) + gpu_thread() / p.group;
    if (item >= p.rows * p.pieces) return;
    i64 row = p.pieces == 1 ? item : item / p.pieces, from = (item - row * p.pieces) * p.length;
    i64 n = p.n - from < p.length ? p.n - from : p.length;
    u32 lane = gpu_thread() % p.group, channel = normalize_channel(p, row), at = (u32)from;
    const T *x = (const T *)p.in + row * p.n + from;
    T *out = (T *)p.out + row * p.n + from;
    normalize_moments<C> m = {0, 0, 0, 1};
    if (!p.mean)
        m = normalize_found<C>(p, row, from == 0 && lane == 0);
    else if (p.by == GPU_NORMALIZE_CHANNEL)
        m = normalize_given<T, C>(p, 0, channel);
    i64 head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n || !p.aligned) head = n;
    i64 vectors = (n - head) / N, rest = n - vectors * N;
    GPU_NO_UNROLL for (i64 v = lane; v < vectors; v += p.group)
        normalize_some<T, N>(p, x + head + v * N, out + head + v * N, at + (u32)(head + v * N), channel, m);
    GPU_NO_UNROLL for (i64 i = lane; i < rest; i += p.group) {
        i64 place = i < head ? i : i + vectors * N;
        normalize_some<T, 1>(p, x + place, out + place, at + (u32)place, channel, m);
    }
}

#define NORMALIZE(T)                                                                                                   \
    GPU_KERNEL_OF(normalize_rows_##T, struct gpu_normalize, GPU_NORMALIZE_THREADS(sizeof(T)), sizeof(T) <= 2 ? 2 : 1) { \
        normalize_rows<T>(p);                                                                                          \
    }                                                                                                                  \
    GPU_KERNEL(normalize_apply_##T, struct gpu_normalize) { normalize_apply<T>(p); }
GPU_FLOATS(NORMALIZE)
