/* Scaled dot product attention of bf16 and f16 with up to 64 elements a row by the matrix instructions of groups of waves,
 * for short calls and for those that attention_bulk.hip does not take. q, k and v as in attention_mma.hip.
 *
 * A block of two groups has 128 queries, a group 64; two blocks are on a unit. Its groups meet once a step; each makes
 * weights of the scores of a step while its products of the values of the step before run. All threads ask for copies,
 * STAGES steps ahead. */
#include "attention_group.h"

#if MMA_GROUP
enum { THREADS = 2 * GROUP, ROWS = 128, STEP = 64, STAGES = 3, PIECES = 8, PER = THREADS / PIECES, SIZE = STEP * GROUP_LINE };

/* What a group needs to know of its block: how many keys it has, and in which steps its rows see any. In LDS, as
 * registers are few. */
struct group_part {
    struct attention_free free;
    u32 keys, steps, mine;
    u32 whole; /* rows of keys and values have whole pieces */
    u32 bare;  /* scores have nothing but a scale and what a row may not see */
};
struct group_block {
    struct attention_row rows[ROWS];
    struct attention_place at;
    struct group_part part[2];
    const u16 *k, *v; /* of the first key */
    u32 any;
};

struct group_work {
    const struct gpu_attention &p;
    const struct group_part &part; /* of the thread's group */
    const struct group_block &block;
};

/* ---- copies ---- */

/* A step of keys or of values into LDS at `to`, of which `left` rows are there; the rest are zeros. What lies past the
 * end of all rows is written when the place is `fresh`, and stays. */
GPU_FN void group_bring(mma_lds to, const u16 *from, i64 stride, i32 left, i64 elements, bool fresh) {
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES, nbytes = attention_bytes<64>(elements);
    if (left <= 0 || !(nbytes > 0 || fresh)) return;
    GPU_NO_UNROLL for (u32 row = line; row < STEP; row += PER) {
        u32 n = (i32)row < left ? nbytes : 0;
        mma_copy16_at(to + attention_piece<64, 64>(row, piece), n ? from + row * stride + piece * 8 : from, n);
    }
}

/* The same of a whole step, whose rows have whole pieces. `to` is where this thread's first piece goes. */
GPU_FN void group_copy(mma_lds to, const u16 *from, i64 stride, i64 elements) {
    u32 line = gpu_thread() / PIECES, piece = gpu_thread() % PIECES;
    from += line * stride + piece * 8;
    if (piece * 8 < elements)
        GPU_UNROLL for (u32 j = 0; j < STEP / PER; j++)
            mma_copy16_whole_at(to + attention_piece<64, 64>(j * PER, 0), from + j * PER * stride);
}

/* What comes STAGES steps after step i, into the places at `to` that it leaves. */
GPU_FN void group_bring_next(const struct group_work &work, mma_lds to, u32 i) {
    const struct gpu_attention &p = work.p;
    u32 now = i % STAGES, last = now == 0 ? STAGES - 1 : now - 1;
    i32 left = (i32)(work.part.keys - (i + STAGES) * STEP);
    const u16 *k = work.block.k + (u64)((i + STAGES) * STEP) * p.k_stride[2];
    const u16 *v = work.block.v + (u64)((i + STAGES - 1) * STEP) * p.v_stride[2];
    mma_lds own = to + attention_piece<64, 64>(gpu_thread() / PIECES, gpu_thread() % PIECES);
    if (left >= STEP && i > 0 && work.part.whole) {
        group_copy(own + now * SIZE, k, p.k_stride[2], p.depth);
        group_copy(own + (STAGES + last) * SIZE, v, p.v_stride[2], p.width);
    } else {
        group_bring(to + now * SIZE, k, p.k_stride[2], left, p.depth, false);
        group_bring(to + (STAGES + last) * SIZE, v, p.v_stride[2], left + STEP, p.width, i == 0);
    }
}

/* ---- weights ---- */

