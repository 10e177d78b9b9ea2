/* Matrix products: the last step of a tile. Bias and activation on the accumulators, one rounding, the store. */
#include "cpu/kernels/gemm_internal.h"

#include "cpu/kernels/activate.h"
#include "core/convert.h"
#include "cpu/kernels/vmath.h"

#include <math.h>
#include <string.h>

/* ---- f32 accumulators ---- */

#if WICK_ISA_LEVEL == 2
static inline __attribute__((always_inline)) __m256i to_halves(const bool bf16, __m512 x) {
    if (!bf16) return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    __m512i bits = _mm512_castps_si512(x), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, odd), _mm512_set1_epi32(0x7fff));
    rounded = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), bits, _mm512_set1_epi32(0x400000));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}

/* bf16 or f16 without bias or activation. Whole lines of a large C go past the caches. */
static inline __attribute__((always_inline)) void store_halves(const bool bf16, const struct gemm_store *s) {
    for (int64_t i = 0; i < s->rows; i++) {
        const float *from = (const float *)s->tile + i * s->ld;
        uint16_t *to = (uint16_t *)s->c + (s->i0 + i) * s->g->c_row + s->j0;
        if (s->columns == 32) {
            __m512i line = _mm512_castsi256_si512(to_halves(bf16, _mm512_load_ps(from)));
            line = _mm512_inserti64x4(line, to_halves(bf16, _mm512_load_ps(from + 16)), 1);
            if (s->streamed && (uintptr_t)to % 64 == 0)
                _mm512_stream_si512((void *)to, line);
            else
                _mm512_storeu_si512(to, line);
            continue;
        }
        for (int64_t j = 0; j < s->columns; j += 16) {
            int64_t n = s->columns - j;
            __mmask16 mask = n >= 16 ? 0xffff : (__mmask16)((1u << n) - 1);
            _mm256_mask_storeu_epi16(to + j, mask, to_halves(bf16, _mm512_maskz_loadu_ps(mask, from + j)));
        }
    }
}

static bool store_plain_halves(const struct gemm_store *s) {
    if (s->g->activation != WICK_ACTIVATION_NONE || s->bias) return false;
    if (s->g->dtype == WICK_BF16)
        store_halves(true, s);
    else if (s->g->dtype == WICK_F16)
        store_halves(false, s);
    else
        return false;
    return true;
}

static inline __attribute__((always_inline)) void store_vectors_as(enum wick_dtype dtype, const struct gemm_store *s) {
    enum { VECTORS = GEMM_COLUMNS_MAX / WICK__VF };
    const struct wick__product *g = s->g;
    const int64_t size = dtype == WICK_F32 ? 4 : 2;
    __mmask16 mask[VECTORS];
    float bias[GEMM_COLUMNS_MAX] = {0};
    for (int v = 0; v < VECTORS; v++)
        mask[v] = _bzhi_u32(0xffff, (unsigned)wick__max(0, wick__min(WICK__VF, s->columns - v * WICK__VF)));
    if (s->bias && !g->bias_by_row)
        wick__row_to_f32(dtype, (const char *)s->bias + s->j0 * g->bias_step * size, g->bias_step, bias, s->columns);
    for (int64_t i = 0; i < s->rows; i++) {
        const float *from = (const float *)s->tile + i * s->ld;
        char *to = (char *)s->c + ((s->i0 + i) * g->c_row + s->j0) * size;
        float by_row = 0;
        __m512 x[VECTORS];
        if (s->bias && g->bias_by_row)
            by_row = wick__load_f32(dtype, (const char *)s->bias + (s->i0 + i) * g->bias_step * size);
        for (int v = 0; v < VECTORS; v++) {
            x[v] = _mm512_maskz_loadu_ps(mask[v], from + v * WICK__VF);
            if (s->bias) x[v] += g->bias_by_row ? _mm512_set1_ps(by_row) : _mm512_loadu_ps(bias + v * WICK__VF);
        }
        wick__activate(g->activation, x, VECTORS);
        for (int v = 0; v < VECTORS; v++) {
            if (dtype == WICK_F32)
                _mm512_mask_storeu_ps((float *)to + v * WICK__VF, mask[v], x[v]);
            else
                _mm256_mask_storeu_epi16((uint16_t *)to + v * WICK__VF, mask[v], to_halves(dtype == WICK_BF16, x[v]));
        }
    }
}

