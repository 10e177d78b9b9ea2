/* What the waves of a block of attention_pieces leave in LDS, and what becomes of it. */
#ifndef WICK_KERNELS_ATTENTION_PIECES_H
#define WICK_KERNELS_ATTENTION_PIECES_H

#include "attention_common.h"

/* TWO: maxima are logarithms to the base 2, and a block has up to THREADS threads, in whole waves, 128 at least. */
template <typename T, int ROWS, int WIDE, bool TWO, int THREADS> struct pieces_join {
    typedef typename gpu_compute<T>::type S;
    typedef gpu_vec<S> vector;
    enum {
        WAVES = THREADS / GPU_WAVE,
        N = vector::N,
        VECTORS = WIDE / N,
        MOST = GPU_ATTENTION_PIECES_PARTS,
        MEND = TWO ? 128 : THREADS
    };

    struct room {
#if defined(GPU_AMD)
        struct gpu_attention p; /* scalar registers are too few */
#endif
        struct attention_place at; /* registers are few */
        struct attention_free free;
        struct attention_row rows[ROWS];
        S most[WAVES][ROWS], total[WAVES][ROWS];
        S notes[ROWS * 2 + MEND];
        u32 any, ticket;
    };
    /* The sums of the waves, with a gap, for rows to begin at different banks; or what the parts' rows have. */
    union sums {
        vector of[WAVES][ROWS][VECTORS + 1];
        struct {
            S most[MOST][ROWS], total[MOST][ROWS];
        } part;
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

    GPU_FN u32 threads(void) { return TWO ? gpu_threads() : (u32)THREADS; }
    GPU_FN S power(S x) { return TWO ? (S)gpu_exp2(x) : (S)gpu_exp(x); }

    /* Stores the elements of a row from d on. */
    GPU_FN void round(const struct gpu_attention &p, i64 row, u32 d, const vector &sum, S total) {
        T *to = (T *)p.out + row * p.width + d;
        GPU_UNROLL for (int e = 0; e < N; e++) to[e] = gpu_round<T>(total == 0 ? (S)0 : sum.v[e] / total);
    }

    /* Joins elements of row r, from d on, over the waves, in their order, and stores them. */
    GPU_FN void store(const struct gpu_attention &p, room &from, const sums &of, u32 r, u32 d) {
        const u32 waves = threads() / GPU_WAVE;
        S most = attention_lowest((S)0), total = 0;
        vector sum;
        i64 row = from.rows[r].out;
        GPU_UNROLL for (u32 w = 0; w < waves; w++) most = from.most[w][r] > most ? from.most[w][r] : most;
        S base = most == attention_lowest(most) ? (S)0 : most;
        GPU_UNROLL for (int e = 0; e < N; e++) sum.v[e] = 0;
        GPU_UNROLL for (u32 w = 0; w < waves; w++) {
            S by = power(from.most[w][r] - base);
            vector x = of.of[w][r][d / N];
            total += by * from.total[w][r];
            GPU_UNROLL for (int e = 0; e < N; e++) sum.v[e] += by * x.v[e];
        }
        if (TWO) most *= (S)0.69314718055994531;
        bool bad = false;
        GPU_UNROLL for (int e = 0; e < N; e++) bad = bad || sum.v[e] != sum.v[e];
        if (bad && total == total) {
            from.notes[r * 2] = most;
            from.notes[r * 2 + 1] = total;
            from.any = 1;
        }
        if (p.splits > 1) {
            row += (i64)gpu_block_y() * p.total;
            gpu_store16((S *)p.partial + row * p.width + d, sum);
            if (d > 0) return;
            ((S *)p.stats)[row * 2] = most;
            ((S *)p.stats)[row * 2 + 1] = total;
            return;
        }
        if (d == 0 && p.log_sums) ((S *)p.log_sums)[row] = attention_log_sum(most, total);
        round(p, row, d, sum, total);
    }

    GPU_FN void finish(const struct gpu_attention &p, room &from, const sums &of) {
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < ROWS * VECTORS; u += threads())
            if (from.rows[u / VECTORS].out >= 0 && u % VECTORS * N < p.width) store(p, from, of, u / VECTORS, u % VECTORS * N);
        gpu_sync();
        if (from.any) attention_mend<T, ROWS, MEND>(p, from.at, from.rows, from.notes, 0, p.width);
    }

    /* The same of the parts, as attention_join has it. */
    GPU_FN void join(const struct gpu_attention &p, const room &from, const sums &of, u32 r, u32 d) {
        enum { ONCE = 8 }; /* parts that are asked for at once */
        S most = attention_lowest((S)0), total = 0;
        vector sum;
        i64 row = from.rows[r].out;
        GPU_NO_UNROLL for (u32 s = 0; s < p.splits; s++) most = of.part.most[s][r] > most ? of.part.most[s][r] : most;
        S base = most == attention_lowest(most) ? (S)0 : most;
        GPU_UNROLL for (int e = 0; e < N; e++) sum.v[e] = 0;
        GPU_NO_UNROLL for (u32 first = 0; first < p.splits; first += ONCE) {
            vector x[ONCE];
            GPU_UNROLL for (u32 i = 0; i < ONCE; i++) {
                u32 s = first + i < p.splits ? first + i : p.splits - 1;
                x[i] = gpu_load16((const S *)p.partial + ((i64)s * p.total + row) * p.width + d);
            }
            GPU_UNROLL for (u32 i = 0; i < ONCE; i++) {
                if (first + i >= p.splits) continue;
                S by = gpu_exp(of.part.most[first + i][r] - base);
                total += by * of.part.total[first + i][r];
                GPU_UNROLL for (int e = 0; e < N; e++) sum.v[e] += by * x[i].v[e];
            }
        }
        if (d == 0 && p.log_sums) ((S *)p.log_sums)[row] = attention_log_sum(most, total);
        round(p, row, d, sum, total);
    }

    /* The part that ends last joins all of them. */
    GPU_FN void meet(const struct gpu_attention &p, u32 *tickets, room &from, sums &of) {
        gpu_fence();
        gpu_sync();
        if (gpu_thread() == 0) from.ticket = gpu_atomic_add(tickets + gpu_block_x(), 1);
        gpu_sync();
        if (from.ticket != p.splits - 1) return;
        gpu_fence();
        if (gpu_thread() == 0) tickets[gpu_block_x()] = 0;
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < ROWS * p.splits; u += threads()) {
            i64 row = from.rows[u % ROWS].out + (i64)(u / ROWS) * p.total;
            if (from.rows[u % ROWS].out < 0) continue;
            of.part.most[u / ROWS][u % ROWS] = ((const S *)p.stats)[row * 2];
            of.part.total[u / ROWS][u % ROWS] = ((const S *)p.stats)[row * 2 + 1];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < ROWS * VECTORS; u += threads())
            if (from.rows[u / VECTORS].out >= 0 && u % VECTORS * N < p.width) join(p, from, of, u / VECTORS, u % VECTORS * N);
    }
};

#endif
