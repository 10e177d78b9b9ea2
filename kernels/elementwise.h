/* Elementwise kernels: blocks take tiles of a result that is contiguous, and each thread S elements of a tile, which it
 * holds in registers while one uniform switch picks the op. Operands are read in chunks of E neighbours where they
 * allow that, by 16 bytes or by what E elements of a narrower operand are; else element by element. */
#ifndef WICK_KERNELS_ELEMENTWISE_H
#define WICK_KERNELS_ELEMENTWISE_H

#include "dtype.h"
#include "layout.h"
#include "walk.h"

/* E elements, moved together. */
template <int BYTES> struct gpu_align {
    enum { value = BYTES > 16 ? 16 : BYTES };
};
template <typename T, int E> struct alignas(gpu_align<sizeof(T) * E>::value) gpu_pack { T v[E]; };

/* How they are loaded and stored: as they are, or as what they are computed with. */
template <typename T, int E, int VECTORS> struct gpu_packs {
    enum { N = gpu_vec<T>::N };
    typedef typename gpu_compute<T>::type C;
    GPU_FN gpu_pack<T, E> load(const T *p) {
        gpu_pack<T, E> pack;
        GPU_UNROLL for (int k = 0; k < VECTORS; k++) {
            gpu_vec<T> v = gpu_load16(p + k * N);
            GPU_UNROLL for (int e = 0; e < N; e++) pack.v[k * N + e] = v.v[e];
        }
        return pack;
    }
    GPU_FN void store(T *p, const gpu_pack<T, E> &pack) {
        GPU_UNROLL for (int k = 0; k < VECTORS; k++) {
            gpu_vec<T> v;
            GPU_UNROLL for (int e = 0; e < N; e++) v.v[e] = pack.v[k * N + e];
            gpu_store16(p + k * N, v);
        }
    }
    GPU_FN void load_up(C *x, const T *p) {
        GPU_UNROLL for (int k = 0; k < VECTORS; k++) gpu_up_vector(gpu_load16(p + k * N), *(C(*)[N])(x + k * N));
    }
    GPU_FN void store_down(T *p, const C *x) {
        GPU_UNROLL for (int k = 0; k < VECTORS; k++) {
            gpu_vec<T> v;
            gpu_down_vector(&v, x + k * N);
            gpu_store16(p + k * N, v);
        }
    }
};
/* Of fewer than 16 bytes. */
template <typename T, int E> struct gpu_packs<T, E, 0> {
    typedef typename gpu_compute<T>::type C;
    GPU_FN gpu_pack<T, E> load(const T *p) { return *(const gpu_pack<T, E> *)p; }
    GPU_FN void store(T *p, const gpu_pack<T, E> &pack) { *(gpu_pack<T, E> *)p = pack; }
    GPU_FN void load_up(C *x, const T *p) {
        gpu_pack<T, E> pack = load(p);
        GPU_UNROLL for (int e = 0; e < E; e++) x[e] = gpu_up(pack.v[e]);
    }
    GPU_FN void store_down(T *p, const C *x) {
        gpu_pack<T, E> pack;
        GPU_UNROLL for (int e = 0; e < E; e++) gpu_down(&pack.v[e], x[e]);
        store(p, pack);
    }
};
template <typename T, int E> GPU_FN gpu_pack<T, E> gpu_load_pack(const T *p) {
    return gpu_packs<T, E, E / gpu_vec<T>::N>::load(p);
}
template <typename T, int E> GPU_FN void gpu_store_pack(T *p, const gpu_pack<T, E> &pack) {
    gpu_packs<T, E, E / gpu_vec<T>::N>::store(p, pack);
}

/* Offsets of element i of a narrow shape in N operands. */
template <int N>
GPU_FN gpu_offsets<N> gpu_offsets_at(u32 i, const struct gpu_shape &shape, const struct gpu_layout (&layouts)[N]) {
    gpu_offsets<N> o;
    GPU_UNROLL for (int k = 0; k < N; k++) o.at[k] = 0;
    GPU_UNROLL_DIMS for (u32 d = 0; d < GPU_RANK; d++) {
        if (d == shape.rank) break;
        u32 quotient = gpu_divide(i, shape.divisor[d]);
        i64 digit = (i64)(u64)(i - quotient * shape.divisor[d].d);
        GPU_UNROLL for (int k = 0; k < N; k++) o.at[k] += digit * layouts[k].stride[d];
        i = quotient;
    }
    return o;
}

