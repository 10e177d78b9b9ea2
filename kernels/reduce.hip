/* Reductions of integers by their size, with what else does not depend on more than the bits of elements; and the
 * joining of parts, for every dtype. */
#include "reduce_body.h"

template <typename U> struct reduce_int_arg : reduce_arg<U, typename reduce_gather<U>::type> {};

#define REDUCE_INTS(ONE, T)                                                                                            \
    ONE(GPU_REDUCE_SUM, T, reduce_int_sum)                                                                             \
    ONE(GPU_REDUCE_EXTREME, T, reduce_int_extreme)                                                                     \
    ONE(GPU_REDUCE_PROD, T, reduce_int_prod)                                                                           \
    ONE(GPU_REDUCE_COUNT, T, reduce_count)                                                                             \
    ONE(GPU_REDUCE_ARG, T, reduce_int_arg)                                                                             \
    default: break;

#define REDUCE(suffix, T)                                                                                              \
    GPU_KERNEL_OF(reduce_rows_##suffix, struct gpu_reduce_rows, GPU_BLOCK, REDUCE_BLOCKS(T)) {                         \
        REDUCE_ROWS(T, REDUCE_INTS(REDUCE_ROW, T))                                                                     \
    }                                                                                                                  \
    GPU_KERNEL(reduce_columns_##suffix, struct gpu_reduce_columns) { REDUCE_COLUMNS(T, REDUCE_INTS(REDUCE_COLUMN, T)) }
REDUCE(b1, u8)
REDUCE(b2, u16)
REDUCE(b4, u32)
REDUCE(b8, u64)

#define REDUCE_PARTS(kind, K)                                                                                          \
    case kind: reduce_parts<K>(p, line, live, room, &w); break;

/* Sums of integers wrap, whatever their size, when those of 64 bits are cut. Extremes and places are of 64 bits. */
typedef reduce_arg<u64, u64> parts_int_arg;
typedef reduce_arg<f64, f64> parts_float_arg;

/* `cases` join the parts of a line by kind; three kernels, for one of all kinds takes more registers than there are. */
#define REDUCE_JOIN(name, cases)                                                                                       \
    GPU_KERNEL(name, struct gpu_reduce_join) {                                                                         \
        GPU_SHARED u64 room[REDUCE_ROOM];                                                                              \
        bool beside = p.across > 1;                                                                                    \
        u32 per_block = beside ? p.across : GPU_BLOCK / p.end.group;                                                   \
        i64 line = reduce_block() * per_block + (beside ? gpu_thread() % p.across : gpu_thread() / p.end.group);       \
        if (reduce_block() * per_block >= p.end.outs) return;                                                          \
        bool live = line < p.end.outs;                                                                                 \
        reduce_words w = {{0, 0, 0}};                                                                                  \
        switch (p.end.kind) { cases default: break; }                                                                  \
        if (live && (beside ? gpu_thread() < p.across : gpu_thread() % p.end.group == 0))                              \
            reduce_store(p.end, line, reduce_kind_words(p.end.kind), w);                                               \
    }
REDUCE_JOIN(reduce_join_int, REDUCE_PARTS(GPU_REDUCE_SUM, reduce_int_sum<u64>)
            REDUCE_PARTS(GPU_REDUCE_EXTREME, reduce_int_extreme<u64>)
            REDUCE_PARTS(GPU_REDUCE_PROD, reduce_int_prod<u64>)
            REDUCE_PARTS(GPU_REDUCE_COUNT, reduce_count<u64>)
            REDUCE_PARTS(GPU_REDUCE_ARG, parts_int_arg))
REDUCE_JOIN(reduce_join_float, REDUCE_PARTS(GPU_REDUCE_SUM, reduce_sum<f64>)
            REDUCE_PARTS(GPU_REDUCE_EXTREME, reduce_extreme<f64>)
            REDUCE_PARTS(GPU_REDUCE_COUNT, reduce_count<u64>)
            REDUCE_PARTS(GPU_REDUCE_ARG, parts_float_arg)
            REDUCE_PARTS(GPU_REDUCE_PRODUCT, reduce_product<f64>)
            REDUCE_PARTS(GPU_REDUCE_SQUARES, reduce_squares<f64>)
            REDUCE_PARTS(GPU_REDUCE_EXPS, reduce_exps<f64>))
REDUCE_JOIN(reduce_join_stats, REDUCE_PARTS(GPU_REDUCE_MOMENTS, reduce_moments<f64>)
            REDUCE_PARTS(GPU_REDUCE_POWERS, reduce_powers_root))
