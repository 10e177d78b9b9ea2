/* Parameters of the gradient of a convolution by its weight.
 *
 * `small` is the side with a position for each window: of a convolution the gradient, of a transposed one x. `large` is
 * the side that windows lie on. For each group, the result is a product of `rows` with `across` columns, over `terms`:
 *
 *     out[m][j,k] = sum over n, i of small[n][m][i] large[n][j][i stride + k dilation - padding]
 *
 * conv_weight_planes counts terms in lines of windows, and `across` are the threads of a line. conv_weight_points counts
 * them in runs of neighbours, also those of a plane in by_plane.
 */
#ifndef WICK_KERNELS_CONV_WEIGHT_H
#define WICK_KERNELS_CONV_WEIGHT_H

#include "params.h"

/* One of three spatial dims; those that are missing have size 1. */
struct gpu_conv_weight_dim {
    i32 small, large, kernel;
    i32 stride, padding, dilation;
};

/* Of conv_weight_tile: elements of a tile, and its rows; in f32 windows reach nowhere outside the large side. */
enum { GPU_CONV_WEIGHT_TILE = 4096, GPU_CONV_WEIGHT_ROWS = 64, GPU_CONV_WEIGHT_ROWS_F32 = 32 };
/* Of conv_weight_few: elements of a block. */
enum { GPU_CONV_FEW_ROWS = 4, GPU_CONV_FEW_COLUMNS = 4, GPU_CONV_FEW_COLUMNS_F64 = 2 };

struct gpu_conv_weight {
    const void *small; /* [n, groups rows, small...] */
    const void *large; /* [n, groups channels, large...] */
    void *out;         /* [groups rows, channels, kernel...] */
    void *sums;        /* [parts, groups rows, channels, kernel...], f32 or f64, where parts > 1 */
    i64 groups, rows, channels;
    i64 small_plane, large_plane; /* products of the dims */
    i64 count;                    /* of out */
    u32 terms, part, parts;       /* n small_plane; how many a part has, a multiple of 16 */
    u32 taps, across;             /* across: channels taps */
    u32 row_tiles, column_tiles;
    struct gpu_conv_weight_dim dim[3];
    struct gpu_divisor by_plane, by_h, by_w; /* small_plane, and `small` of the last two dims */
    struct gpu_divisor by_rows;              /* of conv_weight_points */
};

struct gpu_conv_weight_join {
    const void *sums;
    void *out;
    i64 count, total; /* of results, and of sums: their parts */
};

#endif
