/* The formulas of scales.def: double verify_scale_NAME(...). */
#ifndef WICK_VERIFY_SCALES_H
#define WICK_VERIFY_SCALES_H

#include <math.h>
#include <stdbool.h>

#define SCALE(name, parameters, formula, ops, where)                                                                   \
    static inline double verify_scale_##name parameters { return formula; }
#include "verify/scales.def"
#undef SCALE

#endif
