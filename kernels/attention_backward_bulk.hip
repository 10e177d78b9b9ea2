/* The gradients of attention of bf16 and f16 by the matrix instructions of groups of waves, for which one thread asks for
 * bulk copies of all operands (mma_bulk.h). Operands as attention_mma.hip has them, with maps; depth and width are even and
 * at most DIM; scores have nothing but a scale above 0 and keys that a query may not see. attention_delta has run, and
 * attention_pairs.
 *
 * A block stays on its unit and makes tile after tile. A group has 64 lines, queries for dq, else keys for dk and dv, and
 * their sums in registers; the others come in steps of 64. Groups meet nowhere, so that the matrix units work for one while
 * others make weights. All in one order and without atomics. */
#include "attention_backward_bulk.h"
#include "attention_backward_tiles.h"
#include "attention_group.h"
#include "mma_bulk.h"

/* ---- the pairs of all queries, a thread each ---- */

#if MMA_BULK
template <typename T> GPU_FN void attention_pairs(const struct gpu_attention_backward_bulk &p) {
    const struct gpu_attention_backward &all = p.all;
    if (all.a.q_starts && gpu_block_x() == 0) attention_check_starts(all.a);
    GPU_NO_UNROLL for (u32 n = gpu_block_x() * GPU_BLOCK + gpu_thread(); n < p.pairs_end; n += gpu_blocks_x() * GPU_BLOCK) {
        struct backward_place at;
        u32 line = n / p.pair_rows, row = n % p.pair_rows, batch = line / all.a.heads, head = line % all.a.heads;
        at.batch = batch;
        at.query0 = at.shift = 0;
        at.queries = all.a.queries;
        if (all.a.q_starts) {
            backward_find<i32>(all, at, (i32)(row / 64), 64);
            row = (u32)at.row0 + row % 64;
        }
        f32 power = backward_power<T>(all, batch, head / all.a.group);
        ((struct backward_pair *)p.pairs)[n] = backward_pair_of<T>(all, at, head, row, power);
    }
}

/* ---- what a block has ---- */

enum { STEP = GPU_BACKWARD_BULK_STEP, COLUMNS = STEP / 16 };

template <int DIM> struct bulk_shape {
    enum {
        GROUPS = GPU_BACKWARD_BULK_GROUPS,
        STAGES = GPU_BACKWARD_BULK_STAGES(DIM),
        ROWS = GPU_BACKWARD_BULK_ROWS,
        WIDE = attention_wide<DIM>::value,
        OWN = 64 * WIDE * 2,     /* bytes of a group's lines of an operand */
        LINES = ROWS * WIDE * 2, /* of all groups' */
        OTHERS = STEP * WIDE * 2 /* and of a step of others */
    };
};

/* What a group needs to know of a tile beside its place: others from .. to, which some of its lines meet (none: to = 0),
 * and free .. bound, which all do; the power of dS. */
struct bulk_seat {
    i32 from, to, free, bound;
    f32 power;
};

/* What is to be copied of a tile: position, head and batch of the first lines and others, the first line's pair or the
 * first other's. */
struct bulk_errand {
    i32 line[3], other[3];
    u32 groups, steps, heads; /* that have lines; of a head; of q that share others */
    u32 pair;
};

/* What is in LDS beside operands, of two tiles: the groups' and the one whose operands come. */
template <int DIM, bool OF_KEYS> struct bulk_block {
    typedef bulk_shape<DIM> shape;
    alignas(16) struct backward_pair pairs[OF_KEYS ? shape::STAGES * STEP : shape::ROWS]; /* of others, or of lines */
    u64 full[shape::STAGES], empty[shape::STAGES]; /* barriers: steps of others */
    u64 lines, done;                               /* lines are there; no group needs them any more */
    u64 known[2], left[2];                         /* tiles: their place is there; groups are done */
    struct backward_place at[2];
    struct bulk_errand errands[2];
    struct bulk_seat seats[2][shape::GROUPS];
    u32 over[2]; /* there is no such tile: the block is done */
    u32 odd[shape::GROUPS][64 + 1];
    f32 weights[shape::GROUPS][GROUP];
};

