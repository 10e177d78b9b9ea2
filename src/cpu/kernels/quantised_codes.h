/* Codes and scales of blocks in registers, of eight rows of weights at once: lane r of a vector belongs to row r. The
 * formats are those of kernels/blocks.h. Included by quantised_rows.c alone, for AVX2 and up.
 *
 * Block b of a row lies `step` bytes behind that of the row before. */
#ifndef WICK_CPU_KERNELS_QUANTISED_CODES_H
#define WICK_CPU_KERNELS_QUANTISED_CODES_H

#include "cpu/kernels/blocks_avx2.h"
#include "cpu/kernels/quantised_dot.h"
#include "cpu/kernels/quantised_strip.h"

enum { ROW_GROUPS = WICK__STRETCH / 32 };

#if WICK_ISA_LEVEL == 2
#define ROW_FN VNNI DOT_FN
#else
#define ROW_FN DOT_FN
#endif

/* ---- bytes of eight rows ---- */

DOT_FN __m256i words_at(const uint8_t *b, int64_t step) {
    return _mm256_set_m128i(four_words(b + 4 * step, (int)step), four_words(b, (int)step));
}
DOT_FN __m256 halves_at(const uint8_t *b, int64_t step) {
    __m128i x = _mm_cvtsi32_si128(load_u16(b));
    x = _mm_insert_epi16(x, load_u16(b + step), 1);
    x = _mm_insert_epi16(x, load_u16(b + 2 * step), 2);
    x = _mm_insert_epi16(x, load_u16(b + 3 * step), 3);
    x = _mm_insert_epi16(x, load_u16(b + 4 * step), 4);
    x = _mm_insert_epi16(x, load_u16(b + 5 * step), 5);
    x = _mm_insert_epi16(x, load_u16(b + 6 * step), 6);
    return _mm256_cvtph_ps(_mm_insert_epi16(x, load_u16(b + 7 * step), 7));
}
/* Words as two f16 each. */
DOT_FN void two_halves(__m256i words, __m256 *first, __m256 *second) {
    __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xffff)), high = _mm256_srli_epi32(words, 16);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    *first = _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
    *second = _mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1));
}
DOT_FN __m256i low_of_all(struct strip *s, int i, int by, int bits) {
    return low_bits(by ? _mm256_srli_epi16(s->w[i], by) : s->w[i], bits);
}
/* Byte i of each word. */
DOT_FN __m256 byte_floats(__m256i words, int i) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(words, 8 * i), _mm256_set1_epi32(255)));
}
/* ---- scales ---- */

struct row_scales {
    __m256 scale[ROW_GROUPS], shift[ROW_GROUPS]; /* of the groups of a block */
};

DOT_FN void scales_half(const uint8_t *b, int64_t step, struct row_scales *s) { s->scale[0] = halves_at(b, step); }
DOT_FN void scales_halves(const uint8_t *b, int64_t step, struct row_scales *s) {
    two_halves(words_at(b, step), &s->scale[0], &s->shift[0]);
}
DOT_FN void scales_mxfp4(const uint8_t *b, int64_t step, struct row_scales *s) {
    __m256i x =
        _mm256_setr_epi32(b[0], b[step], b[2 * step], b[3 * step], b[4 * step], b[5 * step], b[6 * step], b[7 * step]);
    __m256i small = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), x);
    __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(x, _mm256_set1_epi32(1)), 23);
    __m256i is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), x);
    s->scale[0] = _mm256_castsi256_ps(_mm256_blendv_epi8(normal, small, is_small));
}
DOT_FN void scales_of_k(const uint8_t *b, int64_t step, struct row_scales *s) {
    const __m256i six = _mm256_set1_epi8(63), upper = _mm256_set1_epi8(0x30);
    struct strip h = strip_at(b, step);
    __m256 d, min;
    two_halves(h.w[0], &d, &min);
    min = minus(min);
    __m256i scale[2] = {
        _mm256_and_si256(h.w[1], six),
        _mm256_or_si256(low_of_all(&h, 3, 0, 4), _mm256_and_si256(_mm256_srli_epi32(h.w[1], 2), upper))};
    __m256i shift[2] = {
        _mm256_and_si256(h.w[2], six),
        _mm256_or_si256(low_of_all(&h, 3, 4, 4), _mm256_and_si256(_mm256_srli_epi32(h.w[2], 2), upper))};
    for (int g = 0; g < 8; g++) {
        s->scale[g] = d * byte_floats(scale[g / 4], g % 4);
        s->shift[g] = min * byte_floats(shift[g / 4], g % 4);
    }
}
DOT_FN void scales_of_iq4_xs(const uint8_t *b, int64_t step, struct row_scales *s) {
    __m256i high = words_at(b, step), low = words_at(b + 4, step);
    __m256 d, none;
    two_halves(high, &d, &none);
    for (int g = 0; g < 8; g++) {
        __m256i x = _mm256_and_si256(_mm256_srli_epi32(low, 4 * g), _mm256_set1_epi32(15));
        __m256i y = _mm256_and_si256(_mm256_srli_epi32(high, 16 + 2 * g), _mm256_set1_epi32(3));
        x = _mm256_sub_epi32(_mm256_or_si256(x, _mm256_slli_epi32(y, 4)), _mm256_set1_epi32(32));
        s->scale[g] = d * _mm256_cvtepi32_ps(x);
    }
}
DOT_FN void scales_of_tq2_0(const uint8_t *b, int64_t step, struct row_scales *s) {
    s->scale[0] = halves_at(b + 64, step);
    for (int g = 1; g < 8; g++) s->scale[g] = s->scale[0];
}

