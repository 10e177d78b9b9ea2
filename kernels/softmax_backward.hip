/* Gradients of softmax and of its logarithm: the sum of each line, in f64, and then its elements. The second reading of
 * a line finds it in a cache unless it is very long. */
#include "dtype.h"
#include "reduce_body.h"
#include "rows.h"
#include "short.h"
#include "some.h"
#include "wave.h"

#include "softmax_backward.h"

/* What an element adds to the sum of its line. */
template <typename C> GPU_FN f64 softmax_term(C g, C y, u32 log) { return (f64)(log ? g : g * y); }
template <typename C> GPU_FN C softmax_slope(C g, C y, C sum, u32 log) {
    return log ? g - reduce_exp(y) * sum : y * (g - sum);
}

/* A row whose elements lie side by side, by `group` threads; N elements a time. */
template <typename T, int N> GPU_FN void softmax_backward_row(const struct gpu_softmax_backward &p, f64 *room) {
    typedef typename gpu_compute<T>::type C;
    i64 row = reduce_block() * (gpu_threads() / p.group) + gpu_thread() / p.group;
    bool live = row < p.outer;
    i64 at = live ? row * p.n : 0, n = live ? p.n : 0, step = (i64)p.group * N;
    const T *gradient = (const T *)p.gradient + at, *result = (const T *)p.result + at;
    T *out = (T *)p.out + at;
    f64 sum = 0;
    GPU_NO_UNROLL for (i64 i = (i64)(gpu_thread() % p.group) * N; i < n; i += step) {
        C g[N], y[N];
        f64 terms[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(result + i, y);
        GPU_UNROLL for (int k = 0; k < N; k++) terms[k] = softmax_term(g[k], y[k], p.log);
        sum += gpu_tree<N>::template of<gpu_join_add>(terms);
    }
    C all = (C)gpu_group_join<gpu_join_add>(sum, p.group, room);
    GPU_NO_UNROLL for (i64 i = (i64)(gpu_thread() % p.group) * N; i < n; i += step) {
        C g[N], y[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(result + i, y);
        GPU_UNROLL for (int k = 0; k < N; k++) g[k] = softmax_slope(g[k], y[k], all, p.log);
        gpu_some_store<N>(out + i, g);
    }
}

template <typename T> GPU_FN void softmax_backward_rows(const struct gpu_softmax_backward &p) {
    GPU_SHARED f64 room[GPU_WAVES];
    if (reduce_block() * (gpu_threads() / p.group) >= p.outer) return;
    if (p.vectors)
        softmax_backward_row<T, gpu_vec<T>::N>(p, room);
    else
        softmax_backward_row<T, 1>(p, room);
}

/* ---- rows in registers, whose ends are no whole vectors ---- */

template <typename T> GPU_FN void softmax_backward_kept(const struct gpu_softmax_backward &p) {
    typedef gpu_raw_row<T, GPU_SOFTMAX_BACKWARD_KEPT(sizeof(T))> Row;
    typedef typename gpu_compute<T>::type C;
    enum { N = Row::N };
    GPU_SHARED f64 room[GPU_WAVES];
    u32 per_block = gpu_threads() / p.group, lane = gpu_thread() % p.group;
    i64 first = reduce_block() * per_block, number = first + gpu_thread() / p.group;
    if (first >= p.outer) return;
    bool live = number < p.outer;
    i64 at = live ? number * p.n : 0;
    u32 n = live ? (u32)p.n : 0;
    Row g, y;
    gpu_raw_row_load(&g, (const T *)p.gradient + at, n, lane, p.group);
    gpu_raw_row_load(&y, (const T *)p.result + at, n, lane, p.group);
    bool end = lane < g.rest;
    f64 sum = end ? softmax_term<C>(gpu_up(g.end), gpu_up(y.end), p.log) : 0;
    GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
        f64 terms[N];
        if (!gpu_row_has(g, k)) break;
        GPU_UNROLL for (int i = 0; i < N; i++) terms[i] = softmax_term<C>(gpu_up(g.v[k].v[i]), gpu_up(y.v[k].v[i]), p.log);
        sum += gpu_tree<N>::template of<gpu_join_add>(terms);
    }
    C all = (C)gpu_group_join<gpu_join_add>(sum, p.group, room);
    T *out = (T *)p.out + at;
    GPU_UNROLL for (int k = 0; k < Row::VECTORS; k++) {
        C c[N];
        gpu_vec<T> v;
        if (!gpu_row_has(g, k)) break;
        GPU_UNROLL for (int i = 0; i < N; i++) c[i] = softmax_slope<C>(gpu_up(g.v[k].v[i]), gpu_up(y.v[k].v[i]), all, p.log);
        gpu_down_vector(&v, c);
        gpu_store16(out + gpu_row_at(g, k), v);
    }
    if (end) out[gpu_row_end(g)] = gpu_round<T>(softmax_slope<C>(gpu_up(g.end), gpu_up(y.end), all, p.log));
}

/* ---- pieces of long lines ---- */

/* `across` lines side by side, and the piece of them that a block takes. */
struct softmax_piece {
    i64 column, part, from, to, at; /* part: in p.parts; at: the line's first element */
};
GPU_FN bool softmax_find(const struct gpu_softmax_backward &p, softmax_piece *s) {
    i64 item = reduce_block(), rest = item / p.pieces, outer = rest / p.tiles, piece = item - rest * p.pieces;
    if (outer >= p.outer) return false;
    s->column = (rest - outer * p.tiles) * p.across + gpu_thread() % p.across;
    s->part = (outer * p.pieces + piece) * p.inner + s->column;
    s->from = piece * p.length;
    s->to = s->from + p.length < p.n ? s->from + p.length : p.n;
    if (s->column >= p.inner) s->to = s->from;
    s->at = outer * p.n * p.inner + s->column;
    return true;
}

/* Elements before the first whole vector of a piece of a row; all of them where there are no vectors. */
template <typename T> GPU_FN i64 softmax_head(const struct gpu_softmax_backward &p, const softmax_piece &s) {
    i64 n = s.to - s.from, head = (i64)((16 - ((u64)((const T *)p.out + s.at + s.from) & 15)) % 16 / sizeof(T));
    return head > n || !p.alike ? n : head;
}

template <typename T> GPU_FN f64 softmax_row_sum(const struct gpu_softmax_backward &p, const softmax_piece &s) {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    const T *gradient = (const T *)p.gradient + s.at + s.from, *result = (const T *)p.result + s.at + s.from;
    i64 head = softmax_head<T>(p, s), n = s.to - s.from, body = (n - head) / N * N;
    f64 sum = 0;
    GPU_NO_UNROLL for (i64 i = head + gpu_thread() * N; i < head + body; i += GPU_BLOCK * N) {
        C g[N], y[N];
        f64 terms[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(result + i, y);
        GPU_UNROLL for (int k = 0; k < N; k++) terms[k] = softmax_term(g[k], y[k], p.log);
        sum += gpu_tree<N>::template of<gpu_join_add>(terms);
    }
    GPU_NO_UNROLL for (i64 k = gpu_thread(); k < n - body; k += GPU_BLOCK) {
        i64 i = k < head ? k : k + body;
        sum += softmax_term<C>(gpu_up(gradient[i]), gpu_up(result[i]), p.log);
    }
    return sum;
}

template <typename T, typename C>
GPU_FN void softmax_row_apply(const struct gpu_softmax_backward &p, const softmax_piece &s, C all) {
    enum { N = gpu_vec<T>::N };
    const T *gradient = (const T *)p.gradient + s.at + s.from, *result = (const T *)p.result + s.at + s.from;
    T *out = (T *)p.out + s.at + s.from;
    i64 head = softmax_head<T>(p, s), n = s.to - s.from, body = (n - head) / N * N;
    GPU_NO_UNROLL for (i64 i = head + gpu_thread() * N; i < head + body; i += GPU_BLOCK * N) {
        C g[N], y[N];
        gpu_some_load<N>(gradient + i, g);
        gpu_some_load<N>(result + i, y);
        GPU_UNROLL for (int k = 0; k < N; k++) g[k] = softmax_slope(g[k], y[k], all, p.log);
        gpu_some_store<N>(out + i, g);
    }
    GPU_NO_UNROLL for (i64 k = gpu_thread(); k < n - body; k += GPU_BLOCK) {
        i64 i = k < head ? k : k + body;
        out[i] = gpu_round<T>(softmax_slope<C>(gpu_up(gradient[i]), gpu_up(result[i]), all, p.log));
    }
}

template <typename T> GPU_FN f64 softmax_fall_sum(const struct gpu_softmax_backward &p, const softmax_piece &s) {
    enum { AHEAD = 4 };
    typedef typename gpu_compute<T>::type C;
    const T *gradient = (const T *)p.gradient + s.at, *result = (const T *)p.result + s.at;
    i64 i = s.from + gpu_thread() / p.across, step = GPU_BLOCK / p.across;
    f64 sum = 0;
    GPU_NO_UNROLL for (; i < s.to; i += AHEAD * step) {
        T g[AHEAD], y[AHEAD];
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) { /* past the end the first again, which counts once */
            i64 here = (i + k * step < s.to ? i + k * step : i) * p.inner;
            g[k] = gradient[here];
            y[k] = result[here];
        }
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            if (i + k * step < s.to) sum += softmax_term<C>(gpu_up(g[k]), gpu_up(y[k]), p.log);
    }
    return sum;
}

template <typename T, typename C>
GPU_FN void softmax_fall_apply(const struct gpu_softmax_backward &p, const softmax_piece &s, C all) {
    enum { AHEAD = 4 };
    const T *gradient = (const T *)p.gradient + s.at, *result = (const T *)p.result + s.at;
    T *out = (T *)p.out + s.at;
    i64 i = s.from + gpu_thread() / p.across, step = GPU_BLOCK / p.across;
    GPU_NO_UNROLL for (; i < s.to; i += AHEAD * step) {
        T g[AHEAD], y[AHEAD];
        GPU_UNROLL for (int k = 0; k < AHEAD; k++) {
            i64 here = (i + k * step < s.to ? i + k * step : i) * p.inner;
            g[k] = gradient[here];
            y[k] = result[here];
        }
        GPU_UNROLL for (int k = 0; k < AHEAD; k++)
            if (i + k * step < s.to)
                out[(i + k * step) * p.inner] = gpu_round<T>(softmax_slope<C>(gpu_up(g[k]), gpu_up(y[k]), all, p.log));
    }
}

template <typename T> GPU_FN void softmax_backward_sums(const struct gpu_softmax_backward &p) {
    GPU_SHARED f64 room[GPU_BLOCK];
    softmax_piece s;
    if (!softmax_find(p, &s)) return;
    f64 sum = gpu_columns_join(p.inner == 1 ? softmax_row_sum<T>(p, s) : softmax_fall_sum<T>(p, s), p.across, room);
    if (gpu_thread() < p.across && s.column < p.inner) p.parts[s.part] = sum;
}

template <typename T> GPU_FN void softmax_backward_pieces(const struct gpu_softmax_backward &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_BLOCK];
    softmax_piece s;
    if (!softmax_find(p, &s)) return;
    const f64 *parts = p.parts + s.at / (p.n * p.inner) * p.pieces * p.inner + s.column;
    f64 sum = 0;
    GPU_NO_UNROLL for (i64 k = gpu_thread() / p.across; k < p.pieces && s.column < p.inner; k += GPU_BLOCK / p.across)
        sum += parts[k * p.inner];
    C all = (C)gpu_columns_join(sum, p.across, room);
    if (p.inner == 1)
        softmax_row_apply<T>(p, s, all);
    else
        softmax_fall_apply<T>(p, s, all);
}

