/* What the kernels of attention by matrix instructions share: a tile of scores from the product to weights, and the sums of
 * rows to their results. */
#ifndef WICK_KERNELS_ATTENTION_TILES_H
#define WICK_KERNELS_ATTENTION_TILES_H

#include "attention_common.h"
#include "mma.h"
#include "wave.h"

#if MMA
/* Whose scores a lane has in a tile of 16 queries by 16 keys: of ATTENTION_LINES queries, numbers attention_line, each
 * with ATTENTION_EACH keys; the others of these queries are in the lanes ATTENTION_NEAR, twice that, ... apart, less than
 * ATTENTION_FAR. Where fragments leave LDS untransposed, scores are products of keys by queries, with a query in a column,
 * for so they are laid out as the next product wants them. */
#if MMA_ASYNC
enum { ATTENTION_LINES = 2, ATTENTION_NEAR = 1, ATTENTION_FAR = 4 };
GPU_FN u32 attention_line(u32 half) { return half * 8 + gpu_lane() / 4; }
GPU_FN u32 attention_half(u32 e) { return e / 2 % 2; }
GPU_FN u32 attention_element(u32 half, u32 i) { return i / 2 * 4 + half * 2 + i % 2; }
GPU_FN u32 attention_first(void) { return mma_column(0); }
GPU_FN u32 attention_ahead(u32 e) { return e / 4 * 8 + e % 2; }
GPU_FN u32 attention_key(u32, u32 e) { return mma_column(e); }
#else
enum { ATTENTION_LINES = 1, ATTENTION_NEAR = 16, ATTENTION_FAR = GPU_WAVE };
GPU_FN u32 attention_line(u32) { return gpu_lane() % 16; }
GPU_FN u32 attention_half(u32) { return 0; }
GPU_FN u32 attention_element(u32, u32 i) { return i; }
GPU_FN u32 attention_first(void) { return gpu_anew(mma_row(0)); }
GPU_FN u32 attention_ahead(u32 e) { return e * MMA_ROW_STEP; }
GPU_FN u32 attention_key(u32 first, u32 e) { return first + attention_ahead(e); }
#endif
enum { ATTENTION_EACH = MMA_SUMS / ATTENTION_LINES };

/* What a lane has of the rows of its wave. */
template <int TILES, int STEPS> struct attention_sums {
    struct mma_tile out[TILES][STEPS];
    /* totals are of the lane's own keys until attention_total */
    f32 most[TILES][ATTENTION_LINES], total[TILES][ATTENTION_LINES];
};

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
    u32 own = attention_first();
    if (DENSE) {
        keep += own;
        add += own;
    }
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 i = 0; i < ATTENTION_EACH; i++) {
        u32 e = attention_element(half, i), column = j * 16 + attention_ahead(e); /* own + column is e's */
        i32 key = (i32)(own + column);
        i64 at = DENSE ? (i64)column : gpu_anew(key) * p.mask_stride[3];
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
    u32 own = attention_first();
    /* AMD has no registers for both ways, nor has NVIDIA with few columns. */
    enum { BOTH = MMA_ASYNC && COLUMNS > 2 };
    if (p.masked != GPU_ATTENTION_FREE && BOTH && p.mask_stride[3] == 1)
        attention_mask<T, BOTH>(p, s, half, mask, from, to);
    else if (p.masked != GPU_ATTENTION_FREE)
        attention_mask<T, false>(p, s, half, mask, from, to);
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 i = 0; i < ATTENTION_EACH; i++) {
        u32 e = attention_element(half, i);
        i32 key = (i32)(j * 16 + attention_key(own, e));
        if (key < from || key >= to) s[j].v[e] = attention_lowest(0.0f);
    }
}

/* The soft cap on scores, to some units of the cap in f32. */
template <typename T> struct attention_cap {
    GPU_FN void on(struct mma_tile &s, f32 cap) {
        f32 turn = 2.8853900817779268f / cap;
        /* tanh x = 1 - 2 / (e^2x + 1) */
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
            s.v[e] = cap * (1.0f - 2.0f * mma_reciprocal(mma_exp2(s.v[e] * turn) + 1.0f));
    }
};
/* Of f32 to some units of the score, which may be far less: one after the other, for the code is long. */
template <> struct attention_cap<f32> {
    GPU_FN void on(struct mma_tile &s, f32 cap) {
        GPU_NO_UNROLL for (int n = 0; n < MMA_SUMS; n++) {
            f32 x = cap * gpu_tanh(s.v[0] / cap);
            GPU_UNROLL for (int e = 0; e + 1 < MMA_SUMS; e++) s.v[e] = s.v[e + 1];
            s.v[MMA_SUMS - 1] = x;
        }
    }
};

/* Soft cap, slopes, mask, and what a row may not see, on scores times scale of `keys` keys from number key0 on. */
template <typename T, int TILES, int COLUMNS>
GPU_FN void attention_adjust(const struct gpu_attention &p, struct mma_tile (&s)[TILES][COLUMNS],
                             const struct attention_row *rows, i64 key0, u32 keys) {
    u32 own = attention_first();
    if (p.cap > 0)
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) attention_cap<T>::on(s[i][j], (f32)p.cap);
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < ATTENTION_LINES; half++) {
        const struct attention_row *row = rows + i * 16 + attention_line(half);
        i32 position = (i32)(row->position - key0), to = position + (i32)p.right + 1;
        if (p.slopes) {
            f32 slope = row->slope;
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
                u32 e = attention_element(half, n);
                i32 ahead = (i32)(j * 16 + attention_key(own, e)) - position;
                s[i][j].v[e] -= slope * (f32)(ahead < 0 ? -ahead : ahead);
            }
        }
        attention_hide<T>(p, s[i], half, row->mask + key0 * p.mask_stride[3], position - (i32)p.left,
                          to < (i32)keys ? to : (i32)keys);
    }
}

