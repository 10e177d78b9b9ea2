/* The gradients of attention of bf16 and f16 by the matrix instructions of groups of waves. Operands as attention_mma.hip
 * has them; depth and width are at most DIM. attention_delta has run. attention_backward_mma.hip serves where the target
 * has no such instructions.
 *
 * A block of two or three groups has 64 lines each, queries for dq, else keys for dk and dv, and their sums in registers.
 * The others come in steps of 64, three of them in LDS. What a group makes of its scores takes longer than its products, so
 * groups run on their own, as many as registers allow, and meet once a step. All in one order and without atomics. */
#include "attention_backward_tiles.h"
#include "attention_group.h"

#if MMA_GROUP
enum { STEP = 64, COLUMNS = STEP / 16, STAGES = 3 };

template <int DIM, bool OF_KEYS> struct group_sizes {
    enum {
        GROUPS = DIM == 128 ? 2 : 3,
        THREADS = GROUPS * GROUP,
        ROWS = GROUPS * 64,
        LINES = ROWS * DIM * 2, /* bytes in LDS */
        OTHERS = STEP * DIM * 2,
        STAGE = 2 * OTHERS
    };
};

/* What a block's threads share. */
struct group_block {
    const struct gpu_attention_backward &p;
    const struct backward_place &at;
    const struct backward_part &part;
    struct backward_pair *pairs; /* of the lines, or of the others of STAGES steps */
    const u32 &steps, &all;      /* of a head, of all heads of the key's */
};

template <int DIM, bool OF_KEYS> GPU_FN void group_open(const struct backward_place &at, mma_lds lds) {
    typedef group_sizes<DIM, OF_KEYS> sizes;
    u32 piece = gpu_thread() % (DIM / 8);
    GPU_UNROLL for (u32 which = 0; which < 2; which++, lds += sizes::LINES) {
        const struct backward_operand &x = at.operand[backward_line_operand<OF_KEYS>(which)];
        const u16 *from = (const u16 *)x.data + x.at;
        u32 nbytes = attention_bytes<DIM>(x.length);
        GPU_NO_UNROLL for (u32 r = gpu_thread() / (DIM / 8); r < sizes::ROWS; r += sizes::THREADS / (DIM / 8)) {
            u32 n = at.row0 + r < x.count ? nbytes : 0;
            mma_copy16_at(lds + attention_piece<DIM, 64>(r, piece), from + (n ? (at.row0 + r) * x.row + piece * 8 : 0), n);
        }
    }
}

/* The others of step n on their way: an operand by each of the first two groups. */
template <int DIM, bool OF_KEYS> GPU_FN void group_bring(const struct group_block &b, mma_lds lds, u32 n) {
    typedef group_sizes<DIM, OF_KEYS> sizes;
    u32 which = gpu_thread() / GROUP;
    if (n < b.all && which < 2) {
        struct backward_turn turn = backward_turn_of(b.at, n, b.steps, STEP);
        const struct backward_operand &x = b.at.operand[which ? backward_other_operand<OF_KEYS>(1)
                                                              : backward_other_operand<OF_KEYS>(0)];
        const u16 *from = backward_others<OF_KEYS>(b.p, b.at, turn, which);
        const struct attention_source source = {from, x.row, (u32)x.count, attention_bytes<DIM>(x.length)};
        lds += 2 * sizes::LINES + n % STAGES * sizes::STAGE + which * sizes::OTHERS;
        attention_fill<DIM, STEP, 64>(lds, source, turn.other0, n < STAGES);
    }
    mma_copy_commit();
}
/* The pair of one of them, of the last group's threads. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN struct backward_pair group_pair(const struct group_block &b, u32 n, u32 *place) {
    typedef group_sizes<DIM, OF_KEYS> sizes;
    struct backward_pair pair = {0, 0};
    u32 t = gpu_thread() - (sizes::THREADS - STEP);
    *place = t < STEP && n < b.all ? n % STAGES * STEP + t : ~0u;
    if (*place == ~0u) return pair;
    struct backward_turn turn = backward_turn_of(b.at, n, b.steps, STEP);
    return backward_pair_of<T>(b.p, b.at, b.at.head + turn.member, (i64)turn.other0 + t, b.part.power);
}

/* Lines times others: scores, or the gradients of weights. */
template <typename T, int DIM> GPU_FN void group_score(struct mma_tile (&s)[COLUMNS], const u8 *lines, const u8 *others) {
    group_multiply<T, false, false, true>(s, lines, others);
    if (DIM > 64) group_multiply<T, false, false>(s, lines + GROUP_BLOCK, others + GROUP_BLOCK);
}

