/* Scaled dot product attention of few queries with many keys, as each step of a text has: memory gives the pace, and a
 * tile of 64 queries would be mostly empty.
 *
 * A block has up to 4 queries of one unit and goes through its keys in steps of 64. Scores: a wave takes four keys at
 * once, its lanes the elements, so that loads are of neighbours; each query's weights: a wave; sums: a thread a column
 * and a quarter of the keys. */
#include "attention_common.h"
#include "attention_step.h"
#include "rope_turn.h"

template <typename T> struct few_shape {
    typedef typename gpu_compute<T>::type S;
    enum {
        ROWS = GPU_ATTENTION_FEW,
        KEYS = 64,
        AT_ONCE = 4, /* keys of a wave */
        DEPTH = sizeof(S) == 8 ? GPU_ATTENTION_FEW_WIDE / 2 : GPU_ATTENTION_FEW_WIDE,
        COLUMNS = 64,
        CHUNKS = DEPTH / COLUMNS,
        SLICES = GPU_BLOCK / COLUMNS, /* parts of a step's keys */
        TILE = SLICES * ROWS * COLUMNS, /* at least ROWS * DEPTH */
        NOTES = ROWS * 2 + GPU_BLOCK,
        WEIGHTS = ROWS * KEYS > NOTES ? ROWS * KEYS : (NOTES + 3) / 4 * 4
    };
};

template <typename S> struct alignas(4 * sizeof(S)) few_run {
    S v[4];
};

template <typename T> struct few_state {
    typedef typename few_shape<T>::S S;
    few_run<S> tile[few_shape<T>::TILE / 4]; /* the queries [row][depth]; in the end the sums [slice][row][column] */
    few_run<S> weights[few_shape<T>::WEIGHTS / 4]; /* [row][key]: scores, then weights; in the end notes */
    S most[few_shape<T>::ROWS], total[few_shape<T>::ROWS], fade[few_shape<T>::ROWS];
    struct attention_row rows[few_shape<T>::ROWS];
    struct attention_place at;
    struct gpu_attention p; /* for AMD has too few scalar registers */
    u32 any;
};

/* Sums of N values over N lanes: lane l gets that of value l % N. */
template <int N> struct few_transpose {
    template <typename S> GPU_FN S of(const S (&v)[N]) {
        bool upper = gpu_lane() & (N / 2);
        S half[N / 2];
        GPU_UNROLL for (int i = 0; i < N / 2; i++) {
            S a = v[i], b = v[i + N / 2], sum = gpu_shuffle_xor(upper ? a : b, N / 2);
            half[i] = sum + (upper ? b : a);
        }
        return few_transpose<N / 2>::of(half);
    }
};
template <> struct few_transpose<1> {
    template <typename S> GPU_FN S of(const S (&v)[1]) { return v[0]; }
};

/* The scores of a step of keys. */
template <typename T> GPU_FN void few_scores(const struct gpu_attention &p, struct few_state<T> &state, i64 key0, u32 n) {
    typedef few_shape<T> shape;
    typedef typename shape::S S;
    enum {
        PER_WAVE = shape::KEYS / (GPU_BLOCK / GPU_WAVE),
        LANES = shape::AT_ONCE * shape::ROWS,
        TURNS = 128 / GPU_WAVE /* elements of a key that a lane asks for at once */
    };
    const T *k = (const T *)p.k + state.at.k;
    const S *q = (const S *)state.tile;
    i64 end = state.at.end;
    GPU_NO_UNROLL for (u32 first = gpu_wave() * PER_WAVE; first < (gpu_wave() + 1) * PER_WAVE; first += shape::AT_ONCE) {
        S dot[LANES];
        GPU_UNROLL for (u32 i = 0; i < LANES; i++) dot[i] = 0;
        GPU_NO_UNROLL for (u32 d0 = gpu_lane(); d0 < (u32)p.depth; d0 += TURNS * GPU_WAVE) {
            S x[TURNS][shape::AT_ONCE];
            GPU_UNROLL for (u32 h = 0; h < TURNS; h++) GPU_UNROLL for (u32 i = 0; i < shape::AT_ONCE; i++) {
                i64 key = key0 + first + i < end ? key0 + first + i : end - 1; /* whose score is left out */
                u32 d = d0 + h * GPU_WAVE;
                S element = (S)gpu_up(k[key * p.k_stride[2] + (d < (u32)p.depth ? d : d0) * p.k_stride[3]]);
                x[h][i] = d < (u32)p.depth ? element : (S)0;
            }
            GPU_UNROLL for (u32 h = 0; h < TURNS; h++) GPU_UNROLL for (u32 r = 0; r < shape::ROWS; r++) {
                u32 d = d0 + h * GPU_WAVE;
                S y = d < (u32)p.depth ? q[r * shape::DEPTH + d] : (S)0;
                GPU_UNROLL for (u32 i = 0; i < shape::AT_ONCE; i++)
                    dot[i * shape::ROWS + r] = gpu_fma(y, x[h][i], dot[i * shape::ROWS + r]);
            }
        }
        GPU_UNROLL for (u32 lanes = GPU_WAVE / 2; lanes >= LANES; lanes /= 2)
            GPU_UNROLL for (u32 i = 0; i < LANES; i++) dot[i] += gpu_shuffle_xor(dot[i], lanes);
        S score = few_transpose<LANES>::of(dot);
        u32 r = gpu_lane() % shape::ROWS, key = first + gpu_lane() / shape::ROWS % shape::AT_ONCE;
        if (gpu_lane() >= LANES || r >= n) continue;
        ((S *)state.weights)[r * shape::KEYS + key] =
            attention_score<T>(p, score * (S)p.scale, state.rows[r], key0 + key, end);
    }
}