template <int DIM, bool OF_KEYS> struct bulk_work {
    const struct gpu_attention_backward_bulk &p;
    struct bulk_block<DIM, OF_KEYS> &block;
    u8 *lds; /* lines of both operands, steps of both others */
};
template <int DIM, bool OF_KEYS> GPU_FN u8 *bulk_lines(const struct bulk_work<DIM, OF_KEYS> &work, u32 which, u32 group) {
    return work.lds + which * bulk_shape<DIM>::LINES + group * bulk_shape<DIM>::OWN;
}
template <int DIM, bool OF_KEYS> GPU_FN u8 *bulk_others(const struct bulk_work<DIM, OF_KEYS> &work, u32 which, u32 stage) {
    typedef bulk_shape<DIM> shape;
    return work.lds + 2 * shape::LINES + (stage * 2 + which) * shape::OTHERS;
}

GPU_FN u32 bulk_steps(const struct backward_place &at) {
    return at.begin < at.end ? (u32)(at.end - at.begin + STEP - 1) / STEP : 0;
}

/* ---- the thread that finds tiles ---- */

/* What the group that has lines number row0 on needs to know. */
template <typename T, bool OF_KEYS>
GPU_FN void bulk_sit(const struct gpu_attention_backward &p, const struct backward_place &at, struct bulk_seat &seat,
                     i32 row0) {
    i32 begin = (i32)at.begin, end = (i32)at.end, rows = (i32)at.rows, last = row0 + 63 < rows ? row0 + 63 : rows - 1;
    i32 back = (i32)(OF_KEYS ? p.a.right : p.a.left), ahead = (i32)(OF_KEYS ? p.a.left : p.a.right);
    i32 first = (i32)(OF_KEYS ? -at.shift : at.shift); /* the other that stands where line 0 does */
    i32 from = first + row0 - back, to = first + last + ahead + 1, bound = first + row0 + ahead + 1;
    seat.from = from < begin ? begin : from;
    seat.to = row0 > last ? 0 : to < end ? to : end;
    seat.free = first + last - back;
    seat.bound = bound < end ? bound : end;
    seat.power = backward_power<T>(p, at.batch, at.key_head);
}

/* What is to be copied of the tile at `at`. */
template <bool OF_KEYS>
GPU_FN void bulk_errand_of(const struct gpu_attention_backward_bulk &p, const struct backward_place &at,
                           struct bulk_errand &errand, u32 most) {
    bool packed = p.all.a.q_starts != NULL;
    u32 batch = packed ? 0 : (u32)at.batch, groups = (u32)(at.rows - at.row0 + 63) / 64, first = 0;
    if (packed) first = ((u32)at.query0 / 64 + (u32)at.batch) * 64;
    errand.line[0] = (i32)(at.row0 + (OF_KEYS ? at.key0 : at.query0));
    errand.line[1] = (i32)(OF_KEYS ? at.key_head : at.head);
    errand.other[0] = (i32)(at.begin + (OF_KEYS ? at.query0 : at.key0));
    errand.other[1] = (i32)(OF_KEYS ? at.head : at.key_head);
    errand.line[2] = errand.other[2] = (i32)batch;
    errand.groups = groups < most ? groups : most;
    errand.steps = bulk_steps(at);
    errand.heads = OF_KEYS ? p.all.a.group : 1;
    errand.pair = (batch * p.all.a.heads + (u32)at.head) * p.pair_rows + first + (u32)(OF_KEYS ? at.begin : at.row0);
}

/* Finds tile x, or the next one that no block has and that has lines; its number. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN u32 bulk_find(const struct bulk_work<DIM, OF_KEYS> &work, u32 tile, u32 x) {
    typedef bulk_shape<DIM> shape;
    const struct gpu_attention_backward_bulk &p = work.p;
    struct backward_place &at = work.block.at[tile];
    GPU_NO_UNROLL for (; x < p.blocks; x = bulk_draw(p.tickets, p.blocks)) {
        backward_locate_at<i32>(p.all, at, shape::ROWS, x);
        if (at.row0 < at.rows) break;
    }
    if (x >= p.blocks) return x;
    if (OF_KEYS) at.begin = at.begin / STEP * STEP; /* where pairs are whole pieces */
    GPU_NO_UNROLL for (u32 group = 0; group < shape::GROUPS; group++)
        bulk_sit<T, OF_KEYS>(p.all, at, work.block.seats[tile][group], (i32)at.row0 + (i32)group * 64);
    bulk_errand_of<OF_KEYS>(p, at, work.block.errands[tile], shape::GROUPS);
    return x;
}

