/* How the tiles of an elementwise kernel are found in its operands. Plain C: the host fills it. */
#ifndef WICK_KERNELS_WALK_H
#define WICK_KERNELS_WALK_H

#include "params.h"

enum gpu_walk_mode {
    GPU_WALK_FLAT,    /* each operand is contiguous or one element; 16-byte aligned. The last tile may be cut */
    GPU_WALK_ROWS,    /* rows of chunks: shape and strides are those of chunks, in elements */
    GPU_WALK_STEPS,   /* flat, but for operands whose bit of `steps` is set; up to three dims */
    GPU_WALK_ELEMENTS /* any layout, by elements */
};

/* How the elements of up to 3 operands are found. The host cuts work so that `shape` is always narrow. */
struct gpu_walk {
    const void *in[3];
    void *out;
    u32 mode;
    u32 splat;              /* bit k: operand k is the same all along the last dim (along all, when flat) */
    u32 steps;              /* bit k: operand k is read by elements, of which neighbours follow each other */
    i64 count;              /* elements */
    i64 tiles;              /* of GPU_BLOCK * S elements */
    struct gpu_shape shape; /* unused when flat */
    struct gpu_layout layout[3];
};

/* Elements that a thread of a kernel for light ops takes at a time, by the bytes of its widest operand. */
#define GPU_CHUNK(bytes) ((bytes) >= 8 ? 2 : 16 / (int)(bytes))
#define GPU_SLOTS(bytes) ((bytes) >= 8 ? 4 : (bytes) == 4 ? 8 : 16)
/* The same with two operands or more. */
#define GPU_SLOTS_OF_MANY(bytes) ((bytes) >= 8 ? 4 : (bytes) >= 2 ? 8 : 16)
/* Of the kernels `math`, and of `binary_math`, which take one chunk. */
#define GPU_SLOTS_OF_MATH(bytes) ((bytes) >= 8 ? 2 : (bytes) == 4 ? 4 : (bytes) == 2 ? 8 : 32)

#endif
