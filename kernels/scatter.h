/* Parameters of the kernels that place and add by id. */
#ifndef WICK_KERNELS_SCATTER_H
#define WICK_KERNELS_SCATTER_H

#include "ids.h"

enum {
    GPU_SCATTER_TILE = 4096,     /* elements of out that a block of scatter_lines makes at once */
    GPU_SCATTER_ADD_TILE = 1024, /* the same for scatter_add_lines */
    GPU_SCATTER_CHUNK = 1024,    /* sources that it takes at once */
    GPU_SCATTER_LINES = 64,      /* lines of a block at most */
    GPU_INDEX_LIST = 4096,       /* ids that one block lists at most, for as many rows and 4 times that */
    GPU_SCATTER_FEW = 16         /* sources of one element and chunk that one thread adds */
};

/* What the sources of an element come to, and the element itself. */
enum gpu_scatter_join { GPU_SCATTER_ADD, GPU_SCATTER_MULTIPLY, GPU_SCATTER_LARGEST, GPU_SCATTER_LEAST };

/* out[id step[0]] = or += source[j step[3]], id = ids[j step[2]] for j in 0 .. k-1, for each line along the dim; what
 * is not placed comes from x[i step[1]], which may be out itself. */
struct gpu_scatter {
    void *out;
    const void *x, *source;
    struct gpu_ids ids;
    const u32 *bad;         /* not NULL: nothing is done when it is not 0 */
    i64 n, k;               /* along the dim of out, and of ids */
    i64 step[4];            /* along the dim: out, x, ids, source */
    struct gpu_shape shape; /* the other dims: the lines */
    struct gpu_layout layout[4];
    u32 together, across; /* lines of a block, numbered first across them */
    u32 tile;             /* elements of a line that a block makes: n where there are several lines */
    u32 tiles;            /* of a line */
    u32 join;             /* scatter_add: enum gpu_scatter_join */
    struct gpu_divisor by_k, by_tile, by_together;
};

/* The same with all of ids at once, in their order: layouts of out (0 along the dim), of rows of n numbers (likewise),
 * of ids and source, and of the place along the dim. */
struct gpu_scatter_all {
    void *out;
    const void *source;
    struct gpu_ids ids;
    const u32 *bad;
    i64 n, step;   /* along the dim of out */
    i64 none;      /* the key of what goes nowhere: the number of elements of out in all lines */
    u32 *latest;   /* [lines, n]: 1 + the place of the last source */
    void *keys;    /* number of the element of out that each source goes to, then sorted; u64 when wide */
    const u32 *at; /* which source it is, sorted with the keys */
    u32 wide;
    u32 join; /* enum gpu_scatter_join */
    struct gpu_shape shape;
    struct gpu_layout layout[5];
};

enum gpu_index_runs { GPU_INDEX_ROWS = 1, GPU_INDEX_COLUMNS }; /* what the ids are of */

/* index_add: lists the sources of each row of out, and makes the rows. */
struct gpu_index_add {
    void *out; /* contiguous */
    const void *x, *source;
    struct gpu_ids ids;
    i64 ids_step, k, n;
    i64 step;                    /* of source along the dim */
    u32 *keys;                   /* ids, n for none; NULL: index_list finds `first` */
    u32 *places;                 /* in ids, sorted by id */
    u32 *first;                  /* [n + 1]: where those of a row begin */
    u32 vectors;                 /* rows in units of 16 bytes */
    u32 runs;                    /* [rows, width] in units of 16 bytes wherever rows begin: x is one element or dense;
                                  * enum gpu_index_runs */
    u32 one;                     /* x is one element everywhere */
    u32 passes;                  /* index_list: bytes of n */
    struct gpu_shape shape;      /* of out */
    struct gpu_layout layout[3]; /* x, source (0 along the dim), the place along the dim */
};

#endif
