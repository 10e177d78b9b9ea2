/* Bicubic resizing; and gradients, a thread an element of x, which gathers from the results that it is in, in order.
 * Sums of gradients are f64. */
#include "dtype.h"
#include "layout.h"

#include "margin.h"
#include "place.h"
#include "resample.h"

GPU_FN i64 resample_clamped(i64 i, i64 n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/* ---- bicubic resizing: floats of up to 32 bits in f32 ---- */

/* What the four elements of a row around a place come to. A weight of 0 drops its element, so that no infinity becomes
 * NaN. */
template <typename T, typename C> GPU_FN C resample_along(const T *line, const i64 (&at)[4], const C (&by)[4]) {
    C part = 0;
    GPU_UNROLL for (int j = 0; j < 4; j++)
        if (by[j] != 0) part += by[j] * gpu_up(line[at[j]]);
    return part;
}

/* A tile, whose rows have their places and weights once for all. A thread goes down a column, and keeps what the four
 * rows of x around its place come to. */
template <typename T> GPU_FN void resize_cubic(const struct gpu_resize_tiles &q) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED C weight[GPU_BLOCK * 4];
    GPU_SHARED i64 place[GPU_BLOCK];
    const struct gpu_resize &p = q.of;
    i64 tile = (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x();
    if (tile >= q.tiles) return;
    i64 above = p.narrow ? (u32)tile / (u32)q.wide : tile / q.wide;
    i64 plane = p.narrow ? (u32)above / (u32)q.tall : above / q.tall, first = (above - plane * q.tall) * q.high;
    u32 thread = gpu_thread(), high = (u32)(p.to[1] - first < q.high ? p.to[1] - first : q.high);
    f64 part;
    if (thread < high) {
        i64 low = gpu_place(p.at[gpu_anew(1u)], first + thread, &part), last = p.from[1] + 2;
        place[thread] = low < -3 ? -3 : low < last ? low : last; /* further away there are no others */
        GPU_UNROLL for (int k = 0; k < 4; k++) weight[thread * 4 + k] = (C)gpu_cubic(part, k - 1);
    }
    gpu_sync();
    i64 w = (tile - above * q.wide) * q.across + thread % q.across, at[4];
    if (w >= p.to[2]) return;
    i64 low = gpu_place(p.at[gpu_anew(2u)], w, &part), have = -6; /* the row of x that is kept last: at first none */
    C by[4], kept[4] = {0, 0, 0, 0};
    GPU_UNROLL for (int j = 0; j < 4; j++) {
        at[j] = resample_clamped(low + j - 1, p.from[2]);
        by[j] = (C)gpu_cubic(part, j - 1);
    }
    const T *in = (const T *)p.in + plane * p.from[1] * p.from[2];
    T *out = (T *)p.out + (plane * p.to[1] + first) * p.to[2] + w;
    u32 r = thread / q.across * q.rows, end = r + q.rows < high ? r + q.rows : high;
    GPU_NO_UNROLL for (; r < end; r++) {
        i64 last = place[r] + 2;
        if (last - have > 4) have = last - 4;
        GPU_NO_UNROLL while (have < last) {
            GPU_UNROLL for (int k = 0; k < 3; k++) kept[k] = kept[k + 1];
            kept[3] = resample_along(in + resample_clamped(++have, p.from[1]) * p.from[2], at, by);
        }
        C sum = 0;
        GPU_UNROLL for (int k = 0; k < 4; k++)
            if (weight[r * 4 + k] != 0) sum += weight[r * 4 + k] * kept[k];
        out[r * p.to[2]] = gpu_round<T>(sum);
    }
}

/* ---- the gradient of resizing and of adaptive pooling ---- */

/* Element `at` of a dim of x is in some of results begin .. end - 1 at most. */
struct resample_range {
    i64 at, begin, end;
};

GPU_FN struct resample_range resample_results_of(const struct gpu_resize_backward &p, u32 d, i64 at) {
    const struct gpu_resample_axis &a = p.axis[gpu_anew(d)];
    struct resample_range r;
    r.at = at;
    if (p.kind == GPU_AREA) { /* window o is floor(o in / out) .. ceil((o + 1) in / out) - 1 */
        r.begin = at * a.out / a.in;
        r.end = ((at + 1) * a.out + a.in - 1) / a.in;
        return r;
    }
    i64 reach = p.kind == GPU_CUBIC ? 2 : p.kind == GPU_LINEAR ? 1 : 0;
    f64 low = (f64)(at - reach) * a.back + a.ahead, high = (f64)(at + (reach ? reach : 1)) * a.back + a.ahead;
    r.begin = at == 0 || !(low > 0) ? 0 : low < (f64)a.out ? (i64)low : a.out;
    r.end = at == a.in - 1 || !(high < (f64)(a.out - 2)) ? a.out : high > -2 ? (i64)high + 2 : 0;
    return r;
}

/* The weight of element `at` of dim d of x in result o; an element at the edge stands for those beyond it too. */
GPU_FN f64 resample_weight(const struct gpu_resize_backward &p, u32 d, i64 at, i64 o) {
    const struct gpu_resample_axis &a = p.axis[gpu_anew(d)];
    u32 kind = p.kind;
    if (kind == GPU_AREA) {
        i64 begin = o * a.in / a.out, end = ((o + 1) * a.in + a.out - 1) / a.out;
        return 1 / (f64)(end - begin);
    }
    f64 part, sum = 0;
    i64 low = gpu_place(a.at, o, &part);
    if (kind == GPU_NEAREST) return resample_clamped(low, a.in) == at ? 1 : 0;
    if (kind == GPU_LINEAR) {
        if (low < 0 || low >= a.in - 1) return resample_clamped(low, a.in) == at ? 1 : 0;
        return at == low ? 1 - part : at == low + 1 ? part : 0;
    }
    GPU_UNROLL for (int k = -1; k <= 2; k++) {
        if (resample_clamped(low + k, a.in) == at) sum += gpu_cubic(part, k);
    }
    return sum;
}

/* Where element i of x lies, and which results it may be in. Its plane is the result. */
GPU_FN i64 resample_locate(const struct gpu_resize_backward &p, u64 i, struct resample_range (&r)[3]) {
    u64 rest = i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        const struct gpu_resample_axis &a = p.axis[d];
        u64 quotient = p.narrow ? gpu_divide((u32)rest, a.by_in) : rest / (u64)a.in;
        r[d] = resample_results_of(p, (u32)d, (i64)(rest - quotient * (u64)a.in));
        rest = quotient;
    }
    return (i64)rest;
}