/* Makes weights of scores, and brings the sums of each row up to date for them. */
template <typename T> GPU_FN void few_weigh(struct few_state<T> &state, u32 n) {
    typedef few_shape<T> shape;
    typedef typename shape::S S;
    enum { MINE = shape::KEYS / GPU_WAVE };
    GPU_NO_UNROLL for (u32 r = gpu_wave(); r < n; r += GPU_BLOCK / GPU_WAVE) {
        S *row = (S *)state.weights + r * shape::KEYS, score[MINE], before = state.most[r], high = before, sum = 0;
        GPU_UNROLL for (u32 j = 0; j < MINE; j++) {
            score[j] = row[j * GPU_WAVE + gpu_lane()];
            high = score[j] > high ? score[j] : high;
        }
        GPU_UNROLL for (u32 lanes = 1; lanes < GPU_WAVE; lanes *= 2) {
            S other = gpu_shuffle_xor(high, lanes);
            high = other > high ? other : high;
        }
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        S base = high == attention_lowest(high) ? (S)0 : high;
        GPU_UNROLL for (u32 j = 0; j < MINE; j++) {
            score[j] = gpu_exp(score[j] - base);
            row[j * GPU_WAVE + gpu_lane()] = score[j];
            sum += score[j];
        }
        GPU_UNROLL for (u32 lanes = 1; lanes < GPU_WAVE; lanes *= 2) sum += gpu_shuffle_xor(sum, lanes);
        if (gpu_lane() != 0) continue;
        S fade = gpu_exp(before - base);
        state.fade[r] = fade;
        state.total[r] = state.total[r] * fade + sum;
        state.most[r] = high;
    }
}

/* Adds a step's weighted values to this thread's columns. */
template <typename T, typename S, int CHUNKS>
GPU_FN void few_add(const struct gpu_attention &p, const struct few_state<T> &state, i64 key0,
                    S (&out)[few_shape<T>::ROWS][CHUNKS]) {
    typedef few_shape<T> shape;
    enum { SLICE = shape::KEYS / shape::SLICES };
    const T *v = (const T *)p.v + state.at.v;
    u32 column = gpu_thread() % shape::COLUMNS, first = gpu_thread() / shape::COLUMNS * SLICE;
    i64 end = state.at.end;
    GPU_UNROLL for (u32 r = 0; r < shape::ROWS; r++)
        GPU_UNROLL for (int c = 0; c < CHUNKS; c++) out[r][c] *= state.fade[r];
    GPU_UNROLL for (int c = 0; c < CHUNKS; c++) {
        i64 at = c * shape::COLUMNS + column;
        if (c * shape::COLUMNS >= p.width) continue;
        S x[SLICE];
        GPU_UNROLL for (u32 e = 0; e < SLICE; e++) {
            bool there = key0 + first + e < end && at < p.width;
            i64 from = there ? key0 + first + e : end - 1, column = there ? at : 0;
            S y = (S)gpu_up(v[from * p.v_stride[2] + column * p.v_stride[3]]);
            x[e] = there ? y : (S)0;
        }
        GPU_UNROLL for (u32 r = 0; r < shape::ROWS; r++) {
            GPU_UNROLL for (u32 e = 0; e < SLICE; e += 4) {
                few_run<S> w = state.weights[(r * shape::KEYS + first + e) / 4];
                GPU_UNROLL for (u32 i = 0; i < 4; i++) out[r][c] = gpu_fma(w.v[i], x[e + i], out[r][c]);
            }
        }
    }
}

