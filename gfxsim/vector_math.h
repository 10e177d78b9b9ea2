/* Arithmetic of the vector instructions that C has no operator for. All of it without branches where it may, so that
 * loops over it become vector code. */
#ifndef GFXSIM_VECTOR_MATH_H
#define GFXSIM_VECTOR_MATH_H

#include "gfxsim/vector.h"

#include <math.h>

#if defined(SIM_VECTOR_AVX2)
#include <immintrin.h>
#endif

static inline bool sim_nan32(u32 v) { return (v & 0x7fffffff) > 0x7f800000; }
static inline bool sim_signals32(u32 v) { return sim_nan32(v) && !(v & 0x400000); }
static inline bool sim_nan64(u64 v) { return (v & ~((u64)1 << 63)) > (u64)0x7ff << 52; }
static inline bool sim_signals64(u64 v) { return sim_nan64(v) && !(v >> 51 & 1); }

/* A denormal as a zero of its sign. */
static inline float sim_flush(float v) {
    const u32 bits = sim_bits_f32(v);
    return sim_f32(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/* ---- f16 as f32 ---- */

static inline float sim_f16_to_f32(u32 half) {
    const u32 sign = (half & 0x8000) << 16, em = half & 0x7fff;
    const u32 normal = (em << 13) + 0x38000000;
    const u32 special = (em << 13) | 0x7f800000 | (em > 0x7c00 ? 0x400000u : 0u);
    const u32 denormal = sim_bits_f32((float)(i32)em * 0x1p-24f);
    const u32 bits = em >= 0x7c00 ? special : em >= 0x400 ? normal : denormal;
    return sim_f32(bits | sign);
}

/* To nearest, ties to even. */
static inline u32 sim_f32_to_f16(float value) {
    const u32 bits = sim_bits_f32(value), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    const u32 normal = (a + 0xc8000fff + (a >> 13 & 1)) >> 13;
    const u32 denormal = sim_bits_f32(sim_f32(a) + 0.5f) - 0x3f000000;
    const u32 special = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : 0x7c00;
    return sign | (a >= 0x47800000 ? special : a >= 0x38800000 ? normal : denormal);
}

/* By MODE's two bits: to nearest, up, down, to zero. */
static inline u32 sim_f32_to_f16_round(float value, unsigned round) {
    const u32 half = sim_f32_to_f16(value);
    const float back = sim_f16_to_f32(half);
    if (round == 0 || back == value || value != value) return half;
    const bool negative = sim_bits_f32(value) >> 31;
    const bool grow = round == 1 ? !negative : round == 2 ? negative : false; /* away from zero */
    const bool smaller = fabsf(back) < fabsf(value);
    if (grow) return smaller ? half + 1 : half;
    return smaller ? half : half - 1;
}

/* Rows of 16-bit halves as floats, and back with MODE's rounding. */
static inline void sim_widen_row(unsigned n, float *restrict to, const u32 *restrict from) {
#ifdef SIM_VECTOR_AVX2
    const __m256i low = _mm256_set1_epi32(0xffff);
    for (unsigned l = 0; l < n; l += 8) {
        const __m256i words = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(from + l)), low);
        const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm256_storeu_ps(to + l, _mm256_cvtph_ps(halves));
    }
#else
    for (unsigned first = 0; first < n; first += 32) {
        for (unsigned l = first; l < first + 32; l++) to[l] = sim_f16_to_f32(from[l]);
    }
#endif
}

static inline void sim_narrow_row(unsigned n, u32 *restrict to, const float *restrict from, unsigned round) {
    if (round) {
        for (unsigned l = 0; l < n; l++) to[l] = sim_f32_to_f16_round(from[l], round);
        return;
    }
#ifdef SIM_VECTOR_AVX2
    for (unsigned l = 0; l < n; l += 8) {
        const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + l), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256((__m256i *)(to + l), _mm256_cvtepu16_epi32(halves));
    }
#else
    for (unsigned first = 0; first < n; first += 32) {
        for (unsigned l = first; l < first + 32; l++) to[l] = sim_f32_to_f16(from[l]);
    }
#endif
}

/* A function over rows of halves: a, b, c are floats of the same value, and the float result is rounded to f16 once
 * more, which changes nothing where the float was exact or rounded to odd. f32 has more than twice f16's bits, so that
 * sums, products, quotients and roots are as if rounded once. */
#define SIM_HALVES                                                                                                     \
    float sim_a[64], sim_b[64], sim_c[64];                                                                             \
    sim_widen_row(x->n, sim_a, x->s[0][0]);                                                                            \
    sim_widen_row(x->n, sim_b, x->s[1][0]);                                                                            \
    sim_widen_row(x->n, sim_c, x->s[2][0]);
