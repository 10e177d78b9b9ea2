/* Sums of a few lines side by side. Their rows are read as one run, by vectors of 16 bytes: as those of all threads
 * together are whole rows, what a thread reads at each place of a vector is of one line, whatever vector it is. */
#include "reduce_body.h"
#include "reduce_few.h"

/* Parts of the threads' places, `n` of them, of which every `width`th is of a line, become one of each line. */
template <typename K> GPU_FN void few_join(typename K::Part *parts, u32 n, u32 width) {
    u32 rows = n / width;
    GPU_NO_UNROLL while (rows > 1) {
        u32 half = (rows + 1) / 2, pairs = (rows - half) * width;
        GPU_NO_UNROLL for (u32 i = gpu_thread(); i < pairs; i += GPU_BLOCK)
            parts[i] = K::of(parts[i], parts[i + half * width]);
        rows = half;
        gpu_sync();
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
    u32 mine = gpu_thread(), step = p.threads;
    typename K::State s[N];
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = K::start();
    i64 v = mine < step ? mine : vectors;
    GPU_NO_UNROLL for (; v + (ROWS - 1) * step < vectors; v += ROWS * step) {
        gpu_vec<T> rows[ROWS];
        GPU_UNROLL for (int k = 0; k < ROWS; k++) rows[k] = gpu_load16(x + head + (v + k * step) * N);
        GPU_UNROLL for (int i = 0; i < N; i++) {
            T u[ROWS];
            GPU_UNROLL for (int k = 0; k < ROWS; k++) u[k] = rows[k].v[i];
            K::template several<ROWS>(s[i], u, 0, 1, p.end);
        }
    }
    GPU_NO_UNROLL for (; v < vectors; v += step) {
        gpu_vec<T> row = gpu_load16(x + head + v * N);
        GPU_UNROLL for (int i = 0; i < N; i++) K::template several<1>(s[i], row.v + i, 0, 1, p.end);
    }
    if (mine < step)
        GPU_UNROLL for (int i = 0; i < N; i++) parts[mine * N + i] = K::part(s[i]);
    gpu_sync();
    few_join<K>(parts, step * N, p.width);
    /* Place i of the first row is of line (head + i) % width; elements in front of the vectors and behind them are few. */
    if (mine >= p.width) return -1;
    u32 line = (u32)((head + mine) % p.width);
    Part q = parts[mine];
    typename K::State rest = K::start();
    GPU_NO_UNROLL for (i64 i = line; i < head; i += p.width) K::template several<1>(rest, x + i, 0, 1, p.end);
    GPU_NO_UNROLL for (i64 i = tail + (line + p.width - (u32)(tail % p.width)) % p.width; i < n; i += p.width)
        K::template several<1>(rest, x + i, 0, 1, p.end);
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
