/* Parameters of the kernels that turn an operand and apply a function to it in one pass. */
#ifndef WICK_KERNELS_TURN_H
#define WICK_KERNELS_TURN_H

#include "op_numbers.h"
#include "params.h"

/* Vectors of 16 bytes that a thread loads of a tile, and those that a tile takes in LDS at most. */
#define GPU_TURN_TASKS 5
#define GPU_TURN_VECTORS (GPU_BLOCK * GPU_TURN_TASKS)
/* A thread makes this many elements of a column at a time, in chunks of neighbours: 16 bytes, but 8 of single bytes. */
#define GPU_TURN_SLOTS 8
#define GPU_TURN_CHUNK(bytes) ((bytes) == 8 ? 2 : (bytes) == 4 ? 4 : 8)

/* The operand's neighbours lie along dim i, those of the result along dim o. A tile is side_i columns, each of side_o
 * elements along o, of side_b matrices. It is read in rows along i, in whole vectors wherever they begin, and written
 * in whole chunks along o. Where columns of the result do not begin at multiples of a chunk, the tile's part of each
 * begins earlier by as much, and the tile has `early` rows more in front. */
struct gpu_turn {
    const void *in, *other; /* the operand that is turned; the other one of two */
    void *out;
    u64 span; /* elements from the first of a matrix of the operand to the one behind its last, in memory */
    i64 below; /* elements of a matrix that lie before (0, 0), where in_o is negative */
    i32 ni, no, nb;
    i32 in_o, in_b;   /* strides in elements; that of i is 1 */
    i32 out_i, out_b; /* that of o is 1 */
    i32 other_i, other_o, other_b;
    u32 side_i, side_o, side_b, early;
    struct gpu_divisor tiles_o, tiles_i, tiles_b; /* in each direction */
    u32 tiles;
    u32 in_at, out_at;       /* where `in` and `out` lie, in elements, modulo 2^32 */
    u32 in_bits, chunk_bits; /* log2: bytes of the operand's elements, elements of a chunk */
    /* A thread reads one vector of each step-th row, of the rows of all matrices. */
    struct gpu_divisor pitch, rows; /* vectors of a row, rows of a matrix */
    u32 step, all_rows;
    /* 32 threads stand by 2^lane_bits along o, the others along i. Such groups stand by 2^group_bits along o, then by
     * 2^column_bits along i, the rest by matrices. All take `lines` positions of o and b, `places` of them of o. */
    u32 lane_bits, group_bits, column_bits, lines;
    struct gpu_divisor places;
    u32 whole_other;             /* chunks of `other` can be read at once where those of the result are written so */
    struct gpu_shape shape;      /* the dims but i, o and b */
    struct gpu_layout layout[3]; /* in, out, other */
};

enum gpu_turn_dtype { GPU_TURN_f32, GPU_TURN_f16, GPU_TURN_bf16 };

/* A function of one tensor. */
struct gpu_unary_turn {
    struct gpu_turn turn;
    u32 op, dtype; /* enum gpu_op, enum gpu_turn_dtype */
    double f[2];
};

/* One of two. */
struct gpu_binary_turn {
    struct gpu_turn turn;
    u32 op, dtype;
    u32 second; /* the operand that is turned is the second */
};

#endif
