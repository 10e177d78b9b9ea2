/* Scaled dot product attention of bf16 and f16 by the matrix instructions of groups of waves, for which one thread asks
 * for bulk copies of keys and values (mma_bulk.h; after Shah and others, "FlashAttention-3"). q, k and v as in
 * attention_mma.hip; k and v have maps, and scores have nothing but a scale above 0 and keys that a row may not see.
 *
 * A block stays on its unit and makes tile after tile of 64 queries a group. A group makes weights of the scores of a step
 * while its products of the values of the step before run; behind a tile's last step comes the next tile's first. Groups
 * take turns to ask for products, so that the matrix units work on one group's while the others make weights. Of the waves
 * that do not multiply, one finds the next tile, one thread asks for copies, and two waves get the next tile's rows. */
#include "attention_bulk_tiles.h"

#if MMA_BULK
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
template <typename S>
GPU_FN void bulk_meet(const struct bulk_work<S> &work, enum bulk_kind kind, const struct bulk_ring &ring) {
    bulk_wait(&work.block.full[kind][ring.stage], ring.phase);
}
template <typename S> GPU_FN void bulk_leave(const struct bulk_work<S> &work, enum bulk_kind kind, struct bulk_ring &ring) {
    if (gpu_lane() == 0) bulk_arrive(&work.block.empty[kind][ring.stage]);
    bulk_next<S::STAGES>(ring);
}
/* Waits for this group's turn; gives the turn to the next one. */
template <typename S> GPU_FN void bulk_turn(const struct bulk_work<S> &work) { bulk_sync(TURN + work.group, 2 * GROUP); }
template <typename S> GPU_FN void bulk_give_turn(const struct bulk_work<S> &work) {
    bulk_pass(TURN + (work.group + 1 == S::GROUPS ? 0 : work.group + 1), 2 * GROUP);
}
/* Steps of keys, or of values, that other groups have more. */
template <typename S> GPU_FN void bulk_skip_keys(const struct bulk_work<S> &work, struct bulk_ring &ring, u32 steps) {
    GPU_NO_UNROLL for (; steps > 0; steps--) {
        bulk_turn(work);
        bulk_give_turn(work);
        bulk_meet(work, KEYS, ring);
        bulk_leave(work, KEYS, ring);
    }
}
template <typename S> GPU_FN void bulk_skip_values(const struct bulk_work<S> &work, struct bulk_ring &ring, u32 steps) {
    GPU_NO_UNROLL for (; steps > 0; steps--) {
        bulk_meet(work, VALUES, ring);
        bulk_leave(work, VALUES, ring);
    }
}

/* Waits for a tile; this wave is done with it. */
template <typename S> GPU_FN struct bulk_seat &bulk_take(const struct bulk_work<S> &work, const struct bulk_ring &tile) {
    bulk_wait(&work.block.taken[tile.stage], tile.phase);
    return work.block.seats[tile.stage][work.group];
}
template <typename S> GPU_FN void bulk_stand(const struct bulk_work<S> &work, u32 tile) {
    bulk_show(); /* copies of queries come where results were */
    group_sync_wave();
    if (gpu_lane() == 0) bulk_arrive(&work.block.left[tile]);
}

