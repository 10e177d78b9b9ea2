/* The table of ops, from ops.def and families.def, which both vendors share. */
#include "gpu/ops/table.h"

#define WICK__FAMILY(name, layouts_)                                                                                   \
    wick__kernel_fn wick__gpu_##name;                                                                                  \
    enum { name##_layouts = layouts_ };
#include "gpu/ops/families.def"
#undef WICK__FAMILY

const struct wick__kernel wick__gpu_kernels[WICK_OP_COUNT] = {
#define WICK__OP(number, name, family, ...)                                                                            \
    [number] = {.run = wick__gpu_##family, .layouts = (enum wick__layouts)family##_layouts},
#define WICK__COMPOSED(number, ...) [number] = {.run = NULL},
#define WICK__PARTLY(number, name, family, ...) WICK__OP(number, name, family, __VA_ARGS__)
#include <wick/ops.def>
#undef WICK__OP
};
