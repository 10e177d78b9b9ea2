/* Scaled dot product attention of bf16 and f16 by matrix instructions with asynchronous copies (after Dao,
 * "FlashAttention-2"). q, k and v have elements side by side and rows at multiples of 16 bytes; depth and width are at
 * most DIM.
 *
 * A block of four waves has 64 * TILES queries, 16 * TILES a wave. The values of a step of KEYS keys arrive while its
 * scores are made, the keys of the next while its values are added. Scores are kept times log2 e. */
#include "attention_common.h"
#include "mma.h"

#if MMA && MMA_ASYNC
enum { THREADS = 128 };
GPU_DYNAMIC_SHARED(gpu_16, attention_shared);

/* A piece of 16 bytes of a row of DIM elements into LDS, where piece c of row r lies at c ^ r % 8. */
template <int DIM> GPU_FN void attention_copy(mma_lds lds, u32 row, const u16 *from, u32 nbytes) {
    mma_copy16_at(lds + row * (DIM * 2) + (gpu_thread() % (DIM / 8) ^ row % 8) * 16, from, nbytes);
}
/* Bytes of this thread's pieces that exist in rows of so many elements. */
template <int DIM> GPU_FN u32 attention_bytes(i64 elements) {
    i64 left = elements - gpu_thread() % (DIM / 8) * 8;
    return left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
}

/* KEYS keys or values from number `first` of `keys`; the rest are zeros. */
template <int DIM, int KEYS>
GPU_FN void attention_copy_keys(mma_lds lds, const u16 *from, i64 stride, u32 first, u32 keys, u32 nbytes) {
    enum { ROWS = THREADS / (DIM / 8) };
    /* A piece, or a key, that is not there is not asked for, but its address must be one. */
    u32 piece = nbytes ? gpu_thread() % (DIM / 8) * 8 : 0;
    /* Two at a time: more addresses at once have no registers. */
    GPU_NO_UNROLL for (u32 j0 = 0; j0 < KEYS / ROWS; j0 += 2) GPU_UNROLL for (u32 j = j0; j < j0 + 2; j++) {
        u32 row = gpu_thread() / (DIM / 8) + j * ROWS, key = first + row;
        attention_copy<DIM>(lds, row, from + (key < keys ? key : 0) * stride + piece, key < keys ? nbytes : 0);
    }
}

/* What a lane has of the rows of its wave: of tile i those of number half * 8 + lane / 4. */
template <int TILES, int STEPS> struct attention_sums {
    struct mma_tile out[TILES][STEPS];
    f32 most[TILES][2], total[TILES][2]; /* totals are of the lane's own keys until attention_store */
};

template <int TILES, int COLUMNS> GPU_FN void attention_clear(struct mma_tile (&tiles)[TILES][COLUMNS]) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) tiles[i][j].v[e] = 0;
}
template <int TILES, int COLUMNS> GPU_FN void attention_scale(struct mma_tile (&tiles)[TILES][COLUMNS], f32 by) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) tiles[i][j].v[e] *= by;
}

/* The mask on the scores of one row, of which it sees keys from .. to - 1. DENSE: elements lie side by side, so that all
 * of a lane's have one address. */
template <typename T, bool DENSE, int COLUMNS>
GPU_FN void attention_mask(const struct gpu_attention &p, struct mma_tile (&s)[COLUMNS], u32 half, i64 mask, i32 from,
                           i32 to) {
    const u8 *keep = (const u8 *)p.mask + mask;
    const T *add = (const T *)p.mask + mask;
    u32 own = mma_column(0);
    if (DENSE) {
        keep += own;
        add += own;
    }
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
        u32 column = j * 16 + e / 4 * 8 + e % 2; /* own + column is the column of element e */
        i32 key = (i32)(own + column);
        i64 at = DENSE ? (i64)column : key * p.mask_stride[3];
        if (key < from || key >= to) continue;
        if (p.masked == GPU_ATTENTION_ADD)
            s[j].v[e] = attention_plus(s[j].v[e], gpu_up(add[at]));
        else if (!keep[at])
            s[j].v[e] = attention_lowest(0.0f);
    }
}

/* The mask, and what a row may not see. */
template <typename T, int COLUMNS>
GPU_FN void attention_hide(const struct gpu_attention &p, struct mma_tile (&s)[COLUMNS], u32 half, i64 mask, i32 from,
                           i32 to) {
    /* With few columns there are no registers for both ways. */
    if (p.masked != GPU_ATTENTION_FREE && COLUMNS > 2 && p.mask_stride[3] == 1)
        attention_mask<T, (COLUMNS > 2)>(p, s, half, mask, from, to);
    else if (p.masked != GPU_ATTENTION_FREE)
        attention_mask<T, false>(p, s, half, mask, from, to);
    GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
        i32 key = (i32)(j * 16 + mma_column(e));
        if (key < from || key >= to) s[j].v[e] = attention_lowest(0.0f);
    }
}

