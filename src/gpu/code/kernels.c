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

/* Ops without a kernel of their own. */
#define wick__gpu_view NULL
#define wick__gpu_composed NULL
#define wick__gpu_composed_shape NULL
#define wick__gpu_composed_linalg NULL
#define wick__gpu_composed_conv NULL
enum {
    view_layouts = WICK__STRIDED,
    composed_layouts = WICK__STRIDED,
    composed_shape_layouts = WICK__STRIDED,
    composed_linalg_layouts = WICK__STRIDED,
    composed_conv_layouts = WICK__STRIDED
};

const struct wick__kernel wick__gpu_kernels[WICK_OP_COUNT] = {
#define WICK__OP(name, family, dtypes_, ulp, formula)                                                                  \
    [WICK_OP_##                                                                                                        \
        name] = {.run = wick__gpu_##family, .dtypes = (dtypes_), .layouts = (enum wick__layouts)family##_layouts},
#include <wick/ops.def>
#undef WICK__OP
};
