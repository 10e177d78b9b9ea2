/* Scaled dot product attention of f32 in plain arithmetic, for rows of whole fours of up to 128 elements side by side,
 * without the matrix of scores (Dao et al., "FlashAttention").
 *
 * A block has 32 or 64 queries of one unit, and goes through the keys in steps of 64: scores, weights of them by
 * the running maximum of each row, and their products with the values. */
#include "attention_plain.h"

/* The queries of a block, one a row. */
struct plain_queries {
    const f32 *q;
    const struct attention_row *rows;
    u32 length;
};
GPU_FN const f32 *plain_row(const struct plain_queries &x, u32 r) { return x.q + x.rows[x.rows[r].out < 0 ? 0 : r].q; }

/* What a thread has of its rows; of the sum of weights its own columns' part. */
template <int R, int DIM> struct plain_sums {
    f32 most[R], total[R], out[R][DIM / 32][4];
};

/* Whether every row of the tile sees every key of the step, with nothing done to the scores. */
GPU_FN bool plain_is_whole(const struct gpu_attention &p, const struct attention_place &at, i64 key0) {
    i64 last = key0 + PLAIN_WIDE - 1;
    return !p.slopes && p.masked == GPU_ATTENTION_FREE && !(p.cap > 0) && last < at.end && last - at.low <= p.right &&
           at.high - key0 <= p.left;
}

/* Does to the scores what is more than their scale, one after another where they lie in LDS. */
template <int R>
GPU_FN void plain_mask(const struct gpu_attention &p, const struct attention_row *rows, i64 key0, i64 end, f32 *weights,
                       f32 (&score)[R][8]) {
    f32 *own = weights + plain_y() * PLAIN_WEIGHTS + plain_x();
    GPU_UNROLL for (int i = 0; i < R; i++)
        GPU_UNROLL for (int j = 0; j < 8; j++) own[i * PLAIN_HIGH * PLAIN_WEIGHTS + j * 8] = score[i][j];
    GPU_NO_UNROLL for (u32 i = 0; i < R; i++) {
        struct attention_row row = rows[plain_y() + i * PLAIN_HIGH];
        GPU_NO_UNROLL for (u32 j = 0; j < 8; j++) {
            f32 *at = own + i * PLAIN_HIGH * PLAIN_WEIGHTS + j * 8;
            *at = attention_score<f32>(p, *at, row, key0 + plain_x() + j * 8, end);
        }
    }
    GPU_UNROLL for (int i = 0; i < R; i++)
        GPU_UNROLL for (int j = 0; j < 8; j++) score[i][j] = own[i * PLAIN_HIGH * PLAIN_WEIGHTS + j * 8];
}

/* Makes weights of scores, and brings the sums up to date for them. */
template <int R, int DIM>
GPU_FN void plain_weigh(const f32 (&score)[R][8], f32 *weights, struct plain_sums<R, DIM> &sums) {
    f32 *own = weights + plain_y() * PLAIN_WEIGHTS + plain_x();
    GPU_UNROLL for (int i = 0; i < R; i++) {
        f32 high = sums.most[i], sum = 0;
        GPU_UNROLL for (int j = 0; j < 8; j++) high = plain_most::of(high, score[i][j]);
        high = plain_join<plain_most>(high);
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0.0f : high, fade = plain_exp(sums.most[i] - base);
        GPU_UNROLL for (int j = 0; j < 8; j++) {
            f32 weight = plain_exp(score[i][j] - base);
            sum += weight;
            own[i * PLAIN_HIGH * PLAIN_WEIGHTS + j * 8] = weight;
        }
        sums.total[i] = gpu_fma(sums.total[i], fade, sum);
        sums.most[i] = high;
        GPU_UNROLL for (int c = 0; c < DIM / 32; c++)
            GPU_UNROLL for (int j = 0; j < 4; j++) sums.out[i][c][j] *= fade;
    }
}

/* Writes the results, or the sums of a part of the keys. The bits of the result are those of the thread's rows that
 * must be summed again. */
template <int R, int DIM>
GPU_FN u32 plain_store(const struct gpu_attention &p, const struct attention_row *rows,
                       const struct plain_sums<R, DIM> &sums) {
    u32 again = 0;
    GPU_UNROLL for (int i = 0; i < R; i++) {
        i64 row = rows[plain_y() + i * PLAIN_HIGH].out;
        f32 total = sums.total[i], factor = total == 0 ? 0.0f : 1.0f / total;
        if (row < 0) continue;
        if (p.splits > 1) row += (i64)gpu_block_y() * p.total;
        if (plain_x() == 0 && p.splits > 1) {
            ((f32 *)p.stats)[row * 2] = sums.most[i];
            ((f32 *)p.stats)[row * 2 + 1] = total;
        } else if (plain_x() == 0 && p.log_sums) {
            ((f32 *)p.log_sums)[row] = attention_log_sum(sums.most[i], total);
        }
        f32 *to = (f32 *)(p.splits > 1 ? p.partial : p.out) + row * p.width;
        GPU_UNROLL for (u32 c = 0; c < DIM / 32; c++) {
            u32 column = c * 32 + plain_x() * 4;
            gpu_vec<f32> v;
            if (column >= (u32)p.width) continue;
            GPU_UNROLL for (int j = 0; j < 4; j++) {
                f32 sum = sums.out[i][c][j];
                if (sum != sum && total == total) again |= 1u << i;
                v.v[j] = p.splits > 1 ? sum : total == 0 ? 0.0f : sum * factor;
            }
            gpu_store16(to + column, v);
        }
    }
    return again;
}

