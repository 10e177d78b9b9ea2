/* Vectors of floats and their functions, from SLEEF, for the instruction set that a kernel file is compiled for.
 *
 *   wick__vf, wick__vd                 WICK__VF floats, WICK__VD doubles; + - * / and unary - work on them
 *   wick__vf_load(p), _store(p, x)     any alignment
 *   wick__vf_some(p, n, c)             the first n < WICK__VF lanes from p, c in the others
 *   wick__vf_store_some(p, x, n)       the first n < WICK__VF lanes
 *   wick__vd_first(x, n)               the first n lanes, 0 in the others
 *   wick__vd_of_f32(p)                 doubles from floats
 *   wick__vd_of_f32_some(p, n), wick__vd_to_f32_some(p, x, n)    the first n < WICK__VD lanes, 0 in the others
 *   wick__vf_all(c)                    the same in every lane
 *   wick__vf_max(a, b), _min(a, b)     b where either is NaN
 *   wick__vf_abs(x)
 *   wick__vf_total(x), _greatest(x)    over the lanes; the latter not for NaN
 *   wick__vf_totals(a, b, c, d)        their totals, side by side
 *   wick__vf_part(x, k)                doubles: half k of the lanes; of a wick__vd all of them
 *   wick__vf_fma(a, b, c)              a b + c, rounded once where the instruction set can
 *   wick__vf_below(x, c, a, b)         a where x < c, else b
 *   wick__vf_above(x, c)               whether x > c in every lane
 *   wick__vf_equal(x, c)               a bit for each lane where x == c
 *   wick__vf_nan(a, b)                 whether a lane of either is NaN
 *   wick__vf_erf(x)                    not SLEEF's, as are the next
 *   wick__vf_exp(x), _log(x)           SLEEF's for doubles, and without AVX-512
 *   wick__vf_sigmoid(x), _silu(x), _silu_by(x, b), _mish(x)    with their whole tails; silu_by is silu(x) b
 *   wick__vf_sum(p, n)                 the sum of n elements, in double
 *   wick__vd_logs(x, n)                makes n doubles their logarithms
 *   WICK__VF_FN(exp, u10)(x)           SLEEF's function with that error bound, in tenths of an ulp */
#ifndef WICK_CPU_KERNELS_VMATH_H
#define WICK_CPU_KERNELS_VMATH_H

#include <stdbool.h>
#include <stdint.h>

#include <sleef.h>

#if WICK_ISA_LEVEL >= 2
typedef __m512 wick__vf;
typedef __m512d wick__vd;
enum { WICK__VF = 16, WICK__VD = 8 };
#define WICK__MM(name) _mm512_##name
#define WICK__VF_FN(name, ulp) Sleef_##name##f16_##ulp##avx512f
#define WICK__VD_FN(name, ulp) Sleef_##name##d8_##ulp##avx512f
#elif WICK_ISA_LEVEL >= 1
typedef __m256 wick__vf;
typedef __m256d wick__vd;
enum { WICK__VF = 8, WICK__VD = 4 };
#define WICK__MM(name) _mm256_##name
#define WICK__VF_FN(name, ulp) Sleef_##name##f8_##ulp##avx2
#define WICK__VD_FN(name, ulp) Sleef_##name##d4_##ulp##avx2
#else
typedef __m128 wick__vf;
typedef __m128d wick__vd;
enum { WICK__VF = 4, WICK__VD = 2 };
#define WICK__MM(name) _mm_##name
#define WICK__VF_FN(name, ulp) Sleef_##name##f4_##ulp##sse2
#define WICK__VD_FN(name, ulp) Sleef_##name##d2_##ulp##sse2
#endif

