/* What a block of the gradients of attention by matrix instructions makes of its tiles: weights and the gradients of scores
 * of a step, and what becomes of the sums.
 *
 * A block has lines, keys for the gradients of k and v, else queries, and goes through the others in steps. A lane has the
 * elements of a tile of 16 lines by 16 others that attention_tiles.h says, with lines for queries and others for keys. */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_TILES_H
#define WICK_KERNELS_ATTENTION_BACKWARD_TILES_H

#include "attention_backward_common.h"
#include "attention_tiles.h"

/* f16 has few exponents. P is multiplied by 2^BACKWARD_SHIFT, which brings 1 next to the largest number, and dS by a power
 * of two, which brings the largest element of the gradients to 1 ... 2 (attention_power). */
template <typename T> struct backward_shift {
    enum { value = 0 };
};
template <> struct backward_shift<f16> {
    enum { value = 15 };
};

#if MMA
/* Where a lane's sums lie after backward_gather: two neighbours, e and e + 1. */
#if MMA_ASYNC
GPU_FN u32 backward_column(u32 e) { return mma_column(e); }
GPU_FN struct mma_tile backward_gather(const struct mma_tile &x) { return x; }
#else
GPU_FN u32 backward_column(u32 e) { return gpu_lane() / 16 * MMA_SUMS + e; }
GPU_FN struct mma_tile backward_gather(const struct mma_tile &x) { return mma_gather(x); }
#endif

/* Of a query, for P = 2^(score log2(e) - base) and dS = P (dP - delta), both with their powers of two. */
struct backward_pair {
    f32 base, delta;
};

/* What a block needs to know beside its place. */
struct backward_part {
    f32 power;                 /* of dS */
    i64 line_step, other_step; /* of the mask */
    i64 free, bound; /* others from .. to which all lines meet, where there is nothing to a score but its scale */
};

/* A step of others, of a head of q. */
struct backward_step {
    i64 mask;          /* offset of that of line 0 and other 0 */
    i32 ahead;         /* what the key of line 0 and other 0 is ahead of the query's position */
    i32 lines, others; /* that are there */
    f32 slope;
};

/* The NaN that rounding keeps. */
GPU_FN f32 backward_clean(f32 x) { return x == x ? x : gpu_bits<f32>(0x7fc00000u); }

template <typename T>
GPU_FN struct backward_pair backward_pair_of(const struct gpu_attention_backward &p, const struct backward_place &at,
                                             i64 head, i64 i, f32 power) {
    struct backward_query<f32> query = backward_query_of<f32>(p, at, head, i);
    struct backward_pair pair = {gpu_bits<f32>(0x7f800000u), 0}; /* the weights of no query are 0 */
    if (i >= at.queries) return pair;
    pair.base = backward_clean(query.log_sum * 1.4426950408889634f - (f32)backward_shift<T>::value);
    pair.delta = backward_clean(query.delta * power);
    return pair;
}

/* What dS of a head of keys is times, so that its largest element is next to the largest number. */
template <typename T> GPU_FN f32 backward_power(const struct gpu_attention_backward &p, i64 batch, i64 key_head) {
    f32 power = 1.0f / (1u << backward_shift<T>::value);
    if (p.powers) power *= ((const f32 *)p.powers)[(p.a.q_starts ? 0 : batch) * p.key_heads + key_head];
    return power;
}