GPU_FN struct group_part group_part_of(const struct gpu_attention &p, struct attention_place at, u32 group) {
    struct group_part part;
    i64 keys = at.end - at.begin, seen = keys;
    if (!p.merged) { /* rows of one head */
        at.low += group * 64;
        if (at.low + 63 < at.high) at.high = at.low + 63;
        seen = at.high + p.right + 1 - at.begin;
    }
    part.free = attention_free_of(p, at);
    part.keys = (u32)keys;
    part.steps = (part.keys + STEP - 1) / STEP;
    part.mine = seen >= keys || seen <= 0 ? part.steps : ((u32)seen + STEP - 1) / STEP;
    part.whole = (p.depth | p.width) % 8 == 0;
    part.bare = p.masked == GPU_ATTENTION_FREE && !(p.cap > 0) && !p.slopes && p.scale > 0;
    return part;
}

template <typename T, int STEPS, int COLUMNS>
GPU_FN bool group_rate(const struct group_work &work, u32 key, struct mma_tile (&s)[1][COLUMNS],
                       struct attention_sums<1, STEPS> &sums, f32 (&fade)[2]) {
    const struct gpu_attention &p = work.p;
    const struct group_part &part = work.part;
    const struct group_block &block = work.block;
    const f32 log2e = 1.4426950408889634f;
    f32 by = (f32)p.scale * log2e;
    if (key < part.free.begin || key + COLUMNS * 16 > part.free.end) {
        const struct attention_row *rows = block.rows + gpu_wave() * 16;
        if (part.bare) {
            group_hide(p, s[0], rows, block.at.begin + key, part.keys - key);
        } else {
            attention_scale(s, (f32)p.scale);
            attention_adjust<T>(p, s, rows, block.at.begin + key, part.keys - key);
            by = log2e;
        }
    }
    return group_weigh(s[0], sums.most[0], sums.total[0], by, fade);
}

