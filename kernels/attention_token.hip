/* A step of attention in one launch: some queries of each of some sequences turn, the new keys and values turn and go into
 * their caches, and the queries look at all of them. A text has this once a layer and token, with a few hundred keys at
 * first, so what counts is how many times a block waits for memory: all that a step of 64 keys needs is asked for at
 * once, before the queries are there.
 *
 * Scores: a thread takes a quarter of a key's vectors, in turn with its three neighbours, for four queries. Sums: a
 * thread takes 16 bytes of columns and some of the keys; lanes, then waves are added up in the end. */
#include "attention_common.h"
#include "attention_step.h"
#include "rope_turn.h"
#include "wave.h"

template <typename T> struct token {
    enum {
        ROWS = GPU_ATTENTION_FEW,
        WIDE = GPU_ATTENTION_TOKEN_WIDE,
        KEYS = 64,
        PARTS = GPU_BLOCK / KEYS, /* of a key, a thread each */
        WAVES = GPU_BLOCK / GPU_WAVE,
        N = gpu_vec<T>::N,
        LOADS = WIDE / N / PARTS, /* vectors of a thread's key */
        MOST = KEYS * WIDE / N / GPU_BLOCK /* the most keys of a thread's columns */
    };
    static_assert(PARTS == ROWS, "each part of a key has the score of a row in the end");

    struct room {
        f32 fade[ROWS], q[ROWS][WIDE]; /* side by side: compilers read a word behind `fade`, too */
        gpu_vec<T> fresh[2][WIDE / N]; /* the new key and value, as the cache has them */
        f32 weights[ROWS][KEYS];       /* of a step; of GPU_BLOCK keys where a row is summed again */
        f32 high[ROWS][WAVES], most[ROWS];
        f32 sums[WAVES][ROWS][WIDE];
        u32 again, ticket;
    };
    /* What a block works on. */
    struct place {
        T *k, *v; /* of its head, in the cache; a position is `step` elements behind the one before */
        i64 step;
        i64 keys, begin, end; /* of the sequence; of this block */
        u32 parts;            /* that have keys; all where a kernel joins them */
        i64 row;              /* of out, of the first query */
        u32 sequence, head, first, rows; /* head of keys; the first query of its group, and how many */
    };

    GPU_FN place locate(const struct gpu_attention_token &p) {
        place at;
        u32 unit = gpu_block_x() / p.tiles, tile = gpu_block_x() - unit * p.tiles, heads = p.heads / p.group;
        at.sequence = unit / heads;
        at.head = unit - at.sequence * heads;
        at.first = tile * ROWS;
        at.rows = p.group - at.first < ROWS ? p.group - at.first : (u32)ROWS;
        at.row = (i64)at.sequence * p.heads + at.head * p.group + at.first;
        const struct gpu_attention_cache &cache = p.cache[at.sequence];
        at.k = (T *)cache.at + at.head * cache.stride[0];
        at.v = at.k + heads * cache.stride[0];
        at.step = cache.stride[1];
        at.keys = cache.keys;
        if (p.lengths) {
            i64 length = p.lengths[at.sequence * p.length_stride];
            at.keys = length >= 0 && length < cache.keys ? length + 1 : 0;
        }
        i64 low = at.keys - 1 > p.left ? at.keys - 1 - p.left : 0;
        u64 seen = (u64)(at.keys - low), splits = seen / KEYS < p.splits ? seen / KEYS : p.splits;
        i64 split = splits > 1 ? (attention_divide(seen + splits - 1, splits) + KEYS - 1) / KEYS * KEYS : (i64)seen;
        at.parts = !p.tickets ? p.splits : splits > 1 ? (u32)attention_divide(seen + (u64)split - 1, (u64)split) : 1;
        at.begin = low + gpu_block_y() * split;
        if (at.begin > at.keys) at.begin = at.keys;
        at.end = at.begin + split < at.keys ? at.begin + split : at.keys;
        /* Not in scalar registers, of which AMD has too few. */
        at.keys = gpu_anew(at.keys);
        at.parts = gpu_anew(at.parts);
        at.end = gpu_anew(at.end);
        at.step = gpu_anew(at.step);
        at.row = gpu_anew(at.row);
        return at;
    }

    /* Element d of row x, of a query or a key, after its turn. */
    GPU_FN f32 turned(const struct gpu_attention_token &p, u32 sequence, const f32 *x, u32 d) {
        if (d >= 2 * p.pairs) return x[d];
        bool second = p.interleaved ? d % 2 != 0 : d >= p.pairs;
        u32 apart = p.interleaved ? 1 : p.pairs, first = second ? d - apart : d, pair = p.interleaved ? d / 2 : first;
        f32 a = x[first], b = x[first + apart];
        rope_turn(&a, &b, p.cosine[sequence * p.cosine_stride[0] + pair * p.cosine_stride[1]],
                  p.sine[sequence * p.sine_stride[0] + pair * p.sine_stride[1]]);
        return second ? b : a;
    }

    /* Queries, and the new key and value, which the block that has the last key puts into the cache. */
    GPU_FN void bring(const struct gpu_attention_token &p, const place &at, room &to) {
        enum { AT_ONCE = GPU_BLOCK / WIDE, TURNS = (ROWS + 2) / AT_ONCE };
        u32 d = gpu_thread() % WIDE;
        bool last = at.end == at.keys && at.begin < at.end && at.first == 0;
        GPU_UNROLL_DIMS for (u32 turn = 0; turn < TURNS; turn++) {
            u32 r = turn * AT_ONCE + gpu_thread() / WIDE, kind = r < ROWS ? 0 : r - ROWS + 1;
            u32 head = kind == 0 ? at.head * p.group + at.first + (r < at.rows ? r : 0) : at.head;
            const f32 *x = p.from[kind] + at.sequence * p.stride[kind][0] + head * p.stride[kind][1];
            if (d >= p.depth) continue;
            f32 v = kind == 2 ? x[d] : turned(p, at.sequence, x, d);
            T rounded = gpu_round<T>(v);
            if (kind == 0) {
                to.q[r][d] = gpu_up(rounded);
                continue;
            }
            ((T *)to.fresh[kind - 1])[d] = rounded;
            if (last) (kind == 1 ? at.k : at.v)[(at.keys - 1) * at.step + d] = rounded;
        }
    }

    /* Asks for vectors of a key, and of values; keys that are not there are 0. What vectors behind the last of a key give is
     * not looked at. */
    GPU_FN void fetch_key(const place &at, i64 key, u32 vectors, gpu_vec<T> (&x)[LOADS]) {
        const T *k = at.k + key * at.step;
        u32 part = gpu_anew(gpu_thread() % PARTS);
        GPU_UNROLL for (u32 i = 0; i < LOADS; i++) GPU_UNROLL for (u32 j = 0; j < N; j++) x[i].v[j] = gpu_round<T>(0.0f);
        if (key < at.end && key != at.keys - 1)
            GPU_UNROLL for (u32 i = 0; i < LOADS; i++) {
                u32 vector = part + i * PARTS < vectors ? part + i * PARTS : vectors - 1;
                x[i] = gpu_load16(k + vector * N);
            }
    }
    /* `each` is MOST, or half of it. */
    GPU_FN void fetch_values(const place &at, i64 key0, u32 column, u32 each, u32 vectors, gpu_vec<T> (&x)[MOST]) {
        const T *v = at.v + (column < vectors ? column : vectors - 1) * N;
        GPU_UNROLL for (u32 i = 0; i < MOST; i++) {
            i64 key = key0 + i;
            GPU_UNROLL for (u32 j = 0; j < N; j++) x[i].v[j] = gpu_round<T>(0.0f);
            if ((i < MOST / 2 || each == MOST) && key < at.end && key != at.keys - 1)
                x[i] = gpu_load16(v + key * at.step);
        }
    }

    /* A thread's share of a key's products with all rows, then, of its four, that of row gpu_thread() % PARTS. */
    GPU_FN f32 score(const struct gpu_attention_token &p, const room &from, const gpu_vec<T> (&x)[LOADS], u32 vectors) {
        u32 part = gpu_anew(gpu_thread() % PARTS);
        f32 dot[ROWS];
        GPU_UNROLL for (u32 r = 0; r < ROWS; r++) dot[r] = 0;
        GPU_UNROLL for (u32 i = 0; i < LOADS; i++) {
            if (part + i * PARTS >= vectors) continue;
            f32 y[N];
            gpu_up_vector(x[i], y);
            GPU_UNROLL for (u32 r = 0; r < ROWS; r++)
                GPU_UNROLL for (u32 j = 0; j < N; j += 4) {
                    gpu_vec<f32> q = *(const gpu_vec<f32> *)&from.q[r][(part + i * PARTS) * N + j];
                    GPU_UNROLL for (u32 e = 0; e < 4; e++) dot[r] = gpu_fma(q.v[e], y[j + e], dot[r]);
                }
        }
        GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
            dot[r] += gpu_shuffle_xor(dot[r], 1);
            dot[r] += gpu_shuffle_xor(dot[r], 2);
        }
        f32 mine = part == 0 ? dot[0] : part == 1 ? dot[1] : part == 2 ? dot[2] : dot[3];
        mine *= p.scale;
        return p.cap > 0 ? p.cap * gpu_tanh(mine / p.cap) : mine;
    }

    /* Of a row, over the waves, and over the lanes of each that have its keys. */
    GPU_FN f32 highest(room &to, f32 v) {
        GPU_UNROLL for (u32 lanes = PARTS; lanes < GPU_WAVE; lanes *= 2) v = gpu_join_max::of(v, gpu_shuffle_xor(v, lanes));
        if (gpu_lane() < PARTS) to.high[gpu_lane()][gpu_wave()] = v;
        gpu_sync();
        GPU_UNROLL for (u32 w = 0; w < WAVES; w++) v = gpu_join_max::of(v, to.high[gpu_thread() % PARTS][w]);
        return v;
    }
    GPU_FN f32 summed(room &to, f32 v) {
        GPU_UNROLL for (u32 lanes = PARTS; lanes < GPU_WAVE; lanes *= 2) v += gpu_shuffle_xor(v, lanes);
        gpu_sync();
        if (gpu_lane() < PARTS) to.high[gpu_lane()][gpu_wave()] = v;
        gpu_sync();
        f32 sum = 0;
        GPU_UNROLL for (u32 w = 0; w < WAVES; w++) sum += to.high[gpu_thread() % PARTS][w];
        return sum;
    }

    /* Row r, column d, of a block whose row has this sum of weights. */
    GPU_FN void store(const struct gpu_attention_token &p, const place &at, u32 r, u32 d, f32 sum, f32 total) {
        i64 row = at.row + r;
        if (at.parts > 1)
            p.partial[((i64)gpu_block_y() * p.total + row) * p.depth + d] = sum;
        else
            p.out[row * p.depth + d] = total == 0 ? 0.0f : sum / total;
    }

    /* A row whose sums have a NaN and whose weights have none, without the keys of weight 0: GPU_BLOCK keys' weights, then
     * a thread a column. */
    GPU_FN void again(const struct gpu_attention_token &p, const place &at, room &to, u32 r, f32 most, f32 total) {
        f32 *weights = &to.weights[0][0], sum = 0;
        u32 d = gpu_thread();
        static_assert(sizeof to.weights >= GPU_BLOCK * sizeof(f32), "room for a weight of each thread");
        GPU_NO_UNROLL for (i64 key0 = at.begin; key0 < at.end; key0 += GPU_BLOCK) {
            i64 key = key0 + gpu_thread(), there = at.end - key0 < GPU_BLOCK ? at.end - key0 : GPU_BLOCK;
            f32 score = 0;
            gpu_sync();
            if (key < at.end) {
                const T *x = key == at.keys - 1 ? (const T *)to.fresh[0] : at.k + key * at.step;
                GPU_NO_UNROLL for (u32 e = 0; e < p.depth; e++) score = gpu_fma(to.q[r][e], gpu_up(x[e]), score);
                score *= p.scale;
                if (p.cap > 0) score = p.cap * gpu_tanh(score / p.cap);
                weights[gpu_thread()] = score == attention_lowest(score) ? -1.0f : gpu_exp(score - most);
            }
            gpu_sync();
            if (d >= p.depth) continue;
            GPU_NO_UNROLL for (i64 i = 0; i < there; i++) {
                const T *x = key0 + i == at.keys - 1 ? (const T *)to.fresh[1] : at.v + (key0 + i) * at.step;
                if (!(weights[i] < 0)) sum = gpu_fma(weights[i], gpu_up(x[d]), sum);
            }
        }
        if (d < p.depth) store(p, at, r, d, sum, total);
    }

    /* The block that ends last joins what all of them have left, in the order of the keys, as attention_join does. */
    GPU_FN void join(const struct gpu_attention_token &p, const place &at, room &to) {
        enum { PIECES = GPU_ATTENTION_TOKEN_PIECES };
        gpu_fence();
        gpu_sync();
        if (gpu_thread() == 0) to.ticket = gpu_atomic_add(p.tickets + gpu_block_x(), 1);
        gpu_sync();
        if (to.ticket != at.parts - 1) return;
        gpu_fence();
        if (gpu_thread() == 0) p.tickets[gpu_block_x()] = 0;
        GPU_NO_UNROLL for (u32 r = gpu_thread() / WIDE; r < at.rows; r += GPU_BLOCK / WIDE) {
            u32 d = gpu_thread() % WIDE;
            if (d >= p.depth) continue;
            /* All that has come is asked for at once. */
            f32 high[PIECES], of[PIECES], part[PIECES], most = attention_lowest(0.0f), total = 0, sum = 0;
            GPU_UNROLL for (u32 s = 0; s < PIECES; s++) {
                i64 row = (i64)(s < at.parts ? s : 0) * p.total + at.row + r;
                high[s] = p.stats[row * 2];
                of[s] = p.stats[row * 2 + 1];
                part[s] = p.partial[row * p.depth + d];
            }
            GPU_UNROLL for (u32 s = 0; s < PIECES; s++) most = high[s] > most ? high[s] : most;
            f32 base = most == attention_lowest(most) ? 0.0f : most;
            GPU_UNROLL for (u32 s = 0; s < PIECES; s++) {
                f32 weight = gpu_exp(high[s] - base);
                if (s >= at.parts) continue;
                total += weight * of[s];
                sum += weight * part[s];
            }
            p.out[(at.row + r) * p.depth + d] = total == 0 ? 0.0f : sum / total;
        }
    }

    GPU_FN void run(const struct gpu_attention_token &p) {
        GPU_SHARED struct room to;
        if (!p.early) gpu_wait();
        const place at = locate(p);
        if (gpu_block_y() >= at.parts) return;
        const u32 vectors = p.depth / N, columns = vectors > WIDE / N / 2 ? WIDE / N : WIDE / N / 2;
        const u32 column = gpu_thread() % columns, slice = gpu_thread() / columns, each = KEYS * columns / GPU_BLOCK;
        const u32 mine = gpu_thread() / PARTS, row = gpu_thread() % PARTS;
        gpu_vec<T> k[LOADS], v[MOST];
        f32 sum[ROWS][N], most = attention_lowest(0.0f), total = 0;
        GPU_UNROLL for (u32 r = 0; r < ROWS; r++) GPU_UNROLL for (u32 j = 0; j < N; j++) sum[r][j] = 0;
        fetch_key(at, at.begin + mine, vectors, k);
        fetch_values(at, at.begin + slice * each, column, each, vectors, v);
        gpu_wait();
        bring(p, at, to);
        if (gpu_thread() == 0) to.again = 0;
        gpu_sync();
        GPU_NO_UNROLL for (i64 key0 = at.begin; key0 < at.end; key0 += KEYS) {
            i64 key = key0 + gpu_anew(mine), value = key0 + gpu_anew(slice * each);
            if (key == at.keys - 1)
                GPU_UNROLL for (u32 i = 0; i < LOADS; i++)
                    k[i] = to.fresh[0][row + i * PARTS < vectors ? row + i * PARTS : vectors - 1];
            f32 s = score(p, to, k, vectors);
            if (key >= at.end) s = attention_lowest(s);
            if (key0 + KEYS < at.end) fetch_key(at, key + KEYS, vectors, k);
            f32 high = gpu_join_max::of(most, highest(to, s));
            /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
            f32 base = high == attention_lowest(high) ? 0.0f : high, fade = gpu_exp(most - base);
            f32 weight = gpu_exp(s - base);
            total = total * fade + weight;
            most = high;
            to.weights[row][mine] = weight;
            if (mine == 0) to.fade[row] = fade;
            gpu_sync();
            GPU_UNROLL for (u32 r = 0; r < ROWS; r++) GPU_UNROLL for (u32 j = 0; j < N; j++) sum[r][j] *= to.fade[r];
            GPU_UNROLL for (u32 i = 0; i < MOST; i++) {
                if (i >= MOST / 2 && each < MOST) continue;
                if (value + i == at.keys - 1) v[i] = to.fresh[1][column < vectors ? column : vectors - 1];
                f32 y[N];
                gpu_up_vector(v[i], y);
                GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
                    f32 w = to.weights[r][slice * each + i];
                    GPU_UNROLL for (u32 j = 0; j < N; j++) sum[r][j] = gpu_fma(w, y[j], sum[r][j]);
                }
            }
            if (key0 + KEYS < at.end) fetch_values(at, value + KEYS, gpu_anew(column), each, vectors, v);
        }
        total = summed(to, total);
        if (gpu_thread() < PARTS) {
            to.fade[row] = total;
            to.most[row] = most;
            if (at.parts > 1 && row < at.rows) {
                f32 *stats = p.stats + ((i64)gpu_block_y() * p.total + at.row + row) * 2;
                stats[0] = most;
                stats[1] = total;
            }
        }
        GPU_UNROLL for (u32 r = 0; r < ROWS; r++) {
            GPU_NO_UNROLL for (u32 lanes = columns; lanes < GPU_WAVE; lanes *= 2)
                GPU_UNROLL for (u32 j = 0; j < N; j++) sum[r][j] += gpu_shuffle_xor(sum[r][j], lanes);
            if (gpu_lane() < columns && column < vectors)
                GPU_UNROLL for (u32 j = 0; j < N; j++) to.sums[gpu_wave()][r][column * N + j] = sum[r][j];
        }
        gpu_sync();
        GPU_NO_UNROLL for (u32 r = gpu_thread() / WIDE; r < at.rows; r += GPU_BLOCK / WIDE) {
            u32 d = gpu_thread() % WIDE;
            if (d >= p.depth) continue;
            f32 all = 0, of = to.fade[r];
            GPU_UNROLL for (u32 w = 0; w < WAVES; w++) all += to.sums[w][r][d];
            store(p, at, r, d, all, of);
            if (all != all && of == of) to.again = 1;
        }
        gpu_sync();
        if (to.again)
            GPU_NO_UNROLL for (u32 r = 0; r < at.rows; r++) {
                f32 of = to.fade[r];
                if (of == of) again(p, at, to, r, to.most[r], of);
            }
        if (p.tickets && at.parts > 1) join(p, at, to);
    }
};

GPU_KERNEL_AHEAD(attention_token_bf16, struct gpu_attention_token, GPU_BLOCK, 1) { token<bf16>::run(p); }
GPU_KERNEL_AHEAD(attention_token_f16, struct gpu_attention_token, GPU_BLOCK, 1) { token<f16>::run(p); }
GPU_KERNEL_AHEAD(attention_token_f32, struct gpu_attention_token, GPU_BLOCK, 1) { token<f32>::run(p); }
