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

/* 16 packed elements from an address on; those from n on are 0 and not touched. `terms` counts those of pairs, the last
 * of which may lack its second half. */
static inline __attribute__((always_inline)) __m512i load(const enum source source, const void *from, int64_t n,
                                                          int64_t terms) {
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

/* 16 lines of a panel, of which `lines` are real. A line is stored whole where the store of the next puts right what it
 * overwrites. */
static inline __attribute__((always_inline)) void pack_lines(const enum source source, const struct gemm_panel *p,
                                                             const char *from, int64_t size, int lines, uint32_t *to) {
    const int group = source == SOURCE_PAIR ? 2 : 1;
    int64_t depth = (p->depth + group - 1) / group, step = p->step * size;
    __mmask16 mask = (__mmask16)((1u << lines) - 1);
    const char *line[16];
    for (int i = 0; i < 16; i++) line[i] = from + wick__min(i, lines - 1) * step;
    for (int64_t kk = 0; kk < depth; kk += 16, to += 16 * p->ld) {
        __m512i x[16];
        int64_t n = depth - kk, terms = p->depth - kk * group, at = kk * group * size;
        if (terms >= 16 * group) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) x[i] = load(source, line[i] + at, 16, 32);
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) x[i] = load(source, line[i] + at, n, terms);
        }
        transpose(x);
        if (n > 16 && p->ld == lines && lines >= 8) {
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++) _mm512_storeu_si512(to + i * p->ld, x[i]);
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < 16; i++)
                if (i < n) _mm512_mask_storeu_epi32(to + i * p->ld, mask, x[i]);
        }
    }
}

/* Panels whose source runs along k. */
static inline __attribute__((always_inline)) void pack_along_k(const enum source source, const struct gemm_panel *p,
                                                               int64_t size) {
    for (int64_t w = 0; w < p->width; w += 16)
        pack_lines(source, p, (const char *)p->from + w * p->step * size, size, (int)wick__min(16, p->width - w),
                   (uint32_t *)p->to + w);
}

/* Row kk of a panel of up to 32 columns, whose source runs along the width. */
static inline __attribute__((always_inline)) void pack_row(const enum source source, const char *from, int64_t size,
                                                           int64_t width, uint32_t *to) {
    if (width == 32) {
        __m512i low = load(source, from, 16, 0), high = load(source, from + 16 * size, 16, 0);
        _mm512_storeu_si512(to, low);
        _mm512_storeu_si512(to + 16, high);
        return;
    }
    for (int64_t w = 0; w < width; w += 16) {
        int64_t n = wick__min(16, width - w);
        _mm512_mask_storeu_epi32(to + w, (__mmask16)((1u << n) - 1), load(source, from + w * size, n, 0));
    }
}

/* The same for pairs of two rows, the second of which may be missing. */
static inline __attribute__((always_inline)) void pack_row_pairs(const uint16_t *first, const uint16_t *second,
                                                                 int64_t width, uint32_t *to) {
    const __m512i interleave = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38,
                                                6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    const __m512i upper = _mm512_add_epi16(interleave, _mm512_set1_epi16(16));
    __mmask32 mask = width >= 32 ? 0xffffffffu : (1u << width) - 1;
    __m512i a = _mm512_maskz_loadu_epi16(mask, first);
    __m512i b = second ? _mm512_maskz_loadu_epi16(mask, second) : _mm512_setzero_si512();
    __m512i low = _mm512_permutex2var_epi16(a, interleave, b), high = _mm512_permutex2var_epi16(a, upper, b);
    if (width >= 32) {
        _mm512_storeu_si512(to, low);
        _mm512_storeu_si512(to + 16, high);
    } else {
        _mm512_mask_storeu_epi32(to, (__mmask16)mask, low);
        _mm512_mask_storeu_epi32(to + 16, (__mmask16)(mask >> 16), high);
    }
}

/* Panels whose source runs along the width, a few side by side, so that a row is read in long pieces. */
static inline __attribute__((always_inline)) void pack_along_width(const enum source source, const struct gemm_panel *p,
                                                                   int64_t size) {
    enum { SIDE_BY_SIDE = 8 };
    const int group = source == SOURCE_PAIR ? 2 : 1;
    int64_t depth = (p->depth + group - 1) / group;
    for (int64_t w0 = 0; w0 < p->width; w0 += SIDE_BY_SIDE * p->ld) {
        int64_t end = wick__min(w0 + SIDE_BY_SIDE * p->ld, p->width);
        for (int64_t kk = 0; kk < p->depth; kk += group) {
            const char *from = (const char *)p->from + kk * p->k_step * size;
            uint32_t *to = (uint32_t *)p->to + w0 * depth + kk / group * p->ld;
            const char *next = kk + 1 < p->depth ? from + p->k_step * size : NULL;
            for (int64_t w = w0; w < end; w += p->ld, to += p->ld * depth) {
                int64_t width = wick__min(p->ld, end - w);
                if (source == SOURCE_PAIR)
                    pack_row_pairs((const uint16_t *)from + w, next ? (const uint16_t *)next + w : NULL, width, to);
                else
                    pack_row(source, from + w * size, size, width, to);
            }
        }
    }
}

#define PACK_WITH(function)                                                                                            \
    static void function##_fast(const struct gemm_kind *kind, const struct gemm_panel *p) {                            \
        int64_t size = wick_dtype_bits(p->dtype) / 8;                                                                  \
        switch (source_of(p->dtype, kind->group)) {                                                                    \
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

static void pack_pairs(const struct gemm_kind *kind, const struct gemm_panel *p) {
    (void)kind;
    const uint16_t *from = p->from;
    for (int64_t kk = 0; kk < p->depth; kk += 2) {
        uint32_t *to = (uint32_t *)p->to + kk / 2 * p->ld;
        const uint16_t *low = from + kk * p->k_step;
        for (int64_t w = 0; w < p->width; w++)
            to[w] = low[w * p->step] | (kk + 1 < p->depth ? (uint32_t)low[w * p->step + p->k_step] << 16 : 0);
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

static void pack_elements(const struct gemm_kind *kind, const struct gemm_panel *p) {
    (void)kind;
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

/* Calls `pack` for one panel after another. */
static void pack_each(const struct gemm_kind *kind, const struct gemm_panel *panels,
                      void (*pack)(const struct gemm_kind *kind, const struct gemm_panel *panel)) {
    struct gemm_panel panel = *panels;
    int64_t size = wick_dtype_bits(panel.dtype) / 8, depth = (panel.depth + kind->group - 1) / kind->group;
    for (int64_t w = 0; w < panels->width; w += panels->ld) {
        panel.width = wick__min(panels->ld, panels->width - w);
        pack(kind, &panel);
        panel.from = (const char *)panel.from + panels->ld * panels->step * size;
        panel.to = (char *)panel.to + panels->ld * depth * (int64_t)kind->size;
    }
}

void WICK__ISA(wick__gemm_pack)(const struct gemm_kind *kind, const struct gemm_panel *panels) {
#if WICK_ISA_LEVEL == 2
    if (kind->size == 4) {
        if (panels->step == 1)
            pack_along_width_fast(kind, panels);
        else if (panels->k_step == 1)
            pack_each(kind, panels, pack_along_k_fast);
        else if (kind->group == 2)
            pack_each(kind, panels, pack_pairs);
        else
            pack_each(kind, panels, pack_elements);
        return;
    }
#endif
    pack_each(kind, panels, pack_elements);
}