#define SIM_SOURCES_HALF                                                                                               \
    const float a = sim_a[l], b = sim_b[l], c = sim_c[l];                                                              \
    const u32 ua = sim_p[l] & 0xffff, ub = sim_q[l] & 0xffff, uc = sim_r[l] & 0xffff;                                  \
    SIM_UNUSED3(a, b, c), SIM_UNUSED3(ua, ub, uc);
#define SIM_OP_HALF(id, ...)                                                                                           \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS32 SIM_HALVES float sim_v[64];                                                                         \
        SIM_LANES_BEGIN SIM_SOURCES_HALF sim_v[l] = (__VA_ARGS__);                                                     \
        SIM_LANES_END                                                                                                  \
        sim_narrow_row(x->n, x->d[0], sim_v, x->mode >> 2 & 3);                                                        \
    }
/* Halves to a word: bits of a 16-bit result, an f32. */
#define SIM_OP_HALF_TO_32(id, ...)                                                                                     \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS32 SIM_HALVES u32 *d = x->d[0];                                                                        \
        SIM_LANES_BEGIN SIM_SOURCES_HALF d[l] = SIM_BITS32(__VA_ARGS__);                                               \
        SIM_LANES_END                                                                                                  \
    }
/* Words to a half. */
#define SIM_OP32_TO_HALF(id, ...)                                                                                      \
    static void id(struct sim_lanes *x) {                                                                              \
        SIM_ROWS32 float sim_v[64];                                                                                    \
        SIM_LANES_BEGIN SIM_SOURCES32 sim_v[l] = (__VA_ARGS__);                                                        \
        SIM_LANES_END                                                                                                  \
        sim_narrow_row(x->n, x->d[0], sim_v, x->mode >> 2 & 3);                                                        \
    }

/* a * b + c of halves, rounded to odd as f32: rounding that to f16 is then as if rounded once. The product is exact;
 * the sum's error is what TwoSum finds. */
static inline float sim_fma_odd(float a, float b, float c) {
    const float p = a * b, s = p + c;
    const float t = s - p, error = (p - (s - t)) + (c - t);
    const u32 bits = sim_bits_f32(s);
    const u32 odd = (error > 0) == (s > 0) ? bits + 1 : bits - 1;
    return error != 0 && !(bits & 1) && s - s == 0 ? sim_f32(odd) : s;
}

/* ---- minimum and maximum ---- */

