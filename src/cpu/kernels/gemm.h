/* Matrix products (product.h) on the processor, for all ten dtypes. Include from files of src/cpu/kernels/ only: every
 * name is WICK__ISA's.
 *
 * Numbers: bf16, f16 and f8e4m3 multiply and add in f32 and round once, after bias and activation. f32 and f64 use
 * fused multiply-adds where the instruction set has them. Each element is summed over k in blocks of a fixed size, in
 * order within a block, and the blocks in order: the result does not depend on threads, tiles, m or n. One row or one
 * column of floats (gemv.c), and a few of f32 (gemm_few.c), may have an order of their own. Integers wrap.
 * Where the processor has AVX512_BF16, bf16 uses its dot products: pairs of terms, subnormal bf16 inputs and f32 sums
 * taken as 0. */
#ifndef WICK_CPU_KERNELS_GEMM_H
#define WICK_CPU_KERNELS_GEMM_H

#include "cpu/runtime/isa.h"
#include "product.h"

/* Runs it on all threads. k == 0 gives activation(bias) or zeros; an empty C is fine. Fails with WICK_MEMORY alone,
 * before C is written. Not to be called inside wick__parallel. */
#ifdef WICK_ISA
enum wick_status WICK__ISA(wick__gemm)(const struct wick__product *g);
#endif

#endif
