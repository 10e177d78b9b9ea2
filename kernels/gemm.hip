/* Matrix products of any strides in plain arithmetic, the second pass of those whose k was split, and the packing of
 * operands for matrix instructions. */
#include "gemm_common.h"

/* ---- tiles ----
 *
 * 256 threads, HIGH x WIDE, each with SIDE x SIDE sums; a block goes through k in steps of DEPTH terms, which lie in LDS
 * as [k][row], in two buffers. The rows and columns of a thread come in runs of RUN, so that it reads them by 16 bytes. */

template <typename T, int SIDE, int WIDE> struct gemm_tile {
    typedef typename gemm_sum<T>::type S;
    enum {
        HIGH = GPU_BLOCK / WIDE,
        ROWS = HIGH * SIDE,
        COLUMNS = WIDE * SIDE,
        DEPTH = 64 / SIDE,
        A_PITCH = ROWS + 4, /* of a row in LDS */
        B_PITCH = COLUMNS + 4,
        RUN = SIDE < 4 ? SIDE : 4,
        AHEAD = SIDE == 8 && gpu_is_float<S>::value ? 8 : 4, /* terms whose operands are fetched from LDS together */
        B = DEPTH * A_PITCH, /* where B begins in a buffer */
        PART = B + DEPTH * B_PITCH,
        STORE = SIDE > 4 ? 2 : SIDE, /* rows of each thread that are stored at a time */
        WORDS = 2 * PART > HIGH * STORE * B_PITCH ? 2 * PART : HIGH * STORE * B_PITCH
    };
};

/* The row or column of the tile that is the i-th of a thread, one of THREADS in that direction. */
template <int RUN, int THREADS> GPU_FN u32 gemm_position(u32 thread, u32 i) {
    return i / RUN * (THREADS * RUN) + thread * RUN + i % RUN;
}

/* Fetches elements of one operand's EDGE rows by fours: a step has one for each thread, or two, or one for every other. */
template <typename T, int EDGE, int DEPTH, int PITCH> struct gemm_fetch {
    typedef typename gemm_sum<T>::type S;
    enum { TASKS = EDGE * DEPTH / 4, FOURS = TASKS > GPU_BLOCK ? TASKS / GPU_BLOCK : 1 };
    const T *from;
    i64 inner, advance, next, left; /* terms of k from this thread's first one to the end */
    u32 there[FOURS], place, place_step;
    u32 mode, plain; /* plain: steps from here on of which all fours are there and can be had at once */
    S v[FOURS][4];
};

template <typename T, int EDGE, int DEPTH, int PITCH>
GPU_FN void gemm_fetch_begin(gemm_fetch<T, EDGE, DEPTH, PITCH> &f, const struct gpu_gemm_side &side, i64 offset,
                             i64 row0, i64 rows, i64 k0, i64 k1) {
    u32 t = gpu_thread(), along_k = side.mode & GPU_GEMM_ALONG_K;
    u32 row = along_k ? t / (DEPTH / 4) : t % (EDGE / 4) * 4, k = along_k ? t % (DEPTH / 4) * 4 : t / (EDGE / 4);
    f.from = (const T *)side.from + offset + (row0 + row) * side.row + (k0 + k) * side.k;
    f.inner = along_k ? side.k : side.row;
    f.advance = DEPTH * side.k;
    f.next = along_k ? GPU_BLOCK / (DEPTH / 4) * side.row : GPU_BLOCK / (EDGE / 4) * side.k;
    f.left = k1 - k0 - k;
    f.mode = side.mode;
    i64 plain = side.mode & GPU_GEMM_VECTOR ? f.left / DEPTH : 0;
    GPU_UNROLL for (int q = 0; q < gemm_fetch<T, EDGE, DEPTH, PITCH>::FOURS; q++) {
        i64 rows_left = rows - row0 - row - (along_k ? q * (GPU_BLOCK / (DEPTH / 4)) : 0);
        f.there[q] = rows_left <= 0 ? 0 : along_k || rows_left >= 4 ? 4 : (u32)rows_left;
        if (f.there[q] < 4) plain = 0;
    }
    f.plain = plain <= 0 ? 0 : plain < 1 << 30 ? (u32)plain : 1 << 30;
    f.place = k * PITCH + row;
    f.place_step = along_k ? PITCH : 1;
}

