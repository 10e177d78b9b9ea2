/* Scaled dot product attention of bf16 and f16 by the matrix instructions of groups of waves, for which one thread asks
 * for bulk copies of keys and values (mma_bulk.h; after Shah and others, "FlashAttention-3"). q, k and v as in
 * attention_mma.hip; k and v have maps, and scores have nothing but a scale above 0 and keys that a row may not see.
 *
 * A block stays on its unit and makes tile after tile of 64 queries a group. A group makes weights of the scores of a step
 * while its products of the values of the step before run; behind a tile's last step comes the next tile's first. Groups
 * take turns to ask for products, so that the matrix units work on one group's while the others make weights. Of the waves
 * that do not multiply, one thread asks for copies, and the other waves get the next tile's rows and queries. */
#include "attention_bulk.h"
#include "attention_group.h"
#include "mma_bulk.h"

#if MMA_BULK
enum { STEP = GPU_ATTENTION_BULK_KEYS, HELPERS = 3 * GPU_WAVE };
enum bulk_kind { KEYS, VALUES };
/* Barriers by number: the helpers', and from TURN on that of each group's turn to ask for products. */
enum { HELP = 1, TURN = 2 };

template <int DIM> struct bulk_shape {
    enum {
        WIDE = attention_wide<DIM>::value,
        GROUPS = GPU_ATTENTION_BULK_GROUPS(DIM),
        STAGES = GPU_ATTENTION_BULK_STAGES(DIM),
        ROWS = GPU_ATTENTION_BULK_ROWS(DIM),
        SIZE = STEP * WIDE * 2,    /* bytes of a step of keys or of values */
        QUERIES = ROWS * WIDE * 2, /* and of a tile's queries */
        PIECES = WIDE / 8
    };
};

/* What a group needs to know of a tile. */
struct bulk_seat {
    struct attention_row rows[64];
    struct attention_free free;
    i64 begin;      /* the tile's first key */
    u32 keys, mine; /* how many it has; their steps in which a row of the group sees any */
    u32 any;        /* a row is to be summed again */
    u32 end;        /* there is no such tile: the block is done */
};

/* What is in LDS beside queries, keys and values, of two tiles: the groups' and the one whose rows and queries come. */
template <int DIM> struct bulk_block {
    u64 full[2][bulk_shape<DIM>::STAGES], empty[2][bulk_shape<DIM>::STAGES]; /* barriers: steps by kind */
    u64 known[2], taken[2], left[2]; /* and tiles: their place is there, rows and queries too, groups are done */
    struct bulk_seat seats[2][bulk_shape<DIM>::GROUPS];
    struct attention_place at[2], next; /* of the two, and of the tile behind them */
    u32 over[2], x;                     /* there is no such tile; the number of the one behind them */
};

/* What all of a thread's functions need; `group` is the thread's. */
template <int DIM> struct bulk_work {
    const struct gpu_attention &p;
    struct bulk_block<DIM> &block;
    u8 *lds; /* queries of two tiles, steps of keys, steps of values */
    u32 group;
};
template <int DIM> GPU_FN u8 *bulk_queries(const struct bulk_work<DIM> &work, u32 tile) {
    return work.lds + tile * bulk_shape<DIM>::QUERIES + work.group * (bulk_shape<DIM>::WIDE * 128);
}
template <int DIM> GPU_FN u8 *bulk_step(const struct bulk_work<DIM> &work, enum bulk_kind kind, u32 stage) {
    typedef bulk_shape<DIM> shape;
    return work.lds + 2 * shape::QUERIES + (kind * shape::STAGES + stage) * shape::SIZE;
}

/* Steps of so many keys; those of a tile in which no row of the group sees any. */
GPU_FN u32 bulk_steps(u32 keys) { return (keys + STEP - 1) / STEP; }
GPU_FN u32 bulk_rest(const struct bulk_seat &seat) { return bulk_steps(seat.keys) - seat.mine; }

/* ---- the thread that asks for copies ---- */

