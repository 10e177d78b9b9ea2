/* Reductions of floats whose parts are one word, places of extremes, and variances along memory. */
#include "reduce_body.h"

template <typename T> struct reduce_float_arg : reduce_arg<T, typename gpu_compute<T>::type> {};

#define REDUCE_FLOATS(ONE, T)                                                                                          \
    ONE(GPU_REDUCE_SUM, T, reduce_sum)                                                                                 \
    ONE(GPU_REDUCE_EXTREME, T, reduce_extreme)                                                                         \
    ONE(GPU_REDUCE_ARG, T, reduce_float_arg)                                                                           \
    ONE(GPU_REDUCE_SQUARES, T, reduce_squares)                                                                         \
    default: break;

/* Blocks of columns on a unit, in 16 bits. On sm_80 three would leave too few registers for bf16. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define COLUMN_BLOCKS(T) 1
#else
#define COLUMN_BLOCKS(T) (sizeof(T) == 2 ? 3 : 1)
#endif
#define REDUCE(T)                                                                                                      \
    GPU_KERNEL_OF(reduce_rows_##T, struct gpu_reduce_rows, GPU_BLOCK, sizeof(T) == 8 ? 3 : REDUCE_BLOCKS(T)) {          \
        REDUCE_ROWS(T, REDUCE_ROW(GPU_REDUCE_MOMENTS, T, reduce_moments) REDUCE_FLOATS(REDUCE_ROW, T))                 \
    }                                                                                                                  \
    GPU_KERNEL_OF(reduce_columns_##T, struct gpu_reduce_columns, GPU_BLOCK, COLUMN_BLOCKS(T)) {                         \
        REDUCE_COLUMNS(T, REDUCE_FLOATS(REDUCE_COLUMN, T))                                                             \
    }
GPU_FLOATS(REDUCE)