/* ---- products of codes ---- */

/* Products of 16 codes of each row by 16 activations. */
typedef __m256i row_half_fn(const __m256i codes[4], const int8_t *x);

struct row_dot {
    row_half_fn *half;
    bool sums_16, spare; /* sums_16: it leaves two sums of 16 bits a lane; spare: two of these fit in one */
    bool raised;         /* codes of 8 bits are 128 above the integers that they stand for */
};

DOT_FN __m256i four_of(const int8_t *x) {
    int32_t word;
    memcpy(&word, x, sizeof word);
    return _mm256_set1_epi32(word);
}
DOT_FN __m256i widened(__m256i x) { return _mm256_madd_epi16(x, _mm256_set1_epi16(1)); }
#if WICK_ISA_LEVEL == 2
/* Codes as they are, unsigned. */
ROW_FN __m256i half_vnni(const __m256i c[4], const int8_t *x) {
    __m256i sum = _mm256_dpbusd_epi32(_mm256_setzero_si256(), c[0], four_of(x));
    for (int i = 1; i < 4; i++) sum = _mm256_dpbusd_epi32(sum, c[i], four_of(x + 4 * i));
    return sum;
}
#else
DOT_FN __m256i pairs_of(__m256i codes, const int8_t *x) { return _mm256_maddubs_epi16(codes, four_of(x)); }
/* Codes up to 31, and signed ones. */
DOT_FN __m256i half_16(const __m256i c[4], const int8_t *x) {
    return _mm256_add_epi16(_mm256_add_epi16(pairs_of(c[0], x), pairs_of(c[1], x + 4)),
                            _mm256_add_epi16(pairs_of(c[2], x + 8), pairs_of(c[3], x + 12)));
}
DOT_FN __m256i half_signed(const __m256i c[4], const int8_t *x) {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
        __m256i by = _mm256_sign_epi8(four_of(x + 4 * i), c[i]);
        sum = _mm256_add_epi32(sum, widened(_mm256_maddubs_epi16(_mm256_abs_epi8(c[i]), by)));
    }
    return sum;
}
#endif

/* The sums of 16 products, and of 32. */
ROW_FN __m256i sum_of_16(const struct row_dot dot, __m256i half) { return dot.sums_16 ? widened(half) : half; }
ROW_FN __m256i sum_of_32(const struct row_dot dot, __m256i a, __m256i b) {
    if (dot.sums_16 && dot.spare) return widened(_mm256_add_epi16(a, b));
    return _mm256_add_epi32(sum_of_16(dot, a), sum_of_16(dot, b));
}

/* ---- blocks of 32 ---- */

#define EACH_WORD for (int i = 0; i < 4; i++)
/* `bits` bits of each byte of a strip, from `by` on. */
DOT_FN void codes_of(struct strip *s, int by, int bits, __m256i codes[4]) {
    EACH_WORD codes[i] = low_of_all(s, i, by, bits);
}
DOT_FN __m256i raised_by(const bool raised, __m256i x) {
    return raised ? _mm256_xor_si256(x, _mm256_set1_epi8((char)128)) : x;
}
/* 16 for each byte whose bit is set; word `at` of eight. */
DOT_FN __m256i fifth_of(__m256i bits, int at) {
    const __m256i byte = _mm256_set_m128i(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c),
                                          _mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
    const __m256i bit = _mm256_set1_epi32(at % 2 ? (int)0x80402010u : 0x08040201);
    __m256i x = _mm256_shuffle_epi8(bits, _mm256_add_epi8(byte, _mm256_set1_epi8((char)(at / 2))));
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(x, bit), bit), _mm256_set1_epi8(16));
}

ROW_FN __m256i nibbles_sum(const struct row_dot dot, const uint8_t *b, int64_t step, const int8_t *x) {
    struct strip s = strip_at(b, step);
    __m256i low[4], high[4];
    codes_of(&s, 0, 4, low);
    codes_of(&s, 4, 4, high);
    return sum_of_32(dot, dot.half(low, x), dot.half(high, x + 16));
}
ROW_FN __m256i fives_sum(const struct row_dot dot, const uint8_t *b, __m256i fifth, int64_t step, const int8_t *x) {
    struct strip s = strip_at(b, step);
    __m256i low[4], high[4];
    codes_of(&s, 0, 4, low);
    codes_of(&s, 4, 4, high);
    EACH_WORD low[i] = _mm256_or_si256(low[i], fifth_of(fifth, i));
    EACH_WORD high[i] = _mm256_or_si256(high[i], fifth_of(fifth, 4 + i));
    return sum_of_32(dot, dot.half(low, x), dot.half(high, x + 16));
}
/* `above` more than the numbers of a table. */
ROW_FN __m256i table_sum(const struct row_dot dot, const int8_t table[16], int above, const uint8_t *b, int64_t step,
                         const int8_t *x) {
    struct strip s = strip_at(b, step);
    __m256i low[4], high[4], numbers = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table));
    numbers = _mm256_add_epi8(numbers, _mm256_set1_epi8((char)above));
    EACH_WORD low[i] = _mm256_shuffle_epi8(numbers, low_of_all(&s, i, 0, 4));
    EACH_WORD high[i] = _mm256_shuffle_epi8(numbers, low_of_all(&s, i, 4, 4));
    return sum_of_32(dot, dot.half(low, x), dot.half(high, x + 16));
}

