/* The gradients of attention in plain arithmetic, without the matrix of scores (Dao, "FlashAttention-2"): sum(gradient
 * result) of each row, and then the gradients of q, k and v by a launch each.
 *
 * A block of 16 x 16 threads has 64 positions of one head, queries for the gradient of q, else keys, and a run of columns
 * of their gradient. It goes through the positions on the other side in steps: scores by tiles, the gradients of weights
 * in the same way, from both the weights P or the gradients of scores dS, and their products with what lies on the other
 * side: k for q, q for k, the gradient for v. */
#include "attention_backward_common.h"
#include "wave.h"

/* ---- sum(gradient result), and the largest magnitude in the gradient, 16 lanes a row ---- */

template <typename S> GPU_FN void attention_delta_add(S x, S y, S &sum, S &top) {
    S size = gpu_fabs(x);
    sum = gpu_fma(x, y, sum);
    if (size > top && size - size == 0) top = size;
}

template <typename T> GPU_FN void attention_delta(const struct gpu_attention_backward &p) {
    typedef typename gpu_compute<T>::type S;
    enum { PIECE = gpu_vec<T>::N };
    u32 lane = gpu_thread() % 16;
    GPU_NO_UNROLL for (u64 row0 = (u64)gpu_block_x() * 16; row0 < (u64)p.a.total; row0 += (u64)gpu_blocks_x() * 16) {
        i64 row = (i64)row0 + gpu_thread() / 16, last = row < p.a.total ? p.a.width : 0;
        i64 inner = p.a.q_starts ? p.a.heads : p.a.queries, line = attention_divide((u64)row, (u64)inner);
        i64 head = p.a.q_starts ? row - line * inner : line % p.a.heads;
        i64 query = p.a.q_starts ? line : row - line * inner, batch = p.a.q_starts ? 0 : line / p.a.heads;
        const i64 *g = p.gradient_stride, *y = p.result_stride;
        const T *gradient = (const T *)p.gradient + batch * g[0] + head * g[1] + query * g[2];
        const T *result = (const T *)p.result + batch * y[0] + head * y[1] + query * y[2];
        S sum = 0, top = 0;
        if (sizeof(T) == 2 && p.whole) {
            GPU_NO_UNROLL for (i64 d = lane * PIECE; d < last; d += 16 * PIECE) {
                const gpu_vec<T> x = gpu_load16(gradient + d), z = gpu_load16(result + d);
                GPU_UNROLL for (u32 e = 0; e < PIECE; e++) attention_delta_add<S>(gpu_up(x.v[e]), gpu_up(z.v[e]), sum, top);
            }
        } else {
            GPU_NO_UNROLL for (i64 d = lane; d < last; d += 16)
                attention_delta_add<S>(gpu_up(gradient[d * g[3]]), gpu_up(result[d * y[3]]), sum, top);
        }
        GPU_UNROLL for (u32 lanes = 1; lanes < 16; lanes *= 2) sum += gpu_shuffle_xor(sum, lanes);
        GPU_UNROLL for (u32 lanes = 1; lanes < 16; lanes *= 2) top = gpu_join_max::of(top, gpu_shuffle_xor(top, lanes));
        if (lane != 0 || row >= p.a.total) continue;
        ((S *)p.delta)[row] = sum;
        if (p.tops) ((f32 *)p.tops)[row] = (f32)top;
    }
}

/* ---- what a block has in LDS ---- */

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
        const struct backward_products<S> products = {score[i][j], slope[i][j]};
        weights[other * shape::PITCH + row] =
            backward_weight<T>(p, p.of == GPU_ATTENTION_OF_V, queries[of_q ? row : other], key, at.keys, products);
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
