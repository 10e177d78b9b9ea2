/* The gradients of attention in plain arithmetic, without the matrix of scores (Dao, "FlashAttention-2"): sum(gradient
 * result) of each row, and then the gradients of q, k and v by a launch each.
 *
 * A block of 16 x 16 threads has 64 positions of one head, queries for the gradient of q, else keys, and a run of columns
 * of their gradient. It goes through the positions on the other side in steps: scores by tiles, the gradients of weights
 * in the same way, from both the weights P or the gradients of scores dS, and their products with what lies on the other
 * side: k for q, q for k, the gradient for v.
 *
 * A key that is left out has the weight -0, which no other has: times a number it adds nothing, and where a step's terms
 * have an infinity or NaN, it is passed over. */
#include "attention_backward.h"
#include "attention_common.h"

/* ---- sum(gradient result), 16 lanes a row ---- */

template <typename T> GPU_FN void attention_delta(const struct gpu_attention_backward &p) {
    typedef typename gpu_compute<T>::type S;
    u32 lane = gpu_thread() % 16;
    GPU_NO_UNROLL for (u64 row0 = (u64)gpu_block_x() * 16; row0 < (u64)p.a.total; row0 += (u64)gpu_blocks_x() * 16) {
        i64 row = (i64)row0 + gpu_thread() / 16, last = row < p.a.total ? p.a.width : 0;
        i64 inner = p.a.q_starts ? p.a.heads : p.a.queries, line = attention_divide((u64)row, (u64)inner);
        i64 head = p.a.q_starts ? row - line * inner : line % p.a.heads;
        i64 query = p.a.q_starts ? line : row - line * inner, batch = p.a.q_starts ? 0 : line / p.a.heads;
        const i64 *g = p.gradient_stride, *y = p.result_stride;
        const T *gradient = (const T *)p.gradient + batch * g[0] + head * g[1] + query * g[2];
        const T *result = (const T *)p.result + batch * y[0] + head * y[1] + query * y[2];
        S sum = 0;
        GPU_NO_UNROLL for (i64 d = lane; d < last; d += 16)
            sum = gpu_fma((S)gpu_up(gradient[d * g[3]]), (S)gpu_up(result[d * y[3]]), sum);
        GPU_UNROLL for (u32 lanes = 1; lanes < 16; lanes *= 2) sum += gpu_shuffle_xor(sum, lanes);
        if (lane == 0 && row < p.a.total) ((S *)p.delta)[row] = sum;
    }
}

/* ---- where things lie ---- */

template <typename T> struct backward_shape {
    typedef typename gpu_compute<T>::type S;
    enum {
        ROWS = 64,
        STEP = sizeof(S) == 8 ? 32 : 64, /* positions on the other side */
        MINE = STEP / 16,                /* of a thread */
        DEPTH = sizeof(S) == 8 ? 16 : 32, /* of operands in LDS at a time */
        PITCH = 68,
        STEP_PITCH = STEP + 4,
        TILE = DEPTH * (PITCH + STEP_PITCH) > STEP * PITCH ? DEPTH * (PITCH + STEP_PITCH) : STEP * PITCH,
        CHUNKS = sizeof(S) == 8 ? 1 : 2, /* of 64 columns */
        WIDTH = 64 * CHUNKS
    };
};

/* Four neighbours, or two. */
template <typename S, int N> struct alignas(N * sizeof(S)) backward_run {
    S v[N];
};

enum { BACKWARD_Q, BACKWARD_K, BACKWARD_G, BACKWARD_V };

/* Rows of one head of a sequence: element d of row i is data[at + i * row + d * element]. */
struct backward_operand {
    const void *data;
    i64 at, row, element, count, length;
};

/* What a block is about. */
struct backward_place {
    struct backward_operand operand[4];
    i64 batch, query0, key0; /* the sequence; its first query and key, when packed */
    i64 queries, keys, shift; /* shift: what the position of a query is more than its number */
    i64 row0, rows;           /* of the gradient; row0 >= rows: the block has nothing to do */
    i64 begin, end;           /* positions on the other side that some row meets */
    i64 key_head, head, last; /* head .. last - 1: of q */
};

