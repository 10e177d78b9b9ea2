/* Reductions of floats that take more than an addition an element: variances, sums of exponentials and of powers. */
#include "reduce_body.h"

#define REDUCE_STATS(ONE, T)                                                                                           \
    ONE(GPU_REDUCE_MOMENTS, T, reduce_moments)                                                                         \
    ONE(GPU_REDUCE_EXPS, T, reduce_exps)                                                                               \
    ONE(GPU_REDUCE_POWERS, T, reduce_powers)                                                                           \
    default: break;

#define REDUCE(T)                                                                                                      \
    GPU_KERNEL(stats_rows_##T, struct gpu_reduce_rows) { REDUCE_ROWS(T, REDUCE_STATS(REDUCE_ROW, T)) }                 \
    GPU_KERNEL(stats_columns_##T, struct gpu_reduce_columns) { REDUCE_COLUMNS(T, REDUCE_STATS(REDUCE_COLUMN, T)) }
GPU_FLOATS(REDUCE)
