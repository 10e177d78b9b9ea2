/* The blocks of attention_backward_bulk.hip: what they have in LDS, and the threads that serve the groups that multiply. One
 * draws tiles, one asks for copies, and some bring the sums of queries to memory. */
#ifndef WICK_KERNELS_ATTENTION_BACKWARD_BULK_TILES_H
#define WICK_KERNELS_ATTENTION_BACKWARD_BULK_TILES_H

#include "attention_backward_bulk.h"
#include "attention_backward_tiles.h"
#include "attention_group.h"
#include "mma_bulk.h"

#if MMA_BULK
enum { STEP = GPU_BACKWARD_BULK_STEP, COLUMNS = STEP / 16 };
enum { OWN = 0, OTHER = 1 }; /* of each kind of operands: what makes scores, what makes the gradients of weights */

/* Of rows with up to WIDTH elements. */
template <int WIDTH> struct bulk_shape {
    enum {
        DIM = WIDTH,
        GROUPS = GPU_BACKWARD_BULK_GROUPS,
        ROWS = GPU_BACKWARD_BULK_ROWS,
        STAGES = GPU_BACKWARD_BULK_STAGES(DIM),
        PLACES = GPU_BACKWARD_BULK_PLACES,
        WIDE = GPU_BACKWARD_BULK_WIDE(DIM),
        PART = WIDE / GROUPS,        /* columns of the gradient of q that a group makes */
        LINES = 64 * WIDE * 2,       /* bytes of a group's keys or values, or of a step of queries */
        SLOPES = 64 * STEP * 2,      /* of a group's dS of a step */
        SUMS = GPU_BACKWARD_BULK_SUMS(DIM) * 4,
        WAVES = GROUPS * 4,
        SERVERS = PLACES + 1 /* threads beside the groups that look at a tile until it is through */
    };
};

/* What a group needs to know of a tile beside its place: queries free .. bound see all of its keys, of which none is missing;
 * the power of dS. */
struct bulk_seat {
    i32 free, bound;
    f32 power;
};

/* What is to be copied of a tile: position, head and batch of the first keys and queries, the first query's pair. */
struct bulk_errand {
    i32 keys[3], queries[3];
    u32 pair, steps, heads; /* steps of a head of q; heads of q that share keys */
    u32 number;             /* of the tile in its head */
    i32 shared;             /* that many queries, counted from the first, are those of the tile before, too */
};

/* All that blocks need to know of a tile. */
struct alignas(16) bulk_tile {
    struct backward_place at;
    struct bulk_errand errand;
    struct bulk_seat seats[GPU_BACKWARD_BULK_GROUPS];
};
static_assert(sizeof(struct bulk_tile) <= GPU_BACKWARD_BULK_TILE, "the host gives that many bytes");

/* What is in LDS beside operands, of two tiles: the groups' and the one whose operands come. */
template <typename S> struct bulk_block {
    alignas(16) struct backward_pair pairs[S::STAGES * STEP];
    u64 full[S::STAGES], empty[S::STAGES];   /* barriers: steps of queries */
    u64 keys, done;                          /* keys and values are there; no group needs them any more */
    u64 known[2], left[2];                   /* tiles: their place is there; groups and servers are done */
    u64 near;                                /* all of a tile's copies are asked for */
    u64 made[2], used[2];                    /* steps of dS: all groups' are there; no group needs them any more */
    u64 summed[S::PLACES], taken[S::PLACES]; /* sums of queries: all groups' are there; they are on their way */
    struct bulk_tile tiles[2];
    u32 over[2]; /* there is no such tile: the block is done */
};

template <typename S> struct bulk_work {
    const struct gpu_attention_backward_bulk &p;
    struct bulk_block<S> &block;
    u8 *lds; /* keys and values by groups, steps of queries and of the gradient of out, steps of dS, places of sums */
};
template <typename S> GPU_FN u8 *bulk_keys(const struct bulk_work<S> &work, u32 which, u32 group) {
    return work.lds + (which * S::GROUPS + group) * S::LINES;
}
template <typename S> GPU_FN u8 *bulk_queries(const struct bulk_work<S> &work, u32 which, u32 stage) {
    return work.lds + (2 * S::GROUPS + stage * 2 + which) * S::LINES;
}
template <typename S> GPU_FN u8 *bulk_slopes(const struct bulk_work<S> &work, u32 stage, u32 group) {
    return work.lds + (2 * S::GROUPS + 2 * S::STAGES) * S::LINES + (stage * S::GROUPS + group) * S::SLOPES;
}
template <typename S> GPU_FN u8 *bulk_sums(const struct bulk_work<S> &work, u32 place) {
    return bulk_slopes(work, 2, 0) + place * S::SUMS;
}

