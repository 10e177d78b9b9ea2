/* Operands of matrix instructions whose rows are neighbours in memory, so that what lies together is terms of a sum in
 * the other dim: on their way through LDS.
 *
 * Where copies are asynchronous, a step of 64 terms lies in LDS in lines of 128 bytes, one term of 64 rows each, 64 such
 * lines for each 64 rows, and 16-byte pieces of a line change places, piece c of line l being at c ^ l % 8, so that
 * neither copies nor fragments meet in a bank. Operands with k innermost have lines of the 64 terms of a row. */
#ifndef WICK_KERNELS_MMA_ACROSS_H
#define WICK_KERNELS_MMA_ACROSS_H

#include "mma_group.h"

#if MMA && MMA_ASYNC
enum { MMA_LINE = 128, MMA_LINES = 64 };

/* A lane's part of the address of a fragment, and the fragment of tile i and terms 16 t. `second` says which of the lane
 * number's upper bits picks the second eight rows, the other picks the second eight terms. */
template <bool ACROSS> GPU_FN u32 mma_fragment_base(u32 row0, u32 second) {
    u32 lane = gpu_lane(), low = lane % 8, rows = lane / (second ? 16 : 8) % 2, terms = lane / (second ? 8 : 16) % 2;
    if (ACROSS) return (row0 / 64 * MMA_LINES + low + terms * 8) * MMA_LINE + ((row0 % 64 / 8 + rows) ^ low) * 16;
    return (row0 + low + rows * 8) * MMA_LINE + (terms ^ low) * 16;
}
template <bool ACROSS> GPU_FN struct mma_fragment mma_fragment_at(const u8 *lds, u32 base, u32 i, u32 t) {
    if (ACROSS) return mma_load<true>(lds + (base ^ i * 32) + t * (16 * MMA_LINE));
    return mma_load<false>(lds + (base ^ t * 32) + i * (16 * MMA_LINE));
}
#elif MMA
/* Eight rows of two neighbouring terms become pairs of terms in LDS, which has k innermost. */
GPU_FN void mma_put_across(u16 *lds, u32 pitch, const gpu_16 (&v)[2]) {
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        u32 low = v[0].word[i], high = v[1].word[i];
        *(u32 *)(lds + i * 2 * pitch) = (low & 0xffff) | high << 16;
        *(u32 *)(lds + (i * 2 + 1) * pitch) = low >> 16 | (high & 0xffff0000u);
    }
}
#endif

#endif