template <typename T> GPU_FN void resize_backward(const struct gpu_resize_backward &p) {
    typedef typename gpu_compute<T>::type C;
    const T *gradient = (const T *)p.gradient;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct resample_range r[3];
        i64 plane = resample_locate(p, i, r);
        u32 position = (u32)((r[0].at * p.axis[1].in + r[1].at) * p.axis[2].in + r[2].at);
        f64 sum = 0;
        GPU_NO_UNROLL for (i64 d = r[0].begin; d < r[0].end; d++) {
            f64 over = resample_weight(p, 0, r[0].at, d);
            GPU_NO_UNROLL for (i64 h = r[1].begin; h < r[1].end && over != 0; h++) {
                f64 down = over * resample_weight(p, 1, r[1].at, h);
                i64 row = ((plane * p.axis[0].out + d) * p.axis[1].out + h) * p.axis[2].out;
                GPU_NO_UNROLL for (i64 w = r[2].begin; w < r[2].end && down != 0; w++) {
                    if (p.indices) {
                        if (p.indices[row + w] == position) sum += (f64)gpu_up(gradient[row + w]);
                        continue;
                    }
                    f64 weight = down * resample_weight(p, 2, r[2].at, w);
                    if (weight != 0) sum += weight * (f64)gpu_up(gradient[row + w]);
                }
            }
        }
        ((T *)p.out)[i] = gpu_round<T>((C)sum);
    }
}

/* ---- the same with the results and weights of each dim found once, a thread an element of a dim ---- */

