/* x y + z on vectors of the instruction set, fused where it can be. vector_f32 and vector_f64 are the including file's.
 */
#ifndef WICK_CPU_KERNELS_MULADD_H
#define WICK_CPU_KERNELS_MULADD_H

#include "cpu/runtime/isa.h"

#if WICK_ISA_LEVEL >= 1
#include <immintrin.h>
#endif

#if WICK_ISA_LEVEL >= 2
#define MULADD_F32(x, y, z) ((vector_f32)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#define MULADD_F64(x, y, z) ((vector_f64)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#elif WICK_ISA_LEVEL == 1
#define MULADD_F32(x, y, z) ((vector_f32)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#define MULADD_F64(x, y, z) ((vector_f64)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#else
#define MULADD_F32(x, y, z) ((x) * (y) + (z))
#define MULADD_F64(x, y, z) ((x) * (y) + (z))
#endif

#endif