template <typename T, bool OF_KEYS, int ROWS>
GPU_FN struct backward_part backward_part_of(const struct gpu_attention_backward &p, const struct backward_place &at) {
    struct backward_part part;
    i64 last = (at.row0 + ROWS < at.rows ? at.row0 + ROWS : at.rows) - 1;
    i64 bound = at.row0 + 1 + (OF_KEYS ? p.a.left - at.shift : at.shift + p.a.right);
    part.line_step = p.a.mask_stride[OF_KEYS ? 3 : 2];
    part.other_step = p.a.mask_stride[OF_KEYS ? 2 : 3];
    part.free = last + (OF_KEYS ? -p.a.right - at.shift : at.shift - p.a.left);
    part.bound = bound < at.end ? bound : at.end;
    if (p.a.masked != GPU_ATTENTION_FREE || p.a.cap > 0 || p.a.slopes) part.bound = 0;
    part.power = backward_power<T>(p, at.batch, at.key_head);
    return part;
}
template <bool OF_KEYS>
GPU_FN struct backward_step backward_step_of(const struct gpu_attention &p, const struct backward_place &at,
                                             const struct backward_part &part, i64 head, i64 other0) {
    struct backward_step step;
    step.mask = at.batch * p.mask_stride[0] + head * p.mask_stride[1] + at.row0 * part.line_step +
                other0 * part.other_step;
    step.ahead = (i32)((OF_KEYS ? at.row0 - other0 : other0 - at.row0) - at.shift);
    step.lines = (i32)(at.rows - at.row0);
    step.others = (i32)(at.end - other0);
    step.slope = 0;
    if (p.slopes)
        step.slope =
            backward_clean(((const f32 *)p.slopes)[at.batch * p.slope_stride[0] + head * p.slope_stride[1]]);
    return step;
}

/* An element of a tile of a lane: the place of its line and of its other. */
template <bool OF_KEYS> struct backward_element {
    u32 line, other, e;
    GPU_FN backward_element of(u32 own, u32 line0, u32 i, u32 half, u32 j, u32 n) {
        u32 e = attention_element(half, n);
        return {line0 + i * 16 + attention_line(half), j * 16 + attention_key(own, e), e};
    }
    /* What its key is ahead of its query's position. */
    GPU_FN i32 ahead(const backward_element &x, const struct backward_step &step) {
        return step.ahead + (OF_KEYS ? (i32)(x.line - x.other) : (i32)(x.other - x.line));
    }
};
/* A wave's scores and dP, the pairs of the queries, and the wave's first line. */
template <int TILES, int COLUMNS> struct backward_scores {
    const struct backward_pair *pairs;
    u32 line0;
    struct mma_tile (&s)[TILES][COLUMNS];
    struct mma_tile (&g)[TILES][COLUMNS];
};
#define BACKWARD_ELEMENTS                                                                                              \
    GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++)                    \
        GPU_UNROLL for (u32 i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < ATTENTION_LINES; half++)

/* The soft cap on scores; dP becomes dS / P. */
template <bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_cap(f32 cap, f32 power, const struct backward_scores<TILES, COLUMNS> &all) {
    u32 own = attention_first();
    f32 turn = 2.8853900817779268f / cap;
    BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        f32 &x = all.s[i][j].v[at.e], &y = all.g[i][j].v[at.e];
        f32 tanh = 1.0f - 2.0f * mma_reciprocal(mma_exp2(x * turn) + 1.0f); /* 1 - 2 / (e^2x + 1) */
        x = cap * tanh;
        y = gpu_fma(y, power, -all.pairs[OF_KEYS ? at.other : at.line].delta) * (1.0f - tanh * tanh);
    }
}

/* The mask on scores, -inf for what is left out. */
template <typename T, bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_mask(const struct gpu_attention &p, const struct backward_part &part,
                          const struct backward_step &step, const struct backward_scores<TILES, COLUMNS> &all) {
    u32 own = attention_first();
    BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        i64 from = step.mask + at.line * part.line_step + at.other * part.other_step;
        f32 &x = all.s[i][j].v[at.e];
        if ((i32)at.line >= step.lines || (i32)at.other >= step.others) continue;
        if (p.masked == GPU_ATTENTION_ADD)
            x = attention_plus(x, gpu_up(((const T *)p.mask)[from]));
        else if (!((const u8 *)p.mask)[from])
            x = attention_lowest(x);
    }
}

