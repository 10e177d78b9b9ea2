/* The gradients of attention of bf16 and f16 by matrix instructions (after Dao, "FlashAttention-2"). Operands as
 * attention_mma.hip has them; depth and width are at most DIM. attention_delta has run.
 *
 * A block has the sums of its lines in registers, 16 * TILES lines a wave: dq of queries, or dk and dv of keys, which go
 * through the queries of all heads that share them. In each step it makes the scores and the gradients of the weights, from
 * both P and dS, and multiplies these by the rows of the others, all in one order and without atomics. */
#include "attention_async.h"
#include "attention_backward_tiles.h"
#include "attention_registers.h"
#include "mma_group.h"

/* ---- the power of two for dS of f16: a block for each head of k ---- */

GPU_KERNEL(attention_power_f16, struct gpu_attention_backward) {
    GPU_SHARED f32 shared[GPU_WAVES];
    i64 rows = p.a.queries * p.a.group, heads = p.a.heads, group = p.a.group, queries = p.a.queries;
    i64 batch = gpu_block_x() / p.key_heads, head = (i64)(gpu_block_x() % p.key_heads) * group;
    f32 most = 0;
    GPU_NO_UNROLL for (i64 n = gpu_thread(); n < rows; n += GPU_BLOCK) {
        i64 row = p.a.q_starts ? n / group * heads + head + n % group : (batch * heads + head) * queries + n;
        most = gpu_join_max::of(most, ((const f32 *)p.tops)[row]);
    }
    most = gpu_block_join<gpu_join_max>(most, shared);
    u32 exponent = gpu_bits<u32>(most) >> 23;
    /* 2^-e for 2^e <= most < 2^(e + 1); f16 goes from 2^-24 to 2^16. */
    if (gpu_thread() == 0)
        ((f32 *)p.powers)[gpu_block_x()] = exponent == 0 ? 1.0f : gpu_bits<f32>((254 - exponent) << 23);
}

#if MMA
#if MMA_ASYNC
/* ---- where copies are asynchronous: the lines in LDS, and two steps of others, one of them on its way ---- */

template <int DIM, bool OF_KEYS> struct backward_tiles {
    enum {
        THREADS = ATTENTION_THREADS,
        TILES = OF_KEYS && DIM == 128 ? 1 : 2,
        ROWS = THREADS / GPU_WAVE * 16 * TILES,
        COLUMNS = OF_KEYS || DIM == 128 ? 2 : 4,
        STEP = COLUMNS * 16,
        BUFFERS = 2,
        BLOCKS = 2,
        LINES = ROWS * DIM * 2, /* bytes in LDS */
        OTHERS = STEP * DIM * 2
    };
};

template <int DIM, bool OF_KEYS> struct backward_feed {
    typedef backward_tiles<DIM, OF_KEYS> tiles;
    mma_lds lines, others;

    GPU_FN void open(backward_feed &f, const struct backward_place &at) {
        f.lines = mma_lds_of(attention_shared);
        f.others = f.lines + 2 * tiles::LINES;
        GPU_UNROLL for (u32 which = 0; which < 2; which++) {
            const struct backward_operand &x = at.operand[backward_line_operand<OF_KEYS>(which)];
            attention_copy_keys<DIM, tiles::ROWS>(f.lines + which * tiles::LINES, (const u16 *)x.data + x.at, x.row,
                                                  (u32)at.row0, (u32)x.count, attention_bytes<DIM>(x.length));
        }
    }
    GPU_FN void bring(const backward_feed &f, const struct gpu_attention_backward &p, const struct backward_place &at,
                      const struct backward_turn &turn, u32 buffer) {
        GPU_UNROLL for (u32 which = 0; which < 2; which++) {
            const struct backward_operand &x = at.operand[backward_other_operand<OF_KEYS>(which)];
            attention_copy_keys<DIM, tiles::STEP>(f.others + (buffer * 2 + which) * tiles::OTHERS,
                                                  backward_others<OF_KEYS>(p, at, turn, which), x.row,
                                                  turn.other0, (u32)x.count, attention_bytes<DIM>(x.length));
        }
        mma_copy_commit();
    }
    template <typename T>
    GPU_FN void multiply(const backward_feed &f, u32 which, u32 buffer,
                         struct mma_tile (&s)[tiles::TILES][tiles::COLUMNS]) {
        attention_multiply<T, DIM>(f.lines + which * tiles::LINES, f.others + (buffer * 2 + which) * tiles::OTHERS, s);
    }
    template <typename T, int STEPS>
    GPU_FN void add(const backward_feed &f, u32 which, u32 buffer,
                    const struct mma_tile (&s)[tiles::TILES][tiles::COLUMNS],
                    struct mma_tile (&sums)[tiles::TILES][STEPS]) {
        attention_add<T, DIM>(s, f.others + (buffer * 2 + which) * tiles::OTHERS, sums);
    }
};
#else
/* ---- where tiles pass through registers: a step of others in LDS, as [other][element] and turned round. The lines stay
 * in registers, or where these are too few in LDS ---- */

