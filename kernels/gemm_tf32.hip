/* Matrix products of f32 by matrix instructions of eleven bits, as mma_tf32.h says, in tiles of 128 x 128, 64 x 128 or
 * 64 x 64. Operands have any strides: copies of 16 bytes or of 4 bring them to LDS. */
#include "gemm_mma_store.h"
#include "mma_tf32.h"

#if MMA && MMA_ASYNC
/* This thread's pieces of an operand: from one to the next it is a constant number of rows, or of terms in LINES. */
enum tf32_pieces { NARROW, WIDE, LINES }; /* one term; four terms; four rows, where LDS has rows innermost */
enum { WIDE_ROWS = GPU_BLOCK * 4 / TF32_STEP, NARROW_ROWS = GPU_BLOCK / TF32_STEP };
struct tf32_side {
    const f32 *from;
    int left;  /* terms of k from this thread's first piece to the end */
    u32 place; /* in LDS */
    u32 there; /* a bit a piece that has a row; LINES: bytes that have */
    enum tf32_pieces pieces;
};

/* Operands across k are copied one by one unless `lines`. */
template <int ROWS>
GPU_FN struct tf32_side tf32_side_of(const struct gpu_gemm_side &side, const struct gemm_place &at, i64 offset, i64 row0,
                                     i64 rows, bool lines) {
    struct tf32_side s;
    u32 t = gpu_thread(), along_k = side.mode & GPU_GEMM_ALONG_K, row = t / 32, k = t % 32, step = NARROW_ROWS;
    s.pieces = side.mode & GPU_GEMM_VECTOR ? along_k ? WIDE : lines ? LINES : NARROW : NARROW;
    if (s.pieces == WIDE) {
        row = t / 8;
        k = t % 8 * 4;
        step = WIDE_ROWS;
    } else if (s.pieces == LINES) {
        row = t % 32 * 4;
        k = t / 32;
    } else if (!along_k) { /* eight rows of four terms a wave */
        row = t % 8;
        k = t / 8;
    }
    s.from = (const f32 *)side.from + offset + (row0 + row) * side.row + (at.k0 + k) * side.k;
    s.left = (int)(at.k1 - at.k0) - (int)k;
    s.place = (s.pieces == LINES ? k * TF32_LINE + row : row * TF32_PITCH + k) * 4;
    s.there = 0;
    if (s.pieces == LINES)
        s.there = row0 + row >= rows ? 0 : rows - row0 - row < 4 ? (u32)(rows - row0 - row) * 4 : 16;
    else
        GPU_UNROLL for (u32 j = 0; j < ROWS / NARROW_ROWS; j++) if (row0 + row + j * step < rows) s.there |= 1u << j;
    return s;
}

/* What does not exist is not read, and 0. */
template <int ROWS> GPU_FN void tf32_side_copy(struct tf32_side &s, const struct gpu_gemm_side &side, mma_lds lds) {
    lds += s.place;
    if (s.pieces == WIDE) {
        u32 n = s.left >= 4 ? 16 : s.left <= 0 ? 0 : (u32)s.left * 4;
        GPU_UNROLL for (u32 j = 0; j < ROWS / WIDE_ROWS; j++)
            mma_copy16_at(lds + j * (WIDE_ROWS * TF32_PITCH * 4), s.from + j * (WIDE_ROWS * side.row),
                          s.there >> j & 1 ? n : 0);
    } else if (s.pieces == LINES) {
        GPU_UNROLL for (int j = 0; j < 4; j++)
            mma_copy16_at(lds + j * (8 * TF32_LINE * 4), s.from + j * (8 * side.k), s.left > j * 8 ? s.there : 0);
    } else {
        u32 n = s.left > 0 ? 4 : 0;
        GPU_UNROLL for (u32 j = 0; j < ROWS / NARROW_ROWS; j++)
            mma_copy4_at(lds + j * (NARROW_ROWS * TF32_PITCH * 4), s.from + j * (NARROW_ROWS * side.row),
                         s.there >> j & 1 ? n : 0);
    }
    s.from += TF32_STEP * side.k;
    s.left -= TF32_STEP;
}

