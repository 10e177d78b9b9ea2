/* Codes and scales of blocks in registers, a unit at a time. The formats are those of kernels/blocks.h. Included by
 * quantised_rows.c alone, for AVX2 and up.
 *
 *   UNIT      codes that a vector holds
 *   raised    codes of 8 bits are 128 above the integers that they stand for */
#ifndef WICK_CPU_KERNELS_QUANTISED_CODES_H
#define WICK_CPU_KERNELS_QUANTISED_CODES_H

#include "cpu/kernels/blocks_avx2.h"
#include "cpu/kernels/quantised_dot.h"

typedef dot_ints row_codes;
enum { UNIT = 4 * WICK__VF };

/* ---- scales ---- */

struct row_scales {
    __m256 scale[2], shift; /* of groups of 32, or of 16 */
};

/* Times those of the activations, which are by groups of 32. */
DOT_FN void times_scales(struct row_scales *s, const bool groups_16, __m256 x) {
    const __m256i first = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3), second = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
    s->scale[0] *= groups_16 ? _mm256_permutevar8x32_ps(x, first) : x;
    if (groups_16) s->scale[1] *= _mm256_permutevar8x32_ps(x, second);
}

#if WICK_ISA_LEVEL == 2
/* The scales of the lanes of unit u. */
DOT_FN wick__vf scale_32(__m256 s, int u) {
    const __m512i lanes = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    return _mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(2 * u)), _mm512_castps256_ps512(s));
}
DOT_FN wick__vf scale_16(const struct row_scales *s, int u) {
    const __m512i lanes = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(4 * (u & 1))),
                                 _mm512_castps256_ps512(s->scale[u / 2]));
}
#else
DOT_FN wick__vf scale_32(__m256 s, int u) { return _mm256_permutevar8x32_ps(s, _mm256_set1_epi32(u)); }
DOT_FN wick__vf scale_16(const struct row_scales *s, int u) {
    const __m256i lanes = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    return _mm256_permutevar8x32_ps(s->scale[u / 4], _mm256_add_epi32(lanes, _mm256_set1_epi32(2 * (u & 3))));
}
#endif

DOT_FN void scales_of_k(const uint8_t *b, struct row_scales *s) {
    uint64_t scale, min;
    codes_of_scales_k(b, &scale, &min);
    s->scale[0] = half_all(b) * bytes_to_floats(scale);
    s->shift = minus(half_all(b + 2) * bytes_to_floats(min));
}
DOT_FN void scales_of_q6_k(const uint8_t *b, struct row_scales *s) {
    __m256 d = half_all(b + 208);
    for (int g = 0; g < 2; g++)
        s->scale[g] = d * _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(b + 192 + 8 * g))));
}
DOT_FN void scales_of_iq4_xs(const uint8_t *b, struct row_scales *s) { s->scale[0] = scales_iq4_xs(b); }

/* ---- codes ---- */

#if WICK_ISA_LEVEL == 2
#define BLOCK_PAIR(at) b + (at), b + (at) + nbytes, two
DOT_FN __m512i bytes_all(int x) { return _mm512_set1_epi8((char)x); }
/* The nibbles of 16 bytes at a, lower ones first, then those at b. */
DOT_FN __m512i nibbles_of(const uint8_t *a, const uint8_t *b, const bool two) {
    const __m512i by = _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4);
    __m128i first = _mm_loadu_si128((const void *)a);
    __m512i x = _mm512_maskz_broadcast_i64x2(0x0f, first);
    if (two) x = _mm512_mask_broadcast_i64x2(_mm512_broadcast_i64x2(first), 0xf0, _mm_loadu_si128((const void *)b));
    return _mm512_and_si512(_mm512_srlv_epi64(x, by), bytes_all(15));
}
/* 16 more for each bit that is set at a, then at b. */
DOT_FN __m512i with_fifth(__m512i x, const uint8_t *a, const uint8_t *b, const bool two) {
    uint64_t bits = load_u32(a);
    if (two) bits |= (uint64_t)load_u32(b) << 32;
    return _mm512_mask_add_epi8(x, bits, x, bytes_all(16));
}
DOT_FN __m512i iq4_of(const bool raised, __m512i nibbles) {
    __m512i table = _mm512_broadcast_i64x2(_mm_loadu_si128((const void *)block_iq4));
    return _mm512_shuffle_epi8(raised ? _mm512_xor_si512(table, bytes_all(128)) : table, nibbles);
}
/* 32 bytes at b, and the same 32 again, shifted down. */
DOT_FN __m512i twice(const uint8_t *b, int first, int second) {
    const __m512i by = _mm512_setr_epi64(first, first, first, first, second, second, second, second);
    return _mm512_srlv_epi64(_mm512_broadcast_i64x4(load_32(b)), by);
}
DOT_FN __m512i low_512(__m512i x, int bits) { return _mm512_and_si512(x, bytes_all((1 << bits) - 1)); }

