/* What both kinds of attention kernels share: where rows lie, what happens to a score, rows that are summed again. */
#ifndef WICK_KERNELS_ATTENTION_COMMON_H
#define WICK_KERNELS_ATTENTION_COMMON_H

#include "attention.h"
#include "dtype.h"

/* A row of a tile. */
struct attention_row {
    i64 q, mask, out; /* offsets of its query and its mask, its number among the rows of out; out < 0: no such row */
    i64 position;     /* the key it stands at */
    f32 slope;
};

/* The tile of this block. */
struct attention_place {
    i64 batch, row0, rows;     /* rows of the unit; row0 >= rows: the block has nothing to do */
    i64 queries, shift;        /* of the sequence; what the position of a query is more than its number */
    i64 begin, end;            /* keys that some row may see, of the block's part */
    i64 low, high;             /* positions of the tile's rows */
    i64 q, k, v;               /* offsets of the sequence's queries, of the unit's keys and values */
    i64 out, out_head, out_row; /* the number of a row of out is out + head * out_head + index * out_row */
    u32 unit;
};

/* ---- packed sequences ---- */

/* A start, or the end where it lies behind it. */
GPU_FN i64 attention_start(const u32 *starts, i64 stride, i64 s, i64 end) {
    i64 at = starts[s * stride];
    return at < end ? at : end;
}

/* The rule of wick__starts_rule that start s of the queries, or else the keys, breaks; -1: none. */
GPU_FN int attention_start_rule(const struct gpu_attention &p, bool of_keys, u32 s) {
    const u32 *starts = of_keys ? p.k_starts : p.q_starts;
    i64 stride = p.start_stride[of_keys], end = of_keys ? p.keys : p.queries;
    i64 at = starts[s * stride], before = s ? starts[(s - 1) * stride] : 0;
    return s == 0 && at != 0 ? 0 : at < before ? 1 : at > end ? 2 : s == p.sequences && at != end ? 3 : -1;
}

/* Reports starts that do not go from 0 to the end without a step back, at 8 s + 2 rule + (1 for those of keys). */
GPU_FN void attention_check_starts(const struct gpu_attention &p) {
    GPU_NO_UNROLL for (u32 which = 0; which < 2; which++)
        GPU_NO_UNROLL for (u32 s = gpu_thread(); s <= p.sequences; s += gpu_threads()) {
            int rule = attention_start_rule(p, which, s);
            i64 at = (which ? p.k_starts : p.q_starts)[s * p.start_stride[which]];
            if (rule >= 0) gpu_report_failure(p.report, 8 * (i64)s + 2 * rule + which, at);
        }
}

/* x / by, of numbers >= 0, SHORT: below 2^32. Divisions of 64 bits are slow and want registers, and few are needed. */
template <bool SHORT = false> GPU_FN i64 attention_divide(u64 x, u64 by) {
    return SHORT || ((x | by) >> 32) == 0 ? (u32)x / (u32)by : (i64)(x / by);
}

/* The sequence that has a tile, and the tile's first row in it. */
GPU_FN void attention_find(const struct gpu_attention &p, struct attention_place &at, i64 tile, u32 tile_rows) {
    i64 members = p.merged ? p.group : 1, low = 0, high = p.sequences - 1;
    while (low < high) {
        i64 middle = (low + high + 1) / 2;
        i64 first = attention_start(p.q_starts, p.start_stride[0], middle, p.queries) * members / tile_rows + middle;
        if (first <= tile)
            low = middle;
        else
            high = middle - 1;
    }
    at.q = attention_start(p.q_starts, p.start_stride[0], low, p.queries);
    at.k = attention_start(p.k_starts, p.start_stride[1], low, p.keys);
    at.queries = attention_start(p.q_starts, p.start_stride[0], low + 1, p.queries) - at.q;
    at.end = attention_start(p.k_starts, p.start_stride[1], low + 1, p.keys) - at.k;
    at.queries = at.queries > 0 ? at.queries : 0;
    at.end = at.end > 0 ? at.end : 0;
    at.batch = low;
    tile -= at.q * members / tile_rows + low;
    at.row0 = (tile > 0 ? tile : 0) * tile_rows;
    at.out = at.q * p.heads;
    at.out_head = 1;
    at.out_row = p.heads;
}

/* Parameters to LDS, where the first thread may change them then. AMD has too few scalar registers for one thread's copy of
 * them; NVIDIA has no parameters by number. */
GPU_FN void attention_take(struct gpu_attention &to, const struct gpu_attention &from) {
#if defined(GPU_AMD)
    static_assert(sizeof to <= GPU_BLOCK * 4, "a word a thread");
    if (gpu_thread() < sizeof to / 4) ((u32 *)&to)[gpu_thread()] = ((const u32 *)&from)[gpu_thread()];
    gpu_sync();
#else
    if (gpu_thread() == 0) to = from;
#endif
}