/* Where one element or chunk of operand k begins, in elements. */
GPU_FN i64 gpu_walk_at(const struct gpu_walk &w, int k, u32 i) {
    i64 at = 0;
    GPU_UNROLL_DIMS for (u32 d = 0; d < GPU_RANK; d++) {
        if (d == w.shape.rank) break;
        u32 quotient = gpu_divide(i, w.shape.divisor[d]);
        at += (i64)(u64)(i - quotient * w.shape.divisor[d].d) * w.layout[k].stride[d];
        i = quotient;
    }
    return at;
}

/* Whether a tile is moved in chunks. */
template <int S> GPU_FN bool gpu_walk_chunks(const struct gpu_walk &w, u64 tile) {
    if (w.mode == GPU_WALK_FLAT || w.mode == GPU_WALK_STEPS) return (tile + 1) * (GPU_BLOCK * S) <= (u64)w.count;
    return w.mode == GPU_WALK_ROWS;
}

/* Whether a tile of every operand is whole chunks that follow each other. Where 16-bit elements are taken apart in the
 * branch that loads them, as in gpu_fetch, the loads of one operand wait for those of the other. */
template <int S> GPU_FN bool gpu_walk_straight(const struct gpu_walk &w, u64 tile) {
    return w.mode == GPU_WALK_FLAT && w.splat == 0 && gpu_walk_chunks<S>(w, tile);
}

/* Where chunk c of this thread begins in such a tile. */
template <int E, int S> GPU_FN u64 gpu_straight_at(u64 tile, int c) {
    return (tile * (GPU_BLOCK * S / E) + (u32)(c * GPU_BLOCK) + gpu_thread()) * E;
}

/* The elements from number i on of an operand of up to three dims, by steps from one to the next. */
template <int E, typename T> GPU_FN void gpu_fetch_steps(T *r, const struct gpu_walk &w, int k, u32 i) {
    u32 n = w.shape.divisor[0].d, rows = w.shape.divisor[1].d;
    u32 row = gpu_divide(i, w.shape.divisor[0]), plane = gpu_divide(row, w.shape.divisor[1]);
    i64 step = w.layout[k].stride[0], down = w.layout[k].stride[1], away = w.layout[k].stride[2];
    u32 left = n - (i - row * n), rows_left = rows - (row - plane * rows);
    const T *in = (const T *)w.in[k] + (i64)(u64)(n - left) * step + (i64)(u64)(rows - rows_left) * down +
                  (i64)(u64)plane * away;
    down -= (i64)(u64)(n - 1) * step;
    away -= (i64)(u64)(rows - 1) * w.layout[k].stride[1] + (i64)(u64)(n - 1) * step;
    GPU_UNROLL for (int e = 0; e < E; e++) {
        r[e] = *in;
        i64 next = step;
        if (--left == 0) {
            left = n;
            next = --rows_left == 0 ? away : down;
            if (rows_left == 0) rows_left = rows;
        }
        if (e + 1 < E) in += next;
    }
}

/* Reads this thread's elements of a tile of operand k. What lies behind the end repeats element 0. ANY: the first operand
 * may be read by steps, too. */
template <int E, int S, bool ANY = false, typename T>
GPU_FN void gpu_fetch(T (&r)[S], const struct gpu_walk &w, int k, u64 tile) {
    const T *in = (const T *)w.in[k];
    bool splat = w.splat >> k & 1;
    if (gpu_walk_chunks<S>(w, tile)) {
        GPU_UNROLL for (int c = 0; c < S / E; c++) {
            u64 chunk = tile * (GPU_BLOCK * S / E) + (u32)(c * GPU_BLOCK) + gpu_thread();
            i64 at;
            if ((ANY || k > 0) && w.mode == GPU_WALK_STEPS && w.steps >> k & 1) {
                gpu_fetch_steps<E>(&r[c * E], w, k, (u32)chunk * E);
                continue;
            }
            if (w.mode == GPU_WALK_FLAT || w.mode == GPU_WALK_STEPS) {
                at = splat ? 0 : (i64)(chunk * E);
            } else {
                if (chunk >= (u64)w.shape.count) chunk = 0;
                at = gpu_walk_at(w, k, (u32)chunk);
            }
            if (splat) {
                T one = in[at];
                GPU_UNROLL for (int e = 0; e < E; e++) r[c * E + e] = one;
            } else {
                gpu_pack<T, E> pack = gpu_load_pack<T, E>(in + at);
                GPU_UNROLL for (int e = 0; e < E; e++) r[c * E + e] = pack.v[e];
            }
        }
    } else {
        GPU_UNROLL for (int s = 0; s < S; s++) {
            u64 i = tile * (GPU_BLOCK * S) + (u32)(s * GPU_BLOCK) + gpu_thread();
            if (i >= (u64)w.count) i = 0;
            if (w.mode == GPU_WALK_FLAT)
                r[s] = in[splat ? 0 : i];
            else
                r[s] = in[gpu_walk_at(w, k, (u32)i)];
        }
    }
}

