/* Reductions of floats whose state is large, or that call functions: sums of exponentials and of powers, products,
 * variances across memory. */
#include "reduce_body.h"

#define REDUCE_STATS(ONE, T)                                                                                           \
    ONE(GPU_REDUCE_EXPS, T, reduce_exps)                                                                               \
    ONE(GPU_REDUCE_POWERS, T, reduce_powers)                                                                           \
    ONE(GPU_REDUCE_PRODUCT, T, reduce_product)                                                                         \
    default: break;

#define REDUCE(T)                                                                                                      \
    GPU_KERNEL(stats_rows_##T, struct gpu_reduce_rows) { REDUCE_ROWS(T, REDUCE_STATS(REDUCE_ROW, T)) }                 \
    GPU_KERNEL(stats_columns_##T, struct gpu_reduce_columns) {                                                         \
        REDUCE_COLUMNS(T, REDUCE_COLUMN(GPU_REDUCE_MOMENTS, T, reduce_moments_careful) REDUCE_STATS(REDUCE_COLUMN, T)) \
    }
GPU_FLOATS(REDUCE)
