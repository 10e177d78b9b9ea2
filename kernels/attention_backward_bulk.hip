/* The gradients of attention of bf16 and f16 by the matrix instructions of groups of waves, for which one thread asks for
 * bulk copies of all operands (mma_bulk.h; after Shah and others, "FlashAttention-3"). Operands as attention_mma.hip has
 * them, with maps; depth and width are even and at most DIM; scores have nothing but a scale above 0 and keys that a query
 * may not see. attention_delta has run, and attention_pairs.
 *
 * A block stays on its unit and makes tile after tile of keys. A group has 64 keys, and the sums of their gradients in
 * registers; queries come in steps of 64. Of a step, dS goes to LDS, and each group multiplies all groups' dS by some columns
 * of the keys: the tile's part of the gradient of q, which bulk copies add to memory, tile after tile, so that the sums are
 * the same in each run. A tile waits only for tiles that were drawn before it, or are the first of blocks with lower numbers,
 * which the card starts in order. attention_backward_bulk_q then rounds. */
#include "attention_backward_bulk_tiles.h"

/* ---- what is laid out for all blocks: tiles, and the pairs of all queries, a thread each ---- */

#if MMA_BULK
/* Whether all starts of packed sequences are right: with others tiles might wait for tiles that never come. */
GPU_FN bool bulk_trusts(const struct gpu_attention &p) {
    GPU_SHARED u32 wrong;
    if (!p.q_starts) return true;
    if (gpu_thread() == 0) wrong = 0;
    gpu_sync();
    GPU_NO_UNROLL for (u32 s = gpu_thread(); s <= p.sequences; s += GPU_BLOCK)
        if (attention_start_rule(p, false, s) >= 0 || attention_start_rule(p, true, s) >= 0) wrong = 1;
    gpu_sync();
    return !wrong;
}

template <typename T> GPU_FN void attention_pairs(const struct gpu_attention_backward_bulk &p) {
    const struct gpu_attention_backward &all = p.all;
    const u32 own = gpu_block_x() * GPU_BLOCK + gpu_thread(), threads = gpu_blocks_x() * GPU_BLOCK;
    if (all.a.q_starts && gpu_block_x() == 0) attention_check_starts(all.a);
    if (own - gpu_thread() < p.blocks) {
        const bool trusts = bulk_trusts(all.a);
        GPU_NO_UNROLL for (u32 x = own; x < p.blocks; x += threads) {
            struct bulk_tile &tile = ((struct bulk_tile *)p.tiles)[x];
            bulk_locate<T>(p, tile, x);
            if (!trusts) tile.errand.shared = 0;
        }
    }
    GPU_NO_UNROLL for (u32 n = own; n < p.pairs_end; n += threads) {
        struct backward_place at;
        u32 line = n / p.pair_rows, row = n % p.pair_rows, batch = line / all.a.heads, head = line % all.a.heads;
        at.batch = batch;
        at.query0 = at.shift = 0;
        at.queries = all.a.queries;
        if (all.a.q_starts) {
            backward_find<i32>(all, at, true, (i32)(row / 64), 64);
            row = (u32)at.row0 + row % 64;
        }
        f32 power = backward_power<T>(all, batch, head / all.a.group);
        ((struct backward_pair *)p.pairs)[n] = backward_pair_of<T>(all, at, head, row, power);
        if (n % STEP == 0) p.notes[n / STEP] = 0;
    }
}

/* ---- the groups that multiply ---- */

/* Barriers by number: that of each group's turn to ask for a step's first products, so that the matrix units work for one
 * group while the other makes weights. */
enum { TURN = 1 };