/* The next fours into registers; what is past the end is 0. */
template <typename T, int EDGE, int DEPTH, int PITCH> GPU_FN void gemm_fetch_next(gemm_fetch<T, EDGE, DEPTH, PITCH> &f) {
    if (gemm_fetch<T, EDGE, DEPTH, PITCH>::TASKS < GPU_BLOCK &&
        gpu_thread() >= gemm_fetch<T, EDGE, DEPTH, PITCH>::TASKS)
        return;
    if (f.plain > 0) {
        f.plain--;
        GPU_UNROLL for (int q = 0; q < gemm_fetch<T, EDGE, DEPTH, PITCH>::FOURS; q++) {
            gemm_quad<T> x = *(const gemm_quad<T> *)(f.from + q * f.next);
            GPU_UNROLL for (int j = 0; j < 4; j++) f.v[q][j] = gemm_up(x.v[j]);
        }
        f.from += f.advance;
        f.left -= DEPTH;
        return;
    }
    GPU_UNROLL for (int q = 0; q < gemm_fetch<T, EDGE, DEPTH, PITCH>::FOURS; q++) {
        bool along_k = f.mode & GPU_GEMM_ALONG_K;
        i64 left = along_k || q == 0 ? f.left : f.left - q * (GPU_BLOCK / (EDGE / 4));
        u32 n = left <= 0 ? 0 : f.there[q];
        if (along_k && n > 0 && left < 4) n = (u32)left;
        const T *from = f.from + q * f.next;
        if (n == 4 && (f.mode & GPU_GEMM_VECTOR)) {
            gemm_quad<T> x = *(const gemm_quad<T> *)from;
            GPU_UNROLL for (int j = 0; j < 4; j++) f.v[q][j] = gemm_up(x.v[j]);
        } else {
            GPU_UNROLL for (u32 j = 0; j < 4; j++) f.v[q][j] = j < n ? gemm_up(from[j * f.inner]) : 0;
        }
    }
    f.from += f.advance;
    f.left -= DEPTH;
}

template <typename T, int EDGE, int DEPTH, int PITCH>
GPU_FN void gemm_fetch_put(const gemm_fetch<T, EDGE, DEPTH, PITCH> &f, typename gemm_sum<T>::type *lds) {
    typedef typename gemm_sum<T>::type S;
    if (gemm_fetch<T, EDGE, DEPTH, PITCH>::TASKS < GPU_BLOCK &&
        gpu_thread() >= gemm_fetch<T, EDGE, DEPTH, PITCH>::TASKS)
        return;
    GPU_UNROLL for (int q = 0; q < gemm_fetch<T, EDGE, DEPTH, PITCH>::FOURS; q++) {
        if (f.place_step == 1) {
            gemm_quad<S> x;
            GPU_UNROLL for (int j = 0; j < 4; j++) x.v[j] = f.v[q][j];
            *(gemm_quad<S> *)(lds + f.place + q * (GPU_BLOCK / (EDGE / 4)) * PITCH) = x;
        } else {
            GPU_UNROLL for (int j = 0; j < 4; j++)
                lds[f.place + q * (GPU_BLOCK / (DEPTH / 4)) + j * PITCH] = f.v[q][j];
        }
    }
}

/* SIDE elements of a row of LDS, in runs. */
template <typename S, int SIDE, int THREADS> GPU_FN void gemm_take(S (&x)[SIDE], const S *row) {
    enum { RUN = SIDE < 4 ? SIDE : 4 };
    struct alignas(RUN * sizeof(S)) run {
        S v[RUN];
    };
    GPU_UNROLL for (int i = 0; i < SIDE; i += RUN) {
        struct run r = *(const struct run *)(row + i / RUN * (THREADS * RUN));
        GPU_UNROLL for (int j = 0; j < RUN; j++) x[i + j] = r.v[j];
    }
}

