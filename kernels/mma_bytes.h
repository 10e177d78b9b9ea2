/* Matrix instructions of signed bytes, with sums of whole numbers: a wave multiplies runs of 32 terms, or either half of
 * them, of 16 rows of weights by 8 or 16 columns of activations.
 *
 *   MMA_BYTES_COLUMNS    columns of a product
 *   MMA_BYTES_ROWS       rows from one that a lane has terms of to its next; mma_bytes_row() is the first
 *   MMA_BYTES_WORDS      words of a half, of four terms each, that a lane has of a row: word `u` has terms
 *                        mma_bytes_quad(u) * 4 and the next three of the half
 *   MMA_BYTES_SUMS       sums of a lane
 *   mma_bytes_place      where the lane that multiplies four terms of activations looks for them, in a step of 16
 *                        columns by 256 terms
 *
 * On NVIDIA's GPUs weights are A, and a lane has two rows of 16. Its sum i is that of row l / 4 + i / 2 * 8 and of column
 * l % 4 * 2 + i % 2. On AMD's weights are B: a lane has sums of one row of weights, row l % 16, whose scales it needs
 * then, and of columns mma_row(i). */
#ifndef WICK_KERNELS_MMA_BYTES_H
#define WICK_KERNELS_MMA_BYTES_H

#include "mma.h"

#if MMA
/* A whole number that sums begin at is exact as f32 together with sums of a magnitude below 2^22, whose bits then are
 * those of MMA_BYTES_START + sum: a subtraction takes less than a conversion. */
enum { MMA_BYTES_START = 0x4b400000 };
GPU_FN f32 mma_bytes_sum(i32 v) { return gpu_bits<f32>(v) - 12582912.0f; }

#if MMA_ASYNC
enum { MMA_BYTES_COLUMNS = 8, MMA_BYTES_ROWS = 8, MMA_BYTES_WORDS = 1, MMA_BYTES_SUMS = 4 };
GPU_FN u32 mma_bytes_row(void) { return gpu_lane() / 4; }
GPU_FN u32 mma_bytes_quad(u32) { return gpu_lane() % 4; }
#else
#if defined(MMA_MFMA)
enum { MMA_BYTES_WORDS = 1 };
GPU_FN u32 mma_bytes_quad(u32) { return gpu_lane() / 16; }
#elif defined(MMA_WMMA11)
enum { MMA_BYTES_WORDS = 4 };
GPU_FN u32 mma_bytes_quad(u32 u) { return u; }
#else
/* Quads 0 and 2, or 1 and 3: neighbours are read by different lanes at the same time, from different banks of LDS. */
enum { MMA_BYTES_WORDS = 2 };
GPU_FN u32 mma_bytes_quad(u32 u) { return gpu_lane() / 16 + 2 * u; }
#endif
enum { MMA_BYTES_COLUMNS = 16, MMA_BYTES_ROWS = 16, MMA_BYTES_SUMS = MMA_SUMS };
GPU_FN u32 mma_bytes_row(void) { return gpu_lane() % 16; }
#endif

/* The row, of 16, and the column of sum i. */
#if MMA_ASYNC
GPU_FN u32 mma_bytes_sum_row(u32 i) { return i / 2 * 8 + gpu_lane() / 4; }
GPU_FN u32 mma_bytes_sum_column(u32 i) { return gpu_lane() % 4 * 2 + i % 2; }
#else
GPU_FN u32 mma_bytes_sum_row(u32) { return gpu_lane() % 16; }
GPU_FN u32 mma_bytes_sum_column(u32 i) { return mma_row(i); }
#endif

/* Where four terms lie in a step: of run `run`, column `c`, quad `quad` of its half `half`. */
template <typename P> GPU_FN P mma_bytes_place(P step, u32 run, u32 c, u32 half, u32 quad) {
#if MMA_ASYNC
    return step + (run * 32 + c % 8 * 4 + quad) * 16 + c / 8 * 8 + half * 4;
#elif defined(MMA_MFMA)
    return step + (run * 64 + quad * 16 + c) * 8 + half * 4;
#elif defined(MMA_WMMA11)
    return step + ((run * 2 + half) * 16 + c) * 16 + quad * 4;
#else
    return step + ((run * 2 + quad % 2) * 16 + c) * 16 + half * 8 + quad / 2 * 4;
#endif
}
/* Where the scale of a run of column `c` lies, of those behind a step's numbers; that times the sum of the numbers is
 * MMA_BYTES_SCALED further on. */