DOT_FN row_codes codes_q8_0(const bool raised, const uint8_t *b, int nbytes, const bool two) {
    __m512i x = two ? _mm512_inserti64x4(_mm512_castsi256_si512(load_32(b + 2)), load_32(b + nbytes + 2), 1)
                    : _mm512_zextsi256_si512(load_32(b + 2));
    return raised ? _mm512_xor_si512(x, bytes_all(128)) : x;
}
DOT_FN row_codes codes_q4_k(const bool raised, const uint8_t *b, const int u) {
    (void)raised;
    return low_512(twice(b + 16 + 32 * u, 0, 4), 4);
}
DOT_FN row_codes codes_q5_k(const bool raised, const uint8_t *b, const int u) {
    __m512i high = low_512(twice(b + 16, 2 * u, 2 * u + 1), 1);
    (void)raised;
    return _mm512_or_si512(low_512(twice(b + 48 + 32 * u, 0, 4), 4), _mm512_slli_epi16(high, 4));
}
DOT_FN row_codes codes_q6_k(const bool raised, const uint8_t *b, const int u) {
    int half = u / 2, upper = u % 2;
    __m512i low = _mm512_loadu_si512(b + 64 * half),
            high = low_512(twice(b + 128 + 32 * half, 4 * upper, 4 * upper + 2), 2);
    (void)raised;
    return _mm512_or_si512(low_512(upper ? _mm512_srli_epi16(low, 4) : low, 4), _mm512_slli_epi16(high, 4));
}
DOT_FN row_codes codes_iq4_xs(const bool raised, const uint8_t *b, const int u) {
    return iq4_of(raised, nibbles_of(b + 8 + 32 * u, b + 24 + 32 * u, true));
}
#else
#define BLOCK_PAIR(at) b + (at)
DOT_FN __m256i nibbles_of(const uint8_t *a) { return nibbles_16(a); }
DOT_FN __m256i with_fifth(__m256i x, const uint8_t *a) { return _mm256_or_si256(x, FIFTH(a)); }
DOT_FN __m256i iq4_of(const bool raised, __m256i nibbles) {
    (void)raised;
    return from_table(block_iq4, nibbles);
}

DOT_FN row_codes codes_q8_0(const bool raised, const uint8_t *b, int nbytes, const bool two) {
    (void)raised, (void)nbytes, (void)two;
    return load_32(b + 2);
}
DOT_FN row_codes codes_q4_k(const bool raised, const uint8_t *b, const int u) {
    (void)raised;
    return low_bits(shift_down(load_32(b + 16 + 32 * (u / 2)), 4 * (u % 2)), 4);
}
DOT_FN row_codes codes_q5_k(const bool raised, const uint8_t *b, const int u) {
    __m256i high = low_bits(shift_down(load_32(b + 16), u), 1);
    (void)raised;
    return _mm256_or_si256(low_bits(shift_down(load_32(b + 48 + 32 * (u / 2)), 4 * (u % 2)), 4),
                           _mm256_slli_epi16(high, 4));
}
DOT_FN row_codes codes_q6_k(const bool raised, const uint8_t *b, const int u) {
    int half = u / 4, part = u % 4;
    __m256i low = load_32(b + 64 * half + 32 * (part % 2)), high = load_32(b + 128 + 32 * half);
    (void)raised;
    return _mm256_or_si256(low_bits(shift_down(low, 4 * (part / 2)), 4), above_nibble(high, 2 * part));
}
DOT_FN row_codes codes_iq4_xs(const bool raised, const uint8_t *b, const int u) {
    return iq4_of(raised, nibbles_16(b + 8 + 16 * u));
}
#endif

/* The blocks of 32 that are the same on both. */
#define CODES_32(name, body)                                                                                           \
    DOT_FN row_codes codes_##name(const bool raised, const uint8_t *b, int nbytes, const bool two) {                   \
        (void)raised, (void)nbytes, (void)two;                                                                         \
        return body;                                                                                                   \
    }
CODES_32(q4_0, nibbles_of(BLOCK_PAIR(2)))
CODES_32(q4_1, nibbles_of(BLOCK_PAIR(4)))
CODES_32(q5_0, with_fifth(nibbles_of(BLOCK_PAIR(6)), BLOCK_PAIR(2)))
CODES_32(q5_1, with_fifth(nibbles_of(BLOCK_PAIR(8)), BLOCK_PAIR(4)))
CODES_32(iq4_nl, iq4_of(raised, nibbles_of(BLOCK_PAIR(2))))

#endif
