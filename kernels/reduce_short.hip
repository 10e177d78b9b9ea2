/* Places of extremes of short lines that lie across memory. Threads have lines of their own, and no barriers. */
#include "reduce_short.h"
#include "short.h"

/* The results of neighbouring lines, the first number `line`. */
template <typename K, int N>
GPU_FN void short_put(const struct gpu_reduce_end &end, i64 line, const typename K::State (&s)[N]) {
    if (N % 4 == 0 && end.store == GPU_STORE_B4) {
        GPU_UNROLL for (int i = 0; i + 3 < N; i += 4) {
            gpu_vec<u32> v;
            GPU_UNROLL for (int k = 0; k < 4; k++) v.v[k] = (u32)K::result(K::part(s[i + k]), end);
            gpu_store16((u32 *)end.out + line + i, v);
        }
        return;
    }
    GPU_UNROLL for (int i = 0; i < N; i++) reduce_put(end, line + i, K::result(K::part(s[i]), end));
}

template <typename T, typename K, int N> GPU_FN void short_lines(const struct gpu_reduce_short &p) {
    enum { ROWS = 4 };
    gpu_short at = gpu_short_place<N>(p);
    const T *x = (const T *)p.in + at.first;
    typename K::State s[N];
    u32 r = at.row;
    GPU_UNROLL for (int i = 0; i < N; i++) s[i] = K::start();
    GPU_NO_UNROLL for (; r + (ROWS - 1) * at.down < at.n; r += ROWS * at.down) {
        gpu_some<T, N> rows[ROWS];
        GPU_UNROLL for (int k = 0; k < ROWS; k++) rows[k] = gpu_some<T, N>::load(x + k * at.step);
        GPU_UNROLL for (int i = 0; i < N; i++) {
            T v[ROWS];
            GPU_UNROLL for (int k = 0; k < ROWS; k++) v[k] = rows[k].v[i];
            K::template several<ROWS>(s[i], v, r, at.down, p.end);
        }
        x += ROWS * at.step;
    }
    GPU_NO_UNROLL for (; r < at.n; r += at.down) {
        gpu_some<T, N> row = gpu_some<T, N>::load(x);
        GPU_UNROLL for (int i = 0; i < N; i++) K::template several<1>(s[i], row.v + i, r, 1, p.end);
        x += at.step;
    }
    gpu_short_join<K>(s, at);
    if (at.row == 0 && at.n > 0) short_put<K, N>(p.end, at.first - at.outer * (p.n - 1) * p.inner, s);
}

template <typename T, typename K> GPU_FN void short_kinds(const struct gpu_reduce_short &p) {
    if (p.beside == 1)
        short_lines<T, K, 1>(p);
    else if (sizeof(T) == 2 && p.beside == 2)
        short_lines<T, K, sizeof(T) == 2 ? 2 : 1>(p);
    else
        short_lines<T, K, gpu_vec<T>::N>(p);
}

#define ARG_SHORT(suffix, T, C)                                                                                        \
    GPU_KERNEL_OF(arg_short_##suffix, struct gpu_reduce_short, GPU_BLOCK, REDUCE_BLOCKS(T)) {                          \
        short_kinds<T, reduce_arg<T, C>>(p);                                                                           \
    }
ARG_SHORT(b2, u16, u32)
ARG_SHORT(b4, u32, u32)
ARG_SHORT(b8, u64, u64)
#define ARG_SHORT_FLOAT(T) ARG_SHORT(T, T, typename gpu_compute<T>::type)
ARG_SHORT_FLOAT(bf16)
ARG_SHORT_FLOAT(f16)
ARG_SHORT_FLOAT(f32)
ARG_SHORT_FLOAT(f64)
