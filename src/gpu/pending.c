/* Families whose op code has not landed yet. This file goes when the last one has. */
#include "gpu/gpu.h"

#define WICK__FAMILY(name, layouts)                                                                                    \
    __attribute__((weak)) wick__kernel_fn wick__gpu_##name;                                                            \
    enum wick_status wick__gpu_##name(const struct wick__call *call) {                                                 \
        return wick__fail(WICK_UNSUPPORTED, "%s: no kernel yet", wick_op_name(call->op));                              \
    }
#include "gpu/families.def"