/* f32 without activation, with a bias of each column or none. */
static inline __attribute__((always_inline)) void store_floats(const bool biased, const struct gemm_store *s) {
    const struct wick__product *g = s->g;
    float bias[GEMM_COLUMNS_MAX] __attribute__((aligned(64))) = {0};
    const __mmask16 first = _bzhi_u32(0xffff, (unsigned)wick__min(WICK__VF, s->columns));
    const __mmask16 second = _bzhi_u32(0xffff, (unsigned)wick__max(0, s->columns - WICK__VF));
    const float *from = s->tile;
    float *to = (float *)s->c + s->i0 * g->c_row + s->j0;
    if (biased)
        wick__row_to_f32(WICK_F32, (const float *)s->bias + s->j0 * g->bias_step, g->bias_step, bias, s->columns);
    const __m512 low = _mm512_load_ps(bias), high = _mm512_load_ps(bias + WICK__VF);
    for (int64_t i = 0; i < s->rows; i++, from += s->ld, to += g->c_row) {
        __m512 x = _mm512_maskz_loadu_ps(first, from), y = _mm512_maskz_loadu_ps(second, from + WICK__VF);
        _mm512_mask_storeu_ps(to, first, biased ? _mm512_add_ps(x, low) : x);
        _mm512_mask_storeu_ps(to + WICK__VF, second, biased ? _mm512_add_ps(y, high) : y);
    }
}

static bool store_plain_floats(const struct gemm_store *s) {
    const struct wick__product *g = s->g;
    if (g->dtype != WICK_F32 || g->activation != WICK_ACTIVATION_NONE || (s->bias && g->bias_by_row)) return false;
    s->bias ? store_floats(true, s) : store_floats(false, s);
    return true;
}

#elif WICK_ISA_LEVEL == 1
static inline __attribute__((always_inline)) __m128i to_halves(const bool bf16, __m256 x) {
    if (!bf16) return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    __m256i bits = _mm256_castps_si256(x), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, odd), _mm256_set1_epi32(0x7fff));
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), nan);
    __m256i halves = _mm256_srli_epi32(rounded, 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

/* Rows as wide as the tile. */
static inline __attribute__((always_inline)) void store_vectors_as(enum wick_dtype dtype, const struct gemm_store *s) {
    const struct wick__product *g = s->g;
    const int64_t size = dtype == WICK_F32 ? 4 : 2;
    float by_column[GEMM_COLUMNS_MAX] = {0};
    __m256 bias[GEMM_VECTORS];
    if (s->bias && !g->bias_by_row)
        wick__row_to_f32(dtype, (const char *)s->bias + s->j0 * g->bias_step * size, g->bias_step, by_column,
                         s->columns);
    for (int v = 0; v < GEMM_VECTORS; v++) bias[v] = _mm256_loadu_ps(by_column + v * WICK__VF);
    for (int64_t i = 0; i < s->rows; i++) {
        const float *from = (const float *)s->tile + i * s->ld;
        char *to = (char *)s->c + ((s->i0 + i) * g->c_row + s->j0) * size;
        __m256 x[GEMM_VECTORS];
        if (s->bias && g->bias_by_row) {
            const char *one = (const char *)s->bias + (s->i0 + i) * g->bias_step * size;
            for (int v = 0; v < GEMM_VECTORS; v++) bias[v] = _mm256_set1_ps(wick__load_f32(dtype, one));
        }
        for (int v = 0; v < GEMM_VECTORS; v++) {
            x[v] = _mm256_loadu_ps(from + v * WICK__VF);
            if (s->bias) x[v] += bias[v];
        }
        wick__activate(g->activation, x, GEMM_VECTORS);
        for (int v = 0; v < GEMM_VECTORS; v++) {
            if (dtype == WICK_F32)
                _mm256_storeu_ps((float *)to + v * WICK__VF, x[v]);
            else
                _mm_storeu_si128((__m128i *)((uint16_t *)to + v * WICK__VF), to_halves(dtype == WICK_BF16, x[v]));
        }
    }
}
#endif

#if WICK_ISA_LEVEL > 0
/* f32, bf16 and f16 with bias and activation. */
static bool store_vectors(const struct gemm_store *s) {
    if (WICK_ISA_LEVEL == 1 && s->columns != GEMM_COLUMNS_MAX) return false;
    switch (s->g->dtype) {
    case WICK_F32: store_vectors_as(WICK_F32, s); return true;
    case WICK_BF16: store_vectors_as(WICK_BF16, s); return true;
    case WICK_F16: store_vectors_as(WICK_F16, s); return true;
    default: return false;
    }
}
#else
static bool store_vectors(const struct gemm_store *s) {
    (void)s;
    return false;
}
#endif

#if WICK_ISA_LEVEL < 2
static bool store_plain_halves(const struct gemm_store *s) {
    (void)s;
    return false;
}

static bool store_plain_floats(const struct gemm_store *s) {
    (void)s;
    return false;
}
#endif

static void store_f32(const struct gemm_store *s) {
    enum { LANES = WICK__VF };
    union {
        wick__vf vector[GEMM_COLUMNS_MAX / LANES];
        float one[GEMM_COLUMNS_MAX];
    } row = {0}, bias = {0};
    const struct wick__product *g = s->g;
    int64_t size = (int)wick__size(g->dtype);
    int vectors = (int)((s->columns + LANES - 1) / LANES);
    if (s->bias && !g->bias_by_row)
        wick__row_to_f32(g->dtype, (const char *)s->bias + s->j0 * g->bias_step * size, g->bias_step, bias.one,
                         s->columns);
    for (int64_t i = 0; i < s->rows; i++) {
        char *to = (char *)s->c + ((s->i0 + i) * g->c_row + s->j0) * size;
        memcpy(row.one, (const float *)s->tile + i * s->ld, (size_t)s->columns * sizeof(float));
        if (s->bias && g->bias_by_row) {
            float one = wick__load_f32(g->dtype, (const char *)s->bias + (s->i0 + i) * g->bias_step * size);
            for (int v = 0; v < vectors; v++) bias.vector[v] = wick__vf_all(one);
        }
        if (s->bias)
            for (int v = 0; v < vectors; v++) row.vector[v] += bias.vector[v];
        wick__activate(g->activation, row.vector, vectors);
        wick__row_from_f32(g->dtype, row.one, to, s->columns);
    }
}

/* ---- f64 accumulators ---- */

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case WICK_ACTIVATION_GELU: return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
    case WICK_ACTIVATION_GELU_TANH: return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case WICK_ACTIVATION_SILU: return wick__vd_silu(wick__vd_all(x))[0];
    case WICK_ACTIVATION_TANH: return tanh(x);
    case WICK_ACTIVATION_NONE:
    case WICK_ACTIVATION_COUNT: break;
    }
    return x;
}

