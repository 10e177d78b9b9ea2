/* Parameters of convolutions of few channels a group, of two or three dims, by patches of planes. */
#ifndef WICK_KERNELS_CONV_FEW_H
#define WICK_KERNELS_CONV_FEW_H

#include "conv_depth.h"

struct gpu_conv_few {
    struct gpu_conv_depth flat; /* its planes are [n, groups, runs of channels, depth]; by_cout: such runs of a group */
    u32 cin, cout;              /* of a group */
    u32 transposed;
    i32 in_depth, taps;                   /* planes of a channel of the input, and of a window */
    i32 stride, padding, dilation;        /* from plane to plane */
    u32 weight_m, weight_c, weight_group; /* from one channel of the result, of the input, and group to the next */
    i64 in_volume;                        /* elements of a channel of the input */
    struct gpu_divisor by_depth;          /* planes of a channel of the result */
};

#endif
