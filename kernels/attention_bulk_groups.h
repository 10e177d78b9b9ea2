/* The groups of attention_bulk.hip and attention_bulk_mask.hip: what happens to a tile but for its steps, for which each
 * has a bulk_run of its own. */
#ifndef WICK_KERNELS_ATTENTION_BULK_GROUPS_H
#define WICK_KERNELS_ATTENTION_BULK_GROUPS_H

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
/* A tile whose results leave by a bulk copy is left when that has read LDS, which is waited for at the next tile's end:
 * leaves the one that is `owed`, if it is below TILES, and owes `next`. */
template <typename S> GPU_FN void bulk_owe(const struct bulk_work<S> &work, u32 &owed, u32 next) {
    if (owed < S::TILES && gpu_lane() == 0) {
        if (next < S::TILES)
            bulk_put_wait<1>();
        else
            bulk_put_wait<0>();
        bulk_arrive(&work.block.left[owed]);
    }
    owed = next;
}

/* Asks for the copy of this wave's results, which are in LDS. */
template <typename S> GPU_FN void bulk_put_results(const struct bulk_work<S> &work, u32 tile, const u8 *q) {
    const struct attention_place &at = work.block.at[tile];
    u32 first = gpu_wave() % 4 * 16;
    i32 row = (i32)(at.row0 + work.group * 64 + first);
    bulk_show();
    group_sync_wave();
    if (gpu_lane() != 0) return;
    GPU_UNROLL for (i32 c = 0; c < S::WIDE; c += 64)
        bulk_put(work.all.out, {c, row, (i32)at.unit, (i32)at.batch}, q + first * GROUP_LINE + c / 64 * GROUP_BLOCK);
}

/* Stores the results of a tile, and leaves its seat. */
template <typename T, typename S>
GPU_FN void bulk_end(const struct bulk_work<S> &work, struct bulk_seat &seat, struct attention_sums<1, S::DIM / 16> &sums,
                     u32 tile, u32 &owed) {
    u8 *q = bulk_queries(work, tile);
    const struct attention_row *rows = seat.rows + gpu_wave() % 4 * 16;
    bool hides = seat.free.begin > 0 || seat.free.end % STEP != 0 || seat.free.end < seat.keys;
    if (S::MORE) hides |= work.p.masked != GPU_ATTENTION_FREE;
    bool put = S::TILES > 2 && work.all.put;
    u32 again = group_store<T, S::DIM>(work.p, rows, sums, hides, q, put);
    if (put) bulk_put_results(work, tile, q);
    if (hides) {
        if (again) seat.any = 1;
        gpu_sync_part<GROUP>();
        if (seat.any) {
            if (put && gpu_lane() == 0) bulk_put_end();
            gpu_sync_part<GROUP>();
            attention_repair<T, 64, GROUP>(work.p, work.block.at[tile], seat.rows, sums, again, (f32 *)q);
            bulk_show();
        }
    }
    if (put)
        bulk_owe(work, owed, tile);
    else
        bulk_stand(work, tile);
}

/* A group's tile, the steps of keys and of values that come next, and the tile that it owes. */
struct bulk_way {
    struct bulk_ring tile, keys, values;
    u32 owed;
};

/* Tiles one after the other, from the one at way.tile on, whose rows see keys, to one whose rows see none, or the end. */
template <typename T, typename S> GPU_FN void bulk_run(const struct bulk_work<S> &work, struct bulk_way &way);

/* All tiles of the block. */
template <typename T, typename S> GPU_FN void bulk_attend(const struct bulk_work<S> &work) {
    struct bulk_way way = {{0, 0}, {0, 0}, {0, 0}, S::TILES};
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
            bulk_owe(work, way.owed, S::TILES);
            bulk_next<S::TILES>(way.tile);
        }
    }
    if (S::TILES > 2 && gpu_lane() == 0) bulk_put_end();
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

/* Waves ask for the parameters, a line each, so that the thread that finds the first tile doesn't wait for them in turn. */
GPU_FN void bulk_warm(const struct gpu_attention_bulk &p) {
    const u8 *from = (const u8 *)&p.a, *end = (const u8 *)(&p + 1);
    GPU_NO_UNROLL for (from += gpu_wave() * 64; from < end; from += gpu_threads() * 2)
        asm volatile("" ::"r"(*(const u32 *)from));
}

/* MANY, FEW: registers of the groups' threads, and of the others. */
template <typename T, typename S, int MANY, int FEW> GPU_FN void attention_bulk(const struct gpu_attention_bulk &p) {
    GPU_SHARED struct bulk_block<S> block;
    u32 group = group_number(), other = gpu_wave() - S::GROUPS * 4;
    const struct bulk_work<S> work = {p.a, block, (u8 *)attention_shared, group, p};
    if (gpu_thread() == 0) bulk_begin_block(block);
    bulk_warm(p);
    /* What needs nothing of the kernel ahead is done before it has ended. */
    if (p.a.q_starts) {
        gpu_wait();
        if (p.a.first == 0 && gpu_block_x() == 0) attention_check_starts(p.a);
    }
    gpu_sync();
    if (group == S::GROUPS) {
        if (other == 1) bulk_find_first(p, block);
        group_give_registers<FEW>();
        if (other >= 2)
            bulk_help(p, work);
        else if (other == 1)
            bulk_scout(p, work);
        else if (gpu_lane() == 0)
            bulk_fill(p, work);
    } else {
        group_take_registers<MANY>();
        gpu_wait();
        bulk_attend<T>(work);
    }
}
#endif

#endif