/* Notes the rows of the block that must be summed again, and sums them. */
template <int R, int DIM>
GPU_FN void plain_repair(const struct gpu_attention &p, const struct attention_place &at,
                         const struct attention_row *rows, const struct plain_sums<R, DIM> &sums, u32 again, f32 *lds) {
    enum { ROWS = R * PLAIN_HIGH };
    if (gpu_thread() < ROWS) lds[gpu_thread() * 2 + 1] = -1;
    gpu_sync();
    GPU_UNROLL for (u32 i = 0; i < R; i++) {
        if (!(again >> i & 1)) continue;
        lds[(plain_y() + i * PLAIN_HIGH) * 2] = sums.most[i];
        lds[(plain_y() + i * PLAIN_HIGH) * 2 + 1] = sums.total[i];
    }
    gpu_sync();
    attention_mend<f32, ROWS, PLAIN_THREADS>(p, at, rows, lds, 0, p.width);
}

/* A step of keys. */
template <int R, int DIM>
GPU_FN void plain_step(const struct gpu_attention &p, const struct attention_place &at,
                       const struct plain_queries &queries, i64 key0, f32 *lds, struct plain_sums<R, DIM> &sums) {
    u32 count = at.end - key0 < PLAIN_WIDE ? (u32)(at.end - key0) : (u32)PLAIN_WIDE;
    struct plain_rows k = {(const f32 *)p.k + at.k + key0 * p.k_stride[2], p.k_stride[2], count, (u32)p.depth};
    struct plain_rows v = {(const f32 *)p.v + at.v + key0 * p.v_stride[2], p.v_stride[2], count, (u32)p.width};
    f32 score[R][8], scale = (f32)p.scale;
    plain_multiply<R>(queries, k, lds, score);
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int j = 0; j < 8; j++) score[i][j] *= scale;
    if (!plain_is_whole(p, at, key0)) plain_mask<R>(p, queries.rows, key0, at.end, lds, score);
    plain_weigh<R, DIM>(score, lds, sums);
    plain_add<R, DIM>(lds, v, lds + plain_shape<R, DIM>::FIRST, sums.out);
}

template <int R, int DIM> GPU_FN void attention_plain(const struct gpu_attention &p) {
    typedef plain_shape<R, DIM> shape;
    GPU_SHARED gpu_vec<f32> shared[shape::TOTAL / 4];
    GPU_SHARED struct attention_row rows[shape::ROWS];
    GPU_SHARED struct attention_place at; /* AMD has too few scalar registers for it */
    GPU_SHARED u32 any;
    f32 *lds = (f32 *)shared;
    u32 t = gpu_thread();
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (t == 0) {
        any = 0;
        at = attention_locate(p, shape::ROWS);
    }
    gpu_sync();
    if (at.row0 >= at.rows) return;
    if (t < shape::ROWS) rows[t] = attention_row_of(p, at, t);
    gpu_sync();
    struct plain_queries queries = {(const f32 *)p.q, rows, (u32)p.depth};
    struct plain_sums<R, DIM> sums;
    GPU_UNROLL for (int i = 0; i < R; i++) {
        sums.most[i] = attention_lowest(0.0f);
        sums.total[i] = 0;
        GPU_UNROLL for (int c = 0; c < shape::CHUNKS; c++) GPU_UNROLL for (int j = 0; j < 4; j++) sums.out[i][c][j] = 0;
    }
    for (i64 key0 = at.begin; key0 < at.end; key0 += PLAIN_WIDE) plain_step<R, DIM>(p, at, queries, key0, lds, sums);
    GPU_UNROLL for (int i = 0; i < R; i++) sums.total[i] = plain_join<plain_add_two>(sums.total[i]);
    u32 again = plain_store<R, DIM>(p, rows, sums);
    if (again) any = 1;
    gpu_sync();
    if (any) plain_repair<R, DIM>(p, at, rows, sums, again, lds);
}

#if defined(GPU_AMD)
#define ATTENTION_PLAIN_BLOCKS 2
#else
#define ATTENTION_PLAIN_BLOCKS 3
#endif
#define ATTENTION_PLAIN(dim)                                                                                           \
    GPU_KERNEL_OF(attention_plain_32_##dim, struct gpu_attention, PLAIN_THREADS, ATTENTION_PLAIN_BLOCKS) {             \
        attention_plain<2, dim>(p);                                                                                    \
    }                                                                                                                  \
    GPU_KERNEL_OF(attention_plain_64_##dim, struct gpu_attention, PLAIN_THREADS, 2) { attention_plain<4, dim>(p); }

ATTENTION_PLAIN(32)
ATTENTION_PLAIN(64)
ATTENTION_PLAIN(96)
ATTENTION_PLAIN(128)
