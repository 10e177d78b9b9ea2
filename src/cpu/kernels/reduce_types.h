/* reduce_body.h for every element type, and the choice between them. KINDS, INT_KINDS and FLOAT_KINDS say which
 * kinds are made. */
#ifndef WICK_CPU_KERNELS_REDUCE_TYPES_H
#define WICK_CPU_KERNELS_REDUCE_TYPES_H

#include "cpu/kernels/extremes.h"
#include "cpu/kernels/reduce_kinds.h"

#include <wick/dtype.h>

#define SUFFIX u8
#define T uint8_t
#define ACC int64_t
#define FLOAT 0
#include "cpu/kernels/reduce_body.h"
#define SUFFIX u32
#define T uint32_t
#define ACC int64_t
#define FLOAT 0
#include "cpu/kernels/reduce_body.h"
#define SUFFIX i16
#define T int16_t
#define ACC int64_t
#define FLOAT 0
#include "cpu/kernels/reduce_body.h"
#define SUFFIX i32
#define T int32_t
#define ACC int64_t
#define FLOAT 0
#include "cpu/kernels/reduce_body.h"
#define SUFFIX i64
#define T int64_t
#define ACC int64_t
#define FLOAT 0
#include "cpu/kernels/reduce_body.h"
#define SUFFIX f32
#define T float
#define ACC double
#define FLOAT 1
#include "cpu/kernels/reduce_body.h"
#define SUFFIX f64
#define T double
#define ACC double
#define FLOAT 1
#include "cpu/kernels/reduce_body.h"

/* An accumulator: .f for floats, .i for integers. */
union cell {
    double f;
    int64_t i;
};

/* A run of n elements side by side; small floats come as f32. */
static union cell fold_any(enum wick_dtype dtype, enum kind kind, const void *x, int64_t n, double center, double p) {
    switch (dtype) {
    case WICK_U8: return (union cell){.i = fold_u8(kind, x, n, 0, p)};
    case WICK_U32: return (union cell){.i = fold_u32(kind, x, n, 0, p)};
    case WICK_I16: return (union cell){.i = fold_i16(kind, x, n, 0, p)};
    case WICK_I32: return (union cell){.i = fold_i32(kind, x, n, 0, p)};
    case WICK_I64: return (union cell){.i = fold_i64(kind, x, n, 0, p)};
    case WICK_F64: return (union cell){.f = fold_f64(kind, x, n, center, p)};
    default: break;
    }
    if (kind == MIN) return (union cell){.f = wick__row_extreme(x, n, true)};
    if (kind == MAX) return (union cell){.f = wick__row_extreme(x, n, false)};
    return (union cell){.f = fold_f32(kind, x, n, center, p)};
}

#endif
