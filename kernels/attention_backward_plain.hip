/* The gradients of attention of f32 in plain arithmetic by tiles in registers, for rows of whole fours of up to 128
 * elements side by side (after Dao, "FlashAttention-2"). attention_delta has run.
 *
 * A block has the sums of 32 or 64 rows: dq of queries, or dk, dv or both of keys, which go through the queries of all
 * heads that share them. It goes through the rows on the other side in steps of 64: the scores, the gradients of
 * weights, from both P and dS, and these times the others' rows, all in one order. */
#include "attention_backward_common.h"
#include "attention_plain.h"

enum plain_of { PLAIN_OF_Q, PLAIN_OF_K, PLAIN_OF_V, PLAIN_OF_KV };

/* What a block has in LDS. */
template <int R, int DIM, int OF> struct plain_state {
    enum { QUERIES = OF == PLAIN_OF_Q ? R * PLAIN_HIGH : PLAIN_WIDE };
    gpu_vec<f32> slabs[plain_shape<R, DIM>::TOTAL / 4];
    struct backward_query<f32> queries[QUERIES]; /* of the tile, or of a step */
    struct backward_place at;                    /* AMD has too few scalar registers for it */
    u32 odd[2]; /* the last turn in which the terms in this slab had an infinity or NaN */
};

/* ---- weights ---- */

/* A step of others, those of the head `member` after at.head. */
struct plain_turn {
    i64 other0;
    u32 member, count;
};

/* Rows of an operand: those of the tile, or a step's. `data`: as x has it, for an address that comes from LDS could
 * be one of anything to the compiler. */
GPU_FN struct plain_rows plain_rows_of(const void *data, const struct backward_operand &x, i64 first, u32 most,
                                       i64 end) {
    i64 left = (end < x.count ? end : x.count) - first;
    return {(const f32 *)data + x.at + first * x.row, x.row, left < most ? (u32)left : most, (u32)x.length};
}

/* Whether every row of the tile and every one of the step meet, with nothing done to the scores. */
template <int ROWS, bool OF_Q>
GPU_FN bool plain_is_whole(const struct gpu_attention_backward &p, const struct backward_place &at,
                           const struct plain_turn &turn) {
    i64 row1 = (at.row0 + ROWS < at.rows ? at.row0 + ROWS : at.rows) - 1, other1 = turn.other0 + PLAIN_WIDE - 1;
    i64 key0 = OF_Q ? turn.other0 : at.row0, key1 = OF_Q ? other1 : row1;
    i64 query0 = (OF_Q ? at.row0 : turn.other0) + at.shift, query1 = (OF_Q ? row1 : other1) + at.shift;
    return !p.a.slopes && p.a.masked == GPU_ATTENTION_FREE && !(p.a.cap > 0) && turn.count == PLAIN_WIDE &&
           key1 - query0 <= p.a.right && query1 - key0 <= p.a.left;
}

/* The query of a pair, of a row of the tile and a column. */
template <bool OF_Q> GPU_FN u32 plain_query(u32 row, u32 column) { return OF_Q ? row : column; }

/* Scores and the gradients of weights of a thread's pairs, then P and dS. */
template <int R> struct plain_pairs {
    f32 score[R][8], slope[R][8];
};

/* P and dS where all pairs meet. */
template <int R, bool OF_Q, bool SLOPES>
GPU_FN void plain_weights(const struct gpu_attention_backward &p, const struct backward_query<f32> *queries,
                          struct plain_pairs<R> &pairs) {
    f32 scale = (f32)p.a.scale;
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int j = 0; j < 8; j++) {
        u32 q = plain_query<OF_Q>(plain_y() + i * PLAIN_HIGH, plain_x() + j * 8);
        pairs.score[i][j] = gpu_exp2((pairs.score[i][j] * scale - queries[q].log_sum) * 1.4426950408889634f);
        if (SLOPES) pairs.slope[i][j] = pairs.score[i][j] * (pairs.slope[i][j] - queries[q].delta);
    }
}

/* The same for any pairs, -0 for those that do not meet: scores go through LDS, one after another, 128 threads side by
 * side. */
