/* Products of small integers by scales, the inner loops of layers with weights of blocks. For kernel files.
 *
 *   WICK__VF      32-bit lanes of a vector, which holds 4 terms of as many rows
 *   TILE_ROWS     rows of weights that a panel interleaves, two vectors
 *   TILE_COLUMNS  columns of activations that a tile takes at once
 *
 * VNNI multiplies unsigned bytes by signed ones. A panel's weights then lie 128 higher than they are, and sums begin
 * with -128 times the sum of the activations: all in whole numbers, exactly. Elsewhere the sign of a weight goes over
 * to the activation. */
#ifndef WICK_CPU_KERNELS_QUANTISED_DOT_H
#define WICK_CPU_KERNELS_QUANTISED_DOT_H

#include "cpu/kernels/blocks.h"
#include "cpu/kernels/vmath.h"

#define DOT_FN static inline __attribute__((always_inline))

/* ---- vectors ---- */

#if WICK_ISA_LEVEL < 2
/* The scales of a stretch, times those of the activations. */
struct dot_scales {
    float one[WICK__STRETCH_GROUPS];
};
DOT_FN struct dot_scales scales_of(const float *w, const float *x) {
    struct dot_scales s;
    for (int g = 0; g < WICK__STRETCH_GROUPS; g += WICK__VF)
        wick__vf_store(s.one + g, wick__vf_load(w + g) * wick__vf_load(x + g));
    return s;
}
DOT_FN wick__vf floats_stored(const float *p) { return wick__vf_load(p); }
#endif

#if WICK_ISA_LEVEL == 2
typedef __m512i dot_ints;
enum { TILE_COLUMNS = 4 };
DOT_FN dot_ints ints_load(const void *p) { return _mm512_loadu_si512(p); }
DOT_FN dot_ints ints_all(int32_t x) { return _mm512_set1_epi32(x); }
DOT_FN wick__vf to_floats(dot_ints x) { return _mm512_cvtepi32_ps(x); }
DOT_FN dot_ints with_sign(dot_ints x, dot_ints w) {
    return _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(w), _mm512_setzero_si512(), x);
}
/* Sums of four products in each lane, on top of `sum`; w is unsigned, at most 128. */
DOT_FN dot_ints dot_unsigned(dot_ints sum, dot_ints w, dot_ints x) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(w, x), _mm512_set1_epi16(1)));
}
DOT_FN dot_ints dot_signed(dot_ints sum, dot_ints w, dot_ints x) {
    return dot_unsigned(sum, _mm512_abs_epi8(w), with_sign(x, w));
}
#define VNNI __attribute__((target("avx512vnni")))
VNNI DOT_FN dot_ints vnni_unsigned(dot_ints sum, dot_ints w, dot_ints x) { return _mm512_dpbusd_epi32(sum, w, x); }
VNNI DOT_FN dot_ints vnni_signed(dot_ints sum, dot_ints w, dot_ints x) {
    return _mm512_dpbusd_epi32(sum, _mm512_abs_epi8(w), with_sign(x, w));
}
/* What was stored by halves: a load across two stores would wait until both have left the processor. */
DOT_FN dot_ints ints_stored(const int8_t *p) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)p)),
                              _mm256_loadu_si256((const void *)(p + 32)), 1);
}
DOT_FN wick__vf floats_stored(const float *p) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(p)), _mm256_loadu_ps(p + 8), 1);
}
/* The scales of a stretch, times those of the activations; each of four groups', from g on, for its four lanes. */
struct dot_scales {
    __m512 all;
};
DOT_FN struct dot_scales scales_of(const float *w, const float *x) {
    return (struct dot_scales){floats_stored(w) * _mm512_loadu_ps(x)};
}
DOT_FN wick__vf spread(const struct dot_scales *s, int g) {
    const __m512i lanes = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(g)), s->all);
}
#elif WICK_ISA_LEVEL == 1
typedef __m256i dot_ints;
enum { TILE_COLUMNS = 2 };
DOT_FN dot_ints ints_load(const void *p) { return _mm256_loadu_si256(p); }
DOT_FN dot_ints ints_stored(const int8_t *p) { return ints_load(p); }
DOT_FN dot_ints ints_all(int32_t x) { return _mm256_set1_epi32(x); }
DOT_FN wick__vf to_floats(dot_ints x) { return _mm256_cvtepi32_ps(x); }
DOT_FN dot_ints dot_unsigned(dot_ints sum, dot_ints w, dot_ints x) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
}
DOT_FN dot_ints dot_signed(dot_ints sum, dot_ints w, dot_ints x) {
    return dot_unsigned(sum, _mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}
DOT_FN wick__vf spread(const struct dot_scales *s, int g) {
    return _mm256_set_m128(_mm_broadcast_ss(s->one + g + 1), _mm_broadcast_ss(s->one + g));
}
#else
#include <emmintrin.h>
typedef __m128i dot_ints;
enum { TILE_COLUMNS = 2 };
DOT_FN dot_ints ints_load(const void *p) { return _mm_loadu_si128(p); }
DOT_FN dot_ints ints_stored(const int8_t *p) { return ints_load(p); }
DOT_FN dot_ints ints_all(int32_t x) { return _mm_set1_epi32(x); }
DOT_FN wick__vf to_floats(dot_ints x) { return _mm_cvtepi32_ps(x); }
/* By words of 16 bits, whose pairs of products belong to two lanes each. */
DOT_FN dot_ints dot_signed(dot_ints sum, dot_ints w, dot_ints x) {
    __m128i zero = _mm_setzero_si128(), w_sign = _mm_cmpgt_epi8(zero, w), x_sign = _mm_cmpgt_epi8(zero, x);
    __m128i low = _mm_madd_epi16(_mm_unpacklo_epi8(w, w_sign), _mm_unpacklo_epi8(x, x_sign));
    __m128i high = _mm_madd_epi16(_mm_unpackhi_epi8(w, w_sign), _mm_unpackhi_epi8(x, x_sign));
    __m128 even = _mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), _MM_SHUFFLE(2, 0, 2, 0));
    __m128 odd = _mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), _MM_SHUFFLE(3, 1, 3, 1));
    return _mm_add_epi32(sum, _mm_add_epi32(_mm_castps_si128(even), _mm_castps_si128(odd)));
}
/* Unsigned weights are small enough to be signed. */
DOT_FN dot_ints dot_unsigned(dot_ints sum, dot_ints w, dot_ints x) { return dot_signed(sum, w, x); }
DOT_FN wick__vf spread(const struct dot_scales *s, int g) { return _mm_set1_ps(s->one[g]); }
#endif
enum { TILE_ROWS = 2 * WICK__VF };

