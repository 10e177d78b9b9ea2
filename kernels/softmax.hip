/* Softmax and its logarithm. Rows that fit are kept in registers: read once, written once; threads of softmax_vectors
 * keep a vector each. Of longer rows, and of lines across memory, reductions have found the greatest element and the
 * sum. */
#include "reduce_body.h"
#include "rows.h"
#include "short.h"
#include "softmax.h"

template <typename T, int KEPT> GPU_FN void softmax_rows(const struct gpu_softmax_rows &p) {
    typedef gpu_row<T, KEPT> Row;
    typedef typename Row::C C;
    GPU_SHARED C room[GPU_WAVES];
    u32 per_block = gpu_threads() / p.group;
    i64 first = reduce_block() * per_block, number = first + gpu_thread() / p.group;
    if (first >= p.rows) return;
    bool live = number < p.rows;
    C none;
    reduce_least(&none);
    Row r;
    gpu_row_load(&r, (const T *)p.in + (live ? number * p.n : 0), live ? (u32)p.n : 0, gpu_thread() % p.group, p.group,
                 none);
    C most = gpu_group_join<gpu_join_max>(gpu_row_join<gpu_join_max>(r), p.group, room);
    GPU_UNROLL for (int i = 0; i <= Row::COUNT; i++) r.c[i] -= most;
    if (p.log) {
        C sum = reduce_exp(r.c[Row::COUNT]);
        GPU_UNROLL for (int i = 0; i < Row::COUNT; i += Row::N) {
            C e[Row::N];
            GPU_UNROLL for (int k = 0; k < Row::N; k++) e[k] = reduce_exp(r.c[i + k]);
            sum += gpu_tree<Row::N>::template of<gpu_join_add>(e);
        }
        C less = gpu_log(gpu_group_join<gpu_join_add>(sum, p.group, room));
        GPU_UNROLL for (int i = 0; i <= Row::COUNT; i++) r.c[i] -= less;
    } else {
        GPU_UNROLL for (int i = 0; i <= Row::COUNT; i++) r.c[i] = reduce_exp(r.c[i]);
        C scale = 1 / gpu_group_join<gpu_join_add>(gpu_row_join<gpu_join_add>(r), p.group, room);
        GPU_UNROLL for (int i = 0; i <= Row::COUNT; i++) r.c[i] *= scale;
    }
    if (live) gpu_row_store(r, (T *)p.out + number * p.n, p.aligned);
}

/* What a line's elements become: exp(x - most) * scale, or x - most - less. */
template <typename C> struct softmax_line {
    C most, scale;
};
template <typename C> GPU_FN softmax_line<C> softmax_stats(const struct gpu_softmax_apply &p, i64 line) {
    f64 sum = gpu_bits<f64>(p.stats[p.lines + line]);
    softmax_line<C> s = {(C)gpu_bits<f64>(p.stats[line]), (C)(p.log ? gpu_log(sum) : 1 / sum)};
    return s;
}
template <typename C> GPU_FN C softmax_now(C x, softmax_line<C> s, u32 log) {
    C d = x - s.most;
    return log ? d - s.scale : reduce_exp(d) * s.scale;
}
template <typename T, typename C> GPU_FN T softmax_of(T x, softmax_line<C> s, u32 log) {
    return gpu_round<T>(softmax_now(gpu_up(x), s, log));
}

template <typename T> GPU_FN void softmax_pieces(const struct gpu_softmax_pieces &p) {
    typedef gpu_row<T, GPU_SOFTMAX_KEPT(sizeof(T))> Row;
    typedef typename Row::C C;
    GPU_SHARED f64 room[GPU_WAVES];
    i64 item = reduce_block(), line = item / p.pieces, from = (item - line * p.pieces) * p.length;
    if (line >= p.lines) return;
    i64 n = p.n - from < p.length ? p.n - from : p.length;
    C none;
    reduce_least(&none);
    Row r;
    gpu_row_load(&r, (const T *)p.in + line * p.n + from, (u32)n, gpu_thread(), GPU_BLOCK, none);
    C most = gpu_block_join<gpu_join_max>(gpu_row_join<gpu_join_max>(r), (C *)room);
    GPU_UNROLL for (int i = 0; i <= Row::COUNT; i++) r.c[i] = reduce_exp(r.c[i] - most);
    f64 sum = gpu_block_join<gpu_join_add>((f64)gpu_row_join<gpu_join_add>(r), room);
    if (gpu_thread() > 0) return;
    p.stats[item] = gpu_bits<u64>((f64)most);
    p.stats[p.lines * p.pieces + item] = gpu_bits<u64>(reduce_finite((f64)most) ? sum : 0);
}

