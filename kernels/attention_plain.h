/* Products of attention in f32 by tiles in registers: operands pass through LDS a slab at a time, the next slab on its
 * way while this one is multiplied.
 *
 * A block has 128 threads, 16 x 8. Thread (y, x) has R rows of a tile, y + 16 i, and of its 64 columns the eight
 * x + 8 j. All threads of a row are in one wave. */
#ifndef WICK_KERNELS_ATTENTION_PLAIN_H
#define WICK_KERNELS_ATTENTION_PLAIN_H

#include "attention_common.h"

enum {
    PLAIN_THREADS = 128,
    PLAIN_HIGH = 16,
    PLAIN_WIDE = 64, /* columns of a tile */
    PLAIN_WEIGHTS = PLAIN_WIDE + 4 /* from a row of weights to the next */
};
/* Small tiles end a slab before the next one is there, so theirs are larger, where a unit has LDS enough. */
#if defined(GPU_AMD)
enum { PLAIN_LARGER = 1 };
#else
enum { PLAIN_LARGER = 2 };
#endif

/* R rows of a thread, the result's rows of up to DIM elements: numbers of f32 in LDS. Weights lie where the slabs of
 * the first product were. */
template <int R, int DIM> struct plain_shape {
    enum {
        ROWS = R * PLAIN_HIGH,
        SLAB = R == 2 ? 16 * PLAIN_LARGER : 16, /* elements of rows in a slab of the first product */
        PITCH = SLAB + 4,
        SLABS = 2 * (ROWS + PLAIN_WIDE) * PITCH,
        FIRST = SLABS > ROWS * PLAIN_WEIGHTS ? SLABS : ROWS * PLAIN_WEIGHTS,
        FEWER = DIM > 96 ? 8 : 16, /* rows of a slab of the second product */
        TERMS = R == 2 && DIM != 96 ? FEWER * PLAIN_LARGER : FEWER,
        TOTAL = FIRST + 2 * TERMS * DIM,
        CHUNKS = DIM / 32
    };
};

/* Where a thread is. Lanes 1 and 2 apart share a row or a column, so that what two of them read is one word. */
GPU_FN u32 plain_x(void) { return gpu_lane() / 2 % 8; }
GPU_FN u32 plain_y(void) { return gpu_wave() * (GPU_WAVE / 8) + gpu_lane() / 16 * 2 + gpu_lane() % 2; }

/* Over the eight threads of a row. */
template <typename J> GPU_FN f32 plain_join(f32 v) {
    GPU_UNROLL for (u32 lanes = 2; lanes < 16; lanes *= 2) v = J::of(v, gpu_shuffle_xor(v, lanes));
    return v;
}
struct plain_add_two {
    GPU_FN f32 of(f32 a, f32 b) { return a + b; }
};
/* The greater, not a NaN where one is a number. */
struct plain_most {
    GPU_FN f32 of(f32 a, f32 b) {
#if defined(GPU_NVIDIA)
        return fmaxf(a, b);
#else
        return __builtin_fmaxf(a, b);
#endif
    }
};

/* The exponential of a number up to 0, within some units in its last place, or 0 for one below 2^-126. */
GPU_FN f32 plain_exp(f32 x) {
    x *= 1.4426950408889634f;
#if defined(GPU_NVIDIA)
    f32 y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#elif __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    return gpu_exp2(x);
#endif
}

/* Rows of equal distance, the first `count` of them, at least one; elements side by side, whole fours. */
struct plain_rows {
    const f32 *from;
    i64 stride;
    u32 count, length;
};
/* Row r; another where there is no such row, for nobody looks at its products. */
GPU_FN const f32 *plain_row(const struct plain_rows &x, u32 r) {
    return x.from + (i64)(r < x.count ? r : x.count - 1) * x.stride;
}

GPU_FN gpu_vec<f32> plain_take(const f32 *from, bool there) {
    gpu_vec<f32> v;
    GPU_UNROLL for (int e = 0; e < 4; e++) v.v[e] = 0;
    if (there) v = gpu_load16(from);
    return v;
}

