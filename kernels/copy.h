/* Parameters of the copy kernels. */
#ifndef WICK_KERNELS_COPY_H
#define WICK_KERNELS_COPY_H

#include "params.h"

/* Bytes that a thread of copy_flat moves, elements that one of copy_strided does. */
#define GPU_COPY_FLAT 64
#define GPU_COPY_SLOTS(size) ((size) == 16 ? 4 : 8)
/* Elements of a tile of copy_turn in each direction. */
#define GPU_TURN_SIDE(size) ((size) == 1 ? 128 : (size) == 8 ? 32 : 64)

/* `nbytes` from one place to another, both multiples of 16; or `value` again and again. */
struct gpu_copy_flat {
    const void *in; /* NULL: value */
    void *out;
    i64 nbytes;
    u64 value[2];
};

/* Elements from any layout to any other, in row-major order of the shape, which is narrow. */
struct gpu_copy_strided {
    const void *in; /* NULL: value */
    void *out;
    u64 value[2];
    struct gpu_shape shape;
    struct gpu_layout layout[2]; /* in, out */
};

/* Elements whose neighbours in `in` lie along dim i and those in `out` along dim o; there are ni times no, for each
 * position of `shape`. */
struct gpu_copy_turn {
    const void *in;
    void *out;
    i64 ni, no;
    i64 in_o;                    /* stride of dim o in `in`; that of dim i is 1 */
    i64 out_i;                   /* stride of dim i in `out`; that of dim o is 1 */
    u32 tiles_i, tiles_o, tiles; /* in each direction, in all */
    u32 wide_in, wide_out;       /* 16 bytes at a time: rows begin at multiples of 16 and so they end */
    struct gpu_shape shape;
    struct gpu_layout layout[2];
};

#endif