static inline wick__vf wick__vf_load(const float *p) { return WICK__MM(loadu_ps)(p); }
static inline void wick__vf_store(float *p, wick__vf x) { WICK__MM(storeu_ps)(p, x); }
static inline wick__vf wick__vf_all(float c) { return WICK__MM(set1_ps)(c); }
static inline wick__vf wick__vf_max(wick__vf a, wick__vf b) { return WICK__MM(max_ps)(a, b); }
static inline wick__vf wick__vf_min(wick__vf a, wick__vf b) { return WICK__MM(min_ps)(a, b); }
static inline wick__vf wick__vf_sqrt(wick__vf x) { return WICK__MM(sqrt_ps)(x); }
static inline wick__vf wick__vf_abs(wick__vf x) { return WICK__MM(andnot_ps)(wick__vf_all(-0.0f), x); }

/* Both halves of a vector, joined until one lane is left. */
#if WICK_ISA_LEVEL >= 2
static inline float wick__vf_total(wick__vf x) { return _mm512_reduce_add_ps(x); }
static inline float wick__vf_greatest(wick__vf x) { return _mm512_reduce_max_ps(x); }
static inline double wick__vd_total(wick__vd x) { return _mm512_reduce_add_pd(x); }
static inline double wick__vd_greatest(wick__vd x) { return _mm512_reduce_max_pd(x); }
#else
#if WICK_ISA_LEVEL >= 1
#define WICK__QUARTER(x, join) join(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1))
#define WICK__PAIR_OF(x, join) join(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1))
#else
#define WICK__QUARTER(x, join) (x)
#define WICK__PAIR_OF(x, join) (x)
#endif
#define WICK__OVER_LANES(name, join)                                                                                   \
    static inline float wick__vf_##name(wick__vf x) {                                                                  \
        __m128 y = WICK__QUARTER(x, _mm_##join##_ps);                                                                  \
        y = _mm_##join##_ps(y, _mm_movehl_ps(y, y));                                                                   \
        return _mm_cvtss_f32(_mm_##join##_ss(y, _mm_shuffle_ps(y, y, 1)));                                             \
    }                                                                                                                  \
    static inline double wick__vd_##name(wick__vd x) {                                                                 \
        __m128d y = WICK__PAIR_OF(x, _mm_##join##_pd);                                                                 \
        return _mm_cvtsd_f64(_mm_##join##_sd(y, _mm_unpackhi_pd(y, y)));                                               \
    }
WICK__OVER_LANES(total, add)
WICK__OVER_LANES(greatest, max)
#undef WICK__OVER_LANES
#undef WICK__QUARTER
#undef WICK__PAIR_OF
#endif

static inline __m128 wick__vf_totals(wick__vf a, wick__vf b, wick__vf c, wick__vf d) {
    wick__vf ab = WICK__MM(unpacklo_ps)(a, b) + WICK__MM(unpackhi_ps)(a, b);
    wick__vf cd = WICK__MM(unpacklo_ps)(c, d) + WICK__MM(unpackhi_ps)(c, d);
    wick__vf all = (wick__vf)WICK__MM(unpacklo_pd)((wick__vd)ab, (wick__vd)cd) +
                   (wick__vf)WICK__MM(unpackhi_pd)((wick__vd)ab, (wick__vd)cd);
#if WICK_ISA_LEVEL >= 2
    __m256 half = _mm512_castps512_ps256(all) + _mm512_extractf32x8_ps(all, 1);
    return _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
#elif WICK_ISA_LEVEL >= 1
    return _mm256_castps256_ps128(all) + _mm256_extractf128_ps(all, 1);
#else
    return all;
#endif
}

static inline wick__vf wick__vf_fma(wick__vf a, wick__vf b, wick__vf c) {
#if WICK_ISA_LEVEL >= 1
    return WICK__MM(fmadd_ps)(a, b, c);
#else
    return a * b + c;
#endif
}

/* erf for f32, some three times as fast as SLEEF's and within a few units: x times a quotient of polynomials in x^2,
 * the minimax fit of Eigen's and XLA's erf. Beyond 4, erf is 1 in f32. */
static inline wick__vf wick__vf_erf(wick__vf x) {
    static const float above[] = {-2.72614225801306e-10f, 2.77068142495902e-08f,  -2.10102402082508e-06f,
                                  -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f,
                                  -1.60960333262415e-02f};
    static const float below[] = {-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                                  -7.37332916720468e-03f, -1.42647390514189e-02f};
    x = wick__vf_max(wick__vf_all(-4), wick__vf_min(wick__vf_all(4), x));
    wick__vf square = x * x, p = wick__vf_all(above[0]), q = wick__vf_all(below[0]);
    for (int i = 1; i < 7; i++) p = wick__vf_fma(p, square, wick__vf_all(above[i]));
    for (int i = 1; i < 5; i++) q = wick__vf_fma(q, square, wick__vf_all(below[i]));
    return x * (p / q);
}

static inline wick__vd wick__vd_load(const double *p) { return WICK__MM(loadu_pd)(p); }
/* gcc 12 converts vectors of floats by halves, which it stores in between; so intrinsics do it. */
static inline wick__vd wick__vd_of_f32(const float *p) {
#if WICK_ISA_LEVEL >= 2
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif WICK_ISA_LEVEL >= 1
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const void *)p)));
#endif
}
static inline void wick__vd_to_f32(float *p, wick__vd x) {
#if WICK_ISA_LEVEL >= 2
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(x));
#elif WICK_ISA_LEVEL >= 1
    _mm_storeu_ps(p, _mm256_cvtpd_ps(x));