static void store_f64(const struct gemm_store *s) {
    const struct wick__product *g = s->g;
    const double *bias = s->bias;
    for (int64_t i = 0; i < s->rows; i++) {
        const double *from = (const double *)s->tile + i * s->ld;
        double *to = (double *)s->c + (s->i0 + i) * g->c_row + s->j0;
        for (int64_t j = 0; j < s->columns; j++) {
            double x = from[j];
            if (bias) x += bias[(g->bias_by_row ? s->i0 + i : s->j0 + j) * g->bias_step];
            to[j] = activated(g->activation, x);
        }
    }
}

/* ---- integers ---- */

#define STORE_INT(name, type, sum_type)                                                                                \
    static void name(const struct gemm_store *s) {                                                                     \
        const struct wick__product *g = s->g;                                                                          \
        const type *bias = s->bias;                                                                                    \
        for (int64_t i = 0; i < s->rows; i++) {                                                                        \
            const sum_type *from = (const sum_type *)s->tile + i * s->ld;                                              \
            type *to = (type *)s->c + (s->i0 + i) * g->c_row + s->j0;                                                  \
            for (int64_t j = 0; j < s->columns; j++) {                                                                 \
                sum_type x = from[j];                                                                                  \
                if (bias) x += (sum_type)bias[(g->bias_by_row ? s->i0 + i : s->j0 + j) * g->bias_step];                \
                to[j] = (type)x;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
STORE_INT(store_u8, uint8_t, uint32_t)
STORE_INT(store_u32, uint32_t, uint32_t)
STORE_INT(store_i16, int16_t, uint32_t)
STORE_INT(store_i32, int32_t, uint32_t)
STORE_INT(store_i64, int64_t, uint64_t)

void WICK__ISA(wick__gemm_store)(const struct gemm_store *s) {
    switch (s->g->dtype) {
    case WICK_U8: store_u8(s); break;
    case WICK_U32: store_u32(s); break;
    case WICK_I16: store_i16(s); break;
    case WICK_I32: store_i32(s); break;
    case WICK_I64: store_i64(s); break;
    case WICK_F64: store_f64(s); break;
    default:
        if (!store_plain_halves(s) && !store_plain_floats(s) && !store_vectors(s)) store_f32(s);
        break;
    }
}