template <int R, bool OF_Q, bool SLOPES>
GPU_FN void plain_weights_masked(const struct gpu_attention_backward &p, const struct backward_place &at,
                                 const struct plain_turn &turn, const struct backward_query<f32> *queries, f32 *lds,
                                 struct plain_pairs<R> &pairs) {
    f32 *own = lds + gpu_thread();
    if (SLOPES && p.a.cap > 0) {
        GPU_UNROLL for (int i = 0; i < R; i++)
            GPU_UNROLL for (int j = 0; j < 8; j++) own[(i * 8 + j) * PLAIN_THREADS] = pairs.score[i][j];
        GPU_NO_UNROLL for (u32 n = 0; n < R * 8; n++) {
            f32 part = gpu_tanh(own[n * PLAIN_THREADS] * (f32)p.a.scale / (f32)p.a.cap);
            own[n * PLAIN_THREADS] = 1.0f - part * part;
        }
    }
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int j = 0; j < 8; j++) {
        u32 q = plain_query<OF_Q>(plain_y() + i * PLAIN_HIGH, plain_x() + j * 8);
        if (SLOPES) pairs.slope[i][j] -= queries[q].delta;
        if (SLOPES && p.a.cap > 0) pairs.slope[i][j] *= own[(i * 8 + j) * PLAIN_THREADS];
        own[(i * 8 + j) * PLAIN_THREADS] = pairs.score[i][j];
    }
    GPU_NO_UNROLL for (u32 n = 0; n < R * 8; n++) {
        u32 row = plain_y() + n / 8 * PLAIN_HIGH, column = plain_x() + n % 8 * 8;
        const struct backward_products<f32> products = {own[n * PLAIN_THREADS], 0.0f};
        own[n * PLAIN_THREADS] =
            backward_weight<f32>(p, true, queries[plain_query<OF_Q>(row, column)],
                                 OF_Q ? turn.other0 + column : at.row0 + row, at.keys, products);
    }
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int j = 0; j < 8; j++) {
        f32 weight = own[(i * 8 + j) * PLAIN_THREADS];
        pairs.score[i][j] = weight;
        if (SLOPES) pairs.slope[i][j] = backward_hidden(weight) ? weight : weight * pairs.slope[i][j] + 0.0f;
    }
    gpu_sync(); /* the weights go where others' scores lie */
}

/* ---- sums ---- */

GPU_FN bool plain_finite(const gpu_vec<f32> &v) {
    f32 sum = 0;
    GPU_UNROLL for (int e = 0; e < 4; e++) sum += v.v[e] - v.v[e];
    return sum == 0;
}

/* Adds the products of a slab without the pairs that do not meet. */
template <int R, int DIM, int TERMS>
GPU_FN void plain_add_odd(const f32 *weights, const f32 *slab, f32 (&out)[R][DIM / 32][4]) {
    GPU_NO_UNROLL for (u32 k = 0; k < TERMS; k++) GPU_UNROLL for (int i = 0; i < R; i++) {
        f32 weight = weights[(plain_y() + i * PLAIN_HIGH) * PLAIN_WEIGHTS + k];
        if (backward_hidden(weight)) continue;
        GPU_UNROLL for (int c = 0; c < DIM / 32; c++) {
            gpu_vec<f32> y = *(const gpu_vec<f32> *)(slab + k * DIM + c * 32 + plain_x() * 4);
            GPU_UNROLL for (int j = 0; j < 4; j++) out[i][c][j] = gpu_fma(weight, y.v[j], out[i][c][j]);
        }
    }
}

/* As plain_add where pairs may not meet. `odd` are two words of LDS, less than `turn`; the next call's turn must be at
 * least 8 more. */
template <int R, int DIM>
GPU_FN void plain_add_masked(const f32 *weights, const struct plain_rows &y, f32 *lds, u32 *odd, u32 turn,
                             f32 (&out)[R][DIM / 32][4]) {
    enum { TERMS = plain_shape<R, DIM>::TERMS, PART = TERMS * DIM };
    GPU_NO_UNROLL for (u32 first = 0; first < y.count; first += TERMS, turn++) {
        gpu_vec<f32> ys[PART / 512];
        u32 buffer = first / TERMS % 2;
        plain_fetch_terms<DIM, TERMS>(y, first, ys);
        plain_put_terms<DIM, TERMS>(ys, lds + buffer * PART);
        GPU_UNROLL for (int i = 0; i < PART / 512; i++) if (!plain_finite(ys[i])) odd[buffer] = turn;
        gpu_sync();
        if (odd[buffer] == turn)
            plain_add_odd<R, DIM, TERMS>(weights + first, lds + buffer * PART, out);
        else
            plain_add_slab<R, DIM>(weights + first, lds + buffer * PART, TERMS, out);
    }
    gpu_sync();
}

template <int R> GPU_FN void plain_put_weights(const f32 (&weight)[R][8], f32 *weights) {
    weights += plain_y() * PLAIN_WEIGHTS + plain_x();
    GPU_UNROLL for (int i = 0; i < R; i++)
        GPU_UNROLL for (int j = 0; j < 8; j++) weights[i * PLAIN_HIGH * PLAIN_WEIGHTS + j * 8] = weight[i][j];
}

