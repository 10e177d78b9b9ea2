/* Blocks of quantised dtypes in LDS as operands of mma_bytes.h: a step is 256 weights of a row, of which half a step, four
 * runs of 32, is unpacked at a time. A lane has quads of each half of a run: quad t is terms t * 4 and the next three, as
 * one word. */
#ifndef WICK_KERNELS_QUANTISED_TILES_H
#define WICK_KERNELS_QUANTISED_TILES_H

#include "iq4.h"
#include "mma_bytes.h"

/* What the numbers of a run are scaled by: all by `first`, with `second` added; or each of its parts by its own. */
struct tile_scales {
    f32 first, second;
};
/* PARTS that have sums of their own: the first 16 numbers and the others, or all numbers and what they have for a shift,
 * whose words follow theirs. */
enum { TILE_HALVES = 1, TILE_SHIFTS };

/* Bytes of w, each less N. */
template <u32 N> GPU_FN u32 tile_less(u32 w) { return ((w | 0x80808080u) - N * 0x01010101u) ^ 0x80808080u; }
/* Bits 0 to 3 of v as bit 4 of the bytes of a word. */
GPU_FN u32 tile_fifth(u32 v) { return (v & 15) * 0x00204081u << 4 & 0x10101010u; }

/* ---- where the lane's rows lie in LDS ----
 *
 * Where copies are not asynchronous (AMD), the 16 rows that lanes read at once would meet in banks, for rows 8 apart begin
 * at the same one. So the halves of each 16 bytes of rows 8 to 15 of 16 change places, and what lies at `p` is asked for
 * at TILE_HERE(p), from where multiples of 16 bytes go on as ever. */

#if MMA_ASYNC
#define TILE_HERE(p) (p)
GPU_FN gpu_vec<u32> tile_first(const u8 *row) { return *(const gpu_vec<u32> *)row; }
#else
/* 16 bytes as they lie in a row whose halves have changed places. */
GPU_FN gpu_16 tile_flip(const gpu_16 &v, bool flip) {
    u32 mask = flip ? 0xffffffffu : 0, a = (v.word[0] ^ v.word[2]) & mask, b = (v.word[1] ^ v.word[3]) & mask;
    return gpu_16{{v.word[0] ^ a, v.word[1] ^ b, v.word[2] ^ a, v.word[3] ^ b}};
}
#define TILE_HERE(p) tile_here(p)
template <typename T> GPU_FN const T *tile_here(const T *p) {
#if defined(GPU_HOST)
    return (const T *)((u64)p ^ (gpu_lane() & 8));
#else
    typedef __attribute__((address_space(3))) const T *lds;
    return (const T *)(lds)((u32)(lds)p ^ (gpu_lane() & 8));
#endif
}
GPU_FN gpu_vec<u32> tile_first(const u8 *row) {
    return gpu_bits<gpu_vec<u32>>(tile_flip(*(const gpu_16 *)row, gpu_lane() & 8));
}
/* 16 bytes; and from a multiple of 2, of `left` there are. By words, or else LLVM keeps them in memory. */
GPU_FN gpu_16 tile_fetch(const u8 *from) {
    const gpu_16 *v = (const gpu_16 *)from;
    return gpu_16{{v->word[0], v->word[1], v->word[2], v->word[3]}};
}
GPU_FN gpu_16 tile_fetch(const u8 *from, i64 left) {
    u32 w[4] = {0, 0, 0, 0};
    if (left >= 16) {
        __builtin_memcpy(w, from, 16);
    } else {
        GPU_UNROLL for (int i = 0; i < 8; i++)
            if (i * 2 < left) w[i / 2] |= (u32)((const u16 *)from)[i] << i % 2 * 16;
    }
    return gpu_16{{w[0], w[1], w[2], w[3]}};
}
#endif
/* The word that begins two bytes behind from[0]. */
GPU_FN u32 tile_halves(const u32 *from) { return *TILE_HERE(from) >> 16 | *TILE_HERE(from + 1) << 16; }
/* The word at a byte that is a multiple of 2, and of 4 but on NVIDIA, where the word behind it is read too. */
GPU_FN u32 tile_word(const u8 *row, u32 byte) {
#if MMA_ASYNC
    const u32 *from = (const u32 *)row + byte / 4;
    return (u32)(((u64)from[1] << 32 | from[0]) >> byte % 4 * 8);
#else
    return *TILE_HERE((const u32 *)(row + byte));
#endif
}

