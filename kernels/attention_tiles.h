/* What the kernels of attention by matrix instructions share: a tile of scores from the product to weights, and the sums of
 * rows to their results. */
#ifndef WICK_KERNELS_ATTENTION_TILES_H
#define WICK_KERNELS_ATTENTION_TILES_H

#include "attention_common.h"
#include "mma.h"

#if MMA && MMA_ASYNC
struct alignas(1024) attention_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct attention_page, attention_shared);

/* Bytes of this thread's pieces that exist in rows of so many elements. */
template <int DIM> GPU_FN u32 attention_bytes(i64 elements) {
    i64 left = elements - gpu_thread() % (DIM / 8) * 8;
    return left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
}

/* What a lane has of the rows of its wave: of tile i those of number half * 8 + lane / 4. */
template <int TILES, int STEPS> struct attention_sums {
    struct mma_tile out[TILES][STEPS];
    f32 most[TILES][2], total[TILES][2]; /* totals are of the lane's own keys until attention_store */
};

template <int TILES, int COLUMNS> GPU_FN void attention_clear(struct mma_tile (&tiles)[TILES][COLUMNS]) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) tiles[i][j].v[e] = 0;
}
template <int TILES, int COLUMNS> GPU_FN void attention_scale(struct mma_tile (&tiles)[TILES][COLUMNS], f32 by) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) tiles[i][j].v[e] *= by;
}

/* The mask on the scores of one row, of which it sees keys from .. to - 1. DENSE: elements lie side by side, so that all
 * of a lane's have one address. */
template <typename T, bool DENSE, int COLUMNS>
GPU_FN void attention_mask(const struct gpu_attention &p, struct mma_tile (&s)[COLUMNS], u32 half, i64 mask, i32 from,
                           i32 to) {
    const u8 *keep = (const u8 *)p.mask + mask;
    const T *add = (const T *)p.mask + mask;
    u32 own = mma_column(0);
    if (DENSE) {
        keep += own;
        add += own;
    }
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
        u32 column = j * 16 + e / 4 * 8 + e % 2; /* own + column is the column of element e */
        i32 key = (i32)(own + column);
        i64 at = DENSE ? (i64)column : key * p.mask_stride[3];
        if (key < from || key >= to) continue;
        if (p.masked == GPU_ATTENTION_ADD)
            s[j].v[e] = attention_plus(s[j].v[e], gpu_up(add[at]));
        else if (!keep[at])
            s[j].v[e] = attention_lowest(0.0f);
    }
}

/* The mask, and what a row may not see. */
template <typename T, int COLUMNS>
GPU_FN void attention_hide(const struct gpu_attention &p, struct mma_tile (&s)[COLUMNS], u32 half, i64 mask, i32 from,
                           i32 to) {
    /* With few columns there are no registers for both ways. */
    if (p.masked != GPU_ATTENTION_FREE && COLUMNS > 2 && p.mask_stride[3] == 1)
        attention_mask<T, (COLUMNS > 2)>(p, s, half, mask, from, to);
    else if (p.masked != GPU_ATTENTION_FREE)
        attention_mask<T, false>(p, s, half, mask, from, to);
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
        i32 key = (i32)(j * 16 + mma_column(e));
        if (key < from || key >= to) s[j].v[e] = attention_lowest(0.0f);
    }
}