GPU_FN u32 bulk_steps(const struct backward_place &at) {
    return at.begin < at.end ? (u32)(at.end - at.begin + STEP - 1) / STEP : 0;
}

/* ---- tiles ---- */

/* What the group whose keys begin with number row0 needs to know. */
template <typename T>
GPU_FN void bulk_sit(const struct gpu_attention_backward &p, const struct backward_place &at, struct bulk_seat &seat,
                     i32 row0) {
    i32 first = row0 - (i32)at.shift, end = (i32)at.end, bound = first + (i32)p.a.left + 1;
    seat.free = first + 63 - (i32)p.a.right;
    seat.bound = row0 + 64 > (i32)at.rows ? 0 : bound < end ? bound : end;
    seat.power = backward_power<T>(p, at.batch, at.key_head);
}

/* What is to be copied of the tile at `at`. */
GPU_FN void bulk_errand_of(const struct gpu_attention_backward_bulk &p, const struct backward_place &at,
                           struct bulk_errand &errand) {
    bool packed = p.all.a.q_starts != NULL;
    u32 batch = packed ? 0 : (u32)at.batch, first = packed ? ((u32)at.query0 / 64 + (u32)at.batch) * 64 : 0;
    i32 end = (i32)(at.row0 - at.shift + p.all.a.left); /* of the tile before */
    errand.keys[0] = (i32)(at.row0 + at.key0);
    errand.keys[1] = (i32)at.key_head;
    errand.queries[0] = (i32)(at.begin + at.query0);
    errand.queries[1] = (i32)at.head;
    errand.keys[2] = errand.queries[2] = (i32)batch;
    errand.steps = bulk_steps(at);
    errand.heads = p.all.a.group;
    errand.pair = (batch * p.all.a.heads + (u32)at.head) * p.pair_rows + first + (u32)at.begin;
    errand.number = (u32)at.row0 / GPU_BACKWARD_BULK_ROWS;
    errand.shared = at.row0 > 0 ? (end < (i32)at.queries ? end : (i32)at.queries) - (i32)at.begin : 0;
}

/* Tile x of all. */
template <typename T> GPU_FN void bulk_locate(const struct gpu_attention_backward_bulk &p, struct bulk_tile &tile, u32 x) {
    backward_locate_at<i32>(p.all, tile.at, GPU_BACKWARD_BULK_ROWS, x);
    tile.at.begin = tile.at.begin / STEP * STEP; /* where pairs are whole pieces */
    for (u32 group = 0; group < GPU_BACKWARD_BULK_GROUPS; group++)
        bulk_sit<T>(p.all, tile.at, tile.seats[group], (i32)tile.at.row0 + (i32)group * 64);
    bulk_errand_of(p, tile.at, tile.errand);
}

/* The thread that draws tile after tile, each when all copies of the one before are asked for, so that tiles of a head begin
 * in their order. Tiles without keys are passed over. */
template <typename S> GPU_FN void bulk_seek(const struct bulk_work<S> &work) {
    const struct bulk_tile *tiles = (const struct bulk_tile *)work.p.tiles;
    u32 x = gpu_block_x();
    GPU_NO_UNROLL for (struct bulk_ring ring = {0, 1}, near = {0, 0};; bulk_next<2>(ring), bulk_next<1>(near)) {
        u64 *known = &work.block.known[ring.stage];
        bulk_wait(&work.block.left[ring.stage], ring.phase);
        while (x < work.p.blocks && tiles[x].at.row0 >= tiles[x].at.rows) x = bulk_draw(work.p.tickets, work.p.blocks);
        bool over = x >= work.p.blocks;
        work.block.over[ring.stage] = over;
        if (over) {
            bulk_arrive(known);
            return;
        }
        bulk_expect(known, sizeof(struct bulk_tile));
        bulk_copy_run(&work.block.tiles[ring.stage], tiles + x, sizeof(struct bulk_tile), known);
        bulk_wait(&work.block.near, near.phase);
        x = bulk_draw(work.p.tickets, work.p.blocks);
    }
}

/* ---- the thread that asks for copies ---- */

/* Asks for 64 positions of an operand. `from`: position, head and batch of the first. */
template <typename S> GPU_FN void bulk_ask(u8 *to, const struct gpu_tensor_map &map, const i32 (&from)[3], u64 *full) {
    GPU_UNROLL for (i32 c = 0; c < S::DIM; c += 64) {
        bulk_copy(to, map, {c, from[0], from[1], from[2]}, full);
        to += GROUP_BLOCK;
    }
}