/* Scores with all that there is to them. */
template <typename T, bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_adjust(const struct gpu_attention &p, const struct backward_part &part,
                            const struct backward_step &step, const struct backward_scores<TILES, COLUMNS> &all) {
    u32 own = attention_first();
    i32 left = (i32)p.left, right = (i32)p.right;
    attention_scale(all.s, (f32)p.scale);
    if (p.cap > 0) backward_cap<OF_KEYS>((f32)p.cap, part.power, all);
    if (p.slopes) BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        i32 ahead = backward_element<OF_KEYS>::ahead(at, step);
        all.s[i][j].v[at.e] -= step.slope * (f32)(ahead < 0 ? -ahead : ahead);
    }
    if (p.masked != GPU_ATTENTION_FREE) backward_mask<T, OF_KEYS>(p, part, step, all);
    BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        i32 ahead = backward_element<OF_KEYS>::ahead(at, step);
        if ((i32)at.other >= step.others || ahead > right || -ahead > left) all.s[i][j].v[at.e] = attention_lowest(0.0f);
    }
}

/* P of scores times `by`. */
template <bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_weigh(f32 by, const struct backward_scores<TILES, COLUMNS> &all) {
    u32 own = attention_first();
    BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        f32 &x = all.s[i][j].v[at.e];
        x = mma_exp2(gpu_fma(x, by, -all.pairs[OF_KEYS ? at.other : at.line].base));
    }
}
/* dS of P and dP, or of P and what backward_cap made of dP. */
template <bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_slope(f32 power, bool capped, const struct backward_scores<TILES, COLUMNS> &all) {
    u32 own = attention_first();
    BACKWARD_ELEMENTS {
        const auto at = backward_element<OF_KEYS>::of(own, all.line0, i, half, j, n);
        f32 &y = all.g[i][j].v[at.e];
        y = all.s[i][j].v[at.e] * (capped ? y : gpu_fma(y, power, -all.pairs[OF_KEYS ? at.other : at.line].delta));
    }
}
#undef BACKWARD_ELEMENTS

/* P and dS in place of the scores and the dP of others from number other0 on, for head `head` of q. */
template <typename T, bool OF_KEYS, int TILES, int COLUMNS>
GPU_FN void backward_rate(const struct gpu_attention &p, const struct backward_place &at,
                          const struct backward_part &part, i64 head, i64 other0,
                          const struct backward_scores<TILES, COLUMNS> &all) {
    const f32 log2e = 1.4426950408889634f;
    bool plain = other0 >= part.free && other0 + COLUMNS * 16 <= part.bound;
    if (!plain) {
        struct backward_step step = backward_step_of<OF_KEYS>(p, at, part, head, other0);
        backward_adjust<T, OF_KEYS>(p, part, step, all);
    }
    backward_weigh<OF_KEYS>(plain ? (f32)p.scale * log2e : log2e, all);
    backward_slope<OF_KEYS>(part.power, p.cap > 0, all);
}

/* ---- operands ---- */

/* Which operands are the lines, and which the others: [0] make scores, [1] the gradients of weights. Sums of dS multiply
 * others[0], those of P others[1]. */
template <bool OF_KEYS> GPU_FN u32 backward_line_operand(u32 which) {
    return OF_KEYS ? (which ? BACKWARD_V : BACKWARD_K) : which ? BACKWARD_G : BACKWARD_Q;
}
template <bool OF_KEYS> GPU_FN u32 backward_other_operand(u32 which) { return backward_line_operand<!OF_KEYS>(which); }

/* A step: others from number other0 on, of the head `member` after at.head. A block takes `steps` for each head. */
struct backward_turn {
    u32 member, other0;
};
GPU_FN struct backward_turn backward_turn_of(const struct backward_place &at, u32 n, u32 steps, u32 others) {
    u32 member = n / steps;
    return {member, (u32)at.begin + (n - member * steps) * others};
}