#else
    _mm_storel_epi64((void *)p, _mm_castps_si128(_mm_cvtpd_ps(x)));
#endif
}
static inline void wick__vd_store(double *p, wick__vd x) { WICK__MM(storeu_pd)(p, x); }
static inline wick__vd wick__vd_all(double c) { return WICK__MM(set1_pd)(c); }
#if WICK_ISA_LEVEL >= 2
static inline wick__vf wick__vf_some(const float *p, int64_t n, float c) {
    return _mm512_mask_loadu_ps(wick__vf_all(c), (__mmask16)((1u << n) - 1), p);
}
static inline wick__vd wick__vd_some(const double *p, int64_t n, double c) {
    return _mm512_mask_loadu_pd(wick__vd_all(c), (__mmask8)((1u << n) - 1), p);
}
static inline void wick__vf_store_some(float *p, wick__vf x, int64_t n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x);
}
static inline void wick__vd_store_some(double *p, wick__vd x, int64_t n) {
    _mm512_mask_storeu_pd(p, (__mmask8)((1u << n) - 1), x);
}
static inline wick__vd wick__vd_of_f32_some(const float *p, int64_t n) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps((__mmask8)((1u << n) - 1), p));
}
static inline void wick__vd_to_f32_some(float *p, wick__vd x, int64_t n) {
    _mm256_mask_storeu_ps(p, (__mmask8)((1u << n) - 1), _mm512_cvtpd_ps(x));
}
static inline wick__vd wick__vd_first(wick__vd x, int64_t n) {
    return n >= WICK__VD ? x : _mm512_maskz_mov_pd((__mmask8)((1u << (n < 0 ? 0 : n)) - 1), x);
}
static inline wick__vd wick__vf_part(wick__vf x, int k) {
    return _mm512_cvtps_pd(k ? _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1))
                             : _mm512_castps512_ps256(x));
}
#else
#if WICK_ISA_LEVEL == 1
static inline __m256i wick__vf_lanes(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline __m256i wick__vd_lanes(int64_t n) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline wick__vf wick__vf_some(const float *p, int64_t n, float c) {
    __m256i lanes = wick__vf_lanes(n);
    return _mm256_blendv_ps(wick__vf_all(c), _mm256_maskload_ps(p, lanes), _mm256_castsi256_ps(lanes));
}
static inline wick__vd wick__vd_some(const double *p, int64_t n, double c) {
    __m256i lanes = wick__vd_lanes(n);
    return _mm256_blendv_pd(wick__vd_all(c), _mm256_maskload_pd(p, lanes), _mm256_castsi256_pd(lanes));
}
static inline void wick__vf_store_some(float *p, wick__vf x, int64_t n) {
    _mm256_maskstore_ps(p, wick__vf_lanes(n), x);
}
static inline void wick__vd_store_some(double *p, wick__vd x, int64_t n) {
    _mm256_maskstore_pd(p, wick__vd_lanes(n), x);
}
static inline wick__vd wick__vd_of_f32_some(const float *p, int64_t n) {
    return _mm256_cvtps_pd(_mm_maskload_ps(p, _mm256_castsi256_si128(wick__vf_lanes(n))));
}
static inline void wick__vd_to_f32_some(float *p, wick__vd x, int64_t n) {
    _mm_maskstore_ps(p, _mm256_castsi256_si128(wick__vf_lanes(n)), _mm256_cvtpd_ps(x));
}
static inline wick__vd wick__vd_first(wick__vd x, int64_t n) {
    return _mm256_and_pd(x, _mm256_castsi256_pd(wick__vd_lanes(n)));
}
#else
#define WICK__SOME(v, V, T, LANES)                                                                                     \
    static inline V v##_some(const T *p, int64_t n, T c) {                                                             \
        T lanes[LANES];                                                                                                \
        for (int i = 0; i < LANES; i++) lanes[i] = i < n ? p[i] : c;                                                   \
        return v##_load(lanes);                                                                                        \
    }                                                                                                                  \
    static inline void v##_store_some(T *p, V x, int64_t n) {                                                          \
        T lanes[LANES];                                                                                                \
        v##_store(lanes, x);                                                                                           \
        for (int i = 0; i < n; i++) p[i] = lanes[i];                                                                   \
    }
