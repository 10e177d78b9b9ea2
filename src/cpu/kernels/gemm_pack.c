/* Matrix products: packing strided operands into panels, converted to the packed type on the way.
 *
 * With AVX-512, panels whose source runs along k are transposed in registers, 16 lines of 16 packed elements at a
 * time, and panels whose source runs along the width are read 16 at a time. All else goes element by element. */
#include "cpu/kernels/gemm_internal.h"

#include "cpu/convert.h"

#include <string.h>

#if WICK_ISA_LEVEL == 2
#include <immintrin.h>

/* What one 32-bit packed element is made from. */
enum source { SOURCE_32, SOURCE_BF16, SOURCE_F16, SOURCE_F8, SOURCE_U8, SOURCE_I16, SOURCE_PAIR };

static enum source source_of(enum wick_dtype dtype, int group) {
    switch (dtype) {
    case WICK_BF16: return group == 2 ? SOURCE_PAIR : SOURCE_BF16;
    case WICK_F16: return SOURCE_F16;
    case WICK_F8E4M3: return SOURCE_F8;
    case WICK_U8: return SOURCE_U8;
    case WICK_I16: return SOURCE_I16;
    default: return SOURCE_32;
    }
}

static inline __m512i f8_to_f32(__m512i x) {
    __m512i magnitude = _mm512_slli_epi32(_mm512_and_si512(x, _mm512_set1_epi32(0x7f)), 20);
    __m512i sign = _mm512_slli_epi32(_mm512_and_si512(x, _mm512_set1_epi32(0x80)), 24);
    __m512i value = _mm512_castps_si512(_mm512_mul_ps(_mm512_castsi512_ps(magnitude), _mm512_set1_ps(0x1p120f)));
    __mmask16 nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x07f00000));
    value = _mm512_mask_mov_epi32(value, nan, _mm512_set1_epi32(0x7fc00000));
    return _mm512_or_si512(value, sign);
}

/* The first n <= 16 packed elements (n terms, or 2 n of pairs) from an address on; the others are 0. `terms` is used
 * for pairs alone, as their last may lack its second half. */
static inline __attribute__((always_inline)) __m512i load(const enum source source, const void *from, int n,
                                                          int64_t terms) {
    __mmask16 mask = (__mmask16)((1u << n) - 1);
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

static inline __attribute__((always_inline)) void transpose(__m512i x[16]) {
    __m512i y[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        y[2 * i] = _mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]);
        y[2 * i + 1] = _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
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

/* Panels whose source runs along k. */
static inline __attribute__((always_inline)) void pack_along_k(const enum source source, const struct gemm_panel *p,
                                                               int64_t size) {
    const int group = source == SOURCE_PAIR ? 2 : 1;
    int64_t depth = (p->depth + group - 1) / group;
    for (int64_t w = 0; w < p->width; w += 16) {
        int lines = (int)wick__min(16, p->width - w);
        __mmask16 mask = (__mmask16)((1u << lines) - 1);
        const char *from = (const char *)p->from + w * p->step * size;
        for (int64_t kk = 0; kk < depth; kk += 16) {
            int n = (int)wick__min(16, depth - kk);
            uint32_t *to = (uint32_t *)p->to + kk * p->ld + w;
            __m512i x[16];
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                x[i] = i < lines
                           ? load(source, from + (i * p->step + kk * group) * size, n, p->depth - kk * group)
                           : _mm512_setzero_si512();
            transpose(x);
            if (n == 16) {
#pragma GCC unroll 16
                for (int i = 0; i < 16; i++) _mm512_mask_storeu_epi32(to + i * p->ld, mask, x[i]);
            } else {
#pragma GCC unroll 16
                for (int i = 0; i < 16; i++)
                    if (i < n) _mm512_mask_storeu_epi32(to + i * p->ld, mask, x[i]);
            }
        }
    }
}

/* Panels whose source runs along the width. */
static inline __attribute__((always_inline)) void pack_along_width(const enum source source, const struct gemm_panel *p,
                                                                   int64_t size) {
    const int group = source == SOURCE_PAIR ? 2 : 1;
    const enum source half = source == SOURCE_PAIR ? SOURCE_BF16 : source;
    for (int64_t kk = 0; kk < p->depth; kk += group) {
        const char *from = (const char *)p->from + kk * p->k_step * size;
        uint32_t *to = (uint32_t *)p->to + kk / group * p->ld;
        for (int64_t w = 0; w < p->width; w += 16) {
            int n = (int)wick__min(16, p->width - w);
            __m512i x = load(half, from + w * size, n, 0);
            if (source == SOURCE_PAIR) {
                x = _mm512_srli_epi32(x, 16);
                if (kk + 1 < p->depth) x = _mm512_or_si512(x, load(half, from + (p->k_step + w) * size, n, 0));
            }
            _mm512_mask_storeu_epi32(to + w, (__mmask16)((1u << n) - 1), x);
        }
    }
}

#define PACK_WITH(function)                                                                                            \
    static void function##_fast(const struct gemm_panel *p, int group) {                                               \
        int64_t size = wick_dtype_bits(p->dtype) / 8;                                                                  \
        switch (source_of(p->dtype, group)) {                                                                          \
        case SOURCE_32: function(SOURCE_32, p, size); break;                                                           \
        case SOURCE_BF16: function(SOURCE_BF16, p, size); break;                                                       \
        case SOURCE_F16: function(SOURCE_F16, p, size); break;                                                         \
        case SOURCE_F8: function(SOURCE_F8, p, size); break;                                                           \
        case SOURCE_U8: function(SOURCE_U8, p, size); break;                                                           \
        case SOURCE_I16: function(SOURCE_I16, p, size); break;                                                         \
        case SOURCE_PAIR: function(SOURCE_PAIR, p, size); break;                                                       \
        }                                                                                                              \
    }