/* NBYTES of a step. PIECES of 16 bytes hold it; where it need not begin at a multiple of 16 (LOOSE), `at` says where in
 * them it begins.
 *
 * run(turn, s): the run that words() unpacks as w[s] in each of two turns. */
template <int TYPE> struct tile_type;

/* q4_k, and q5_k with its fifth bits. */
template <bool FIVE> struct tile_type_k {
    enum { NBYTES = FIVE ? 176 : 144, PIECES = NBYTES / 16, LOOSE = 0, SHIFT = 1, PARTS = 0 };
    enum { PITCH = FIVE ? GPU_TILE_PITCH_q5_k : GPU_TILE_PITCH_q4_k };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32, u32 half, u32 t) {
        gpu_vec<u32> b = tile_first(row);
        u32 scale = b.v[1] >> 8 * t & 63, least = b.v[2] >> 8 * t & 63;
#if MMA_ASYNC
        if (half) {
            u32 low = b.v[3] >> 8 * t;
            scale = (low & 15) | (b.v[1] >> 8 * t & 0xc0) >> 2;
            least = (low >> 4 & 15) | (b.v[2] >> 8 * t & 0xc0) >> 2;
        }
#else
        /* Without a branch, before which LLVM would load what comes behind it. */
        u32 low = b.v[3] >> 8 * t, mask = 0 - half;
        scale = (scale & ~mask) | (((low & 15) | (b.v[1] >> 8 * t & 0xc0) >> 2) & mask);
        least = (least & ~mask) | (((low >> 4 & 15) | (b.v[2] >> 8 * t & 0xc0) >> 2) & mask);
#endif
        f32 d = block_from_f16((u16)b.v[0]), dmin = block_from_f16((u16)(b.v[0] >> 16));
        return tile_scales{d * (f32)scale, -(dmin * (f32)least)};
    }
    GPU_FN void words(const u8 *row, u32, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        const u32 *q = TILE_HERE((const u32 *)(row + (FIVE ? 48 : 16) + 64 * half + 32 * turn) + t);
        GPU_UNROLL for (int i = 0; i < 2; i++) {
            w[0][i] = q[4 * i] & 0x0f0f0f0fu;
            w[1][i] = q[4 * i] >> 4 & 0x0f0f0f0fu;
            if (FIVE) {
                u32 high = *TILE_HERE((const u32 *)(row + 16) + (t + 4 * i)) >> (4 * half + 2 * turn);
                w[0][i] |= high << 4 & 0x10101010u;
                w[1][i] |= high << 3 & 0x10101010u;
            }
        }
    }
};
template <> struct tile_type<BLOCK_q4_k> : tile_type_k<false> {};
template <> struct tile_type<BLOCK_q5_k> : tile_type_k<true> {};

template <> struct tile_type<BLOCK_q6_k> {
    enum { NBYTES = 210, PIECES = 14, PITCH = GPU_TILE_PITCH_q6_k, LOOSE = MMA_ASYNC, SHIFT = 0, PARTS = TILE_HALVES };
    GPU_FN u32 run(u32 turn, u32 s) { return turn + 2 * s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32 at, u32 half, u32 t) {
        f32 d = block_from_f16(*TILE_HERE((const u16 *)(row + at + 208)));
        u32 both = *TILE_HERE((const u16 *)(row + at + 192 + 8 * half + 2 * t));
        return tile_scales{d * (f32)(i8)both, d * (f32)(i8)(both >> 8)};
    }
    GPU_FN void words(const u8 *row, u32 at, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        GPU_UNROLL for (u32 i = 0; i < 2; i++) {
            u32 low = tile_word(row, at + 64 * half + 32 * turn + 16 * i + 4 * t);
            u32 high = tile_word(row, at + 128 + 32 * half + 16 * i + 4 * t) >> 2 * turn;
            w[0][i] = tile_less<32>((low & 0x0f0f0f0fu) | (high << 4 & 0x30303030u));
            w[1][i] = tile_less<32>((low >> 4 & 0x0f0f0f0fu) | (high & 0x30303030u));
        }
    }
};