/* Soft cap, slopes, mask, and what a row may not see, on scores times scale of `keys` keys from number key0 on. */
template <typename T, int TILES, int COLUMNS>
GPU_FN void attention_adjust(const struct gpu_attention &p, struct mma_tile (&s)[TILES][COLUMNS],
                             const struct attention_row *rows, i64 key0, u32 keys) {
    if (p.cap > 0) {
        f32 cap = (f32)p.cap, turn = 2.8853900817779268f / cap;
        /* tanh x = 1 - 2 / (e^2x + 1) */
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
                s[i][j].v[e] = cap * (1.0f - 2.0f * mma_reciprocal(mma_exp2(s[i][j].v[e] * turn) + 1.0f));
    }
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        const struct attention_row *row = rows + i * 16 + half * 8 + gpu_lane() / 4;
        i32 position = (i32)(row->position - key0), to = position + (i32)p.right + 1;
        if (p.slopes) {
            f32 slope = row->slope;
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
                i32 ahead = (i32)(j * 16 + mma_column(e)) - position;
                s[i][j].v[e] -= slope * (f32)(ahead < 0 ? -ahead : ahead);
            }
        }
        attention_hide<T>(p, s[i], half, row->mask + key0 * p.mask_stride[3], position - (i32)p.left,
                          to < (i32)keys ? to : (i32)keys);
    }
}

/* Makes weights of scores times `by`, above 0, which brings them to logarithms to the base 2, and brings maxima and totals up
 * to date. What was summed before is to be multiplied by `fade`. */
template <int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_weigh(struct mma_tile (&s)[TILES][COLUMNS], struct attention_sums<TILES, STEPS> &sums, f32 by,
                            f32 (&fade)[TILES][2]) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        /* In four strands, for each waits for what it had before. */
        f32 high = attention_lowest(0.0f), strand[4] = {high, high, high, high}, sum[4] = {0, 0, 0, 0};
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1)
            strand[e / 4 * 2 + e % 2] = mma_max(s[i][j].v[e], strand[e / 4 * 2 + e % 2]);
        high = mma_max(mma_max(strand[0], strand[1]), mma_max(strand[2], strand[3]));
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) high = mma_max(gpu_shuffle_xor(high, lanes), high);
        high = mma_max(high * by, sums.most[i][half]);
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0 : high;
        fade[i][half] = mma_exp2(sums.most[i][half] - base);
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1)
            sum[e / 4 * 2 + e % 2] += s[i][j].v[e] = mma_exp2(gpu_fma(s[i][j].v[e], by, -base));
        sums.most[i][half] = high;
        sums.total[i][half] = sums.total[i][half] * fade[i][half] + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

/* Multiplies what was summed, unless no maximum of the wave's rows has moved. */
template <int TILES, int STEPS>
GPU_FN void attention_fade(struct attention_sums<TILES, STEPS> &sums, const f32 (&fade)[TILES][2]) {
    bool moved = false;
    GPU_UNROLL for (int i = 0; i < TILES; i++) moved |= fade[i][0] != 1 || fade[i][1] != 1;
    if (gpu_ballot(moved) == 0) return;
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int c = 0; c < STEPS; c++)
        GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) sums.out[i][c].v[e] *= fade[i][e / 2 % 2];
}

/* Keys of the block, counted from at.begin, that all rows see, where there is nothing to a score but its scale. */
struct attention_free {
    u32 begin, end;
};
GPU_FN struct attention_free attention_free_of(const struct gpu_attention &p, const struct attention_place &at) {
    i64 begin = at.high - p.left - at.begin, end = at.low + p.right + 1 - at.begin, keys = at.end - at.begin;
    struct attention_free free;
    free.begin = begin > 0 ? (u32)begin : 0;
    free.end = end < 0 ? 0 : end < keys ? (u32)end : (u32)keys;
    if (p.masked != GPU_ATTENTION_FREE || p.cap > 0 || p.slopes || !(p.scale > 0)) free.end = 0;
    return free;
}

/* What a wave needs to know of its block: its rows, and the block's keys, `keys` from number `begin` on. */
struct attention_part {
    const struct attention_row *rows;
    i64 begin;
    u32 keys;
    struct attention_free free;
};

/* Makes weights of a step of keys from number `key` of the block's on. */
template <typename T, int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_rate(const struct gpu_attention &p, const struct attention_part &part, u32 key,
                           struct mma_tile (&s)[TILES][COLUMNS], struct attention_sums<TILES, STEPS> &sums,
                           f32 (&fade)[TILES][2]) {
    const f32 log2e = 1.4426950408889634f;
    bool plain = key >= part.free.begin && key + COLUMNS * 16 <= part.free.end;
    if (!plain) {
        attention_scale(s, (f32)p.scale);
        attention_adjust<T>(p, s, part.rows, part.begin + key, part.keys - key);
    }
    attention_weigh(s, sums, plain ? (f32)p.scale * log2e : log2e, fade);
}