WICK__SOME(wick__vf, wick__vf, float, WICK__VF)
WICK__SOME(wick__vd, wick__vd, double, WICK__VD)
#undef WICK__SOME
static inline wick__vd wick__vd_of_f32_some(const float *p, int64_t n) {
    float lanes[WICK__VD];
    for (int i = 0; i < WICK__VD; i++) lanes[i] = i < n ? p[i] : 0;
    return wick__vd_of_f32(lanes);
}
static inline void wick__vd_to_f32_some(float *p, wick__vd x, int64_t n) {
    float lanes[WICK__VD];
    wick__vd_to_f32(lanes, x);
    for (int i = 0; i < n; i++) p[i] = lanes[i];
}
static inline wick__vd wick__vd_first(wick__vd x, int64_t n) {
    for (int i = 0; i < WICK__VD; i++) x[i] = i < n ? x[i] : 0;
    return x;
}
#endif
static inline wick__vd wick__vf_part(wick__vf x, int k) {
#if WICK_ISA_LEVEL >= 1
    return _mm256_cvtps_pd(k ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x));
#else
    return _mm_cvtps_pd(k ? _mm_movehl_ps(x, x) : x);
#endif
}
#endif
static inline void wick__vd_logs(double *x, int64_t n) {
    int64_t i = 0;
    for (; i + WICK__VD <= n; i += WICK__VD) wick__vd_store(x + i, WICK__VD_FN(log, u10)(wick__vd_load(x + i)));
    if (i < n) wick__vd_store_some(x + i, WICK__VD_FN(log, u10)(wick__vd_some(x + i, n - i, 1)), n - i);
}
static inline wick__vd wick__vd_part(wick__vd x, int k) { return (void)k, x; }
static inline wick__vd wick__vd_fma(wick__vd a, wick__vd b, wick__vd c) {
#if WICK_ISA_LEVEL >= 1
    return WICK__MM(fmadd_pd)(a, b, c);
#else
    return a * b + c;
#endif
}
static inline wick__vd wick__vd_max(wick__vd a, wick__vd b) { return WICK__MM(max_pd)(a, b); }
static inline wick__vd wick__vd_min(wick__vd a, wick__vd b) { return WICK__MM(min_pd)(a, b); }
static inline wick__vd wick__vd_sqrt(wick__vd x) { return WICK__MM(sqrt_pd)(x); }
static inline wick__vd wick__vd_abs(wick__vd x) { return WICK__MM(andnot_pd)(wick__vd_all(-0.0), x); }

