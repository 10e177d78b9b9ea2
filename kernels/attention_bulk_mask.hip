/* Attention by bulk copies as attention_bulk.hip has it, of scores that have a mask, slopes or a cap beside their scale.
 *
 * A u8 mask comes as bits, which a kernel of its own makes beforehand: a lane reads a word for its 32 scores of a row. Of a
 * mask to add a lane reads pairs of elements, whose rows begin at words. Both are read a step ahead, as nothing hides how
 * long that takes in the step itself. */
#include "attention_bulk_groups.h"

#if MMA_BULK
/* ---- masks ---- */

/* What a lane has of the mask of a step: of its two rows, pairs of elements to add, or the first word is bits. */
struct bulk_words {
    u32 word[2][STEP / 8];
};

GPU_FN bool bulk_adds(const struct gpu_attention &p) { return p.masked == GPU_ATTENTION_ADD; }

/* Reads them for the step from number `key` of the tile's keys on. What lies behind a row is hidden, whatever it is. */
template <typename S>
GPU_FN void bulk_look(const struct bulk_work<S> &work, u32 tile, u32 key, struct bulk_words &words) {
    const struct gpu_attention_bulk &p = work.all;
    const struct bulk_seat &seat = work.block.seats[tile][work.group];
    u32 row = gpu_wave() % 4 * 16 + attention_line(0), own = attention_first(), first = (u32)seat.begin + key;
    if (p.bits.words) {
        const u32 *lines = work.block.lines[tile] + work.group * 64 + row;
        words.word[0][0] = p.bits.words[lines[0] + first / 32 + own / 2];
        words.word[1][0] = p.bits.words[lines[8] + first / 32 + own / 2];
    } else if (bulk_adds(p.a)) {
        const u16 *from = (const u16 *)p.a.mask + first + own, *low = from + seat.rows[row].mask;
        const u16 *high = from + seat.rows[row + 8].mask;
        i32 left = (i32)p.a.keys - (i32)(first + own);
        GPU_UNROLL for (i32 i = 0; i < STEP / 8; i++) {
            if (i * 8 >= left) continue;
            words.word[0][i] = *(const u32 *)(low + i * 8);
            words.word[1][i] = *(const u32 *)(high + i * 8);
        }
    }
}

/* Whether what is to be added is anything but 0. */
GPU_FN bool bulk_any(const struct bulk_words &words) {
    u32 any = 0;
    GPU_UNROLL for (int i = 0; i < STEP / 8; i++) any |= words.word[0][i] | words.word[1][i];
    return any != 0;
}

/* x and y times `by`, plus the two elements of a word, of which -inf leaves out whatever the score is. */
GPU_FN void bulk_add(f32 &x, f32 &y, f32 by, u32 word, bf16) {
    f32 low = gpu_fma(x, by, gpu_bits<f32>(word << 16)), high = gpu_fma(y, by, gpu_bits<f32>(word & 0xffff0000u));
    asm("{\n.reg .pred p, q;\nsetp.eq.bf16x2 p|q, %2, %5;\nselp.f32 %0, 0fff800000, %3, p;\nselp.f32 %1, 0fff800000, %4, q;\n}"
        : "=f"(x), "=f"(y)
        : "r"(word), "f"(low), "f"(high), "r"(0xff80ff80u));
}
GPU_FN void bulk_add(f32 &x, f32 &y, f32 by, u32 word, f16) {
    f32 low = gpu_fma(x, by, gpu_from_f16(f16{(u16)word})), high = gpu_fma(y, by, gpu_from_f16(f16{(u16)(word >> 16)}));
    asm("{\n.reg .pred p, q;\nsetp.eq.f16x2 p|q, %2, %5;\nselp.f32 %0, 0fff800000, %3, p;\nselp.f32 %1, 0fff800000, %4, q;\n}"
        : "=f"(x), "=f"(y)
        : "r"(word), "f"(low), "f"(high), "r"(0xfc00fc00u));
}

/* ---- scores ---- */

/* The soft cap on scores times `by`, of which turn is 2 log2(e) by / cap. */
GPU_FN void bulk_cap(struct mma_tile (&s)[STEP / 16], f32 cap, f32 turn) {
    /* tanh x = 1 - 2 / (e^2x + 1) */
    GPU_UNROLL for (int j = 0; j < STEP / 16; j++) GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
        s[j].v[e] = gpu_fma(-2.0f * cap, mma_reciprocal(mma_exp2(s[j].v[e] * turn) + 1.0f), cap);
}

