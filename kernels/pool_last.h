/* Parameters of pooling of images with channels last, whose results have channels first. */
#ifndef WICK_KERNELS_POOL_LAST_H
#define WICK_KERNELS_POOL_LAST_H

#include "params.h"

/* Results that a thread makes at a time, a vector of channels of each, at most. */
#define GPU_POOL_LAST_EACH 2
/* The most channels of a block. */
#define GPU_POOL_LAST_CHANNELS 512

/* x [images, from..., channels] to out [images, channels, to...], both without gaps; missing leading dims have size 1. Channels
 * are whole vectors. A block makes a tile of `across` threads' channels by the results that its other threads make. */
struct gpu_pool_last {
    const void *in;
    void *out;
    i64 channels;
    i64 channel_tiles, place_tiles;
    i64 divisor; /* of averages; 0: the number of elements */
    i32 from[3], kernel[3], stride[3], padding[3];
    u32 plane, places; /* elements of a channel of an image, and its results, both below 2^31 */
    u32 max, count_padding;
    u32 across, log2_wide;    /* threads side by side, a power of two; of the results of a tile, the same */
    u32 each;                 /* results of a thread: GPU_POOL_LAST_EACH or a lesser power of two */
    struct gpu_divisor by[3]; /* to */
};

#endif