template <typename S> struct backward_query {
    struct attention_row row;
    S log_sum, delta;
};

/* The sequence that has a tile, and the tile's first row in it. */
GPU_FN void backward_find(const struct gpu_attention_backward &p, struct backward_place &at, i64 tile, u32 tile_rows) {
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    const u32 *starts = of_q ? p.a.q_starts : p.a.k_starts;
    i64 stride = p.a.start_stride[of_q ? 0 : 1], end = of_q ? p.a.queries : p.a.keys, low = 0, high = p.a.sequences - 1;
    while (low < high) {
        i64 middle = (low + high + 1) / 2;
        if (attention_start(starts, stride, middle, end) / tile_rows + middle <= tile)
            low = middle;
        else
            high = middle - 1;
    }
    at.query0 = attention_start(p.a.q_starts, p.a.start_stride[0], low, p.a.queries);
    at.key0 = attention_start(p.a.k_starts, p.a.start_stride[1], low, p.a.keys);
    at.queries = attention_start(p.a.q_starts, p.a.start_stride[0], low + 1, p.a.queries) - at.query0;
    at.keys = attention_start(p.a.k_starts, p.a.start_stride[1], low + 1, p.a.keys) - at.key0;
    at.queries = at.queries > 0 ? at.queries : 0;
    at.keys = at.keys > 0 ? at.keys : 0;
    at.batch = low;
    tile -= (of_q ? at.query0 : at.key0) / tile_rows + low;
    at.row0 = (tile > 0 ? tile : 0) * tile_rows;
}

GPU_FN struct backward_operand backward_operand_of(const void *data, const i64 *stride, i64 batch, i64 first, i64 count,
                                                   i64 length) {
    struct backward_operand x;
    x.data = data;
    x.at = batch * stride[0] + first * stride[2];
    x.row = stride[2];
    x.element = stride[3];
    x.count = count;
    x.length = length;
    return x;
}

/* All but the heads in the operands. */
GPU_FN void backward_locate(const struct gpu_attention_backward &p, struct backward_place &at, u32 tile_rows) {
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    u64 block = p.a.first + gpu_block_x(), heads = of_q ? p.a.heads : p.key_heads;
    i64 line = attention_divide(block, p.a.tiles), tile = (i64)block - line * p.a.tiles;
    i64 batch = attention_divide((u64)line, heads), head = line - batch * (i64)heads;
    if (p.a.q_starts) {
        backward_find(p, at, tile, tile_rows);
        batch = 0;
    } else {
        at.batch = batch;
        at.row0 = tile * tile_rows;
        at.queries = p.a.queries;
        at.keys = p.a.keys;
        at.query0 = at.key0 = 0;
    }
    at.key_head = of_q ? head / p.a.group : head;
    at.head = of_q ? head : head * p.a.group;
    at.last = of_q ? head + 1 : at.head + p.a.group;
    at.shift = p.a.align_last ? at.keys - at.queries : 0;
    at.rows = of_q ? at.queries : at.keys;
    i64 high = at.row0 + tile_rows < at.rows ? at.row0 + tile_rows : at.rows, others = of_q ? at.keys : at.queries;
    at.begin = of_q ? at.row0 + at.shift - p.a.left : at.row0 - at.shift - p.a.right;
    at.end = of_q ? high + at.shift + p.a.right : high - at.shift + p.a.left;
    at.begin = at.begin > 0 ? at.begin : 0;
    at.end = at.end < others ? at.end : others;
    at.operand[BACKWARD_Q] = backward_operand_of(p.a.q, p.a.q_stride, batch, at.query0, at.queries, p.a.depth);
    at.operand[BACKWARD_K] = backward_operand_of(p.a.k, p.a.k_stride, batch, at.key0, at.keys, p.a.depth);
    at.operand[BACKWARD_G] = backward_operand_of(p.gradient, p.gradient_stride, batch, at.query0, at.queries, p.a.width);
    at.operand[BACKWARD_V] = backward_operand_of(p.a.v, p.a.v_stride, batch, at.key0, at.keys, p.a.width);
    at.operand[BACKWARD_K].at += at.key_head * p.a.k_stride[1];
    at.operand[BACKWARD_V].at += at.key_head * p.a.v_stride[1];
    at.operand[BACKWARD_Q].at += at.head * p.a.q_stride[1];
    at.operand[BACKWARD_G].at += at.head * p.gradient_stride[1];
}

