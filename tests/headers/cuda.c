/* src/cuda/cuda.def and nvrtc.def against NVIDIA's headers. */
#define __CUDA_API_VERSION_INTERNAL /* declares every version of a function */
#include <cuda.h>
#include <nvrtc.h>

#include "tests/headers/check.h"

#include "cuda/cuda.def"

#include "tests/headers/check.h"

#include "cuda/nvrtc.def"
