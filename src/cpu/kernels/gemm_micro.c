/* Matrix products: the innermost tiles of every kind of arithmetic. */
#include "cpu/kernels/gemm_internal.h"

#if WICK_ISA_LEVEL > 0
#include <immintrin.h>
#endif

#define TILE_NAME f32
#if WICK_ISA_LEVEL > 0
#define TILE_IN_PLACE
#endif
#define TILE_ELEMENT float
#define TILE_PACKED float
#define TILE_TARGET
#define TILE_GROUP 1
#define TILE_K_BLOCK (WICK_ISA_LEVEL == 1 ? 384 : 256)
#if WICK_ISA_LEVEL == 2
#define TILE_MULTIPLY(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#elif WICK_ISA_LEVEL == 1
#define TILE_MULTIPLY(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#else
#define TILE_MULTIPLY(sum, a, b) ((sum) + (a) * (b))
#endif
#include "cpu/kernels/gemm_tile.h"

#define TILE_NAME f64
#define TILE_ELEMENT double
#define TILE_PACKED double
#define TILE_TARGET
#define TILE_GROUP 1
#define TILE_K_BLOCK 256
#if WICK_ISA_LEVEL == 2
#define TILE_MULTIPLY(sum, a, b) _mm512_fmadd_pd(a, b, sum)
#elif WICK_ISA_LEVEL == 1
#define TILE_MULTIPLY(sum, a, b) _mm256_fmadd_pd(a, b, sum)
#else
#define TILE_MULTIPLY(sum, a, b) ((sum) + (a) * (b))
#endif
#include "cpu/kernels/gemm_tile.h"

#define TILE_NAME u32
#define TILE_ELEMENT uint32_t
#define TILE_PACKED uint32_t
#define TILE_TARGET
#define TILE_GROUP 1
#define TILE_K_BLOCK 256
#define TILE_MULTIPLY(sum, a, b) ((sum) + (a) * (b))
#include "cpu/kernels/gemm_tile.h"

#define TILE_NAME u64
#define TILE_ELEMENT uint64_t
#define TILE_PACKED uint64_t
#define TILE_TARGET
#define TILE_GROUP 1
#define TILE_K_BLOCK 256
#define TILE_MULTIPLY(sum, a, b) ((sum) + (a) * (b))
#include "cpu/kernels/gemm_tile.h"

#if WICK_ISA_LEVEL == 2
/* Two terms at once: sum + a1 b1 + a0 b0, each step rounded once, subnormals taken as 0. */
#define TILE_NAME bf16
#define TILE_ELEMENT float
#define TILE_PACKED uint32_t
#define TILE_TARGET __attribute__((target("avx512bf16")))
#define TILE_GROUP 2
#define TILE_K_BLOCK 512
#define TILE_MULTIPLY(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#include "cpu/kernels/gemm_tile.h"
#endif

const struct gemm_kind *WICK__ISA(wick__gemm_kind)(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_F64: return &WICK__ISA(wick__gemm_f64);
    case WICK_I64: return &WICK__ISA(wick__gemm_u64);
    case WICK_U8:
    case WICK_U32:
    case WICK_I16:
    case WICK_I32: return &WICK__ISA(wick__gemm_u32);
#if WICK_ISA_LEVEL == 2
    case WICK_BF16:
        if (wick__isa_has_avx512_bf16()) return &WICK__ISA(wick__gemm_bf16);
        break;
#endif
    default: break;
    }
    return &WICK__ISA(wick__gemm_f32);
}