template <typename T, int SIDE, int WIDE> GPU_FN void gemm(const struct gpu_gemm &p) {
    typedef gemm_tile<T, SIDE, WIDE> tile;
    typedef typename tile::S S;
    GPU_SHARED gemm_quad<S> shared[tile::WORDS / 4];
    S *lds = (S *)shared;
    struct gemm_place at = gemm_locate(p);
    i64 row0 = (i64)at.tile_row * tile::ROWS, column0 = (i64)at.tile_column * tile::COLUMNS;
    /* A wave covers 8 columns of threads, so that it reads as little of LDS as can be. */
    u32 wave = gpu_wave(), lane = gpu_lane();
    u32 ty = wave / (WIDE / 8) * (GPU_WAVE / 8) + lane / 8, tx = wave % (WIDE / 8) * 8 + lane % 8;

    gemm_fetch<T, tile::ROWS, tile::DEPTH, tile::A_PITCH> a;
    gemm_fetch<T, tile::COLUMNS, tile::DEPTH, tile::B_PITCH> b;
    gemm_fetch_begin(a, p.a, at.a, row0, p.m, at.k0, at.k1);
    gemm_fetch_begin(b, p.b, at.b, column0, p.n, at.k0, at.k1);
    S sum[SIDE][SIDE];
    GPU_UNROLL for (int i = 0; i < SIDE; i++) GPU_UNROLL for (int j = 0; j < SIDE; j++) sum[i][j] = 0;
    i64 steps = (at.k1 - at.k0 + tile::DEPTH - 1) / tile::DEPTH;
    gemm_fetch_next(a);
    gemm_fetch_next(b);
    gemm_fetch_put(a, lds);
    gemm_fetch_put(b, lds + tile::B);
    gpu_sync();
    u32 buffer = 0;
    for (i64 step = 0; step < steps; step++) {
        const S *from = lds + buffer * tile::PART;
        if (step + 1 < steps) {
            gemm_fetch_next(a);
            gemm_fetch_next(b);
        }
        /* The outer loop stays one, or a compiler fetches more at a time than there are registers for. */
        GPU_NO_UNROLL for (int k0 = 0; k0 < tile::DEPTH; k0 += tile::AHEAD) {
            S x[2][SIDE], y[2][SIDE];
            const S *xs = from + k0 * tile::A_PITCH + ty * tile::RUN;
            const S *ys = from + tile::B + k0 * tile::B_PITCH + tx * tile::RUN;
            gemm_take<S, SIDE, tile::HIGH>(x[0], xs);
            gemm_take<S, SIDE, WIDE>(y[0], ys);
            GPU_UNROLL for (int k = 0; k < tile::AHEAD; k++) {
                if (k + 1 < tile::AHEAD) {
                    gemm_take<S, SIDE, tile::HIGH>(x[(k + 1) % 2], xs + (k + 1) * tile::A_PITCH);
                    gemm_take<S, SIDE, WIDE>(y[(k + 1) % 2], ys + (k + 1) * tile::B_PITCH);
                }
                GPU_UNROLL for (int i = 0; i < SIDE; i++)
                    GPU_UNROLL for (int j = 0; j < SIDE; j++) sum[i][j] = gemm_mad(x[k % 2][i], y[k % 2][j], sum[i][j]);
            }
        }
        if (step + 1 < steps) {
            buffer ^= 1;
            gemm_fetch_put(a, lds + buffer * tile::PART);
            gemm_fetch_put(b, lds + buffer * tile::PART + tile::B);
        }
        gpu_sync();
    }

    /* The sums go through LDS, a few rows of each thread at a time, to be stored by whole lines. */
    GPU_NO_UNROLL for (u32 pass = 0; pass < SIDE / tile::STORE; pass++) {
        GPU_UNROLL for (int i = 0; i < tile::STORE; i++) GPU_UNROLL for (u32 j = 0; j < SIDE; j++) {
            lds[(ty * tile::STORE + i) * tile::B_PITCH + gemm_position<tile::RUN, WIDE>(tx, j)] = sum[i][j];
            /* The next rows move up, for registers can't be picked by number. */
            GPU_UNROLL for (int k = i; k + tile::STORE < SIDE; k += tile::STORE) sum[k][j] = sum[k + tile::STORE][j];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < tile::HIGH * tile::STORE * tile::COLUMNS / 4; u += GPU_BLOCK) {
            u32 line = u / (tile::COLUMNS / 4), j = u % (tile::COLUMNS / 4) * 4;
            u32 i = pass * tile::STORE + line % tile::STORE;
            i64 row = row0 + gemm_position<tile::RUN, tile::HIGH>(line / tile::STORE, i);
            i64 column = column0 + j;
            if (row >= p.m || column >= p.n) continue;
            u32 n = p.n - column < 4 ? (u32)(p.n - column) : 4;
            gemm_store<T>(p.out, at.to + row * p.n + column, column, n,
                          *(const gemm_quad<S> *)(lds + line * tile::B_PITCH + j));
        }
        gpu_sync();
    }
}

