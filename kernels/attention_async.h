/* Products of attention by matrix instructions where copies are asynchronous (NVIDIA): rows in LDS, and what a wave makes
 * of them. */
#ifndef WICK_KERNELS_ATTENTION_ASYNC_H
#define WICK_KERNELS_ATTENTION_ASYNC_H

#include "attention_tiles.h"

#if MMA && MMA_ASYNC
enum { ATTENTION_THREADS = 128 };

/* A piece of 16 bytes of a row of DIM elements into LDS, where piece c of row r lies at c ^ r % 8. */
template <int DIM> GPU_FN void attention_copy(mma_lds lds, u32 row, const u16 *from, u32 nbytes) {
    mma_copy16_at(lds + row * (DIM * 2) + (gpu_thread() % (DIM / 8) ^ row % 8) * 16, from, nbytes);
}
/* KEYS keys or values from number `first` of `keys`; the rest are zeros. */
template <int DIM, int KEYS>
GPU_FN void attention_copy_keys(mma_lds lds, const u16 *from, i64 stride, u32 first, u32 keys, u32 nbytes) {
    enum { ROWS = ATTENTION_THREADS / (DIM / 8) };
    /* A piece, or a key, that is not there is not asked for, but its address must be one. */
    u32 piece = nbytes ? gpu_thread() % (DIM / 8) * 8 : 0;
    /* Two at a time: more addresses at once have no registers. */
    GPU_NO_UNROLL for (u32 j0 = 0; j0 < KEYS / ROWS; j0 += 2) GPU_UNROLL for (u32 j = j0; j < j0 + 2; j++) {
        u32 row = gpu_thread() / (DIM / 8) + j * ROWS, key = first + row;
        attention_copy<DIM>(lds, row, from + (key < keys ? key : 0) * stride + piece, key < keys ? nbytes : 0);
    }
}

/* q k^T for a step of keys. */
template <typename T, int DIM, int TILES, int COLUMNS>
GPU_FN void attention_multiply(mma_lds qs, mma_lds ks, struct mma_tile (&s)[TILES][COLUMNS]) {
    u32 lane = gpu_lane(), low = lane % 8;
    u32 q_base = (gpu_wave() * (16 * TILES) + lane % 16) * (DIM * 2) + (lane / 16 ^ low) * 16;
    u32 k_base = (low + lane / 16 * 8) * (DIM * 2) + (lane / 8 % 2 ^ low) * 16;
    mma_clear(s);
    GPU_UNROLL for (u32 d = 0; d < DIM / 16; d++) {
        struct mma_fragment x[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++) x[i] = mma_load_at<false>(qs + (q_base ^ d * 32) + i * (16 * DIM * 2));
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) {
            struct mma_fragment y = mma_load_at<false>(ks + (k_base ^ d * 32) + j * (16 * DIM * 2));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(s[i][j], x[i], y);
        }
    }
}

/* Adds the weighted values of a step of keys. */
template <typename T, int DIM, int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_add(const struct mma_tile (&s)[TILES][COLUMNS], mma_lds vs,
                          struct mma_tile (&out)[TILES][STEPS]) {
    u32 lane = gpu_lane(), low = lane % 8;
    u32 v_base = (low + lane / 8 % 2 * 8) * (DIM * 2) + (lane / 16 ^ low) * 16;
    GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) {
        struct mma_fragment x[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int w = 0; w < 4; w++)
                x[i].word[w] = mma_pack(s[i][j].v[w * 2], s[i][j].v[w * 2 + 1], T());
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) {
            struct mma_fragment y = mma_load_at<true>(vs + (v_base ^ c * 32) + j * (16 * DIM * 2));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(out[i][c], x[i], y);
        }
    }
}
#endif

#endif
