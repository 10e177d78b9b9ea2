/* Groups of blocks as words of four bytes each, for products by gpu_dot4. The types that models are mostly made of are
 * read by words, the others as blocks.h reads them. */
#ifndef WICK_KERNELS_BLOCK_WORDS_H
#define WICK_KERNELS_BLOCK_WORDS_H

#include "blocks.h"

/* Sixteen elements: element i is scale times (signed byte i - less), plus shift. */
enum { BLOCK_WORDS = BLOCK_GROUP / 4 };
struct block_words {
    float scale, shift;
    i32 less;
    u32 w[BLOCK_WORDS];
};

/* A word at a multiple of 2, and of 4. */
GPU_FN u32 word_of_halves(const u8 *b) { return *(const u16 *)b | (u32) * (const u16 *)(b + 2) << 16; }
GPU_FN u32 word_of(const u8 *b) { return *(const u32 *)b; }
/* Four bits, one a byte. */
GPU_FN u32 spread_bits(u32 bits) { return (bits & 15) * 0x204081u & 0x01010101u; }

#define WORDS_EACH GPU_UNROLL for (int j = 0; j < BLOCK_WORDS; j++)

GPU_FN void words_5(const u8 *q, u32 high, int g, struct block_words *r) {
    WORDS_EACH r->w[j] = (word_of_halves(q + 4 * j) >> 4 * g & 0x0f0f0f0fu) | spread_bits(high >> 4 * j) << 4;
}
GPU_FN void words_scales_k(const u8 *b, int g, struct block_words *r) {
    struct block_group group;
    block_scales_k(b, g, &group);
    r->scale = group.scale;
    r->shift = group.shift;
}
GPU_FN void words_any(int type, const u8 *b, int g, struct block_words *r) {
    struct block_group group;
    block_read(type, b, g, &group);
    r->scale = group.scale;
    r->shift = group.shift;
    WORDS_EACH r->w[j] = (u32)(u8)group.q[4 * j] | (u32)(u8)group.q[4 * j + 1] << 8 |
                         (u32)(u8)group.q[4 * j + 2] << 16 | (u32)(u8)group.q[4 * j + 3] << 24;
}

/* Group g of the block at b. `aligned`: b is a multiple of 2, or of 4 where the bytes of a block are. */
GPU_FN void block_read_words(int type, bool aligned, const u8 *b, int g, struct block_words *r) {
    int plane = g % 8 / 2;
    const u8 *pair = b + 16 * (g % 2);
    r->shift = -0.0f;
    r->less = 0;
    switch (aligned ? type : (int)BLOCK_TYPE_COUNT) {
    case BLOCK_q4_0:
        r->scale = block_f16(b);
        r->less = 8;
        WORDS_EACH r->w[j] = word_of_halves(b + 2 + 4 * j) >> 4 * g & 0x0f0f0f0fu;
        break;
    case BLOCK_q4_1:
        r->scale = block_f16(b);
        r->shift = block_f16(b + 2);
        WORDS_EACH r->w[j] = word_of_halves(b + 4 + 4 * j) >> 4 * g & 0x0f0f0f0fu;
        break;
    case BLOCK_q5_0:
        r->scale = block_f16(b);
        r->less = 16;
        words_5(b + 6, block_u16(b + 2 + 2 * g), g, r);
        break;
    case BLOCK_q5_1:
        r->scale = block_f16(b);
        r->shift = block_f16(b + 2);
        words_5(b + 8, block_u16(b + 4 + 2 * g), g, r);
        break;
    case BLOCK_q8_0:
        r->scale = block_f16(b);
        WORDS_EACH r->w[j] = word_of_halves(pair + 2 + 4 * j);
        break;
    case BLOCK_q2_k:
        r->scale = block_f16(b + 80) * (float)(b[g] & 15);
        r->shift = -(block_f16(b + 82) * (float)(b[g] >> 4));
        WORDS_EACH r->w[j] = word_of(pair + 16 + 32 * (g / 8) + 4 * j) >> 2 * plane & 0x03030303u;
        break;
    case BLOCK_q4_k:
        words_scales_k(b, g, r);
        WORDS_EACH r->w[j] = word_of(pair + 16 + 32 * (g / 4) + 4 * j) >> 4 * (g / 2 % 2) & 0x0f0f0f0fu;
        break;
    case BLOCK_q5_k:
        words_scales_k(b, g, r);
        WORDS_EACH r->w[j] = (word_of(pair + 48 + 32 * (g / 4) + 4 * j) >> 4 * (g / 2 % 2) & 0x0f0f0f0fu) |
                             (word_of(pair + 16 + 4 * j) >> g / 2 & 0x01010101u) << 4;
        break;
    case BLOCK_q6_k:
        r->scale = block_f16(b + 208) * (float)(i8)b[192 + g];
        r->less = 32;
        WORDS_EACH r->w[j] =
            (word_of_halves(pair + 64 * (g / 8) + 32 * (plane % 2) + 4 * j) >> 4 * (plane / 2) & 0x0f0f0f0fu) |
            (word_of_halves(pair + 128 + 32 * (g / 8) + 4 * j) >> 2 * plane & 0x03030303u) << 4;
        break;
    default: words_any(type, b, g, r);
    }
}

#endif