/* Keys times queries: scores, or the gradients of weights. */
template <typename T, int DIM> GPU_FN void bulk_score(struct mma_tile (&s)[COLUMNS], const u8 *keys, const u8 *queries) {
    enum { REST = DIM > 64 ? DIM / 16 - 4 : 4 };
    group_begin();
    group_multiply<T, false, false, true>(s, keys, queries);
    if (DIM > 64) group_multiply<T, false, false, false, REST>(s, keys + GROUP_BLOCK, queries + GROUP_BLOCK);
    group_commit();
}
/* What a step's weights add to sums. */
template <typename T, int TILES>
GPU_FN void bulk_add(struct mma_tile (&sums)[TILES], const struct mma_fragment (&x)[COLUMNS], const u8 *queries) {
    group_begin();
    group_multiply_kept<T, true>(sums, x, queries);
    group_commit();
}
/* All groups' dS times the keys: this group's columns of the sums of queries. */
template <typename T, typename S>
GPU_FN void bulk_gather(const struct bulk_work<S> &work, u32 stage, struct mma_tile (&sums_q)[S::PART / 16]) {
    const u32 own = group_number() * (S::PART == 64 ? GROUP_BLOCK : S::PART * 2);
    static_assert(S::GROUPS == 2, "a product a group");
    group_begin();
    group_multiply<T, true, true, true>(sums_q, bulk_slopes(work, stage, 0), bulk_keys(work, OWN, 0) + own);
    group_multiply<T, true, true>(sums_q, bulk_slopes(work, stage, 1), bulk_keys(work, OWN, 1) + own);
    group_commit();
}

/* -inf for the scores of queries, from number query0 on, that a key does not meet, and for those of keys that are not there. */
GPU_FN void bulk_hide(const struct gpu_attention &p, const struct backward_place &at, i32 query0,
                      struct mma_tile (&s)[COLUMNS]) {
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        i32 key = (i32)at.row0 + (i32)(gpu_wave() * 16 + attention_line(half)), queries = (i32)at.end - query0;
        i32 same = key - (i32)at.shift - query0; /* the query that stands there */
        if (key >= (i32)at.rows) queries = 0;
        group_keep(s, half, same - (i32)p.right, same + (i32)p.left + 1, queries);
    }
}

/* Where the group is: steps of queries, of dS, and places of sums; whether a step's dS has yet to be multiplied by keys, and
 * the stage of queries that the group has yet to leave. */
struct bulk_way {
    struct bulk_ring queries, slopes, sums;
    bool behind, late;
    u32 before;
};

/* This wave has no more use for the queries of the step before, whose products have ended. */
template <typename S> GPU_FN void bulk_leave(const struct bulk_work<S> &work, struct bulk_way &way) {
    if (way.late && gpu_lane() == 0) bulk_arrive(&work.block.empty[way.before]);
    way.late = false;
}

/* dS to LDS, a line of queries a key, for the products of all groups. */
template <typename S>
GPU_FN void bulk_share(const struct bulk_work<S> &work, struct bulk_way &way, const struct mma_fragment (&y)[COLUMNS]) {
    const u32 stage = way.slopes.stage, line = gpu_wave() % 4 * 16 + gpu_lane() % 16;
    const u32 to = bulk_address(bulk_slopes(work, stage, group_number())) + line * GROUP_LINE;
    bulk_wait(&work.block.used[stage], way.slopes.phase ^ 1);
    GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) bulk_store_fragment(to + ((j * 2 + gpu_lane() / 16) ^ line % 8) * 16, y[j]);
    bulk_show();
    group_sync_wave();
    if (gpu_lane() == 0) bulk_arrive(&work.block.made[stage]);
}

/* Puts this group's columns of a step's sums where a thread brings them to memory, and leaves the step's dS. */
template <typename S>
GPU_FN void bulk_hand(const struct bulk_work<S> &work, struct bulk_way &way, const struct mma_tile (&sums_q)[S::PART / 16]) {
    struct alignas(16) quad {
        f32 v[4];
    };
    const u32 place = way.sums.stage;
    quad *to = (quad *)bulk_sums(work, place) + group_number() * (S::PART / 8 * GROUP) + gpu_thread() % GROUP;
    bulk_wait(&work.block.taken[place], way.sums.phase ^ 1);
    GPU_UNROLL for (u32 n = 0; n < S::PART / 8; n++) {
        const f32 *v = sums_q[n / 2].v + n % 2 * 4;
        to[n * GROUP] = {v[0], v[1], v[2], v[3]};
    }
    bulk_show();
    group_sync_wave();
    if (gpu_lane() == 0) {
        bulk_arrive(&work.block.summed[place]);
        bulk_arrive(&work.block.used[way.slopes.stage]);
    }
    bulk_next<S::PLACES>(way.sums);
    bulk_next<2>(way.slopes);
}

