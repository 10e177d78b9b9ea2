/* Parameters of the convolution kernels.
 *
 * A convolution and a transposed one are the same sum seen from the result: the result's elements q of one phase meet
 * taps j = 0 .. taps-1, and read the input at q in_mul + in_first + j in_step. A convolution has one phase, with in_mul
 * its stride. A transposed one has stride[0] stride[1] stride[2] phases: elements r, r + stride, r + 2 stride, ... of the
 * result meet the same taps, every tap_step-th of the kernel. */
#ifndef WICK_KERNELS_CONV_H
#define WICK_KERNELS_CONV_H

#include "params.h"

/* One of three spatial dims; those that are missing have size 1. */
struct gpu_conv_dim {
    i32 in, out, kernel;
    i32 stride, padding, dilation;
    i32 phases;   /* 1, or the stride of a transposed convolution */
    i32 tap_step; /* from a tap of a phase to the next: 1; transposed: stride / gcd(stride, dilation) */
    i32 in_step;  /* and that in the input: dilation; transposed: -dilation / gcd(stride, dilation) */
};

enum { GPU_CONV_ROWS = 4 }; /* results of a thread of conv_direct */

struct gpu_conv {
    const void *x;      /* [n, groups cin, in...]; conv_gather: [n, groups cout, kernel..., in...], f32, f64 */
    const void *weight; /* convolution: [groups cout, cin, kernel...]; transposed: [groups cin, cout, kernel...] */
    const void *bias;   /* [groups cout], NULL: none */
    void *out;          /* [n, groups cout, out...] */
    i64 n, groups, cin, cout;
    i64 in_plane, out_plane; /* products of the dims */
    i64 weight_m, weight_c, weight_group; /* strides of the weight along cout, cin and groups */
    u32 transposed, relu;
    u32 planes, grid_planes; /* images times channels; conv_gather: how many of them the grid has in y */
    u32 row_runs;            /* conv_direct: runs of GPU_CONV_ROWS rows of a phase, of all phases */
    struct gpu_conv_dim dim[3];
};

/* Windows of one element of few channels. */
enum {
    GPU_CONV_POINT_TERMS = 24,
    GPU_CONV_POINT_CHANNELS = 16 /* of the result that a thread makes */
};

struct gpu_conv_points {
    struct gpu_conv conv;
    u32 channel_tiles;       /* of a group */
    u32 results;             /* runs of neighbours of a plane, of all images */
    struct gpu_divisor runs; /* those of one plane */
};

/* A transposed convolution by windows of one element from the products of all elements, to which bias and relu belong
 * already: those lie a stride apart in the result, and between them are results of the bias alone. */
struct gpu_conv_apart {
    const void *products; /* [planes, in...] */
    const void *bias;     /* [channels], NULL: none */
    void *out;            /* [planes, out...] */
    u32 count;            /* of out */
    u32 relu;
    u32 in[3], padding[3];
    struct gpu_divisor out_size[3], stride[3], channels;
};

/* Convolutions of one channel a group, over one or two dims, by tiles of planes. */
enum {
    GPU_CONV_TILE = 1024,        /* results of a block, of a phase */
    GPU_CONV_TILE_BYTES = 12288, /* LDS for what their windows cover, as numbers that are multiplied */
    GPU_CONV_TILE_TAPS = 512,    /* of all planes of a block */
    GPU_CONV_TILE_PHASES = 8     /* of a dim */
};

struct gpu_conv_planes {
    struct gpu_conv conv;
    u32 planes;           /* of a block, each with a tile: a power of 2 */
    u32 rows, columns;    /* results of a tile, of a phase */
    u32 down, across;     /* tiles of a plane */
    u32 height, width;    /* what the windows of a tile cover, of all phases */
    i32 top, left;        /* where that begins in the input, for the first tile */
    struct gpu_divisor by_columns, by_width;
};

#endif
