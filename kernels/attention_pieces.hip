/* Scaled dot product attention of few queries with many keys, as attention_few.hip has it, where rows of q, k and v are whole
 * pieces of 16 bytes. Memory gives the pace, so what counts is how much of it is asked for at once.
 *
 * A block has up to 4 queries of one unit. Its waves share nothing until the end, when their sums are joined in the order of
 * waves. In a wave some lanes have a key, each a piece of it or two, and take four keys in turn; they have the same
 * pieces of those keys' values. The next keys are on their way while values are added, the next values while keys are
 * multiplied. */
#include "attention_common.h"
#include "mma.h"

/* Sums of N values over 2 APART lanes: a lane gets N / (2 APART) of them, those of its number. */
template <int N, int APART> struct pieces_fold {
    template <typename S, int MINE> GPU_FN void of(const S (&v)[N], S (&to)[MINE]) {
        bool upper = gpu_lane() & APART;
        S half[N / 2];
        GPU_UNROLL for (int i = 0; i < N / 2; i++) {
            S a = v[i], b = v[i + N / 2], sum = gpu_shuffle_xor(upper ? a : b, APART);
            half[i] = sum + (upper ? b : a);
        }
        pieces_fold<N / 2, APART / 2>::of(half, to);
    }
};
template <int N> struct pieces_fold<N, 0> {
    template <typename S> GPU_FN void of(const S (&v)[N], S (&to)[N]) {
        GPU_UNROLL for (int i = 0; i < N; i++) to[i] = v[i];
    }
};

/* What the waves of a block leave in LDS, and what becomes of it. TWO: maxima are logarithms to the base 2. */
template <typename T, int ROWS, int WIDE, bool TWO, int THREADS = GPU_BLOCK> struct pieces_join {
    typedef typename gpu_compute<T>::type S;
    enum { WAVES = THREADS / GPU_WAVE };

    struct room {
#if defined(GPU_AMD)
        struct gpu_attention p; /* scalar registers are too few */
#endif
        struct attention_place at; /* registers are few */
        struct attention_free free;
        struct attention_row rows[ROWS];
        S most[WAVES][ROWS], total[WAVES][ROWS];
        S notes[ROWS * 2 + THREADS];
        gpu_vec<S> sums[WAVES][ROWS][WIDE / gpu_vec<S>::N + 1]; /* and a gap, for rows to begin at different banks */
        u32 any;
    };

    GPU_FN void begin(const struct gpu_attention &p, const struct attention_place &at, room &to) {
        if (gpu_thread() < ROWS) {
            to.rows[gpu_thread()] = attention_row_of(p, at, gpu_thread());
            to.notes[gpu_thread() * 2 + 1] = -1;
        }
        if (gpu_thread() == 0) {
            to.at = at;
            to.free = attention_free_of(p, at);
            to.any = 0;
        }
        gpu_sync();
    }

    GPU_FN S power(S x) { return TWO ? (S)gpu_exp2(x) : (S)gpu_exp(x); }

    /* Joins element d of row r over the waves, in their order, and stores it. */
    GPU_FN void store(const struct gpu_attention &p, room &from, u32 r, u32 d) {
        S most = attention_lowest((S)0), total = 0, sum = 0;
        i64 row = from.rows[r].out;
        GPU_UNROLL for (u32 w = 0; w < WAVES; w++) most = from.most[w][r] > most ? from.most[w][r] : most;
        S base = most == attention_lowest(most) ? (S)0 : most;
        GPU_UNROLL for (u32 w = 0; w < WAVES; w++) {
            S by = power(from.most[w][r] - base);
            total += by * from.total[w][r];
            sum += by * ((const S *)from.sums[w][r])[d];
        }
        if (TWO) most *= (S)0.69314718055994531;
        if (sum != sum && total == total) {
            from.notes[r * 2] = most;
            from.notes[r * 2 + 1] = total;
            from.any = 1;
        }
        if (p.splits > 1) {
            row += (i64)gpu_block_y() * p.total;
            ((S *)p.partial)[row * p.width + d] = sum;
            if (d > 0) return;
            ((S *)p.stats)[row * 2] = most;
            ((S *)p.stats)[row * 2 + 1] = total;
            return;
        }
        if (d == 0 && p.log_sums) ((S *)p.log_sums)[row] = attention_log_sum(most, total);
        ((T *)p.out)[row * p.width + d] = gpu_round<T>(total == 0 ? (S)0 : sum / total);
    }

    GPU_FN void finish(const struct gpu_attention &p, room &from) {
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < ROWS * WIDE; u += THREADS)
            if (from.rows[u / WIDE].out >= 0 && u % WIDE < p.width) store(p, from, u / WIDE, u % WIDE);
        gpu_sync();
        if (from.any) attention_mend<T, ROWS, THREADS>(p, from.at, from.rows, from.notes, 0, p.width);
    }
};

