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
template <int DIM> GPU_FN void attention_copy(u8 *lds, u32 row, const u16 *from, u32 nbytes) {
    mma_copy16(lds + row * (DIM * 2) + (gpu_thread() % (DIM / 8) ^ row % 8) * 16, from, nbytes);
}
/* Bytes of this thread's pieces that exist in rows of so many elements. */
template <int DIM> GPU_FN u32 attention_bytes(i64 elements) {
    i64 left = elements - gpu_thread() % (DIM / 8) * 8;
    return left >= 8 ? 16 : left <= 0 ? 0 : (u32)left * 2;
}

/* KEYS keys or values from number `first` of `keys`; the rest are zeros. */
template <int DIM, int KEYS>
GPU_FN void attention_copy_keys(u8 *lds, const u16 *from, i64 stride, u32 first, u32 keys, u32 nbytes) {
    enum { ROWS = THREADS / (DIM / 8) };
    /* A piece, or a key, that is not there is not asked for, but its address must be one. */
    u32 piece = nbytes ? gpu_thread() % (DIM / 8) * 8 : 0;
    /* Two at a time: more addresses at once have no registers. */
    GPU_NO_UNROLL for (u32 j0 = 0; j0 < KEYS / ROWS; j0 += 2) GPU_UNROLL for (u32 j = j0; j < j0 + 2; j++) {
        u32 row = gpu_thread() / (DIM / 8) + j * ROWS, key = first + row;
        attention_copy<DIM>(lds, row, from + (key < keys ? key : 0) * stride + piece, key < keys ? nbytes : 0);
    }
}

/* Soft cap, mask, and what a row may not see, on scores times scale. Of rows, `index` is how many of the block's keys
 * they see, and `mask` the offset of the first one's. */
template <typename T, int TILES, int COLUMNS>
GPU_FN void attention_adjust(const struct gpu_attention &p, struct mma_tile (&s)[TILES][COLUMNS],
                             const struct attention_row *rows, u32 key0) {
    if (p.cap > 0) {
        f32 cap = (f32)p.cap, turn = 2.8853900817779268f / cap;
        /* tanh x = 1 - 2 / (e^2x + 1) */
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
                s[i][j].v[e] = cap * (1.0f - 2.0f * mma_reciprocal(mma_exp2(s[i][j].v[e] * turn) + 1.0f));
    }
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        const struct attention_row *row = rows + i * 16 + half * 8 + gpu_lane() / 4;
        i32 limit = (i32)row->index - (i32)key0;
        if (p.masked == GPU_ATTENTION_KEEP) {
            const u8 *mask = (const u8 *)p.mask + row->mask + key0 * p.mask_stride[3];
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
                i32 key = (i32)(j * 16 + mma_column(e));
                if (key < limit && !mask[key * p.mask_stride[3]]) s[i][j].v[e] = attention_lowest(0.0f);
            }
        } else if (p.masked == GPU_ATTENTION_ADD) {
            const T *mask = (const T *)p.mask + row->mask + key0 * p.mask_stride[3];
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1) {
                i32 key = (i32)(j * 16 + mma_column(e));
                if (key < limit) s[i][j].v[e] += gpu_up(mask[key * p.mask_stride[3]]);
            }
        }
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += e % 2 ? 3 : 1)
            if ((i32)(j * 16 + mma_column(e)) >= limit) s[i][j].v[e] = attention_lowest(0.0f);
    }
}

