/* Vectors of floats and their functions, from SLEEF, for the instruction set that a kernel file is compiled for.
 *
 *   wick__vf, wick__vd                 WICK__VF floats, WICK__VD doubles; + - * / and unary - work on them
 *   wick__vf_load(p), _store(p, x)     any alignment
 *   wick__vf_all(c)                    the same in every lane
 *   wick__vf_max(a, b), _min(a, b)     b where either is NaN
 *   wick__vf_abs(x)
 *   wick__vf_total(x), _greatest(x)    over the lanes; the latter not for NaN
 *   wick__vf_fma(a, b, c)              a b + c, rounded once where the instruction set can
 *   wick__vf_erf(x)                    the one function that is not SLEEF's
 *   WICK__VF_FN(exp, u10)(x)           SLEEF's function with that error bound, in tenths of an ulp */
#ifndef WICK_CPU_KERNELS_VMATH_H
#define WICK_CPU_KERNELS_VMATH_H

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

#if WICK_ISA_LEVEL >= 2
static inline float wick__vf_total(wick__vf x) { return _mm512_reduce_add_ps(x); }
static inline float wick__vf_greatest(wick__vf x) { return _mm512_reduce_max_ps(x); }
#else
static inline float wick__vf_total(wick__vf x) {
    float total = 0;
    for (int i = 0; i < WICK__VF; i++) total += x[i];
    return total;
}
static inline float wick__vf_greatest(wick__vf x) {
    float most = x[0];
    for (int i = 1; i < WICK__VF; i++) most = x[i] > most ? x[i] : most;
    return most;
}
#endif

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
static inline void wick__vd_store(double *p, wick__vd x) { WICK__MM(storeu_pd)(p, x); }
static inline wick__vd wick__vd_all(double c) { return WICK__MM(set1_pd)(c); }
static inline wick__vd wick__vd_max(wick__vd a, wick__vd b) { return WICK__MM(max_pd)(a, b); }
static inline wick__vd wick__vd_min(wick__vd a, wick__vd b) { return WICK__MM(min_pd)(a, b); }
static inline wick__vd wick__vd_sqrt(wick__vd x) { return WICK__MM(sqrt_pd)(x); }
static inline wick__vd wick__vd_abs(wick__vd x) { return WICK__MM(andnot_pd)(wick__vd_all(-0.0), x); }

#endif
