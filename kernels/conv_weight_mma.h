/* Parameters of gradients of convolutions by their weights by matrix instructions. The sides are those of conv_weight.h. */
#ifndef WICK_KERNELS_CONV_WEIGHT_MMA_H
#define WICK_KERNELS_CONV_WEIGHT_MMA_H

#include "params.h"

/* The product of `rows` with `across` columns over terms, which are positions of the small side and images. Columns run
 * over taps and channels, channels faster. Both sides have been written with channels innermost (gpu_conv_pack), filled up
 * to a multiple of 8; the large side without what no window reads. Offsets count runs of eight elements. */
struct gpu_conv_weight_mma {
    const void *small; /* [n, groups, small..., small_pitch] */
    const void *large; /* [n, groups, positions..., large_pitch] */
    void *sums;        /* [parts, groups, rows, across], f32 */
    u32 groups, rows, across;
    u32 row_tiles, column_tiles; /* of a group */
    u32 terms, part;             /* how many, and those of a part */
    u32 small_pitch, large_pitch;
    u32 small_size[3], small_plane; /* their product */
    u32 small_group, large_group;   /* from one group to the next */
    u32 taps_h, taps_w;             /* taps of the last two dims */
    u32 tap_step[3];                /* of the large side from one tap to the next, by dim */
    u32 window_step[3];             /* from one window to the next */
    u32 stages;                     /* where copies are asynchronous: steps that LDS holds, all or at least 2 */
    struct gpu_divisor by_plane, by_h, by_w; /* small_plane, small_size[1], small_size[2] */
};

/* The sums of the parts, as [groups rows, channels, taps]. `merged` groups of `rows` each were multiplied as one, of whose
 * channels a row takes its own group's. */
struct gpu_conv_weight_finish {
    const void *sums;
    void *out;
    i64 count;             /* of the sums of a part */
    u32 run, channel_runs; /* channels of a block, and how many such runs a row has */
    u32 parts, across, pitch, channels, taps;
    u32 rows, merged;
    u32 f8; /* out is f8e4m3 */
};

enum {
    GPU_CONV_WEIGHT_TURNED = 2048, /* sums that a block of the last pass turns round */
    GPU_CONV_WEIGHT_MANY = 8       /* parts that keep a thread's loads in flight by themselves */
};
enum { GPU_CONV_WEIGHT_STEP = 64, GPU_CONV_WEIGHT_COLUMNS = 128 };
#define GPU_CONV_WEIGHT_STAGE(rows) (((rows) + GPU_CONV_WEIGHT_COLUMNS) * GPU_CONV_WEIGHT_STEP * 2)

#endif
