/* Unpacking of the dtypes that models are mostly made of, 32 bytes at a time. The formats are those of
 * kernels/blocks.h; every result has the bits that it gives. For kernel files of AVX2 and up. */
#ifndef WICK_CPU_KERNELS_BLOCKS_AVX2_H
#define WICK_CPU_KERNELS_BLOCKS_AVX2_H

#include "cpu/kernels/block_groups.h"

#define FAST static inline __attribute__((always_inline))

FAST uint16_t load_u16(const uint8_t *b) {
    uint16_t x;
    memcpy(&x, b, sizeof x);
    return x;
}
FAST uint32_t load_u32(const uint8_t *b) {
    uint32_t x;
    memcpy(&x, b, sizeof x);
    return x;
}
FAST __m256i load_32(const uint8_t *b) { return _mm256_loadu_si256((const void *)b); }
FAST void store_32(int8_t *q, __m256i x) { _mm256_storeu_si256((void *)q, x); }
FAST __m256i low_bits(__m256i x, int bits) { return _mm256_and_si256(x, _mm256_set1_epi8((char)((1 << bits) - 1))); }
/* The bits from `by` on of each byte, above which those of its neighbour lie. */
FAST __m256i shift_down(__m256i x, int by) { return _mm256_srl_epi16(x, _mm_cvtsi32_si128(by)); }
/* 2 bits of each byte, from `by` on, as the upper ones of 6. */
FAST __m256i above_nibble(__m256i x, int by) { return _mm256_slli_epi16(low_bits(shift_down(x, by), 2), 4); }
/* The nibbles of 16 bytes, lower ones first. */
FAST __m256i nibbles_16(const uint8_t *b) {
    __m128i raw = _mm_loadu_si128((const void *)b);
    return low_bits(_mm256_set_m128i(_mm_srli_epi16(raw, 4), raw), 4);
}
/* A byte of ones for each bit that is set. */
FAST __m256i spread_bits(uint32_t bits) {
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i x = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(x, bit), bit);
}

/* ---- scales ---- */

/* Eight numbers, each for two groups. */
FAST void store_twice(float *to, __m256 x) {
    __m256 low = _mm256_unpacklo_ps(x, x), high = _mm256_unpackhi_ps(x, x);
    _mm256_storeu_ps(to, _mm256_permute2f128_ps(low, high, 0x20));
    _mm256_storeu_ps(to + 8, _mm256_permute2f128_ps(low, high, 0x31));
}
FAST __m256 half_all(const uint8_t *b) { return _mm256_set1_ps(_cvtsh_ss(load_u16(b))); }
/* The f16 at b; with codes, 1, and the f16 apart. */
FAST __m256 factor(const bool codes, const uint8_t *b, float *apart) {
    *apart = _cvtsh_ss(load_u16(b));
    return _mm256_set1_ps(codes ? 1 : *apart);
}
FAST void no_shift(struct wick__stretch *to) {
    for (int g = 0; g < WICK__STRETCH_GROUPS; g += 8) _mm256_storeu_ps(to->shift + g, _mm256_set1_ps(-0.0f));
}
FAST __m256 minus(__m256 x) { return _mm256_xor_ps(x, _mm256_set1_ps(-0.0f)); }
FAST __m256 bytes_to_floats(uint64_t bytes) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes)));
}

/* Scales and minima of q4_k and q5_k, eight of 6 bits each, a byte for each. */
FAST void codes_of_scales_k(const uint8_t *b, uint64_t *scale, uint64_t *min) {
    uint32_t u = load_u32(b + 4), v = load_u32(b + 8), w = load_u32(b + 12);
    *scale = (w & 0x0f0f0f0f) | (u >> 6 & 0x03030303) << 4;
    *min = (w >> 4 & 0x0f0f0f0f) | (v >> 6 & 0x03030303) << 4;
    *scale = *scale << 32 | (u & 0x3f3f3f3f);
    *min = *min << 32 | (v & 0x3f3f3f3f);
}
FAST void scales_k(const uint8_t *b, struct wick__stretch *to) {
    uint64_t scale, min;
    codes_of_scales_k(b, &scale, &min);
    store_twice(to->scale, half_all(b) * bytes_to_floats(scale));
    store_twice(to->shift, minus(half_all(b + 2) * bytes_to_floats(min)));
}
FAST __m256 scales_iq4_xs(const uint8_t *b) {
    const __m256i by = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14);
    __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32((int)load_u32(b + 4)), _mm256_add_epi32(by, by));
    __m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(load_u16(b + 2)), by);
    __m256i scale = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
                                    _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
    return half_all(b) * _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32)));
}

/* ---- 32 elements and one scale ---- */

