/* Gradients of softmax and of its logarithm: the sum of each line, in f64, and then its elements. The second reading of
 * a line finds it in a cache unless it is very long. */
#include "dtype.h"
#include "reduce_body.h"
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

/* `across` lines side by side, each by GPU_BLOCK / across threads. */
template <typename T> GPU_FN void softmax_backward_across(const struct gpu_softmax_backward &p) {
    typedef typename gpu_compute<T>::type C;
    GPU_SHARED f64 room[GPU_BLOCK];
    i64 item = reduce_block(), outer = item / p.tiles;
    if (outer >= p.outer) return;
    i64 column = (item - outer * p.tiles) * p.across + gpu_thread() % p.across;
    i64 n = column < p.inner ? p.n : 0, at = outer * p.n * p.inner + column, step = GPU_BLOCK / p.across;
    const T *gradient = (const T *)p.gradient + at, *result = (const T *)p.result + at;
    T *out = (T *)p.out + at;
    f64 sum = 0;
    GPU_NO_UNROLL for (i64 i = gpu_thread() / p.across; i < n; i += step)
        sum += softmax_term<C>(gpu_up(gradient[i * p.inner]), gpu_up(result[i * p.inner]), p.log);
    C all = (C)gpu_columns_join(sum, p.across, room);
    GPU_NO_UNROLL for (i64 i = gpu_thread() / p.across; i < n; i += step) {
        C g = gpu_up(gradient[i * p.inner]), y = gpu_up(result[i * p.inner]);
        out[i * p.inner] = gpu_round<T>(softmax_slope(g, y, all, p.log));
    }
}

#define SOFTMAX_BACKWARD(T)                                                                                            \
    GPU_KERNEL(softmax_backward_rows_##T, struct gpu_softmax_backward) { softmax_backward_rows<T>(p); }                \
    GPU_KERNEL(softmax_backward_across_##T, struct gpu_softmax_backward) { softmax_backward_across<T>(p); }
GPU_FLOATS(SOFTMAX_BACKWARD)