/* Soft cap, slopes, mask, and what a row may not see, on scores times scale of `keys` keys from number key0 on. */
template <typename T, int TILES, int COLUMNS>
GPU_FN void attention_adjust(const struct gpu_attention &p, struct mma_tile (&s)[TILES][COLUMNS],
                             const struct attention_row *rows, i64 key0, u32 keys) {
    if (p.cap > 0) {
        f32 cap = (f32)p.cap, turn = 2.8853900817779268f / cap;
        /* tanh x = 1 - 2 / (e^2x + 1) */
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
                s[i][j].v[e] = cap * (1.0f - 2.0f * mma_reciprocal(mma_exp2(s[i][j].v[e] * turn) + 1.0f));
    }
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        const struct attention_row *row = rows + i * 16 + half * 8 + gpu_lane() / 4;
        i32 position = (i32)(row->position - key0), to = position + (i32)p.right + 1;
        if (p.slopes) {
            f32 slope = row->slope;
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
                i32 ahead = (i32)(j * 16 + mma_column(e)) - position;
                s[i][j].v[e] -= slope * (f32)(ahead < 0 ? -ahead : ahead);
            }
        }
        attention_hide<T>(p, s[i], half, row->mask + key0 * p.mask_stride[3], position - (i32)p.left,
                          to < (i32)keys ? to : (i32)keys);
    }
}

/* q k^T for a step of keys. */
template <typename T, int DIM, int TILES, int COLUMNS>
GPU_FN void attention_multiply(mma_lds qs, mma_lds ks, struct mma_tile (&s)[TILES][COLUMNS]) {
    u32 lane = gpu_lane(), low = lane % 8;
    u32 q_base = (gpu_wave() * (16 * TILES) + lane % 16) * (DIM * 2) + (lane / 16 ^ low) * 16;
    u32 k_base = (low + lane / 16 * 8) * (DIM * 2) + (lane / 8 % 2 ^ low) * 16;
    attention_clear(s);
    GPU_UNROLL for (u32 d = 0; d < DIM / 16; d++) {
        struct mma_fragment x[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++) x[i] = mma_load_at<false>(qs + (q_base ^ d * 32) + i * (16 * DIM * 2));
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) {
            struct mma_fragment y = mma_load_at<false>(ks + (k_base ^ d * 32) + j * (16 * DIM * 2));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(s[i][j], x[i], y);
        }
    }
}

/* Makes weights of scores times log2 e, and brings the sums up to date for them. */
template <int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_weigh(struct mma_tile (&s)[TILES][COLUMNS], struct attention_sums<TILES, STEPS> &sums) {
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 high = sums.most[i][half], sum = 0;
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            if (e / 2 % 2 == half) high = s[i][j].v[e] > high ? s[i][j].v[e] : high;
        GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) {
            f32 other = gpu_shuffle_xor(high, lanes);
            high = other > high ? other : high;
        }
        /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
        f32 base = high == attention_lowest(high) ? 0 : high, fade = mma_exp2(sums.most[i][half] - base);
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            if (e / 2 % 2 == half) sum += s[i][j].v[e] = mma_exp2(s[i][j].v[e] - base);
        sums.most[i][half] = high;
        sums.total[i][half] = sums.total[i][half] * fade + sum;
        GPU_UNROLL for (int c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            if (e / 2 % 2 == half) sums.out[i][c].v[e] *= fade;
    }
}

/* Adds the weighted values of a step of keys. */
template <typename T, int DIM, int TILES, int STEPS, int COLUMNS>
GPU_FN void attention_add(const struct mma_tile (&s)[TILES][COLUMNS], mma_lds vs,
                          struct attention_sums<TILES, STEPS> &sums) {
    u32 lane = gpu_lane(), low = lane % 8;
    u32 v_base = (low + lane / 8 % 2 * 8) * (DIM * 2) + (lane / 16 ^ low) * 16;
    GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) {
        struct mma_fragment x[TILES];
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int w = 0; w < 4; w++)
                x[i].word[w] = mma_pack(s[i][j].v[w * 2], s[i][j].v[w * 2 + 1], T());
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) {
            struct mma_fragment y = mma_load_at<true>(vs + (v_base ^ c * 32) + j * (16 * DIM * 2));
            GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(sums.out[i][c], x[i], y);
        }
    }
}

