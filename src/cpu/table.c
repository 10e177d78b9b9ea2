/* The CPU family's kernel table: for each op the function of its family, which calls the copy of the kernel that was
 * compiled for the instruction set in use, and what it takes. */
#include "cpu/table.h"

#include "cpu/runtime/isa.h"

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

const struct wick__kernel wick__cpu_kernels[WICK_OP_COUNT] = {
#define WICK__OP(number, name, family, ...)                                                                            \
    [number] = {.run = run_##family, .layouts = (enum wick__layouts)family##_layouts},
#define WICK__COMPOSED(number, ...) [number] = {.run = NULL},
#include <wick/ops.def>
#undef WICK__OP
};