/* Stores the results of a tile, and leaves its seat. */
template <typename T, typename S>
GPU_FN void bulk_end(const struct bulk_work<S> &work, struct bulk_seat &seat, struct attention_sums<1, S::DIM / 16> &sums,
                     u32 tile) {
    u8 *q = bulk_queries(work, tile);
    bool hides = seat.free.begin > 0 || seat.free.end % STEP != 0 || seat.free.end < seat.keys;
    u32 again = group_store<T, S::DIM>(work.p, seat.rows + gpu_wave() % 4 * 16, sums, hides, q);
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
template <typename T, typename S>
GPU_FN void bulk_first(const struct bulk_work<S> &work, struct bulk_way &way, struct mma_tile (&s)[STEP / 16],
                       struct bulk_running &now) {
    f32 fade[2];
    bulk_meet(work, KEYS, way.keys);
    bulk_turn(work);
    group_begin();
    attention_score_keys<T, S::DIM, STEP>(s, bulk_queries(work, way.tile.stage), bulk_step(work, KEYS, way.keys.stage));
    bulk_give_turn(work);
    group_wait<0>();
    group_hold(s);
    bulk_leave(work, KEYS, way.keys);
    bulk_begin(now);
    bulk_rate(work.p, work.block.seats[way.tile.stage][work.group], 0, s, now, fade);
}

/* Tiles one after the other, from the one at way.tile on, whose rows see keys, to one whose rows see none, or the end. A
 * step multiplies the keys of the next step and the values of this one. */
template <typename T, typename S> GPU_FN void bulk_run(const struct bulk_work<S> &work, struct bulk_way &way) {
    struct bulk_seat *seat = &work.block.seats[way.tile.stage][work.group], *next = seat;
    struct mma_tile all[1][STEP / 16], (&s)[STEP / 16] = all[0];
    struct mma_fragment x[STEP / 16];
    struct attention_sums<1, S::DIM / 16> sums;
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
            bulk_next<S::TILES>(way.tile);
            next = &bulk_take(work, way.tile);
            more = next->mine > 0;
            step = 0;
        }
        if (more) bulk_meet(work, KEYS, way.keys);
        bulk_meet(work, VALUES, way.values);
        if (more) bulk_turn(work);
        /* Without a next step, products of keys are of what happens to be there, and nobody looks at them. */
        group_begin();
        attention_score_keys<T, S::DIM, STEP>(s, bulk_queries(work, way.tile.stage), bulk_step(work, KEYS, way.keys.stage));
        attention_add_values<T, S::DIM, STEP>(sums.out[0], x, bulk_step(work, VALUES, way.values.stage));
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
template <typename T, typename S> GPU_FN void bulk_attend(const struct bulk_work<S> &work) {
    struct bulk_way way = {{0, 0}, {0, 0}, {0, 0}};
    if (work.group == S::GROUPS - 1) bulk_give_turn(work);
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
            bulk_next<S::TILES>(way.tile);
        }
    }
}

template <typename S> GPU_FN void bulk_begin_block(struct bulk_block<S> &block) {
    for (u32 i = 0; i < 2 * S::STAGES; i++) {
        bulk_barrier_begin(&block.full[0][0] + i, 1);
        bulk_barrier_begin(&block.empty[0][0] + i, S::GROUPS * 4);
    }
    for (u32 i = 0; i < S::TILES; i++) {
        bulk_barrier_begin(&block.known[i], 1);
        bulk_barrier_begin(&block.taken[i], HELPERS / GPU_WAVE + 1);
        bulk_barrier_begin(&block.left[i], S::GROUPS * 4);
    }
    bulk_barrier_begin(&block.near, 1);
    bulk_barriers_publish();
}

/* MANY, FEW: registers of the groups' threads, and of the others. */
template <typename T, typename S, int MANY, int FEW> GPU_FN void attention_bulk(const struct gpu_attention_bulk &p) {
    GPU_SHARED struct bulk_block<S> block;
    u32 group = group_number(), other = gpu_wave() - S::GROUPS * 4;
    const struct bulk_work<S> work = {p.a, block, (u8 *)attention_shared, group};
    if (gpu_thread() == 0) bulk_begin_block(block);
    /* The first tile is known before the kernel ahead has ended, unless it is one of packed sequences. */
    if (p.a.q_starts) gpu_wait();
    if (other == 1 && gpu_lane() == 0) bulk_find(p, block, gpu_block_x());
    if (!p.a.q_starts) gpu_wait();
    if (p.a.q_starts && p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    gpu_sync();
    if (group == S::GROUPS) {
        group_give_registers<FEW>();
        if (other >= 2)
            bulk_help(p, work);
        else if (other == 1)
            bulk_scout(p, work);
        else if (gpu_lane() == 0)
            bulk_fill(p, work);
    } else {
        group_take_registers<MANY>();
        bulk_attend<T>(work);
    }
}

#define ATTENTION_BULK(dim, groups, type, many, few)                                                                   \
    BULK_KERNEL_AHEAD(attention_bulk_##dim##_##groups##_##type, struct gpu_attention_bulk,                             \
                      GPU_ATTENTION_BULK_THREADS(groups)) {                                                            \
        attention_bulk<type, struct bulk_shape<dim, groups>, many, few>(p);                                            \
    }
#else
/* The host asks for these only where they are. */
#define ATTENTION_BULK(dim, groups, type, many, few)                                                                   \
    GPU_KERNEL(attention_bulk_##dim##_##groups##_##type, struct gpu_attention_bulk) { (void)p; }
#endif

#define ATTENTION_BULKS(type)                                                                                          \
    ATTENTION_BULK(64, 2, type, 232, 40)                                                                               \
    ATTENTION_BULK(64, 3, type, 160, 32)                                                                               \
    ATTENTION_BULK(96, 2, type, 232, 40)                                                                               \
    ATTENTION_BULK(128, 2, type, 232, 40)
ATTENTION_BULKS(bf16)
ATTENTION_BULKS(f16)