template <int DIM, bool OF_KEYS> struct backward_tiles {
    enum {
        WIDE = GPU_WAVE == 64,
        THREADS = WIDE ? 256 : 128,
        TILES = WIDE && !(OF_KEYS && DIM == 128) ? 2 : 1,
        ROWS = THREADS / GPU_WAVE * 16 * TILES,
        COLUMNS = DIM == 64 ? (WIDE ? 4 : 2) : OF_KEYS && !WIDE ? 1 : 2,
        STEP = COLUMNS * 16,
        BUFFERS = 1,
        BLOCKS = 1,
        KEPT = WIDE,
        PIECES = DIM / 8,
        LINES = KEPT ? 0 : ROWS * PIECES, /* pieces of 16 bytes in LDS */
        OTHERS = STEP * PIECES,
        SIZE = 2 * LINES + (OF_KEYS ? 4 : 3) * OTHERS
    };
};

template <int DIM, bool OF_KEYS> struct backward_feed {
    typedef backward_tiles<DIM, OF_KEYS> tiles;
    struct attention_lines<DIM, tiles::TILES, tiles::KEPT> lines[2];
    gpu_16 *others;

    /* A piece of row `row` of an operand, zeros where there is none. */
    GPU_FN gpu_16 piece(const u16 *from, const struct backward_operand &x, i64 row, u32 piece) {
        return mma_fetch8(from + row * x.row + piece * 8, row < x.count ? x.length - piece * 8 : 0);
    }
    GPU_FN void open(backward_feed &f, const struct backward_place &at) {
        GPU_SHARED gpu_16 lds[tiles::SIZE];
        u32 line0 = gpu_wave() * (16 * tiles::TILES);
        f.others = lds + 2 * tiles::LINES;
        GPU_UNROLL for (u32 which = 0; which < 2; which++) {
            const struct backward_operand &x = at.operand[backward_line_operand<OF_KEYS>(which)];
            const u16 *from = (const u16 *)x.data + x.at;
            gpu_16 *to = lds + which * tiles::LINES;
            f.lines[which].lds = to + line0 * tiles::PIECES;
            if (tiles::KEPT) {
                GPU_UNROLL for (u32 i = 0; i < tiles::TILES; i++) GPU_UNROLL for (u32 d = 0; d < DIM / MMA_K; d++) {
                    gpu_16 own = piece(from, x, at.row0 + line0 + i * 16 + gpu_lane() % 16, d * (MMA_K / 8) + mma_piece());
                    GPU_UNROLL for (u32 w = 0; w < 4; w++) f.lines[which].kept[i][tiles::KEPT ? d : 0].word[w] = own.word[w];
                }
            } else {
                GPU_NO_UNROLL for (u32 u = gpu_thread(); u < tiles::LINES; u += tiles::THREADS) {
                    u32 line = u / tiles::PIECES, n = u % tiles::PIECES;
                    to[line / 16 * (16 * tiles::PIECES) + attention_place<tiles::PIECES>(line % 16, n)] =
                        piece(from, x, at.row0 + line, n);
                }
            }
        }
    }
    /* A thread takes eight elements of two rows. */
    GPU_FN void bring(const backward_feed &f, const struct gpu_attention_backward &p, const struct backward_place &at,
                      const struct backward_turn &turn, u32) {
        GPU_UNROLL for (u32 which = 0; which < 2; which++) {
            const struct backward_operand &x = at.operand[backward_other_operand<OF_KEYS>(which)];
            const u16 *from = backward_others<OF_KEYS>(p, at, turn, which);
            gpu_16 *plain = f.others + which * tiles::OTHERS, *turned = plain + 2 * tiles::OTHERS;
            GPU_NO_UNROLL for (u32 u = gpu_thread(); u < tiles::OTHERS / 2; u += tiles::THREADS) {
                u32 n = u / (4 * tiles::STEP) * 8 + u % 8, term = u / 8 % (tiles::STEP / 2) * 2, row = mma_turned(term);
                gpu_16 a = piece(from, x, (i64)turn.other0 + row, n), b = piece(from, x, (i64)turn.other0 + row + 1, n);
                plain[attention_place<tiles::PIECES>(row, n)] = a;
                plain[attention_place<tiles::PIECES>(row + 1, n)] = b;
                if (OF_KEYS || which == 0)
                    attention_put_pairs<tiles::STEP / 8>(turned, attention_place<tiles::STEP / 8>(n * 8, term / 8),
                                                         term % 8 / 2, 0, a, b);
            }
        }
    }
    template <typename T>
    GPU_FN void multiply(const backward_feed &f, u32 which, u32, struct mma_tile (&s)[tiles::TILES][tiles::COLUMNS]) {
        attention_multiply<T>(f.lines[which], f.others + which * tiles::OTHERS, s);
    }
    template <typename T, int STEPS>
    GPU_FN void add(const backward_feed &f, u32 which, u32, const struct mma_tile (&s)[tiles::TILES][tiles::COLUMNS],
                    struct mma_tile (&sums)[tiles::TILES][STEPS]) {
        attention_add<T>(s, f.others + (2 + which) * tiles::OTHERS, sums);
    }
};
#endif