/* Query i of a head: what is needed of it beside its elements. */
template <typename S>
GPU_FN struct backward_query<S> backward_query_of(const struct gpu_attention_backward &p,
                                                  const struct backward_place &at, i64 head, i64 i) {
    struct backward_query<S> query;
    query.row.q = query.row.mask = query.row.position = 0;
    query.row.out = -1;
    query.row.slope = 0;
    query.log_sum = query.delta = 0;
    if (i >= at.queries) return query;
    i64 batch = p.a.q_starts ? 0 : at.batch, from = at.query0 + i;
    query.row.mask = at.batch * p.a.mask_stride[0] + head * p.a.mask_stride[1] + i * p.a.mask_stride[2];
    query.row.out = p.a.q_starts ? from * p.a.heads + head : (batch * p.a.heads + head) * p.a.queries + from;
    query.row.position = i + at.shift;
    if (p.a.slopes)
        query.row.slope = ((const f32 *)p.a.slopes)[at.batch * p.a.slope_stride[0] + head * p.a.slope_stride[1]];
    query.log_sum = ((const S *)p.log_sums)[batch * p.sums_stride[0] + head * p.sums_stride[1] + from * p.sums_stride[2]];
    query.delta = ((const S *)p.delta)[query.row.out];
    return query;
}

/* ---- products ---- */

/* Columns d0 .. of `rows` rows to LDS as [d][row]; zeros where there is nothing. */
template <typename T, int ROWS, int DEPTH, typename S>
GPU_FN void backward_fetch(const struct backward_operand &x, i64 row0, i64 d0, u32 pitch, S *lds) {
    GPU_NO_UNROLL for (u32 u = gpu_thread(); u < ROWS * DEPTH; u += GPU_BLOCK) {
        u32 row = u / DEPTH, d = u % DEPTH;
        lds[d * pitch + row] = row0 + row < x.count && d0 + d < x.length
                                   ? gpu_up(((const T *)x.data)[x.at + (row0 + row) * x.row + (d0 + d) * x.element])
                                   : 0;
    }
}

/* Rows of x from x0 on times rows of y from y0 on. */
template <typename T, typename S, int MINE>
GPU_FN void backward_multiply(const struct backward_operand &x, i64 x0, const struct backward_operand &y, i64 y0, S *lds,
                              S (&sum)[4][MINE]) {
    typedef backward_shape<T> shape;
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    S *other = lds + shape::DEPTH * shape::PITCH;
    GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < MINE; j++) sum[i][j] = 0;
    GPU_NO_UNROLL for (i64 d0 = 0; d0 < x.length; d0 += shape::DEPTH) {
        gpu_sync();
        backward_fetch<T, shape::ROWS, shape::DEPTH>(x, x0, d0, shape::PITCH, lds);
        backward_fetch<T, shape::STEP, shape::DEPTH>(y, y0, d0, shape::STEP_PITCH, other);
        gpu_sync();
        GPU_NO_UNROLL for (u32 d = 0; d < shape::DEPTH; d += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
            backward_run<S, 4> a = *(const backward_run<S, 4> *)(lds + (d + e) * shape::PITCH + ty * 4);
            backward_run<S, MINE> b =
                *(const backward_run<S, MINE> *)(other + (d + e) * shape::STEP_PITCH + tx * MINE);
            GPU_UNROLL for (int i = 0; i < 4; i++)
                GPU_UNROLL for (int j = 0; j < MINE; j++) sum[i][j] = gpu_fma(a.v[i], b.v[j], sum[i][j]);
        }
    }
}

GPU_FN bool backward_hidden(f32 weight) { return gpu_bits<u32>(weight) == 0x80000000u; }
GPU_FN bool backward_hidden(f64 weight) { return gpu_bits<u64>(weight) == (u64)1 << 63; }

