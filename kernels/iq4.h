/* Values of iq4_nl and iq4_xs (block_iq4 of blocks.h) for the halves of four bytes, by permutations of bytes. */
#ifndef WICK_KERNELS_IQ4_H
#define WICK_KERNELS_IQ4_H

#include "gpu.h"

#define IQ4_TABLE {0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}
#if defined(GPU_NVIDIA)
/* Bytes of b above those of a, which the lowest four digits of `which` choose. */
GPU_FN u32 iq4_bytes(u32 a, u32 b, u32 which) {
    u32 r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(which));
    return r;
}
GPU_FN void iq4_words(u32 q, u32 &low, u32 &high) {
    const u32 table[4] = IQ4_TABLE;
    u32 entry = q & 0x77777777u, upper = (q >> 1 & 0x44444444u) | 0x32103210u, v[2];
    GPU_UNROLL for (int i = 0; i < 2; i++)
        v[i] = iq4_bytes(iq4_bytes(table[0], table[1], entry >> 16 * i),
                         iq4_bytes(table[2], table[3], entry >> 16 * i), upper >> 16 * i);
    low = iq4_bytes(v[0], v[1], 0x6420);
    high = iq4_bytes(v[0], v[1], 0x7531);
}
#else
GPU_FN u32 iq4_word(u32 digits) {
    const u32 table[4] = IQ4_TABLE;
#if defined(GPU_AMD)
    u32 entry = digits & 0x07070707u;
    return __builtin_amdgcn_perm(__builtin_amdgcn_perm(table[3], table[2], entry),
                                 __builtin_amdgcn_perm(table[1], table[0], entry),
                                 (digits >> 1 & 0x04040404u) | 0x03020100u);
#else
    u32 r = 0;
    for (int i = 0; i < 32; i += 8) r |= (table[digits >> i >> 2 & 3] >> (digits >> i & 3) * 8 & 255) << i;
    return r;
#endif
}
GPU_FN void iq4_words(u32 q, u32 &low, u32 &high) {
    low = iq4_word(q & 0x0f0f0f0fu);
    high = iq4_word(q >> 4 & 0x0f0f0f0fu);
}
#endif

#endif
