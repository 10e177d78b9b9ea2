/* Parameters of grid_sample and its gradients. */
#ifndef WICK_KERNELS_GRID_SAMPLE_H
#define WICK_KERNELS_GRID_SAMPLE_H

#include "params.h"

/* Channels of a thread. */
#define GPU_GRID_CHANNELS 4

enum gpu_grid_mode { GPU_GRID_BILINEAR, GPU_GRID_NEAREST, GPU_GRID_BICUBIC };
enum gpu_grid_padding { GPU_GRID_ZEROS, GPU_GRID_BORDER, GPU_GRID_REFLECTION };

/* x [images, channels, size...], grid [images, points, dims], gradient [images, channels, points], all contiguous;
 * missing leading dims of x have one element. */
struct gpu_grid {
    const void *x, *grid, *gradient;
    void *out;
    i64 count; /* of threads' worth of work */
    i64 channels, points, plane;
    i64 chunks; /* of GPU_GRID_CHANNELS channels */
    i64 size[3];
    u32 dims, mode, padding, corners;
    u32 taps;         /* elements of x that a point takes */
    u32 *keys;        /* [images, points taps]: the position that a tap takes, `plane` for none */
    const u32 *order; /* of sorted keys: their places in the line */
};

#endif
