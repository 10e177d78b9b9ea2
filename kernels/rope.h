/* Parameters of rotary position embedding. */
#ifndef WICK_KERNELS_ROPE_H
#define WICK_KERNELS_ROPE_H

#include "params.h"

/* Pairs (a, b) become (a cos - b sin, a sin + b cos). Item i of `shape` stands at layout[0] in x, [1] in out, [2] and [3]
 * in the tables, and has one pair, or with `vectors` those of 16 bytes: b's are `apart` behind a's, or, interleaved, each
 * behind its a. */
struct gpu_rope {
    const void *x, *cosine, *sine;
    void *out;
    i64 apart;
    u32 interleaved;
    u32 vectors;
    struct gpu_shape shape;
    struct gpu_layout layout[4];
};

#endif
