/* Rows that a group of threads keeps in registers: whole vectors of 16 bytes, and one element a thread of those before
 * the first and after the last. */
#ifndef WICK_KERNELS_ROWS_H
#define WICK_KERNELS_ROWS_H

#include "dtype.h"
#include "wave.h"

/* A row of T, computed in C, at most KEPT * group elements and those at its ends, which must be no more than the group. */
template <typename T, int KEPT> struct gpu_row {
    typedef typename gpu_compute<T>::type C;
    enum { N = gpu_vec<T>::N, VECTORS = KEPT / N > 0 ? KEPT / N : 1, COUNT = VECTORS * N };
    C c[COUNT + 1];         /* the last is the one at an end */
    u32 head, vectors, rest; /* elements before the first vector; vectors; elements that are in none */
    u32 lane, group;
};

/* The same as it lies in memory, which takes fewer registers where elements are narrow. */
template <typename T, int KEPT> struct gpu_raw_row {
    enum { N = gpu_vec<T>::N, VECTORS = KEPT / N > 0 ? KEPT / N : 1 };
    gpu_vec<T> v[VECTORS];
    T end;
    u32 head, vectors, rest;
    u32 lane, group;
};

/* Whether this thread has vector k of its row, and the number of its first element. */
template <typename R> GPU_FN bool gpu_row_has(const R &r, int k) { return r.lane + (u32)k * r.group < r.vectors; }
template <typename R> GPU_FN u32 gpu_row_at(const R &r, int k) { return r.head + (r.lane + (u32)k * r.group) * R::N; }
/* The number of the element that it has at an end, when lane < rest. */
template <typename R> GPU_FN u32 gpu_row_end(const R &r) {
    return r.lane < r.head ? r.lane : r.lane + r.vectors * R::N;
}

/* Where the elements of a row of n at x are. */
template <typename R, typename T> GPU_FN void gpu_row_place(R *r, const T *x, u32 n, u32 lane, u32 group) {
    r->lane = lane;
    r->group = group;
    r->head = (u32)((16 - ((u64)x & 15)) % 16 / sizeof(T));
    if (r->head > n) r->head = n;
    r->vectors = (n - r->head) / R::N;
    r->rest = n - r->vectors * R::N;
}

/* Loads a row of n elements; places without one get `none`. */
template <typename R, typename T>
GPU_FN void gpu_row_load(R *r, const T *x, u32 n, u32 lane, u32 group, typename R::C none) {
    gpu_row_place(r, x, n, lane, group);
    gpu_vec<T> v[R::VECTORS];
    GPU_UNROLL for (int k = 0; k < R::VECTORS; k++)
        if (gpu_row_has(*r, k)) v[k] = gpu_load16(x + gpu_row_at(*r, k));
    GPU_UNROLL for (int k = 0; k < R::VECTORS; k++) {
        typename R::C c[R::N];
        GPU_UNROLL for (int i = 0; i < R::N; i++) c[i] = none;
        if (gpu_row_has(*r, k)) gpu_up_vector(v[k], c);
        GPU_UNROLL for (int i = 0; i < R::N; i++) r->c[k * R::N + i] = c[i];
    }
    r->c[R::COUNT] = lane < r->rest ? gpu_up(x[gpu_row_end(*r)]) : none;
}

/* Loads a row of n elements. Places without one are not written. */
template <typename R, typename T> GPU_FN void gpu_raw_row_load(R *r, const T *x, u32 n, u32 lane, u32 group) {
    gpu_row_place(r, x, n, lane, group);
    GPU_UNROLL for (int k = 0; k < R::VECTORS; k++)
        if (gpu_row_has(*r, k)) r->v[k] = gpu_load16(x + gpu_row_at(*r, k));
    if (lane < r->rest) r->end = x[gpu_row_end(*r)];
}

/* N elements from `to` on; `aligned`: that is a multiple of 16 bytes. */
template <typename T> GPU_FN void gpu_row_put(T *to, const gpu_vec<T> &v, bool aligned) {
    if (aligned) {
        gpu_store16(to, v);
    } else {
        GPU_UNROLL for (int i = 0; i < gpu_vec<T>::N; i++) to[i] = v.v[i];
    }
}

/* Stores what has become of it; `aligned`: out begins as x did, modulo 16 bytes. */
template <typename R, typename T> GPU_FN void gpu_row_store(const R &r, T *out, bool aligned) {
    GPU_UNROLL for (int k = 0; k < R::VECTORS; k++) {
        if (!gpu_row_has(r, k)) continue;
        gpu_vec<T> v;
        gpu_down_vector(&v, r.c + k * R::N);
        gpu_row_put(out + gpu_row_at(r, k), v, aligned);
    }
    if (r.lane < r.rest) out[gpu_row_end(r)] = gpu_round<T>(r.c[R::COUNT]);
}

/* All of a thread's places made one. */
template <typename J, typename R> GPU_FN typename R::C gpu_row_join(const R &r) {
    return J::of(gpu_tree<R::COUNT>::template of<J>(r.c), r.c[R::COUNT]);
}

#endif