/* Finds tile after tile, while the groups work on the one before. */
template <typename T, int DIM, bool OF_KEYS> GPU_FN void bulk_seek(const struct bulk_work<DIM, OF_KEYS> &work) {
    u32 x = gpu_block_x();
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 1};; bulk_next<2>(tile)) {
        bulk_wait(&work.block.left[tile.stage], tile.phase);
        x = bulk_find<T>(work, tile.stage, x);
        bool over = x >= work.p.blocks;
        work.block.over[tile.stage] = over;
        bulk_arrive(&work.block.known[tile.stage]);
        if (over) return;
        x = bulk_draw(work.p.tickets, work.p.blocks);
    }
}

/* ---- the thread that asks for copies ---- */

/* Asks for 64 pairs, the first of them number `pair`. */
template <int DIM, bool OF_KEYS>
GPU_FN void bulk_ask_pairs(const struct bulk_work<DIM, OF_KEYS> &work, u32 place, u32 pair, u64 *full) {
    bulk_copy_run(work.block.pairs + place * 64, (const struct backward_pair *)work.p.pairs + pair,
                  64 * sizeof(struct backward_pair), full);
}

/* Asks for 64 positions of an operand. `from`: position, head and batch of the first. */
template <int DIM> GPU_FN void bulk_ask(u8 *to, const struct gpu_tensor_map &map, const i32 (&from)[3], u64 *full) {
    GPU_UNROLL for (i32 c = 0; c < DIM; c += 64) {
        bulk_copy(to, map, {c, from[0], from[1], from[2]}, full);
        to += GROUP_BLOCK;
    }
}

template <int DIM, bool OF_KEYS>
GPU_FN void bulk_ask_lines(const struct bulk_work<DIM, OF_KEYS> &work, const struct bulk_errand &errand) {
    typedef bulk_shape<DIM> shape;
    const struct gpu_attention_backward_bulk &p = work.p;
    u64 *full = &work.block.lines;
    bulk_expect(full, errand.groups * (2 * shape::OWN + (OF_KEYS ? 0 : 64 * (u32)sizeof(struct backward_pair))));
    GPU_NO_UNROLL for (u32 group = 0; group < errand.groups; group++) {
        const i32 from[3] = {errand.line[0] + (i32)group * 64, errand.line[1], errand.line[2]};
        bulk_ask<DIM>(bulk_lines(work, 0, group), OF_KEYS ? p.k : p.q, from, full);
        bulk_ask<DIM>(bulk_lines(work, 1, group), OF_KEYS ? p.v : p.gradient, from, full);
        if (!OF_KEYS) bulk_ask_pairs(work, group, errand.pair + group * 64, full);
    }
}

template <int DIM, bool OF_KEYS>
GPU_FN void bulk_ask_others(const struct bulk_work<DIM, OF_KEYS> &work, const struct bulk_errand &errand,
                            struct bulk_ring &ring) {
    typedef bulk_shape<DIM> shape;
    const struct gpu_attention_backward_bulk &p = work.p;
    GPU_NO_UNROLL for (u32 member = 0; member < errand.heads; member++)
        GPU_NO_UNROLL for (u32 n = 0; n < errand.steps; n++) {
            const i32 from[3] = {errand.other[0] + (i32)(n * STEP), errand.other[1] + (i32)member, errand.other[2]};
            u64 *full = &work.block.full[ring.stage];
            bulk_wait(&work.block.empty[ring.stage], ring.phase);
            bulk_expect(full, 2 * shape::OTHERS + (OF_KEYS ? STEP * (u32)sizeof(struct backward_pair) : 0));
            bulk_ask<DIM>(bulk_others(work, 0, ring.stage), OF_KEYS ? p.q : p.k, from, full);
            bulk_ask<DIM>(bulk_others(work, 1, ring.stage), OF_KEYS ? p.gradient : p.v, from, full);
            if (OF_KEYS) bulk_ask_pairs(work, ring.stage, errand.pair + member * p.pair_rows + n * STEP, full);
            bulk_next<shape::STAGES>(ring);
        }
}

/* Asks for all operands of the block's tiles, as soon as their place is known and LDS has room. */
template <int DIM, bool OF_KEYS> GPU_FN void bulk_fill(const struct bulk_work<DIM, OF_KEYS> &work) {
    struct bulk_ring ring = {0, 1};
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0}, lines = {0, 1};; bulk_next<2>(tile), bulk_next<1>(lines)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        bulk_wait(&work.block.done, lines.phase);
        bulk_ask_lines(work, work.block.errands[tile.stage]);
        bulk_ask_others(work, work.block.errands[tile.stage], ring);
    }
}