/* Of numbers, -0 below +0; a NaN yields the other; with IEEE a signalling NaN yields its quiet form. */
static inline float sim_min_f32(float a, float b, bool ieee) {
    const u32 ua = sim_bits_f32(a), ub = sim_bits_f32(b);
    u32 r = a < b ? ua : b < a ? ub : ua | ub;
    r = sim_nan32(ub) ? ua : r;
    r = sim_nan32(ua) ? ub : r;
    r = ieee && sim_signals32(ub) ? ub | 0x400000 : r;
    r = ieee && sim_signals32(ua) ? ua | 0x400000 : r;
    return sim_f32(r);
}
static inline float sim_max_f32(float a, float b, bool ieee) {
    const u32 ua = sim_bits_f32(a), ub = sim_bits_f32(b);
    u32 r = a > b ? ua : b > a ? ub : ua & ub;
    r = sim_nan32(ub) ? ua : r;
    r = sim_nan32(ua) ? ub : r;
    r = ieee && sim_signals32(ub) ? ub | 0x400000 : r;
    r = ieee && sim_signals32(ua) ? ua | 0x400000 : r;
    return sim_f32(r);
}
/* gfx12's minimumNumber and maximumNumber: a NaN of any kind yields the other; two yield a quiet one. */
static inline float sim_quiet(float v) {
    const u32 bits = sim_bits_f32(v);
    return sim_f32(sim_nan32(bits) ? bits | 0x400000 : bits);
}
static inline float sim_min_num_f32(float a, float b) { return sim_quiet(sim_min_f32(a, b, false)); }
static inline float sim_max_num_f32(float a, float b) { return sim_quiet(sim_max_f32(a, b, false)); }
/* gfx12's minimum and maximum: a NaN yields itself, quiet; a signalling one first. */
static inline float sim_minimum_f32(float a, float b) {
    const u32 ua = sim_bits_f32(a), ub = sim_bits_f32(b);
    u32 r = a < b ? ua : b < a ? ub : ua | ub;
    r = sim_nan32(ub) ? ub | 0x400000 : r;
    r = sim_nan32(ua) && !(sim_signals32(ub) && !sim_signals32(ua)) ? ua | 0x400000 : r;
    return sim_f32(r);
}
static inline float sim_maximum_f32(float a, float b) {
    const u32 ua = sim_bits_f32(a), ub = sim_bits_f32(b);
    u32 r = a > b ? ua : b > a ? ub : ua & ub;
    r = sim_nan32(ub) ? ub | 0x400000 : r;
    r = sim_nan32(ua) && !(sim_signals32(ub) && !sim_signals32(ua)) ? ua | 0x400000 : r;
    return sim_f32(r);
}
static inline float sim_med3_f32(float a, float b, float c, bool ieee) {
    const float low = sim_min_f32(sim_min_f32(a, b, ieee), c, ieee);
    const float high = sim_max_f32(sim_max_f32(a, b, ieee), c, ieee);
    const float median = high == a   ? sim_max_f32(b, c, ieee)
                         : high == b ? sim_max_f32(a, c, ieee)
                                     : sim_max_f32(a, b, ieee);
    return a != a || b != b || c != c ? low : median;
}
static inline float sim_med3_num_f32(float a, float b, float c) {
    const float low = sim_min_num_f32(sim_min_num_f32(a, b), c);
    const float high = sim_max_num_f32(sim_max_num_f32(a, b), c);
    const float median = high == a ? sim_max_num_f32(b, c) : high == b ? sim_max_num_f32(a, c) : sim_max_num_f32(a, b);
    return a != a || b != b || c != c ? low : median;
}
static inline u64 sim_min_f64(double a, double b, bool ieee) {
    const u64 ua = sim_bits_f64(a), ub = sim_bits_f64(b), quiet = (u64)1 << 51;
    u64 r = a < b ? ua : b < a ? ub : ua | ub;
    r = sim_nan64(ub) ? ua : r;
    r = sim_nan64(ua) ? ub : r;
    r = ieee && sim_signals64(ub) ? ub | quiet : r;
    return ieee && sim_signals64(ua) ? ua | quiet : r;
}
static inline u64 sim_max_f64(double a, double b, bool ieee) {
    const u64 ua = sim_bits_f64(a), ub = sim_bits_f64(b), quiet = (u64)1 << 51;
    u64 r = a > b ? ua : b > a ? ub : ua & ub;
    r = sim_nan64(ub) ? ua : r;
    r = sim_nan64(ua) ? ub : r;
    r = ieee && sim_signals64(ub) ? ub | quiet : r;
    return ieee && sim_signals64(ua) ? ua | quiet : r;
}
static inline u64 sim_quiet64(u64 v) { return sim_nan64(v) ? v | (u64)1 << 51 : v; }
static inline u64 sim_minimum_f64(double a, double b) {
    const u64 ua = sim_bits_f64(a), ub = sim_bits_f64(b), quiet = (u64)1 << 51;
    if (sim_nan64(ua) && !(sim_signals64(ub) && !sim_signals64(ua))) return ua | quiet;
    if (sim_nan64(ub)) return ub | quiet;
    return a < b ? ua : b < a ? ub : ua | ub;
}
static inline u64 sim_maximum_f64(double a, double b) {
    const u64 ua = sim_bits_f64(a), ub = sim_bits_f64(b), quiet = (u64)1 << 51;
    if (sim_nan64(ua) && !(sim_signals64(ub) && !sim_signals64(ua))) return ua | quiet;
    if (sim_nan64(ub)) return ub | quiet;
    return a > b ? ua : b > a ? ub : ua & ub;
}

/* ---- scaling, fractions, classes ---- */

/* v * 2^e, rounded once. */
static inline float sim_ldexp_f32(float v, i32 e) {
    const i32 within = e > 300 ? 300 : e < -300 ? -300 : e;
    return (float)((double)v * sim_f64((u64)(within + 1023) << 52));
}
static inline double sim_ldexp_f64(double v, i32 e) { return ldexp(v, e > 5000 ? 5000 : e < -5000 ? -5000 : e); }

static inline float sim_fract_f32(float v) {
    const float f = v - floorf(v);
    return f > 0x1.fffffep-1f ? 0x1.fffffep-1f : f;
}
static inline double sim_fract_f64(double v) {
    const double f = v - floor(v);
    return f > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : f;
}

/* Significand and exponent, 0.5 <= |significand| < 1; denormals are numbers, 0 has exponent 0 and infinities and NaNs
 * are their own significands with exponent 0. */
