/* Lines of a few elements that lie across memory: a thread takes neighbouring columns of N, and every `down`th of their
 * elements. Threads of one wave share a line. */
#ifndef WICK_KERNELS_SHORT_H
#define WICK_KERNELS_SHORT_H

#include "reduce_body.h"
#include "wave.h"

/* One element, two of 16 bits or a vector of 16 bytes as they lie in memory. */
template <typename T, int N, bool PAIR = N == 2 && sizeof(T) == 2> struct gpu_some : gpu_vec<T> {
    GPU_FN gpu_some load(const T *x) {
        gpu_some r;
        (gpu_vec<T> &)r = gpu_load16(x);
        return r;
    }
    GPU_FN void store(T *out, const typename gpu_compute<T>::type (&c)[N]) {
        gpu_vec<T> v;
        gpu_down_vector(&v, c);
        gpu_store16(out, v);
    }
};
template <typename T> struct gpu_some<T, 2, true> {
    T v[2];
    GPU_FN gpu_some load(const T *x) { return gpu_bits<gpu_some>(*(const u32 *)x); }
    GPU_FN void store(T *out, const typename gpu_compute<T>::type (&c)[2]) {
        gpu_some r = {{gpu_round<T>(c[0]), gpu_round<T>(c[1])}};
        *(u32 *)out = gpu_bits<u32>(r);
    }
};
template <typename T> struct gpu_some<T, 1, false> {
    T v[1];
    GPU_FN gpu_some load(const T *x) { return {{*x}}; }
    GPU_FN void store(T *out, const typename gpu_compute<T>::type (&c)[1]) { *out = gpu_round<T>(c[0]); }
};

/* Where a thread's elements are: number `first` of the tensor, and then every `step`; number k of them is there if
 * row + k * down < n. `across` lanes lie between those that share a line, which is in number `outer` of outer. */
struct gpu_short {
    i64 first, step, outer;
    u32 row, n, down, across;
};
GPU_FN bool gpu_short_has(const gpu_short &s, int k) { return s.row + (u32)k * s.down < s.n; }

/* P has items, width, n, inner and down as gpu_softmax_short has. */
template <int N, typename P> GPU_FN gpu_short gpu_short_place(const P &p) {
    gpu_short s;
    s.down = p.down;
    s.across = GPU_WAVE / p.down;
    i64 wave = reduce_block() * (GPU_BLOCK / GPU_WAVE) + gpu_wave(), item = wave * s.across + gpu_lane() % s.across;
    s.row = gpu_lane() / s.across;
    s.n = item < p.items ? (u32)p.n : 0;
    s.outer = p.items < 0x80000000ll ? (i64)((u32)item / (u32)p.width) : item / p.width;
    s.first = s.outer * p.n * p.inner + (item - s.outer * p.width) * N + s.row * p.inner;
    s.step = s.down * p.inner;
    return s;
}

/* What the threads of a line have, joined, for each of their columns; every lane must take part. */
template <typename J, typename C, int N> GPU_FN void gpu_short_join(C (&v)[N], const gpu_short &s) {
    GPU_NO_UNROLL for (u32 mask = s.across; mask < GPU_WAVE; mask *= 2)
        GPU_UNROLL for (int i = 0; i < N; i++) v[i] = J::of(v[i], gpu_shuffle_xor(v[i], mask));
}

#endif