/* ---- one row of weights by one of activations ---- */

/* Sums so far, whose lanes make the result together. */
struct dot_sums {
    wick__vf products, shifts;
};

/* Activations of a row, from the first of a stretch on. */
struct dot_row {
    const int8_t *q;
    const float *scale, *sum; /* by groups of 16: scale, and scale times the sum of q */
};

typedef dot_ints dot_fn(dot_ints sum, dot_ints w, dot_ints x);

/* Behind n, scales and shifts are 0. */
DOT_FN void dot_stretch(dot_fn *dot, const struct wick__stretch *w, const struct dot_row *x, int n, bool shifts,
                        struct dot_sums *sums) {
    struct dot_scales scales = scales_of(w->scale, x->scale);
    for (int i = 0; i < n; i += 4 * WICK__VF) {
        dot_ints sum = dot(ints_all(0), ints_stored(w->q + i), ints_load(x->q + i));
        sums->products = wick__vf_fma(to_floats(sum), spread(&scales, i / 16), sums->products);
    }
    if (!shifts) return;
    for (int g = 0; g < WICK__STRETCH_GROUPS; g += WICK__VF)
        sums->shifts = wick__vf_fma(floats_stored(w->shift + g), wick__vf_load(x->sum + g), sums->shifts);
}

DOT_FN float dot_total(const struct dot_sums *sums) { return wick__vf_total(sums->products + sums->shifts); }

/* ---- a panel of rows by a few columns ---- */

/* TILE_ROWS rows, interleaved: word k / 4 of row r is q[k / 4][r], its scale and shift scale[k / group][r]. */
struct dot_panel {
    uint8_t *q;
    float *scale, *shift;
};

/* Activations of rows that are columns of a tile, by groups of 16 or 32 that share a scale. */
struct dot_columns {
    const int8_t *q;
    const float *scale, *sum;
    const int32_t *start; /* what sums of whole numbers begin with */
    int64_t k, q_step, group_step;
};

/* out[c][r] for TILE_COLUMNS columns. */
DOT_FN void dot_tile(dot_fn *dot, const struct dot_panel *w, const struct dot_columns *x, const int group,
                     const bool shifts, float out[TILE_COLUMNS][TILE_ROWS]) {
    wick__vf total[TILE_COLUMNS][2];
    for (int c = 0; c < TILE_COLUMNS; c++) total[c][0] = total[c][1] = wick__vf_all(0);
    for (int64_t g = 0; g < x->k / group; g++) {
        dot_ints sum[TILE_COLUMNS][2];
        const float *scale = w->scale + g * TILE_ROWS, *shift = w->shift + g * TILE_ROWS;
        for (int c = 0; c < TILE_COLUMNS; c++) sum[c][0] = sum[c][1] = ints_all(x->start[c * x->group_step + g]);
        for (int j = 0; j < group / 4; j++) {
            const uint8_t *at = w->q + (g * (group / 4) + j) * (4 * TILE_ROWS);
            dot_ints w0 = ints_load(at), w1 = ints_load(at + 4 * WICK__VF);
            for (int c = 0; c < TILE_COLUMNS; c++) {
                int32_t word;
                memcpy(&word, x->q + c * x->q_step + g * group + 4 * j, sizeof word);
                sum[c][0] = dot(sum[c][0], w0, ints_all(word));
                sum[c][1] = dot(sum[c][1], w1, ints_all(word));
            }
        }
        for (int c = 0; c < TILE_COLUMNS; c++)
            for (int v = 0; v < 2; v++) {
                wick__vf by = wick__vf_load(scale + v * WICK__VF) * wick__vf_all(x->scale[c * x->group_step + g]);
                total[c][v] = wick__vf_fma(to_floats(sum[c][v]), by, total[c][v]);
                if (shifts)
                    total[c][v] = wick__vf_fma(wick__vf_load(shift + v * WICK__VF),
                                               wick__vf_all(x->sum[c * x->group_step + g]), total[c][v]);
            }
    }
    for (int c = 0; c < TILE_COLUMNS; c++)
        for (int v = 0; v < 2; v++) wick__vf_store(out[c] + v * WICK__VF, total[c][v]);
}

#endif