/* WIDE: elements of a row, at most. */
template <typename T, int WIDE> struct pieces {
    typedef typename gpu_compute<T>::type S;
    typedef gpu_vec<T> vector;
    enum {
        ROWS = GPU_ATTENTION_FEW,
        N = vector::N,
        LANES = WIDE / N < 32 ? WIDE / N : 32, /* of a key */
        EACH = WIDE / N / LANES,               /* pieces of a lane */
        GROUPS = GPU_WAVE / LANES,
        KEYS = EACH > 1 ? 2 : 4, /* of a group, at once */
        WAVES = GPU_BLOCK / GPU_WAVE,
        OF_WAVE = GROUPS * KEYS,
        STEP = WAVES * OF_WAVE,
        SCORES = ROWS * KEYS,
        SPREAD = LANES < SCORES ? LANES : SCORES, /* lanes that a group's scores lie in, row by row */
        OF_ROW = SPREAD / ROWS,
        MINE = SCORES / SPREAD
    };

    typedef pieces_join<T, ROWS, WIDE, false> join;
    typedef typename join::room room;

    /* What a lane has of a key or value: how many pieces from its own on, and where it finds that. One that has none looks at the
     * first piece, whose products are left out. */
    GPU_FN u32 there(i64 elements) {
        u32 own = gpu_lane() % LANES, all = (u32)elements / N;
        return all > own ? all - own : 0;
    }
    GPU_FN const T *place(const void *x, i64 head, i64 step, const struct attention_place &at, u32 there) {
        i64 key = at.begin + gpu_wave() * OF_WAVE + gpu_lane() / LANES;
        return (const T *)x + head + key * step + (there ? gpu_lane() % LANES * N : 0);
    }

    /* Asks for KEYS keys, from that at `from` on, of which the wave has `left` more. None behind the last is read, which stands for
     * those. */
    GPU_FN void fetch(const T *from, i64 step, i32 left, u32 there, vector (&x)[KEYS][EACH]) {
        i32 own = left - (i32)(gpu_lane() / LANES);
        GPU_UNROLL for (i32 i = 0; i < KEYS; i++) {
            const T *at = from + i * GROUPS * step;
            if (left < OF_WAVE) at = from + (own > i * GROUPS ? i * GROUPS : own - 1) * step;
            GPU_UNROLL for (u32 m = 0; m < EACH; m++) x[i][m] = gpu_load16(at + (m == 0 || m * LANES < there ? m * LANES * N : 0));
        }
    }

    /* The lane's pieces of the queries, and what was summed for it. */
    struct lane {
        S q[EACH][ROWS][N], sum[EACH][ROWS][N];
        S most, total; /* of row `row()`, of the lane's own keys */
    };
    GPU_FN u32 row(void) { return gpu_lane() % SPREAD / OF_ROW; }

    GPU_FN void bring(const struct gpu_attention &p, const room &from, u32 there, lane &to) {
        GPU_UNROLL for (u32 m = 0; m < EACH; m++) GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
            const T *q = (const T *)p.q + from.rows[r].q + (gpu_lane() % LANES + m * LANES) * N;
            GPU_UNROLL for (int j = 0; j < N; j++) to.q[m][r][j] = to.sum[m][r][j] = 0;
            /* Rows that are not there have zeros: to leave them out takes longer than to compute them. */
            if (from.rows[r].out >= 0 && m * LANES < there) gpu_up_vector(gpu_load16(q), to.q[m][r]);
        }
        to.most = attention_lowest((S)0);
        to.total = 0;
    }

    /* The lane's scores, of its row and its group's keys from number lane % OF_ROW * MINE on, not scaled. */
    GPU_FN void multiply(const lane &own, u32 there, const vector (&k)[KEYS][EACH], S (&score)[MINE]) {
        S dot[SCORES];
        GPU_UNROLL for (int i = 0; i < SCORES; i++) dot[i] = 0;
        GPU_UNROLL for (u32 m = 0; m < EACH; m++) {
            if (m * LANES >= there) continue; /* for 0 times infinity is no 0 */
            GPU_UNROLL for (int i = 0; i < KEYS; i++) {
                S y[N];
                gpu_up_vector(k[i][m], y);
                GPU_UNROLL for (int r = 0; r < ROWS; r++) GPU_UNROLL for (int j = 0; j < N; j++)
                    dot[r * KEYS + i] = gpu_fma(own.q[m][r][j], y[j], dot[r * KEYS + i]);
            }
        }
        pieces_fold<SCORES, SPREAD / 2>::of(dot, score);
        GPU_UNROLL for (u32 lanes = SPREAD; lanes < LANES; lanes *= 2)
            GPU_UNROLL for (int e = 0; e < MINE; e++) score[e] += gpu_shuffle_xor(score[e], lanes);
    }

    /* Scales scores, and does to them what is to be done; the wave has `left` keys from the first of this step on. */
    GPU_FN void rate(const struct gpu_attention &p, const room &from, i32 left, S (&score)[MINE]) {
        i64 end = from.at.end, key = end - left;
        u32 first = (u32)(key - from.at.begin);
        GPU_UNROLL for (int e = 0; e < MINE; e++) score[e] *= (S)p.scale;
        if (first >= from.free.begin && first + OF_WAVE <= from.free.end) return;
        key += gpu_lane() / LANES + gpu_lane() % OF_ROW * (MINE * GROUPS);
        GPU_UNROLL for (int e = 0; e < MINE; e++)
            score[e] = attention_score<T>(p, score[e], from.rows[row()], key + e * GROUPS, end);
    }

    /* Makes weights of scores, and brings what was summed up to date for them. */
    GPU_FN void weigh(lane &own, S (&score)[MINE]) {
        S high = own.most, sum = 0;
        GPU_UNROLL for (int e = 0; e < MINE; e++) high = score[e] > high ? score[e] : high;
        GPU_UNROLL for (u32 lanes = 1; lanes < GPU_WAVE; lanes *= 2) {
            if (lanes >= OF_ROW && lanes < LANES) continue;
            S other = gpu_shuffle_xor(high, lanes);
            high = other > high ? other : high;
        }
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        S base = high == attention_lowest(high) ? (S)0 : high, fade = gpu_exp(own.most - base);
        GPU_UNROLL for (int e = 0; e < MINE; e++) sum += score[e] = gpu_exp(score[e] - base);
        own.total = own.total * fade + sum;
        own.most = high;
        if (gpu_ballot(fade != 1) == 0) return;
        GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
            S by = gpu_shuffle(fade, gpu_lane() / SPREAD * SPREAD + r * OF_ROW);
            GPU_UNROLL for (u32 m = 0; m < EACH; m++) GPU_UNROLL for (int j = 0; j < N; j++) own.sum[m][r][j] *= by;
        }
    }

    GPU_FN void add(lane &own, const S (&weight)[MINE], const vector (&v)[KEYS][EACH]) {
        u32 first = gpu_anew(gpu_lane() / SPREAD * SPREAD);
        GPU_UNROLL for (u32 i = 0; i < KEYS; i++) {
            S w[ROWS];
            GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
                u32 number = r * KEYS + i;
                w[r] = gpu_shuffle(weight[number % MINE], first + number / MINE);
            }
            GPU_UNROLL for (u32 m = 0; m < EACH; m++) {
                S y[N];
                gpu_up_vector(v[i][m], y);
                GPU_UNROLL for (u32 r = 0; r < ROWS; r++)
                    GPU_UNROLL for (int j = 0; j < N; j++) own.sum[m][r][j] = gpu_fma(w[r], y[j], own.sum[m][r][j]);
            }
        }
    }

    /* What the wave has summed, to LDS. */
    GPU_FN void leave(lane &own, room &to) {
        GPU_UNROLL for (u32 lanes = 1; lanes < GPU_WAVE; lanes *= 2)
            if (lanes < OF_ROW || lanes >= LANES) own.total += gpu_shuffle_xor(own.total, lanes);
        if (gpu_lane() < SPREAD && gpu_lane() % OF_ROW == 0) {
            to.most[gpu_wave()][row()] = own.most;
            to.total[gpu_wave()][row()] = own.total;
        }
        GPU_UNROLL for (u32 m = 0; m < EACH; m++) GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
            GPU_UNROLL for (u32 lanes = LANES; lanes < GPU_WAVE; lanes *= 2)
                GPU_UNROLL for (int j = 0; j < N; j++) own.sum[m][r][j] += gpu_shuffle_xor(own.sum[m][r][j], lanes);
            if (gpu_lane() >= LANES) continue;
            GPU_UNROLL for (int j = 0; j < N; j++)
                ((S *)to.sums[gpu_wave()][r])[(gpu_lane() + m * LANES) * N + j] = own.sum[m][r][j];
        }
    }

    GPU_FN void run(const struct gpu_attention &params) {
        GPU_SHARED room to;
#if defined(GPU_AMD)
        const struct gpu_attention &p = to.p;
        attention_take(to.p, params);
#else
        const struct gpu_attention &p = params;
#endif
        struct attention_place at = attention_locate(p, ROWS);
        if (at.row0 >= at.rows) return;
        u32 parts = there(p.depth), columns = there(p.width);
        const T *ks = place(p.k, at.k, p.k_stride[2], at, parts), *vs = place(p.v, at.v, p.v_stride[2], at, columns);
        vector k[KEYS][EACH], v[KEYS][EACH];
        i32 left = (i32)(at.end - at.begin) - (i32)(gpu_wave() * OF_WAVE);
        if (left > 0) {
            fetch(ks, p.k_stride[2], left, parts, k);
            fetch(vs, p.v_stride[2], left, columns, v);
        }
        join::begin(p, at, to);
        lane own;
        bring(p, to, parts, own);
        GPU_NO_UNROLL for (; left > 0; left -= STEP) {
            S score[MINE];
            multiply(own, parts, k, score);
            ks += STEP * p.k_stride[2];
            if (left > STEP) fetch(ks, p.k_stride[2], left - STEP, parts, k);
            rate(p, to, left, score);
            weigh(own, score);
            add(own, score, v);
            vs += STEP * p.v_stride[2];
            if (left > STEP) fetch(vs, p.v_stride[2], left - STEP, columns, v);
        }
        leave(own, to);
        join::finish(p, to);
    }
};