/* ---- the groups that multiply ---- */

/* Lines times others: scores, or the gradients of weights. */
template <typename T, int DIM> GPU_FN void bulk_score(struct mma_tile (&s)[COLUMNS], const u8 *lines, const u8 *others) {
    enum { REST = DIM > 64 ? DIM / 16 - 4 : 4 };
    group_begin();
    group_multiply<T, false, false, true>(s, lines, others);
    if (DIM > 64) group_multiply<T, false, false, false, REST>(s, lines + GROUP_BLOCK, others + GROUP_BLOCK);
    group_commit();
}
/* -inf for the scores of others, from number other0 on, that are not there or that a line does not meet. */
template <bool OF_KEYS>
GPU_FN void bulk_hide(const struct gpu_attention &p, const struct backward_place &at, i32 other0,
                      struct mma_tile (&s)[COLUMNS]) {
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        i32 line = (i32)at.row0 + (i32)(gpu_wave() * 16 + attention_line(half)), others = (i32)at.end - other0;
        i32 same = (OF_KEYS ? line - (i32)at.shift : line + (i32)at.shift) - other0; /* the other that stands there */
        group_keep(s, half, same - (i32)(OF_KEYS ? p.right : p.left), same + (i32)(OF_KEYS ? p.left : p.right) + 1, others);
    }
}
/* A wait that follows stays behind what weights are computed of; else the compiler begins with it. No weight is as large as
 * that, which the compiler does not know; `spare` would take one. */
GPU_FN void bulk_after(const struct mma_tile (&s)[COLUMNS], f32 *spare) {
    f32 most = s[0].v[0];
    GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = 1; e < MMA_SUMS; e += 4) /* half of them will do */
        most = mma_max(s[j].v[e], most);
    if (most > 1e30f) *(volatile f32 *)spare = most;
}
/* What a step's weights add to sums. */
template <typename T, int TILES>
GPU_FN void bulk_add(struct mma_tile (&sums)[TILES], const struct mma_fragment (&x)[COLUMNS], const u8 *others) {
    group_begin();
    group_multiply_kept<T, true>(sums, x, others);
    group_commit();
}

/* A step's others; the stage before it that the group has yet to leave, if `late`. */
struct bulk_way {
    struct bulk_ring ring;
    bool late;
    u32 before;
};

/* This wave has no more use for the others of the step before, whose products have ended. */
template <int DIM, bool OF_KEYS> GPU_FN void bulk_leave(const struct bulk_work<DIM, OF_KEYS> &work, struct bulk_way &way) {
    if (way.late && gpu_lane() == 0) bulk_arrive(&work.block.empty[way.before]);
    way.late = false;
}

/* A step of others from number other0 on. LATE: what it adds to sums may be under way until the next step's first products
 * are, which wait behind it. Weights are made while products run. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN void bulk_step(const struct bulk_work<DIM, OF_KEYS> &work, u32 tile, struct bulk_way &way, i32 other0,
                      struct mma_tile (&sums)[DIM / 16], struct mma_tile (&sums_v)[DIM / 16]) {
    enum { LATE = !(OF_KEYS && DIM > 96) }; /* the widest sums of two gradients leave too few registers for that */
    const struct gpu_attention &p = work.p.all.a;
    const struct backward_place &at = work.block.at[tile];
    const struct bulk_seat &seat = work.block.seats[tile][group_number()];
    const u32 stage = way.ring.stage;
    const u8 *others[2] = {bulk_others(work, 0, stage), bulk_others(work, 1, stage)};
    struct mma_tile s[1][COLUMNS], g[1][COLUMNS];
    struct mma_fragment x[COLUMNS], y[COLUMNS];
    const struct backward_scores<1, COLUMNS> scores = {work.block.pairs + (OF_KEYS ? stage * STEP : 0), gpu_wave() * 16, s,
                                                       g};
    bulk_score<T, DIM>(s[0], bulk_lines(work, 0, group_number()), others[0]);
    if (LATE) {
        group_wait<1>();
        bulk_leave(work, way);
    }
    bulk_score<T, DIM>(g[0], bulk_lines(work, 1, group_number()), others[1]);
    group_wait<1>();
    group_hold(s[0]);
    if (other0 < seat.free || other0 + STEP > seat.bound)
        bulk_hide<OF_KEYS>(p, at, other0, s[0]);
    backward_weigh<OF_KEYS>((f32)p.scale * 1.4426950408889634f, scores);
    if (OF_KEYS) {
        attention_pack<T>(x, s[0]);
        bulk_add<T>(sums_v, x, others[1]);
        group_wait<1>();
    } else {
        group_hold(s[0]);
        bulk_after(s[0], &work.block.weights[group_number()][gpu_thread() % GROUP]);
        group_wait<0>();
    }
    group_hold(g[0]);
    backward_slope<OF_KEYS>(seat.power, false, scores);
    attention_pack<T>(y, g[0]);
    bulk_add<T>(sums, y, others[0]);
    way.late = true;
    way.before = stage;
    if (!LATE) {
        group_wait<0>();
        group_hold(sums);
        group_hold(sums_v);
        bulk_leave(work, way);
    }
}

