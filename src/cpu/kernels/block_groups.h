/* The formats of blocks, as kernels/blocks.h writes them once for all families, compiled for the processor. For kernel
 * files. */
#ifndef WICK_CPU_KERNELS_BLOCK_GROUPS_H
#define WICK_CPU_KERNELS_BLOCK_GROUPS_H

#include "cpu/kernels/blocks.h"

#define BLOCK_FN static inline __attribute__((always_inline))
#define BLOCK_TABLE static const
#define BLOCK_UNROLL
#define BLOCK_F16(bits) wick__f16_to_f32(bits)
#define BLOCK_F32(bits) wick__bits_f32(bits)
#include "kernels/blocks.h"

#endif
