/* Scaled dot product attention in plain arithmetic, without the matrix of scores (Dao et al., "FlashAttention"), and
 * the joining of parts when the keys were split.
 *
 * A block of 16 x 16 threads has 64 queries of one unit. It goes through the keys in steps of KEYS: scores by tiles of
 * 4 x KEYS / 16 a thread, the running maximum and sum of each row brought up to date, what was summed before scaled
 * down, and the step's values added. */
#include "attention_common.h"

template <typename T, int CHUNKS> struct attention_shape {
    typedef typename gpu_compute<T>::type S;
    enum {
        ROWS = 64,
        KEYS = sizeof(S) == 8 ? 32 : 64,
        MINE = KEYS / 16,                /* keys of a thread */
        DEPTH = sizeof(S) == 8 ? 16 : 32, /* of q and k in LDS at a time */
        PITCH = 68,
        KEY_PITCH = KEYS + 4,
        TILE = DEPTH * (PITCH + KEY_PITCH) > KEYS * PITCH ? DEPTH * (PITCH + KEY_PITCH) : KEYS * PITCH,
        WIDTH = 64 * CHUNKS
    };
};

/* Four neighbours, or two. */
template <typename S, int N> struct alignas(N * sizeof(S)) attention_run {
    S v[N];
};

/* Columns d0 .. of q and k to LDS as [d][row], [d][key]; zeros where there is nothing. */
template <typename T, int CHUNKS>
GPU_FN void attention_fetch(const struct gpu_attention &p, const struct attention_place &at,
                            const struct attention_row *rows, i64 key0, i64 d0,
                            typename attention_shape<T, CHUNKS>::S *lds) {
    typedef attention_shape<T, CHUNKS> shape;
    const T *q = (const T *)p.q, *k = (const T *)p.k + at.k;
    for (u32 u = gpu_thread(); u < shape::ROWS * shape::DEPTH; u += GPU_BLOCK) {
        u32 row = u / shape::DEPTH, d = u % shape::DEPTH;
        lds[d * shape::PITCH + row] =
            rows[row].out >= 0 && d0 + d < p.depth ? gpu_up(q[rows[row].q + (d0 + d) * p.q_stride[3]]) : 0;
    }
    lds += shape::DEPTH * shape::PITCH;
    for (u32 u = gpu_thread(); u < shape::KEYS * shape::DEPTH; u += GPU_BLOCK) {
        u32 key = u / shape::DEPTH, d = u % shape::DEPTH;
        lds[d * shape::KEY_PITCH + key] = key0 + key < at.end && d0 + d < p.depth
                                              ? gpu_up(k[(key0 + key) * p.k_stride[2] + (d0 + d) * p.k_stride[3]])
                                              : 0;
    }
}

/* 64 columns of `keys` values to LDS as [key][column]. */
template <typename T, typename S>
GPU_FN void attention_values(const struct gpu_attention &p, const struct attention_place &at, i64 key0, i64 column0,
                             u32 keys, S *lds) {
    const T *v = (const T *)p.v + at.v;
    for (u32 u = gpu_thread(); u < keys * 64; u += GPU_BLOCK) {
        u32 key = u / 64, column = u % 64;
        bool there = key0 + key < at.end && column0 + column < p.width;
        lds[key * 68 + column] =
            there ? gpu_up(v[(key0 + key) * p.v_stride[2] + (column0 + column) * p.v_stride[3]]) : 0;
    }
}

/* What a thread has of four rows. */
template <typename S, int CHUNKS> struct attention_sums {
    S most[4], total[4], out[CHUNKS][4][4];
};

template <typename S, int CHUNKS> GPU_FN void attention_clear(struct attention_sums<S, CHUNKS> &sums) {
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        sums.most[i] = attention_lowest((S)0);
        sums.total[i] = 0;
        GPU_UNROLL for (int c = 0; c < CHUNKS; c++) GPU_UNROLL for (int j = 0; j < 4; j++) sums.out[c][i][j] = 0;
    }
}

/* q k^T for a step of keys. */
template <typename T, int CHUNKS, typename S, int MINE>
GPU_FN void attention_multiply(const struct gpu_attention &p, const struct attention_place &at,
                               const struct attention_row *rows, i64 key0, S *lds, S (&score)[4][MINE]) {
    typedef attention_shape<T, CHUNKS> shape;
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < MINE; j++) score[i][j] = 0;
    i64 d0 = 0;
    do {
        gpu_sync();
        attention_fetch<T, CHUNKS>(p, at, rows, key0, d0, lds);
        gpu_sync();
        GPU_NO_UNROLL for (u32 d = 0; d < shape::DEPTH; d += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
            attention_run<S, 4> x = *(const attention_run<S, 4> *)(lds + (d + e) * shape::PITCH + ty * 4);
            attention_run<S, MINE> y = *(const attention_run<S, MINE> *)(lds + shape::DEPTH * shape::PITCH +
                                                                         (d + e) * shape::KEY_PITCH + tx * MINE);
            GPU_UNROLL for (int i = 0; i < 4; i++)
                GPU_UNROLL for (int j = 0; j < MINE; j++) score[i][j] = gpu_fma(x.v[i], y.v[j], score[i][j]);
        }
        d0 += shape::DEPTH;
    } while (d0 < p.depth);
}