/* A step of queries from number query0 on. */
template <typename T, typename S>
GPU_FN void bulk_step(const struct bulk_work<S> &work, u32 tile, struct bulk_way &way, i32 query0,
                      struct mma_tile (&sums)[S::DIM / 16], struct mma_tile (&sums_v)[S::DIM / 16]) {
    const struct gpu_attention &p = work.p.all.a;
    const struct bulk_seat &seat = work.block.tiles[tile].seats[group_number()];
    const u32 stage = way.queries.stage;
    const u8 *q = bulk_queries(work, OWN, stage), *gradient = bulk_queries(work, OTHER, stage);
    struct mma_tile s[1][COLUMNS], g[1][COLUMNS], sums_q[S::PART / 16];
    struct mma_fragment x[COLUMNS];
    const struct backward_scores<1, COLUMNS> scores = {work.block.pairs + stage * STEP, gpu_wave() * 16, s, g};
    bulk_sync(TURN + group_number(), 2 * GROUP);
    bulk_score<T, S::DIM>(s[0], bulk_keys(work, OWN, group_number()), q);
    if (way.behind) bulk_wait(&work.block.made[way.slopes.stage], way.slopes.phase);
    /* Of a tile's first step there is none behind, and nobody looks at this product. */
    bulk_gather<T>(work, way.slopes.stage, sums_q);
    bulk_pass(TURN + (group_number() ^ 1), 2 * GROUP);
    group_wait<1>();
    group_hold(s[0]);
    bulk_leave(work, way);
    if (query0 < seat.free || query0 + STEP > seat.bound) bulk_hide(p, work.block.tiles[tile].at, query0, s[0]);
    backward_weigh<true>((f32)p.scale * 1.4426950408889634f, scores);
    group_wait<0>();
    group_hold(sums_q);
    if (way.behind) bulk_hand(work, way, sums_q);
    bulk_score<T, S::DIM>(g[0], bulk_keys(work, OTHER, group_number()), gradient);
    attention_pack<T>(x, s[0]);
    bulk_add<T>(sums_v, x, gradient);
    group_wait<1>();
    group_hold(g[0]);
    backward_slope<true>(seat.power, false, scores);
    group_wait<0>();
    attention_pack<T>(x, g[0]);
    bulk_share(work, way, x);
    bulk_add<T>(sums, x, q);
    way.behind = way.late = true;
    way.before = stage;
}

/* All steps of a tile, the last queries first. */
template <typename T, typename S>
GPU_FN void bulk_go(const struct bulk_work<S> &work, u32 tile, struct bulk_way &way,
                    struct mma_tile (&sums)[S::DIM / 16], struct mma_tile (&sums_v)[S::DIM / 16]) {
    const struct backward_place &at = work.block.tiles[tile].at;
    const i32 begin = (i32)at.begin;
    GPU_NO_UNROLL for (i32 n = (i32)bulk_steps(at) - 1; n >= 0; n--)
        GPU_NO_UNROLL for (u32 member = 0; member < work.p.all.a.group; member++) {
            bulk_wait(&work.block.full[way.queries.stage], way.queries.phase);
            bulk_step<T>(work, tile, way, begin + n * STEP, sums, sums_v);
            bulk_next<S::STAGES>(way.queries);
        }
    struct mma_tile sums_q[S::PART / 16];
    group_wait<0>();
    group_hold(sums);
    group_hold(sums_v);
    if (way.behind) bulk_wait(&work.block.made[way.slopes.stage], way.slopes.phase);
    bulk_gather<T>(work, way.slopes.stage, sums_q);
    group_wait<0>();
    group_hold(sums_q);
    if (way.behind) bulk_hand(work, way, sums_q);
    way.behind = false;
    bulk_leave(work, way);
}

/* ---- results ---- */

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

/* What lines need that are summed again, in LDS. */
struct bulk_notes {
    u32 odd[64 + 1];
    f32 weights[GROUP];
};