/* ---- by matrix instructions, of bf16 and f16 where they take operands from registers as they are loaded (NVIDIA) ---- */

#if MMA && MMA_ASYNC
/* A block has up to 8 queries. A wave takes KEYS keys in turn. A product takes any terms in any order that both operands
 * share, so pieces of keys are operands as they come: lane l has pieces l % 4, l % 4 + 4, ... of keys l / 4, l / 4 + 8, ....
 * Scores leave it as the next product wants weights, of query l / 4 and keys l % 4 * 2 and the next. Of these keys the lane
 * loads piece l / 4 of values, and that 8 behind it, and pairs their elements. */
template <typename T, int WIDE> struct pieces_mma {
    typedef gpu_vec<u32> vector;
    enum {
        ROWS = GPU_ATTENTION_FEW_MMA,
        KEYS = 2048 / WIDE,
        PARTS = WIDE / 32,   /* pieces of a key that a lane has */
        COLUMNS = WIDE / 64, /* of a value */
        TILES = WIDE / 16,
        THREADS = GPU_ATTENTION_FEW_THREADS,
        STEP = THREADS / GPU_WAVE * KEYS
    };
    typedef pieces_join<T, ROWS, WIDE, true, THREADS> join;
    typedef typename join::room room;

    struct lane {
        vector q[PARTS];
        f32 sum[TILES][4]; /* of two columns, each for queries l % 4 * 2 and the next */
        f32 most, total;   /* of query l / 4, of the lane's own keys */
    };

    /* Key i of the lane's, from its first on, which is l / 4 of keys, l % 4 * 2 of values. */
    GPU_FN i32 key_ahead(i32 i) { return i * 8; }
    GPU_FN i32 value_ahead(i32 i) { return i / 2 * 8 + i % 2; }

    /* Asks for N keys' pieces, APART from each other. `left`: how many keys the wave has; `first`: the lane's first. No key
     * behind the last is read, which stands for those; nor are pieces behind the last of `pieces`. */
    template <bool VALUES, int APART, int N, int M>
    GPU_FN void fetch(const T *from, i64 step, i32 left, u32 piece, u32 pieces, vector (&x)[N][M]) {
        i32 own = left - (i32)(VALUES ? gpu_lane() % 4 * 2 : gpu_lane() / 4);
        GPU_UNROLL for (i32 i = 0; i < N; i++) {
            i32 ahead = VALUES ? value_ahead(i) : key_ahead(i);
            const T *at = from + ahead * step;
            if (left < KEYS) at = from + (own > ahead ? ahead : own - 1) * step;
            GPU_UNROLL for (u32 m = 0; m < M; m++)
                x[i][m] = gpu_load16((const u32 *)(at + (m == 0 || piece + m * APART < pieces ? m * (APART * 8) : 0)));
        }
    }

    GPU_FN void multiply(const lane &own, u32 pieces, const vector (&k)[KEYS / 8][PARTS], struct mma_tile (&s)[KEYS / 16]) {
        GPU_UNROLL for (int i = 0; i < KEYS / 16; i++) {
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s[i].v[e] = 0;
            GPU_UNROLL for (u32 m = 0; m < PARTS; m++) {
                bool there = gpu_lane() % 4 + m * 4 < pieces; /* 0 times infinity is no 0 */
                GPU_UNROLL for (u32 h = 0; h < 4; h += 2) {
                    struct mma_fragment x = {{own.q[m].v[h], 0, own.q[m].v[h + 1], 0}}, y;
                    GPU_UNROLL for (u32 w = 0; w < 4; w++) y.word[w] = there ? k[i * 2 + w / 2][m].v[h + w % 2] : 0;
                    mma<T>(s[i], x, y);
                }
            }
        }
    }

    /* Scores as logarithms to the base 2, with what is to be done to them. */
    GPU_FN void rate(const struct gpu_attention &p, const room &from, i32 left, struct mma_tile (&s)[KEYS / 16]) {
        const f32 log2e = 1.4426950408889634f;
        i64 end = from.at.end, key = end - left;
        u32 first = (u32)(key - from.at.begin);
        if (first >= from.free.begin && first + KEYS <= from.free.end) {
            GPU_UNROLL for (int i = 0; i < KEYS / 16; i++)
                GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s[i].v[e] *= (f32)p.scale * log2e;
            return;
        }
        GPU_UNROLL for (int i = 0; i < KEYS / 16; i++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            if (e % 4 < 2) s[i].v[e] = log2e * attention_score<T>(p, s[i].v[e] * (f32)p.scale, from.rows[gpu_lane() / 4],
                                                                  key + i * 16 + mma_column(e), end);
    }

    /* Makes weights of scores, and brings what was summed up to date for them. */
    GPU_FN void weigh(lane &own, struct mma_tile (&s)[KEYS / 16]) {
        f32 high = own.most, sum = 0;
        GPU_UNROLL for (int i = 0; i < KEYS / 16; i++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) if (e % 4 < 2) high = mma_max(s[i].v[e], high);
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) high = mma_max(gpu_shuffle_xor(high, lanes), high);
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0.0f : high, fade = mma_exp2(own.most - base);
        GPU_UNROLL for (int i = 0; i < KEYS / 16; i++) GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
            if (e % 4 < 2) sum += s[i].v[e] = mma_exp2(s[i].v[e] - base);
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

    GPU_FN void add(lane &own, const struct mma_tile (&s)[KEYS / 16], const vector (&v)[KEYS / 4][COLUMNS]) {
        GPU_UNROLL for (int i = 0; i < KEYS / 16; i++) {
            struct mma_fragment x, y = {{mma_pack(s[i].v[0], s[i].v[1], T()), mma_pack(s[i].v[4], s[i].v[5], T()), 0, 0}};
            GPU_UNROLL for (int j = 0; j < TILES; j++) {
                GPU_UNROLL for (int w = 0; w < 4; w++) {
                    int piece = COLUMNS == 2 ? w % 2 : 0, e = COLUMNS == 2 ? j : j + w % 2 * TILES, key = i * 4 + w / 2 * 2;
                    x.word[w] = pair(v[key][piece], v[key + 1][piece], e);
                }
                /* The columns of four more words are nobody's, and their product is left out. */
                struct mma_tile sum = {{own.sum[j][0], own.sum[j][1], own.sum[j][2], own.sum[j][3], 0, 0, 0, 0}};
                mma<T>(sum, x, y);
                GPU_UNROLL for (int e = 0; e < 4; e++) own.sum[j][e] = sum.v[e];
            }
        }
    }

    /* What the wave has summed, to LDS. */
    GPU_FN void leave(lane &own, room &to) {
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) own.total += gpu_shuffle_xor(own.total, lanes);
        if (gpu_lane() % 4 == 0) {
            to.most[gpu_wave()][gpu_lane() / 4] = own.most;
            to.total[gpu_wave()][gpu_lane() / 4] = own.total;
        }
        GPU_UNROLL for (int j = 0; j < TILES; j += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
            gpu_vec<f32> four = {{own.sum[j][e], own.sum[j + 1][e], own.sum[j + 2][e], own.sum[j + 3][e]}};
            u32 at = COLUMNS == 2 ? (gpu_lane() / 4 + e / 2 * 8) * 2 + j / 4 : gpu_lane() / 4 * 2 + e / 2;
            to.sums[gpu_wave()][gpu_lane() % 4 * 2 + e % 2][at] = four;
        }
    }

    GPU_FN void run(const struct gpu_attention &p) {
        GPU_SHARED room to;
        struct attention_place at = attention_locate(p, ROWS);
        if (at.row0 >= at.rows) return;
        i32 left = (i32)(at.end - at.begin) - (i32)(gpu_wave() * KEYS);
        i64 first = at.begin + gpu_wave() * KEYS;
        u32 parts = (u32)p.depth / 8, columns = (u32)p.width / 8, part = gpu_lane() % 4, column = gpu_lane() / 4;
        const T *ks = (const T *)p.k + at.k + (first + gpu_lane() / 4) * p.k_stride[2] + (part < parts ? part * 8 : 0);
        const T *vs = (const T *)p.v + at.v + (first + gpu_lane() % 4 * 2) * p.v_stride[2] + (column < columns ? column * 8 : 0);
        vector k[KEYS / 8][PARTS], v[KEYS / 4][COLUMNS];
        if (left > 0) {
            fetch<false, 4>(ks, p.k_stride[2], left, part, parts, k);
            fetch<true, 8>(vs, p.v_stride[2], left, column, columns, v);
        }
        join::begin(p, at, to);
        lane own;
        own.most = attention_lowest(0.0f);
        own.total = 0;
        GPU_UNROLL for (int j = 0; j < TILES; j++) GPU_UNROLL for (int e = 0; e < 4; e++) own.sum[j][e] = 0;
        GPU_UNROLL for (u32 m = 0; m < PARTS; m++) {
            const struct attention_row &row = to.rows[gpu_lane() / 4];
            GPU_UNROLL for (int w = 0; w < 4; w++) own.q[m].v[w] = 0;
            if (row.out >= 0 && part + m * 4 < parts)
                own.q[m] = gpu_load16((const u32 *)((const T *)p.q + row.q + (part + m * 4) * 8));
        }
        GPU_NO_UNROLL for (; left > 0; left -= STEP) {
            struct mma_tile s[KEYS / 16];
            multiply(own, parts, k, s);
            ks += STEP * p.k_stride[2];
            if (left > STEP) fetch<false, 4>(ks, p.k_stride[2], left - STEP, part, parts, k);
            rate(p, to, left, s);
            weigh(own, s);
            add(own, s, v);
            vs += STEP * p.v_stride[2];
            if (left > STEP) fetch<true, 8>(vs, p.v_stride[2], left - STEP, column, columns, v);
        }
        leave(own, to);
        join::finish(p, to);
    }
};
#define ATTENTION_PIECES_MMA(type, wide) pieces_mma<type, wide>::run(p)
#else
/* The host asks for these only where they are. */
#define ATTENTION_PIECES_MMA(type, wide) (void)p
#endif