#if WICK_ISA_LEVEL >= 2
static inline wick__vf wick__vf_below(wick__vf x, wick__vf c, wick__vf a, wick__vf b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, c, _CMP_LT_OQ), b, a);
}
static inline wick__vd wick__vd_below(wick__vd x, wick__vd c, wick__vd a, wick__vd b) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(x, c, _CMP_LT_OQ), b, a);
}
static inline bool wick__vf_above(wick__vf x, wick__vf c) { return _mm512_cmp_ps_mask(x, c, _CMP_NGT_UQ) == 0; }
static inline bool wick__vd_above(wick__vd x, wick__vd c) { return _mm512_cmp_pd_mask(x, c, _CMP_NGT_UQ) == 0; }
static inline unsigned wick__vf_equal(wick__vf x, wick__vf c) { return _mm512_cmp_ps_mask(x, c, _CMP_EQ_OQ); }
static inline bool wick__vf_nan(wick__vf a, wick__vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q) != 0; }
#elif WICK_ISA_LEVEL >= 1
static inline wick__vf wick__vf_below(wick__vf x, wick__vf c, wick__vf a, wick__vf b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, c, _CMP_LT_OQ));
}
static inline wick__vd wick__vd_below(wick__vd x, wick__vd c, wick__vd a, wick__vd b) {
    return _mm256_blendv_pd(b, a, _mm256_cmp_pd(x, c, _CMP_LT_OQ));
}
static inline bool wick__vf_above(wick__vf x, wick__vf c) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, c, _CMP_NGT_UQ)) == 0;
}
static inline bool wick__vd_above(wick__vd x, wick__vd c) {
    return _mm256_movemask_pd(_mm256_cmp_pd(x, c, _CMP_NGT_UQ)) == 0;
}
static inline unsigned wick__vf_equal(wick__vf x, wick__vf c) {
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, c, _CMP_EQ_OQ));
}
static inline bool wick__vf_nan(wick__vf a, wick__vf b) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) != 0;
}
#else
static inline wick__vf wick__vf_below(wick__vf x, wick__vf c, wick__vf a, wick__vf b) {
    wick__vf mask = _mm_cmplt_ps(x, c);
    return _mm_or_ps(_mm_and_ps(mask, a), _mm_andnot_ps(mask, b));
}
static inline wick__vd wick__vd_below(wick__vd x, wick__vd c, wick__vd a, wick__vd b) {
    wick__vd mask = _mm_cmplt_pd(x, c);
    return _mm_or_pd(_mm_and_pd(mask, a), _mm_andnot_pd(mask, b));
}
static inline bool wick__vf_above(wick__vf x, wick__vf c) { return _mm_movemask_ps(_mm_cmpngt_ps(x, c)) == 0; }
static inline bool wick__vd_above(wick__vd x, wick__vd c) { return _mm_movemask_pd(_mm_cmpngt_pd(x, c)) == 0; }
static inline unsigned wick__vf_equal(wick__vf x, wick__vf c) { return (unsigned)_mm_movemask_ps(_mm_cmpeq_ps(x, c)); }
static inline bool wick__vf_nan(wick__vf a, wick__vf b) { return _mm_movemask_ps(_mm_cmpunord_ps(a, b)) != 0; }
#endif