/* Writes the gradients of the group's keys. */
template <typename T, typename S>
GPU_FN void bulk_end(const struct bulk_work<S> &work, u32 tile, const struct bulk_way &way,
                     const struct mma_tile (&sums)[S::DIM / 16], const struct mma_tile (&sums_v)[S::DIM / 16]) {
    const struct gpu_attention_backward &p = work.p.all;
    struct backward_place &at = work.block.tiles[tile].at;
    const u32 group = group_number(), thread = gpu_thread() % GROUP;
    /* The group's next dS comes there; nobody looks at the one before. */
    struct bulk_notes &notes = *(struct bulk_notes *)bulk_slopes(work, way.slopes.stage, group);
    f32 up = (f32)(1u << backward_shift<T>::value), power = work.block.tiles[tile].seats[group].power;
    const struct backward_target target = {(u16 *)p.out, (u32)p.a.depth, (f32)p.a.scale / (power * up)};
    const struct backward_target target_v = {(u16 *)p.out_v, (u32)p.a.width, 1.0f / up};
    bulk_wait(&work.block.used[way.slopes.stage], way.slopes.phase ^ 1);
    if (thread < 64) notes.odd[thread] = 0;
    gpu_sync_part<GROUP>();
    bulk_store<T, true>(p, at, target, sums, notes.odd);
    bulk_store<T, true>(p, at, target_v, sums_v, notes.odd);
    if (backward_is_odd<64, GROUP>(notes.odd)) {
        if (thread == 0) backward_operands(p, at); /* all groups write the same */
        gpu_sync_part<GROUP>();
        backward_mend<T, true, 64, GROUP, true>(p, at, group * 64, notes.odd, notes.weights);
    }
    gpu_sync_part<GROUP>();
}

template <typename T, typename S> GPU_FN void bulk_gradient(const struct bulk_work<S> &work) {
    struct bulk_way way = {{0, 0}, {0, 0}, {0, 0}, false, false, 0};
    if (group_number() == 1) bulk_pass(TURN, 2 * GROUP);
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0}, keys = {0, 0};; bulk_next<2>(tile), bulk_next<1>(keys)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        bulk_wait(&work.block.keys, keys.phase);
        struct mma_tile sums[S::DIM / 16], sums_v[S::DIM / 16];
        GPU_UNROLL for (u32 c = 0; c < S::DIM / 16; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            sums[c].v[e] = sums_v[c].v[e] = 0;
        bulk_go<T>(work, tile.stage, way, sums, sums_v);
        if (gpu_lane() == 0) bulk_arrive(&work.block.done);
        bulk_end<T>(work, tile.stage, way, sums, sums_v);
        bulk_show();
        group_sync_wave();
        if (gpu_lane() == 0) bulk_arrive(&work.block.left[tile.stage]);
    }
}

template <typename S> GPU_FN void bulk_begin(struct bulk_block<S> &block) {
    for (u32 i = 0; i < S::STAGES; i++) {
        bulk_barrier_begin(&block.full[i], 1);
        bulk_barrier_begin(&block.empty[i], S::WAVES);
    }
    for (u32 i = 0; i < S::PLACES; i++) {
        bulk_barrier_begin(&block.summed[i], S::WAVES);
        bulk_barrier_begin(&block.taken[i], 1);
    }
    for (u32 i = 0; i < 2; i++) {
        bulk_barrier_begin(&block.known[i], 1);
        bulk_barrier_begin(&block.left[i], S::WAVES + S::SERVERS);
        bulk_barrier_begin(&block.made[i], S::WAVES);
        bulk_barrier_begin(&block.used[i], S::WAVES);
    }
    bulk_barrier_begin(&block.near, 1);
    bulk_barrier_begin(&block.keys, 1);
    bulk_barrier_begin(&block.done, S::WAVES);
    bulk_barriers_publish();
}

/* Of a wave of the last group one thread works, as lanes would wait for each other. */
template <typename T, typename S> GPU_FN void backward_bulk(const struct gpu_attention_backward_bulk &p) {
    enum { MANY = 240, FEW = 24 }; /* registers of the groups' threads, and of the others */
    GPU_SHARED struct bulk_block<S> block;
    const struct bulk_work<S> work = {p, block, (u8 *)attention_shared};
    if (gpu_thread() == 0) bulk_begin(block);
    gpu_sync();
    if (group_number() == S::GROUPS) {
        const u32 server = gpu_thread() - S::GROUPS * GROUP;
        group_give_registers<FEW>();
        if (server == 0)
            bulk_fill(work);
        else if (server == GPU_WAVE)
            bulk_seek(work);
        else if (server >= 2 * GPU_WAVE && server % GPU_WAVE == 0)
            bulk_serve(work, server / GPU_WAVE - 2);
    } else {
        group_take_registers<MANY>();
        bulk_gradient<T>(work);
    }
}

