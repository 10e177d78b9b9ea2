/* Scaled dot product attention of few queries with many keys, as attention_few.hip has it, where rows of q, k and v are whole
 * pieces of 16 bytes. Memory gives the pace, so what counts is how much of it is asked for at once.
 *
 * A block has up to 4 queries of one unit. Its waves share nothing until the end, when their sums are joined in the order of
 * waves. In a wave some lanes have a key, each a piece of it or two, and take four keys in turn; they have the same
 * pieces of those keys' values. The next keys are on their way while values are added, the next values while keys are
 * multiplied. */
#include "attention_pieces.h"
#include "attention_pieces_mma.h"

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

    typedef pieces_join<T, ROWS, WIDE, false, GPU_BLOCK> join;
    typedef typename join::room room;
    typedef typename join::sums sums;
    struct lds { /* one: apart from each other nvcc spills */
        room to;
        sums all;
    };

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
    GPU_FN void leave(lane &own, room &to, sums &all) {
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
                ((S *)all.of[gpu_wave()][r])[(gpu_lane() + m * LANES) * N + j] = own.sum[m][r][j];
        }
    }

    GPU_FN void run(const struct gpu_attention &params) {
        GPU_SHARED lds here;
        room &to = here.to;
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
        leave(own, to, here.all);
        join::finish(p, to, here.all);
    }
};

/* ---- entries ---- */

#if MMA && MMA_ASYNC
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
/* They say by themselves when the next kernel may begin, and wait for the one ahead. */
#if defined(GPU_NVIDIA)
GPU_FN void pieces_nothing(void) {}
#endif
#define ATTENTION_PIECES_MMA_OF(type, wide)                                                                            \
    GPU_KERNEL_(attention_pieces_mma_##wide##_##type, struct gpu_attention_pieces, GPU_ATTENTION_FEW_RESIDENT, 1,      \
                pieces_nothing) {                                                                                      \
        ATTENTION_PIECES_MMA(type, wide);                                                                              \
    }
ATTENTION_PIECES_MMA_OF(bf16, 64)
ATTENTION_PIECES_MMA_OF(bf16, 128)
ATTENTION_PIECES_MMA_OF(f16, 64)
ATTENTION_PIECES_MMA_OF(f16, 128)