struct attention_join_max {
    GPU_FN f32 of(f32 a, f32 b) { return mma_max(a, b); }
};

/* Makes weights of scores times `by`, above 0, which brings them to logarithms to the base 2, and brings maxima and totals up
 * to date. What was summed before is to be multiplied by `fade`. */
template <int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_weigh(struct mma_tile (&s)[TILES][COLUMNS], struct attention_sums<TILES, STEPS> &sums, f32 by,
                            f32 (&fade)[TILES][ATTENTION_LINES]) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < ATTENTION_LINES; half++) {
        /* In strands, for each waits for what it had before. */
        f32 strand[ATTENTION_EACH], sum[ATTENTION_EACH];
        GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
            strand[n] = attention_lowest(0.0f);
            sum[n] = 0;
        }
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++)
            strand[n] = mma_max(s[i][j].v[attention_element(half, n)], strand[n]);
        f32 high = gpu_tree<ATTENTION_EACH>::template of<attention_join_max>(strand);
        GPU_UNROLL for (u32 lanes = ATTENTION_NEAR; lanes < ATTENTION_FAR; lanes *= 2)
            high = mma_max(gpu_shuffle_xor(high, lanes), high);
        high = mma_max(high * by, sums.most[i][half]);
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0 : high;
        fade[i][half] = mma_exp2(sums.most[i][half] - base);
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
            f32 &x = s[i][j].v[attention_element(half, n)];
            sum[n] += x = mma_exp2(gpu_fma(x, by, -base));
        }
        sums.most[i][half] = high;
        sums.total[i][half] = sums.total[i][half] * fade[i][half] + gpu_tree<ATTENTION_EACH>::template of<gpu_join_add>(sum);
    }
}

/* Multiplies what was summed, unless no maximum of the wave's rows has moved. */
template <int TILES, int STEPS>
GPU_FN void attention_fade(struct attention_sums<TILES, STEPS> &sums, const f32 (&fade)[TILES][ATTENTION_LINES]) {
    bool moved = false;
    GPU_UNROLL for (int i = 0; i < TILES; i++) moved |= fade[i][0] != 1 || fade[i][ATTENTION_LINES - 1] != 1;
    if (gpu_ballot(moved) == 0) return;
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int c = 0; c < STEPS; c++)
        GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) sums.out[i][c].v[e] *= fade[i][attention_half(e)];
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
                           f32 (&fade)[TILES][ATTENTION_LINES]) {
    const f32 log2e = 1.4426950408889634f;
    bool plain = key >= part.free.begin && key + COLUMNS * 16 <= part.free.end;
    if (!plain) {
        attention_scale(s, (f32)p.scale);
        attention_adjust<T>(p, s, part.rows, part.begin + key, part.keys - key);
    }
    attention_weigh(s, sums, plain ? (f32)p.scale * log2e : log2e, fade);
}

/* Totals of all keys, from those of each lane's. */
template <int TILES, int STEPS> GPU_FN void attention_total(struct attention_sums<TILES, STEPS> &sums) {
    GPU_UNROLL for (u32 lanes = ATTENTION_NEAR; lanes < ATTENTION_FAR; lanes *= 2)
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int half = 0; half < ATTENTION_LINES; half++)
                sums.total[i][half] += gpu_shuffle_xor(sums.total[i][half], lanes);
}

/* Notes the rows of the block that must be summed again, and sums them. `notes` as attention_mend has it. */
template <typename T, int ROWS, int THREADS, int TILES, int STEPS>
GPU_FN void attention_repair(const struct gpu_attention &p, const struct attention_place &at,
                             const struct attention_row *rows, const struct attention_sums<TILES, STEPS> &sums,
                             u32 again, f32 *notes) {
    const f32 ln2 = 0.69314718055994531f;
    GPU_NO_UNROLL for (u32 r = gpu_thread() % THREADS; r < ROWS; r += THREADS) notes[r * 2 + 1] = -1;
    gpu_sync_part<THREADS>();
    GPU_UNROLL for (u32 i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < ATTENTION_LINES; half++) {
        u32 r = gpu_thread() % THREADS / GPU_WAVE * (16 * TILES) + i * 16 + attention_line(half);
        if (!(again >> (i * ATTENTION_LINES + half) & 1)) continue;
        notes[r * 2] = sums.most[i][half] * ln2;
        notes[r * 2 + 1] = sums.total[i][half];
    }
    gpu_sync_part<THREADS>();
    attention_mend<T, ROWS, THREADS>(p, at, rows, notes, 0, p.width);
}

#if MMA_ASYNC
/* ---- where copies are asynchronous ---- */

struct alignas(1024) attention_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct attention_page, attention_shared);

/* Bytes of this thread's pieces that exist in rows of so many elements. */
template <int DIM> GPU_FN u32 attention_bytes(i64 elements) {
    i64 left = elements - gpu_thread() % (DIM / 8) * 8;
    return left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
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
    attention_total(sums);
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
#endif
#endif

#endif