/* ---- the product of rows with rows ---- */

/* A thread's pieces of a slab of N rows: their places in the operand, and what it took from there. */
template <int R, int N> struct plain_fetch {
    enum {
        SLAB = plain_shape<R, 32>::SLAB,
        PITCH = SLAB + 4,
        FOURS = SLAB / 4,
        STEP = PLAIN_THREADS / FOURS, /* rows from one piece to the next */
        PIECES = N / STEP
    };
    const f32 *from[PIECES];
    gpu_vec<f32> v[PIECES];
};
template <int R, int N, typename X> GPU_FN void plain_begin(struct plain_fetch<R, N> &f, const X &x) {
    typedef plain_fetch<R, N> fetch;
    GPU_UNROLL for (u32 i = 0; i < fetch::PIECES; i++)
        f.from[i] = plain_row(x, gpu_thread() / fetch::FOURS + i * fetch::STEP) + gpu_thread() % fetch::FOURS * 4;
}
template <int R, int N> GPU_FN void plain_next(struct plain_fetch<R, N> &f, u32 d0, u32 length) {
    typedef plain_fetch<R, N> fetch;
    bool there = d0 + gpu_thread() % fetch::FOURS * 4 < length;
    GPU_UNROLL for (u32 i = 0; i < fetch::PIECES; i++) f.v[i] = plain_take(f.from[i] + d0, there);
}
template <int R, int N> GPU_FN void plain_put(const struct plain_fetch<R, N> &f, f32 *slab) {
    typedef plain_fetch<R, N> fetch;
    slab += gpu_thread() / fetch::FOURS * fetch::PITCH + gpu_thread() % fetch::FOURS * 4;
    GPU_UNROLL for (u32 i = 0; i < fetch::PIECES; i++)
        *(gpu_vec<f32> *)(slab + i * fetch::STEP * fetch::PITCH) = f.v[i];
}

/* The first `elements` of a slab. */
template <int R> GPU_FN void plain_multiply_slab(const f32 *slab, u32 elements, f32 (&sum)[R][8]) {
    enum { PITCH = plain_shape<R, 32>::PITCH };
    const f32 *xs = slab + plain_y() * PITCH, *ys = slab + (R * PLAIN_HIGH + plain_x()) * PITCH;
    GPU_NO_UNROLL for (u32 d = 0; d < elements; d += 4) {
        gpu_vec<f32> x[R];
        GPU_UNROLL for (int i = 0; i < R; i++) x[i] = *(const gpu_vec<f32> *)(xs + i * PLAIN_HIGH * PITCH + d);
        GPU_UNROLL for (int j = 0; j < 8; j++) {
            gpu_vec<f32> y = *(const gpu_vec<f32> *)(ys + j * 8 * PITCH + d);
            GPU_UNROLL for (int e = 0; e < 4; e++)
                GPU_UNROLL for (int i = 0; i < R; i++) sum[i][j] = gpu_fma(x[i].v[e], y.v[e], sum[i][j]);
        }
    }
}

/* sum[i][j] = x[y + 16 i] y[x + 8 j]. `lds` has the two slabs, in use by nobody before and after. */
template <int R, typename X, typename Y>
GPU_FN void plain_multiply(const X &x, const Y &y, f32 *lds, f32 (&sum)[R][8]) {
    enum {
        ROWS = R * PLAIN_HIGH,
        SLAB = plain_shape<R, 32>::SLAB,
        Y_AT = ROWS * (SLAB + 4),
        PART = Y_AT + PLAIN_WIDE * (SLAB + 4)
    };
    struct plain_fetch<R, ROWS> xs;
    struct plain_fetch<R, PLAIN_WIDE> ys;
    u32 buffer = 0, length = x.length;
    plain_begin(xs, x);
    plain_begin(ys, y);
    plain_next(xs, 0, length);
    plain_next(ys, 0, length);
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int j = 0; j < 8; j++) sum[i][j] = 0;
    plain_put(xs, lds);
    plain_put(ys, lds + Y_AT);
    gpu_sync();
    GPU_NO_UNROLL for (u32 d0 = SLAB;; d0 += SLAB) {
        bool more = d0 < length;
        if (more) {
            plain_next(xs, d0, length);
            plain_next(ys, d0, length);
        }
        plain_multiply_slab<R>(lds + buffer * PART, more ? (u32)SLAB : length + SLAB - d0, sum);
        buffer ^= 1;
        if (more) {
            plain_put(xs, lds + buffer * PART);
            plain_put(ys, lds + buffer * PART + Y_AT);
        }
        gpu_sync();
        if (!more) break;
    }
}

