/* Vectors of floats and their functions, from SLEEF, for the instruction set that a kernel file is compiled for.
 *
 *   wick__vf, wick__vd                 WICK__VF floats, WICK__VD doubles; + - * / and unary - work on them
 *   wick__vf_load(p), _store(p, x)     any alignment
 *   wick__vf_all(c)                    the same in every lane
 *   wick__vf_max(a, b), _min(a, b)     b where either is NaN
 *   wick__vf_abs(x)
 *   wick__vf_fma(a, b, c)              a b + c, rounded once where the instruction set can
 *   WICK__VF_FN(exp, u10)(x)           SLEEF's function with that error bound, in tenths of an ulp */
#ifndef WICK_CPU_VMATH_H
#define WICK_CPU_VMATH_H

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

static inline wick__vf wick__vf_fma(wick__vf a, wick__vf b, wick__vf c) {
#if WICK_ISA_LEVEL >= 1
    return WICK__MM(fmadd_ps)(a, b, c);
#else
    return a * b + c;
#endif
}

static inline wick__vd wick__vd_load(const double *p) { return WICK__MM(loadu_pd)(p); }
static inline void wick__vd_store(double *p, wick__vd x) { WICK__MM(storeu_pd)(p, x); }
static inline wick__vd wick__vd_all(double c) { return WICK__MM(set1_pd)(c); }
static inline wick__vd wick__vd_max(wick__vd a, wick__vd b) { return WICK__MM(max_pd)(a, b); }
static inline wick__vd wick__vd_min(wick__vd a, wick__vd b) { return WICK__MM(min_pd)(a, b); }
static inline wick__vd wick__vd_sqrt(wick__vd x) { return WICK__MM(sqrt_pd)(x); }
static inline wick__vd wick__vd_abs(wick__vd x) { return WICK__MM(andnot_pd)(wick__vd_all(-0.0), x); }

#endif