FAST __m128i four_words(const uint8_t *b, int64_t step) {
    __m128i x = _mm_cvtsi32_si128((int)load_u32(b));
    x = _mm_insert_epi32(x, (int)load_u32(b + step), 1);
    x = _mm_insert_epi32(x, (int)load_u32(b + 2 * step), 2);
    return _mm_insert_epi32(x, (int)load_u32(b + 3 * step), 3);
}
/* The two f16 that lie side by side in up to 8 blocks; 0 for blocks there are not. */
FAST void gather_halves(const uint8_t *b, int nbytes, int blocks, __m256 *first, __m256 *second) {
    __m256i all;
    if (blocks == 8) { /* not by way of memory, where a load of all would wait for the stores */
        __m128i left = four_words(b, nbytes), right = four_words(b + 4 * nbytes, nbytes);
        all = _mm256_set_m128i(right, left);
    } else {
        uint32_t pair[8] = {0};
        for (int i = 0; i < blocks; i++) pair[i] = load_u32(b + i * nbytes);
        all = _mm256_loadu_si256((const void *)pair);
    }
    __m256i low = _mm256_and_si256(all, _mm256_set1_epi32(0xffff)), high = _mm256_srli_epi32(all, 16);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
    *first = _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
    *second = _mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1));
}
/* A block begins with its scale, and with its shift where it has one. `body` is the 32 codes of the block at b, which
 * are `above` the integers they stand for. */
#define UNPACK_32(name, nbytes, has_shift, above, body)                                                                \
    FAST void unpack_##name(const bool codes, const uint8_t *from, int n, struct wick__stretch *to) {                  \
        __m256 scale, shift;                                                                                           \
        gather_halves(from, nbytes, n / 32, &scale, &shift);                                                           \
        store_twice(to->scale, scale);                                                                                 \
        if (has_shift)                                                                                                 \
            store_twice(to->shift, shift);                                                                             \
        else                                                                                                           \
            no_shift(to);                                                                                              \
        for (int i = 0; i < n / 32; i++) {                                                                             \
            const uint8_t *b = from + i * (nbytes);                                                                    \
            store_32(to->q + 32 * i, codes ? (body) : MINUS(body, above));                                             \
        }                                                                                                              \
    }
#define MINUS(x, n) _mm256_sub_epi8(x, _mm256_set1_epi8(n))
#define FIFTH(b) _mm256_and_si256(spread_bits(load_u32(b)), _mm256_set1_epi8(16))
FAST __m256i from_table(const int8_t table[16], __m256i index) {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table)), index);
}

UNPACK_32(q4_0, 18, false, 8, nibbles_16(b + 2))
UNPACK_32(q4_1, 20, true, 0, nibbles_16(b + 4))
UNPACK_32(q5_0, 22, false, 16, _mm256_or_si256(nibbles_16(b + 6), FIFTH(b + 2)))
UNPACK_32(q5_1, 24, true, 0, _mm256_or_si256(nibbles_16(b + 8), FIFTH(b + 4)))
UNPACK_32(q8_0, 34, false, 0, load_32(b + 2))
UNPACK_32(iq4_nl, 18, false, 0, from_table(block_iq4, nibbles_16(b + 2)))

FAST void unpack_mxfp4(const bool codes, const uint8_t *from, int n, struct wick__stretch *to) {
    float scale[8] = {0};
    (void)codes;
    for (int i = 0; i < n / 32; i++) {
        const uint8_t *b = from + 17 * i;
        scale[i] = wick__bits_f32(b[0] < 2 ? 0x200000u << b[0] : (uint32_t)(b[0] - 1) << 23);
        store_32(to->q + 32 * i, from_table(block_e2m1, nibbles_16(b + 1)));
    }
    store_twice(to->scale, _mm256_loadu_ps(scale));
    no_shift(to);
}

/* ---- 256 elements ---- */

