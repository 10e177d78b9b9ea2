/* The tables of kernels and of modules. */
#include "gpu/code/kernels.h"

const struct wick__gpu_entry wick__gpu_entries[WICK__GPU_KERNELS] = {
#define GPU_ENTRY(module_, name_) [WICK__GPU_K_##name_] = {.name = #name_, .module = WICK__GPU_M_##module_},
#include "kernels/kernels.def"
#undef GPU_ENTRY
};

const char *const wick__gpu_module_names[WICK__GPU_MODULES] = {
#define GPU_MODULE(name) [WICK__GPU_M_##name] = #name,
#include "kernels/modules.def"
#undef GPU_MODULE
};