/* ---- the second pass of a product whose k was split ---- */

template <typename T> GPU_FN void gemm_sums(const struct gpu_gemm_sum &p) {
    typedef typename gemm_sum<T>::type S;
    const S *from = (const S *)p.partial;
    if (p.wide) {
        /* The lanes of a wave take the splits in turn, and a tree adds up the lanes. */
        u64 waves = gpu_stride() / GPU_WAVE;
        for (u64 i = gpu_global() / GPU_WAVE; i < (u64)p.count; i += waves) {
            S sum = 0;
            for (u32 s = gpu_lane(); s < p.splits; s += GPU_WAVE) sum += from[(i64)s * p.count + (i64)i];
            GPU_UNROLL for (u32 lanes = GPU_WAVE / 2; lanes > 0; lanes /= 2) sum += gpu_shuffle_xor(sum, lanes);
            gemm_quad<S> x = {{sum, 0, 0, 0}};
            if (gpu_lane() == 0) gemm_store<T>(p.out, (i64)i, (i64)i % p.columns, 1, x);
        }
        return;
    }
    /* Four columns of one row at a time, read at once where rows are whole fours. */
    u64 quads = ((u64)p.columns + 3) / 4, count = (u64)p.count / (u64)p.columns * quads;
    for (u64 u = gpu_global(); u < count; u += gpu_stride()) {
        u64 row = u / quads;
        i64 column = (i64)(u - row * quads) * 4, i = (i64)row * p.columns + column;
        u32 n = p.columns - column < 4 ? (u32)(p.columns - column) : 4;
        gemm_quad<S> x;
        GPU_UNROLL for (int j = 0; j < 4; j++) x.v[j] = 0;
        if (p.columns % 4 == 0) {
            for (u32 s = 0; s < p.splits; s++) {
                gemm_quad<S> y = *(const gemm_quad<S> *)(from + (i64)s * p.count + i);
                GPU_UNROLL for (int j = 0; j < 4; j++) x.v[j] += y.v[j];
            }
        } else {
            for (u32 s = 0; s < p.splits; s++)
                GPU_UNROLL for (u32 j = 0; j < 4; j++) if (j < n) x.v[j] += from[(i64)s * p.count + i + j];
        }
        gemm_store<T>(p.out, i, column, n, x);
    }
}

/* ---- packing ----
 *
 * A thread makes eight neighbours of a row. It reads them one by one, from lines that are in the cache then, unless the
 * row allows words. */