/* Writes two neighbours of a row, or of its sums of a part of the keys. */
template <typename T>
GPU_FN void attention_put(const struct gpu_attention &p, i64 row, i64 column, f32 x, f32 y, f32 part) {
    bool one = column < p.width, two = column + 1 < p.width;
    if (p.splits > 1) {
        f32 *to = (f32 *)p.partial + row * p.width + column;
        if (one) to[0] = x;
        if (two) to[1] = y;
        return;
    }
    u32 pair = mma_pack(x * part, y * part, T());
    u16 *to = (u16 *)p.out + row * p.width + column;
    if (two && p.width % 2 == 0) {
        *(u32 *)to = pair;
    } else {
        if (one) to[0] = (u16)pair;
        if (two) to[1] = (u16)(pair >> 16);
    }
}

/* Writes the results, or the sums of a part of the keys. The bits of the result are those of the lane's rows that must
 * be summed again, of which there are none unless keys are left out. */
template <typename T, int TILES, int STEPS>
GPU_FN u32 attention_store(const struct gpu_attention &p, const struct attention_row *rows,
                           struct attention_sums<TILES, STEPS> &sums, bool hides) {
    const f32 ln2 = 0.69314718055994531f;
    u32 again = 0;
    GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2)
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int half = 0; half < 2; half++)
                sums.total[i][half] += gpu_shuffle_xor(sums.total[i][half], lanes);
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 sum = sums.total[i][half], part = sum == 0 ? 0 : 1.0f / sum, high = sums.most[i][half] * ln2;
        i64 row = rows[i * 16 + half * 8 + gpu_lane() / 4].out;
        if (row < 0) continue;
        if (p.splits == 1 && p.log_sums && gpu_lane() % 4 == 0) ((f32 *)p.log_sums)[row] = attention_log_sum(high, sum);
        if (p.splits > 1) row += (i64)gpu_block_y() * p.total;
        bool nan = false;
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += 4) {
            f32 x = sums.out[i][c].v[e], y = sums.out[i][c].v[e + 1];
            nan |= x != x || y != y;
            attention_put<T>(p, row, c * 16 + mma_column(e), x, y, part);
        }
        if (hides && nan && sum == sum) again |= 1u << (i * 2 + half);
        if (p.splits > 1 && gpu_lane() % 4 == 0) {
            ((f32 *)p.stats)[row * 2] = high;
            ((f32 *)p.stats)[row * 2 + 1] = sum;
        }
    }
    return again;
}

/* Notes the rows of the block that must be summed again, and sums them. */
template <typename T, int ROWS, int TILES, int STEPS>
GPU_FN void attention_repair(const struct gpu_attention &p, const struct attention_place &at,
                             const struct attention_row *rows, const struct attention_sums<TILES, STEPS> &sums,
                             u32 again) {
    const f32 ln2 = 0.69314718055994531f;
    f32 *notes = (f32 *)attention_shared;
    GPU_NO_UNROLL for (u32 r = gpu_thread(); r < ROWS; r += THREADS) notes[r * 2 + 1] = -1;
    gpu_sync();
    GPU_UNROLL for (u32 i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        u32 r = gpu_wave() * (16 * TILES) + i * 16 + half * 8 + gpu_lane() / 4;
        if (!(again >> (i * 2 + half) & 1)) continue;
        notes[r * 2] = sums.most[i][half] * ln2;
        notes[r * 2 + 1] = sums.total[i][half];
    }
    gpu_sync();
    attention_mend<T, ROWS, THREADS>(p, at, rows, notes, 0, p.width);
}

/* Keys of the block, counted from at.begin, that all rows see, where there is nothing to a score but its scale. */
struct attention_free {
    u32 begin, end;
};
GPU_FN struct attention_free attention_free_of(const struct gpu_attention &p, const struct attention_place &at) {
    i64 begin = at.high - p.left - at.begin, end = at.low + p.right + 1 - at.begin, keys = at.end - at.begin;
    struct attention_free free;
    free.begin = begin > 0 ? (u32)begin : 0;
    free.end = end < 0 ? 0 : end < keys ? (u32)end : (u32)keys;
    if (p.masked != GPU_ATTENTION_FREE || p.cap > 0 || p.slopes) free.end = 0;
    return free;
}