/* P, or dS before its scale, of a query and a key: of their product q k, and of gradient v. */
template <typename T, typename S>
GPU_FN S backward_weight(const struct gpu_attention_backward &p, const struct backward_query<S> &query, i64 key, i64 keys,
                         S score, S slope) {
    score *= (S)p.a.scale;
    S part = 0;
    if (p.a.cap > 0) {
        part = gpu_tanh(score / (S)p.a.cap);
        score = (S)p.a.cap * part;
    }
    score = attention_seen<T>(p.a, score, query.row, key, keys);
    if (query.row.out < 0 || score == attention_lowest(score)) return (S)-0.0;
    S weight = gpu_exp(score - query.log_sum);
    if (p.of != GPU_ATTENTION_OF_V) weight *= (slope - query.delta) * ((S)1 - part * part);
    return weight + (S)0; /* a -0 becomes 0 */
}

/* 64 columns of a step's terms to LDS as [position][column]; false when a thread met an infinity or NaN. */
template <typename T, int STEP, typename S>
GPU_FN bool backward_terms(const struct backward_operand &x, i64 row0, i64 column0, S *lds) {
    bool finite = true;
    GPU_NO_UNROLL for (u32 u = gpu_thread(); u < STEP * 64; u += GPU_BLOCK) {
        u32 row = u / 64, column = u % 64;
        S v = row0 + row < x.count && column0 + column < x.length
                  ? gpu_up(((const T *)x.data)[x.at + (row0 + row) * x.row + (column0 + column) * x.element])
                  : 0;
        finite = finite && v - v == 0;
        lds[row * 68 + column] = v;
    }
    return finite;
}

/* Adds the products of a step's weights and terms; `odd`: without the keys that are left out. */
template <bool ODD, int STEP, typename S> GPU_FN void backward_add(const S *weights, const S *lds, S (&sum)[4][4]) {
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    GPU_NO_UNROLL for (u32 k = 0; k < STEP; k += 4) GPU_UNROLL for (u32 e = 0; e < 4; e++) {
        backward_run<S, 4> x = *(const backward_run<S, 4> *)(weights + (k + e) * 68 + ty * 4);
        backward_run<S, 4> y = *(const backward_run<S, 4> *)(lds + (k + e) * 68 + tx * 4);
        GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < 4; j++)
            if (!ODD || !backward_hidden(x.v[i])) sum[i][j] = gpu_fma(x.v[i], y.v[j], sum[i][j]);
    }
}

/* ---- the kernel ---- */

/* The weights of a step to LDS as [position][row]. */
template <typename T, typename S>
GPU_FN void backward_step(const struct gpu_attention_backward &p, const struct backward_place &at,
                          const struct backward_query<S> *queries, i64 other0, S *lds, S *weights) {
    typedef backward_shape<T> shape;
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16, of_q = p.of == GPU_ATTENTION_OF_Q;
    S score[4][shape::MINE], slope[4][shape::MINE];
    GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < shape::MINE; j++) slope[i][j] = 0;
    backward_multiply<T>(at.operand[of_q ? BACKWARD_Q : BACKWARD_K], at.row0,
                         at.operand[of_q ? BACKWARD_K : BACKWARD_Q], other0, lds, score);
    if (p.of != GPU_ATTENTION_OF_V)
        backward_multiply<T>(at.operand[of_q ? BACKWARD_G : BACKWARD_V], at.row0,
                             at.operand[of_q ? BACKWARD_V : BACKWARD_G], other0, lds, slope);
    GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < shape::MINE; j++) {
        u32 row = ty * 4 + i, other = tx * shape::MINE + j;
        i64 key = of_q ? other0 + other : at.row0 + row;
        weights[other * shape::PITCH + row] =
            backward_weight<T>(p, queries[of_q ? row : other], key, at.keys, score[i][j], slope[i][j]);
    }
}

