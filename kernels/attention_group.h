/* Rows of attention's operands as matrix instructions of groups of waves have them in LDS. */
#ifndef WICK_KERNELS_ATTENTION_GROUP_H
#define WICK_KERNELS_ATTENTION_GROUP_H

#include "attention_tiles.h"
#include "mma_group.h"

#if MMA_GROUP
enum { GROUP = 128 }; /* threads */

/* Rows of DIM elements have whole steps of 64 in LDS. */
template <int DIM> struct attention_wide {
    enum { value = (DIM + 63) / 64 * 64 };
};

/* Where piece c of 16 bytes of row r of WIDE elements lies in LDS: in the step of 64 terms that has it, of which blocks of
 * LINES rows have a line each. */
template <int WIDE, int LINES> GPU_FN u32 attention_piece(u32 row, u32 piece) {
    u32 line = (row / LINES * (WIDE / 64) + piece / 8) * LINES + row % LINES;
    return line * GROUP_LINE + (piece % 8 ^ row % 8) * 16;
}

/* The queries of a block, whose rows are there. */
template <int WIDE, int ROWS, int THREADS>
GPU_FN void attention_fill_queries(const struct gpu_attention &p, const struct attention_row *rows, mma_lds lds) {
    u32 piece = gpu_thread() % (WIDE / 8), nbytes = attention_bytes<WIDE>(p.depth);
    GPU_UNROLL for (u32 r = gpu_thread() / (WIDE / 8); r < ROWS; r += THREADS / (WIDE / 8)) {
        u32 n = rows[r].out >= 0 ? nbytes : 0;
        mma_copy16_at(lds + attention_piece<WIDE, 64>(r, piece), (const u16 *)p.q + (n ? rows[r].q + piece * 8 : 0), n);
    }
}

/* Keys or values of a block: `keys` rows, of which this thread copies `nbytes` of its piece. */
struct attention_source {
    const u16 *from;
    i64 stride;
    u32 keys, nbytes;
};

/* A step of them from number `first` on, by a group; the rest are zeros. What lies past the end of all rows is written when
 * the place is `fresh`, and stays. */
template <int WIDE, int KEYS, int LINES>
GPU_FN void attention_fill(mma_lds lds, const struct attention_source &source, u32 first, bool fresh) {
    enum { PER = GROUP / (WIDE / 8) };
    u32 piece = gpu_thread() % (WIDE / 8), line = gpu_thread() % GROUP / (WIDE / 8);
    const u16 *at = source.from + (i64)(first + line) * source.stride + piece * 8;
    mma_lds to = lds + attention_piece<WIDE, LINES>(line, piece);
    if (source.nbytes == 16 && first + KEYS <= source.keys) {
        GPU_UNROLL for (u32 j = 0; j < KEYS / PER; j++, at += PER * source.stride)
            mma_copy16_whole_at(to + attention_piece<WIDE, LINES>(j * PER, 0), at);
    } else if (source.nbytes > 0 || fresh) {
        GPU_NO_UNROLL for (u32 j = 0; j < KEYS / PER; j++, at += PER * source.stride) {
            u32 n = first + line + j * PER < source.keys ? source.nbytes : 0;
            mma_copy16_at(lds + attention_piece<WIDE, LINES>(line + j * PER, piece), n ? at : source.from, n);
        }
    }
}

/* Tiles as left operands of the next products. */
template <typename T, int TILES>
GPU_FN void attention_pack(struct mma_fragment (&x)[TILES], const struct mma_tile (&s)[TILES]) {
    GPU_UNROLL for (int j = 0; j < TILES; j++) GPU_UNROLL for (int w = 0; w < 4; w++)
        x[j].word[w] = mma_pack(s[j].v[w * 2], s[j].v[w * 2 + 1], T());
}

/* Scores of a step of keys, values of a step of weights; they come when they are waited for. */
template <typename T, int DIM, int KEYS>
GPU_FN void attention_score_keys(struct mma_tile (&s)[KEYS / 16], const u8 *q, const u8 *k) {
    enum { REST = DIM > 64 ? DIM / 16 - 4 : 4 };
    group_multiply<T, false, false, true>(s, q, k);
    if (DIM > 64) group_multiply<T, false, false, false, REST>(s, q + GROUP_BLOCK, k + KEYS * GROUP_LINE);
    group_commit();
}
template <typename T, int DIM, int KEYS>
GPU_FN void attention_add_values(struct mma_tile (&out)[DIM / 16], const struct mma_fragment (&x)[KEYS / 16],
                                 const u8 *v) {
    GPU_UNROLL for (int step = 0; step < KEYS / 64; step++)
        group_multiply_kept<T, true>(out, x + step * 4, v + step * (attention_wide<DIM>::value / 64 * GROUP_BLOCK));
    group_commit();
}
#endif

#endif