/* All steps of a tile. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN void bulk_go(const struct bulk_work<DIM, OF_KEYS> &work, u32 tile, struct bulk_way &way,
                    struct mma_tile (&sums)[DIM / 16], struct mma_tile (&sums_v)[DIM / 16]) {
    typedef bulk_shape<DIM> shape;
    const struct backward_place &at = work.block.at[tile];
    const struct bulk_seat &seat = work.block.seats[tile][group_number()];
    const i32 begin = (i32)at.begin, end = begin + (i32)bulk_steps(at) * STEP;
    GPU_NO_UNROLL for (u32 member = 0; member < (OF_KEYS ? work.p.all.a.group : 1); member++)
        GPU_NO_UNROLL for (i32 other0 = begin; other0 < end; other0 += STEP) {
            bulk_wait(&work.block.full[way.ring.stage], way.ring.phase);
            if (other0 < seat.to && other0 + STEP > seat.from) {
                bulk_step<T>(work, tile, way, other0, sums, sums_v);
            } else {
                group_wait<0>();
                bulk_leave(work, way);
                if (gpu_lane() == 0) bulk_arrive(&work.block.empty[way.ring.stage]);
            }
            bulk_next<shape::STAGES>(way.ring);
        }
    group_wait<0>();
    group_hold(sums);
    if (OF_KEYS) group_hold(sums_v);
    bulk_leave(work, way);
}

/* As backward_store, where lengths are even. */
template <typename T, bool OF_KEYS, int STEPS>
GPU_FN void bulk_store(const struct gpu_attention_backward &p, const struct backward_place &at,
                       const struct backward_target &target, const struct mma_tile (&sums)[STEPS], u32 *odd) {
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        u32 line = gpu_wave() * 16 + attention_line(half), first = attention_first();
        if (at.row0 + line >= at.rows) continue;
        u16 *to = target.out + backward_row<OF_KEYS>(p, at, line) * target.length + first;
        i32 left = (i32)target.length - (i32)first;
        f32 zero = 0; /* NaN once a sum is not finite */
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += 4) {
            const i32 ahead = (i32)(c * 16 + attention_ahead(e));
            f32 x = sums[c].v[e] * target.by, y = sums[c].v[e + 1] * target.by;
            zero = gpu_fma(y, 0.0f, gpu_fma(x, 0.0f, zero));
            if (ahead < left) *(u32 *)(to + ahead) = mma_pack(x, y, T());
        }
        if (zero != 0) odd[line % 64] = 1;
    }
}

/* Writes the sums of the group's lines. */
template <typename T, int DIM, bool OF_KEYS>
GPU_FN void bulk_end(const struct bulk_work<DIM, OF_KEYS> &work, u32 tile, struct mma_tile (&sums)[1][DIM / 16],
                     struct mma_tile (&sums_v)[1][DIM / 16]) {
    const struct gpu_attention_backward &p = work.p.all;
    struct backward_place &at = work.block.at[tile];
    u32 group = group_number(), *odd = work.block.odd[group], line0 = group * 64;
    f32 up = (f32)(1u << backward_shift<T>::value), power = work.block.seats[tile][group].power;
    const struct backward_target target = {(u16 *)p.out, (u32)p.a.depth, (f32)p.a.scale / (power * up)};
    const struct backward_target target_v = {(u16 *)p.out_v, (u32)p.a.width, 1.0f / up};
    if (gpu_thread() % GROUP < 64) odd[gpu_thread() % GROUP] = 0;
    gpu_sync_part<GROUP>();
    bulk_store<T, OF_KEYS>(p, at, target, sums[0], odd);
    if (OF_KEYS) bulk_store<T, OF_KEYS>(p, at, target_v, sums_v[0], odd);
    if (!backward_is_odd<64, GROUP>(odd)) return;
    if (gpu_thread() % GROUP == 0) backward_operands(p, at); /* all groups write the same */
    gpu_sync_part<GROUP>();
    backward_mend<T, OF_KEYS, 64, GROUP, true>(p, at, line0, odd, work.block.weights[group]);
}

