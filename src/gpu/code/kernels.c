/* The tables of kernels and of ops. */
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

#define WICK__FAMILY(name, layouts_)                                                                                   \
    wick__kernel_fn wick__gpu_##name;                                                                                  \
    enum { name##_layouts = layouts_ };
#include "gpu/families.def"
#undef WICK__FAMILY

const struct wick__kernel wick__gpu_kernels[WICK_OP_COUNT] = {
#define WICK__OP(number, name, family, ...)                                                                            \
    [number] = {.run = wick__gpu_##family, .layouts = (enum wick__layouts)family##_layouts},
#define WICK__COMPOSED(number, ...) [number] = {.run = NULL},
#include <wick/ops.def>
#undef WICK__OP
};