/* Its rows. */
template <bool OF_KEYS>
GPU_FN const u16 *backward_others(const struct gpu_attention_backward &p, const struct backward_place &at,
                                  const struct backward_turn &turn, u32 which) {
    const struct backward_operand &x = at.operand[backward_other_operand<OF_KEYS>(which)];
    i64 next = !OF_KEYS ? 0 : which ? p.gradient_stride[1] : p.a.q_stride[1];
    return (const u16 *)x.data + x.at + turn.member * next;
}

/* ---- results ---- */

/* The number of a line among the rows of a gradient. */
template <bool OF_KEYS>
GPU_FN i64 backward_row(const struct gpu_attention_backward &p, const struct backward_place &at, u32 line) {
    i64 heads = OF_KEYS ? p.key_heads : p.a.heads, head = OF_KEYS ? at.key_head : at.head;
    i64 row = at.row0 + line + (OF_KEYS ? at.key0 : at.query0), positions = OF_KEYS ? p.a.keys : p.a.queries;
    return p.a.q_starts ? row * heads + head : (at.batch * heads + head) * positions + row;
}

/* Where a gradient goes, in rows of `length`, and what its sums are times. */
struct backward_target {
    u16 *out;
    u32 length;
    f32 by;
};

/* Writes the sums of a wave's lines, and notes the lines of the block that have one which is not finite. */
template <typename T, bool OF_KEYS, int TILES, int STEPS>
GPU_FN void backward_store(const struct gpu_attention_backward &p, const struct backward_place &at,
                           const struct backward_target &target, u32 line0,
                           const struct mma_tile (&sums)[TILES][STEPS], u32 *odd) {
    const u32 length = target.length;
    GPU_UNROLL for (u32 i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < ATTENTION_LINES; half++) {
        u32 line = line0 + i * 16 + attention_line(half);
        if (at.row0 + line >= at.rows) continue;
        u16 *to = target.out + backward_row<OF_KEYS>(p, at, line) * length;
        f32 zero = 0; /* NaN once a sum is not finite */
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) {
            struct mma_tile tile = backward_gather(sums[i][c]);
            GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e += 2) {
                if (attention_half(e) != half) continue;
                f32 x = tile.v[e] * target.by, y = tile.v[e + 1] * target.by;
                u32 pair = mma_pack(x, y, T());
                u32 column = gpu_anew(c * 16 + backward_column(e));
                zero = gpu_fma(y, 0.0f, gpu_fma(x, 0.0f, zero));
                if (length % 2 == 0) {
                    if (column < length) *(u32 *)(to + column) = pair;
                } else {
                    if (column < length) to[column] = (u16)pair;
                    if (column + 1 < length) to[column + 1] = (u16)(pair >> 16);
                }
            }
        }
        if (zero != 0) odd[line] = 1;
    }
}

/* ---- lines that are summed again ----
 *
 * A pair that is left out has the weight 0, and 0 times what is infinite or NaN is NaN; and f16 has no dS above 65504. So
 * lines whose sums are not finite are summed again, pair by pair, without those that are left out. */

/* Of query and key: numbers in the sequence. */
template <typename T, bool PLAIN>
GPU_FN f32 backward_weight_of(const struct gpu_attention_backward &p, const struct backward_place &at, bool of_v,
                              i64 member, i64 query, i64 key) {
    const struct backward_operand *x = at.operand;
    const T *q = (const T *)x[BACKWARD_Q].data + x[BACKWARD_Q].at + member * p.a.q_stride[1] + query * x[BACKWARD_Q].row;
    const T *g = (const T *)p.gradient + x[BACKWARD_G].at + member * p.gradient_stride[1] + query * x[BACKWARD_G].row;
    const T *k = (const T *)x[BACKWARD_K].data + x[BACKWARD_K].at + key * x[BACKWARD_K].row;
    const T *v = (const T *)x[BACKWARD_V].data + x[BACKWARD_V].at + key * x[BACKWARD_V].row;
    f32 score = 0, slope = 0;
    GPU_NO_UNROLL for (i64 d = 0; d < p.a.depth; d++) score = gpu_fma(gpu_up(q[d]), gpu_up(k[d]), score);
    GPU_NO_UNROLL for (i64 d = 0; d < p.a.width; d++) slope = gpu_fma(gpu_up(g[d]), gpu_up(v[d]), slope);
    const struct backward_products<f32> products = {score, slope};
    return backward_weight<T, PLAIN>(p, of_v, backward_query_of<f32>(p, at, at.head + member, query), key, at.keys, products);
}