/* ---- the kernel ---- */

/* All steps of a block. Pairs of queries that are the others come with each step. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN void backward_go(const struct gpu_attention_backward &p, const struct backward_place &at,
                        const struct backward_part &part, struct backward_pair *pairs,
                        struct mma_tile (&sums)[backward_tiles<DIM, OF_KEYS>::TILES][DIM / 16],
                        struct mma_tile (&sums_v)[backward_tiles<DIM, OF_KEYS>::TILES][OF_KEYS ? DIM / 16 : 1]) {
    typedef backward_tiles<DIM, OF_KEYS> tiles;
    typedef backward_feed<DIM, OF_KEYS> feed;
    u32 t = gpu_thread(), line0 = gpu_wave() * (16 * tiles::TILES);
    u32 steps = at.begin < at.end ? (u32)(at.end - at.begin + tiles::STEP - 1) / tiles::STEP : 0;
    u32 all = OF_KEYS ? steps * p.a.group : steps;
    feed f;
    feed::open(f, at);
    if (!OF_KEYS && t < tiles::ROWS) pairs[t] = backward_pair_of<T>(p, at, at.head, at.row0 + t, part.power);
#if MMA_ASYNC
    if (all > 0) {
        feed::bring(f, p, at, backward_turn_of(at, 0, steps, tiles::STEP), 0);
        if (OF_KEYS && t < tiles::STEP) pairs[t] = backward_pair_of<T>(p, at, at.head, at.begin + t, part.power);
    }
#endif
    GPU_NO_UNROLL for (u32 n = 0; n < all; n++) {
        u32 buffer = n % tiles::BUFFERS;
#if MMA_ASYNC
        struct backward_pair pair = {0, 0};
        mma_copy_wait<0>();
        gpu_sync();
        if (n + 1 < all) {
            struct backward_turn next = backward_turn_of(at, n + 1, steps, tiles::STEP);
            feed::bring(f, p, at, next, 1 - buffer);
            if (OF_KEYS && t < tiles::STEP)
                pair = backward_pair_of<T>(p, at, at.head + next.member, (i64)next.other0 + t, part.power);
        }
        struct backward_turn turn = backward_turn_of(at, n, steps, tiles::STEP);
#else
        struct backward_turn turn = backward_turn_of(at, n, steps, tiles::STEP);
        gpu_sync();
        feed::bring(f, p, at, turn, 0);
        if (OF_KEYS && t < tiles::STEP)
            pairs[t] = backward_pair_of<T>(p, at, at.head + turn.member, (i64)turn.other0 + t, part.power);
        gpu_sync();
#endif
        struct mma_tile s[tiles::TILES][tiles::COLUMNS], g[tiles::TILES][tiles::COLUMNS];
        feed::template multiply<T>(f, 0, buffer, s);
        feed::template multiply<T>(f, 1, buffer, g);
        const struct backward_scores<tiles::TILES, tiles::COLUMNS> all = {
            pairs + (OF_KEYS ? buffer * tiles::STEP : 0), line0, s, g};
        backward_rate<T, OF_KEYS>(p.a, at, part, at.head + turn.member, turn.other0, all);
#if MMA_ASYNC
        if (OF_KEYS && t < tiles::STEP) pairs[(1 - buffer) * tiles::STEP + t] = pair;
#endif
        if (OF_KEYS) feed::template add<T>(f, 1, buffer, s, sums_v);
        feed::template add<T>(f, 0, buffer, g, sums);
    }
}

template <typename T, int DIM, bool OF_KEYS> GPU_FN void backward_run(const struct gpu_attention_backward &p) {
    typedef backward_tiles<DIM, OF_KEYS> tiles;
    GPU_SHARED struct backward_place at; /* registers are few */
    GPU_SHARED struct backward_part part;
    GPU_SHARED struct backward_pair pairs[OF_KEYS ? tiles::BUFFERS * tiles::STEP : tiles::ROWS];
    GPU_SHARED f32 weights[tiles::THREADS];
    GPU_SHARED u32 odd[tiles::ROWS + 1];
    u32 t = gpu_thread(), line0 = gpu_wave() * (16 * tiles::TILES);
    if (p.a.q_starts && !OF_KEYS && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    if (t == 0) {
        backward_locate(p, at, tiles::ROWS);
        part = backward_part_of<T, OF_KEYS, tiles::ROWS>(p, at);
    }
    if (t < tiles::ROWS) odd[t] = 0;
    gpu_sync();
    if (at.row0 >= at.rows) return;
    struct mma_tile sums[tiles::TILES][DIM / 16], sums_v[tiles::TILES][OF_KEYS ? DIM / 16 : 1];
    mma_clear(sums);
    mma_clear(sums_v);
    backward_go<T, DIM, OF_KEYS>(p, at, part, pairs, sums, sums_v);
    f32 up = (f32)(1u << backward_shift<T>::value);
    const struct backward_target target = {(u16 *)p.out, (u32)p.a.depth, (f32)p.a.scale / (part.power * up)};
    const struct backward_target target_v = {(u16 *)p.out_v, (u32)p.a.width, 1.0f / up};
    backward_store<T, OF_KEYS>(p, at, target, line0, sums, odd);
    if (OF_KEYS) backward_store<T, OF_KEYS>(p, at, target_v, line0, sums_v, odd);
#if MMA_ASYNC
    const struct gpu_attention_backward &own = p;
#else
    GPU_SHARED struct gpu_attention_backward own; /* scalar registers are few */
    if (t == 0) own = p;
#endif
    if (backward_is_odd<tiles::ROWS, tiles::THREADS>(odd))
        backward_mend<T, OF_KEYS, tiles::ROWS, tiles::THREADS>(own, at, 0, odd, weights);
}
#endif
#if MMA && !(MMA_GROUP && defined(GPU_NVIDIA)) /* which has attention_backward_group.hip */
#define BACKWARD_KERNEL(name, type, dim, of_keys)                                                                      \
    GPU_KERNEL_OF(attention_backward_##name##_##dim##_##type, struct gpu_attention_backward,                           \
                  (backward_tiles<dim, of_keys>::THREADS), (backward_tiles<dim, of_keys>::BLOCKS)) {                   \
        backward_run<type, dim, of_keys>(p);                                                                           \
    }
#else
/* The host asks for these only where they are. */
#define BACKWARD_KERNEL(name, type, dim, of_keys)                                                                      \
    GPU_KERNEL(attention_backward_##name##_##dim##_##type, struct gpu_attention_backward) { (void)p; }
#endif

#define BACKWARD_KERNELS(type)                                                                                         \
    BACKWARD_KERNEL(q, type, 64, false)                                                                                \
    BACKWARD_KERNEL(q, type, 128, false) BACKWARD_KERNEL(kv, type, 64, true) BACKWARD_KERNEL(kv, type, 128, true)
BACKWARD_KERNELS(bf16)
BACKWARD_KERNELS(f16)