template <> struct tile_type<BLOCK_q3_k> {
    enum { NBYTES = 110, PIECES = MMA_ASYNC ? 8 : 7, PITCH = GPU_TILE_PITCH_q3_k };
    enum { LOOSE = MMA_ASYNC, SHIFT = 0, PARTS = TILE_HALVES };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32 at, u32 half, u32 t) {
        f32 d = block_from_f16(*TILE_HERE((const u16 *)(row + at + 108)));
        u32 low = *TILE_HERE((const u16 *)(row + at + 96 + 2 * t));
        u32 high = *TILE_HERE((const u16 *)(row + at + 104 + 2 * (t % 2)));
        u32 both = (low >> 4 * half & 0x0f0fu) | (high >> (4 * half + t / 2 * 2) & 0x0303u) << 4;
        return tile_scales{d * (f32)((i32)(both & 255) - 32), d * (f32)((i32)(both >> 8) - 32)};
    }
    GPU_FN void words(const u8 *row, u32 at, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        GPU_UNROLL for (u32 i = 0; i < 2; i++) {
            u32 low = tile_word(row, at + 32 + 32 * half + 16 * i + 4 * t) >> 4 * turn;
            u32 third = tile_word(row, at + 16 * i + 4 * t) >> (4 * half + 2 * turn);
            GPU_UNROLL for (int s = 0; s < 2; s++)
                w[s][i] = tile_less<4>((low >> 2 * s & 0x03030303u) | (third >> s & 0x01010101u) << 2);
        }
    }
};

/* Numbers of 2 bits times scales of 4 fit in bytes. */
template <> struct tile_type<BLOCK_q2_k> {
    enum { NBYTES = 84, PIECES = 6, PITCH = GPU_TILE_PITCH_q2_k, LOOSE = MMA_ASYNC, SHIFT = 0, PARTS = TILE_SHIFTS };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32 at, u32, u32) {
        u32 both = *TILE_HERE((const u32 *)(row + at + 80));
        return tile_scales{block_from_f16((u16)both), -block_from_f16((u16)(both >> 16))};
    }
    GPU_FN void words(const u8 *row, u32 at, u32 half, u32 turn, u32 t, u32 (&w)[2][4]) {
        u32 both = *TILE_HERE((const u32 *)(row + at + 8 * half + 4 * turn));
        GPU_UNROLL for (u32 i = 0; i < 2; i++) {
            u32 q = *TILE_HERE((const u32 *)(row + at + 16 + 32 * half + 16 * i) + t) >> 4 * turn;
            GPU_UNROLL for (u32 s = 0; s < 2; s++) {
                u32 by = both >> 8 * (2 * s + i);
                w[s][i] = (q >> 2 * s & 0x03030303u) * (by & 15);
                w[s][2 + i] = (by >> 4 & 15) * 0x01010101u;
            }
        }
    }
};

template <> struct tile_type<BLOCK_q8_0> {
    enum { NBYTES = 272, PIECES = 17, PITCH = GPU_TILE_PITCH_q8_0, LOOSE = 0, SHIFT = 0, PARTS = 0 };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32, u32 half, u32 t) {
        return tile_scales{block_from_f16(*TILE_HERE((const u16 *)(row + 34 * (4 * half + t)))), 0};
    }
    GPU_FN void words(const u8 *row, u32, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        const u32 *q = (const u32 *)(row + 136 * half + 68 * turn) + t;
        GPU_UNROLL for (int i = 0; i < 2; i++) {
            w[0][i] = tile_halves(q + 4 * i);
            w[1][i] = *TILE_HERE(q + 9 + 4 * i);
        }
    }
};

/* q4_0, and iq4_nl, whose halves of bytes are places in a table. */
template <bool TABLE> struct tile_type_0 {
    enum { NBYTES = 144, PIECES = 9, PITCH = GPU_TILE_PITCH_q4_0, LOOSE = 0, SHIFT = 0, PARTS = 0 };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32, u32 half, u32 t) {
        return tile_scales{block_from_f16(*TILE_HERE((const u16 *)(row + 18 * (4 * half + t)))), 0};
    }
    GPU_FN void words(const u8 *row, u32, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        const u32 *q = (const u32 *)(row + 72 * half + 36 * turn) + t;
        u32 both[2] = {tile_halves(q), *TILE_HERE(q + 5)};
        GPU_UNROLL for (int s = 0; s < 2; s++) {
            if (TABLE) {
                iq4_words(both[s], w[s][0], w[s][1]);
            } else {
                w[s][0] = tile_less<8>(both[s] & 0x0f0f0f0fu);
                w[s][1] = tile_less<8>(both[s] >> 4 & 0x0f0f0f0fu);
            }
        }
    }
};
template <> struct tile_type<BLOCK_q4_0> : tile_type_0<false> {};
template <> struct tile_type<BLOCK_iq4_nl> : tile_type_0<true> {};