/* Lines across memory of one piece. */
template <typename T> GPU_FN void softmax_backward_across(const struct gpu_softmax_backward &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_BLOCK];
    softmax_piece s;
    if (!softmax_find(p, &s)) return;
    softmax_fall_apply<T>(p, s, (C)gpu_columns_join(softmax_fall_sum<T>(p, s), p.across, room));
}

/* ---- lines across memory that are short ---- */

template <typename T, int N> GPU_FN void softmax_backward_lines(const struct gpu_softmax_backward_short &p) {
    typedef typename gpu_compute<T>::type C;
    enum { ROWS = GPU_SOFTMAX_BACKWARD_SHORT(sizeof(T)) };
    gpu_short at = gpu_short_place<N>(p);
    const T *gradient = (const T *)p.gradient + at.first, *result = (const T *)p.result + at.first;
    gpu_some<T, N> g[ROWS], y[ROWS];
    GPU_UNROLL for (int k = 0; k < ROWS; k++)
        if (gpu_short_has(at, k)) {
            g[k] = gpu_some<T, N>::load(gradient + k * at.step);
            y[k] = gpu_some<T, N>::load(result + k * at.step);
        }
    f64 sum[N];
    GPU_UNROLL for (int i = 0; i < N; i++) sum[i] = 0;
    GPU_UNROLL for (int k = 0; k < ROWS; k++) {
        if (!gpu_short_has(at, k)) break;
        GPU_UNROLL for (int i = 0; i < N; i++)
            sum[i] += softmax_term<C>(gpu_up(g[k].v[i]), gpu_up(y[k].v[i]), p.log);
    }
    gpu_short_join<gpu_join_add>(sum, at);
    T *out = (T *)p.out + at.first;
    GPU_UNROLL for (int k = 0; k < ROWS; k++) {
        C c[N];
        if (!gpu_short_has(at, k)) break;
        GPU_UNROLL for (int i = 0; i < N; i++)
            c[i] = softmax_slope<C>(gpu_up(g[k].v[i]), gpu_up(y[k].v[i]), (C)sum[i], p.log);
        gpu_some<T, N>::store(out + k * at.step, c);
    }
}