/* All steps; the lines and the first two steps of others are on their way. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN void group_go(const struct group_block &b, const u8 *lds, struct mma_tile (&sums)[1][DIM / 16],
                     struct mma_tile (&sums_v)[1][DIM / 16]) {
    typedef group_sizes<DIM, OF_KEYS> sizes;
    const u8 *lines = lds + group_number() * (64 * DIM * 2), *others = lds + 2 * sizes::LINES;
    struct backward_pair pair;
    u32 place = ~0u;
    if (OF_KEYS) {
        pair = group_pair<T, DIM, OF_KEYS>(b, 0, &place);
        if (place != ~0u) b.pairs[place] = pair;
        pair = group_pair<T, DIM, OF_KEYS>(b, 1, &place);
    }
    GPU_NO_UNROLL for (u32 n = 0; n < b.all; n++) {
        struct mma_tile s[1][COLUMNS], g[1][COLUMNS];
        const u8 *now = others + n % STAGES * sizes::STAGE;
        mma_copy_wait_but(1);
        group_publish();
        if (OF_KEYS && place != ~0u) b.pairs[place] = pair;
        gpu_sync();
        group_begin();
        group_score<T, DIM>(s[0], lines, now);
        group_score<T, DIM>(g[0], lines + sizes::LINES, now + sizes::OTHERS);
        group_commit();
        struct backward_turn turn = backward_turn_of(b.at, n, b.steps, STEP);
        const struct backward_scores<1, COLUMNS> scores = {b.pairs + (OF_KEYS ? n % STAGES * STEP : 0), gpu_wave() * 16, s,
                                                           g};
        group_wait<0>();
        group_hold(s[0]);
        group_hold(g[0]);
        backward_rate<T, OF_KEYS>(b.p.a, b.at, b.part, b.at.head + turn.member, turn.other0, scores);
        struct mma_fragment x[COLUMNS], y[COLUMNS];
        if (OF_KEYS) attention_pack<T>(x, s[0]);
        attention_pack<T>(y, g[0]);
        group_begin();
        if (OF_KEYS) group_multiply_kept<T, true>(sums_v[0], x, now + sizes::OTHERS);
        group_multiply_kept<T, true>(sums[0], y, now);
        group_commit();
        group_bring<DIM, OF_KEYS>(b, mma_lds_of(lds), n + 2);
        if (OF_KEYS) pair = group_pair<T, DIM, OF_KEYS>(b, n + 2, &place);
        group_wait<0>();
        group_hold(sums[0]);
        if (OF_KEYS) group_hold(sums_v[0]);
    }
}

template <typename T, int DIM, bool OF_KEYS> GPU_FN void group_gradient(const struct gpu_attention_backward &p) {
    typedef group_sizes<DIM, OF_KEYS> sizes;
    enum { ROWS = sizes::ROWS };
    GPU_SHARED struct backward_place at; /* registers are few */
    GPU_SHARED struct backward_part part;
    GPU_SHARED struct backward_pair pairs[OF_KEYS ? STAGES * STEP : ROWS];
    GPU_SHARED f32 weights[sizes::THREADS];
    GPU_SHARED u32 odd[ROWS + 1], counts[2];
    u32 t = gpu_thread(), line0 = gpu_wave() * 16;
    u8 *lds = (u8 *)attention_shared;
    if (p.a.q_starts && !OF_KEYS && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    if (t == 0) {
        backward_locate(p, at, ROWS);
        part = backward_part_of<T, OF_KEYS, ROWS>(p, at);
        counts[0] = at.begin < at.end ? (u32)(at.end - at.begin + STEP - 1) / STEP : 0;
        counts[1] = counts[0] * (OF_KEYS ? p.a.group : 1);
    }
    if (t < ROWS) odd[t] = 0;
    gpu_sync();
    if (at.row0 >= at.rows) return;
    const struct group_block block = {p, at, part, pairs, counts[0], counts[1]};
    struct mma_tile sums[1][DIM / 16], sums_v[1][DIM / 16];
    mma_clear(sums);
    mma_clear(sums_v);
    group_open<DIM, OF_KEYS>(at, mma_lds_of(lds));
    group_bring<DIM, OF_KEYS>(block, mma_lds_of(lds), 0);
    group_bring<DIM, OF_KEYS>(block, mma_lds_of(lds), 1);
    if (!OF_KEYS && t < ROWS) pairs[t] = backward_pair_of<T>(p, at, at.head, at.row0 + t, part.power);
    group_go<T, DIM, OF_KEYS>(block, lds, sums, sums_v);
    mma_copy_wait<0>();
    f32 up = (f32)(1u << backward_shift<T>::value);
    const struct backward_target target = {(u16 *)p.out, (u32)p.a.depth, (f32)p.a.scale / (part.power * up)};
    const struct backward_target target_v = {(u16 *)p.out_v, (u32)p.a.width, 1.0f / up};
    backward_store<T, OF_KEYS>(p, at, target, line0, sums, odd);
    if (OF_KEYS) backward_store<T, OF_KEYS>(p, at, target_v, line0, sums_v, odd);
    if (backward_is_odd<ROWS, sizes::THREADS>(odd))
        backward_mend<T, OF_KEYS, ROWS, sizes::THREADS>(p, at, 0, odd, weights);
}
#define GROUP_KERNEL_OF(name, type, dim, of_keys)                                                                      \
    GPU_KERNEL_OF(attention_backward_group_##name##_##dim##_##type, struct gpu_attention_backward,                     \
                  (group_sizes<dim, of_keys>::THREADS), 1) {                                                           \
        group_gradient<type, dim, of_keys>(p);                                                                         \
    }
#else
/* The host asks for these only where they are. */
#define GROUP_KERNEL_OF(name, type, dim, of_keys)                                                                      \
    GPU_KERNEL(attention_backward_group_##name##_##dim##_##type, struct gpu_attention_backward) { (void)p; }
#endif

#define GROUP_KERNELS(type)                                                                                            \
    GROUP_KERNEL_OF(q, type, 64, false)                                                                                \
    GROUP_KERNEL_OF(q, type, 128, false) GROUP_KERNEL_OF(kv, type, 64, true) GROUP_KERNEL_OF(kv, type, 128, true)
GROUP_KERNELS(bf16)
GROUP_KERNELS(f16)