/* Asks for a step of keys or values, in boxes of LINES. `from`: position, head and batch of the first. */
template <int DIM, int LINES>
GPU_FN void bulk_ask(const struct bulk_work<DIM> &work, const struct gpu_tensor_map &map, enum bulk_kind kind,
                     struct bulk_ring ring, const i32 (&from)[3]) {
    typedef bulk_shape<DIM> shape;
    u8 *to = bulk_step(work, kind, ring.stage);
    u64 *full = &work.block.full[kind][ring.stage];
    bulk_wait(&work.block.empty[kind][ring.stage], ring.phase);
    bulk_expect(full, shape::SIZE);
    GPU_UNROLL for (i32 r = 0; r < STEP; r += LINES) GPU_UNROLL for (i32 c = 0; c < shape::WIDE; c += 64) {
        bulk_copy(to, map, {c, from[0] + r, from[1], from[2]}, full);
        to += LINES * GROUP_LINE;
    }
}

/* Asks for all steps of the block's tiles, as soon as their place is known and LDS has room. */
template <int DIM> GPU_FN void bulk_fill(const struct gpu_attention_bulk &p, const struct bulk_work<DIM> &work) {
    typedef bulk_shape<DIM> shape;
    struct bulk_ring ring = {0, 1};
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0};; bulk_next<2>(tile)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        const struct attention_place &at = work.block.at[tile.stage];
        i32 from[3] = {(i32)at.begin, (i32)(p.a.merged ? at.unit : at.unit / p.a.group), (i32)at.batch};
        if (p.a.q_starts) {
            from[0] += (i32)attention_start(p.a.k_starts, p.a.start_stride[1], at.batch, p.a.keys);
            from[2] = 0;
        }
        GPU_NO_UNROLL for (u32 left = bulk_steps((u32)(at.end - at.begin)); left > 0; left--, from[0] += STEP) {
            bulk_ask<DIM, STEP>(work, p.k, KEYS, ring, from);
            bulk_ask<DIM, 64>(work, p.v, VALUES, ring, from);
            bulk_next<shape::STAGES>(ring);
        }
    }
}

/* ---- the waves that get queries and rows ---- */

/* x, but not below 0 nor above `most`. */
GPU_FN u32 bulk_clamp(i64 x, u32 most) { return x < 0 ? 0 : x < most ? (u32)x : most; }

/* What group `group` needs to know of the tile. */
GPU_FN void bulk_sit(const struct gpu_attention &p, struct bulk_seat &seat, const struct attention_place &at, u32 group) {
    u32 keys = (u32)(at.end - at.begin);
    i32 low = (i32)(at.low - at.begin), high = (i32)(at.high - at.begin); /* of the group's rows */
    if (!p.merged) { /* they are of one head */
        low += (i32)group * 64;
        if (low + 63 < high) high = low + 63;
    }
    seat.begin = at.begin;
    seat.keys = keys;
    seat.mine = low > high ? 0 : bulk_steps(bulk_clamp(high + p.right + 1, keys));
    seat.free.begin = bulk_clamp(high - p.left, keys);
    seat.free.end = bulk_clamp(low + p.right + 1, keys);
    seat.any = 0;
}

/* The number of the next tile that no block has. In the end every block draws one that is not there, so that the last
 * draw is known, after which counting starts anew. */
GPU_FN u32 bulk_draw(const struct gpu_attention_bulk &p) {
    u32 taken = gpu_atomic_add(p.tickets + gpu_block_y(), 1);
    if (taken + 1 == p.blocks) p.tickets[gpu_block_y()] = 0;
    return gpu_blocks_x() + taken;
}

/* Finds the place of tile x, or of the next one that no block has and that has rows; its number. */
GPU_FN u32 bulk_find(const struct gpu_attention_bulk &p, struct attention_place &at, u32 x, u32 rows) {
    GPU_NO_UNROLL while (x < p.blocks) {
        attention_locate_at<true>(p.a, at, rows, x);
        if (at.row0 < at.rows) break;
        x = bulk_draw(p);
    }
    return x;
}