#define WICK__SUM(v, V, T, LANES)                                                                                      \
    static inline double v##_sum(const T *p, int64_t n) {                                                              \
        enum { PARTS = LANES / WICK__VD };                                                                             \
        wick__vd sum[PARTS];                                                                                           \
        for (int k = 0; k < PARTS; k++) sum[k] = wick__vd_all(0);                                                      \
        for (int64_t i = 0; i < n; i += LANES) {                                                                       \
            V x = n - i < LANES ? v##_some(p + i, n - i, 0) : v##_load(p + i);                                         \
            for (int k = 0; k < PARTS; k++) sum[k] += v##_part(x, k);                                                  \
        }                                                                                                              \
        for (int k = 1; k < PARTS; k++) sum[0] += sum[k];                                                              \
        return wick__vd_total(sum[0]);                                                                                 \
    }
WICK__SUM(wick__vf, wick__vf, float, WICK__VF)
WICK__SUM(wick__vd, wick__vd, double, WICK__VD)
#undef WICK__SUM

/* e^x and log x. With AVX-512 by Cephes' fits, within 1.02 and 0.8 of the result's last place: e^x is 2^n e^r, whose
 * exponent an instruction makes, infinite or subnormal where it is to be, and two more take x apart for its logarithm.
 * That instruction takes a hundred cycles for what comes below the least number, which lanes without an element often
 * do: they are left out. */
#if WICK_ISA_LEVEL >= 2
static inline wick__vf wick__vf_exp(wick__vf x) {
    static const float of[] = {1.9875691500E-4f, 1.3981999507E-3f, 8.3334519073E-3f,
                               4.1665795894E-2f, 1.6666665459E-1f, 5.0000001201E-1f};
    const __mmask16 some = _mm512_cmp_ps_mask(x, wick__vf_all(-104), _CMP_NLT_UQ);
    x = wick__vf_min(wick__vf_all(150), x);
    wick__vf n = _mm512_roundscale_ps(x * wick__vf_all(1.44269504f), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    wick__vf r = wick__vf_fma(n, wick__vf_all(2.12194440e-4f), wick__vf_fma(n, wick__vf_all(-0.693359375f), x));
    wick__vf p = wick__vf_all(of[0]);
    for (int i = 1; i < 6; i++) p = wick__vf_fma(p, r, wick__vf_all(of[i]));
    return _mm512_maskz_scalef_ps(some, wick__vf_fma(p * r, r, r) + wick__vf_all(1), n);
}

static inline wick__vf wick__vf_log(wick__vf x) {
    static const float of[] = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                               -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                               2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
    enum { ZERO = 0x06, INFINITE = 0x08 };
    wick__vf m = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_nan), e = _mm512_getexp_ps(x);
    const __mmask16 large = _mm512_cmp_ps_mask(m, wick__vf_all(1.41421356f), _CMP_GT_OQ);
    m = _mm512_mask_mul_ps(m, large, m, wick__vf_all(0.5f));
    e = _mm512_mask_add_ps(e, large, e, wick__vf_all(1));
    wick__vf r = m - wick__vf_all(1), square = r * r, p = wick__vf_all(of[0]);
    for (int i = 1; i < 9; i++) p = wick__vf_fma(p, r, wick__vf_all(of[i]));
    wick__vf y = wick__vf_fma(e, wick__vf_all(-2.12194440e-4f), p * r * square);
    y = wick__vf_fma(square, wick__vf_all(-0.5f), y);
    y = wick__vf_fma(e, wick__vf_all(0.693359375f), r + y);
    y = _mm512_mask_mov_ps(y, _mm512_fpclass_ps_mask(x, ZERO), wick__vf_all(-__builtin_inff()));
    return _mm512_mask_mov_ps(y, _mm512_fpclass_ps_mask(x, INFINITE), x);
}
#else
static inline wick__vf wick__vf_exp(wick__vf x) { return WICK__VF_FN(exp, u10)(x); }
static inline wick__vf wick__vf_log(wick__vf x) { return WICK__VF_FN(log, u10)(x); }
#endif
static inline wick__vd wick__vd_exp(wick__vd x) { return WICK__VD_FN(exp, u10)(x); }
static inline wick__vd wick__vd_log(wick__vd x) { return WICK__VD_FN(log, u10)(x); }