/* ---- the tile of a block ---- */

/* Cuts the keys, at.end of them, to this block's part and to what some row sees. */
template <bool SHORT = false>
GPU_FN void attention_cut_keys(const struct gpu_attention &p, struct attention_place &at, u32 tile_rows) {
    i64 split = p.split, keys = at.end, last = at.row0 + tile_rows < at.rows ? at.row0 + tile_rows - 1 : at.rows - 1;
    i64 member = SHORT && !p.merged ? 0 : attention_divide<SHORT>((u64)at.row0, (u64)at.queries);
    i64 first = at.row0 - member * at.queries;
    bool narrow = last < (member + 1) * at.queries; /* all rows are of one head */
    at.low = at.shift + (narrow ? first : 0);
    at.high = at.shift + (narrow ? last - member * at.queries : at.queries - 1);
    if (split == 0) split = (attention_divide<SHORT>((u64)(keys + p.splits - 1), p.splits) + 63) / 64 * 64;
    at.begin = (i64)gpu_block_y() * split;
    if (at.begin + split < at.end) at.end = at.begin + split;
    if (at.low - p.left > at.begin) at.begin = at.low - p.left;
    if (at.high + p.right + 1 < at.end) at.end = at.high + p.right + 1;
    if (at.end < at.begin) at.begin = at.end = 0;
}

/* Fills `at` with what block first + x works on. */
template <bool SHORT = false>
GPU_FN void attention_locate_at(const struct gpu_attention &p, struct attention_place &at, u32 tile_rows, u32 x) {
    u64 block = p.first + x, run = (u64)p.across * p.tiles, runs = (u64)attention_divide<SHORT>(block, run);
    u64 rest = block - runs * run, down = (u64)attention_divide<SHORT>(rest, p.across);
    u64 whole = runs * p.across + rest - down * p.across;
    i64 tile = p.tiles - 1 - (i64)down, batch = attention_divide<SHORT>(whole, p.units);
    at.unit = (u32)(whole - (u64)batch * p.units);
    if (p.q_starts) {
        attention_find(p, at, tile, tile_rows);
        batch = 0;
    } else {
        at.batch = batch;
        at.row0 = tile * tile_rows;
        at.queries = p.queries;
        at.end = p.keys;
        at.q = at.k = 0;
        at.out = batch * p.heads * p.queries;
        at.out_head = p.queries;
        at.out_row = 1;
    }
    u32 key_head = p.merged ? at.unit : at.unit / p.group;
    at.v = batch * p.v_stride[0] + key_head * p.v_stride[1] + at.k * p.v_stride[2];
    at.k = batch * p.k_stride[0] + key_head * p.k_stride[1] + at.k * p.k_stride[2];
    at.q = batch * p.q_stride[0] + at.q * p.q_stride[2];
    at.rows = p.merged ? p.group * at.queries : at.queries;
    at.shift = p.align_last ? at.end - at.queries : 0;
    at.begin = at.low = at.high = 0;
    if (at.row0 < at.rows) attention_cut_keys<SHORT>(p, at, tile_rows);
}
GPU_FN struct attention_place attention_locate(const struct gpu_attention &p, u32 tile_rows) {
    struct attention_place at;
    attention_locate_at(p, at, tile_rows, gpu_block_x());
    return at;
}

template <bool SHORT = false>
GPU_FN struct attention_row attention_row_of(const struct gpu_attention &p, const struct attention_place &at,
                                             u32 line) {
    struct attention_row r;
    i64 index = at.row0 + line, head = at.unit;
    r.q = r.mask = r.position = 0;
    r.out = -1;
    r.slope = 0;
    if (index >= at.rows) return r;
    if (p.merged) {
        i64 member = attention_divide<SHORT>((u64)index, (u64)at.queries);
        index -= member * at.queries;
        head = (i64)at.unit * p.group + member;
    }
    r.q = at.q + head * p.q_stride[1] + index * p.q_stride[2];
    r.mask = at.batch * p.mask_stride[0] + head * p.mask_stride[1] + index * p.mask_stride[2];
    r.out = at.out + head * at.out_head + index * at.out_row;
    r.position = index + at.shift;
    if (p.slopes) r.slope = ((const f32 *)p.slopes)[at.batch * p.slope_stride[0] + head * p.slope_stride[1]];
    return r;
}

/* ---- scores ---- */

GPU_FN f32 attention_lowest(f32) { return gpu_bits<f32>(0xff800000u); }
GPU_FN f64 attention_lowest(f64) { return gpu_bits<f64>((u64)0xfff << 52); }

/* A score plus an element of the mask. -inf leaves its key out, whatever the score is. */
template <typename S> GPU_FN S attention_plus(S score, S mask) {
    return mask == attention_lowest(mask) ? mask : score + mask;
}