/* Makes weights of scores, and brings the sums up to date for them. */
template <typename T, int CHUNKS, typename S, int MINE>
GPU_FN void attention_weigh(const struct gpu_attention &p, const struct attention_place &at,
                            const struct attention_row *rows, i64 key0, S (&score)[4][MINE], S *weights,
                            struct attention_sums<S, CHUNKS> &sums) {
    typedef attention_shape<T, CHUNKS> shape;
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        struct attention_row row = rows[ty * 4 + i];
        S high = sums.most[i], sum = 0;
        GPU_UNROLL for (int j = 0; j < MINE; j++) {
            score[i][j] = attention_score<T>(p, score[i][j] * (S)p.scale, row, key0 + tx * MINE + j, at.end);
            high = score[i][j] > high ? score[i][j] : high;
        }
        GPU_UNROLL for (u32 lanes = 1; lanes < 16; lanes *= 2) {
            S other = gpu_shuffle_xor(high, lanes);
            high = other > high ? other : high;
        }
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        S base = high == attention_lowest(high) ? (S)0 : high, fade = gpu_exp(sums.most[i] - base);
        GPU_UNROLL for (int j = 0; j < MINE; j++) {
            S weight = gpu_exp(score[i][j] - base);
            sum += weight;
            weights[(tx * MINE + j) * shape::PITCH + ty * 4 + i] = weight;
        }
        GPU_UNROLL for (u32 lanes = 1; lanes < 16; lanes *= 2) sum += gpu_shuffle_xor(sum, lanes);
        sums.total[i] = sums.total[i] * fade + sum;
        sums.most[i] = high;
        GPU_UNROLL for (int c = 0; c < CHUNKS; c++) GPU_UNROLL for (int j = 0; j < 4; j++) sums.out[c][i][j] *= fade;
    }
}

/* Adds the weighted values of a step of keys. */
template <typename T, int CHUNKS, typename S>
GPU_FN void attention_add(const struct gpu_attention &p, const struct attention_place &at, i64 key0, i64 width0,
                          const S *weights, S *lds, struct attention_sums<S, CHUNKS> &sums) {
    typedef attention_shape<T, CHUNKS> shape;
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    GPU_UNROLL for (int c = 0; c < CHUNKS; c++) {
        if (width0 + c * 64 < p.width) {
            gpu_sync();
            attention_values<T>(p, at, key0, width0 + c * 64, shape::KEYS, lds);
            gpu_sync();
            GPU_NO_UNROLL for (u32 key = 0; key < shape::KEYS; key += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
                attention_run<S, 4> x = *(const attention_run<S, 4> *)(weights + (key + e) * shape::PITCH + ty * 4);
                attention_run<S, 4> y = *(const attention_run<S, 4> *)(lds + (key + e) * shape::PITCH + tx * 4);
                GPU_UNROLL for (int i = 0; i < 4; i++)
                    GPU_UNROLL for (int j = 0; j < 4; j++)
                        sums.out[c][i][j] = gpu_fma(x.v[i], y.v[j], sums.out[c][i][j]);
            }
        }
    }
}

/* Writes the results, or the sums of a part of the keys. The bits of the result are those of the thread's rows that
 * must be summed again. */
template <typename T, int CHUNKS, typename S>
GPU_FN u32 attention_store(const struct gpu_attention &p, const struct attention_row *rows, i64 width0,
                           const struct attention_sums<S, CHUNKS> &sums) {
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16, again = 0;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        i64 row = rows[ty * 4 + i].out;
        S total = sums.total[i];
        if (row < 0) continue;
        if (p.splits == 1 && p.log_sums && tx == 0 && gpu_block_z() == 0)
            ((S *)p.log_sums)[row] = attention_log_sum(sums.most[i], total);
        if (p.splits > 1) row += (i64)gpu_block_y() * p.total;
        GPU_UNROLL for (int c = 0; c < CHUNKS; c++) GPU_UNROLL for (int j = 0; j < 4; j++) {
            i64 column = width0 + c * 64 + tx * 4 + j;
            S sum = sums.out[c][i][j];
            if (column >= p.width) continue;
            if (sum != sum && total == total) again |= 1u << i;
            if (p.splits > 1)
                ((S *)p.partial)[row * p.width + column] = sum;
            else
                ((T *)p.out)[row * p.width + column] = gpu_round<T>(total == 0 ? (S)0 : sum / total);
        }
        if (p.splits > 1 && tx == 0 && gpu_block_z() == 0) {
            ((S *)p.stats)[row * 2] = sums.most[i];
            ((S *)p.stats)[row * 2 + 1] = total;
        }
    }
    return again;
}

