/* Sums of a few lines side by side, and places of extremes. Their rows are read as one run, by vectors of 16 bytes: as
 * those of all threads together are whole rows, what a thread reads at each place of a vector is of one line, whatever
 * vector it is. */
#include "planes.h"
#include "reduce_body.h"
#include "reduce_few.h"

/* Places of extremes: a thread told its rows by the number of its vector; the first of them is row `first`, and `rows`
 * rows are from a vector to the next. */
template <typename P> GPU_FN void few_place(P *q, u32 first, u32 rows) { (void)q, (void)first, (void)rows; }
template <typename C> GPU_FN void few_place(reduce_best<C> *q, u32 first, u32 rows) {
    if (q->at != ~0u) q->at = first + q->at * rows;
}

/* Vectors that follow each other in a thread, from number `number` on. */
template <typename K, typename T, int A, typename S, int N>
GPU_FN void few_take(S (&s)[N], const gpu_vec<T> (&rows)[A], u32 number, const struct gpu_reduce_end &end) {
    GPU_UNROLL for (int i = 0; i < N; i++) {
        T u[A];
        GPU_UNROLL for (int k = 0; k < A; k++) u[k] = rows[k].v[i];
        K::template several<A>(s[i], u, number, 1, end);
    }
}

/* Where a thread leaves what its line comes to; -1: nowhere. */
template <typename T, typename K> GPU_FN i64 few_segment(const struct gpu_reduce_few &p, u64 *room, reduce_words *w) {
    enum { N = gpu_vec<T>::N, ROWS = 4 };
    typedef typename K::Part Part;
    Part *parts = (Part *)room;
    i64 item = reduce_block(), plane = item / p.splits, split = item - plane * p.splits, from = split * p.length;
    if (plane >= p.planes) return -1;
    const T *x = (const T *)p.in + plane * p.pitch + from;
    i64 n = p.n - from < p.length ? p.n - from : p.length, head = (i64)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (head > n) head = n;
    i64 vectors = (n - head) / N, tail = head + vectors * N;
    u32 mine = gpu_thread(), step = p.threads, number = 0;
    typename K::State s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = K::start();
    i64 v = mine < step ? mine : vectors;
    GPU_NO_UNROLL for (; v + (ROWS - 1) * step < vectors; v += ROWS * step, number += ROWS) {
        gpu_vec<T> rows[ROWS];
        GPU_UNROLL for (int k = 0; k < ROWS; k++) rows[k] = gpu_load16(x + head + (v + k * step) * N);
        few_take<K>(s, rows, number, p.end);
    }
    if (v < vectors) { /* what is left, at once too: behind the last vector, this one again, which is not taken */
        gpu_vec<T> rows[ROWS - 1];
        GPU_UNROLL for (int k = 0; k < ROWS - 1; k++)
            rows[k] = gpu_load16(x + head + (v + k * step < vectors ? v + k * step : v) * N);
        GPU_UNROLL for (int k = 0; k < ROWS - 1; k++) {
            gpu_vec<T> one[1] = {rows[k]};
            if (v + k * step < vectors) few_take<K>(s, one, number + k, p.end);
        }
    }
    if (mine < step)
        GPU_UNROLL for (int i = 0; i < N; i++) {
            parts[mine * N + i] = K::part(s[i]);
            few_place(&parts[mine * N + i], (u32)(from + head + mine * N + i) / p.width, step * N / p.width);
        }
    gpu_sync();
    gpu_planes_join<K>(parts, step * N, p.width);
    /* Place i of the first row is of line (head + i) % width; elements in front of the vectors and behind them are few. */
    if (mine >= p.width) return -1;
    u32 line = (u32)((head + mine) % p.width);
    Part q = parts[mine];
    typename K::State rest = K::start();
    u32 row = (u32)(from / p.width);
    GPU_NO_UNROLL for (u32 i = line; i < head; i += p.width)
        K::template several<1>(rest, x + i, row + i / p.width, 1, p.end);
    GPU_NO_UNROLL for (i64 i = tail + (line + p.width - (u32)(tail % p.width)) % p.width; i < n; i += p.width)
        K::template several<1>(rest, x + i, row + (u32)i / p.width, 1, p.end);
    q = K::of(q, K::part(rest));
    reduce_leave<K>(q, p.end, w);
    i64 at = plane * p.width + line;
    return p.end.finish == GPU_FINISH_PART ? at * p.end.part_out + split * p.end.part_segment : at;
}

#define REDUCE_FEW(T)                                                                                                  \
    GPU_KERNEL_OF(reduce_few_##T, struct gpu_reduce_few, GPU_BLOCK, 3) {                                               \
        GPU_SHARED u64 room[GPU_BLOCK * gpu_vec<T>::N];                                                                \
        reduce_words w = {{0, 0, 0}};                                                                                  \
        i64 at = few_segment<T, reduce_sum<T>>(p, room, &w);                                                           \
        if (at >= 0) reduce_store(p.end, at, 1, w);                                                                    \
    }
REDUCE_FEW(bf16)
REDUCE_FEW(f16)

#define ARG_FEW(T)                                                                                                     \
    GPU_KERNEL_OF(arg_few_##T, struct gpu_reduce_few, GPU_BLOCK, 3) {                                                  \
        GPU_SHARED u64 room[GPU_BLOCK * gpu_vec<T>::N];                                                                \
        reduce_words w = {{0, 0, 0}};                                                                                  \
        i64 at = few_segment<T, reduce_arg<T, f32>>(p, room, &w);                                                      \
        if (at >= 0) reduce_store(p.end, at, 2, w);                                                                    \
    }
ARG_FEW(bf16)
ARG_FEW(f16)
ARG_FEW(f32)