/* The same of a line, from its pieces, of which each thread takes one. */
template <typename C> GPU_FN softmax_line<C> softmax_join(const struct gpu_softmax_apply &p, i64 line) {
    GPU_SHARED f64 room[GPU_WAVES];
    i64 at = line * p.pieces + gpu_thread();
    bool there = gpu_thread() < p.pieces;
    f64 top, part = there ? gpu_bits<f64>(p.stats[p.lines * p.pieces + at]) : 0;
    reduce_least(&top);
    if (there) top = gpu_bits<f64>(p.stats[at]);
    f64 most = gpu_block_join<gpu_join_max>(top, room);
    f64 sum = gpu_block_join<gpu_join_add>(reduce_finite(most) ? part * gpu_exp(top - most) : 0, room);
    softmax_line<C> s = {(C)most, (C)(p.log ? gpu_log(sum) : 1 / sum)};
    return s;
}

/* A piece of a line whose elements lie side by side: vectors of the piece's range, whole ones. */
template <typename T, bool PIECES> GPU_FN void softmax_apply(const struct gpu_softmax_apply &p) {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    i64 item = reduce_block();
    if (item >= p.lines * p.pieces) return;
    i64 line = item / p.pieces, from = (item - line * p.pieces) * p.length;
    i64 n = p.n - from < p.length ? p.n - from : p.length;
    const T *x = (const T *)p.in + line * p.n + from;
    T *out = (T *)p.out + line * p.n + from;
    softmax_line<C> s = PIECES ? softmax_join<C>(p, line) : softmax_stats<C>(p, line);
    i64 head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n || !p.aligned) head = n;
    i64 vectors = (n - head) / N, rest = n - vectors * N;
    GPU_NO_UNROLL for (i64 v = gpu_thread(); v < vectors; v += 2 * GPU_BLOCK) {
        bool both = v + GPU_BLOCK < vectors;
        gpu_vec<T> a = gpu_load16(x + head + v * N), b = a;
        if (both) b = gpu_load16(x + head + (v + GPU_BLOCK) * N);
        GPU_UNROLL for (int i = 0; i < N; i++) a.v[i] = softmax_of(a.v[i], s, p.log);
        gpu_store16(out + head + v * N, a);
        if (!both) break;
        GPU_UNROLL for (int i = 0; i < N; i++) b.v[i] = softmax_of(b.v[i], s, p.log);
        gpu_store16(out + head + (v + GPU_BLOCK) * N, b);
    }
    GPU_NO_UNROLL for (i64 i = gpu_thread(); i < rest; i += GPU_BLOCK) {
        i64 at = i < head ? i : i + vectors * N;
        out[at] = softmax_of(x[at], s, p.log);
    }
}

/* A tile of lines that lie across: N columns a thread, `across` threads wide. Behind the last row a thread loads its first
 * again, and does not take it. */
template <typename T, int N> GPU_FN void softmax_tile(const struct gpu_softmax_apply &p) {
    typedef typename gpu_compute<T>::type C;
    enum { ROWS = N == 1 ? 4 : 1 };
    i64 item = reduce_block();
    if (item >= p.lines / p.inner * p.tiles * p.pieces) return;
    i64 tile = item % p.tiles, outer = item / p.tiles / p.pieces, piece = item / p.tiles - outer * p.pieces;
    i64 column = (tile * p.across + gpu_thread() % p.across) * N, step = GPU_BLOCK / p.across;
    i64 from = piece * p.length, to = from + p.length < p.n ? from + p.length : p.n;
    if (column >= p.inner) return;
    softmax_line<C> s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = softmax_stats<C>(p, outer * p.inner + column + i);
    i64 base = outer * p.n * p.inner + column;
    const T *x = (const T *)p.in + base;
    T *out = (T *)p.out + base;
    GPU_NO_UNROLL for (i64 r = from + gpu_thread() / p.across; r < to; r += ROWS * step) {
        gpu_some<T, N> a[ROWS];
        GPU_UNROLL for (int k = 0; k < ROWS; k++)
            a[k] = gpu_some<T, N>::load(x + (r + k * step < to ? r + k * step : r) * p.inner);
        GPU_UNROLL for (int k = 0; k < ROWS; k++) {
            if (r + k * step >= to) break;
            C c[N];
            GPU_UNROLL for (int i = 0; i < N; i++) c[i] = softmax_now(gpu_up(a[k].v[i]), s[i], p.log);
            gpu_some<T, N>::store(out + (r + k * step) * p.inner, c);
        }
    }
}