/* ---- the product of weights with rows ---- */

template <int DIM, int TERMS>
GPU_FN void plain_fetch_terms(const struct plain_rows &y, u32 first, gpu_vec<f32> (&v)[TERMS * DIM / 512]) {
    GPU_UNROLL for (u32 i = 0; i < TERMS * DIM / 512; i++) {
        u32 u = gpu_thread() + i * PLAIN_THREADS;
        u32 row = first + u / (DIM / 4), d = u % (DIM / 4) * 4;
        v[i] = plain_take(plain_row(y, row) + d, row < y.count && d < y.length);
    }
}
template <int DIM, int TERMS> GPU_FN void plain_put_terms(const gpu_vec<f32> (&v)[TERMS * DIM / 512], f32 *slab) {
    GPU_UNROLL for (u32 i = 0; i < TERMS * DIM / 512; i++)
        *(gpu_vec<f32> *)(slab + (gpu_thread() + i * PLAIN_THREADS) * 4) = v[i];
}

/* The first `rows` of a slab and those that fill up the four. */
template <int R, int DIM>
GPU_FN void plain_add_slab(const f32 *weights, const f32 *slab, u32 rows, f32 (&out)[R][DIM / 32][4]) {
    weights += plain_y() * PLAIN_WEIGHTS;
    slab += plain_x() * 4;
    GPU_NO_UNROLL for (u32 k = 0; k < rows; k += 4) {
        gpu_vec<f32> x[R];
        GPU_UNROLL for (int i = 0; i < R; i++)
            x[i] = *(const gpu_vec<f32> *)(weights + i * PLAIN_HIGH * PLAIN_WEIGHTS + k);
        GPU_UNROLL for (int e = 0; e < 4; e++) GPU_UNROLL for (int c = 0; c < DIM / 32; c++) {
            gpu_vec<f32> y = *(const gpu_vec<f32> *)(slab + (k + e) * DIM + c * 32);
            GPU_UNROLL for (int j = 0; j < 4; j++)
                GPU_UNROLL for (int i = 0; i < R; i++) out[i][c][j] = gpu_fma(x[i].v[e], y.v[j], out[i][c][j]);
        }
    }
}

/* Adds weights times up to 64 rows y to the thread's columns 32 c + 4 x + j. The weights, [row][column] in LDS, need
 * not be visible to others yet. `lds` has the two slabs, which nobody may read any more, nor does anybody after. */
template <int R, int DIM>
GPU_FN void plain_add(const f32 *weights, const struct plain_rows &y, f32 *lds, f32 (&out)[R][DIM / 32][4]) {
    enum { TERMS = plain_shape<R, DIM>::TERMS, PART = TERMS * DIM };
    gpu_vec<f32> ys[PART / 512];
    plain_fetch_terms<DIM, TERMS>(y, 0, ys);
    plain_put_terms<DIM, TERMS>(ys, lds);
    gpu_sync();
    u32 buffer = 0;
    GPU_NO_UNROLL for (u32 first = 0;; first += TERMS) {
        bool more = first + TERMS < y.count;
        if (more) plain_fetch_terms<DIM, TERMS>(y, first + TERMS, ys);
        plain_add_slab<R, DIM>(weights + first, lds + buffer * PART, more ? (u32)TERMS : y.count - first, out);
        buffer ^= 1;
        if (more) plain_put_terms<DIM, TERMS>(ys, lds + buffer * PART);
        gpu_sync();
        if (!more) break;
    }
}

#endif