/* A sum to where it belongs. */
template <typename T, typename S>
GPU_FN void few_store_one(const struct gpu_attention &p, struct few_state<T> &state, u32 r, i64 column, S sum) {
    S total = state.total[r], *notes = (S *)state.weights;
    i64 row = state.rows[r].out;
    if (p.splits > 1)
        ((S *)p.partial)[(row + (i64)gpu_block_y() * p.total) * p.width + column] = sum;
    else if (p.wide)
        ((S *)p.out)[row * p.width + column] = total == 0 ? (S)0 : sum / total;
    else
        ((T *)p.out)[row * p.width + column] = gpu_round<T>(total == 0 ? (S)0 : sum / total);
    if (!(sum != sum && total == total)) return;
    notes[r * 2] = state.most[r];
    notes[r * 2 + 1] = total;
    state.any = 1;
}

/* Joins the slices, and writes the results, or the sums of a part of the keys. */
template <typename T, typename S, int CHUNKS>
GPU_FN void few_store(const struct gpu_attention &p, struct few_state<T> &state, u32 n,
                      const S (&out)[few_shape<T>::ROWS][CHUNKS]) {
    typedef few_shape<T> shape;
    S *tile = (S *)state.tile, *notes = (S *)state.weights;
    u32 t = gpu_thread(), column = t % shape::COLUMNS, slice = t / shape::COLUMNS;
    gpu_sync();
    if (t < shape::ROWS) notes[t * 2 + 1] = -1;
    if (t < n) {
        i64 row = state.rows[t].out;
        if (p.splits > 1) {
            row += (i64)gpu_block_y() * p.total;
            ((S *)p.stats)[row * 2] = state.most[t];
            ((S *)p.stats)[row * 2 + 1] = state.total[t];
        } else if (p.log_sums) {
            ((S *)p.log_sums)[row] = attention_log_sum(state.most[t], state.total[t]);
        }
    }
    GPU_UNROLL for (int c = 0; c < CHUNKS; c++) {
        if (c * shape::COLUMNS >= p.width) continue;
        gpu_sync();
        GPU_UNROLL for (u32 r = 0; r < shape::ROWS; r++)
            tile[(slice * shape::ROWS + r) * shape::COLUMNS + column] = out[r][c];
        gpu_sync();
        GPU_NO_UNROLL for (u32 u = t; u < n * shape::COLUMNS; u += GPU_BLOCK) {
            i64 at = c * shape::COLUMNS + u % shape::COLUMNS;
            S sum = 0;
            GPU_UNROLL for (u32 s = 0; s < shape::SLICES; s++) sum += tile[s * shape::ROWS * shape::COLUMNS + u];
            if (at < p.width) few_store_one(p, state, u / shape::COLUMNS, at, sum);
        }
    }
}

/* What a block does, for parameters that its first thread has put into the state. */
template <typename T> GPU_FN void few_run_block(struct few_state<T> &state) {
    typedef few_shape<T> shape;
    typedef typename shape::S S;
    const struct gpu_attention &p = state.p;
    static_assert(shape::ROWS * shape::DEPTH <= shape::TILE, "room for the queries");
    u32 t = gpu_thread();
    gpu_sync();
    if (state.at.row0 >= state.at.rows) return;
    if (t < shape::ROWS) {
        state.rows[t] = attention_row_of(p, state.at, t);
        state.most[t] = attention_lowest((S)0);
        state.total[t] = state.fade[t] = 0;
    }
    /* Rows that are not there have zeros: to leave them out takes longer than to compute them. */
    for (u32 u = t; u < shape::ROWS * shape::KEYS; u += GPU_BLOCK) ((S *)state.weights)[u] = 0;
    gpu_sync();
    i64 left = state.at.rows - state.at.row0;
    u32 n = left < shape::ROWS ? (u32)left : (u32)shape::ROWS, depth = (u32)p.depth;
    for (u32 u = t; u < shape::ROWS * depth; u += GPU_BLOCK) {
        u32 r = u / depth, d = u % depth;
        ((S *)state.tile)[r * shape::DEPTH + d] =
            r < n ? (S)gpu_up(((const T *)p.q)[state.rows[r].q + d * p.q_stride[3]]) : (S)0;
    }
    S out[shape::ROWS][shape::CHUNKS];
    GPU_UNROLL for (u32 r = 0; r < shape::ROWS; r++) GPU_UNROLL for (int c = 0; c < shape::CHUNKS; c++) out[r][c] = 0;
    for (i64 key0 = state.at.begin; key0 < state.at.end; key0 += shape::KEYS) {
        gpu_sync();
        few_scores<T>(p, state, key0, n);
        gpu_sync();
        few_weigh<T>(state, n);
        gpu_sync();
        few_add<T>(p, state, key0, out);
    }
    few_store<T>(p, state, n, out);
    gpu_sync();
    if (state.any)
        attention_mend<T, shape::ROWS, GPU_BLOCK>(p, state.at, state.rows, (S *)state.weights, 0, p.width);
}