/* Writes two neighbours of a row, or of its sums of a part of the keys. */
template <typename T>
GPU_FN void attention_put(const struct gpu_attention &p, i64 row, i64 column, f32 x, f32 y, f32 part) {
    bool one = column < p.width, two = column + 1 < p.width;
    if (p.splits > 1) {
        f32 *to = (f32 *)p.partial + row * p.width + column;
        if (one) to[0] = x;
        if (two) to[1] = y;
        return;
    }
    u32 pair = mma_pack(x * part, y * part, T());
    u16 *to = (u16 *)p.out + row * p.width + column;
    if (two && p.width % 2 == 0) {
        *(u32 *)to = pair;
    } else {
        if (one) to[0] = (u16)pair;
        if (two) to[1] = (u16)(pair >> 16);
    }
}

/* Writes the results, or the sums of a part of the keys. The bits of the result are those of the lane's rows that must
 * be summed again, of which there are none unless keys are left out. */
template <typename T, int TILES, int STEPS>
GPU_FN u32 attention_store(const struct gpu_attention &p, const struct attention_row *rows,
                           struct attention_sums<TILES, STEPS> &sums, bool hides) {
    const f32 ln2 = 0.69314718055994531f;
    u32 again = 0;
    GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2)
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int half = 0; half < 2; half++)
                sums.total[i][half] += gpu_shuffle_xor(sums.total[i][half], lanes);
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 sum = sums.total[i][half], part = sum == 0 ? 0 : 1.0f / sum, high = sums.most[i][half] * ln2;
        i64 row = rows[i * 16 + half * 8 + gpu_lane() / 4].out;
        if (row < 0) continue;
        if (p.splits == 1 && p.log_sums && gpu_lane() % 4 == 0) ((f32 *)p.log_sums)[row] = attention_log_sum(high, sum);
        if (p.splits > 1) row += (i64)gpu_block_y() * p.total;
        bool nan = false;
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += 4) {
            f32 x = sums.out[i][c].v[e], y = sums.out[i][c].v[e + 1];
            nan |= x != x || y != y;
            attention_put<T>(p, row, c * 16 + mma_column(e), x, y, part);
        }
        if (hides && nan && sum == sum) again |= 1u << (i * 2 + half);
        if (p.splits > 1 && gpu_lane() % 4 == 0) {
            ((f32 *)p.stats)[row * 2] = high;
            ((f32 *)p.stats)[row * 2 + 1] = sum;
        }
    }
    return again;
}

/* Notes the rows of the block that must be summed again, and sums them. */
template <typename T, int ROWS, int THREADS, int TILES, int STEPS>
GPU_FN void attention_repair(const struct gpu_attention &p, const struct attention_place &at,
                             const struct attention_row *rows, const struct attention_sums<TILES, STEPS> &sums,
                             u32 again) {
    const f32 ln2 = 0.69314718055994531f;
    f32 *notes = (f32 *)attention_shared;
    GPU_NO_UNROLL for (u32 r = gpu_thread(); r < ROWS; r += THREADS) notes[r * 2 + 1] = -1;
    gpu_sync();
    GPU_UNROLL for (u32 i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        u32 r = gpu_wave() * (16 * TILES) + i * 16 + half * 8 + gpu_lane() / 4;
        if (!(again >> (i * 2 + half) & 1)) continue;
        notes[r * 2] = sums.most[i][half] * ln2;
        notes[r * 2 + 1] = sums.total[i][half];
    }
    gpu_sync();
    attention_mend<T, ROWS, THREADS>(p, at, rows, notes, 0, p.width);
}
#endif

#endif