template <typename T> GPU_FN void softmax_backward_short(const struct gpu_softmax_backward_short &p) {
    if (p.vectors)
        softmax_backward_lines<T, gpu_vec<T>::N>(p);
    else
        softmax_backward_lines<T, 1>(p);
}

#define SOFTMAX_BACKWARD(T)                                                                                            \
    GPU_KERNEL(softmax_backward_rows_##T, struct gpu_softmax_backward) { softmax_backward_rows<T>(p); }                \
    GPU_KERNEL(softmax_backward_across_##T, struct gpu_softmax_backward) { softmax_backward_across<T>(p); }            \
    GPU_KERNEL_OF(softmax_backward_kept_##T, struct gpu_softmax_backward, GPU_SOFTMAX_BACKWARD_THREADS(sizeof(T)), 1) { \
        softmax_backward_kept<T>(p);                                                                                   \
    }                                                                                                                  \
    GPU_KERNEL(softmax_backward_sums_##T, struct gpu_softmax_backward) { softmax_backward_sums<T>(p); }                \
    GPU_KERNEL(softmax_backward_pieces_##T, struct gpu_softmax_backward) { softmax_backward_pieces<T>(p); }            \
    GPU_KERNEL_OF(softmax_backward_short_##T, struct gpu_softmax_backward_short, GPU_BLOCK, 2) {                       \
        softmax_backward_short<T>(p);                                                                                  \
    }
GPU_FLOATS(SOFTMAX_BACKWARD)