template <typename T> GPU_FN void attention_few(const struct gpu_attention &params) {
    GPU_SHARED struct few_state<T> state;
    attention_take(state.p, params);
    if (gpu_thread() == 0) {
        state.any = 0;
        state.at = attention_locate(state.p, few_shape<T>::ROWS);
    }
    few_run_block(state);
}

/* A sequence's keys and values are those of its cache. */
template <typename T> GPU_FN void attention_step(const struct gpu_attention_step &params) {
    GPU_SHARED struct few_state<T> state;
    attention_take(state.p, params.all);
    if (gpu_thread() == 0) {
        const struct gpu_attention_cache &cache = params.cache[gpu_block_x() / (params.all.units * params.all.tiles)];
        state.any = 0;
        state.p.keys = cache.keys;
        state.p.k = cache.at;
        state.p.v = (const T *)cache.at + params.all.heads / params.all.group * cache.stride[0];
        state.p.k_stride[0] = state.p.v_stride[0] = 0;
        GPU_UNROLL for (int d = 0; d < 3; d++) state.p.k_stride[d + 1] = state.p.v_stride[d + 1] = cache.stride[d];
        state.at = attention_locate(state.p, few_shape<T>::ROWS);
    }
    few_run_block(state);
}

/* ---- lengths in device memory ---- */

/* Keys of a sequence with the new one; 0: there is no room for that one. */
GPU_FN i64 few_keys(const i32 *length, i64 room) { return *length >= 0 && *length < room ? (i64)*length + 1 : 0; }

/* The grid is for full caches, so that a sequence is parted as it would be if the host knew its keys. */
template <typename T> GPU_FN void attention_step_at(const struct gpu_attention_step_at &params) {
    enum { LEAST = 64 }; /* keys that are worth a block */
    GPU_SHARED struct few_state<T> state;
    attention_take(state.p, params.step.all);
    if (gpu_thread() == 0) {
        const struct gpu_attention &all = params.step.all;
        u32 sequence = gpu_block_x() / (all.units * all.tiles);
        const struct gpu_attention_cache &cache = params.step.cache[sequence];
        i64 keys = few_keys(params.lengths + sequence * params.length_stride, cache.keys);
        i64 splits = keys / LEAST < all.splits ? keys / LEAST : all.splits;
        state.any = 0;
        state.p.keys = keys;
        state.p.split = splits > 1 ? (attention_divide((u64)(keys + splits - 1), (u64)splits) + 63) / 64 * 64 : keys + 1;
        state.p.k = cache.at;
        state.p.v = (const T *)cache.at + all.heads / all.group * cache.stride[0];
        state.p.k_stride[0] = state.p.v_stride[0] = 0;
        GPU_UNROLL for (int d = 0; d < 3; d++) state.p.k_stride[d + 1] = state.p.v_stride[d + 1] = cache.stride[d];
        state.at = attention_locate(state.p, few_shape<T>::ROWS);
    }
    few_run_block(state);
}

GPU_KERNEL(attention_keep, struct gpu_attention_keep) {
    i64 last = few_keys(p.length, p.keys) - 1;
    for (u64 u = gpu_global(); u < (u64)p.keys; u += gpu_stride())
        p.keep[u] = (i64)u <= last && last - (i64)u <= p.left;
}

/* ---- what comes before ---- */

/* An element of another type; one of the same has its bits. */
template <typename To, typename From> struct put_cast {
    GPU_FN To of(From x) { return gpu_round<To>(gpu_up(x)); }
};
template <typename T> struct put_cast<T, T> {
    GPU_FN T of(T x) { return x; }
};

