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
#elif WICK_ISA_LEVEL == 1
typedef __m256i dot_ints;
enum { TILE_COLUMNS = 2 };
DOT_FN dot_ints ints_load(const void *p) { return _mm256_loadu_si256(p); }
DOT_FN dot_ints ints_all(int32_t x) { return _mm256_set1_epi32(x); }
DOT_FN wick__vf to_floats(dot_ints x) { return _mm256_cvtepi32_ps(x); }
DOT_FN dot_ints dot_unsigned(dot_ints sum, dot_ints w, dot_ints x) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), _mm256_set1_epi16(1)));
}
DOT_FN dot_ints dot_signed(dot_ints sum, dot_ints w, dot_ints x) {
    return dot_unsigned(sum, _mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
}
#else
#include <emmintrin.h>
typedef __m128i dot_ints;
enum { TILE_COLUMNS = 2 };
DOT_FN dot_ints ints_load(const void *p) { return _mm_loadu_si128(p); }
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
#endif
enum { TILE_ROWS = 2 * WICK__VF };

typedef dot_ints dot_fn(dot_ints sum, dot_ints w, dot_ints x);

/* ---- a panel of rows by a few columns ---- */

/* TILE_ROWS rows, interleaved: word k / 4 of row r is q[k / 4][r], its scale and shift scale[k / group][r]. With whole
 * scales (wick__scales_whole), a block's factors are d[k / 256][r] and dmin[k / 256][r]. */
struct dot_panel {
    uint8_t *q;
    float *scale, *shift, *d, *dmin;
};

struct dot_tile_way {
    int columns, group; /* group: elements that share a scale, 16 or 32 */
    bool shifts;
};

/* Activations of rows that are columns of a tile, by groups that share a scale. */
struct dot_columns {
    const int8_t *q;
    const float *scale, *sum; /* sum: of q, and times the scale unless scales are whole */
    const int32_t *start;     /* what sums of whole numbers begin with */
    int64_t k, q_step, group_step;
};

/* sum[c] = the products of group g, on top of what they begin with. */
DOT_FN void dot_group(dot_fn *dot, const struct dot_panel *w, const struct dot_columns *x,
                      const struct dot_tile_way way, int64_t g, dot_ints sum[TILE_COLUMNS][2]) {
    for (int c = 0; c < way.columns; c++) sum[c][0] = sum[c][1] = ints_all(x->start[c * x->group_step + g]);
    for (int j = 0; j < way.group / 4; j++) {
        const uint8_t *at = w->q + (g * (way.group / 4) + j) * (4 * TILE_ROWS);
        dot_ints w0 = ints_load(at), w1 = ints_load(at + 4 * WICK__VF);
        for (int c = 0; c < way.columns; c++) {
            int32_t word;
            memcpy(&word, x->q + c * x->q_step + g * way.group + 4 * j, sizeof word);
            sum[c][0] = dot(sum[c][0], w0, ints_all(word));
            sum[c][1] = dot(sum[c][1], w1, ints_all(word));
        }
    }
}

/* out[c][r] for some columns, TILE_COLUMNS at most. A result is the sum, from the first group on, of the whole numbers
 * of a group times the product of both scales, and of the shift times the sum of the activations, each added by itself.
 */
DOT_FN void dot_tile(dot_fn *dot, const struct dot_panel *w, const struct dot_columns *x, const struct dot_tile_way way,
                     float out[TILE_COLUMNS][TILE_ROWS]) {
    wick__vf total[TILE_COLUMNS][2];
    for (int c = 0; c < way.columns; c++) total[c][0] = total[c][1] = wick__vf_all(0);
    for (int64_t g = 0; g < x->k / way.group; g++) {
        dot_ints sum[TILE_COLUMNS][2];
        const float *scale = w->scale + g * TILE_ROWS, *shift = w->shift + g * TILE_ROWS;
        dot_group(dot, w, x, way, g, sum);
        for (int c = 0; c < way.columns; c++)
            for (int v = 0; v < 2; v++) {
                wick__vf by = wick__vf_load(scale + v * WICK__VF) * wick__vf_all(x->scale[c * x->group_step + g]);
                total[c][v] = wick__vf_fma(to_floats(sum[c][v]), by, total[c][v]);
                if (way.shifts)
                    total[c][v] = wick__vf_fma(wick__vf_load(shift + v * WICK__VF),
                                               wick__vf_all(x->sum[c * x->group_step + g]), total[c][v]);
            }
    }
    for (int c = 0; c < way.columns; c++)
        for (int v = 0; v < 2; v++) wick__vf_store(out[c] + v * WICK__VF, total[c][v]);
}

/* With whole scales of 16 elements: the products of group g and the next times theirs, exact. */
DOT_FN wick__vf two_groups(const float *scale, wick__vf first, wick__vf second) {
    return wick__vf_fma(second, wick__vf_load(scale + TILE_ROWS), first * wick__vf_load(scale));
}

/* The same as dot_tile with whole scales of 16 elements: a sum of 32 products with scales is exact, as is that of
 * shifts; these times the scales of the activations add up over a block, and blocks times their factors to the result.
 */
DOT_FN void dot_tile_16(dot_fn *dot, const struct dot_panel *w, const struct dot_columns *x,
                        const struct dot_tile_way way, float out[TILE_COLUMNS][TILE_ROWS]) {
    wick__vf total[TILE_COLUMNS][2];
    for (int c = 0; c < way.columns; c++) total[c][0] = total[c][1] = wick__vf_all(0);
    for (int64_t block = 0; block < x->k / WICK__STRETCH; block++) {
        wick__vf products[TILE_COLUMNS][2], shifted[TILE_COLUMNS][2];
        for (int i = 0; i < 2 * way.columns; i++) products[i / 2][i % 2] = shifted[i / 2][i % 2] = wick__vf_all(0);
        for (int64_t g = block * WICK__STRETCH_GROUPS; g < (block + 1) * WICK__STRETCH_GROUPS; g += 2) {
            dot_ints sum[TILE_COLUMNS][2], next[TILE_COLUMNS][2];
            dot_group(dot, w, x, way, g, sum);
            dot_group(dot, w, x, way, g + 1, next);
            for (int c = 0; c < way.columns; c++)
                for (int v = 0; v < 2; v++) {
                    int64_t at = g * TILE_ROWS + v * WICK__VF, of = c * x->group_step + g;
                    wick__vf by = wick__vf_all(x->scale[of]);
                    wick__vf both = two_groups(w->scale + at, to_floats(sum[c][v]), to_floats(next[c][v]));
                    products[c][v] = wick__vf_fma(both, by, products[c][v]);
                    if (!way.shifts) continue;
                    both = two_groups(w->shift + at, wick__vf_all(x->sum[of]), wick__vf_all(x->sum[of + 1]));
                    shifted[c][v] = wick__vf_fma(both, by, shifted[c][v]);
                }
        }
        for (int c = 0; c < way.columns; c++)
            for (int v = 0; v < 2; v++) {
                int64_t at = block * TILE_ROWS + v * WICK__VF;
                total[c][v] = wick__vf_fma(wick__vf_load(w->d + at), products[c][v], total[c][v]);
                if (way.shifts) total[c][v] = wick__vf_fma(wick__vf_load(w->dmin + at), shifted[c][v], total[c][v]);
            }
    }
    for (int c = 0; c < way.columns; c++)
        for (int v = 0; v < 2; v++) wick__vf_store(out[c] + v * WICK__VF, total[c][v]);
}

#endif