template <int STEPS> GPU_FN void group_fade(struct mma_tile (&out)[STEPS], bool moved, const f32 (&fade)[2]) {
    if (gpu_ballot(moved) == 0) return;
    GPU_UNROLL for (int c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
        out[c].v[e] *= fade[attention_half(e)];
}

/* ---- a block ---- */

/* All steps of the block's keys; the queries and the first steps are on their way. Step i multiplies the keys of step
 * i + 1 and the values of step i, and asks for what comes STAGES later. */
template <typename T>
GPU_FN void group_run(const struct group_work &work, u8 *lds, struct attention_sums<1, 4> &sums) {
    const struct group_part &part = work.part;
    const u8 *ks = lds + ROWS * GROUP_LINE, *vs = ks + STAGES * SIZE;
    mma_lds to = mma_lds_from(ks);
    struct mma_tile s[1][STEP / 16];
    struct mma_fragment x[STEP / 16];
    f32 fade[2];
    mma_copy_wait<STAGES - 1>();
    group_publish();
    gpu_sync();
    const u8 *q = lds + group_number() * GROUP_BLOCK;
    mma_clear(s);
    group_begin();
    attention_score_keys<T, 64, STEP>(s[0], q, ks);
    group_wait<0>();
    group_hold(s[0]);
    group_rate<T>(work, 0, s, sums, fade);
    attention_pack<T>(x, s[0]);
    u32 i = 0;
    GPU_NO_UNROLL for (; i + 1 < part.mine; i++) {
        u32 now = i % STAGES, next = now + 1 == STAGES ? 0 : now + 1;
        mma_copy_wait<STAGES - 2>();
        group_publish();
        gpu_sync();
        group_begin();
        attention_score_keys<T, 64, STEP>(s[0], q, ks + next * SIZE);
        attention_add_values<T, 64, STEP>(sums.out[0], x, vs + now * SIZE);
        group_bring_next(work, to, i);
        mma_copy_commit();
        group_wait<1>();
        group_hold(s[0]);
        bool moved = group_rate<T>(work, (i + 1) * STEP, s, sums, fade);
        group_behind(sums.total[0][0] + sums.total[0][1]);
        group_wait<0>();
        group_hold(sums.out[0]);
        group_fade(sums.out[0], moved, fade);
        attention_pack<T>(x, s[0]);
    }
    mma_copy_wait<0>();
    group_publish();
    gpu_sync();
    group_begin();
    attention_add_values<T, 64, STEP>(sums.out[0], x, vs + i % STAGES * SIZE);
    group_wait<0>();
    group_hold(sums.out[0]);
    /* Where the other group has a step more. */
    if (i + 1 < part.steps) {
        mma_copy_wait<0>();
        group_publish();
        gpu_sync();
    }
}

template <typename T> GPU_FN void attention_meet(const struct gpu_attention &p) {
    GPU_SHARED struct group_block block;
    u8 *lds = (u8 *)attention_shared;
    mma_lds ks = mma_lds_of(lds + ROWS * GROUP_LINE);
    if (gpu_thread() < GPU_WAVE) {
        struct attention_place own = attention_locate(p, ROWS);
        if (gpu_thread() == 0) {
            block.any = 0;
            block.at = own;
            block.k = (const u16 *)p.k + own.k + own.begin * p.k_stride[2];
            block.v = (const u16 *)p.v + own.v + own.begin * p.v_stride[2];
        }
    }
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    gpu_sync();
    const struct attention_place &at = block.at;
    if (at.row0 >= at.rows) return;
    i32 keys = (i32)(at.end - at.begin);
    const u16 *k = block.k, *v = block.v;
    group_bring(ks, k, p.k_stride[2], keys, p.depth, true);
    if (gpu_thread() < ROWS) block.rows[gpu_thread()] = attention_row_of(p, at, gpu_thread());
    gpu_sync();
    attention_fill_queries<64, ROWS, THREADS>(p, block.rows, mma_lds_of(lds));
    mma_copy_commit();
    GPU_NO_UNROLL for (i32 s = 1; s < STAGES; s++) {
        group_bring(ks + s * SIZE, k + s * STEP * p.k_stride[2], p.k_stride[2], keys - s * STEP, p.depth, true);
        group_bring(ks + (STAGES + s - 1) * SIZE, v + (s - 1) * STEP * p.v_stride[2], p.v_stride[2],
                    keys - (s - 1) * STEP, p.width, true);
        mma_copy_commit();
    }
    const struct group_part &part = block.part[group_number()];
    if (gpu_thread() % GROUP == 0) block.part[gpu_thread() / GROUP] = group_part_of(p, at, gpu_thread() / GROUP);
    struct attention_sums<1, 4> sums;
    sums.most[0][0] = sums.most[0][1] = attention_lowest(0.0f);
    sums.total[0][0] = sums.total[0][1] = 0;
    mma_clear(sums.out);
    if (at.end > at.begin) {
        group_run<T>({p, part, block}, lds, sums);
    } else {
        mma_copy_wait<0>(); /* results go where queries are */
        gpu_sync();
    }
    bool hides = part.free.begin > 0 || part.free.end < part.keys;
    u32 again = group_store<T, 64>(p, block.rows + gpu_wave() * 16, sums, hides, lds + group_number() * GROUP_BLOCK);
    if (again) block.any = 1;
    gpu_sync();
    if (block.any) attention_repair<T, ROWS, THREADS>(p, at, block.rows, sums, again, (f32 *)attention_shared);
}
#define ATTENTION_MEET(type) attention_meet<type>(p)
#else
/* The host asks for these only where they are. */
#define ATTENTION_MEET(type) (void)p
#endif

GPU_KERNEL_OF(attention_meet_bf16, struct gpu_attention, 256, 2) { ATTENTION_MEET(bf16); }
GPU_KERNEL_OF(attention_meet_f16, struct gpu_attention, 256, 2) { ATTENTION_MEET(f16); }