/* One line of a gradient, `of_v` that of v, by a part of the block. `weights` is LDS for one of each thread. */
template <typename T, bool OF_KEYS, bool PLAIN, int THREADS>
GPU_FN void backward_again(const struct gpu_attention_backward &p, const struct backward_place &at, bool of_v, u32 line,
                           T *out, f32 *weights) {
    const struct backward_operand &terms = at.operand[!OF_KEYS ? BACKWARD_K : of_v ? BACKWARD_G : BACKWARD_Q];
    const u32 thread = gpu_thread() % THREADS;
    i64 column = thread, length = terms.length, own = at.row0 + line; /* at most THREADS */
    i64 next = !OF_KEYS ? 0 : of_v ? p.gradient_stride[1] : p.a.q_stride[1];
    f32 sum = 0;
    GPU_NO_UNROLL for (i64 member = 0; member < (OF_KEYS ? p.a.group : 1); member++)
        GPU_NO_UNROLL for (i64 other0 = at.begin; other0 < at.end; other0 += THREADS) {
            i64 there = at.end - other0 < THREADS ? at.end - other0 : THREADS, other = other0 + thread;
            const T *from = (const T *)terms.data + terms.at + member * next + other0 * terms.row + column;
            gpu_sync_part<THREADS>();
            if ((i64)thread < there)
                weights[thread] =
                    backward_weight_of<T, PLAIN>(p, at, of_v, member, OF_KEYS ? other : own, OF_KEYS ? own : other);
            gpu_sync_part<THREADS>();
            if (column < length)
                GPU_NO_UNROLL for (i64 n = 0; n < there; n++)
                    if (!backward_hidden(weights[n])) sum = gpu_fma(weights[n], gpu_up(from[n * terms.row]), sum);
        }
    if (column < length)
        out[backward_row<OF_KEYS>(p, at, line) * length + column] = gpu_round<T>(sum * (of_v ? 1.0f : (f32)p.a.scale));
}

/* Whether backward_store noted any of a part's lines, of which there are ROWS; odd[ROWS] is for this alone. */
template <int ROWS, int THREADS> GPU_FN bool backward_is_odd(u32 *odd) {
    static_assert(ROWS <= THREADS, "a thread looks at a line");
    const u32 thread = gpu_thread() % THREADS;
    if (thread == 0) odd[ROWS] = 0;
    gpu_sync_part<THREADS>();
    if (thread < ROWS && odd[thread]) odd[ROWS] = 1;
    gpu_sync_part<THREADS>();
    return odd[ROWS];
}

/* All of those lines, the part's first is line0. PLAIN: there is no cap, no slopes and no mask. */
template <typename T, bool OF_KEYS, int ROWS, int THREADS, bool PLAIN = false>
GPU_FN void backward_mend(const struct gpu_attention_backward &p, const struct backward_place &at, u32 line0,
                          const u32 *odd, f32 *weights) {
    GPU_NO_UNROLL for (u32 n = 0; n < ROWS * (OF_KEYS ? 2 : 1); n++) {
        u32 line = n % ROWS, of_v = n / ROWS;
        if (odd[line])
            backward_again<T, OF_KEYS, PLAIN, THREADS>(p, at, of_v, line0 + line, (T *)(of_v ? p.out_v : p.out), weights);
    }
}
#endif

#endif
