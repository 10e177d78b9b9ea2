/* Codes and scales of q2_k, q3_k and q6_k in registers, of eight rows of weights at once: 16 elements share a scale,
 * whose whole number scales the sum of their products in whole numbers. See quantised_codes.h. */
#ifndef WICK_CPU_KERNELS_QUANTISED_CODES_16_H
#define WICK_CPU_KERNELS_QUANTISED_CODES_16_H

#include "cpu/kernels/quantised_codes.h"

/* ---- scales ---- */

/* Of a block: byte g % 4 of word g / 4 is for group g. */
struct scales_16 {
    __m256i scale[4], min[4];
    __m256 d, dmin; /* dmin: minus that of the block */
};

DOT_FN void scales_16_q2_k(const uint8_t *b, int64_t step, struct scales_16 *s) {
    struct strip h = strip_at(b, step);
    two_halves(words_at(b + 80, step), &s->d, &s->dmin);
    s->dmin = minus(s->dmin);
    for (int i = 0; i < 4; i++) {
        s->scale[i] = low_of_all(&h, i, 0, 4);
        s->min[i] = low_of_all(&h, i, 4, 4);
    }
}
DOT_FN void scales_16_q3_k(const uint8_t *b, int64_t step, struct scales_16 *s) {
    __m256i rows[4];
    __m256 none;
    /* 12 bytes of scales and the f16 end a block: they are read with the 2 bytes before them. */
    for (int r = 0; r < 4; r++) rows[r] = _mm256_bsrli_epi128(two_rows(b + 94 + r * step, b + 94 + (r + 4) * step), 2);
    struct strip h = transposed(rows);
    two_halves(h.w[3], &s->d, &none);
    for (int i = 0; i < 4; i++) {
        __m256i upper = _mm256_slli_epi16(low_of_all(&h, 2, 2 * i, 2), 4);
        s->scale[i] = _mm256_or_si256(low_of_all(&h, i % 2, i / 2 * 4, 4), upper);
        s->scale[i] = _mm256_sub_epi8(s->scale[i], _mm256_set1_epi8(32));
    }
}
DOT_FN void scales_16_q6_k(const uint8_t *b, int64_t step, struct scales_16 *s) {
    struct strip h = strip_at(b + 192, step);
    s->d = halves_at(b + 208, step);
    for (int i = 0; i < 4; i++) s->scale[i] = h.w[i];
}

/* Bytes i and j of each word as two numbers of 16 bits. */
DOT_FN __m256i two_bytes(__m256i words, const int i, const int j, const bool is_signed) {
    const __m256i at = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
    __m256i by = _mm256_mullo_epi32(at, _mm256_set1_epi32(is_signed ? 0x01000100 : 0x00010001));
    by = _mm256_add_epi32(by, _mm256_set1_epi32(is_signed ? (int)(0x00800080u | (unsigned)j << 24 | (unsigned)i << 8)
                                                          : (int)(0x80008000u | (unsigned)j << 16 | (unsigned)i)));
    words = _mm256_shuffle_epi8(words, by);
    return is_signed ? _mm256_srai_epi16(words, 8) : words;
}

/* ---- products of codes ---- */

/* Products of 16 codes of each row by 16 activations, times byte i of `scales`. */
ROW_FN __m256i scaled_half(const struct row_dot dot, const __m256i c[4], const int8_t *x, __m256i scales, const int i,
                           const bool is_signed) {
#if WICK_ISA_LEVEL == 2
    __m256i by = _mm256_slli_epi32(scales, 24 - 8 * i);
    by = is_signed ? _mm256_srai_epi32(by, 24) : _mm256_srli_epi32(by, 24);
    return _mm256_mullo_epi32(dot.half(c, x), by);
#else
    __m256i by = two_bytes(scales, i, i, is_signed);
    if (dot.sums_16) return _mm256_madd_epi16(dot.half(c, x), by);
    __m256i a = _mm256_add_epi16(pairs_of(c[0], x), pairs_of(c[1], x + 4));
    __m256i b = _mm256_add_epi16(pairs_of(c[2], x + 8), pairs_of(c[3], x + 12));
    return _mm256_add_epi32(_mm256_madd_epi16(a, by), _mm256_madd_epi16(b, by));
#endif
}

/* The bytes of 128 elements. */
struct half_block {
    struct strip strip[6];
};

#define LOAD_16(name) DOT_FN void load_##name(const uint8_t *b, int64_t step, const int half, struct half_block *from)
/* 16 codes: those of group 2 p + h of the eight of a half. */
#define CODES_16(name)                                                                                                 \
    DOT_FN void codes_16_##name(struct half_block *from, const int half, const int p, const int h, __m256i codes[4])

/* Four planes of 2 bits of 32 bytes, twice. */
LOAD_16(q2_k) {
    for (int h = 0; h < 2; h++) from->strip[h] = strip_at(b + 16 + 32 * half + 16 * h, step);
}
CODES_16(q2_k) {
    (void)half;
    codes_of(&from->strip[h], 2 * p, 2, codes);
}
/* The same, and the third bits of all in the bits of 32 bytes. */
LOAD_16(q3_k) {
    for (int h = 0; h < 2; h++) {
        from->strip[h] = strip_at(b + 32 + 32 * half + 16 * h, step);
        from->strip[2 + h] = strip_at(b + 16 * h, step);
    }
}
CODES_16(q3_k) {
    codes_of(&from->strip[h], 2 * p, 2, codes);
    EACH_WORD codes[i] = _mm256_or_si256(codes[i], bit_moved(from->strip[2 + h].w[i], 4 * half + p, 2));
}
/* The lower nibbles of 64 bytes, then the upper ones, with 2 bits more from 32 others. */
LOAD_16(q6_k) {
    for (int i = 0; i < 4; i++) from->strip[i] = strip_at(b + 64 * half + 16 * i, step);
    for (int h = 0; h < 2; h++) from->strip[4 + h] = strip_at(b + 128 + 32 * half + 16 * h, step);
}
CODES_16(q6_k) {
    (void)half;
    codes_of(&from->strip[2 * (p % 2) + h], p / 2 * 4, 4, codes);
    EACH_WORD {
        __m256i x = from->strip[4 + h].w[i];
        x = p < 2 ? _mm256_slli_epi16(x, 4 - 2 * p) : p > 2 ? _mm256_srli_epi16(x, 2) : x;
        codes[i] = _mm256_or_si256(codes[i], _mm256_and_si256(x, _mm256_set1_epi8(0x30)));
    }
}

#endif
