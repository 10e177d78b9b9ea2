/* Vectors of 32-bit packed elements, for packing panels: PACK_LANES of them, loads that convert, a transpose, stores.
 * With AVX2 and AVX-512 only. */
#ifndef WICK_CPU_KERNELS_GEMM_LANES_H
#define WICK_CPU_KERNELS_GEMM_LANES_H

#include "cpu/kernels/vmath.h"

#include <wick/dtype.h>

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* What one packed element is made from. A pair is two neighbours of 16 bits. */
enum source { SOURCE_32, SOURCE_BF16, SOURCE_F16, SOURCE_F8, SOURCE_U8, SOURCE_I16, SOURCE_PAIR };

static inline enum source source_of(enum wick_dtype dtype, int group) {
    switch (dtype) {
    case WICK_BF16: return group == 2 ? SOURCE_PAIR : SOURCE_BF16;
    case WICK_F16: return SOURCE_F16;
    case WICK_F8E4M3: return SOURCE_F8;
    case WICK_U8: return SOURCE_U8;
    case WICK_I16: return SOURCE_I16;
    default: return SOURCE_32;
    }
}

static inline int64_t source_size(enum source source) {
    return source == SOURCE_32 ? 4 : source == SOURCE_F8 || source == SOURCE_U8 ? 1 : 2;
}

#define LANES_FN static inline __attribute__((always_inline))

#if WICK_ISA_LEVEL == 2
enum { PACK_LANES = 16 };
typedef __m512i pack_vector;

LANES_FN pack_vector f8_to_f32(pack_vector x) {
    pack_vector magnitude = _mm512_slli_epi32(_mm512_and_si512(x, _mm512_set1_epi32(0x7f)), 20);
    pack_vector sign = _mm512_slli_epi32(_mm512_and_si512(x, _mm512_set1_epi32(0x80)), 24);
    pack_vector value = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(magnitude), _mm512_set1_ps(0x1p120f)));
    __mmask16 nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x07f00000));
    value = _mm512_mask_mov_epi32(value, nan, _mm512_set1_epi32(0x7fc00000));
    return _mm512_or_si512(value, sign);
}

/* PACK_LANES packed elements from an address on; those from n on are 0 and not touched. `terms` counts those of pairs,
 * the last of which may lack its second half. */
LANES_FN pack_vector pack_load(const enum source source, const void *from, int64_t n, int64_t terms) {
    __mmask16 mask = n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1);
    switch (source) {
    case SOURCE_32: return _mm512_maskz_loadu_epi32(mask, from);
    case SOURCE_BF16: return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from)), 16);
    case SOURCE_F16: return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from)));
    case SOURCE_F8: return f8_to_f32(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from)));
    case SOURCE_U8: return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from));
    case SOURCE_I16: return _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, from));
    case SOURCE_PAIR: break;
    }
    return _mm512_maskz_loadu_epi16(terms >= 32 ? 0xffffffffu : (1u << terms) - 1, from);
}

LANES_FN void pack_store(uint32_t *to, pack_vector x) { _mm512_storeu_si512(to, x); }

LANES_FN void pack_store_first(uint32_t *to, int64_t n, pack_vector x) {
    _mm512_mask_storeu_epi32(to, (__mmask16)((1u << n) - 1), x);
}

/* The last step of a transpose: 4 x 4 blocks change places. y is overwritten. */
LANES_FN void pack_exchange(pack_vector x[PACK_LANES], pack_vector y[PACK_LANES]) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        y[i] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88);
        y[i + 4] = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
        y[i + 8] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
        y[i + 12] = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0x88);
        x[i + 8] = _mm512_shuffle_i32x4(y[i], y[i + 8], 0xdd);
        x[i + 4] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0x88);
        x[i + 12] = _mm512_shuffle_i32x4(y[i + 4], y[i + 12], 0xdd);
    }
}
#else
enum { PACK_LANES = 8 };
typedef __m256i pack_vector;

LANES_FN pack_vector f8_to_f32(pack_vector x) {
    pack_vector magnitude = _mm256_slli_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0x7f)), 20);
    pack_vector sign = _mm256_slli_epi32(_mm256_and_si256(x, _mm256_set1_epi32(0x80)), 24);
    pack_vector value = _mm256_castps_si256(_mm256_mul_ps(_mm256_castsi256_ps(magnitude), _mm256_set1_ps(0x1p120f)));
    pack_vector nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x07f00000));
    value = _mm256_blendv_epi8(value, _mm256_set1_epi32(0x7fc00000), nan);
    return _mm256_or_si256(value, sign);
}

/* As above; no dtype is packed in pairs here. */
LANES_FN pack_vector pack_load(const enum source source, const void *from, int64_t n, int64_t terms) {
    char some[32] __attribute__((aligned(32))) = {0};
    (void)terms;
    if (n < PACK_LANES) {
        memcpy(some, from, (size_t)(n * source_size(source)));
        from = some;
    }
    switch (source) {
    case SOURCE_BF16: return _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(from)), 16);
    case SOURCE_F16: return _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128(from)));
    case SOURCE_F8: return f8_to_f32(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from)));
    case SOURCE_U8: return _mm256_cvtepu8_epi32(_mm_loadl_epi64(from));
    case SOURCE_I16: return _mm256_cvtepi16_epi32(_mm_loadu_si128(from));
    case SOURCE_32:
    case SOURCE_PAIR: break;
    }
    return _mm256_loadu_si256(from);
}

LANES_FN void pack_store(uint32_t *to, pack_vector x) { _mm256_storeu_si256((__m256i *)to, x); }

/* Not by a masked store: those are slow on AMD's processors before Zen 4. */
LANES_FN void pack_store_first(uint32_t *to, int64_t n, pack_vector x) {
    uint32_t all[PACK_LANES];
    _mm256_storeu_si256((__m256i *)all, x);
    for (int64_t i = 0; i < n; i++) to[i] = all[i];
}

LANES_FN void pack_exchange(pack_vector x[PACK_LANES], pack_vector y[PACK_LANES]) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) y[i] = x[i];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        x[i] = _mm256_permute2x128_si256(y[i], y[i + 4], 0x20);
        x[i + 4] = _mm256_permute2x128_si256(y[i], y[i + 4], 0x31);
    }
}
#endif

LANES_FN void pack_transpose(pack_vector x[PACK_LANES]) {
    pack_vector y[PACK_LANES];
#pragma GCC unroll 8
    for (int i = 0; i < PACK_LANES; i += 2) {
        y[i] = WICK__MM(unpacklo_epi32)(x[i], x[i + 1]);
        y[i + 1] = WICK__MM(unpackhi_epi32)(x[i], x[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < PACK_LANES; i += 4) {
        x[i] = WICK__MM(unpacklo_epi64)(y[i], y[i + 2]);
        x[i + 1] = WICK__MM(unpackhi_epi64)(y[i], y[i + 2]);
        x[i + 2] = WICK__MM(unpacklo_epi64)(y[i + 1], y[i + 3]);
        x[i + 3] = WICK__MM(unpackhi_epi64)(y[i + 1], y[i + 3]);
    }
    pack_exchange(x, y);
}

#undef LANES_FN

#endif
