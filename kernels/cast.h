/* Parameters of the cast kernels. */
#ifndef WICK_KERNELS_CAST_H
#define WICK_KERNELS_CAST_H

#include "turn.h"
#include "walk.h"

/* X(name): the dtypes that are cast, numbered as enum wick_dtype. */
#define GPU_DTYPES(X)                                                                                                  \
    X(u8) X(u32) X(i16) X(i32) X(i64) X(bf16) X(f16) X(f32) X(f64) X(f8e4m3) X(i8) X(u16) X(u64) X(bool) X(f8e5m2)
enum gpu_dtype {
#define GPU_DTYPE(name) GPU_DTYPE_##name,
    GPU_DTYPES(GPU_DTYPE)
#undef GPU_DTYPE
};

/* Elements of a chunk by the bytes of the wider dtype, of which they are 16 bytes, and of a thread. A longer chunk would
 * move by two loads or stores beside each other, of which each uses half of the segments that it touches. */
#define GPU_CAST_CHUNK(bytes) ((bytes) >= 8 ? 2 : (bytes) == 4 ? 4 : 8)
#define GPU_CAST_SLOTS 8

/* cast_TYPE_CHUNK: from any dtype through TYPE, which holds its values, to any. cast_round_TYPE, cast_widen_TYPE: from
 * and to f32, flat, by chunks of 4 and threads of GPU_CAST_STRAIGHT_SLOTS. */
#define GPU_CAST_STRAIGHT_SLOTS 16
struct gpu_cast {
    struct gpu_walk walk;
    u32 from, to;
    u32 sticky;  /* from integers of 64 bits to narrow floats, through f64 */
    u32 numbers; /* not from an operand, but start + i step through f64, or first + i by through i64 */
    double start, step;
    i64 first, by;
};

/* cast_turn: between dtypes of up to 4 bytes, through f32, which holds every value of one of them. */
struct gpu_cast_turn {
    struct gpu_turn turn;
    u32 from, to;
};

#endif
