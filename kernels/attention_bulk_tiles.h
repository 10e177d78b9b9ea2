/* The blocks of attention_bulk.hip: what they have in LDS, and the waves that get tiles ready for the groups that multiply.
 * One wave finds the next tile, one thread asks for copies, two waves make rows. */
#ifndef WICK_KERNELS_ATTENTION_BULK_TILES_H
#define WICK_KERNELS_ATTENTION_BULK_TILES_H

#include "attention_bulk.h"
#include "attention_group.h"
#include "mma_bulk.h"

#if MMA_BULK
enum { STEP = GPU_ATTENTION_BULK_KEYS, HELPERS = 2 * GPU_WAVE };
enum bulk_kind { KEYS, VALUES };
/* Barriers by number: the helpers', and from TURN on that of each group's turn to ask for products. */
enum { HELP = 1, TURN = 2 };

/* Of rows with up to WIDTH elements, and of MANY groups that multiply. MORE: scores may have a mask, slopes, a cap. */
template <int WIDTH, int MANY, bool ALL = false> struct bulk_shape {
    enum {
        DIM = WIDTH,
        MORE = ALL,
        WIDE = attention_wide<DIM>::value,
        GROUPS = MANY,
        STAGES = GPU_ATTENTION_BULK_STAGES(DIM),
        TILES = GPU_ATTENTION_BULK_TILES(DIM, GROUPS),
        ROWS = 64 * GROUPS,
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

/* Of a tile's rows: where their bits begin. */
template <typename S, bool MORE> struct bulk_lines {};
template <typename S> struct bulk_lines<S, true> {
    u32 lines[S::TILES][S::ROWS];
};

/* What is in LDS beside queries, keys and values, of TILES tiles: the groups' and those whose rows and queries come. */
template <typename S> struct bulk_block : bulk_lines<S, S::MORE> {
    u64 full[2][S::STAGES], empty[2][S::STAGES]; /* barriers: steps by kind */
    /* and tiles: their place is there, rows and queries too, groups are done */
    u64 known[S::TILES], taken[S::TILES], left[S::TILES];
    u64 near;                        /* the last tile's groups are nearly done */
    struct bulk_seat seats[S::TILES][S::GROUPS];
    struct attention_place at[S::TILES], next; /* of those, and of the tile behind them */
    u32 number[S::TILES], following; /* and their numbers; from p.blocks on there is none */
};

/* What all of a thread's functions need; `group` is the thread's. */
template <typename S> struct bulk_work {
    const struct gpu_attention &p;
    struct bulk_block<S> &block;
    u8 *lds; /* queries of tiles, steps of keys, steps of values */
    u32 group;
    const struct gpu_attention_bulk &all;
};
template <typename S> GPU_FN u8 *bulk_queries(const struct bulk_work<S> &work, u32 tile) {
    return work.lds + tile * S::QUERIES + work.group * (S::WIDE * 128);
}
template <typename S> GPU_FN u8 *bulk_step(const struct bulk_work<S> &work, enum bulk_kind kind, u32 stage) {
    return work.lds + S::TILES * S::QUERIES + (kind * S::STAGES + stage) * S::SIZE;
}

/* Steps of so many keys; those of a tile in which no row of the group sees any. */
GPU_FN u32 bulk_steps(u32 keys) { return (keys + STEP - 1) / STEP; }
GPU_FN u32 bulk_rest(const struct bulk_seat &seat) { return bulk_steps(seat.keys) - seat.mine; }

/* ---- the thread that asks for copies ---- */

/* Asks for a step of keys or values, in boxes of LINES. `from`: position, head and batch of the first. */
template <int LINES, typename S>
GPU_FN void bulk_ask(const struct bulk_work<S> &work, const struct gpu_tensor_map &map, enum bulk_kind kind,
                     struct bulk_ring ring, const i32 (&from)[3]) {
    u8 *to = bulk_step(work, kind, ring.stage);
    u64 *full = &work.block.full[kind][ring.stage];
    bulk_wait(&work.block.empty[kind][ring.stage], ring.phase);
    bulk_expect(full, S::SIZE);
    GPU_UNROLL for (i32 r = 0; r < STEP; r += LINES) GPU_UNROLL for (i32 c = 0; c < S::WIDE; c += 64) {
        bulk_copy(to, map, {c, from[0] + r, from[1], from[2]}, full);
        to += LINES * GROUP_LINE;
    }
}

/* Asks for a tile's queries, if they come by bulk copies, and arrives where its helpers do. */
template <typename S>
GPU_FN void bulk_ask_queries(const struct gpu_attention_bulk &p, const struct bulk_work<S> &work, u32 tile,
                             const i32 (&from)[3]) {
    u8 *to = work.lds + tile * S::QUERIES;
    u64 *taken = &work.block.taken[tile];
    if (!p.boxed) {
        bulk_arrive(taken);
        return;
    }
    bulk_expect(taken, S::QUERIES);
    GPU_UNROLL for (i32 r = 0; r < S::ROWS; r += 64) GPU_UNROLL for (i32 c = 0; c < S::WIDE; c += 64) {
        bulk_copy(to, p.q, {c, from[0] + r, from[1], from[2]}, taken);
        to += GROUP_BLOCK;
    }
}

/* Waits until groups have few of a tile's steps left, behind which comes the place that `next` says. */
template <typename S> GPU_FN void bulk_watch(const struct bulk_work<S> &work, struct bulk_ring next, u32 steps) {
    enum { FEW = S::STAGES < 3 ? S::STAGES : 3 };
    u32 back = steps < FEW ? steps : FEW;
    u32 before = next.stage < back; /* it is of the round before */
    if (steps > 0) bulk_wait(&work.block.empty[KEYS][next.stage + before * S::STAGES - back], next.phase ^ before ^ 1);
    bulk_arrive(&work.block.near);
}

/* Asks for all of the block's tiles, as soon as their place is known and LDS has room. */
template <typename S> GPU_FN void bulk_fill(const struct gpu_attention_bulk &p, const struct bulk_work<S> &work) {
    struct bulk_block<S> &block = work.block;
    struct bulk_ring ring = {0, 1};
    bulk_expect_map(p.q);
    bulk_expect_map(p.k);
    bulk_expect_map(p.v);
    gpu_wait();
    GPU_NO_UNROLL for (struct bulk_ring tile = {0, 0};; bulk_next<S::TILES>(tile)) {
        bulk_wait(&block.known[tile.stage], tile.phase);
        if (block.number[tile.stage] >= p.blocks) {
            bulk_arrive(&block.taken[tile.stage]);
            return;
        }
        const struct attention_place &at = block.at[tile.stage];
        i32 batch = p.a.q_starts ? 0 : (i32)at.batch, q = (i32)at.row0, k = (i32)at.begin;
        if (p.a.q_starts) {
            q += (i32)attention_start(p.a.q_starts, p.a.start_stride[0], at.batch, p.a.queries);
            k += (i32)attention_start(p.a.k_starts, p.a.start_stride[1], at.batch, p.a.keys);
        }
        bulk_ask_queries(p, work, tile.stage, {q, (i32)at.unit, batch});
        i32 from[3] = {k, (i32)(p.a.merged ? at.unit : at.unit / p.a.group), batch};
        GPU_NO_UNROLL for (u32 left = bulk_steps((u32)(at.end - at.begin)); left > 0; left--, from[0] += STEP) {
            bulk_ask<STEP>(work, p.k, KEYS, ring, from);
            bulk_ask<64>(work, p.v, VALUES, ring, from);
            bulk_next<S::STAGES>(ring);
        }
        if (p.late) bulk_watch(work, ring, bulk_steps((u32)(at.end - at.begin)));
    }
}

/* ---- the wave that finds tiles ---- */

/* Rows of a tile. */
template <typename S> GPU_FN u32 bulk_rows(const struct gpu_attention_bulk &p) { return S::GROUPS > 2 ? S::ROWS : p.rows; }

/* Finds the place of tile x, or of the next one that no block has and that has rows, and leaves its number. */
template <typename S>
GPU_FN void bulk_find(const struct gpu_attention_bulk &p, struct attention_place &at, u32 &number, u32 x) {
    GPU_NO_UNROLL for (;;) {
        number = x;
        if (x >= p.blocks) return;
        attention_locate_at<true>(p.a, at, bulk_rows<S>(p), x);
        /* Words of a mask are those of whole steps. */
        if (S::MORE && p.a.masked != GPU_ATTENTION_FREE) at.begin -= at.begin % STEP;
        if (at.row0 < at.rows) return;
        x = bulk_draw(p.tickets + gpu_block_y(), p.blocks);
    }
}

/* Those that are there from the start: the block's own, and if tiles are alike as many as LDS has room for, a lane each. */
template <typename S> GPU_FN u32 bulk_ahead(const struct gpu_attention_bulk &p) { return p.late ? 1 : S::TILES; }
template <typename S> GPU_FN void bulk_find_first(const struct gpu_attention_bulk &p, struct bulk_block<S> &block) {
    u32 lane = gpu_lane();
    if (lane < bulk_ahead<S>(p))
        bulk_find<S>(p, block.at[lane], block.number[lane], gpu_block_x() + lane * gpu_blocks_x());
}

/* Finds tile after tile behind the first ones. */
template <typename S> GPU_FN void bulk_scout(const struct gpu_attention_bulk &p, const struct bulk_work<S> &work) {
    struct bulk_block<S> &block = work.block;
    u32 ahead = bulk_ahead<S>(p);
    gpu_wait();
    GPU_NO_UNROLL for (struct bulk_ring ring = {0, 1};; bulk_next<S::TILES>(ring)) {
        bulk_wait(&block.left[ring.stage], ring.phase);
        group_sync_wave();
        if (ahead == 0) {
            GPU_NO_UNROLL for (u32 w = gpu_lane(); w < sizeof block.next / 4; w += GPU_WAVE)
                ((u32 *)&block.at[ring.stage])[w] = ((const u32 *)&block.next)[w];
            block.number[ring.stage] = block.following;
        }
        bool over = block.number[ring.stage] >= p.blocks;
        if (gpu_lane() < S::GROUPS) {
            block.seats[ring.stage][gpu_lane()].end = over;
            block.seats[ring.stage][gpu_lane()].mine = 0;
        }
        group_sync_wave();
        if (gpu_lane() == 0) bulk_arrive(&block.known[ring.stage]);
        if (over) return;
        if (ahead > 0 && --ahead > 0) continue;
        static_assert(S::TILES % 2 == 0, "the place of a tile says which phase is its own");
        if (p.late) bulk_wait(&block.near, ring.stage % 2);
        if (gpu_lane() == 0)
            bulk_find<S>(p, block.next, block.following,
                         p.late ? bulk_draw(p.tickets + gpu_block_y(), p.blocks)
                                : block.number[ring.stage] + gpu_blocks_x());
    }
}

/* ---- the waves that get rows ---- */

/* x, but not below 0 nor above `most`. */
GPU_FN u32 bulk_clamp(i64 x, u32 most) { return x < 0 ? 0 : x < most ? (u32)x : most; }

/* What group `group` needs to know of the tile. */
GPU_FN void bulk_sit(const struct gpu_attention &p, struct bulk_seat &seat, const struct attention_place &at, u32 rows,
                     u32 group) {
    u32 keys = (u32)(at.end - at.begin);
    i32 low = (i32)(at.low - at.begin), high = (i32)(at.high - at.begin); /* of the group's rows */
    if (!p.merged) { /* they are of one head */
        low += (i32)group * 64;
        if (low + 63 < high) high = low + 63;
    }
    seat.begin = at.begin;
    seat.keys = keys;
    seat.mine = low > high || group * 64 >= rows ? 0 : bulk_steps(bulk_clamp(high + p.right + 1, keys));
    seat.free.begin = bulk_clamp(high - p.left, keys);
    seat.free.end = bulk_clamp(low + p.right + 1, keys);
    seat.any = 0;
}

/* Where the bits of row r of a tile begin, which is at `row`. */
GPU_FN u32 bulk_line(const struct gpu_attention_bulk &p, const struct attention_place &at, u32 r,
                     const struct attention_row &row) {
    u32 head = at.unit, index = (u32)(row.position - at.shift);
    if (row.out < 0) return 0;
    if (p.a.merged) head = head * p.a.group + ((u32)at.row0 + r) / (u32)at.queries;
    return (u32)at.batch * p.bits.stride[0] + head * p.bits.stride[1] + index * p.bits.stride[2];
}
template <typename S>
GPU_FN void bulk_line_up(const struct gpu_attention_bulk &, struct bulk_lines<S, false> &, const struct attention_place &,
                         u32, u32, const struct attention_row &) {}
template <typename S>
GPU_FN void bulk_line_up(const struct gpu_attention_bulk &p, struct bulk_lines<S, true> &all,
                         const struct attention_place &at, u32 tile, u32 r, const struct attention_row &row) {
    if (p.bits.words) all.lines[tile][r] = bulk_line(p, at, r, row);
}

/* Rows of a tile, whose place is there, and queries where they don't come by bulk copies. */
template <typename S>
GPU_FN void bulk_settle(const struct gpu_attention_bulk &p, const struct bulk_work<S> &work, u32 thread, u32 tile) {
    struct bulk_seat *seats = work.block.seats[tile];
    mma_lds to = mma_lds_of(work.lds + tile * S::QUERIES);
    const struct attention_place &at = work.block.at[tile];
    GPU_NO_UNROLL for (u32 r = thread; r < S::ROWS; r += HELPERS) {
        seats[r / 64].rows[r % 64] = attention_row_of<true>(p.a, at, r);
        if (r >= bulk_rows<S>(p)) seats[r / 64].rows[r % 64].out = -1;
        bulk_line_up<S>(p, work.block, at, tile, r, seats[r / 64].rows[r % 64]);
    }
    if (thread < S::GROUPS) bulk_sit(p.a, seats[thread], at, bulk_rows<S>(p), thread);
    if (p.boxed) return;
    bulk_sync(HELP, HELPERS);
    GPU_NO_UNROLL for (u32 u = thread; u < S::ROWS * S::PIECES; u += HELPERS) {
        u32 r = u / S::PIECES, piece = u % S::PIECES;
        const struct attention_row &row = seats[r / 64].rows[r % 64];
        i32 left = row.out >= 0 ? (i32)p.a.depth - (i32)piece * 8 : 0;
        u32 n = left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
        const u16 *from = (const u16 *)p.a.q + (n ? row.q + piece * 8 : 0);
        mma_copy16_at(to + attention_piece<S::WIDE, 64>(r, piece), from, n);
    }
    mma_copy_commit();
    mma_copy_wait<0>();
    group_publish();
}

/* Gets tile after tile ready while groups work on the one before. */
template <typename S> GPU_FN void bulk_help(const struct gpu_attention_bulk &p, const struct bulk_work<S> &work) {
    struct bulk_block<S> &block = work.block;
    u32 thread = gpu_thread() - (S::GROUPS * GROUP + 2 * GPU_WAVE);
    if (S::MORE || !p.boxed) gpu_wait(); /* for slopes, for queries */
    GPU_NO_UNROLL for (struct bulk_ring ring = {0, 0};; bulk_next<S::TILES>(ring)) {
        bulk_wait(&block.known[ring.stage], ring.phase);
        bool over = block.number[ring.stage] >= p.blocks;
        if (!over) bulk_settle(p, work, thread, ring.stage);
        group_sync_wave();
        if (gpu_lane() == 0) bulk_arrive(&block.taken[ring.stage]);
        if (over) return;
    }
}
#endif

#endif