template <typename T> GPU_FN void softmax_across(const struct gpu_softmax_apply &p) {
    if (p.aligned)
        softmax_tile<T, gpu_vec<T>::N>(p);
    else
        softmax_tile<T, 1>(p);
}

/* ---- lines across memory that are short ---- */

template <typename T, int N> GPU_FN void softmax_short_lines(const struct gpu_softmax_short &p) {
    typedef typename gpu_compute<T>::type C;
    enum { ROWS = GPU_SOFTMAX_SHORT(sizeof(T)) };
    gpu_short at = gpu_short_place<N>(p);
    const T *x = (const T *)p.in + at.first;
    gpu_some<T, N> v[ROWS];
    GPU_UNROLL for (int k = 0; k < ROWS; k++)
        if (gpu_short_has(at, k)) v[k] = gpu_some<T, N>::load(x + k * at.step);
    C c[ROWS][N], most[N], sum[N];
    GPU_UNROLL for (int i = 0; i < N; i++) reduce_least(&most[i]);
    GPU_UNROLL for (int k = 0; k < ROWS; k++)
        GPU_UNROLL for (int i = 0; i < N; i++) {
            reduce_least(&c[k][i]);
            if (gpu_short_has(at, k)) c[k][i] = gpu_up(v[k].v[i]);
            most[i] = gpu_join_max::of(most[i], c[k][i]);
        }
    gpu_short_join<gpu_join_max>(most, at);
    GPU_UNROLL for (int i = 0; i < N; i++) sum[i] = 0;
    GPU_UNROLL for (int k = 0; k < ROWS; k++)
        GPU_UNROLL for (int i = 0; i < N; i++) {
            c[k][i] -= most[i];
            C e = reduce_exp(c[k][i]);
            if (gpu_short_has(at, k)) sum[i] += e;
            if (!p.log) c[k][i] = e;
        }
    gpu_short_join<gpu_join_add>(sum, at);
    GPU_UNROLL for (int i = 0; i < N; i++) sum[i] = p.log ? gpu_log(sum[i]) : 1 / sum[i];
    T *out = (T *)p.out + at.first;
    GPU_UNROLL for (int k = 0; k < ROWS; k++) {
        if (!gpu_short_has(at, k)) break;
        GPU_UNROLL for (int i = 0; i < N; i++) c[k][i] = p.log ? c[k][i] - sum[i] : c[k][i] * sum[i];
        gpu_some<T, N>::store(out + k * at.step, c[k]);
    }
}

template <typename T> GPU_FN void softmax_short(const struct gpu_softmax_short &p) {
    if (p.vectors)
        softmax_short_lines<T, gpu_vec<T>::N>(p);
    else
        softmax_short_lines<T, 1>(p);
}

#define SOFTMAX(T)                                                                                                     \
    GPU_KERNEL_OF(softmax_rows_##T, struct gpu_softmax_rows, GPU_SOFTMAX_THREADS, sizeof(T) == 8 ? 1 : 2) {                \
        softmax_rows<T, GPU_SOFTMAX_KEPT(sizeof(T))>(p);                                                               \
    }                                                                                                                  \
    GPU_KERNEL_OF(softmax_vectors_##T, struct gpu_softmax_rows, GPU_SOFTMAX_THREADS, 2) {                              \
        softmax_rows<T, gpu_vec<T>::N>(p);                                                                             \
    }                                                                                                                  \
    GPU_KERNEL(softmax_pieces_##T, struct gpu_softmax_pieces) { softmax_pieces<T>(p); }                                \
    GPU_KERNEL(softmax_apply_##T, struct gpu_softmax_apply) { softmax_apply<T, false>(p); }                            \
    GPU_KERNEL(softmax_apply_pieces_##T, struct gpu_softmax_apply) { softmax_apply<T, true>(p); }                      \
    GPU_KERNEL(softmax_across_##T, struct gpu_softmax_apply) { softmax_across<T>(p); }                                 \
    GPU_KERNEL_OF(softmax_short_##T, struct gpu_softmax_short, GPU_BLOCK, 2) { softmax_short<T>(p); }
GPU_FLOATS(SOFTMAX)

#define SOFTMAX_PAIRS(T)                                                                                               \
    GPU_KERNEL_OF(softmax_pairs_##T, struct gpu_softmax_short, GPU_BLOCK, 2) { softmax_short_lines<T, 2>(p); }
SOFTMAX_PAIRS(bf16) SOFTMAX_PAIRS(f16)
