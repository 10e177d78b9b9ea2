/* The table of the scalar instructions. */
#include "scalar.h"

enum { PRE11 = SIM_GFX9 | SIM_GFX1030, PRE12 = PRE11 | SIM_GFX1100 };

#define UNPACK(...) __VA_ARGS__
#define ROW(name, targets, class, dst, src, run)                                                                       \
    {#name, targets, SIM_CLASS_##class, {UNPACK dst}, {UNPACK src}, sim_scalar_##run, NULL},

const struct sim_op sim_scalar_ops[] = {
#include "scalar.def"
    {0},
};
