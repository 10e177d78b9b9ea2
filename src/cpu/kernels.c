/* The CPU family's kernel table: for each op the function of its family, which calls the copy of the kernel that was
 * compiled for the instruction set in use, and what it takes. */
#include "cpu/kernels.h"

#include "cpu/isa.h"

#define WICK__FAMILY(name, layouts_)                                                                                   \
    wick__kernel_fn wick__cpu_##name##_baseline, wick__cpu_##name##_avx2, wick__cpu_##name##_avx512;                   \
    enum { name##_layouts = layouts_ };                                                                                \
    static enum wick_status run_##name(const struct wick__call *call) {                                                \
        static wick__kernel_fn *const copies[WICK__ISA_COUNT] = {wick__cpu_##name##_baseline, wick__cpu_##name##_avx2, \
                                                                 wick__cpu_##name##_avx512};                           \
        return copies[wick__isa()](call);                                                                              \
    }
#include "cpu/families.def"
#undef WICK__FAMILY

/* Ops without a kernel of their own. */
#define run_view NULL
#define run_composed NULL
#define run_composed_shape NULL
#define run_composed_linalg NULL
enum {
    view_layouts = WICK__STRIDED,
    composed_layouts = WICK__STRIDED,
    composed_shape_layouts = WICK__STRIDED,
    composed_linalg_layouts = WICK__STRIDED
};
#define run_composed_conv NULL
enum { composed_conv_layouts = WICK__STRIDED };

const struct wick__kernel wick__cpu_kernels[WICK_OP_COUNT] = {
#define WICK__OP(name, family, dtypes_, ulp, formula)                                                                  \
    [WICK_OP_##name] = {.run = run_##family, .dtypes = (dtypes_), .layouts = (enum wick__layouts)family##_layouts},
#include <wick/ops.def>
#undef WICK__OP
};