template <typename S> GPU_FN void bulk_ask_keys(const struct bulk_work<S> &work, const struct bulk_errand &errand) {
    u64 *full = &work.block.keys;
    bulk_expect(full, S::GROUPS * 2 * S::LINES);
    GPU_NO_UNROLL for (u32 group = 0; group < S::GROUPS; group++) {
        const i32 from[3] = {errand.keys[0] + (i32)group * 64, errand.keys[1], errand.keys[2]};
        bulk_ask<S>(bulk_keys(work, OWN, group), work.p.k, from, full);
        bulk_ask<S>(bulk_keys(work, OTHER, group), work.p.v, from, full);
    }
}

/* The last queries come first, of all heads: with causal rows and windows, tiles of keys then meet at the same queries. */
template <typename S>
GPU_FN void bulk_ask_queries(const struct bulk_work<S> &work, const struct bulk_errand &errand, struct bulk_ring &ring) {
    const struct gpu_attention_backward_bulk &p = work.p;
    GPU_NO_UNROLL for (u32 n = errand.steps; n-- > 0;)
        GPU_NO_UNROLL for (u32 member = 0; member < errand.heads; member++) {
            const i32 from[3] = {errand.queries[0] + (i32)(n * STEP), errand.queries[1] + (i32)member, errand.queries[2]};
            u64 *full = &work.block.full[ring.stage];
            bulk_wait(&work.block.empty[ring.stage], ring.phase);
            bulk_expect(full, 2 * S::LINES + STEP * (u32)sizeof(struct backward_pair));
            bulk_ask<S>(bulk_queries(work, OWN, ring.stage), p.q, from, full);
            bulk_ask<S>(bulk_queries(work, OTHER, ring.stage), p.gradient, from, full);
            bulk_copy_run(work.block.pairs + ring.stage * STEP,
                          (const struct backward_pair *)p.pairs + errand.pair + member * p.pair_rows + n * STEP,
                          STEP * (u32)sizeof(struct backward_pair), full);
            bulk_next<S::STAGES>(ring);
        }
}

/* Asks for all operands of the block's tiles, as soon as their place is known and LDS has room. */
template <typename S> GPU_FN void bulk_fill(const struct bulk_work<S> &work) {
    struct bulk_ring ring = {0, 1};
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0}, keys = {0, 1};; bulk_next<2>(tile), bulk_next<1>(keys)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        bulk_wait(&work.block.done, keys.phase);
        bulk_ask_keys(work, work.block.tiles[tile.stage].errand);
        bulk_ask_queries(work, work.block.tiles[tile.stage].errand, ring);
        bulk_arrive(&work.block.near);
        bulk_arrive(&work.block.left[tile.stage]);
    }
}

/* ---- the threads that bring sums to memory ---- */

/* Adds a step's sums, which are at `place`, to those of the tiles before, when these are there. */
template <typename S>
GPU_FN void bulk_bring(const struct bulk_work<S> &work, const struct bulk_errand &errand, u32 member, u32 n, u32 place) {
    const struct gpu_attention_backward_bulk &p = work.p;
    const u32 step = (errand.pair + member * p.pair_rows) / STEP + n;
    f32 *to = (f32 *)p.sums + (u64)step * (S::SUMS / 4);
    if ((i32)(n * STEP) < errand.shared) {
        bulk_await(p.notes + step, errand.number);
        bulk_add_run(to, bulk_sums(work, place), S::SUMS);
    } else {
        bulk_put_run(to, bulk_sums(work, place), S::SUMS);
    }
    bulk_put_wait<0>();
    bulk_arrive(&work.block.taken[place]);
    bulk_put_end();
    bulk_note(p.notes + step, errand.number + 1);
}

/* Brings all sums that the block puts at `place`. */
template <typename S> GPU_FN void bulk_serve(const struct bulk_work<S> &work, u32 place) {
    struct bulk_ring ring = {0, 0};
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0};; bulk_next<2>(tile)) {
        bulk_wait(&work.block.known[tile.stage], tile.phase);
        if (work.block.over[tile.stage]) return;
        const struct bulk_errand &errand = work.block.tiles[tile.stage].errand;
        GPU_NO_UNROLL for (u32 n = errand.steps; n-- > 0;)
            GPU_NO_UNROLL for (u32 member = 0; member < errand.heads; member++, bulk_next<S::PLACES>(ring)) {
                if (ring.stage != place) continue;
                bulk_wait(&work.block.summed[place], ring.phase);
                bulk_bring(work, errand, member, n, place);
            }
        bulk_arrive(&work.block.left[tile.stage]);
    }
}
#endif

#endif
