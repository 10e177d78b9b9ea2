/* Parameters of reductions, and of what is made of them: the statistics of softmax and of norms.
 *
 * A line is the elements that make one result. It is cut into segments whose number depends on the shape alone; each
 * segment comes to a part of one to three words, and reduce_join joins the parts of a line in order. Where a line is one
 * segment the result is written at once. */
#ifndef WICK_KERNELS_REDUCE_H
#define WICK_KERNELS_REDUCE_H

#include "params.h"

/* How elements are taken in, and the words of a part. */
enum gpu_reduce_kind {
    GPU_REDUCE_SUM,     /* x & mask; floats: f64, integers: wrapped */
    GPU_REDUCE_EXTREME, /* the greatest (x & mask) ^ flip; floats as f64, integers compared without sign */
    GPU_REDUCE_PROD,    /* of integers, wrapped */
    GPU_REDUCE_COUNT,   /* how many x & mask are not 0 */
    GPU_REDUCE_ARG,     /* the greatest x ^ flip, where it first stands or ~0u for nowhere */
    GPU_REDUCE_SQUARES, /* the root of the sum of x^2, f64 */
    GPU_REDUCE_MOMENTS, /* n, mean, the root of the mean of (x - mean)^2, each f64 */
    GPU_REDUCE_EXPS,    /* the greatest x, and the sum of exp(x - greatest), each f64 */
    GPU_REDUCE_POWERS,  /* sum of (|x| / most)^order in f64 */
    GPU_REDUCE_PRODUCT  /* of floats: f64 of 1 up to 2, or 0, infinite, NaN; the exponent of its power of two, i64 */
};

/* What a part comes to. */
enum gpu_reduce_finish {
    GPU_FINISH_PLAIN,
    GPU_FINISH_MEAN, /* y / terms */
    GPU_FINISH_ROOT, /* the square root; of moments, the deviation */
    GPU_FINISH_ANY,
    GPU_FINISH_ALL,
    GPU_FINISH_PART /* the words themselves */
};

/* How a result is stored. */
enum gpu_reduce_store {
    GPU_STORE_B1,
    GPU_STORE_B2,
    GPU_STORE_B4,
    GPU_STORE_B8,
    GPU_STORE_BF16,
    GPU_STORE_F16,
    GPU_STORE_F32,
    GPU_STORE_F64,
    GPU_STORE_F8E4M3
};

/* What a part is made into, and where it goes. */
struct gpu_reduce_end {
    u32 kind, finish, store;
    u32 group;    /* threads that work on one line: up to GPU_WAVE, or GPU_BLOCK. For columns: threads across */
    void *out;    /* results; words when finish is PART: word w of part i stands at w * parts + i */
    i64 parts;    /* how many parts there are, of all lines */
    i64 outs;     /* lines */
    i64 segments; /* of a line */
    i64 part_out, part_segment; /* the number of a part: line * part_out + segment * part_segment */
    i64 terms;    /* elements of a line */
    double order, correction;
    const double *most; /* POWERS: what the elements of each line are divided by */
    u64 mask, flip;
};

/* Lines whose elements lie side by side, in `runs` pieces of `inner` elements `stride` apart. Direct: stride is 1, and a
 * segment is up to `length` elements of one run. Otherwise a segment is `length` runs, or if there is only one, `length`
 * elements. */
struct gpu_reduce_rows {
    const void *in;
    u32 direct;
    u32 across; /* not direct: threads along a run, a power of two up to the group */
    u32 some;   /* `across` reaches all of a run, and runs are as far from each other everywhere */
    i64 runs, inner, stride, splits, length;
    struct gpu_reduce_end end;
    struct gpu_shape kept, outer; /* lines; runs */
    struct gpu_layout kept_at[1], outer_at[1];
};

/* Lines side by side: `width` of them, of `rows` elements. Where rows follow each other without a gap and their pitch is
 * no multiple of 16 bytes, `fold` rows are taken as one, and there are `fold` parts a segment. */
struct gpu_reduce_columns {
    const void *in;
    i64 width;   /* columns, those of folded rows together */
    i64 rows;    /* folded ones */
    i64 columns; /* of one row: width / fold */
    i64 limit;   /* elements of folded rows, from the first to the last; where rows are not folded, a huge number */
    i64 tiles;   /* of group * (16 bytes) columns */
    i64 length;  /* rows of a segment */
    i64 splits;  /* segments but for folding */
    i64 out_stride; /* between results of neighbouring columns */
    u32 aligned; /* rows begin at multiples of 16 bytes */
    u32 threads; /* for a segment of a tile: a block's, or fewer */
    u32 busy;    /* threads of a block that have one */
    u32 half;    /* the most of them that join as many others or fewer: group times a power of two; 0: none */
    struct gpu_reduce_end end;
    struct gpu_shape kept, reduced; /* the other kept dims; rows */
    struct gpu_layout kept_at[2];   /* in, out */
    struct gpu_layout reduced_at[1];
};

/* Joins the parts of each line. */
struct gpu_reduce_join {
    const u64 *in; /* word w of part i at [w * parts + i] */
    i64 parts;     /* of all lines; end.parts counts those that are written, when they are */
    struct gpu_reduce_end end;
    u32 across; /* 1, or how many lines side by side a block takes at a time; then end.group is 1 */
    u32 fold;   /* ARG of folded rows: part s is of the rows r * fold + s / splits, and tells r */
    i64 splits;
};

#endif
