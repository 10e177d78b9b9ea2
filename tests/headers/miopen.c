/* src/rocm/miopen.def and the struct of src/rocm/rocm.h against MIOpen's headers. */
#define __HIP_PLATFORM_AMD__ 1
typedef struct miopenTensorArgument_t miopenTensorArgument_t; /* C++ would declare it */
#include <miopen/miopen.h>

#include <stddef.h>

#include "tests/headers/check.h"

#include "rocm/miopen.def"

_Static_assert(offsetof(miopenConvSolution_t, time) == 0 && offsetof(miopenConvSolution_t, workspace_size) == 8 &&
                   offsetof(miopenConvSolution_t, solution_id) == 16 &&
                   offsetof(miopenConvSolution_t, algorithm) == 24 && sizeof(miopenConvSolution_t) == 32,
               "as src/rocm/rocm.h has it");