#define ATTENTION_PIECES(type, wide, blocks)                                                                           \
    GPU_KERNEL_OF(attention_pieces_##wide##_##type, struct gpu_attention, GPU_BLOCK, blocks) {                         \
        pieces<type, wide>::run(p);                                                                                    \
    }
ATTENTION_PIECES(bf16, 64, 2)
ATTENTION_PIECES(bf16, 128, 2)
ATTENTION_PIECES(bf16, 256, 2)
ATTENTION_PIECES(f16, 64, 2)
ATTENTION_PIECES(f16, 128, 2)
ATTENTION_PIECES(f16, 256, 2)
ATTENTION_PIECES(f32, 64, 2)
ATTENTION_PIECES(f32, 128, 2)
ATTENTION_PIECES(f32, 256, 1)
ATTENTION_PIECES(f64, 64, 1)
ATTENTION_PIECES(f64, 128, 1)
#define ATTENTION_PIECES_MMA_OF(type)                                                                                  \
    GPU_KERNEL_OF(attention_pieces_mma_64_##type, struct gpu_attention, GPU_ATTENTION_FEW_THREADS, 4) {                \
        ATTENTION_PIECES_MMA(type, 64);                                                                                \
    }                                                                                                                  \
    GPU_KERNEL_OF(attention_pieces_mma_128_##type, struct gpu_attention, GPU_ATTENTION_FEW_THREADS, 3) {               \
        ATTENTION_PIECES_MMA(type, 128);                                                                               \
    }
ATTENTION_PIECES_MMA_OF(bf16)
ATTENTION_PIECES_MMA_OF(f16)
