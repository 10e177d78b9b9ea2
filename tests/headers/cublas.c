/* src/cuda/cublas.def against NVIDIA's headers. */
#include <cublas_v2.h>

#include "tests/headers/check.h"

#include "cuda/cublas.def"