/* Element d of a head that turns. */
template <typename To, typename From>
GPU_FN To put_turned(const struct gpu_attention_put &p, const From *x, i64 stride, i64 sequence, i64 d) {
    bool second = p.interleaved ? d % 2 != 0 : d >= p.pairs;
    i64 apart = p.interleaved ? 1 : p.pairs, first = second ? d - apart : d, pair = p.interleaved ? d / 2 : first;
    From a = x[first * stride], b = x[(first + apart) * stride];
    rope_turn(&a, &b, ((const From *)p.cosine)[sequence * p.cosine_stride[0] + pair * p.cosine_stride[1]],
              ((const From *)p.sine)[sequence * p.sine_stride[0] + pair * p.sine_stride[1]]);
    return put_cast<To, From>::of(second ? b : a);
}

template <typename To, typename From> GPU_FN void attention_put(const struct gpu_attention_put &p) {
    i64 all = p.q_heads + p.heads;
    GPU_NO_UNROLL for (u64 u = gpu_global(); u < (u64)p.count; u += gpu_stride()) {
        i64 row = attention_divide(u, (u64)p.depth), d = (i64)u - row * p.depth;
        i64 sequence = attention_divide((u64)row, (u64)all), head = row - sequence * all - p.q_heads;
        u32 kind = head < 0 ? 0 : head < p.heads / 2 ? 1 : 2; /* of q, of keys, of values */
        const i64 *stride = p.stride[kind];
        i64 number = kind == 0 ? head + p.q_heads : kind == 1 ? head : head - p.heads / 2;
        const From *x = (const From *)p.from[kind] + sequence * stride[0] + number * stride[1];
        To y = kind < 2 && d < 2 * p.pairs ? put_turned<To>(p, x, stride[2], sequence, d)
                                           : put_cast<To, From>::of(x[d * stride[2]]);
        if (kind == 0) {
            ((To *)p.turned)[(sequence * p.q_heads + number) * p.depth + d] = y;
            continue;
        }
        const struct gpu_attention_cache &cache = p.cache[sequence];
        i64 keys = p.lengths ? few_keys(p.lengths + sequence * p.length_stride, cache.keys) : cache.keys;
        if (keys == 0) continue;
        ((To *)cache.at)[head * cache.stride[0] + (keys - 1) * cache.stride[1] + d * cache.stride[2]] = y;
    }
}

/* ---- entries ---- */

GPU_KERNEL(attention_few_bf16, struct gpu_attention) { attention_few<bf16>(p); }
GPU_KERNEL(attention_few_f16, struct gpu_attention) { attention_few<f16>(p); }
GPU_KERNEL(attention_few_f32, struct gpu_attention) { attention_few<f32>(p); }
GPU_KERNEL(attention_few_f64, struct gpu_attention) { attention_few<f64>(p); }
GPU_KERNEL(attention_few_f8e4m3, struct gpu_attention) { attention_few<f8e4m3>(p); }
GPU_KERNEL(attention_step_bf16, struct gpu_attention_step) { attention_step<bf16>(p); }
GPU_KERNEL(attention_step_f16, struct gpu_attention_step) { attention_step<f16>(p); }
GPU_KERNEL(attention_step_f32, struct gpu_attention_step) { attention_step<f32>(p); }
GPU_KERNEL(attention_step_f64, struct gpu_attention_step) { attention_step<f64>(p); }
GPU_KERNEL(attention_step_f8e4m3, struct gpu_attention_step) { attention_step<f8e4m3>(p); }
GPU_KERNEL(attention_step_at_bf16, struct gpu_attention_step_at) { attention_step_at<bf16>(p); }
GPU_KERNEL(attention_step_at_f16, struct gpu_attention_step_at) { attention_step_at<f16>(p); }
GPU_KERNEL(attention_step_at_f32, struct gpu_attention_step_at) { attention_step_at<f32>(p); }
GPU_KERNEL(attention_step_at_f64, struct gpu_attention_step_at) { attention_step_at<f64>(p); }
GPU_KERNEL(attention_step_at_f8e4m3, struct gpu_attention_step_at) { attention_step_at<f8e4m3>(p); }
#define ATTENTION_PUT(T)                                                                                               \
    GPU_KERNEL(attention_put_##T, struct gpu_attention_put) { attention_put<T, T>(p); }
GPU_FLOATS(ATTENTION_PUT)
GPU_KERNEL(attention_put_f32_bf16, struct gpu_attention_put) { attention_put<bf16, f32>(p); }
GPU_KERNEL(attention_put_f32_f16, struct gpu_attention_put) { attention_put<f16, f32>(p); }