/* The rows of the block, and their queries into LDS. */
template <int DIM, int ROWS>
GPU_FN void attention_begin(const struct gpu_attention &p, const struct attention_place &at, struct attention_row *rows,
                            mma_lds qs) {
    u32 piece = gpu_thread() % (DIM / 8) * 8, nbytes = attention_bytes<DIM>(p.depth);
    for (u32 r = gpu_thread(); r < ROWS; r += THREADS) rows[r] = attention_row_of(p, at, r);
    gpu_sync();
    GPU_NO_UNROLL for (u32 r = gpu_thread() / (DIM / 8); r < ROWS; r += THREADS / (DIM / 8))
        attention_copy<DIM>(qs, r, (const u16 *)p.q + rows[r].q + (nbytes ? piece : 0), rows[r].out >= 0 ? nbytes : 0);
}

template <typename T, int DIM, int TILES, int KEYS> GPU_FN void attention_run(const struct gpu_attention &p) {
    enum { ROWS = 64 * TILES, STEPS = DIM / 16, COLUMNS = KEYS / 16 };
    const f32 log2e = 1.4426950408889634f;
    GPU_SHARED struct attention_row rows[ROWS];
    GPU_SHARED struct attention_place kept; /* for what is rare: registers are few */
    GPU_SHARED u32 any;
    mma_lds qs = mma_lds_of(attention_shared), ks = qs + ROWS * DIM * 2, vs = ks + KEYS * DIM * 2;
    struct attention_place at = attention_locate(p, ROWS);
    if (p.q_starts && p.first == 0 && gpu_block_x() == 0) attention_check_starts(p);
    if (at.row0 >= at.rows) return;
    u32 k_bytes = attention_bytes<DIM>(p.depth), v_bytes = attention_bytes<DIM>(p.width);
    const u16 *k = (const u16 *)p.k + at.k + at.begin * p.k_stride[2];
    const u16 *v = (const u16 *)p.v + at.v + at.begin * p.v_stride[2];
    u32 keys = (u32)(at.end - at.begin);
    const struct attention_row *mine = rows + gpu_wave() * (16 * TILES);
    if (gpu_thread() == 0) {
        any = 0;
        kept = at;
    }
    attention_begin<DIM, ROWS>(p, at, rows, qs);
    struct attention_free free = attention_free_of(p, at);
    attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], 0, keys, k_bytes);
    mma_copy_commit();

    struct attention_sums<TILES, STEPS> sums;
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        sums.most[i][0] = sums.most[i][1] = attention_lowest(0.0f);
        sums.total[i][0] = sums.total[i][1] = 0;
    }
    attention_clear(sums.out);
    GPU_NO_UNROLL for (u32 key = 0; key < keys; key += KEYS) {
        struct mma_tile s[TILES][COLUMNS];
        mma_copy_wait<0>();
        gpu_sync();
        attention_copy_keys<DIM, KEYS>(vs, v, p.v_stride[2], key, keys, v_bytes);
        mma_copy_commit();
        attention_multiply<T, DIM>(qs, ks, s);
        mma_copy_wait<0>();
        gpu_sync();
        if (key + KEYS < keys) attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], key + KEYS, keys, k_bytes);
        mma_copy_commit();
        bool plain = key >= free.begin && key + KEYS <= free.end;
        attention_scale(s, plain ? (f32)p.scale * log2e : (f32)p.scale);
        if (!plain) {
            attention_adjust<T>(p, s, mine, kept.begin + key, keys - key);
            attention_scale(s, log2e);
        }
        attention_weigh(s, sums);
        attention_add<T, DIM>(s, vs, sums);
    }
    mma_copy_wait<0>();
    bool hides = free.begin > 0 || free.end < keys;
    u32 again = attention_store<T>(p, mine, sums, hides);
    if (again) any = 1;
    gpu_sync();
    if (any) attention_repair<T, ROWS>(p, kept, rows, sums, again);
}
#define ATTENTION_RUN(type, dim, tiles, keys) attention_run<type, dim, tiles, keys>(p)
#else
/* The host asks for these only where copies are asynchronous. */
#define ATTENTION_RUN(type, dim, tiles, keys) (void)p
#endif

#define ATTENTION_MMA(type)                                                                                            \
    GPU_KERNEL_OF(attention_mma_64_##type, struct gpu_attention, 128, 2) { ATTENTION_RUN(type, 64, 2, 64); } \
    GPU_KERNEL_OF(attention_mma_128_##type, struct gpu_attention, 128, 2) { ATTENTION_RUN(type, 128, 2, 32); } \
    GPU_KERNEL_OF(attention_mma_256_##type, struct gpu_attention, 128, 2) { ATTENTION_RUN(type, 256, 1, 64); }
ATTENTION_MMA(bf16)
ATTENTION_MMA(f16)