/* ---- the gradient of q from its sums ---- */

/* A block has 64 queries, a thread what one of a group had. */
template <typename T, typename S> GPU_FN void backward_round(const struct gpu_attention_backward_bulk &p) {
    GPU_SHARED struct backward_place at;
    GPU_SHARED struct bulk_notes notes;
    const struct gpu_attention_backward &all = p.all;
    if (gpu_thread() == 0) backward_locate_at<i32>(all, at, STEP, gpu_block_x());
    if (gpu_thread() < 64) notes.odd[gpu_thread()] = 0;
    gpu_sync();
    if (at.row0 >= at.rows) return;
    const bool packed = all.a.q_starts != NULL;
    const u32 batch = packed ? 0 : (u32)at.batch, first = packed ? (u32)at.query0 / 64 + (u32)at.batch : 0;
    const u32 step = (batch * all.a.heads + (u32)at.head) * (p.pair_rows / STEP) + first + (u32)at.row0 / STEP;
    const f32 power = backward_power<T>(all, at.batch, at.key_head);
    const struct backward_target target = {(u16 *)all.out, (u32)all.a.depth,
                                           (f32)all.a.scale / (power * (f32)(1u << backward_shift<T>::value))};
    const f32 *from = (const f32 *)p.sums + (u64)step * (S::SUMS / 4) + gpu_thread() * 4;
    struct mma_tile sums[S::WIDE / 16];
    const bool any = p.notes[step] != 0;
    GPU_UNROLL for (u32 n = 0; n < S::WIDE / 8; n++) {
        gpu_vec<f32> x = {{0, 0, 0, 0}};
        if (any) x = gpu_load16(from + n * (GROUP * 4));
        GPU_UNROLL for (u32 e = 0; e < 4; e++) sums[n / 2].v[n % 2 * 4 + e] = x.v[e];
    }
    bulk_store<T, false>(all, at, target, sums, notes.odd);
    if (!backward_is_odd<64, GROUP>(notes.odd)) return;
    if (gpu_thread() == 0) backward_operands(all, at);
    gpu_sync();
    backward_mend<T, false, 64, GROUP, true>(all, at, 0, notes.odd, notes.weights);
}

#define BACKWARD_BULK(type, dim)                                                                                       \
    BULK_KERNEL(attention_backward_bulk_##dim##_##type, struct gpu_attention_backward_bulk, GPU_BACKWARD_BULK_THREADS) { \
        backward_bulk<type, struct bulk_shape<dim>>(p);                                                                \
    }
#define BACKWARD_ROUND(type, dim)                                                                                      \
    GPU_KERNEL_OF(attention_backward_bulk_q_##dim##_##type, struct gpu_attention_backward_bulk, GROUP, 1) {            \
        backward_round<type, struct bulk_shape<dim>>(p);                                                               \
    }
#define BACKWARD_PAIRS(type)                                                                                           \
    GPU_KERNEL(attention_pairs_##type, struct gpu_attention_backward_bulk) { attention_pairs<type>(p); }
#else
/* The host asks for these only where they are. */
#define BACKWARD_BULK(type, dim)                                                                                       \
    GPU_KERNEL(attention_backward_bulk_##dim##_##type, struct gpu_attention_backward_bulk) { (void)p; }
#define BACKWARD_ROUND(type, dim)                                                                                      \
    GPU_KERNEL(attention_backward_bulk_q_##dim##_##type, struct gpu_attention_backward_bulk) { (void)p; }
#define BACKWARD_PAIRS(type)                                                                                           \
    GPU_KERNEL(attention_pairs_##type, struct gpu_attention_backward_bulk) { (void)p; }
#endif

#define BACKWARD_BULKS(type)                                                                                           \
    BACKWARD_BULK(type, 64)                                                                                            \
    BACKWARD_BULK(type, 96)                                                                                            \
    BACKWARD_BULK(type, 128)                                                                                           \
    BACKWARD_ROUND(type, 64)                                                                                           \
    BACKWARD_ROUND(type, 128) BACKWARD_PAIRS(type)
BACKWARD_BULKS(bf16)
BACKWARD_BULKS(f16)
