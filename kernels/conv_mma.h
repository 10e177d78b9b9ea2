/* Parameters of convolutions by matrix instructions. */
#ifndef WICK_KERNELS_CONV_MMA_H
#define WICK_KERNELS_CONV_MMA_H

#include "params.h"

/* out[batch, position, channel] = in[batch, channel, position], channels filled up with zeros to `pitch`, a multiple of
 * 8, and each dim of the positions with `margin` zeros on both sides. Elements of 16 bits, or of f8e4m3 that become f16. */
struct gpu_conv_pack {
    const void *in;
    void *out;
    i64 batch, in_batch; /* how many, and elements from one to the next in `in` */
    u32 channels, pitch;
    u32 size[3], margin[3];
    u32 channel_step, step; /* elements of `in` from one channel, and from one position of the first dim, to the next */
    u32 out_plane;          /* product of size + 2 margin */
    u32 channel_tiles;      /* of 64; blocks in x are these times runs of 64 positions */
    u32 grid_batch, f8;
};

/* The product of weights, [groups, cout, k], and windows, where k = taps pitch runs over taps and channels, channels
 * faster. Row q of the windows starts at its result's place in `x`, which gpu_conv_pack wrote, and the tap's step away. */
struct gpu_conv_mma {
    const void *x;      /* [n, groups, in + 2 margin..., pitch] */
    const void *weight; /* [groups, cout, taps, pitch] */
    const void *bias;   /* [groups cout], NULL: none */
    void *out;          /* [n, groups cout, out...] */
    u32 cout, pitch, k; /* of a group */
    u32 groups, channel_tiles, images;
    u32 out_size[3], out_plane;
    u32 taps_h, taps_w;     /* taps of the last two dims */
    i64 tap_step[3];        /* elements from one tap to the next, by dim */
    i64 result_step[3];     /* elements from one result to the next, by dim */
    i64 image, group;       /* elements of all groups, and of one, in x */
    u32 relu, f8;           /* f8: the result is f8e4m3 */
    u32 stages;             /* where copies are asynchronous: steps that LDS holds, all or at least 2 */
    struct gpu_divisor by_plane, by_h, by_w; /* out_plane, out_size[1], out_size[2] */
};

/* LDS of a step of k, where copies are asynchronous. */
enum { GPU_CONV_MMA_STEP = 64, GPU_CONV_MMA_COLUMNS = 128 };
#define GPU_CONV_MMA_STAGE(rows) (((rows) + GPU_CONV_MMA_COLUMNS) * GPU_CONV_MMA_STEP * 2)

#endif
