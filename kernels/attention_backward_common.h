/* What the kernels of attention's gradients share: where rows lie, and the weights of pairs of a query and a key.
 *
 * A key that is left out has the weight -0, which no other has: times a number it adds nothing, and where a step's terms
 * have an infinity or NaN, it is passed over. */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_COMMON_H
#define WICK_KERNELS_ATTENTION_BACKWARD_COMMON_H

#include "attention_backward.h"
#include "attention_common.h"

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

/* The sequence that has a tile, of queries or keys, and the tile's first row in it. N is a type for numbers of tiles and
 * positions. */
template <typename N>
GPU_FN void backward_find(const struct gpu_attention_backward &p, struct backward_place &at, bool of_q, N tile,
                          u32 tile_rows) {
    enum { SHORT = sizeof(N) == 4 };
    const u32 *starts = of_q ? p.a.q_starts : p.a.k_starts;
    i64 stride = p.a.start_stride[of_q ? 0 : 1], end = of_q ? p.a.queries : p.a.keys;
    N low = 0, high = (N)p.a.sequences - 1;
    while (low < high) {
        N middle = (low + high + 1) / 2;
        if ((N)attention_divide<SHORT>((u64)attention_start(starts, stride, middle, end), tile_rows) + middle <= tile)
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
    tile -= (N)attention_divide<SHORT>((u64)(of_q ? at.query0 : at.key0), tile_rows) + low;
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

/* Where block first + x works, without its operands. N is a type for numbers of blocks and positions. */
template <typename N>
GPU_FN void backward_locate_at(const struct gpu_attention_backward &p, struct backward_place &at, u32 tile_rows, u32 x) {
    enum { SHORT = sizeof(N) == 4 };
    bool of_q = p.of == GPU_ATTENTION_OF_Q;
    u64 block = p.a.first + x, run = (u64)p.a.across * p.a.tiles, runs = (u64)attention_divide<SHORT>(block, run);
    N rest = (N)(block - runs * run), tile = (N)attention_divide<SHORT>((u64)rest, p.a.across);
    N line = (N)(runs * p.a.across) + rest - tile * (N)p.a.across;
    if (of_q) tile = (N)p.a.tiles - 1 - tile; /* a causal mask shows the last queries the most keys */
    N heads = (N)(of_q ? p.a.heads : p.key_heads), batch = (N)attention_divide<SHORT>((u64)line, (u64)heads);
    N head = line - batch * heads;
    if (p.a.q_starts) {
        backward_find<N>(p, at, of_q, tile, tile_rows);
    } else {
        at.batch = batch;
        at.row0 = tile * (N)tile_rows;
        at.queries = p.a.queries;
        at.keys = p.a.keys;
        at.query0 = at.key0 = 0;
    }
    at.key_head = of_q ? (N)attention_divide<SHORT>((u64)head, p.a.group) : head;
    at.head = of_q ? head : head * (N)p.a.group;
    at.last = of_q ? head + 1 : at.head + p.a.group;
    N shift = p.a.align_last ? (N)at.keys - (N)at.queries : 0, rows = (N)(of_q ? at.queries : at.keys);
    N row0 = (N)at.row0, high = row0 + (N)tile_rows < rows ? row0 + (N)tile_rows : rows;
    N others = (N)(of_q ? at.keys : at.queries);
    N begin = of_q ? row0 + shift - (N)p.a.left : row0 - shift - (N)p.a.right;
    N end = of_q ? high + shift + (N)p.a.right : high - shift + (N)p.a.left;
    at.shift = shift;
    at.rows = rows;
    at.begin = begin > 0 ? begin : 0;
    at.end = end < others ? end : others;
}

/* The operands of a block whose place is there. */
GPU_FN void backward_operands(const struct gpu_attention_backward &p, struct backward_place &at) {
    i64 batch = p.a.q_starts ? 0 : at.batch;
    at.operand[BACKWARD_Q] = backward_operand_of(p.a.q, p.a.q_stride, batch, at.query0, at.queries, p.a.depth);
    at.operand[BACKWARD_K] = backward_operand_of(p.a.k, p.a.k_stride, batch, at.key0, at.keys, p.a.depth);
    at.operand[BACKWARD_G] = backward_operand_of(p.gradient, p.gradient_stride, batch, at.query0, at.queries, p.a.width);
    at.operand[BACKWARD_V] = backward_operand_of(p.a.v, p.a.v_stride, batch, at.key0, at.keys, p.a.width);
    at.operand[BACKWARD_K].at += at.key_head * p.a.k_stride[1];
    at.operand[BACKWARD_V].at += at.key_head * p.a.v_stride[1];
    at.operand[BACKWARD_Q].at += at.head * p.a.q_stride[1];
    at.operand[BACKWARD_G].at += at.head * p.gradient_stride[1];
}
GPU_FN void backward_locate(const struct gpu_attention_backward &p, struct backward_place &at, u32 tile_rows) {
    backward_locate_at<i64>(p, at, tile_rows, gpu_block_x());
    backward_operands(p, at);
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

/* ---- weights ---- */

GPU_FN bool backward_hidden(f32 weight) { return gpu_bits<u32>(weight) == 0x80000000u; }
GPU_FN bool backward_hidden(f64 weight) { return gpu_bits<u64>(weight) == (u64)1 << 63; }

/* The products of a query and a key: q k, and gradient v. */
template <typename S> struct backward_products {
    S score, slope;
};

/* dS before its scale, or `of_v` P, of a query and a key. PLAIN: there is no cap, no slopes and no mask. */
template <typename T, bool PLAIN = false, typename S>
GPU_FN S backward_weight(const struct gpu_attention_backward &p, bool of_v, const struct backward_query<S> &query,
                         i64 key, i64 keys, const struct backward_products<S> &products) {
    S score = products.score * (S)p.a.scale;
    S part = 0;
    if (!PLAIN && p.a.cap > 0) {
        part = gpu_tanh(score / (S)p.a.cap);
        score = (S)p.a.cap * part;
    }
    score = attention_seen<T, PLAIN>(p.a, score, query.row, key, keys);
    if (query.row.out < 0 || score == attention_lowest(score)) return (S)-0.0;
    S weight = gpu_exp(score - query.log_sum);
    if (!of_v) weight *= (products.slope - query.delta) * ((S)1 - part * part);
    return weight + (S)0; /* a -0 becomes 0 */
}

#endif
