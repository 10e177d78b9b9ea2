/* Matrix instructions of signed bytes, with sums of whole numbers, on NVIDIA's GPUs (MMA_ASYNC of mma.h): a wave multiplies
 * 16 rows of A by 8 columns of B.
 *
 * Lane l has in word w of A terms w / 2 * 16 + l % 4 * 4 and the next three of row l / 4 + w % 2 * 8, in word w of B terms
 * w * 16 + l % 4 * 4 and the next three of column l / 4. Its sum i is that of row l / 4 + i / 2 * 8 and of column
 * l % 4 * 2 + i % 2. */
#ifndef WICK_KERNELS_MMA_BYTES_H
#define WICK_KERNELS_MMA_BYTES_H

#include "mma.h"

#if MMA_ASYNC
/* A whole number that sums begin at is exact as f32 together with sums of a magnitude below 2^22, whose bits then are
 * those of MMA_BYTES_ONE + sum: a subtraction takes less than a conversion. */
enum { MMA_BYTES_START = 0x4b400000 };
GPU_FN f32 mma_bytes_sum(i32 v) { return gpu_bits<f32>(v) - 12582912.0f; }

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
#endif

#endif