GPU_KERNEL(resize_spans, struct gpu_resize_backward) {
    i64 at = (i64)gpu_global();
    u32 d = 0;
    GPU_NO_UNROLL while (d < 3 && at >= p.axis[d].in) at -= p.axis[d++].in;
    if (d == 3) return;
    const struct gpu_resample_axis &a = p.axis[d];
    struct resample_range r = resample_results_of(p, d, at);
    GPU_NO_UNROLL while (r.begin < r.end && resample_weight(p, d, at, r.begin) == 0) r.begin++;
    GPU_NO_UNROLL while (r.begin < r.end && resample_weight(p, d, at, r.end - 1) == 0) r.end--;
    a.spans[2 * at] = (u32)r.begin;
    a.spans[2 * at + 1] = (u32)(r.end - r.begin);
    GPU_NO_UNROLL for (i64 o = r.begin; o < r.end; o++) a.weights[at * a.most + o - r.begin] = resample_weight(p, d, at, o);
}

template <typename T> GPU_FN void resize_gather(const struct gpu_resize_backward &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        u32 rest = (u32)i, begin[3], n[3];
        const f64 *weights[3];
        GPU_UNROLL for (int d = 2; d >= 0; d--) {
            const struct gpu_resample_axis &a = p.axis[d];
            u32 quotient = gpu_divide(rest, a.by_in), at = rest - quotient * a.by_in.d;
            begin[d] = a.spans[2 * at];
            n[d] = a.spans[2 * at + 1];
            weights[d] = a.weights + at * a.most;
            rest = quotient;
        }
        f64 sum = 0;
        GPU_NO_UNROLL for (u32 d = 0; d < n[0]; d++) {
            f64 over = weights[0][d];
            GPU_NO_UNROLL for (u32 h = 0; h < n[1] && over != 0; h++) {
                f64 down = over * weights[1][h];
                i64 row = ((i64)rest * p.axis[0].out + begin[0] + d) * p.axis[1].out + begin[1] + h;
                const T *line = (const T *)p.gradient + row * p.axis[2].out + begin[2];
                GPU_NO_UNROLL for (u32 w = 0; w < n[2] && down != 0; w++) {
                    f64 weight = down * weights[2][w];
                    if (weight != 0) sum += weight * (f64)gpu_up(line[w]);
                }
            }
        }
        ((T *)p.out)[i] = gpu_round<T>((C)sum);
    }
}

/* ---- the gradient of nearest: the results that take an element are a range in each dim, from where the one before
 * ends ---- */

/* The first result that takes element `at` of dim d or one behind it. */
GPU_FN u32 nearest_first(const struct gpu_resize_backward &p, u32 d, u32 at) {
    const struct gpu_resample_axis &a = p.axis[gpu_anew(d)];
    u32 n = at * a.at.divisor.d, add = (u32)a.at.add, out = (u32)a.out;
    u32 first = gpu_divide(n > add ? n - add + a.by_mul.d - 1 : 0, a.by_mul);
    return at >= (u32)a.in || first > out ? out : first;
}

template <typename T, int N> GPU_FN void nearest_store(T *r, const f64 (&sum)[N]) {
    gpu_vec<T> v;
    GPU_UNROLL for (int k = 0; k < N; k++) v.v[k] = gpu_round<T>((typename gpu_compute<T>::type)sum[k]);
    gpu_store16(r, v);
}
template <typename T> GPU_FN void nearest_store(T *r, const f64 (&sum)[1]) {
    *r = gpu_round<T>((typename gpu_compute<T>::type)sum[0]);
}

