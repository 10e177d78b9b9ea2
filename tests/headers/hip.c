/* src/rocm/hip.def and hiprtc.def against AMD's headers, HIP 5 or later. */
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1 /* what HIP 5.2 still asks for */
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <stddef.h>

#include "tests/headers/check.h"

/* Each generation of headers has its own struct under the plain name. */
#if HIP_VERSION_MAJOR >= 6
#include <hip/hip_deprecated.h>
#define HERE_R0600(field, offset) _Static_assert(offsetof(hipDeviceProp_t, field) == (offset), #field);
#define HERE_R0000(field, offset) _Static_assert(offsetof(hipDeviceProp_tR0000, field) == (offset), #field);
#else
#define HERE_R0600(field, offset)
#define HERE_R0000(field, offset) _Static_assert(offsetof(hipDeviceProp_t, field) == (offset), #field);
#endif
#define WICK__OFFSET(generation, field, offset) HERE_##generation(field, offset)
_Static_assert(sizeof(hipDeviceProp_t) <= 8192, "room for the properties");
_Static_assert(sizeof(((hipDeviceProp_t *)0)->gcnArchName) == 256, "length of gcnArchName");

/* Headers of HIP 5.2 lack it; where a later one has it, both have to agree. */
#if HIP_VERSION_MAJOR < 6
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                            hipStream_t stream, void **args);
#endif

#include "rocm/hip.def"

#include "tests/headers/check.h"

#include "rocm/hiprtc.def"