/* Rows and queries of a tile, whose place is there. */
template <int DIM> GPU_FN void bulk_settle(const struct bulk_work<DIM> &work, u32 thread, u32 tile) {
    typedef bulk_shape<DIM> shape;
    const struct gpu_attention &p = work.p;
    struct bulk_seat *seats = work.block.seats[tile];
    mma_lds to = mma_lds_of(work.lds + tile * shape::QUERIES);
    const struct attention_place &at = work.block.at[tile];
    GPU_NO_UNROLL for (u32 r = thread; r < shape::ROWS; r += HELPERS)
        seats[r / 64].rows[r % 64] = attention_row_of<true>(p, at, r);
    if (thread < shape::GROUPS) bulk_sit(p, seats[thread], at, thread);
    bulk_sync(HELP, HELPERS);
    GPU_NO_UNROLL for (u32 u = thread; u < shape::ROWS * shape::PIECES; u += HELPERS) {
        u32 r = u / shape::PIECES, piece = u % shape::PIECES;
        const struct attention_row &row = seats[r / 64].rows[r % 64];
        i32 left = row.out >= 0 ? (i32)p.depth - (i32)piece * 8 : 0;
        u32 n = left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
        const u16 *from = (const u16 *)p.q + (n ? row.q + piece * 8 : 0);
        mma_copy16_at(to + attention_piece<shape::WIDE, 64>(r, piece), from, n);
    }
    mma_copy_commit();
    mma_copy_wait<0>();
    group_publish();
}

/* Gets tile after tile ready while groups work on the one before. */
template <int DIM> GPU_FN void bulk_help(const struct gpu_attention_bulk &p, const struct bulk_work<DIM> &work) {
    typedef bulk_shape<DIM> shape;
    struct bulk_block<DIM> &block = work.block;
    u32 thread = gpu_thread() - (shape::GROUPS * GROUP + GPU_WAVE);
    if (thread == 0) block.x = bulk_find(p, block.next, gpu_block_x(), shape::ROWS);
    GPU_NO_UNROLL for (struct bulk_ring ring = {0, 1};; bulk_next<2>(ring)) {
        bulk_wait(&block.left[ring.stage], ring.phase);
        bulk_sync(HELP, HELPERS);
        bool over = block.x >= p.blocks;
        static_assert(sizeof block.next / 4 <= HELPERS, "a word a thread");
        if (thread < sizeof block.next / 4) ((u32 *)&block.at[ring.stage])[thread] = ((const u32 *)&block.next)[thread];
        if (thread < shape::GROUPS) {
            block.seats[ring.stage][thread].end = over;
            block.seats[ring.stage][thread].mine = 0;
        }
        if (thread == 0) block.over[ring.stage] = over;
        bulk_sync(HELP, HELPERS);
        if (thread == 0) bulk_arrive(&block.known[ring.stage]);
        if (!over) bulk_settle(work, thread, ring.stage);
        group_sync_wave();
        if (gpu_lane() == 0) bulk_arrive(&block.taken[ring.stage]);
        if (over) return;
        if (thread == 0) block.x = bulk_find(p, block.next, bulk_draw(p), shape::ROWS);
    }
}

/* ---- weights ---- */

/* Of a lane's two rows: what weights are relative to, and their sums. */
struct bulk_running {
    f32 most[2], total[2];
};
GPU_FN void bulk_begin(struct bulk_running &now) {
    now.most[0] = now.most[1] = attention_lowest(0.0f);
    now.total[0] = now.total[1] = 0;
}

/* The tile's, when its last step is through. */
template <int STEPS> GPU_FN void bulk_keep(struct attention_sums<1, STEPS> &sums, const struct bulk_running &now) {
    GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        sums.most[0][half] = now.most[half];
        sums.total[0][half] = now.total[half];
    }
}

/* Makes weights of a step of keys from number `key` of the tile's on; whether a maximum has moved. */
GPU_FN bool bulk_rate(const struct gpu_attention &p, const struct bulk_seat &seat, u32 key,
                      struct mma_tile (&s)[STEP / 16], struct bulk_running &now, f32 (&fade)[2]) {
    if (key < seat.free.begin || key + STEP > seat.free.end)
        group_hide(p, s, seat.rows + gpu_wave() % 4 * 16, seat.begin + key, seat.keys - key);
    return group_weigh(s, now.most, now.total, (f32)p.scale * 1.4426950408889634f, fade);
}