/* A gradient's elements of a thread. */
template <int R, int DIM>
GPU_FN void plain_store(const struct gpu_attention_backward &p, const struct backward_place &at, f32 *to, u32 length,
                        f32 scale, const f32 (&sum)[R][DIM / 32][4]) {
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    i64 heads = of_q ? p.a.heads : p.key_heads, head = of_q ? at.head : at.key_head, first = of_q ? at.query0 : at.key0;
    i64 positions = of_q ? p.a.queries : p.a.keys;
    GPU_UNROLL for (int i = 0; i < R; i++) {
        i64 row = at.row0 + plain_y() + i * PLAIN_HIGH;
        if (row >= at.rows) continue;
        row += first;
        row = p.a.q_starts ? row * heads + head : (at.batch * heads + head) * positions + row;
        GPU_UNROLL for (u32 c = 0; c < DIM / 32; c++) {
            u32 column = c * 32 + plain_x() * 4;
            gpu_vec<f32> v;
            GPU_UNROLL for (int j = 0; j < 4; j++) v.v[j] = sum[i][c][j] * scale;
            if (column < length) gpu_store16(to + row * length + column, v);
        }
    }
}

/* ---- the kernel ---- */

template <int R, int DIM> struct plain_gradients {
    f32 first[R][DIM / 32][4], second[R][DIM / 32][4]; /* dq or dk; dv, when it is wanted */
};
template <int R, int DIM> GPU_FN void plain_clear(f32 (&sum)[R][DIM / 32][4]) {
    GPU_UNROLL for (int i = 0; i < R; i++) GPU_UNROLL for (int c = 0; c < DIM / 32; c++)
        GPU_UNROLL for (int j = 0; j < 4; j++) sum[i][c][j] = 0;
}

/* Adds a step's products to one gradient. */
template <int R, int DIM, int OF>
GPU_FN void plain_add_step(struct plain_state<R, DIM, OF> &state, bool whole, const f32 (&weight)[R][8],
                           const struct plain_rows &terms, u32 turn, f32 (&sum)[R][DIM / 32][4]) {
    f32 *lds = (f32 *)state.slabs, *slabs = lds + plain_shape<R, DIM>::FIRST;
    plain_put_weights<R>(weight, lds);
    if (whole)
        plain_add<R, DIM>(lds, terms, slabs, sum);
    else
        plain_add_masked<R, DIM>(lds, terms, slabs, state.odd, turn, sum);
}

/* A step of others; `turn` as plain_add_masked has it, for two calls. */
template <int R, int DIM, int OF>
GPU_FN void plain_step(const struct gpu_attention_backward &p, struct plain_state<R, DIM, OF> &state,
                       const struct plain_turn &turn, u32 number, struct plain_gradients<R, DIM> &sums) {
    enum { ROWS = R * PLAIN_HIGH };
    constexpr bool of_q = OF == PLAIN_OF_Q, slopes = OF != PLAIN_OF_V;
    const struct backward_place &at = state.at;
    f32 *lds = (f32 *)state.slabs;
    struct plain_pairs<R> pairs;
    const struct backward_operand *in = at.operand;
    struct plain_rows x =
        plain_rows_of(of_q ? p.a.q : p.a.k, in[of_q ? BACKWARD_Q : BACKWARD_K], at.row0, ROWS, at.rows);
    struct plain_rows y =
        plain_rows_of(of_q ? p.a.k : p.a.q, in[of_q ? BACKWARD_K : BACKWARD_Q], turn.other0, PLAIN_WIDE, at.end);
    struct plain_rows z =
        plain_rows_of(of_q ? p.a.v : p.gradient, in[of_q ? BACKWARD_V : BACKWARD_G], turn.other0, PLAIN_WIDE, at.end);
    if (!of_q) {
        y.from += turn.member * p.a.q_stride[1];
        z.from += turn.member * p.gradient_stride[1];
    }
    plain_multiply<R>(x, y, lds, pairs.score);
    if (slopes) {
        x = plain_rows_of(of_q ? p.gradient : p.a.v, in[of_q ? BACKWARD_G : BACKWARD_V], at.row0, ROWS, at.rows);
        plain_multiply<R>(x, z, lds, pairs.slope);
    }
    bool whole = plain_is_whole<ROWS, of_q>(p, at, turn);
    if (whole)
        plain_weights<R, of_q, slopes>(p, state.queries, pairs);
    else
        plain_weights_masked<R, of_q, slopes>(p, at, turn, state.queries, lds, pairs);
    if (OF == PLAIN_OF_V || OF == PLAIN_OF_KV)
        plain_add_step<R, DIM, OF>(state, whole, pairs.score, z, number, sums.second);
    if (OF != PLAIN_OF_V) plain_add_step<R, DIM, OF>(state, whole, pairs.slope, y, number + 8, sums.first);
}

