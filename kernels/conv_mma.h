/* Parameters of convolutions by matrix instructions. */
#ifndef WICK_KERNELS_CONV_MMA_H
#define WICK_KERNELS_CONV_MMA_H

#include "params.h"

/* out[batch, position, channel] = in[batch, channel, position], channels filled up with zeros to `pitch`, a multiple of
 * 8. Position o of a dim is position o + first of `in`, or zeros where there is none. Elements of 16 bits, or of f8e4m3
 * that become f16. */
struct gpu_conv_pack {
    const void *in;
    void *out;
    i64 batch, in_batch; /* how many, and elements from one to the next in `in` */
    u32 channels, pitch;
    u32 size[3], out_size[3];
    i32 first[3];
    u32 channel_step, step; /* elements of `in` from one channel, and from one position of the first dim, to the next */
    u32 out_plane;          /* product of out_size */
    u32 channel_tiles;      /* of 64; blocks in x are these times runs of 64 positions */
    u32 runs;               /* of conv_pack_fours: of the input; behind them come those of 256 that write the margins */
    u32 grid_batch, f8;
    u32 *odd;  /* NULL, or becomes 1 where `in` has an infinity or a NaN, whose bits include `mask` */
    u32 mask;
};

/* The same of images whose channels lie last and are whole pieces of 16 bytes. */
struct gpu_conv_pack_last {
    const void *in;
    void *out;
    u32 batch, in_batch, count; /* images; pieces of one in `in` and in `out` */
    u32 grid_batch;
    i32 first[3];
    u32 size[3];                                  /* of `in` */
    struct gpu_divisor by_pieces, by_out_size[3]; /* pieces of a position; the first dim's is unused */
};

/* One dim's phases: results that meet the same taps. A convolution has one; of a transposed one every stride-th result is
 * of a phase, and in it the results are those of a convolution of stride 1. */
enum { GPU_CONV_PHASES = 8 };
struct gpu_conv_phases {
    u32 phases;
    u32 taps[GPU_CONV_PHASES], results[GPU_CONV_PHASES];
    u32 first[GPU_CONV_PHASES]; /* where in the packed input the first result meets its first tap */
};

/* Weights of a transposed convolution, [groups, cin, cout, taps], become [phases, groups, cout, k], where k has room for
 * the most taps of a phase by channels, channels faster. The positions of `pack` are those of [cout, taps]. */
struct gpu_conv_pack_weights {
    struct gpu_conv_pack pack;
    u32 groups, cout, k;
    u32 kernel[3], stride[3], padding[3], dilation[3];
    u32 tap_step[3]; /* from a tap of a phase to the next */
    struct gpu_conv_phases dim[3];
};

/* Weights of groups of few channels, [rows, taps, pitch], become those of fewer groups, [rows, taps, merged, pitch]: 0
 * where channels are of another of the groups that one is made of. Runs of eight elements are counted. */
struct gpu_conv_pack_merged {
    const void *from;
    void *to;
    u32 *odd; /* becomes 0 */
    u32 count, merged, cout, taps, pitch; /* cout: rows of a group; pitch: runs */
};

/* The product of weights, [phases, groups, cout, k], and windows, where k runs over taps and channels, channels faster.
 * Row q of the windows starts at its result's place in `x`, which gpu_conv_pack wrote, and the tap's step away. */
struct gpu_conv_mma {
    const void *x;      /* [n, groups, positions..., pitch] */
    const void *weight; /* [phases, groups, cout, taps, pitch] */
    const void *bias;   /* [groups cout], NULL: none */
    void *out;          /* [n, groups cout, out...] */
    u32 cout, pitch;    /* of a group */
    u32 k;              /* from one row of weights to the next */
    u32 groups, phases, channel_tiles, images;
    u32 results[3], plane; /* of the largest phase, and their product */
    u32 tap_step[3];       /* of x from one tap to the next, by dim; of x, runs of eight elements are counted, f32 singly */
    u32 step[3];           /* from one position to the next */
    u32 result_step[3];    /* from one result to the next */
    i64 out_step[3];       /* elements of out from one result of a phase to the next */
    i64 out_next[3];       /* from one phase to the next */
    u32 image, group;      /* of all groups, and of one, in x */
    i64 out_plane;         /* of a channel of out */
    u32 relu, f8;          /* f8: the result is f8e4m3 */
    u32 fours;             /* whether four results lie together, from every fourth on, for one store */
    u32 stages;            /* where copies are asynchronous: steps that LDS holds, all or at least 2 */
    u32 part;              /* of k, whole steps: blocks in y are parts, and sums of a part are [count] as results lie in out */
    i64 count;
    void *sums;            /* [parts, count], f32; NULL: one part, whose sums are the results */
    const u32 *odd;        /* NULL, or there is nothing to do unless it is 0; conv_mma_again: if it is 0 */
    struct gpu_divisor by_plane, by_h, by_w; /* plane, results[1], results[2] */
    struct gpu_conv_phases dim[3];
};

/* The sums of the parts, in order, as results. */
struct gpu_conv_mma_finish {
    const void *sums;
    const void *bias; /* [channels], NULL: none */
    void *out;
    const u32 *odd; /* NULL, or there is nothing to do unless it is 0 */
    u32 count, parts, channels;
    u32 relu, f8;
    struct gpu_divisor by_plane; /* of a channel of out */
};

enum { GPU_CONV_PACK_EACH = 4 }; /* pieces of a thread of conv_pack_last */

/* LDS of a step of k, where copies are asynchronous. */
enum { GPU_CONV_MMA_STEP = 64, GPU_CONV_MMA_COLUMNS = 128 };
#define GPU_CONV_MMA_STAGE(rows) (((rows) + GPU_CONV_MMA_COLUMNS) * GPU_CONV_MMA_STEP * 2)

#endif
