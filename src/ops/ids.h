/* What ops over ids share. */
#ifndef WICK_OPS_IDS_H
#define WICK_OPS_IDS_H

#include "ops/dispatch.h"

/* The value of a dtype of ids that means none. */
static inline int64_t wick__ids_none(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_u8: return UINT8_MAX;
    case WICK_DTYPE_u32: return UINT32_MAX;
    case WICK_DTYPE_i16: return INT16_MAX;
    case WICK_DTYPE_i32: return INT32_MAX;
    default: return INT64_MAX;
    }
}

#endif
