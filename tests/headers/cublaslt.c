/* src/cuda/cublaslt.def and the structs of src/cuda/cuda.h against NVIDIA's headers. */
#include <cublasLt.h>

#include "tests/headers/check.h"

#include "cuda/cublaslt.def"

_Static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "as src/cuda/cuda.h has it");
_Static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == 64 &&
                   offsetof(cublasLtMatmulHeuristicResult_t, state) == 72 &&
                   sizeof(cublasLtMatmulHeuristicResult_t) == 96,
               "as src/cuda/cuda.h has it");
