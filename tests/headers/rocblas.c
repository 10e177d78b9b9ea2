/* src/rocm/rocblas.def against rocBLAS's headers. */
#define __HIP_PLATFORM_AMD__ 1
#include <rocblas/rocblas.h>

#include "tests/headers/check.h"

#include "rocm/rocblas.def"