/* The elements that the first n of them are; 0 for those behind. */
template <typename T> struct gemm_run {
    enum { PER = 4 / sizeof(T) };
    u32 word[8 / PER];
    GPU_FN gemm_run of(const T *at, i64 step, i64 n, bool whole) {
        gemm_run r;
        GPU_UNROLL for (int w = 0; w < 8 / PER; w++) {
            r.word[w] = 0;
            if (whole && n >= 8)
                r.word[w] = ((const u32 *)at)[w];
            else
                GPU_UNROLL for (int e = 0; e < PER; e++)
                    if (w * PER + e < n) r.word[w] |= (u32)at[(w * PER + e) * step] << e * 8 * (int)sizeof(T);
        }
        return r;
    }
};

GPU_FN gpu_16 gemm_packed(const gemm_run<u16> &r) {
    return {{r.word[0], r.word[1], r.word[2], r.word[3]}};
}
GPU_FN gpu_16 gemm_packed(const gemm_run<u8> &r) {
    gpu_16 v;
    GPU_UNROLL for (int e = 0; e < 4; e++) v.word[e] = gpu_f8_as_f16(r.word[e / 2] >> e % 2 * 16);
    return v;
}

template <typename T> GPU_FN void gemm_pack_rows(const struct gpu_gemm_pack &p) {
    i64 offset = gpu_locate<1>(gpu_block_z(), p.batch, p.stride).at[0];
    const T *from = (const T *)p.from.from + offset;
    u16 *to = (u16 *)p.to + (i64)gpu_block_z() * p.rows * p.pitch;
    u32 runs = (u32)(p.pitch / 8);
    bool whole = p.from.k == 1 && ((u64)from | (u64)p.from.row * sizeof(T)) % 4 == 0;
    for (i64 row0 = (i64)gpu_block_y() * p.block_rows; row0 < p.rows; row0 += 65535 * (i64)p.block_rows)
        for (u32 u = gpu_block_x() * GPU_BLOCK + gpu_thread(); u < p.block_rows * runs;
             u += gpu_blocks_x() * GPU_BLOCK) {
            u32 line = u / runs, run = u - line * runs;
            i64 row = row0 + line, k = (i64)run * 8;
            if (row >= p.rows) continue;
            const T *at = from + row * p.from.row + k * p.from.k;
            *(gpu_16 *)(to + row * p.pitch + k) = gemm_packed(gemm_run<T>::of(at, p.from.k, p.k - k, whole));
        }
}

GPU_KERNEL(gemm_pack, struct gpu_gemm_pack) { gemm_pack_rows<u16>(p); }
GPU_KERNEL(gemm_pack_f8, struct gpu_gemm_pack) { gemm_pack_rows<u8>(p); }

#define GEMM_SMALL(type) GPU_KERNEL_OF(gemm_32_##type, struct gpu_gemm, GPU_BLOCK, 1) { gemm<type, 2, 16>(p); }
#define GEMM_MEDIUM(type) GPU_KERNEL_OF(gemm_64_##type, struct gpu_gemm, GPU_BLOCK, 1) { gemm<type, 4, 16>(p); }
#define GEMM_LARGE_OF(type, blocks)                                                                                    \
    GPU_KERNEL_OF(gemm_128_##type, struct gpu_gemm, GPU_BLOCK, blocks) { gemm<type, 8, 16>(p); }
#define GEMM_LARGE(type) GEMM_LARGE_OF(type, 2)
#define GEMM_SUM(type) GPU_KERNEL(gemm_sum_##type, struct gpu_gemm_sum) { gemm_sums<type>(p); }
GPU_ALL(GEMM_SMALL)
GPU_ALL(GEMM_MEDIUM)
GPU_ALL(GEMM_SUM)
/* Larger tiles for what is summed in 32 bits. */
#ifdef GPU_NVIDIA
GEMM_LARGE_OF(u32, 1) /* two blocks a multiprocessor leave 128 registers, too few */
#else
GEMM_LARGE(u32)
#endif
GEMM_LARGE(f32)
GEMM_LARGE(bf16)
GEMM_LARGE(f16)
GEMM_LARGE(f8e4m3)
/* 256 x 64, for results of few columns. */
GPU_KERNEL_OF(gemm_256_f32, struct gpu_gemm, GPU_BLOCK, 2) { gemm<f32, 8, 8>(p); }