/* The sigmoid and what is multiplied with it. e^-x overflows long before e^x is 0, so e^-|x| is computed. Below `far`
 * the sigmoid is e^x itself; it is computed as e^(x + shift), in the middle of the range, and e^-shift comes in two
 * factors of e^-(shift / 2): nothing but the result is rounded to a number near the least. x + shift is exact. Vectors
 * without such elements, nearly all there are, take a shorter way. */
#define WICK__SIGMOID(V, v, EXP, far, shift, half, tiny)                                                               \
    static inline V v##_sigmoid(V x) {                                                                                 \
        V e, one = v##_all(1);                                                                                         \
        if (v##_above(x, v##_all(far))) return one / (one + EXP(-x));                                                  \
        e = EXP(-v##_abs(x));                                                                                          \
        return v##_below(x, v##_all(0), e, one) / (one + e);                                                           \
    }                                                                                                                  \
    /* The result times factor^2 is the sigmoid. */                                                                    \
    static inline V v##_far_sigmoid(V x, V *factor) {                                                                  \
        V limit = v##_all(far), zero = v##_all(0), one = v##_all(1);                                                   \
        V e = EXP(v##_below(x, limit, v##_all(shift), zero) - v##_abs(x));                                             \
        *factor = v##_below(x, limit, v##_all(half), one);                                                             \
        return v##_below(x, zero, e, one) / (one + v##_below(x, limit, zero, e));                                      \
    }                                                                                                                  \
    static inline V v##_silu(V x) {                                                                                    \
        V factor, s;                                                                                                   \
        if (v##_above(x, v##_all(far))) return x / (v##_all(1) + EXP(-x));                                             \
        s = v##_far_sigmoid(x, &factor);                                                                               \
        return x * s * factor * factor;                                                                                \
    }                                                                                                                  \
    /* silu(x) b: what is greater than 1 comes first, so that a product near the least is not multiplied up. */        \
    static inline V v##_silu_by(V x, V b) {                                                                            \
        V factor, s, one = v##_all(1), size = v##_abs(b), by;                                                          \
        if (v##_above(x, v##_all(far)) && v##_above(v##_abs(x), v##_all(tiny))) return x / (one + EXP(-x)) * b;        \
        s = v##_far_sigmoid(x, &factor);                                                                               \
        by = b * factor;                                                                                               \
        return s * v##_below(one, size, by, x) * v##_below(one, size, x, by) * factor;                                 \
    }                                                                                                                  \
    /* x tanh(log(1 + e)) = x e (e + 2) / (e (e + 2) + 2), e = exp x; beyond 40 it is x. */                            \
    static inline V v##_mish(V x) {                                                                                    \
        V limit = v##_all(far), two = v##_all(2), shift_by = v##_all(0), e, n;                                         \
        if (!v##_above(x, limit)) shift_by = v##_below(x, limit, v##_all(shift), shift_by);                            \
        e = EXP(v##_min(v##_all(40), x) + shift_by);                                                                   \
        n = e * (e + two);                                                                                             \
        if (v##_above(x, limit)) return x * (n / (n + two));                                                           \
        return v##_below(x, limit, x * e * v##_all(half) * v##_all(half), x * (n / (n + two)));                        \
    }
WICK__SIGMOID(wick__vf, wick__vf, wick__vf_exp, -80, 115, 1.066761395e-25f, 0x1p-60f)
WICK__SIGMOID(wick__vd, wick__vd, WICK__VD_FN(exp, u10), -600, 750, 1.37901594025413882e-163, 0x1p-500)
#undef WICK__SIGMOID

#endif