/* Notes the rows of the block that must be summed again, and sums them. */
template <typename T, int CHUNKS, typename S>
GPU_FN void attention_repair(const struct gpu_attention &p, const struct attention_place &at,
                             const struct attention_row *rows, i64 width0, const struct attention_sums<S, CHUNKS> &sums,
                             u32 again, S *lds) {
    typedef attention_shape<T, CHUNKS> shape;
    u32 mine = gpu_thread() / 16 * 4;
    if (gpu_thread() < shape::ROWS) lds[gpu_thread() * 2 + 1] = -1;
    gpu_sync();
    GPU_UNROLL for (u32 i = 0; i < 4; i++) {
        if (!(again >> i & 1)) continue;
        lds[(mine + i) * 2] = sums.most[i];
        lds[(mine + i) * 2 + 1] = sums.total[i];
    }
    gpu_sync();
    i64 column1 = width0 + shape::WIDTH < p.width ? width0 + shape::WIDTH : p.width;
    attention_mend<T, shape::ROWS, GPU_BLOCK>(p, at, rows, lds, width0, column1);
}

template <typename T, int CHUNKS> GPU_FN void attention(const struct gpu_attention &p) {
    typedef attention_shape<T, CHUNKS> shape;
    typedef typename shape::S S;
    GPU_SHARED attention_run<S, 4> shared_tile[shape::TILE / 4], shared_weights[shape::KEYS * shape::PITCH / 4];
    GPU_SHARED struct attention_row rows[shape::ROWS];
    GPU_SHARED struct attention_place at; /* AMD has too few scalar registers for it */
    GPU_SHARED u32 any;
    S *lds = (S *)shared_tile, *weights = (S *)shared_weights;
    u32 t = gpu_thread();
    i64 width0 = (i64)gpu_block_z() * shape::WIDTH;
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (t == 0) {
        any = 0;
        at = attention_locate(p, shape::ROWS);
    }
    gpu_sync();
    if (at.row0 >= at.rows) return;
    if (t < shape::ROWS) rows[t] = attention_row_of(p, at, t);
    gpu_sync();
    struct attention_sums<S, CHUNKS> sums;
    attention_clear(sums);
    for (i64 key0 = at.begin; key0 < at.end; key0 += shape::KEYS) {
        S score[4][shape::MINE];
        attention_multiply<T, CHUNKS>(p, at, rows, key0, lds, score);
        attention_weigh<T, CHUNKS>(p, at, rows, key0, score, weights, sums);
        attention_add<T, CHUNKS>(p, at, key0, width0, weights, lds, sums);
    }
    u32 again = attention_store<T, CHUNKS>(p, rows, width0, sums);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<T, CHUNKS>(p, at, rows, width0, sums, again, lds);
}

/* The parts of each row, weighted as if its largest score had been known from the start, in the order of the keys. */
template <typename T> GPU_FN void attention_join(const struct gpu_attention &p) {
    typedef typename gpu_compute<T>::type S;
    const S *partial = (const S *)p.partial, *stats = (const S *)p.stats;
    for (u64 at = gpu_global(); at < (u64)(p.total * p.width); at += gpu_stride()) {
        i64 row = (i64)(at / (u64)p.width);
        S most = attention_lowest((S)0), total = 0, sum = 0;
        for (u32 s = 0; s < p.splits; s++) {
            S high = stats[(s * p.total + row) * 2];
            most = high > most ? high : most;
        }
        S base = most == attention_lowest(most) ? (S)0 : most;
        for (u32 s = 0; s < p.splits; s++) {
            S weight = gpu_exp(stats[(s * p.total + row) * 2] - base);
            total += weight * stats[(s * p.total + row) * 2 + 1];
            sum += weight * partial[s * p.total * p.width + (i64)at];
        }
        ((T *)p.out)[at] = gpu_round<T>(total == 0 ? (S)0 : sum / total);
        if (p.log_sums && at % (u64)p.width == 0) ((S *)p.log_sums)[row] = attention_log_sum(most, total);
    }
}

#define ATTENTION(type, chunks)                                                                                        \
    GPU_KERNEL(attention_##type, struct gpu_attention) { attention<type, chunks>(p); }                                 \
    GPU_KERNEL(attention_join_##type, struct gpu_attention) { attention_join<type>(p); }
ATTENTION(bf16, 2)
ATTENTION(f16, 2)
ATTENTION(f32, 2)
ATTENTION(f64, 1)
ATTENTION(f8e4m3, 2)