/* A score after the slope, the mask, and what a row may not see. PLAIN: there are no slopes and no mask. */
template <typename T, bool PLAIN = false, typename S>
GPU_FN S attention_seen(const struct gpu_attention &p, S score, const struct attention_row &row, i64 key, i64 end) {
    i64 ahead = key - row.position;
    if (!PLAIN && p.slopes) score -= (S)row.slope * (S)(ahead < 0 ? -ahead : ahead);
    if (key >= end || ahead > p.right || -ahead > p.left) return attention_lowest(score);
    if (PLAIN) return score;
    if (p.masked == GPU_ATTENTION_KEEP)
        return ((const u8 *)p.mask)[row.mask + key * p.mask_stride[3]] ? score : attention_lowest(score);
    if (p.masked == GPU_ATTENTION_ADD)
        score = attention_plus(score, (S)gpu_up(((const T *)p.mask)[row.mask + key * p.mask_stride[3]]));
    return score;
}

/* The same of a scaled score, after the soft cap. */
template <typename T, typename S>
GPU_FN S attention_score(const struct gpu_attention &p, S score, const struct attention_row &row, i64 key, i64 end) {
    if (p.cap > 0) score = (S)p.cap * gpu_tanh(score / (S)p.cap);
    return attention_seen<T>(p, score, row, key, end);
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

/* ---- results ---- */

/* The logarithm of the sum of a row's weights. */
template <typename S> GPU_FN S attention_log_sum(S most, S total) { return most + gpu_log(total); }

/* ---- rows that are summed again ----
 *
 * A key that is left out has the weight 0, and 0 times a value that is infinite or NaN is NaN. So a row whose sums have
 * a NaN, though none of its weights is one, is summed again, key by key, without the keys that it does not see. */

/* The weight of a key, -1 when it is left out. */
template <typename T, typename S>
GPU_FN S attention_weight(const struct gpu_attention &p, const struct attention_place &at,
                          const struct attention_row &row, i64 key, S most) {
    const T *q = (const T *)p.q + row.q, *k = (const T *)p.k + at.k + key * p.k_stride[2];
    S score = 0;
    GPU_NO_UNROLL for (i64 d = 0; d < p.depth; d++)
        score = gpu_fma((S)gpu_up(q[d * p.q_stride[3]]), (S)gpu_up(k[d * p.k_stride[3]]), score);
    score = attention_score<T>(p, score * (S)p.scale, row, key, at.end);
    return score == attention_lowest(score) ? (S)-1 : gpu_exp(score - most);
}

/* Columns column0 .. column1 of one row. `weights` is LDS for one of each thread. */
template <typename T, int THREADS, typename S>
GPU_FN void attention_again(const struct gpu_attention &p, const struct attention_place &at,
                            const struct attention_row &row, S most, S total, i64 column0, i64 column1, S *weights) {
    u32 thread = gpu_thread() % THREADS;
    i64 column = column0 + thread;
    S sum = 0;
    GPU_NO_UNROLL for (i64 key0 = at.begin; key0 < at.end; key0 += THREADS) {
        i64 there = at.end - key0 < THREADS ? at.end - key0 : THREADS;
        gpu_sync_part<THREADS>();
        if ((i64)thread < there)
            weights[thread] = attention_weight<T>(p, at, row, key0 + thread, most);
        gpu_sync_part<THREADS>();
        const T *v = (const T *)p.v + at.v + key0 * p.v_stride[2] + column * p.v_stride[3];
        if (column < column1)
            GPU_NO_UNROLL for (i64 key = 0; key < there; key++)
                if (!(weights[key] < 0)) sum = gpu_fma(weights[key], (S)gpu_up(v[key * p.v_stride[2]]), sum);
    }
    if (column >= column1) return;
    if (p.splits > 1)
        ((S *)p.partial)[((i64)gpu_block_y() * p.total + row.out) * p.width + column] = sum;
    else if (p.wide)
        ((S *)p.out)[row.out * p.width + column] = total == 0 ? (S)0 : sum / total;
    else
        ((T *)p.out)[row.out * p.width + column] = gpu_round<T>(total == 0 ? (S)0 : sum / total);
}

/* The rows of a tile whose note has a sum of weights, the second number of two; -1 stands for a row that is right.
 * `notes` is LDS for two numbers a row, and for one of each thread behind them. */
template <typename T, int ROWS, int THREADS, typename S>
GPU_FN void attention_mend(const struct gpu_attention &p, const struct attention_place &at,
                           const struct attention_row *rows, S *notes, i64 column0, i64 column1) {
    GPU_NO_UNROLL for (u32 r = 0; r < ROWS; r++) {
        if (rows[r].out < 0 || notes[r * 2 + 1] < 0) continue;
        GPU_NO_UNROLL for (i64 column = column0; column < column1; column += THREADS)
            attention_again<T, THREADS>(p, at, rows[r], notes[r * 2], notes[r * 2 + 1], column, column1,
                                        notes + ROWS * 2);
    }
}

#endif