template <int R, int DIM, int OF> GPU_FN void attention_backward_plain(const struct gpu_attention_backward &p) {
    typedef plain_state<R, DIM, OF> state_type;
    GPU_SHARED state_type state;
    constexpr bool of_q = OF == PLAIN_OF_Q;
    u32 t = gpu_thread(), number = 1;
    if (p.a.q_starts && of_q && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    if (t < 2) state.odd[t] = 0;
    if (t == 0) backward_locate(p, state.at, R * PLAIN_HIGH);
    gpu_sync();
    const struct backward_place &at = state.at;
    if (at.row0 >= at.rows) return;
    if (of_q && t < state_type::QUERIES) state.queries[t] = backward_query_of<f32>(p, at, at.head, at.row0 + t);
    struct plain_gradients<R, DIM> sums;
    plain_clear<R, DIM>(sums.first);
    plain_clear<R, DIM>(sums.second);
    GPU_NO_UNROLL for (u32 member = 0; member < (of_q ? 1 : p.a.group); member++)
        GPU_NO_UNROLL for (i64 other0 = at.begin; other0 < at.end; other0 += PLAIN_WIDE, number += 16) {
            u32 count = at.end - other0 < PLAIN_WIDE ? (u32)(at.end - other0) : (u32)PLAIN_WIDE;
            const struct plain_turn turn = {other0, member, count};
            if (!of_q && t < state_type::QUERIES)
                state.queries[t] = backward_query_of<f32>(p, at, at.head + member, other0 + t);
            plain_step<R, DIM, OF>(p, state, turn, number, sums);
        }
    if (OF != PLAIN_OF_V)
        plain_store<R, DIM>(p, at, (f32 *)p.out, (u32)p.a.depth, (f32)p.a.scale, sums.first);
    if (OF == PLAIN_OF_V || OF == PLAIN_OF_KV)
        plain_store<R, DIM>(p, at, (f32 *)p.out_v, (u32)p.a.width, 1.0f, sums.second);
}

#define BACKWARD_PLAIN(of, rows, dim, OF)                                                                              \
    GPU_KERNEL_OF(attention_backward_plain_##of##_##rows##_##dim, struct gpu_attention_backward, PLAIN_THREADS, 2) {   \
        attention_backward_plain<(rows) / PLAIN_HIGH, dim, OF>(p);                                                     \
    }
#define BACKWARD_PLAIN_OF_ALL(of, rows, OF)                                                                            \
    BACKWARD_PLAIN(of, rows, 32, OF)                                                                                   \
    BACKWARD_PLAIN(of, rows, 64, OF)                                                                                   \
    BACKWARD_PLAIN(of, rows, 96, OF)                                                                                   \
    BACKWARD_PLAIN(of, rows, 128, OF)

BACKWARD_PLAIN_OF_ALL(q, 32, PLAIN_OF_Q)
BACKWARD_PLAIN_OF_ALL(q, 64, PLAIN_OF_Q)
BACKWARD_PLAIN_OF_ALL(kv, 32, PLAIN_OF_KV)
BACKWARD_PLAIN(kv, 64, 32, PLAIN_OF_KV)
#if defined(GPU_AMD)
/* There these lack registers; the host asks for 32 rows. */
#define BACKWARD_PLAIN_WIDE(of, dim, OF)                                                                               \
    GPU_KERNEL_OF(attention_backward_plain_##of##_64_##dim, struct gpu_attention_backward, PLAIN_THREADS, 2) {         \
        (void)p;                                                                                                       \
    }
#else
#define BACKWARD_PLAIN_WIDE(of, dim, OF) BACKWARD_PLAIN(of, 64, dim, OF)
#endif
BACKWARD_PLAIN_WIDE(kv, 64, PLAIN_OF_KV)
/* Registers do not hold dk and dv of 64 rows this wide together. */
BACKWARD_PLAIN_WIDE(k, 96, PLAIN_OF_K)
BACKWARD_PLAIN_WIDE(k, 128, PLAIN_OF_K)
BACKWARD_PLAIN_WIDE(v, 96, PLAIN_OF_V)
BACKWARD_PLAIN_WIDE(v, 128, PLAIN_OF_V)
