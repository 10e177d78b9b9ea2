/* src/cuda/cuda.def and nvrtc.def against NVIDIA's headers. */
#define __CUDA_API_VERSION_INTERNAL /* declares every version of a function */
#include <cuda.h>
#include <nvrtc.h>
#include <stddef.h>

_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8, "CUlaunchAttribute");
_Static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, sharedMemBytes) == 24 &&
                   offsetof(CUlaunchConfig, hStream) == 32 && offsetof(CUlaunchConfig, attrs) == 40 &&
                   offsetof(CUlaunchConfig, numAttrs) == 48,
               "CUlaunchConfig");
/* Functions take it at multiples of 64, whatever a header's version aligns it to. */
_Static_assert(sizeof(CUtensorMap) == 128 && _Alignof(CUtensorMap) % 64 == 0, "CUtensorMap");

#include "tests/headers/check.h"

#include "cuda/cuda.def"

#include "tests/headers/check.h"

#include "cuda/nvrtc.def"