/* Whether this thread's elements of operand k, integers of `size` bytes, are not 0. */
template <int E, int S> GPU_FN void gpu_fetch_truth(bool (&r)[S], const struct gpu_walk &w, int k, u32 size, u64 tile) {
    bool splat = w.splat >> k & 1, chunks = gpu_walk_chunks<S>(w, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) {
        u64 i = tile * (GPU_BLOCK * S) +
                (chunks ? (u32)(s / E * GPU_BLOCK + gpu_thread()) * E + s % E : (u32)(s * GPU_BLOCK) + gpu_thread());
        i64 at;
        if (i >= (u64)w.count) i = 0;
        if (w.mode == GPU_WALK_FLAT)
            at = splat ? 0 : (i64)i;
        else if (w.mode == GPU_WALK_ROWS)
            at = gpu_walk_at(w, k, (u32)(i / E)) + (splat ? 0 : (i64)(i % E));
        else
            at = gpu_walk_at(w, k, (u32)i);
        r[s] = size == 1   ? ((const u8 *)w.in[k])[at] != 0
               : size == 2 ? ((const u16 *)w.in[k])[at] != 0
               : size == 4 ? ((const u32 *)w.in[k])[at] != 0
                           : ((const u64 *)w.in[k])[at] != 0;
    }
}

/* Reads this thread's elements of a tile of the first two operands, as they are computed with. */
template <typename T, int E, bool ANY = false, int S, typename C>
GPU_FN void gpu_fetch_both(C (&a)[S], C (&b)[S], const struct gpu_walk &w, u64 tile) {
    if (gpu_walk_straight<S>(w, tile)) {
        GPU_UNROLL for (int c = 0; c < S / E; c++) {
            u64 at = gpu_straight_at<E, S>(tile, c);
            gpu_packs<T, E, E / gpu_vec<T>::N>::load_up(&a[c * E], (const T *)w.in[0] + at);
            gpu_packs<T, E, E / gpu_vec<T>::N>::load_up(&b[c * E], (const T *)w.in[1] + at);
        }
        return;
    }
    T r[S], q[S];
    gpu_fetch<E, S, ANY>(r, w, 0, tile);
    gpu_fetch<E, S>(q, w, 1, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) {
        a[s] = gpu_up(r[s]);
        b[s] = gpu_up(q[s]);
    }
}

/* Writes this thread's elements of a tile of the result. */
template <int E, int S, typename T> GPU_FN void gpu_put(const T (&r)[S], const struct gpu_walk &w, u64 tile) {
    T *out = (T *)w.out;
    if (gpu_walk_chunks<S>(w, tile)) {
        GPU_UNROLL for (int c = 0; c < S / E; c++) {
            u64 chunk = tile * (GPU_BLOCK * S / E) + (u32)(c * GPU_BLOCK) + gpu_thread();
            gpu_pack<T, E> pack;
            GPU_UNROLL for (int e = 0; e < E; e++) pack.v[e] = r[c * E + e];
            if ((chunk + 1) * E <= (u64)w.count) gpu_store_pack(out + chunk * E, pack);
        }
    } else {
        GPU_UNROLL for (int s = 0; s < S; s++) {
            u64 i = tile * (GPU_BLOCK * S) + (u32)(s * GPU_BLOCK) + gpu_thread();
            if (i < (u64)w.count) out[i] = r[s];
        }
    }
}

/* Writes computed values, rounded once. */
template <typename T, int E, int S, typename C>
GPU_FN void gpu_put_rounded(const C (&a)[S], const struct gpu_walk &w, u64 tile) {
    if (gpu_walk_straight<S>(w, tile)) {
        GPU_UNROLL for (int c = 0; c < S / E; c++) {
            u64 at = gpu_straight_at<E, S>(tile, c);
            gpu_packs<T, E, E / gpu_vec<T>::N>::store_down((T *)w.out + at, &a[c * E]);
        }
        return;
    }
    T r[S];
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = gpu_round<T>(a[s]);
    gpu_put<E, S>(r, w, tile);
}

/* The tile of this block. Blocks that have none must do nothing: a grid of two dims may have a few too many. */
GPU_FN u64 gpu_tile(void) { return (u64)gpu_block_y() * gpu_blocks_x() + gpu_block_x(); }

GPU_FN bool gpu_negative(u8) { return false; }
GPU_FN bool gpu_negative(u32) { return false; }
GPU_FN bool gpu_negative(i16 x) { return x < 0; }
GPU_FN bool gpu_negative(i32 x) { return x < 0; }
GPU_FN bool gpu_negative(i64 x) { return x < 0; }

#endif