template <typename T, int DIM, int TILES, int KEYS> GPU_FN void attention_run(const struct gpu_attention &p) {
    enum { ROWS = 64 * TILES, STEPS = DIM / 16, COLUMNS = KEYS / 16 };
    const f32 log2e = 1.4426950408889634f, ln2 = 0.69314718055994531f;
    GPU_SHARED struct attention_row rows[ROWS];
    u8 *qs = (u8 *)attention_shared, *ks = qs + ROWS * DIM * 2, *vs = ks + KEYS * DIM * 2;
    struct attention_place at = attention_locate(p, ROWS);
    u32 piece = gpu_thread() % (DIM / 8) * 8;
    u32 k_bytes = attention_bytes<DIM>(p.depth), v_bytes = attention_bytes<DIM>(p.width);
    const u16 *k = (const u16 *)p.k + at.k + at.begin * p.k_stride[2];
    const u16 *v = (const u16 *)p.v + at.v + at.begin * p.v_stride[2];
    u32 lane = gpu_lane(), low = lane % 8, mine = gpu_wave() * (16 * TILES);
    u32 keys = at.end > at.begin ? (u32)(at.end - at.begin) : 0;
    for (u32 r = gpu_thread(); r < ROWS; r += THREADS) {
        struct attention_row row = attention_row_of(p, at, r);
        i64 seen = p.causal ? row.index + 1 - at.begin : keys;
        row.index = seen < 0 ? 0 : seen < keys ? seen : keys;
        row.mask += at.begin * p.mask_stride[3];
        rows[r] = row;
    }
    gpu_sync();
    /* Keys that all rows see, where there is nothing to a score but its scale. */
    u32 free_keys = p.masked != GPU_ATTENTION_FREE || p.cap > 0 ? 0 : keys;
    if (p.causal && free_keys > 0) {
        i64 first = (p.merged ? 0 : at.row0) + 1 - at.begin; /* what the first query sees */
        free_keys = first < 0 ? 0 : first < keys ? (u32)first : keys;
    }
    GPU_NO_UNROLL for (u32 r = gpu_thread() / (DIM / 8); r < ROWS; r += THREADS / (DIM / 8))
        attention_copy<DIM>(qs, r, (const u16 *)p.q + rows[r].q + (k_bytes ? piece : 0),
                            rows[r].out >= 0 ? k_bytes : 0);
    attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], 0, keys, k_bytes);
    mma_copy_commit();

    u32 q_base = (mine + lane % 16) * (DIM * 2) + (lane / 16 ^ low) * 16;
    u32 k_base = (low + lane / 16 * 8) * (DIM * 2) + (lane / 8 % 2 ^ low) * 16;
    u32 v_base = (low + lane / 8 % 2 * 8) * (DIM * 2) + (lane / 16 ^ low) * 16;
    struct mma_tile out[TILES][STEPS];
    f32 most[TILES][2], total[TILES][2];
    GPU_UNROLL for (int i = 0; i < TILES; i++) {
        most[i][0] = most[i][1] = attention_lowest(0.0f);
        total[i][0] = total[i][1] = 0;
        GPU_UNROLL for (int c = 0; c < STEPS; c++) GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) out[i][c].v[e] = 0;
    }
    GPU_NO_UNROLL for (u32 key = 0; key < keys; key += KEYS) {
        mma_copy_wait<0>();
        gpu_sync();
        attention_copy_keys<DIM, KEYS>(vs, v, p.v_stride[2], key, keys, v_bytes);
        mma_copy_commit();
        struct mma_tile s[TILES][COLUMNS];
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s[i][j].v[e] = 0;
        GPU_UNROLL for (u32 d = 0; d < STEPS; d++) {
            struct mma_fragment x[TILES];
            GPU_UNROLL for (int i = 0; i < TILES; i++)
                x[i] = mma_load<false>(qs + (q_base ^ d * 32) + i * (16 * DIM * 2));
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) {
                struct mma_fragment y = mma_load<false>(ks + (k_base ^ d * 32) + j * (16 * DIM * 2));
                GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(s[i][j], x[i], y);
            }
        }
        mma_copy_wait<0>();
        gpu_sync();
        if (key + KEYS < keys) attention_copy_keys<DIM, KEYS>(ks, k, p.k_stride[2], key + KEYS, keys, k_bytes);
        mma_copy_commit();

        bool free = key + KEYS <= free_keys;
        f32 factor = free ? (f32)p.scale * log2e : (f32)p.scale;
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s[i][j].v[e] *= factor;
        if (!free) {
            attention_adjust<T, TILES, COLUMNS>(p, s, rows + mine, key);
            GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++)
                GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) s[i][j].v[e] *= log2e;
        }
        GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
            f32 high = most[i][half], sum = 0;
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
                if (e / 2 % 2 == half) high = s[i][j].v[e] > high ? s[i][j].v[e] : high;
            GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2) {
                f32 other = gpu_shuffle_xor(high, lanes);
                high = other > high ? other : high;
            }
            /* While all scores are -inf their weights are 0, as exp(-inf - 0) is. */
            f32 base = high == attention_lowest(high) ? 0 : high, fade = mma_exp2(most[i][half] - base);
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
                if (e / 2 % 2 == half) sum += s[i][j].v[e] = mma_exp2(s[i][j].v[e] - base);
            most[i][half] = high;
            total[i][half] = total[i][half] * fade + sum; /* of this lane's keys alone, until the end */
            GPU_UNROLL for (int c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
                if (e / 2 % 2 == half) out[i][c].v[e] *= fade;
        }
        GPU_UNROLL for (u32 j = 0; j < COLUMNS; j++) {
            struct mma_fragment x[TILES];
            GPU_UNROLL for (int i = 0; i < TILES; i++)
                GPU_UNROLL for (int w = 0; w < 4; w++)
                    x[i].word[w] = mma_pack(s[i][j].v[w * 2], s[i][j].v[w * 2 + 1], T());
            GPU_UNROLL for (u32 c = 0; c < STEPS; c++) {
                struct mma_fragment y = mma_load<true>(vs + (v_base ^ c * 32) + j * (16 * DIM * 2));
                GPU_UNROLL for (int i = 0; i < TILES; i++) mma<T>(out[i][c], x[i], y);
            }
        }
    }
    mma_copy_wait<0>();

    GPU_UNROLL for (u32 lanes = 1; lanes < 4; lanes *= 2)
        GPU_UNROLL for (int i = 0; i < TILES; i++)
            GPU_UNROLL for (int half = 0; half < 2; half++) total[i][half] += gpu_shuffle_xor(total[i][half], lanes);
    GPU_UNROLL for (int i = 0; i < TILES; i++) GPU_UNROLL for (u32 half = 0; half < 2; half++) {
        f32 sum = total[i][half], part = sum == 0 ? 0 : 1.0f / sum;
        i64 row = rows[mine + i * 16 + half * 8 + lane / 4].out;
        if (row < 0) continue;
        if (p.splits > 1) row += (i64)gpu_block_y() * p.total;
        GPU_UNROLL for (u32 c = 0; c < STEPS; c++) GPU_UNROLL for (u32 e = half * 2; e < MMA_SUMS; e += 4) {
            i64 column = c * 16 + mma_column(e);
            f32 x = out[i][c].v[e], y = out[i][c].v[e + 1];
            if (p.splits > 1) {
                if (column < p.width) ((f32 *)p.partial)[row * p.width + column] = x;
                if (column + 1 < p.width) ((f32 *)p.partial)[row * p.width + column + 1] = y;
                continue;
            }
            u32 pair = mma_pack(x * part, y * part, T());
            u16 *to = (u16 *)p.out + row * p.width + column;
            if (column + 1 < p.width && p.width % 2 == 0) {
                *(u32 *)to = pair;
            } else {
                if (column < p.width) to[0] = (u16)pair;
                if (column + 1 < p.width) to[1] = (u16)(pair >> 16);
            }
        }
        if (p.splits > 1 && lane % 4 == 0) {
            ((f32 *)p.stats)[row * 2] = most[i][half] * ln2;
            ((f32 *)p.stats)[row * 2 + 1] = sum;
        }
    }
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