static inline i32 sim_frexp_exp_f32(float v) {
    const u32 a = sim_bits_f32(v) & 0x7fffffff, scaled = sim_bits_f32(sim_f32(a) * 0x1p24f);
    const i32 exponent = a < 0x800000 ? (i32)(scaled >> 23) - 150 : (i32)(a >> 23) - 126;
    return a == 0 || a >= 0x7f800000 ? 0 : exponent;
}
static inline float sim_frexp_mant_f32(float v) {
    const u32 bits = sim_bits_f32(v), a = bits & 0x7fffffff;
    const u32 normal = a < 0x800000 ? sim_bits_f32(v * 0x1p24f) : bits;
    return a == 0 || a >= 0x7f800000 ? v : sim_f32((normal & 0x807fffff) | 0x3f000000);
}
static inline i32 sim_frexp_exp_f64(double v) {
    int e = 0;
    if (v - v == 0) frexp(v, &e);
    return e;
}
static inline double sim_frexp_mant_f64(double v) {
    int e;
    return v - v == 0 ? frexp(v, &e) : v;
}

/* The sine of a fraction of a turn: documented for |turns| up to 256, beyond which it is 0 and the cosine 1. Turns are
 * reduced to a quarter either way before pi comes in, exactly, so that half a turn gives 0. */
static inline double sim_sin_turns(double turns) {
    if (fabs(turns) > 256) return turns - turns == 0 ? 0 : turns - turns;
    const double half = turns - rint(turns);
    return sin((fabs(half) > 0.25 ? copysign(0.5, half) - half : half) * 6.283185307179586477);
}
static inline double sim_cos_turns(double turns) {
    if (fabs(turns) > 256) return turns - turns == 0 ? 1 : turns - turns;
    return sin((0.25 - fabs(turns - rint(turns))) * 6.283185307179586477);
}

/* ---- to integers: towards zero, saturated, NaN to 0 ---- */

static inline i32 sim_to_i32(double v) {
    const double low = v > -0x1p31 ? v : -0x1p31, within = low < 0x1.fffffffcp30 ? low : 0x1.fffffffcp30;
    return v != v ? 0 : (i32)within;
}
static inline u32 sim_to_u32(double v) {
    const double low = v > 0 ? v : 0, within = low < 0x1.fffffffep31 ? low : 0x1.fffffffep31;
    const bool large = within >= 0x1p31;
    return (u32)(i32)(large ? within - 0x1p31 : within) + (large ? 0x80000000 : 0);
}
static inline u32 sim_to_i16(float v) {
    const float low = v > -0x1p15f ? v : -0x1p15f, within = low < 0x1.fffcp14f ? low : 0x1.fffcp14f;
    return v != v ? 0 : (u32)(i32)within & 0xffff;
}
static inline u32 sim_to_u16(float v) {
    const float low = v > 0 ? v : 0, within = low < 0x1.fffep15f ? low : 0x1.fffep15f;
    return v != v ? 0 : (u32)(i32)within;
}

/* ---- compares to a mask ---- */

/* The lanes of a row that are not 0, as bits. */
static inline u64 sim_row_bits(unsigned n, const u32 *row) {
    u64 bits = 0;
#ifdef SIM_VECTOR_AVX2
    for (unsigned l = 0; l < n; l += 8) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(row + l));
        bits |= (u64)(u8)_mm256_movemask_ps(_mm256_castsi256_ps(v)) << l;
    }
#else
    for (unsigned l = 0; l < n; l++) bits |= (u64)(row[l] >> 31) << l;
#endif
    return bits;
}
#define SIM_COMPARE_BODY(sources, ...)                                                                                 \
    u32 sim_v[64];                                                                                                     \
    SIM_LANES_BEGIN sources sim_v[l] = (__VA_ARGS__) ? ~(u32)0 : 0;                                                    \
    SIM_LANES_END                                                                                                      \
    x->carry = sim_row_bits(x->n, sim_v);
#define SIM_CMP32(id, ...)                                                                                             \
    static void id(struct sim_lanes *x) { SIM_ROWS32 SIM_COMPARE_BODY(SIM_SOURCES32, __VA_ARGS__) }
#define SIM_CMP64(id, ...)                                                                                             \
    static void id(struct sim_lanes *x) { SIM_ROWS64 SIM_COMPARE_BODY(SIM_SOURCES64, __VA_ARGS__) }
#define SIM_CMP16(id, ...)                                                                                             \
    static void id(struct sim_lanes *x) { SIM_ROWS32 SIM_COMPARE_BODY(SIM_SOURCES16, __VA_ARGS__) }
#define SIM_CMP_HALF(id, ...)                                                                                          \
    static void id(struct sim_lanes *x) { SIM_ROWS32 SIM_HALVES SIM_COMPARE_BODY(SIM_SOURCES_HALF, __VA_ARGS__) }

#endif
