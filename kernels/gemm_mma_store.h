/* What a block of waves with matrix instructions does with its sums: DOWN x ACROSS waves, 2 x WAVES / 2 unless told
 * otherwise, with MI x NI tiles of 16 x 16 each. */
#ifndef WICK_KERNELS_GEMM_MMA_STORE_H
#define WICK_KERNELS_GEMM_MMA_STORE_H

#include "gemm_common.h"
#include "mma.h"

#if MMA
enum { WAVES = GPU_BLOCK / GPU_WAVE, WAVE_COLUMNS = WAVES / 2 };

/* Through LDS, 16 rows of each wave at a time, to stores of whole lines. `lds` has room for that many rows of PITCH
 * sums. */
template <typename T, int MI, int NI, int ACROSS = WAVE_COLUMNS>
GPU_FN void mma_store(const struct gpu_gemm &p, const struct gemm_place &at, struct mma_tile (&sum)[MI][NI], f32 *lds) {
    enum { DOWN = WAVES / ACROSS, ROWS = DOWN * MI * 16, COLUMNS = ACROSS * NI * 16, PITCH = COLUMNS + 8 };
    u32 wave_row = gpu_wave() / ACROSS, wave_column = gpu_wave() % ACROSS;
    i64 row0 = (i64)at.tile_row * ROWS, column0 = (i64)at.tile_column * COLUMNS;
    GPU_NO_UNROLL for (u32 pass = 0; pass < MI; pass++) {
        gpu_sync();
        GPU_UNROLL for (int j = 0; j < NI; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) {
            lds[(wave_row * 16 + mma_row(e)) * PITCH + (wave_column * NI + j) * 16 + mma_column(e)] = sum[0][j].v[e];
            /* The next tiles move up, for registers can't be picked by number. */
            GPU_UNROLL for (int i = 0; i + 1 < MI; i++) sum[i][j].v[e] = sum[i + 1][j].v[e];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < DOWN * 16 * COLUMNS / 4; u += GPU_BLOCK) {
            u32 line = u / (COLUMNS / 4), j = u % (COLUMNS / 4) * 4;
            i64 row = row0 + line / 16 * (MI * 16) + pass * 16 + line % 16, column = column0 + j;
            if (row >= p.m || column >= p.n) continue;
            u32 n = p.n - column < 4 ? (u32)(p.n - column) : 4;
            gemm_quad<f32> x = *(const gemm_quad<f32> *)(lds + line * PITCH + j);
            if (MMA_FNUZ && sizeof(T) == 1) GPU_UNROLL for (int i = 0; i < 4; i++) x.v[i] *= 4;
            if (p.f8)
                gemm_store<f8e4m3>(p.out, at.to + row * p.n + column, column, n, x);
            else
                gemm_store<T>(p.out, at.to + row * p.n + column, column, n, x);
        }
    }
}

#endif

#endif