template <int ROWS, int COLUMNS> struct gemm_source {
    enum { STAGE = GPU_TF32_STAGE(ROWS, COLUMNS), B = ROWS * TF32_PITCH * 4 };
    const struct gpu_gemm &p;
    struct tf32_side a, b;
};
template <int ROWS, int COLUMNS> GPU_FN void tf32_copy(struct gemm_source<ROWS, COLUMNS> &s, mma_lds to) {
    tf32_side_copy<ROWS>(s.a, s.p.a, to);
    tf32_side_copy<COLUMNS>(s.b, s.p.b, to + gemm_source<ROWS, COLUMNS>::B);
}
template <int ROWS, int COLUMNS> GPU_FN bool tf32_a_lines(const struct gemm_source<ROWS, COLUMNS> &s) {
    return s.a.pieces == LINES;
}
template <int ROWS, int COLUMNS> GPU_FN bool tf32_b_lines(const struct gemm_source<ROWS, COLUMNS> &s) {
    return s.b.pieces == LINES;
}

template <int ROWS, int COLUMNS> struct gemm_work {
    const struct gpu_gemm &p;
    const struct gemm_place &at;
    u32 steps;
};
template <int ROWS, int COLUMNS>
GPU_FN struct gemm_source<ROWS, COLUMNS> tf32_source(const struct gemm_work<ROWS, COLUMNS> &w, bool lines) {
    i64 row = (i64)w.at.tile_row * ROWS, column = (i64)w.at.tile_column * COLUMNS;
    return {w.p, tf32_side_of<ROWS>(w.p.a, w.at, w.at.a, row, w.p.m, lines),
            tf32_side_of<COLUMNS>(w.p.b, w.at, w.at.b, column, w.p.n, lines)};
}
GPU_FN u32 tf32_steps(const struct gemm_place &at) { return (u32)((at.k1 - at.k0 + TF32_STEP - 1) / TF32_STEP); }

template <int ROWS, int COLUMNS> GPU_FN void tf32_product(const struct gpu_gemm &p) {
    enum { MI = ROWS / 32, NI = COLUMNS / 16 / WAVE_COLUMNS };
    struct gemm_place at = gemm_locate(p);
    struct gemm_work<ROWS, COLUMNS> work = {p, at, tf32_steps(at)};
    struct mma_tile sum[MI][NI];
    tf32_tile<ROWS, COLUMNS>(work, p.stages, sum);
    mma_store<f32, MI, NI>(p, at, sum, (f32 *)tf32_shared);
}
#define TF32_PRODUCT(rows, columns) tf32_product<rows, columns>(p)
#if MMA_GROUP
GPU_FN void tf32_group_product(const struct gpu_gemm &p) {
    struct gemm_place at = gemm_locate(p);
    struct gemm_work<TF32_ROWS, 128> work = {p, at, tf32_steps(at)};
    struct mma_tile sum[1][8];
    tf32_group_tile(work, sum);
    mma_store<f32, 1, 8, 1>(p, at, sum, (f32 *)tf32_group_stages<128>());
}
#define TF32_LARGE tf32_group_product(p)
#else
#define TF32_LARGE TF32_PRODUCT(128, 128)
#endif
#else
/* The host never asks for these elsewhere. */
#define TF32_PRODUCT(rows, columns) (void)p
#define TF32_LARGE (void)p
#endif

/* Blocks that a unit shall have registers for. */
#if MMA && MMA_GROUP
enum { TF32_BLOCKS = 2 };
#else
enum { TF32_BLOCKS = 1 };
#endif
GPU_KERNEL_OF(gemm_tf32_64, struct gpu_gemm, GPU_BLOCK, TF32_BLOCKS) { TF32_PRODUCT(64, 64); }
GPU_KERNEL_OF(gemm_tf32_64_128, struct gpu_gemm, GPU_BLOCK, TF32_BLOCKS) { TF32_PRODUCT(64, 128); }
GPU_KERNEL(gemm_tf32_128, struct gpu_gemm) { TF32_LARGE; }