/* The gradient's elements of a thread. */
template <typename T, typename S, int CHUNKS>
GPU_FN void backward_store(const struct gpu_attention_backward &p, const struct backward_place &at, i64 column0,
                           const S (&sum)[CHUNKS][4][4]) {
    u32 ty = gpu_thread() / 16, tx = gpu_thread() % 16;
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    i64 heads = of_q ? p.a.heads : p.key_heads, head = of_q ? at.head : at.key_head, first = of_q ? at.query0 : at.key0;
    i64 positions = of_q ? p.a.queries : p.a.keys, length = p.of == GPU_ATTENTION_OF_V ? p.a.width : p.a.depth;
    S scale = p.of == GPU_ATTENTION_OF_V ? (S)1 : (S)p.a.scale;
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        i64 row = at.row0 + ty * 4 + i;
        if (row >= at.rows) continue;
        row += first;
        row = p.a.q_starts ? row * heads + head : (at.batch * heads + head) * positions + row;
        GPU_UNROLL for (int c = 0; c < CHUNKS; c++) GPU_UNROLL for (int j = 0; j < 4; j++) {
            i64 column = column0 + c * 64 + tx * 4 + j;
            if (column < length) ((T *)p.out)[row * length + column] = gpu_round<T>(sum[c][i][j] * scale);
        }
    }
}

template <typename T> GPU_FN void attention_backward(const struct gpu_attention_backward &p) {
    typedef backward_shape<T> shape;
    typedef typename shape::S S;
    GPU_SHARED backward_run<S, 4> shared_tile[shape::TILE / 4], shared_weights[shape::STEP * shape::PITCH / 4];
    GPU_SHARED struct backward_query<S> queries[shape::ROWS];
    GPU_SHARED struct backward_place at; /* AMD has too few scalar registers for it */
    GPU_SHARED u32 odd;                  /* the last turn whose terms had an infinity or NaN */
    S *lds = (S *)shared_tile, *weights = (S *)shared_weights;
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    u32 t = gpu_thread(), turn = 0, members = of_q ? 1 : p.a.group;
    u32 of_terms = of_q ? BACKWARD_K : p.of == GPU_ATTENTION_OF_K ? BACKWARD_Q : BACKWARD_G;
    i64 column0 = (i64)gpu_block_z() * shape::WIDTH;
    if (p.a.q_starts && of_q && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    if (t == 0) {
        odd = 0;
        backward_locate(p, at, shape::ROWS);
    }
    gpu_sync();
    if (at.row0 >= at.rows) return;
    S sum[shape::CHUNKS][4][4];
    GPU_UNROLL for (int c = 0; c < shape::CHUNKS; c++)
        GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < 4; j++) sum[c][i][j] = 0;
    if (of_q && t < shape::ROWS) queries[t] = backward_query_of<S>(p, at, at.head, at.row0 + t);
    GPU_NO_UNROLL for (u32 member = 0; member < members; member++) {
        GPU_NO_UNROLL for (i64 other0 = at.begin; other0 < at.end; other0 += shape::STEP) {
            gpu_sync();
            if (!of_q && t < shape::STEP) queries[t] = backward_query_of<S>(p, at, at.head + member, other0 + t);
            gpu_sync();
            backward_step<T>(p, at, queries, other0, lds, weights);
            const struct backward_operand &terms = at.operand[of_terms];
            GPU_UNROLL for (int c = 0; c < shape::CHUNKS; c++) {
                if (column0 + c * 64 >= terms.length) continue;
                turn++;
                gpu_sync();
                if (!backward_terms<T, shape::STEP>(terms, other0, column0 + c * 64, lds)) odd = turn;
                gpu_sync();
                if (odd == turn)
                    backward_add<true, shape::STEP>(weights, lds, sum[c]);
                else
                    backward_add<false, shape::STEP>(weights, lds, sum[c]);
            }
        }
        gpu_sync();
        if (t == 0 && !of_q) {
            at.operand[BACKWARD_Q].at += p.a.q_stride[1];
            at.operand[BACKWARD_G].at += p.gradient_stride[1];
        }
    }
    backward_store<T>(p, at, column0, sum);
}

#define ATTENTION_BACKWARD(T)                                                                                          \
    GPU_KERNEL(attention_delta_##T, struct gpu_attention_backward) { attention_delta<T>(p); }                          \
    GPU_KERNEL(attention_backward_##T, struct gpu_attention_backward) { attention_backward<T>(p); }
GPU_FLOATS(ATTENTION_BACKWARD)
