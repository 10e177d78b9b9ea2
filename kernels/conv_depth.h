/* Parameters of convolutions of planes: one channel of the input a group, windows of K x K elements. A thread makes a patch
 * of 4 x 4 results, which lie `dilation` apart, from what their windows cover. */
#ifndef WICK_KERNELS_CONV_DEPTH_H
#define WICK_KERNELS_CONV_DEPTH_H

#include "params.h"

enum {
    GPU_CONV_PATCH = 4,  /* rows of a patch, and columns */
    GPU_CONV_NEAR = 4096 /* elements that a block keeps in LDS */
};

/* Rows come first in each pair. */
struct gpu_conv_depth {
    const void *x;      /* [planes / cout, in_size...] */
    const void *weight; /* [channels, K, K] */
    const void *bias;   /* [channels], NULL: none */
    void *out;          /* [planes, out_size...] */
    u32 patches;        /* of all planes */
    u32 planes, near;   /* all of them, and those of a block of conv_near: together they begin at multiples of 16 bytes */
    u32 relu, turned;   /* turned: the last tap comes first */
    u32 wide, wide_out; /* elements that a load and a store move: 4, 2 or 1 */
    i32 in_size[2], out_size[2];
    i32 padding[2];
    struct gpu_divisor by_plane, by_line;    /* patches of a plane, and of a line of them */
    struct gpu_divisor by_channels, by_cout; /* planes of an image, and of one of x */
    struct gpu_divisor dilation[2];
};

/* The gradient by the weight. `small` has what is multiplied with elements of windows in `large`; a patch has 4 rows of it and
 * `columns` columns, which are all there. A tap along the depth, of which planes have one, meets planes with planes. */
struct gpu_conv_depth_weight {
    const void *small; /* [n, groups rows, small_depth, small_size...] */
    const void *large; /* [n, groups, large_depth, large_size...] */
    void *out;         /* [groups rows, depth taps, K, K] */
    void *sums;        /* [parts, groups rows, depth taps, K, K], f32, where parts > 1 */
    i64 count;         /* of out */
    u32 channels;      /* groups rows */
    u32 patches;       /* of a channel, in all planes of all images */
    u32 part, parts;   /* patches of a part */
    u32 columns;       /* of a patch, and elements that a load moves: 4, 2 or 1 */
    i32 small_size[2], large_size[2];
    i32 padding[2];
    i32 large_depth, depth_stride, depth_padding, depth_dilation;
    struct gpu_divisor by_plane, by_line;
    struct gpu_divisor by_rows;                /* channels of a group */
    struct gpu_divisor small_depth, by_taps;   /* the latter: of the depth */
    struct gpu_divisor dilation[2];
};

#endif