GPU_FN f32 *mma_bytes_scale(f32 *scales, u32 run, u32 c) {
#if MMA_ASYNC
    return scales + ((run * 2 + c / 8) * 4 + c % 8 / 2) * 4 + c % 2;
#elif defined(MMA_WMMA11)
    return scales + run * 32 + c % 2 * 8 + c / 2; /* columns of a lane's sums are 2 apart */
#else
    return scales + run * 32 + c;
#endif
}
enum { MMA_BYTES_SCALED = MMA_ASYNC ? 2 : 16 };

/* A lane's words of both halves of a run. */
struct mma_bytes_run {
    u32 word[2][MMA_BYTES_WORDS];
};

#if MMA_ASYNC
#if defined(GPU_HOST)
/* WORDS of B and twice as many of A. */
template <int WORDS> static void mma_bytes(i32 (&sum)[4], const u32 *a, const u32 *b) {
    i8 x[16][WORDS * 16], y[8][WORDS * 16];
    for (u32 w = 0; w < WORDS; w++) {
        const u64 *rows = gpu_host.exchange((u64)a[w * 2 + 1] << 32 | a[w * 2]);
        for (u32 l = 0; l < GPU_WAVE; l++)
            for (u32 e = 0; e < 4; e++) {
                x[l / 4][w * 16 + l % 4 * 4 + e] = (i8)(rows[l] >> 8 * e);
                x[l / 4 + 8][w * 16 + l % 4 * 4 + e] = (i8)(rows[l] >> (32 + 8 * e));
            }
        const u64 *columns = gpu_host.exchange(b[w]);
        for (u32 l = 0; l < GPU_WAVE; l++)
            for (u32 e = 0; e < 4; e++) y[l / 4][w * 16 + l % 4 * 4 + e] = (i8)(columns[l] >> 8 * e);
    }
    for (u32 i = 0; i < 4; i++) {
        sum[i] = MMA_BYTES_START;
        for (u32 k = 0; k < WORDS * 16; k++)
            sum[i] += x[gpu_lane() / 4 + i / 2 * 8][k] * y[gpu_lane() % 4 * 2 + i % 2][k];
    }
}
#else
template <int WORDS> GPU_FN void mma_bytes(i32 (&sum)[4], const u32 *a, const u32 *b) {
    if (WORDS == 2)
        asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2 * WORDS - 2]), "r"(a[2 * WORDS - 1]), "r"(b[0]), "r"(b[WORDS - 1]),
              "r"((i32)MMA_BYTES_START));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
            : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
            : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"((i32)MMA_BYTES_START));
}
#endif
#else
struct mma_bytes_sums {
    i32 v[MMA_BYTES_SUMS];
};
/* A number that is the same in all lanes, for the compiler too. */
GPU_FN u32 mma_bytes_same(u32 v) {
#if defined(GPU_HOST)
    return v;
#else
    return (u32)__builtin_amdgcn_readfirstlane((int)v);
#endif
}

/* This lane's numbers of a run of activations. */
GPU_FN struct mma_bytes_run mma_bytes_load(const u8 *step, u32 run) {
    enum { PIECE = MMA_BYTES_WORDS == 1 ? 2 : 4 }; /* words that lie side by side */
    struct alignas(4 * PIECE) piece {
        u32 word[PIECE];
    };
    struct mma_bytes_run r;
    u32 *to = r.word[0];
    GPU_UNROLL for (u32 i = 0; i < 2 * MMA_BYTES_WORDS / PIECE; i++) {
        piece v = *(const piece *)mma_bytes_place(step, run, gpu_lane() % 16, i, mma_bytes_quad(0));
        GPU_UNROLL for (u32 j = 0; j < PIECE; j++) to[i * PIECE + j] = v.word[j];
    }
    return r;
}
/* What its sums are scaled by, or, MMA_BYTES_SCALED further on, what shifts are multiplied by. */
struct mma_bytes_by {
    f32 v[MMA_BYTES_SUMS];
};
GPU_FN struct mma_bytes_by mma_bytes_by_of(const f32 *scales, u32 run) {
    struct mma_bytes_by r;
    const gpu_vec<f32> *from = (const gpu_vec<f32> *)scales + run * 8 + gpu_lane() / 16 * (MMA_BYTES_SUMS / 4);
    GPU_UNROLL for (u32 i = 0; i < MMA_BYTES_SUMS; i++) r.v[i] = from[i / 4].v[i % 4];
    return r;
}

