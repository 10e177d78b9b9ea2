/* Packs f8e4m3 for matrix instructions: 64 rows by 64 terms through LDS, k innermost, pitch a multiple of 16. */
#ifndef WICK_KERNELS_GEMM_MMA_PACK_H
#define WICK_KERNELS_GEMM_MMA_PACK_H

#include "gemm_common.h"
#include "mma_group.h"

#if MMA_F8
/* Four elements as fragments have them. */
GPU_FN u32 mma_f8(u32 x) {
#if MMA_FNUZ
    const u32 sign = 0x80808080u;
    u32 size = x & ~sign, zero = ~(size + ~sign) & sign, nan = (size + 0x01010101u) & sign;
    return (x & ~zero & ~(nan - (nan >> 7))) | nan;
#else
    return x;
#endif
}

/* Four neighbours of which n are there. */
GPU_FN u32 mma_fetch4(const u8 *from, i64 step, i64 n, bool whole) {
    if (whole && n >= 4) return *(const u32 *)from;
    u32 x = 0;
    GPU_UNROLL for (int e = 0; e < 4; e++) x |= e < n ? (u32)from[e * step] << e * 8 : 0;
    return x;
}

GPU_FN void mma_pack_tiles(const struct gpu_gemm_pack &p) {
    enum { TILE = 64, PITCH = TILE + 4 };
    GPU_SHARED u32 tile[TILE * PITCH / 4];
    u8 *lds = (u8 *)tile;
    i64 offset = gpu_locate<1>(gpu_block_z(), p.batch, p.stride).at[0];
    const u8 *from = (const u8 *)p.from.from + offset;
    u8 *to = (u8 *)p.to + (i64)gpu_block_z() * p.rows * p.pitch;
    bool along_k = p.from.mode & GPU_GEMM_ALONG_K;
    i64 inner = along_k ? p.from.k : p.from.row, outer = along_k ? p.from.row : p.from.k;
    bool whole = inner == 1 && ((u64)from | (u64)outer) % 4 == 0;
    u32 slow0 = gpu_thread() / 16, fast = gpu_thread() % 16 * 4;
    i64 k0 = (i64)gpu_block_x() * TILE, row_tiles = (p.rows + TILE - 1) / TILE;
    for (i64 row_tile = gpu_block_y(); row_tile < row_tiles; row_tile += 65535) {
        i64 row0 = row_tile * TILE, rows = p.rows - row0, terms = p.k - k0;
        GPU_UNROLL for (u32 slow = slow0; slow < slow0 + TILE; slow += GPU_BLOCK / 16) {
            i64 n = slow < (along_k ? rows : terms) ? (along_k ? terms : rows) - fast : 0;
            const u8 *at = from + (along_k ? row0 + slow : k0 + slow) * outer + (along_k ? k0 + fast : row0 + fast) * inner;
            u32 x = mma_f8(mma_fetch4(at, inner, n, whole));
            if (along_k)
                *(u32 *)(lds + slow * PITCH + fast) = x;
            else
                GPU_UNROLL for (u32 e = 0; e < 4; e++) lds[(fast + e) * PITCH + slow] = (u8)(x >> e * 8);
        }
        gpu_sync();
        GPU_UNROLL for (u32 row = slow0; row < slow0 + TILE; row += GPU_BLOCK / 16)
            if (row < rows && k0 + fast < p.pitch)
                *(u32 *)(to + (row0 + row) * p.pitch + k0 + fast) = *(const u32 *)(lds + row * PITCH + fast);
        gpu_sync();
    }
}
#endif

#endif