/* N neighbours of a row at once: what the outer dims give is the same for all, and their first terms load together. */
template <typename T, int N> GPU_FN void nearest_backward(const struct gpu_resize_backward &p) {
    enum { AT_ONCE = 2 }; /* terms of a row that most elements have */
    for (u64 i = gpu_global(); i < (u64)p.count / N; i += gpu_stride()) {
        u32 row = gpu_divide((u32)i, p.by_vector), above = gpu_divide(row, p.axis[1].by_in);
        u32 plane = gpu_divide(above, p.axis[0].by_in);
        u32 h = row - above * p.axis[1].by_in.d, d = above - plane * p.axis[0].by_in.d;
        u32 edge[N + 1], d_end = nearest_first(p, 0, d + 1), h_begin = nearest_first(p, 1, h);
        u32 h_end = nearest_first(p, 1, h + 1), out = (u32)p.axis[2].out;
        f64 sum[N];
        GPU_UNROLL for (int k = 0; k <= N; k++)
            edge[k] = nearest_first(p, 2, ((u32)i - row * p.by_vector.d) * N + (u32)k);
        GPU_UNROLL for (int k = 0; k < N; k++) sum[k] = 0;
        GPU_NO_UNROLL for (d = nearest_first(p, 0, d); d < d_end; d++) {
            GPU_NO_UNROLL for (h = h_begin; h < h_end; h++) {
                u32 layer = plane * (u32)p.axis[0].out + d;
                const T *line = (const T *)p.gradient + (layer * (u32)p.axis[1].out + h) * out;
                GPU_UNROLL for (u32 term = 0; term < AT_ONCE; term++) {
                    GPU_UNROLL for (int k = 0; k < N; k++) {
                        u32 w = gpu_anew(edge[k]) + term;
                        f64 v = (f64)gpu_up(line[w < out ? w : out - 1]);
                        sum[k] += w < edge[k + 1] ? v : 0;
                    }
                }
                GPU_UNROLL for (int k = 0; k < N; k++)
                    GPU_NO_UNROLL for (u32 w = edge[k] + AT_ONCE; w < edge[k + 1]; w++) sum[k] += (f64)gpu_up(line[w]);
            }
        }
        nearest_store((T *)p.out + i * N, sum);
    }
}

template <typename T, int N> GPU_FN void nearest_backward_by(const struct gpu_resize_backward &p) {
    if (p.together == 1)
        nearest_backward<T, 1>(p);
    else
        nearest_backward<T, N>(p);
}
GPU_KERNEL(nearest_backward_bf16, struct gpu_resize_backward) { nearest_backward_by<bf16, 8>(p); }
GPU_KERNEL(nearest_backward_f16, struct gpu_resize_backward) { nearest_backward_by<f16, 8>(p); }
GPU_KERNEL(nearest_backward_f32, struct gpu_resize_backward) { nearest_backward_by<f32, 4>(p); }
GPU_KERNEL(nearest_backward_f64, struct gpu_resize_backward) { nearest_backward_by<f64, 2>(p); }
/* Sixteen sums would need more registers than there are. */
GPU_KERNEL(nearest_backward_f8e4m3, struct gpu_resize_backward) { nearest_backward<f8e4m3, 1>(p); }

/* ---- the gradient of padding ---- */

/* How many elements of a padded dim show element i of n. */
GPU_FN u64 pad_shows(const struct gpu_pad_backward &p, u32 d, i64 i) {
    i64 n = p.shape.size[d], before = p.before[d], to = p.to[d];
    bool inside = i + before >= 0 && i + before < to;
    if (p.mode == GPU_PAD_CIRCULAR) {
        i64 first = (i + before) % n;
        if (first < 0) first += n;
        return first < to ? (u64)((to - 1 - first) / n + 1) : 0;
    }
    if (p.mode == GPU_PAD_REFLECT) {
        i64 beyond = before + 2 * (n - 1) - i;
        return (u64)inside + (i > 0 && before - i >= 0 && before - i < to) + (i < n - 1 && beyond >= 0 && beyond < to);
    }
    if (p.mode == GPU_PAD_REPLICATE) {
        i64 begin = i == 0 ? 0 : i + before, end = i == n - 1 ? to : i + before + 1;
        begin = begin < 0 ? 0 : begin;
        end = end < to ? end : to;
        return end > begin ? (u64)(end - begin) : 0;
    }
    return inside;
}

/* Number k of those. */
GPU_FN i64 pad_shown(const struct gpu_pad_backward &p, u32 d, i64 i, u64 k) {
    i64 n = p.shape.size[d], before = p.before[d], at = i + before;
    if (p.mode == GPU_PAD_CIRCULAR) return ((at % n) + n) % n + (i64)k * n;
    if (p.mode == GPU_PAD_REPLICATE) return (i == 0 || at < 0 ? 0 : at) + (i64)k;
    if (p.mode == GPU_PAD_CONSTANT) return at;
    if (i > 0 && before - i >= 0 && before - i < p.to[d]) {
        if (k == 0) return before - i;
        k--;
    }
    bool inside = at >= 0 && at < p.to[d];
    return inside && k == 0 ? at : before + 2 * (n - 1) - i;
}

