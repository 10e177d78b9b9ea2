/* What a GPU can do, as the name of its target tells. */
#ifndef WICK_GPU_RUNTIME_TARGET_H
#define WICK_GPU_RUNTIME_TARGET_H

#include "gpu/runtime/gpu.h"

/* The compute capability of an NVIDIA target, 90 for "sm_90" or "sm_90a"; 0 for others. */
int wick__capability(const struct wick__gpu *gpu);

/* Whether a device has matrix instructions, as kernels/mma.h has it: sm_80 and up, MFMA of gfx90a and gfx94x, WMMA of
 * gfx11 and gfx12; and LDS bytes a block can ask for where tiles reach it by asynchronous copies, 0 elsewhere. */
bool wick__has_mma(const struct wick__gpu *gpu);
unsigned wick__mma_shared(const struct wick__gpu *gpu);

/* Whether three of its products of eleven bits (TF32) are faster than one of f32: by NVIDIA's data sheets it makes
 * seven times as many or more on compute capability 8.0, 9.0 and 10, and one to two times as many on others. */
bool wick__has_tf32(const struct wick__gpu *gpu);
/* The terms of products that go that way, and of convolutions, whose channels fill tiles (docs/numerics.md). */
enum { WICK__TF32_TERMS = 64, WICK__TF32_CHANNELS = 8, WICK__TF32_RESULTS = 32 };

/* Whether it has those of f8e4m3, MMA_F8 of kernels/mma.h; and whether their format is FNUZ, which no operand has. */
bool wick__has_mma_f8(const struct wick__gpu *gpu);
bool wick__mma_f8_is_fnuz(const struct wick__gpu *gpu);

#endif