template <typename T, int DIM, bool OF_KEYS> GPU_FN void bulk_gradient(const struct bulk_work<DIM, OF_KEYS> &work) {
    struct bulk_way way = {{0, 0}, false, 0};
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0}, lines = {0, 0};; bulk_next<2>(tile), bulk_next<1>(lines)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        bulk_wait(&work.block.lines, lines.phase);
        struct mma_tile sums[1][DIM / 16], sums_v[1][DIM / 16];
        mma_clear(sums);
        mma_clear(sums_v);
        bulk_go<T>(work, tile.stage, way, sums[0], sums_v[0]);
        if (gpu_lane() == 0) bulk_arrive(&work.block.done);
        bulk_end<T>(work, tile.stage, sums, sums_v);
        group_sync_wave();
        if (gpu_lane() == 0) bulk_arrive(&work.block.left[tile.stage]);
    }
}

template <typename T, int DIM, bool OF_KEYS> GPU_FN void backward_bulk(const struct gpu_attention_backward_bulk &p) {
    typedef bulk_shape<DIM> shape;
    enum { MANY = 224, FEW = 56 }; /* registers of the groups' threads, and of the others */
    GPU_SHARED struct bulk_block<DIM, OF_KEYS> block;
    const struct bulk_work<DIM, OF_KEYS> work = {p, block, (u8 *)attention_shared};
    if (gpu_thread() == 0) {
        for (u32 i = 0; i < shape::STAGES; i++) {
            bulk_barrier_begin(&block.full[i], 1);
            bulk_barrier_begin(&block.empty[i], shape::GROUPS * 4);
        }
        bulk_barrier_begin(&block.lines, 1);
        bulk_barrier_begin(&block.done, shape::GROUPS * 4);
        for (u32 i = 0; i < 2; i++) {
            bulk_barrier_begin(&block.known[i], 1);
            bulk_barrier_begin(&block.left[i], shape::GROUPS * 4);
        }
        bulk_barriers_publish();
    }
    gpu_sync();
    if (group_number() == shape::GROUPS) {
        group_give_registers<FEW>();
        if (gpu_thread() == shape::GROUPS * GROUP)
            bulk_fill(work);
        else if (gpu_thread() == shape::GROUPS * GROUP + GPU_WAVE)
            bulk_seek<T>(work);
    } else {
        group_take_registers<MANY>();
        bulk_gradient<T>(work);
    }
}

#define BACKWARD_BULK(name, type, dim, of_keys)                                                                        \
    BULK_KERNEL(attention_backward_bulk_##name##_##dim##_##type, struct gpu_attention_backward_bulk,                   \
                GPU_BACKWARD_BULK_THREADS) {                                                                           \
        backward_bulk<type, dim, of_keys>(p);                                                                          \
    }
#define BACKWARD_PAIRS(type)                                                                                           \
    GPU_KERNEL(attention_pairs_##type, struct gpu_attention_backward_bulk) { attention_pairs<type>(p); }
#else
/* The host asks for these only where they are. */
#define BACKWARD_BULK(name, type, dim, of_keys)                                                                        \
    GPU_KERNEL(attention_backward_bulk_##name##_##dim##_##type, struct gpu_attention_backward_bulk) { (void)p; }
#define BACKWARD_PAIRS(type)                                                                                           \
    GPU_KERNEL(attention_pairs_##type, struct gpu_attention_backward_bulk) { (void)p; }
#endif

#define BACKWARD_BULKS(type)                                                                                           \
    BACKWARD_BULK(q, type, 64, false)                                                                                  \
    BACKWARD_BULK(q, type, 96, false)                                                                                  \
    BACKWARD_BULK(q, type, 128, false)                                                                                 \
    BACKWARD_BULK(kv, type, 64, true)                                                                                  \
    BACKWARD_BULK(kv, type, 96, true)                                                                                  \
    BACKWARD_BULK(kv, type, 128, true) BACKWARD_PAIRS(type)
BACKWARD_BULKS(bf16)
BACKWARD_BULKS(f16)