/* The place in the gradient of number k of all elements that show element i of x, and how many there are. */
GPU_FN i64 pad_find(const struct gpu_pad_backward &p, u64 i, u64 k, u64 *many) {
    u64 rest = i, all = 1;
    i64 place = 0;
    GPU_NO_UNROLL for (u32 d = 0; d < p.shape.rank; d++) {
        u64 quotient = p.shape.narrow ? gpu_divide((u32)rest, p.shape.divisor[d]) : rest / (u64)p.shape.size[d];
        i64 at = (i64)(rest - quotient * (u64)p.shape.size[d]);
        u64 shows = pad_shows(p, d, at), which = 0;
        if (shows > 1) {
            which = k % shows;
            k /= shows;
        }
        place += pad_shown(p, d, at, which) * p.step[d];
        all *= shows;
        rest = quotient;
    }
    *many = all;
    return place;
}

template <typename T> GPU_FN void pad_backward(const struct gpu_pad_backward &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        f64 sum = 0;
        u64 many = 1;
        GPU_NO_UNROLL for (u64 k = 0; k < many; k++) {
            i64 place = pad_find(p, i, k, &many);
            if (many > 0) sum += (f64)gpu_up(((const T *)p.gradient)[place]);
        }
        ((T *)p.out)[i] = gpu_round<T>((C)sum);
    }
}

/* ---- sums of columns ---- */

/* The window whose element k is element i of a dim of the result; -1 for none. */
GPU_FN i64 fold_window(const struct gpu_fold &p, u32 dim, i64 i, i64 k) {
    const struct gpu_fold_axis &a = p.axis[gpu_anew(dim)];
    i64 from = i + a.padding - k * a.step;
    if (from < 0) return -1;
    i64 o = p.narrow ? (i64)gpu_divide((u32)from, a.by_stride) : from / a.stride;
    return o * a.stride == from && o < a.out ? o : -1;
}

template <typename T> GPU_FN void fold(const struct gpu_fold &p) {
    typedef typename gpu_compute<T>::type C;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        u64 rest = i;
        i64 at[3];
        GPU_UNROLL for (int d = 2; d >= 0; d--) {
            u64 quotient = p.narrow ? gpu_divide((u32)rest, p.axis[d].by_in) : rest / (u64)p.axis[d].in;
            at[d] = (i64)(rest - quotient * (u64)p.axis[d].in);
            rest = quotient;
        }
        f64 sum = 0;
        GPU_NO_UNROLL for (i64 kd = 0; kd < p.axis[0].kernel; kd++) {
            i64 d = fold_window(p, 0, at[0], kd);
            GPU_NO_UNROLL for (i64 kh = 0; kh < p.axis[1].kernel && d >= 0; kh++) {
                i64 h = fold_window(p, 1, at[1], kh);
                i64 element = (((i64)rest * p.axis[0].kernel + kd) * p.axis[1].kernel + kh) * p.axis[2].kernel;
                GPU_NO_UNROLL for (i64 kw = 0; kw < p.axis[2].kernel && h >= 0; kw++) {
                    i64 w = fold_window(p, 2, at[2], kw);
                    i64 place = (((element + kw) * p.axis[0].out + d) * p.axis[1].out + h) * p.axis[2].out + w;
                    if (w >= 0) sum += (f64)gpu_up(((const T *)p.columns)[place]);
                }
            }
        }
        ((T *)p.out)[i] = gpu_round<T>((C)sum);
    }
}

#define RESAMPLE(T)                                                                                                    \
    GPU_KERNEL(resize_cubic_##T, struct gpu_resize_tiles) { resize_cubic<T>(p); }                                      \
    GPU_KERNEL(resize_backward_##T, struct gpu_resize_backward) { resize_backward<T>(p); }                             \
    GPU_KERNEL(resize_gather_##T, struct gpu_resize_backward) { resize_gather<T>(p); }                                 \
    GPU_KERNEL(pad_backward_##T, struct gpu_pad_backward) { pad_backward<T>(p); }                                      \
    GPU_KERNEL(fold_##T, struct gpu_fold) { fold<T>(p); }
GPU_FLOATS(RESAMPLE)
