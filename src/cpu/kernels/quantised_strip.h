/* Bytes of eight rows, interleaved word by word in registers. For kernel files of AVX2 and up. */
#ifndef WICK_CPU_KERNELS_QUANTISED_STRIP_H
#define WICK_CPU_KERNELS_QUANTISED_STRIP_H

#include "cpu/kernels/quantised_dot.h"

/* 16 bytes of each row: word i of row r in lane r of w[i]. */
struct strip {
    __m256i w[4];
};
DOT_FN __m256i two_rows(const uint8_t *low, const uint8_t *high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)low)),
                                   _mm_loadu_si128((const void *)high), 1);
}
/* rows[r] has the bytes of row r, then those of row r + 4. */
DOT_FN struct strip transposed(const __m256i rows[4]) {
    __m256i a = _mm256_unpacklo_epi32(rows[0], rows[1]), b = _mm256_unpacklo_epi32(rows[2], rows[3]);
    __m256i c = _mm256_unpackhi_epi32(rows[0], rows[1]), d = _mm256_unpackhi_epi32(rows[2], rows[3]);
    return (struct strip){{_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b), _mm256_unpacklo_epi64(c, d),
                           _mm256_unpackhi_epi64(c, d)}};
}
DOT_FN struct strip strip_at(const uint8_t *b, int64_t step) {
    const __m256i rows[4] = {two_rows(b, b + 4 * step), two_rows(b + step, b + 5 * step),
                             two_rows(b + 2 * step, b + 6 * step), two_rows(b + 3 * step, b + 7 * step)};
    return transposed(rows);
}

#endif
