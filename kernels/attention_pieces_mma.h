/* Attention of few queries by matrix instructions, of bf16 and f16 where they take operands from registers as they are
 * loaded (NVIDIA); see attention_pieces.hip.
 *
 * A block has up to 8 queries, and 4 to 8 waves. A wave takes KEYS keys in turn, four to a load: 128 bytes of each, lines of
 * memory that are whole and lie side by side. A product takes any terms in any order that both operands share, so pieces of
 * keys are operands as they come: lane l has piece l % 8 of key l / 8, so that two columns of the product are one key's,
 * the first with the line's pieces 0 to 3, the second with 4 to 7. Rows 0 to 7 of the other operand are the queries' pieces
 * 0 to 3, rows 8 to 15 their pieces 4 to 7. So a score is the sum of two elements, which the same lane has, of query l / 4
 * and key l % 4: as the next product wants weights. Of these keys the lane loads piece l / 4 of values, and that 8 behind
 * it, and pairs their elements. */
#ifndef WICK_KERNELS_ATTENTION_PIECES_MMA_H
#define WICK_KERNELS_ATTENTION_PIECES_MMA_H

#include "attention_pieces.h"
#include "mma.h"

#if MMA && MMA_ASYNC
template <typename T, int WIDE> struct pieces_mma {
    typedef gpu_vec<u32> vector;
    enum {
        ROWS = GPU_ATTENTION_FEW_MMA,
        KEYS = 2048 / WIDE,
        LOADS = KEYS / 4,  /* of four keys */
        LINES = WIDE / 64, /* of a key or a value */
        TILES = WIDE / 16
    };
    typedef pieces_join<T, ROWS, WIDE, true, GPU_ATTENTION_FEW_THREADS> join;
    typedef typename join::room room;
    typedef typename join::sums sums;

    struct lane {
        vector q[LINES][2]; /* of query l / 4: pieces l % 4 and l % 4 + 4 of each line */
        f32 sum[TILES][4];  /* of two columns, each for queries l % 4 * 2 and the next */
        f32 most, total;    /* of query l / 4, of the lane's own keys */
    };

    /* 16 bytes that nobody on this unit looks at again: they pass its cache by. */
    GPU_FN vector load(const u32 *from) {
#if defined(GPU_NVIDIA)
        vector x;
        asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3])
                     : "l"(__cvta_generic_to_global(from)));
        return x;
#else
        return gpu_load16(from);
