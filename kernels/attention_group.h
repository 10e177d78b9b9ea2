/* Rows of attention's operands as matrix instructions of groups of waves have them in LDS. */
#ifndef WICK_KERNELS_ATTENTION_GROUP_H
#define WICK_KERNELS_ATTENTION_GROUP_H

#include "attention_tiles.h"
#include "mma_bulk.h"

#if MMA_GROUP
enum { GROUP = 128 }; /* threads */

/* Rows of DIM elements have whole steps of 64 in LDS. */
template <int DIM> struct attention_wide {
    enum { value = (DIM + 63) / 64 * 64 };
};

/* Where piece c of 16 bytes of row r of WIDE elements lies in LDS: in the step of 64 terms that has it, of which blocks of
 * LINES rows have a line each. */
template <int WIDE, int LINES> GPU_FN u32 attention_piece(u32 row, u32 piece) {
    u32 line = (row / LINES * (WIDE / 64) + piece / 8) * LINES + row % LINES;
    return line * GROUP_LINE + (piece % 8 ^ row % 8) * 16;
}

/* Keys or values of a block: `keys` rows, of which this thread copies `nbytes` of its piece. */
struct attention_source {
    const u16 *from;
    i64 stride;
    u32 keys, nbytes;
};

/* A step of them from number `first` on, by a group; the rest are zeros. What lies past the end of all rows is written when
 * the place is `fresh`, and stays. */
template <int WIDE, int KEYS, int LINES>
GPU_FN void attention_fill(mma_lds lds, const struct attention_source &source, u32 first, bool fresh) {
    enum { PER = GROUP / (WIDE / 8) };
    u32 piece = gpu_thread() % (WIDE / 8), line = gpu_thread() % GROUP / (WIDE / 8);
    const u16 *at = source.from + (i64)(first + line) * source.stride + piece * 8;
    mma_lds to = lds + attention_piece<WIDE, LINES>(line, piece);
    if (source.nbytes == 16 && first + KEYS <= source.keys) {
        GPU_UNROLL for (u32 j = 0; j < KEYS / PER; j++, at += PER * source.stride)
            mma_copy16_whole_at(to + attention_piece<WIDE, LINES>(j * PER, 0), at);
    } else if (source.nbytes > 0 || fresh) {
        GPU_NO_UNROLL for (u32 j = 0; j < KEYS / PER; j++, at += PER * source.stride) {
            u32 n = first + line + j * PER < source.keys ? source.nbytes : 0;
            mma_copy16_at(lds + attention_piece<WIDE, LINES>(line + j * PER, piece), n ? at : source.from, n);
        }
    }
}

/* Tiles as left operands of the next products. */
template <typename T, int TILES>
GPU_FN void attention_pack(struct mma_fragment (&x)[TILES], const struct mma_tile (&s)[TILES]) {
    GPU_UNROLL for (int j = 0; j < TILES; j++) GPU_UNROLL for (int w = 0; w < 4; w++)
        x[j].word[w] = mma_pack(s[j].v[w * 2], s[j].v[w * 2 + 1], T());
}

/* Scores of a step of keys, values of a step of weights; they come when they are waited for. */
template <typename T, int DIM, int KEYS>
GPU_FN void attention_score_keys(struct mma_tile (&s)[KEYS / 16], const u8 *q, const u8 *k) {
    enum { REST = DIM > 64 ? DIM / 16 - 4 : 4 };
    group_multiply<T, false, false, true>(s, q, k);
    if (DIM > 64) group_multiply<T, false, false, false, REST>(s, q + GROUP_BLOCK, k + KEYS * GROUP_LINE);
    group_commit();
}
template <typename T, int DIM, int KEYS>
GPU_FN void attention_add_values(struct mma_tile (&out)[DIM / 16], const struct mma_fragment (&x)[KEYS / 16],
                                 const u8 *v) {
    GPU_UNROLL for (int step = 0; step < KEYS / 64; step++)
        group_multiply_kept<T, true>(out, x + step * 4, v + step * (attention_wide<DIM>::value / 64 * GROUP_BLOCK));
    group_commit();
}

#if MMA_BULK
/* ---- weights and results, where maxima move seldom and results leave by whole pieces ---- */

/* Leaves out scores of a lane's row `half` but those of columns from .. to - 1, of which there are `columns`. */
template <int COLUMNS>
GPU_FN void group_keep(struct mma_tile (&s)[COLUMNS], u32 half, i32 from, i32 to, i32 columns) {
    if (from < 0) from = 0;
    if (to > columns) to = columns;
    u32 many = to > from ? to - from : 0, own = attention_first() - from;
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
        u32 e = attention_element(half, n);
        if (own + (j * 16 + attention_ahead(e)) >= many) s[j].v[e] = attention_lowest(0.0f);
    }
}