template <> struct tile_type<BLOCK_iq4_xs> {
    enum { NBYTES = 136, PIECES = 9, PITCH = GPU_TILE_PITCH_iq4_xs, LOOSE = MMA_ASYNC, SHIFT = 0, PARTS = 0 };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32 at, u32 half, u32 t) {
        const u32 *head = TILE_HERE((const u32 *)(row + at));
        u32 sub = 4 * half + t, scale = (head[1] >> 4 * sub & 15) | (head[0] >> (16 + 2 * sub) & 3) << 4;
        return tile_scales{block_from_f16((u16)head[0]) * (f32)((i32)scale - 32), 0};
    }
    GPU_FN void words(const u8 *row, u32 at, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        const u32 *q = (const u32 *)(row + at + 8 + 64 * half + 32 * turn) + t;
        GPU_UNROLL for (int s = 0; s < 2; s++) iq4_words(*TILE_HERE(q + 4 * s), w[s][0], w[s][1]);
    }
};

/* q4_1, and q5_1 with its fifth bits. */
template <bool FIVE> struct tile_type_1 {
    enum { BLOCK = FIVE ? 24 : 20, NBYTES = 8 * BLOCK, PIECES = NBYTES / 16, LOOSE = 0, SHIFT = 1, PARTS = 0 };
    enum { PITCH = FIVE ? GPU_TILE_PITCH_q5_1 : GPU_TILE_PITCH_q4_1 };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32, u32 half, u32 t) {
        u32 both = *TILE_HERE((const u32 *)(row + BLOCK * (4 * half + t)));
        return tile_scales{block_from_f16((u16)both), block_from_f16((u16)(both >> 16))};
    }
    GPU_FN void words(const u8 *row, u32, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        GPU_UNROLL for (u32 s = 0; s < 2; s++) {
            const u32 *block = (const u32 *)(row + BLOCK * (4 * half + 2 * turn + s));
            u32 q = *TILE_HERE(block + BLOCK / 4 - 4 + t), high = FIVE ? *TILE_HERE(block + 1) >> 4 * t : 0;
            w[s][0] = (q & 0x0f0f0f0fu) | (FIVE ? tile_fifth(high) : 0);
            w[s][1] = (q >> 4 & 0x0f0f0f0fu) | (FIVE ? tile_fifth(high >> 16) : 0);
        }
    }
};
template <> struct tile_type<BLOCK_q4_1> : tile_type_1<false> {};
template <> struct tile_type<BLOCK_q5_1> : tile_type_1<true> {};

template <> struct tile_type<BLOCK_q5_0> {
    enum { NBYTES = 176, PIECES = 11, PITCH = GPU_TILE_PITCH_q5_0, LOOSE = 0, SHIFT = 0, PARTS = 0 };
    GPU_FN u32 run(u32 turn, u32 s) { return 2 * turn + s; }
    GPU_FN struct tile_scales scales(const u8 *row, u32, u32 half, u32 t) {
        return tile_scales{block_from_f16(*TILE_HERE((const u16 *)(row + 22 * (4 * half + t)))), 0};
    }
    /* The second of two blocks begins two bytes behind a multiple of 4, so that its words do not. */
    GPU_FN void words(const u8 *row, u32, u32 half, u32 turn, u32 t, u32 (&w)[2][2]) {
        const u32 *q = (const u32 *)(row + 88 * half + 44 * turn);
        u32 both[2] = {tile_halves(q + 1 + t), *TILE_HERE(q + 7 + t)};
        u32 high[2] = {tile_halves(q), *TILE_HERE(q + 6)};
        GPU_UNROLL for (int s = 0; s < 2; s++) {
            u32 five = high[s] >> 4 * t;
            w[s][0] = tile_less<16>((both[s] & 0x0f0f0f0fu) | tile_fifth(five));
            w[s][1] = tile_less<16>((both[s] >> 4 & 0x0f0f0f0fu) | tile_fifth(five >> 16));
        }
    }
};

#endif
