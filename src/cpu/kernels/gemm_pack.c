/* Matrix products: packing strided operands into panels, converted to the packed type on the way.
 *
 * With AVX2 and AVX-512, panels of 32-bit packed elements whose source runs along k are transposed in registers, as
 * many lines of as many elements as a vector has lanes, and panels whose source runs along the width are read a vector
 * at a time. All else goes element by element. */
#include "cpu/kernels/gemm_internal.h"

#include "core/convert.h"

#include <string.h>

#if WICK_ISA_LEVEL > 0
#include "cpu/kernels/gemm_lanes.h"

/* PACK_LANES lines of a panel, of which `lines` are real; they are all of it, or its rows are whole vectors. A row is
 * stored as a whole vector where that ends in the row, or in later ones that put right what it overwrites. */
static inline __attribute__((always_inline)) void pack_lines(const enum source source, const struct gemm_panel *p,
                                                             const char *from, int64_t size, int lines, uint32_t *to) {
    const int group = source == SOURCE_PAIR ? 2 : 1;
    int64_t depth = (p->depth + group - 1) / group, step = p->step * size;
    int64_t overwritten = p->ld % PACK_LANES == 0 ? 0 : (PACK_LANES - 1) / p->ld;
    const char *line[PACK_LANES];
    for (int i = 0; i < PACK_LANES; i++) line[i] = from + wick__min(i, lines - 1) * step;
    for (int64_t kk = 0; kk < depth; kk += PACK_LANES, to += PACK_LANES * p->ld) {
        pack_vector x[PACK_LANES];
        int64_t n = depth - kk, terms = p->depth - kk * group, at = kk * group * size;
        if (terms >= PACK_LANES * group) {
#pragma GCC unroll 16
            for (int i = 0; i < PACK_LANES; i++) x[i] = pack_load(source, line[i] + at, PACK_LANES, PACK_LANES * group);
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < PACK_LANES; i++) x[i] = pack_load(source, line[i] + at, n, terms);
        }
        pack_transpose(x);
        if (n - PACK_LANES >= overwritten) {
#pragma GCC unroll 16
            for (int i = 0; i < PACK_LANES; i++) pack_store(to + i * p->ld, x[i]);
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < PACK_LANES; i++)
                if (i + overwritten < n)
                    pack_store(to + i * p->ld, x[i]);
                else if (i < n)
                    pack_store_first(to + i * p->ld, lines, x[i]);
        }
    }
}

/* Panels whose source runs along k. */
static inline __attribute__((always_inline)) void pack_along_k(const enum source source, const struct gemm_panel *p,
                                                               int64_t size) {
    for (int64_t w = 0; w < p->width; w += PACK_LANES)
        pack_lines(source, p, (const char *)p->from + w * p->step * size, size,
                   (int)wick__min(PACK_LANES, p->width - w), (uint32_t *)p->to + w);
}

/* Row kk of a panel of up to two vectors, whose source runs along the width. Lanes without an element are 0 where the
 * row has them: what memory held might be subnormal, and products with that take a hundred cycles. */
static inline __attribute__((always_inline)) void pack_row(const enum source source, const char *from, int64_t size,
                                                           int64_t width, int64_t ld, uint32_t *to) {
    if (width == 2 * PACK_LANES) {
        pack_vector low = pack_load(source, from, PACK_LANES, 0);
        pack_vector high = pack_load(source, from + PACK_LANES * size, PACK_LANES, 0);
        pack_store(to, low);
        pack_store(to + PACK_LANES, high);
        return;
    }
    for (int64_t w = 0; w < width; w += PACK_LANES) {
        int64_t n = wick__min(PACK_LANES, width - w);
        pack_vector x = pack_load(source, from + w * size, n, 0);
        if (w + PACK_LANES <= ld)
            pack_store(to + w, x);
        else
            pack_store_first(to + w, n, x);
    }
}

#if WICK_ISA_LEVEL == 2
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
#endif

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
            for (int64_t w = w0; w < end; w += p->ld, to += p->ld * depth) {
                int64_t width = wick__min(p->ld, end - w);
#if WICK_ISA_LEVEL == 2
                if (source == SOURCE_PAIR) {
                    const char *next = kk + 1 < p->depth ? from + p->k_step * size : NULL;
                    pack_row_pairs((const uint16_t *)from + w, next ? (const uint16_t *)next + w : NULL, width, to);
                    continue;
                }
#endif
                pack_row(source, from + w * size, size, width, p->ld, to);
            }
        }
    }
}

#define PACK_WITH(function)                                                                                            \
    static void function##_fast(const struct gemm_kind *kind, const struct gemm_panel *p) {                            \
        int64_t size = (int)wick__size(p->dtype);                                                                      \
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

#if WICK_ISA_LEVEL == 2
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
#endif

/* Element by element; the inner loop runs along the shorter stride. Lanes without one are 0, as above. */
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
    int64_t filled = (p->width + kind->lanes - 1) / kind->lanes * kind->lanes;
    if (filled <= p->ld)
        for (int64_t kk = 0; kk < p->depth; kk++)
            memset((char *)p->to + (size_t)(kk * p->ld + p->width) * kind->size, 0,
                   (size_t)(filled - p->width) * kind->size);
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
    int64_t size = (int)wick__size(panel.dtype), depth = (panel.depth + kind->group - 1) / kind->group;
    for (int64_t w = 0; w < panels->width; w += panels->ld) {
        panel.width = wick__min(panels->ld, panels->width - w);
        pack(kind, &panel);
        panel.from = (const char *)panel.from + panels->ld * panels->step * size;
        panel.to = (char *)panel.to + panels->ld * depth * (int64_t)kind->size;
    }
}

void WICK__ISA(wick__gemm_pack)(const struct gemm_kind *kind, const struct gemm_panel *panels) {
#if WICK_ISA_LEVEL > 0
    if (kind->size == 4 && panels->step == 1 && (WICK_ISA_LEVEL == 2 || panels->ld >= PACK_LANES)) {
        pack_along_width_fast(kind, panels);
        return;
    }
    if (kind->size == 4 && panels->k_step == 1) {
        pack_each(kind, panels, pack_along_k_fast);
        return;
    }
#endif
#if WICK_ISA_LEVEL == 2
    if (kind->group == 2) {
        pack_each(kind, panels, pack_pairs);
        return;
    }
#endif
    pack_each(kind, panels, pack_elements);
}