/* Leaves out what a row may not see of a step whose first key is number `key` of the block's. */
template <int COLUMNS>
GPU_FN void group_hide(const struct gpu_attention &p, struct mma_tile (&s)[COLUMNS], const struct attention_row *rows,
                       i64 key0, u32 keys) {
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        i32 position = (i32)(rows[attention_line(half)].position - key0), to = position + (i32)p.right + 1;
        group_keep(s, half, position - (i32)p.left, to, (i32)keys);
    }
}

/* As attention_weigh, but what weights are relative to stays until one of them is more than 2^8, and so, mostly, sums do. */
template <int COLUMNS>
GPU_FN bool group_weigh(struct mma_tile (&s)[COLUMNS], f32 (&mosts)[2], f32 (&totals)[2], f32 by, f32 (&fade)[2]) {
    bool moved = false;
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 strand[ATTENTION_EACH], sum[ATTENTION_EACH];
        GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
            strand[n] = s[0].v[attention_element(half, n)];
            sum[n] = 0;
        }
        GPU_UNROLL for (int j = 1; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++)
            strand[n] = mma_max(s[j].v[attention_element(half, n)], strand[n]);
        f32 high = gpu_tree<ATTENTION_EACH>::template of<attention_join_max>(strand), most = mosts[half];
        GPU_UNROLL for (u32 lanes = ATTENTION_NEAR; lanes < ATTENTION_FAR; lanes *= 2)
            high = mma_max(gpu_shuffle_xor(high, lanes), high);
        high *= by;
        high = high - most > 8 ? high : most;
        moved |= high != most;
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0 : high;
        fade[half] = mma_exp2(most - base);
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
            f32 &x = s[j].v[attention_element(half, n)];
            sum[n] += x = mma_exp2(gpu_fma(x, by, -base));
        }
        mosts[half] = high;
        totals[half] = totals[half] * fade[half] + gpu_tree<ATTENTION_EACH>::template of<gpu_join_add>(sum);
    }
    return moved;
}

/* Writes the results as attention_store does, where they are whole pieces of 16 bytes by these: each wave turns its 16
 * rows round in LDS, where the queries of its group, at q, were. `put`: they only go there. */
template <typename T, int DIM>
GPU_FN u32 group_store(const struct gpu_attention &p, const struct attention_row *rows,
                      struct attention_sums<1, DIM / 16> &sums, bool hides, u8 *q, bool put = false) {
    enum { WIDE = attention_wide<DIM>::value, PIECES = DIM / 8 };
    const f32 ln2 = 0.69314718055994531f;
    if (p.splits > 1 || p.width % 8 != 0 || (u64)p.out % 16 != 0) return attention_store<T>(p, rows, sums, hides);
    u32 again = 0, first = gpu_wave() % 4 * 16, r = gpu_lane() / 4;
    bool nan[2] = {false, false};
    f32 part[2];
    attention_total(sums);
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 sum = sums.total[0][half];
        part[half] = sum == 0 ? 0 : 1.0f / sum;
        if (p.log_sums && gpu_lane() % 4 == 0 && rows[half * 8 + r].out >= 0)
            ((f32 *)p.log_sums)[rows[half * 8 + r].out] = attention_log_sum(sums.most[0][half] * ln2, sum);
    }
    GPU_UNROLL for (u32 c = 0; c < DIM / 16; c++) {
        struct mma_fragment x;
        GPU_UNROLL for (u32 w = 0; w < 4; w++) {
            f32 a = sums.out[0][c].v[w * 2], b = sums.out[0][c].v[w * 2 + 1];
            nan[w % 2] |= a != a || b != b;
            x.word[w] = mma_pack(a * part[w % 2], b * part[w % 2], T());
        }
        u32 to = attention_piece<WIDE, 64>(first + gpu_lane() % 16, c * 2 + gpu_lane() / 16);
        bulk_store_fragment(bulk_address(q + to), x);
    }
    GPU_UNROLL for (u32 half = 0; half < 2; half++)
        if (hides && nan[half] && sums.total[0][half] == sums.total[0][half]) again |= 1u << half;
    if (put) return again;
    group_sync_wave();
    GPU_UNROLL for (u32 u = gpu_lane(); u < 16 * PIECES; u += GPU_WAVE) {
        u32 row = u / PIECES, piece = u % PIECES;
        i64 out = rows[row].out;
        if (out >= 0 && piece * 8 < p.width)
            *(gpu_16 *)((u16 *)p.out + out * p.width + piece * 8) =
                *(const gpu_16 *)(q + attention_piece<WIDE, 64>(first + row, piece));
    }
    return again;
}
#endif
#endif

#endif
