/* Convolutions as products on shifted images: what conv.c, conv_plan.c and conv_body.h share.
 *
 * A result channel is a sum over input channels and taps (kernel elements) of a weight times an image. Laid out with
 * the width of a row as step, the image that belongs to a tap is the input itself, begun a fixed number of elements
 * further on: with rows of WIDTH elements in memory,
 *
 *     result[p] = sum over k = (channel, tap) of weight[k] * image[offset[k] + p]         p = row * WIDTH + column
 *
 * so that no matrix of windows is ever made: vectors of consecutive p are loaded from where they lie. The image is a
 * copy of the input with its margin of zeros, for one band of p at a time, small enough for the second level cache,
 * and serves all result channels. WIDTH is the result's row plus what the taps reach beyond it; the p in that rest are
 * computed and dropped. A stride s splits the image into one for each residue mod s of the positions that taps need
 * (at most s x s), each of which the taps walk over with step 1. Dilation only changes offsets.
 *
 * A transposed convolution of stride s is one such product for each residue mod s of the result's positions, with the
 * taps that reach it: a pass. Where rows are so short, or taps so far apart, that most p would be dropped, each tap
 * gets an image of its own (`gather`), which is the classic matrix of windows, a band at a time.
 *
 * Where taps reach nothing beyond a position's own elements, as with 1 x 1 kernels and with gather, the planes of a
 * batch's items follow each other without gaps, so that small ones fill tiles together. */
#ifndef WICK_CPU_KERNELS_CONV_PLAN_H
#define WICK_CPU_KERNELS_CONV_PLAN_H

#include "core/convert.h"
#include "cpu/runtime/isa.h"
#include "cpu/runtime/parallel.h"
#include "cpu/runtime/pool.h"

#include "core/checked.h"
#include "core/memory.h"
#include "backend.h"

/* Elements of a vector of 4-byte elements; the tile of sums that one pass over the terms makes, ROWS result channels by
 * COLUMNS vectors; and the most terms of which the vectors for a tile fit half of a first level cache, 0 where the
 * second level has enough for both. */
#if WICK_ISA_LEVEL >= 2
enum { WICK__CONV_LANES = 16, WICK__CONV_ROWS = 8, WICK__CONV_COLUMNS = 3, WICK__CONV_FEW = 0 };
#elif WICK_ISA_LEVEL == 1
enum { WICK__CONV_LANES = 8, WICK__CONV_ROWS = 6, WICK__CONV_COLUMNS = 2, WICK__CONV_FEW = 256 };
#else
enum { WICK__CONV_LANES = 4, WICK__CONV_ROWS = 6, WICK__CONV_COLUMNS = 2, WICK__CONV_FEW = 512 };
#endif
/* With few terms, weights whose rows are gone through for each few positions: they share a second level cache of 512
 * KiB with a band. */
enum { WICK__CONV_WEIGHTS = 48 << 10 };

/* One kernel element along one dim: it meets input element (o + shift) step + residue at grid point o. */
struct conv_tap {
    int64_t kernel; /* its index in the weight */
    int64_t shift, residue;
    int64_t phase; /* the number of its residue among those that occur */
};

struct conv_dim {
    int64_t in, out;      /* sizes of the input and of the pass's grid of results */
    int64_t step;         /* input elements for a step on the grid */
    int64_t first, pitch; /* grid point o is result element first + o pitch */
    int64_t full;         /* the size of the result */
    int64_t low, span;    /* the least shift, and how far the largest lies beyond it */
    int64_t taps, phases;
    struct conv_tap *tap; /* [taps] */
    int64_t *residue;     /* [phases] */
};

/* One pass: all the results it makes are of the form above. */
struct conv_plan {
    struct conv_dim dim[3];
    bool gather;
    int64_t width;        /* positions from one row of the grid to the next */
    int64_t plane;        /* positions of one plane of the grid */
    int64_t planes;       /* whose positions follow each other: the batch's where images overlap in none, else 1 */
    int64_t positions;    /* planes x plane */
    int64_t images;       /* how many an item has: channels x depth taps x phases, or x taps with gather */
    int64_t band, length; /* positions a band has, and elements its images have */
    int64_t bands, parts, part; /* bands of a plane; parts of the result channels of a group, and channels of a part */
    int64_t ahead;              /* how many elements further on the filling of images comes by soon */
    int64_t terms;              /* K: channels of a group x taps */
    int64_t *offset;            /* [terms], into the images */
    bool linear;                /* the results of a plane lie in memory in the order of the positions that are kept */
    bool exact;                 /* and all are kept */
    bool thin;                  /* a result channel is made by itself, row by row, not in tiles */
    bool direct;                /* and straight from the input, without images: f32 of step 1 with masked loads */
    void *memory;
    size_t nbytes;
};

/* Groups, channels, and where things are. */
struct conv {
    const struct wick__call *call;
    const char *in;
    char *out;
    enum wick_dtype dtype;
    size_t size;                                      /* bytes of an element */
    size_t value_size;                                /* bytes of what is computed with */
    int64_t batch, groups, in_channels, out_channels; /* channels of one group */
    bool transposed, relu, plain;                     /* plain: elements are computed with as they are stored */
    bool filled;                                      /* passes without a term have their results */
    int64_t in_plane, out_plane;                      /* elements of one channel */
    int64_t kernel[3];                                /* sizes of the weight */
    const void *weight; /* as VALUEs, rows of plan->terms: the operand itself, or `taken` */
    void *taken;        /* the copy of it in the scratch memory, where one is made */
    void *bias;         /* [groups * out_channels] of values */
    char *scratch;      /* of every worker: the images, and which they are */
    size_t scratch_each;
    const struct conv_plan *plan;
};

/* Fills the plan of pass number `pass` >= 0; every pass of a call is planned alike. WICK_MEMORY. */
enum wick_status WICK__ISA(wick__conv_plan)(const struct conv *conv, int64_t pass, struct conv_plan *plan);
void WICK__ISA(wick__conv_plan_free)(struct conv_plan *plan);

/* How many passes there are: the product of the strides of a transposed convolution, but no more than there are
 * results, else 1. */
int64_t WICK__ISA(wick__conv_passes)(const struct conv *conv);

/* Whether no tap of a transposed convolution reaches the results of some pass. */
bool WICK__ISA(wick__conv_gaps)(const struct conv *conv);

#endif