PACK_WITH(pack_along_k)
PACK_WITH(pack_along_width)

static void pack_pairs(const struct gemm_panel *p) {
    const uint16_t *from = p->from;
    for (int64_t kk = 0; kk < p->depth; kk += 2) {
        uint32_t *to = (uint32_t *)p->to + kk / 2 * p->ld;
        const uint16_t *low = from + kk * p->k_step;
        for (int64_t w = 0; w < p->width; w++)
            to[w] = low[w * p->step] |
                    (kk + 1 < p->depth ? (uint32_t)low[w * p->step + p->k_step] << 16 : 0);
    }
}
#endif

/* Element by element; the inner loop runs along the shorter stride. */
#define PACK_CASE(dtype, type, expression)                                                                             \
    case WICK_DTYPE_##dtype: {                                                                                         \
        const WICK__CTYPE_##dtype *from = p->from;                                                                     \
        type *to = p->to;                                                                                              \
        if (p->step <= p->k_step)                                                                                      \
            for (int64_t kk = 0; kk < p->depth; kk++)                                                                  \
                for (int64_t w = 0; w < p->width; w++) {                                                               \
                    WICK__CTYPE_##dtype v = from[w * p->step + kk * p->k_step];                                        \
                    to[kk * p->ld + w] = expression;                                                                   \
                }                                                                                                      \
        else                                                                                                           \
            for (int64_t w = 0; w < p->width; w++)                                                                     \
                for (int64_t kk = 0; kk < p->depth; kk++) {                                                            \
                    WICK__CTYPE_##dtype v = from[w * p->step + kk * p->k_step];                                        \
                    to[kk * p->ld + w] = expression;                                                                   \
                }                                                                                                      \
        break;                                                                                                         \
    }

static void pack_elements(const struct gemm_panel *p) {
    switch (p->dtype) {
        PACK_CASE(u8, uint32_t, v)
        PACK_CASE(u32, uint32_t, v)
        PACK_CASE(i16, uint32_t, (uint32_t)v)
        PACK_CASE(i32, uint32_t, (uint32_t)v)
        PACK_CASE(i64, uint64_t, (uint64_t)v)
        PACK_CASE(f32, float, v)
        PACK_CASE(f64, double, v)
        PACK_CASE(bf16, float, wick__bf16_to_f32(v))
        PACK_CASE(f16, float, wick__f16_to_f32(v))
        PACK_CASE(f8e4m3, float, wick__f8e4m3_to_f32(v))
    default: break;
    }
}

void WICK__ISA(wick__gemm_pack)(const struct gemm_kind *kind, const struct gemm_panel *panel) {
#if WICK_ISA_LEVEL == 2
    if (kind->size == 4) {
        if (panel->step == 1) {
            pack_along_width_fast(panel, kind->group);
            return;
        }
        if (panel->k_step == 1) {
            pack_along_k_fast(panel, kind->group);
            return;
        }
        if (kind->group == 2) {
            pack_pairs(panel);
            return;
        }
    }
#endif
    (void)kind;
    pack_elements(panel);
}