/* Waits for products of values, and multiplies what was summed if a maximum of the wave's rows has moved. The wait stands
 * in both branches of a vote on what was last computed of weights: else the compiler puts it in front of them. */
template <int STEPS>
GPU_FN void bulk_follow(struct mma_tile (&out)[STEPS], const struct bulk_running &now, bool moved,
                        const f32 (&fade)[2]) {
    if (gpu_ballot(moved || !(now.total[0] + now.total[1] >= 0))) {
        group_wait<0>();
        group_hold(out);
        GPU_UNROLL for (int c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            out[c].v[e] *= fade[attention_half(e)];
    } else {
        group_wait<0>();
        group_hold(out);
    }
}

/* ---- results ---- */

/* Writes the results of a group whose rows see no key. */
template <typename T> GPU_FN void bulk_store_none(const struct gpu_attention &p, const struct bulk_seat &seat) {
    GPU_NO_UNROLL for (u32 r = gpu_wave() % 4; r < 64; r += 4) {
        i64 row = seat.rows[r].out, part = row + (i64)gpu_block_y() * p.total;
        if (row < 0) continue;
        if (gpu_lane() == 0) {
            if (p.splits > 1) {
                ((f32 *)p.stats)[part * 2] = attention_lowest(0.0f);
                ((f32 *)p.stats)[part * 2 + 1] = 0;
            } else if (p.log_sums) {
                ((f32 *)p.log_sums)[row] = attention_lowest(0.0f);
            }
        }
        GPU_NO_UNROLL for (u32 c = gpu_lane(); c < p.width; c += GPU_WAVE) {
            if (p.splits > 1)
                ((f32 *)p.partial)[part * p.width + c] = 0;
            else
                ((u16 *)p.out)[row * p.width + c] = 0;
        }
    }
}

/* ---- the groups that multiply ---- */

/* Waits for a step's keys or values; this wave has no more use for them. */
template <int DIM>
GPU_FN void bulk_meet(const struct bulk_work<DIM> &work, enum bulk_kind kind, const struct bulk_ring &ring) {
    bulk_wait(&work.block.full[kind][ring.stage], ring.phase);
}
template <int DIM> GPU_FN void bulk_leave(const struct bulk_work<DIM> &work, enum bulk_kind kind, struct bulk_ring &ring) {
    if (gpu_lane() == 0) bulk_arrive(&work.block.empty[kind][ring.stage]);
    bulk_next<bulk_shape<DIM>::STAGES>(ring);
}
/* Waits for this group's turn; gives the turn to the next one. */
template <int DIM> GPU_FN void bulk_turn(const struct bulk_work<DIM> &work) { bulk_sync(TURN + work.group, 2 * GROUP); }
template <int DIM> GPU_FN void bulk_give_turn(const struct bulk_work<DIM> &work) {
    bulk_pass(TURN + (work.group + 1 == bulk_shape<DIM>::GROUPS ? 0 : work.group + 1), 2 * GROUP);
}
/* Steps of keys, or of values, that other groups have more. */
template <int DIM> GPU_FN void bulk_skip_keys(const struct bulk_work<DIM> &work, struct bulk_ring &ring, u32 steps) {
    GPU_NO_UNROLL for (; steps > 0; steps--) {
        bulk_turn(work);
        bulk_give_turn(work);
        bulk_meet(work, KEYS, ring);
        bulk_leave(work, KEYS, ring);
    }
}
template <int DIM> GPU_FN void bulk_skip_values(const struct bulk_work<DIM> &work, struct bulk_ring &ring, u32 steps) {
    GPU_NO_UNROLL for (; steps > 0; steps--) {
        bulk_meet(work, VALUES, ring);
        bulk_leave(work, VALUES, ring);
    }
}

/* Waits for a tile; this wave is done with it. */
template <int DIM> GPU_FN struct bulk_seat &bulk_take(const struct bulk_work<DIM> &work, const struct bulk_ring &tile) {
    bulk_wait(&work.block.taken[tile.stage], tile.phase);
    return work.block.seats[tile.stage][work.group];
}
template <int DIM> GPU_FN void bulk_stand(const struct bulk_work<DIM> &work, u32 tile) {
    group_sync_wave();
    if (gpu_lane() == 0) bulk_arrive(&work.block.left[tile]);
}

/* Stores the results of a tile, and leaves its seat. */
template <typename T, int DIM>
GPU_FN void bulk_end(const struct bulk_work<DIM> &work, struct bulk_seat &seat, struct attention_sums<1, DIM / 16> &sums,
                     u32 tile) {
    u8 *q = bulk_queries(work, tile);
    bool hides = seat.free.begin > 0 || seat.free.end % STEP != 0 || seat.free.end < seat.keys;
    u32 again = group_store<T, DIM>(work.p, seat.rows + gpu_wave() % 4 * 16, sums, hides, q);
    if (hides) {
        if (again) seat.any = 1;
        gpu_sync_part<GROUP>();
        if (seat.any) attention_repair<T, 64, GROUP>(work.p, work.block.at[tile], seat.rows, sums, again, (f32 *)q);
    }
    bulk_stand(work, tile);
}

/* A group's tile, and the steps of keys and of values that come next. */
struct bulk_way {
    struct bulk_ring tile, keys, values;
};

/* Makes weights of a tile's first step. */
template <typename T, int DIM>
GPU_FN void bulk_first(const struct bulk_work<DIM> &work, struct bulk_way &way, struct mma_tile (&s)[STEP / 16],
                       struct bulk_running &now) {
    f32 fade[2];
    bulk_meet(work, KEYS, way.keys);
    bulk_turn(work);
    group_begin();
    attention_score_keys<T, DIM, STEP>(s, bulk_queries(work, way.tile.stage), bulk_step(work, KEYS, way.keys.stage));
    bulk_give_turn(work);
    group_wait<0>();
    group_hold(s);
    bulk_leave(work, KEYS, way.keys);
    bulk_begin(now);
    bulk_rate(work.p, work.block.seats[way.tile.stage][work.group], 0, s, now, fade);
}

/* Tiles one after the other, from the one at way.tile on, whose rows see keys, to one whose rows see none, or the end. A
 * step multiplies the keys of the next step and the values of this one. */
template <typename T, int DIM> GPU_FN void bulk_run(const struct bulk_work<DIM> &work, struct bulk_way &way) {
    struct bulk_seat *seat = &work.block.seats[way.tile.stage][work.group], *next = seat;
    struct mma_tile all[1][STEP / 16], (&s)[STEP / 16] = all[0];
    struct mma_fragment x[STEP / 16];
    struct attention_sums<1, DIM / 16> sums;
    struct bulk_running now;
    f32 fade[2];
    mma_clear(all);
    mma_clear(sums.out);
    bulk_first<T>(work, way, s, now);
    attention_pack<T>(x, s);
    u32 step = 0;
    GPU_NO_UNROLL for (;;) {
        u32 tile = way.tile.stage;
        bool last = ++step == seat->mine, more = true;
        if (last) {
            bulk_skip_keys(work, way.keys, bulk_rest(*seat));
            bulk_next<2>(way.tile);
            next = &bulk_take(work, way.tile);
            more = next->mine > 0;
            step = 0;
        }
        if (more) bulk_meet(work, KEYS, way.keys);
        bulk_meet(work, VALUES, way.values);
        if (more) bulk_turn(work);
        /* Without a next step, products of keys are of what happens to be there, and nobody looks at them. */
        group_begin();
        attention_score_keys<T, DIM, STEP>(s, bulk_queries(work, way.tile.stage), bulk_step(work, KEYS, way.keys.stage));
        attention_add_values<T, DIM, STEP>(sums.out[0], x, bulk_step(work, VALUES, way.values.stage));
        if (more) bulk_give_turn(work);
        group_wait<1>();
        group_hold(s);
        if (more) bulk_leave(work, KEYS, way.keys);
        if (last) {
            bulk_keep(sums, now);
            bulk_begin(now);
        }
        bool moved = bulk_rate(work.p, *next, step * STEP, s, now, fade) && !last;
        if (last) fade[0] = fade[1] = 1;
        bulk_follow(sums.out[0], now, moved, fade);
        bulk_leave(work, VALUES, way.values);
        if (last) {
            bulk_skip_values(work, way.values, bulk_rest(*seat));
            bulk_end<T>(work, *seat, sums, tile);
            mma_clear(sums.out);
            if (!more) break;
            seat = next;
        }
        attention_pack<T>(x, s);
    }
}

/* All tiles of the block. */
template <typename T, int DIM> GPU_FN void bulk_attend(const struct bulk_work<DIM> &work) {
    struct bulk_way way = {{0, 0}, {0, 0}, {0, 0}};
    if (work.group == bulk_shape<DIM>::GROUPS - 1) bulk_give_turn(work);
    GPU_NO_UNROLL for (;;) {
        const struct bulk_seat &seat = bulk_take(work, way.tile);
        if (seat.end) break;
        if (seat.mine > 0) {
            bulk_run<T>(work, way);
        } else {
            GPU_NO_UNROLL for (u32 rest = bulk_rest(seat); rest > 0; rest--) {
                bulk_skip_keys(work, way.keys, 1);
                bulk_skip_values(work, way.values, 1);
            }
            bulk_store_none<T>(work.p, seat);
            bulk_stand(work, way.tile.stage);
            bulk_next<2>(way.tile);
        }
    }
}

/* MANY, FEW: registers of the groups' threads, and of the others. */
template <typename T, int DIM, int MANY, int FEW> GPU_FN void attention_bulk(const struct gpu_attention_bulk &p) {
    typedef bulk_shape<DIM> shape;
    GPU_SHARED struct bulk_block<DIM> block;
    u32 group = group_number();
    const struct bulk_work<DIM> work = {p.a, block, (u8 *)attention_shared, group};
    if (p.a.q_starts && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    if (gpu_thread() == 0) {
        for (u32 i = 0; i < 2 * shape::STAGES; i++) {
            bulk_barrier_begin(&block.full[0][0] + i, 1);
            bulk_barrier_begin(&block.empty[0][0] + i, shape::GROUPS * 4);
        }
        for (u32 i = 0; i < 2; i++) {
            bulk_barrier_begin(&block.known[i], 1);
            bulk_barrier_begin(&block.taken[i], HELPERS / GPU_WAVE);
            bulk_barrier_begin(&block.left[i], shape::GROUPS * 4);
        }
        bulk_barriers_publish();
    }
    gpu_sync();
    if (group == shape::GROUPS) {
        group_give_registers<FEW>();
        if (gpu_thread() >= shape::GROUPS * GROUP + GPU_WAVE)
            bulk_help(p, work);
        else if (gpu_thread() == shape::GROUPS * GROUP)
            bulk_fill(p, work);
    } else {
        group_take_registers<MANY>();
        bulk_attend<T>(work);
    }
}

#define ATTENTION_BULK(dim, type, many, few)                                                                           \
    BULK_KERNEL(attention_bulk_##dim##_##type, struct gpu_attention_bulk, GPU_ATTENTION_BULK_THREADS(dim)) {           \
        attention_bulk<type, dim, many, few>(p);                                                                       \
    }
#else
/* The host asks for these only where they are. */
#define ATTENTION_BULK(dim, type, many, few)                                                                           \
    GPU_KERNEL(attention_bulk_##dim##_##type, struct gpu_attention_bulk) { (void)p; }
#endif

#define ATTENTION_BULKS(type)                                                                                          \
    ATTENTION_BULK(64, type, 160, 32)                                                                                  \
    ATTENTION_BULK(96, type, 232, 40)                                                                                  \
    ATTENTION_BULK(128, type, 232, 40)
ATTENTION_BULKS(bf16)
ATTENTION_BULKS(f16)