/* Scores times `by` less slope times what the key is away from the row, of which the step's first key is `ahead`. */
GPU_FN void bulk_tilt(struct mma_tile (&s)[STEP / 16], u32 half, f32 by, f32 slope, i32 ahead) {
    f32 from = (f32)(ahead + (i32)attention_first());
    GPU_UNROLL for (int j = 0; j < STEP / 16; j++) GPU_UNROLL for (u32 n = 0; n < ATTENTION_EACH; n++) {
        u32 e = attention_element(half, n);
        f32 away = from + (f32)(j * 16 + attention_ahead(e));
        s[j].v[e] = gpu_fma(s[j].v[e], by, -slope * (away < 0 ? -away : away));
    }
}

/* Cap, slopes, mask, and what a row may not see, on the scores of a step. What brings scores to logarithms to the base 2. */
template <typename T>
GPU_FN f32 bulk_adjust(const struct gpu_attention_bulk &p, const struct bulk_seat &seat, u32 key,
                       struct mma_tile (&s)[STEP / 16], const struct bulk_words &words) {
    const struct attention_row *rows = seat.rows + gpu_wave() % 4 * 16;
    f32 by = p.scale;
    if (p.cap > 0) {
        bulk_cap(s, p.cap, p.turn);
        by = 1;
    }
    if (p.a.slopes) {
        GPU_UNROLL for (u32 half = 0; half < 2; half++) {
            const struct attention_row &row = rows[attention_line(half)];
            bulk_tilt(s, half, by, row.slope, (i32)(seat.begin + key - row.position));
        }
        by = 1;
    }
    if (bulk_adds(p.a) && gpu_ballot(bulk_any(words))) {
        GPU_UNROLL for (int j = 0; j < STEP / 16; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e += 2)
            bulk_add(s[j].v[e], s[j].v[e + 1], by, words.word[attention_half(e)][j * 2 + e / 4], T());
        by = 1;
    } else if (p.bits.words && gpu_ballot((words.word[0][0] & words.word[1][0]) != 0xffffffffu)) {
        GPU_UNROLL for (int j = 0; j < STEP / 16; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            if (!(words.word[attention_half(e)][0] >> (j * 4 + e / 4 * 2 + e % 2) & 1)) s[j].v[e] = attention_lowest(0.0f);
    }
    if (key < seat.free.begin || key + STEP > seat.free.end) group_hide(p.a, s, rows, seat.begin + key, seat.keys - key);
    return by * 1.4426950408889634f;
}

/* ---- steps ---- */

/* Makes the scores of a tile's first step. */
template <typename T, typename S>
GPU_FN void bulk_first(const struct bulk_work<S> &work, struct bulk_way &way, struct mma_tile (&s)[STEP / 16],
                       struct bulk_words &words) {
    bulk_meet(work, KEYS, way.keys);
    bulk_turn(work);
    group_begin();
    attention_score_keys<T, S::DIM, STEP>(s, bulk_queries(work, way.tile.stage), bulk_step(work, KEYS, way.keys.stage));
    bulk_give_turn(work);
    bulk_look(work, way.tile.stage, 0, words);
    group_wait<0>();
    group_hold(s);
    bulk_leave(work, KEYS, way.keys);
}

/* A step makes weights of scores, and multiplies the keys of the next step and the values of this one. Its code is long, so
 * that it is there once: the first one finds nothing to wait for. What it needs of the mask is read a step ahead. */
template <typename T, typename S> GPU_FN void bulk_run(const struct bulk_work<S> &work, struct bulk_way &way) {
    struct bulk_seat *seat = &work.block.seats[way.tile.stage][work.group], *next = seat;
    struct mma_tile all[1][STEP / 16], (&s)[STEP / 16] = all[0];
    struct mma_fragment x[STEP / 16];
    struct attention_sums<1, S::DIM / 16> sums;
    struct bulk_running now;
    struct bulk_words words;
    f32 fade[2];
    mma_clear(all);
    mma_clear(sums.out);
    bulk_first<T>(work, way, s, words);
    bulk_begin(now);
    u32 step = 0, tile = way.tile.stage;
    bool first = true, last = false, more = true;
    GPU_NO_UNROLL for (;;) {
        f32 by = bulk_adjust<T>(work.all, *next, step * STEP, s, words);
        if (step + 1 < next->mine) bulk_look(work, way.tile.stage, (step + 1) * STEP, words);
        bool moved = group_weigh(s, now.most, now.total, by, fade) && !last;
        if (last) fade[0] = fade[1] = 1;
        bulk_follow(sums.out[0], now, moved, fade);
        if (!first) bulk_leave(work, VALUES, way.values);
        first = false;
        if (last) {
            bulk_skip_values(work, way.values, bulk_rest(*seat));
            bulk_end<T>(work, *seat, sums, tile, way.owed);
            mma_clear(sums.out);
            if (!more) break;
            seat = next;
        }
        attention_pack<T>(x, s);
        tile = way.tile.stage;
        last = ++step == seat->mine;
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
        if (last && more) bulk_look(work, way.tile.stage, 0, words);
        group_wait<1>();
        group_hold(s);
        if (more) bulk_leave(work, KEYS, way.keys);
        if (last) {
            bulk_keep(sums, now);
            bulk_begin(now);
        }
    }
}

#define ATTENTION_BULK_MASK(dim, type)                                                                                 \
    BULK_KERNEL_AHEAD(attention_bulk_mask_##dim##_##type, struct gpu_attention_bulk, GPU_ATTENTION_BULK_THREADS(2)) {  \
        attention_bulk<type, struct bulk_shape<dim, 2, true>, 232, 40>(p);                                             \
    }

/* ---- masks beforehand ---- */

/* Which of four bytes are not 0, as bits 0 to 3. */
GPU_FN u32 bulk_bits(u32 x) {
    x = (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
    return (x >> 7) * 0x10204080u >> 28;
}

/* The offset in a mask of the row of that number. */
GPU_FN i64 bulk_row(const struct gpu_attention_lay &p, u32 row) {
    u32 head = row / p.queries, batch = head / p.heads;
    return batch * p.stride[0] + (head - batch * p.heads) * p.stride[1] + (row - head * p.queries) * p.stride[2];
}

GPU_FN void bulk_make_bits(const struct gpu_attention_lay &p) {
    GPU_NO_UNROLL for (i64 i = (i64)gpu_global(); i < p.rows * p.pitch; i += (i64)gpu_stride()) {
        u32 row = (u32)(i / p.pitch), chunk = (u32)(i - (i64)row * p.pitch);
        const u8 *from = (const u8 *)p.from + bulk_row(p, row) + (i64)chunk * 32 * p.stride[3];
        i32 left = (i32)p.keys - (i32)chunk * 32;
        u32 all = 0;
        if (left >= 32 && p.stride[3] == 1 && (u64)from % 16 == 0) {
            GPU_UNROLL for (u32 w = 0; w < 8; w++) all |= bulk_bits(((const u32 *)from)[w]) << w * 4;
        } else {
            GPU_UNROLL for (i32 k = 0; k < 32; k++)
                if (k < left && from[k * p.stride[3]]) all |= 1u << k;
        }
        u8 *to = (u8 *)((u32 *)p.to + (i64)row * p.pitch + chunk / 4 * 4) + chunk % 4;
        GPU_UNROLL for (u32 w = 0; w < 4; w++) {
            u32 some = all >> w * 2 & 0x03030303u;
            to[w * 4] = (u8)(some | some >> 6 | some >> 12 | some >> 18);
        }
    }
}

GPU_FN void bulk_lay(const struct gpu_attention_lay &p) {
    GPU_NO_UNROLL for (i64 i = (i64)gpu_global(); i < p.rows * p.pitch; i += (i64)gpu_stride()) {
        u32 row = (u32)(i / p.pitch), key = (u32)(i - (i64)row * p.pitch);
        ((u16 *)p.to)[i] = key < p.keys ? ((const u16 *)p.from)[bulk_row(p, row) + key * p.stride[3]] : (u16)0;
    }
}
#else
/* The host asks for these only where they are. */
#define ATTENTION_BULK_MASK(dim, type)                                                                                 \
    GPU_KERNEL(attention_bulk_mask_##dim##_##type, struct gpu_attention_bulk) { (void)p; }
GPU_FN void bulk_make_bits(const struct gpu_attention_lay &) {}
GPU_FN void bulk_lay(const struct gpu_attention_lay &) {}
#endif

ATTENTION_BULK_MASK(64, bf16)
ATTENTION_BULK_MASK(64, f16)
ATTENTION_BULK_MASK(128, bf16)
ATTENTION_BULK_MASK(128, f16)
GPU_KERNEL(attention_mask_bits, struct gpu_attention_lay) { bulk_make_bits(p); }
GPU_KERNEL(attention_mask_lay, struct gpu_attention_lay) { bulk_lay(p); }