/* The halves FIRST to LAST of a run of activations x by weights w. */
#if defined(GPU_HOST)
template <int FIRST, int LAST>
static struct mma_bytes_sums mma_bytes(const struct mma_bytes_run &x, const struct mma_bytes_run &w) {
    enum { TERMS = 4 * MMA_BYTES_WORDS };
    i8 a[16][32] = {{0}}, b[16][32] = {{0}};
    for (u32 half = FIRST; half <= LAST; half++)
        for (u32 u = 0; u < MMA_BYTES_WORDS; u++) {
            const u64 *all = gpu_host.exchange((u64)w.word[half][u] << 32 | x.word[half][u]);
            for (u32 l = 0; l < GPU_WAVE; l++)
                for (u32 e = 0; e < 4; e++) {
                    u32 k = half * 16 + l / 16 * TERMS + u * 4 + e;
                    a[l % 16][k] = (i8)(all[l] >> 8 * e);
                    b[l % 16][k] = (i8)(all[l] >> (32 + 8 * e));
                }
        }
    struct mma_bytes_sums sum;
    for (u32 i = 0; i < MMA_BYTES_SUMS; i++) {
        sum.v[i] = MMA_BYTES_START;
        for (u32 k = 0; k < 32; k++) sum.v[i] += a[mma_row(i)][k] * b[gpu_lane() % 16][k];
    }
    return sum;
}
#else
typedef int mma_bytes_ints __attribute__((ext_vector_type(MMA_BYTES_SUMS)));
#if defined(MMA_WMMA11)
typedef int mma_bytes_half __attribute__((ext_vector_type(4)));
#define MMA_BYTES_ADD(a, b, sum) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, a, true, b, sum, false)
#elif defined(MMA_WMMA12)
typedef int mma_bytes_half __attribute__((ext_vector_type(2)));
#define MMA_BYTES_ADD(a, b, sum) __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, a, true, b, sum, false)
#else
typedef int mma_bytes_half;
#define MMA_BYTES_ADD(a, b, sum) __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, sum, 0, 0, 0)
#endif
struct mma_bytes_one {
    u32 word[MMA_BYTES_WORDS];
};
GPU_FN mma_bytes_half mma_bytes_half_of(const u32 (&word)[MMA_BYTES_WORDS]) {
    mma_bytes_one one;
    GPU_UNROLL for (int u = 0; u < MMA_BYTES_WORDS; u++) one.word[u] = word[u];
    return gpu_bits<mma_bytes_half>(one);
}
template <int FIRST, int LAST>
GPU_FN struct mma_bytes_sums mma_bytes(const struct mma_bytes_run &x, const struct mma_bytes_run &w) {
    mma_bytes_ints sum;
    GPU_UNROLL for (int i = 0; i < MMA_BYTES_SUMS; i++) sum[i] = MMA_BYTES_START;
#if defined(MMA_MFMA) && !defined(__gfx90a__)
    /* One instruction takes both halves; a half alone leaves zeros in the place of the other. */
    mma_pair a = {{x.word[0][0], x.word[1][0]}};
    mma_pair b = {{FIRST == 0 ? w.word[0][0] : 0, LAST == 1 ? w.word[1][0] : 0}};
    sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(gpu_bits<long>(a), gpu_bits<long>(b), sum, 0, 0, 0);
#else
    GPU_UNROLL for (int half = FIRST; half <= LAST; half++)
        sum = MMA_BYTES_ADD(mma_bytes_half_of(x.word[half]), mma_bytes_half_of(w.word[half]), sum);
#endif
    return gpu_bits<mma_bytes_sums>(sum);
}
#undef MMA_BYTES_ADD
#endif
#endif
#endif

#endif