#define CODES(name)                                                                                                    \
    ROW_FN void codes_##name(const struct row_dot dot, const uint8_t *b, int64_t step, const int8_t *x, __m256i *sums)
CODES(q4_0) { sums[0] = nibbles_sum(dot, b + 2, step, x); }
CODES(q4_1) { sums[0] = nibbles_sum(dot, b + 4, step, x); }
CODES(q5_0) { sums[0] = fives_sum(dot, b + 6, words_at(b + 2, step), step, x); }
CODES(q5_1) { sums[0] = fives_sum(dot, b + 8, words_at(b + 4, step), step, x); }
CODES(iq4_nl) { sums[0] = table_sum(dot, block_iq4, dot.raised ? 128 : 0, b + 2, step, x); }
CODES(mxfp4) { sums[0] = table_sum(dot, block_e2m1, 12, b + 1, step, x); }
CODES(q8_0) {
    __m256i half[2];
    for (int h = 0; h < 2; h++) {
        struct strip s = strip_at(b + 2 + 16 * h, step);
        EACH_WORD s.w[i] = raised_by(dot.raised, s.w[i]);
        half[h] = dot.half(s.w, x + 16 * h);
    }
    sums[0] = sum_of_32(dot, half[0], half[1]);
}

/* ---- blocks of 256 ---- */

/* The bit `from` of each byte at place `to`. */
DOT_FN __m256i bit_moved(__m256i x, int from, int to) {
    x = from > to ? _mm256_srli_epi16(x, from - to) : _mm256_slli_epi16(x, to - from);
    return _mm256_and_si256(x, _mm256_set1_epi8((char)(1 << to)));
}

CODES(iq4_xs) {
    for (int g = 0; g < 8; g++)
        sums[g] = table_sum(dot, block_iq4, dot.raised ? 128 : 0, b + 8 + 16 * g, step, x + 32 * g);
}
/* 64 elements: the lower nibbles of 32 bytes, then the upper ones. */
CODES(q4_k) {
    for (int c = 0; c < 4; c++, x += 64) {
        __m256i low[2], high[2], codes[4];
        for (int h = 0; h < 2; h++) {
            struct strip s = strip_at(b + 16 + 32 * c + 16 * h, step);
            codes_of(&s, 0, 4, codes);
            low[h] = dot.half(codes, x + 16 * h);
            codes_of(&s, 4, 4, codes);
            high[h] = dot.half(codes, x + 32 + 16 * h);
        }
        sums[2 * c] = sum_of_32(dot, low[0], low[1]);
        sums[2 * c + 1] = sum_of_32(dot, high[0], high[1]);
    }
}
CODES(q5_k) {
    struct strip fifth[2] = {strip_at(b + 16, step), strip_at(b + 32, step)};
    for (int c = 0; c < 4; c++, x += 64) {
        __m256i low[2], high[2], codes[4];
        for (int h = 0; h < 2; h++) {
            struct strip s = strip_at(b + 48 + 32 * c + 16 * h, step);
            codes_of(&s, 0, 4, codes);
            EACH_WORD codes[i] = _mm256_or_si256(codes[i], bit_moved(fifth[h].w[i], 2 * c, 4));
            low[h] = dot.half(codes, x + 16 * h);
            codes_of(&s, 4, 4, codes);
            EACH_WORD codes[i] = _mm256_or_si256(codes[i], bit_moved(fifth[h].w[i], 2 * c + 1, 4));
            high[h] = dot.half(codes, x + 32 + 16 * h);
        }
        sums[2 * c] = sum_of_32(dot, low[0], low[1]);
        sums[2 * c + 1] = sum_of_32(dot, high[0], high[1]);
    }
}
/* Four planes of 2 bits of 32 bytes, twice. */
CODES(tq2_0) {
    for (int c = 0; c < 2; c++) {
        struct strip s[2] = {strip_at(b + 32 * c, step), strip_at(b + 32 * c + 16, step)};
        for (int p = 0; p < 4; p++) {
            const int8_t *at = x + 128 * c + 32 * p;
            __m256i codes[4], half;
            codes_of(&s[0], 2 * p, 2, codes);
            half = dot.half(codes, at);
            codes_of(&s[1], 2 * p, 2, codes);
            sums[4 * c + p] = sum_of_32(dot, half, dot.half(codes, at + 16));
        }
    }
}
#endif