FAST void unpack_q4_k(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    (void)n;
    (void)codes;
    scales_k(b, to);
    for (int c = 0; c < 4; c++) {
        __m256i q = load_32(b + 16 + 32 * c);
        store_32(to->q + 64 * c, low_bits(q, 4));
        store_32(to->q + 64 * c + 32, low_bits(shift_down(q, 4), 4));
    }
}
FAST void unpack_q5_k(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    __m256i high = load_32(b + 16);
    (void)n;
    (void)codes;
    scales_k(b, to);
    for (int c = 0; c < 4; c++) {
        __m256i q = load_32(b + 48 + 32 * c), h = shift_down(high, 2 * c);
        __m256i low = _mm256_slli_epi16(low_bits(h, 1), 4), next = _mm256_slli_epi16(low_bits(shift_down(h, 1), 1), 4);
        store_32(to->q + 64 * c, _mm256_or_si256(low_bits(q, 4), low));
        store_32(to->q + 64 * c + 32, _mm256_or_si256(low_bits(shift_down(q, 4), 4), next));
    }
}
FAST void unpack_q6_k(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    __m256 d = factor(codes, b + 208, &to->d);
    (void)n;
    for (int g = 0; g < 16; g += 8) {
        __m256 scale = d * _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)(b + 192 + g))));
        _mm256_storeu_ps(to->scale + g, scale);
    }
    no_shift(to);
    for (int h = 0; h < 2; h++) {
        __m256i q = load_32(b + 64 * h), r = load_32(b + 64 * h + 32), high = load_32(b + 128 + 32 * h);
        int8_t *out = to->q + 128 * h;
        store_32(out, codes ? _mm256_or_si256(low_bits(q, 4), above_nibble(high, 0))
                            : MINUS(_mm256_or_si256(low_bits(q, 4), above_nibble(high, 0)), 32));
        store_32(out + 32, codes ? _mm256_or_si256(low_bits(r, 4), above_nibble(high, 2))
                                 : MINUS(_mm256_or_si256(low_bits(r, 4), above_nibble(high, 2)), 32));
        store_32(out + 64, codes ? _mm256_or_si256(low_bits(shift_down(q, 4), 4), above_nibble(high, 4))
                                 : MINUS(_mm256_or_si256(low_bits(shift_down(q, 4), 4), above_nibble(high, 4)), 32));
        store_32(out + 96, codes ? _mm256_or_si256(low_bits(shift_down(r, 4), 4), above_nibble(high, 6))
                                 : MINUS(_mm256_or_si256(low_bits(shift_down(r, 4), 4), above_nibble(high, 6)), 32));
    }
}
/* Four planes of 2 bits of 32 bytes, twice. */
#define PLANES_2(b, body)                                                                                              \
    for (int p = 0; p < 8; p++) {                                                                                      \
        __m256i q = low_bits(shift_down(load_32((b) + 32 * (p / 4)), 2 * (p % 4)), 2);                                 \
        store_32(to->q + 32 * p, body);                                                                                \
    }
FAST void unpack_q2_k(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    __m256 d = factor(codes, b + 80, &to->d), min = factor(codes, b + 82, &to->dmin);
    (void)n;
    for (int g = 0; g < 16; g += 8) {
        uint64_t s;
        memcpy(&s, b + g, sizeof s);
        _mm256_storeu_ps(to->scale + g, d * bytes_to_floats(s & 0x0f0f0f0f0f0f0f0f));
        _mm256_storeu_ps(to->shift + g, minus(min * bytes_to_floats(s >> 4 & 0x0f0f0f0f0f0f0f0f)));
    }
    PLANES_2(b + 16, q)
}
FAST void unpack_q3_k(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    __m256 d = factor(codes, b + 108, &to->d);
    __m256i high = load_32(b);
    uint64_t low, up = load_u32(b + 104);
    (void)n;
    memcpy(&low, b + 96, sizeof low);
    for (int g = 0; g < 16; g += 8) {
        uint64_t s = (up >> g / 2 & 0x03030303) << 4 | (up >> (g / 2 + 2) & 0x03030303) << 36;
        s |= low >> g / 2 & 0x0f0f0f0f0f0f0f0f;
        __m256 scale = d * (bytes_to_floats(s) - _mm256_set1_ps(32));
        _mm256_storeu_ps(to->scale + g, scale);
    }
    no_shift(to);
    PLANES_2(b + 32, MINUS(_mm256_or_si256(q, _mm256_slli_epi16(low_bits(shift_down(high, p), 1), 2)), codes ? 0 : 4))
}
FAST void unpack_tq2_0(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    (void)n;
    (void)codes;
    store_twice(to->scale, half_all(b + 64));
    no_shift(to);
    PLANES_2(b, MINUS(q, codes ? 0 : 1))
}
FAST void unpack_iq4_xs(const bool codes, const uint8_t *b, int n, struct wick__stretch *to) {
    (void)n;
    (void)codes;
    store_twice(to->scale, scales_iq4_xs(b));
    no_shift(to);
    for (int g = 0; g < 8; g++) store_32(to->q + 32 * g, from_table(block_iq4, nibbles_16(b + 8 + 16 * g)));
}

/* X(name): what stands above. */
#define FAST_TYPES(X)                                                                                                  \
    X(q4_0)                                                                                                            \
    X(q4_1) X(q5_0) X(q5_1) X(q8_0) X(iq4_nl) X(mxfp4) X(q4_k) X(q5_k) X(q6_k) X(q2_k) X(q3_k) X(tq2_0) X(iq4_xs)

#endif
