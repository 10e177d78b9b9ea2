/* Scaled dot product attention of bf16 and f16 by the matrix instructions of groups of waves, for which one thread asks
 * for bulk copies of keys and values (mma_bulk.h; after Shah and others, "FlashAttention-3"). q, k and v as in
 * attention_mma.hip; k and v have maps, and scores have nothing but a scale above 0 and keys that a row may not see.
 *
 * A block stays on its unit and makes tile after tile of 64 queries a group. A group makes weights of the scores of a step
 * while its products of the values of the step before run; behind a tile's last step comes the next tile's first. Groups
 * take turns to ask for products, so that the matrix units work on one group's while the others make weights. Of the waves
 * that do not multiply, one finds the next tile, one thread asks for copies, and two waves get the next tile's rows. */
#include "attention_bulk_groups.h"

#if MMA_BULK
/* Makes weights of a step of keys from number `key` of the tile's on; whether a maximum has moved. A step with few keys,
 * as short calls have, gets 0 for what is behind them. */
template <typename S>
GPU_FN bool bulk_rate(const struct gpu_attention &p, const struct bulk_seat &seat, u32 key,
                      struct mma_tile (&s)[STEP / 16], struct bulk_running &now, f32 (&fade)[2]) {
    enum { SOME = S::TILES > 2 ? 5 : STEP / 16 };
    f32 by = (f32)p.scale * 1.4426950408889634f;
    if (key < seat.free.begin || key + STEP > seat.free.end) {
        const struct attention_row *rows = seat.rows + gpu_wave() % 4 * 16;
        if (SOME < STEP / 16 && seat.keys - key <= SOME * 16) {
            auto &some = reinterpret_cast<struct mma_tile(&)[SOME]>(s);
            group_hide(p, some, rows, seat.begin + key, seat.keys - key);
            GPU_UNROLL for (int j = SOME; j < STEP / 16; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) s[j].v[e] = 0;
            return group_weigh(some, now.most, now.total, by, fade);
        }
        group_hide(p, s, rows, seat.begin + key, seat.keys - key);
    }
    return group_weigh(s, now.most, now.total, by, fade);
}

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
    bulk_rate<S>(work.p, work.block.seats[way.tile.stage][work.group], 0, s, now, fade);
}

/* A step multiplies the keys of the next step and the values of this one. */
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
        bool moved = bulk_rate<S>(work.p, *next, step * STEP, s, now, fade) && !last;
        if (last) fade[0] = fade[1] = 1;
        bulk_follow(sums.out[0], now, moved, fade);
        bulk_leave(work, VALUES, way.values);
        attention_pack<T>(x, s);
        if (last) {
            bulk_skip_values(work, way.values, bulk_rest(*seat));
            bulk_end<T>(work, *seat, sums, tile, way.owed);
            mma_clear(sums.out);
            if (!more) break;
            seat = next;
        }
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