#endif
    }

    /* Asks for a step of keys or values. `left`: how many the wave has; `key`: which of four is the lane's. None behind the last
     * is read, which stands for those; nor are pieces behind the last of `pieces`. */
    GPU_FN void fetch(const T *from, i64 step, i32 left, u32 key, u32 piece, u32 pieces, vector (&x)[LOADS][LINES]) {
        const i32 own = left - (i32)key;
        const T *at = from;
        GPU_UNROLL for (i32 i = 0; i < LOADS; i++, at += 4 * step) {
            if (left < KEYS && own <= i * 4) at = from + (own - 1) * step;
            GPU_UNROLL for (u32 m = 0; m < LINES; m++)
                x[i][m] = load((const u32 *)(at + (m == 0 || piece + m * 8 < pieces ? m * 64 : 0)));
        }
    }

    GPU_FN void multiply(const lane &own, u32 pieces, vector (&k)[LOADS][LINES], f32 (&score)[LOADS]) {
        if (pieces < WIDE / 8) /* 0 times infinity is no 0 */
            GPU_UNROLL for (u32 m = 0; m < LINES; m++) GPU_UNROLL for (int i = 0; i < LOADS; i++)
                GPU_UNROLL for (u32 w = 0; w < 4; w++) k[i][m].v[w] = gpu_lane() % 8 + m * 8 < pieces ? k[i][m].v[w] : 0;
        GPU_UNROLL for (int i = 0; i < LOADS; i += 2) {
            struct mma_tile s;
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s.v[e] = 0;
            GPU_UNROLL for (u32 m = 0; m < LINES; m++) GPU_UNROLL for (u32 h = 0; h < 4; h += 2) {
                const vector &low = own.q[m][0], &high = own.q[m][1], &a = k[i][m], &b = k[i + 1][m];
                const struct mma_fragment x = {{low.v[h], high.v[h], low.v[h + 1], high.v[h + 1]}};
                const struct mma_fragment y = {{a.v[h], a.v[h + 1], b.v[h], b.v[h + 1]}};
                mma<T>(s, x, y);
            }
            score[i] = s.v[0] + s.v[3];
            score[i + 1] = s.v[4] + s.v[7];
        }
    }

    /* Scores as logarithms to the base 2, with what is to be done to them. */
    GPU_FN void rate(const struct gpu_attention &p, const room &from, i32 left, f32 (&score)[LOADS]) {
        const f32 log2e = 1.4426950408889634f;
        i64 end = from.at.end, key = end - left;
        u32 first = (u32)(key - from.at.begin);
        if (first >= from.free.begin && first + KEYS <= from.free.end) {
            GPU_UNROLL for (int i = 0; i < LOADS; i++) score[i] *= (f32)p.scale * log2e;
            return;
        }
        key += gpu_lane() % 4;
        /* The first of them, LOADS times in turn: that is long. */
        GPU_NO_UNROLL for (u32 i = 0; i < LOADS; i++, key += 4) {
            f32 x = log2e * attention_score<T>(p, score[0] * (f32)p.scale, from.rows[gpu_lane() / 4], key, end);
            GPU_UNROLL for (u32 e = 0; e + 1 < LOADS; e++) score[e] = score[e + 1];
            score[LOADS - 1] = x;
        }
    }

    /* Makes weights of scores, and brings what was summed up to date for them. */
    GPU_FN void weigh(lane &own, f32 (&score)[LOADS]) {
        f32 high = own.most, sum = 0;
        GPU_UNROLL for (int i = 0; i < LOADS; i++) high = mma_max(score[i], high);
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) high = mma_max(gpu_shuffle_xor(high, lanes), high);
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0.0f : high, fade = mma_exp2(own.most - base);
        GPU_UNROLL for (int i = 0; i < LOADS; i++) sum += score[i] = mma_exp2(score[i] - base);
        own.total = own.total * fade + sum;
        own.most = high;
        if (gpu_ballot(fade != 1) == 0) return;
        GPU_UNROLL for (u32 r = 0; r < 2; r++) {
            f32 by = gpu_shuffle(fade, gpu_lane() % 4 * 8 + r * 4);
            GPU_UNROLL for (int j = 0; j < TILES; j++) GPU_UNROLL for (u32 e = r; e < 4; e += 2) own.sum[j][e] *= by;
        }
    }

    /* Element e of two vectors. */
    GPU_FN u32 pair(const vector &a, const vector &b, int e) {
        u32 x = a.v[e / 2], y = b.v[e / 2];
        return e % 2 ? x >> 16 | (y & 0xffff0000u) : (x & 0xffff) | y << 16;
    }

    GPU_FN void add(lane &own, const f32 (&weight)[LOADS], const vector (&v)[LOADS][LINES]) {
        GPU_UNROLL for (int i = 0; i < LOADS; i += 4) {
            struct mma_fragment x, y = {{mma_pack(weight[i], weight[i + 1], T()), mma_pack(weight[i + 2], weight[i + 3], T()), 0, 0}};
            GPU_UNROLL for (int j = 0; j < TILES; j++) {
                GPU_UNROLL for (int w = 0; w < 4; w++) {
                    int line = LINES == 2 ? w % 2 : 0, e = LINES == 2 ? j : j + w % 2 * TILES, key = i + w / 2 * 2;
                    x.word[w] = pair(v[key][line], v[key + 1][line], e);
                }
                /* The columns of four more words are nobody's, and their product is left out. */
                struct mma_tile sum = {{own.sum[j][0], own.sum[j][1], own.sum[j][2], own.sum[j][3], 0, 0, 0, 0}};
                mma<T>(sum, x, y);
                GPU_UNROLL for (int e = 0; e < 4; e++) own.sum[j][e] = sum.v[e];
            }
        }
    }

    /* What the wave has summed, to LDS. */
    GPU_FN void leave(lane &own, room &to, sums &all) {
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) own.total += gpu_shuffle_xor(own.total, lanes);
        if (gpu_lane() % 4 == 0) {
            to.most[gpu_wave()][gpu_lane() / 4] = own.most;
            to.total[gpu_wave()][gpu_lane() / 4] = own.total;
        }
        GPU_UNROLL for (int j = 0; j < TILES; j += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
            gpu_vec<f32> four = {{own.sum[j][e], own.sum[j + 1][e], own.sum[j + 2][e], own.sum[j + 3][e]}};
            u32 at = LINES == 2 ? (gpu_lane() / 4 + e / 2 * 8) * 2 + j / 4 : gpu_lane() / 4 * 2 + e / 2;
            all.of[gpu_wave()][gpu_lane() % 4 * 2 + e % 2][at] = four;
        }
    }

    GPU_FN void run(const struct gpu_attention_pieces &params) {
        const struct gpu_attention &p = params.all;
        GPU_SHARED room to;
        GPU_SHARED sums all;
        const struct attention_place at = attention_locate(p, ROWS);
        const i32 step = (i32)(gpu_threads() / GPU_WAVE * KEYS);
        const i64 first = at.begin + gpu_wave() * KEYS;
        const u32 parts = (u32)p.depth / 8, columns = (u32)p.width / 8, part = gpu_lane() % 8, column = gpu_lane() / 4;
        const u32 key = gpu_lane() / 8, value = gpu_lane() % 4;
        i32 left = (i32)(at.end - first);
        const T *ks = (const T *)p.k + at.k + (first + key) * p.k_stride[2] + (part < parts ? part * 8 : 0);
        const T *vs = (const T *)p.v + at.v + (first + value) * p.v_stride[2] + (column < columns ? column * 8 : 0);
        vector k[LOADS][LINES], v[LOADS][LINES];
        gpu_wait();
        if (left > 0) {
            fetch(ks, p.k_stride[2], left, key, part, parts, k);
            fetch(vs, p.v_stride[2], left, value, column, columns, v);
        }
        join::begin(p, at, to);
        lane own;
        own.most = attention_lowest(0.0f);
        own.total = 0;
        GPU_UNROLL for (int j = 0; j < TILES; j++) GPU_UNROLL for (int e = 0; e < 4; e++) own.sum[j][e] = 0;
        GPU_UNROLL for (u32 m = 0; m < LINES; m++) GPU_UNROLL for (u32 h = 0; h < 2; h++) {
            const struct attention_row &row = to.rows[gpu_lane() / 4];
            const u32 piece = gpu_lane() % 4 + h * 4 + m * 8;
            GPU_UNROLL for (int w = 0; w < 4; w++) own.q[m][h].v[w] = 0;
            if (row.out >= 0 && piece < parts) own.q[m][h] = gpu_load16((const u32 *)((const T *)p.q + row.q + piece * 8));
        }
        GPU_NO_UNROLL for (; left > 0; left -= step) {
            f32 score[LOADS];
            multiply(own, parts, k, score);
            ks += step * p.k_stride[2];
            if (left > step) fetch(ks, p.k_stride[2], left - step, key, part, parts, k);
            rate(p, to, left, score);
            weigh(own, score);
            add(own, score, v);
            vs += step * p.v_stride[2];
            if (left > step) fetch(vs, p.v_stride[2], left - step, value, column, columns, v);
        }
        gpu_lead(); /* not before: blocks of the next kernel would be put where this one's grid leaves room, and not spread */
        leave(own, to, all);
        join::finish(p, to, all);
        if (params.tickets && p.splits > 1) join::meet(p, params.tickets, to, all);
    }
};
#endif

#endif
