/* Products of f32 by matrix instructions that read eleven bits of an operand (TF32): x = high + low, of eleven bits each,
 * and a b = high high + high low + low high. What is left out is at most 2^-21 of a product's magnitude.
 *
 * The instructions cut off what a sum in f32 has no room for, so sums begin anew every 32 terms, and are added up in f32.
 * A low part has its bits only if its element is no smaller than 2^-104, and an infinity makes NaN of its products. A
 * block that meets either makes its tile again in plain arithmetic.
 *
 * A block of 256 threads makes a tile of ROWS x COLUMNS; its waves, 2 x 4 of them, have MI x NI tiles of 16 x 16 each.
 * Where groups of four waves have instructions of their own (mma_group.h), a tile of 128 x 128 or 128 x 64 is two of them,
 * one above the other: while they multiply a step, all threads split the next, A in registers and B in LDS.
 *
 * WORK says what is multiplied: `steps` of 32 terms, and tf32_source(work, lines), which gives a SOURCE. Of that
 * tf32_copy(source, to) copies the next step to LDS: rows of A, then columns of B, TF32_PITCH elements apart, or with
 * `lines`, if tf32_a_lines(source) or tf32_b_lines(source), lines of a term each, TF32_LINE apart. */
#ifndef WICK_KERNELS_MMA_TF32_H
#define WICK_KERNELS_MMA_TF32_H

#include "gemm.h"
#include "mma_group.h"

#if MMA && MMA_ASYNC
enum {
    TF32_STEP = GPU_TF32_STEP,
    TF32_PITCH = GPU_TF32_PITCH, /* eight rows begin in eight different groups of four banks */
    TF32_LINE = 128 + 8,
    TF32_SMALL = 23 << 24, /* twice the bits of 2^-104 */
    TF32_ACROSS = GPU_BLOCK / GPU_WAVE / 2
};
struct alignas(16) tf32_four {
    u32 word[4];
};
struct alignas(1024) tf32_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct tf32_page, tf32_shared);

/* ---- the steps of a product on their way through LDS ---- */

template <typename SOURCE> struct tf32_ring {
    SOURCE source;
    u8 *at;
    u32 stages, left, filled, used; /* steps not asked for yet; the stage of the next, and of the next to be used */
};

template <typename SOURCE> GPU_FN void tf32_fill(struct tf32_ring<SOURCE> &ring) {
    if (ring.left > 0) {
        tf32_copy(ring.source, mma_lds_from(ring.at) + ring.filled * SOURCE::STAGE);
        ring.filled = ring.filled + 1 == ring.stages ? 0 : ring.filled + 1;
        ring.left--;
    }
    mma_copy_commit();
}

template <typename SOURCE>
GPU_FN struct tf32_ring<SOURCE> tf32_begin(const SOURCE &source, u32 steps, u8 *lds, u32 stages) {
    struct tf32_ring<SOURCE> ring = {source, lds, stages, steps, 0, 0};
    GPU_NO_UNROLL for (u32 s = 0; s + 1 < stages; s++) tf32_fill(ring);
    return ring;
}

/* The next step, which all threads can see; the one before it is free again, and to be filled. */
template <typename SOURCE> GPU_FN const f32 *tf32_wait(struct tf32_ring<SOURCE> &ring) {
    mma_copy_wait_but(ring.stages - 2);
    gpu_sync();
    const u8 *from = ring.at + ring.used * SOURCE::STAGE;
    ring.used = ring.used + 1 == ring.stages ? 0 : ring.used + 1;
    return (const f32 *)from;
}
template <typename SOURCE> GPU_FN const f32 *tf32_next(struct tf32_ring<SOURCE> &ring) {
    const f32 *from = tf32_wait(ring);
    tf32_fill(ring);
    return from;
}

/* ---- parts ---- */

/* Four elements, rounded to eleven bits, and of the rest what the instruction reads. NaN stays in the rest. */
template <typename FOUR> GPU_FN void tf32_split(const FOUR &x, FOUR &high, FOUR &low) {
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        high.word[i] = (x.word[i] + 0x1000u) & 0xffffe000u;
        low.word[i] = gpu_bits<u32>(gpu_bits<f32>(x.word[i]) - gpu_bits<f32>(high.word[i]));
    }
}

/* The least of twice the bits of elements that are not zero, less one; then `least`. */
template <typename FOUR> GPU_FN u32 tf32_least_of(const FOUR &x, u32 least) {
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        u32 bits = x.word[i] * 2 - 1;
        least = bits < least ? bits : least;
    }
    return least;
}

/* The same of `rows` rows, of which this thread looks at some. */
template <int ROWS> GPU_FN u32 tf32_least(const f32 *rows, u32 least) {
    const f32 *at = rows + gpu_thread() / 8 * TF32_PITCH + gpu_thread() % 8 * 4;
    GPU_UNROLL for (int j = 0; j < ROWS / 32; j++)
        least = tf32_least_of(*(const struct tf32_four *)(at + j * 32 * TF32_PITCH), least);
    return least;
}

template <int MI, int NI> GPU_FN bool tf32_not_finite(const struct mma_tile (&sum)[MI][NI]) {
    bool any = false;
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
            any |= (gpu_bits<u32>(sum[i][j].v[e]) & 0x7f800000u) == 0x7f800000u;
    return any;
}

/* Whether a thread of the block says so. */
GPU_FN bool tf32_any(bool mine) {
    u32 *note = (u32 *)tf32_shared;
    gpu_sync();
    if (gpu_thread() == 0) *note = 0;
    gpu_sync();
    if (mine) *note = 1;
    gpu_sync();
    bool any = *note != 0;
    gpu_sync();
    return any;
}

/* ---- products of a step ---- */

/* part += x y, of parts: high ones first in the last dim. The small products come first. */
template <int MI, int NI>
GPU_FN void tf32_products(const struct mma_fragment (&x)[MI][2], const struct mma_fragment (&y)[NI][2],
                          struct mma_tile (&part)[MI][NI]) {
    GPU_UNROLL for (int i = 0; i < MI; i++)
        GPU_UNROLL for (int j = 0; j < NI; j++) mma<f32>(part[i][j], x[i][1], y[j][0]);
    GPU_UNROLL for (int i = 0; i < MI; i++)
        GPU_UNROLL for (int j = 0; j < NI; j++) mma<f32>(part[i][j], x[i][0], y[j][1]);
    GPU_UNROLL for (int i = 0; i < MI; i++)
        GPU_UNROLL for (int j = 0; j < NI; j++) mma<f32>(part[i][j], x[i][0], y[j][0]);
}

/* Where a lane reads fragments of rows of A, and of B's columns, PITCH elements apart, from the first one on. */
template <int PITCH> GPU_FN u32 tf32_a_at(void) { return gpu_lane() % 16 * PITCH + gpu_lane() / 16 * 4; }
template <int PITCH> GPU_FN u32 tf32_b_at(void) {
    return (gpu_lane() % 8 + gpu_lane() / 16 * 8) * PITCH + gpu_lane() / 8 % 2 * 4;
}

/* sum += a b over 32 terms. */
template <int PITCH, int MI, int NI>
GPU_FN void tf32_multiply(mma_lds a, mma_lds b, struct mma_tile (&sum)[MI][NI]) {
    struct mma_tile part[MI][NI];
    mma_clear(part);
    GPU_UNROLL for (u32 t = 0; t < TF32_STEP; t += 8) {
        struct mma_fragment x[MI][2], y[NI][2];
        GPU_UNROLL for (int j = 0; j < NI; j++)
            tf32_split(mma_load_at<false>(b + (j * 16 * PITCH + t) * 4), y[j][0], y[j][1]);
        GPU_UNROLL for (int i = 0; i < MI; i++)
            tf32_split(mma_load_at<false>(a + (i * 16 * PITCH + t) * 4), x[i][0], x[i][1]);
        tf32_products(x, y, part);
    }
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) sum[i][j].v[e] += part[i][j].v[e];
}

/* sum += a b over so many terms, in plain arithmetic, term by term. a and b: the wave's first row and column. */
template <int PITCH, int MI, int NI>
GPU_FN void tf32_plain(const f32 *a, const f32 *b, u32 terms, struct mma_tile (&sum)[MI][NI]) {
    a += mma_row(0) * PITCH;
    b += mma_column(0) * PITCH;
    GPU_NO_UNROLL for (u32 k = 0; k < terms; k++) {
        f32 x[MI][2], y[NI][4];
        GPU_UNROLL for (int i = 0; i < MI; i++)
            GPU_UNROLL for (int h = 0; h < 2; h++) x[i][h] = a[(i * 16 + h * 8) * PITCH + k];
        GPU_UNROLL for (int j = 0; j < NI; j++)
            GPU_UNROLL for (int c = 0; c < 4; c++) y[j][c] = b[(j * 16 + c / 2 * 8 + c % 2) * PITCH + k];
        GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
            GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++)
                sum[i][j].v[e] = gpu_fma(x[i][e / 2 % 2], y[j][e / 4 * 2 + e % 2], sum[i][j].v[e]);
    }
}

/* ---- tiles ---- */

/* A tile in plain arithmetic; a and b: where in a step the wave's first rows and columns are. */
template <typename WORK, int MI, int NI>
GPU_FN void tf32_again(const WORK &work, u8 *lds, u32 stages, u32 a, u32 b, struct mma_tile (&sum)[MI][NI]) {
    mma_clear(sum);
    auto ring = tf32_begin(tf32_source(work, false), work.steps, lds, stages);
    GPU_NO_UNROLL for (u32 step = 0; step < work.steps; step++) {
        const f32 *from = tf32_next(ring);
        tf32_plain<TF32_PITCH>(from + a, from + b, TF32_STEP, sum);
    }
    mma_copy_wait<0>();
    gpu_sync();
}

/* By waves, 2 x TF32_ACROSS of them. */
template <int ROWS, int COLUMNS, typename WORK, int MI, int NI>
GPU_FN void tf32_tile(const WORK &work, u32 stages, struct mma_tile (&sum)[MI][NI]) {
    u8 *lds = (u8 *)tf32_shared;
    u32 a = gpu_wave() / TF32_ACROSS * (MI * 16) * TF32_PITCH, least = ~0u;
    u32 b = (ROWS + gpu_wave() % TF32_ACROSS * (NI * 16)) * TF32_PITCH;
    mma_clear(sum);
    auto ring = tf32_begin(tf32_source(work, false), work.steps, lds, stages);
    GPU_NO_UNROLL for (u32 step = 0; step < work.steps; step++) {
        const f32 *from = tf32_next(ring);
        tf32_multiply<TF32_PITCH>(mma_lds_of(from + a + tf32_a_at<TF32_PITCH>()),
                                  mma_lds_of(from + b + tf32_b_at<TF32_PITCH>()), sum);
        least = tf32_least<ROWS>(from, least);
        least = tf32_least<COLUMNS>(from + ROWS * TF32_PITCH, least);
    }
    mma_copy_wait<0>();
    if (tf32_any(least < TF32_SMALL || tf32_not_finite(sum))) tf32_again(work, lds, stages, a, b, sum);
}

#if MMA_GROUP
/* ---- tiles by groups of waves ---- */

enum { TF32_ROWS = 128, TF32_STAGES = 4 };

/* This wave's rows of a step of A, in parts. */
struct tf32_rows {
    struct mma_fragment high[TF32_STEP / 8], low[TF32_STEP / 8];
};

/* Splits eight terms of this wave's rows of A; a lane's first element and its strides in LDS. */
struct tf32_lane {
    u32 from, row, k;
};
GPU_FN struct tf32_lane tf32_lane_of(bool lines) {
    u32 row = lines ? 1 : TF32_PITCH, k = lines ? TF32_LINE : 1;
    return {(gpu_wave() * 16 + gpu_lane() / 4) * row + gpu_lane() % 4 * k, row, k};
}
GPU_FN u32 tf32_split_a(const f32 *a, const struct tf32_lane &lane, u32 t, struct tf32_rows &rows, u32 least) {
    struct mma_fragment x;
    a += lane.from + t * 8 * lane.k;
    GPU_UNROLL for (u32 i = 0; i < 4; i++) x.word[i] = gpu_bits<u32>(a[i % 2 * 8 * lane.row + i / 2 * 4 * lane.k]);
    tf32_split(x, rows.high[t], rows.low[t]);
    return tf32_least_of(x, least);
}

/* Splits a piece of each of B's columns, for this thread's of them, to `high` and behind it low parts. A step has
 * COLUMNS / 32 of such pieces. */
template <bool LINES, int COLUMNS> GPU_FN u32 tf32_split_b(const f32 *b, u32 number, u8 *high, u32 least) {
    u32 column = gpu_thread() % COLUMNS, piece = gpu_thread() / COLUMNS + number * (GPU_BLOCK / COLUMNS);
    struct tf32_four x, parts[2];
    if (LINES)
        GPU_UNROLL for (int i = 0; i < 4; i++) x.word[i] = gpu_bits<u32>(b[(piece * 4 + i) * TF32_LINE + column]);
    else
        x = *(const struct tf32_four *)(b + column * TF32_PITCH + piece * 4);
    tf32_split(x, parts[0], parts[1]);
    u8 *to = high + column * GROUP_LINE + (piece ^ column % 8) * 16;
    *(struct tf32_four *)to = parts[0];
    *(struct tf32_four *)(to + COLUMNS * GROUP_LINE) = parts[1];
    return tf32_least_of(x, least);
}

/* A product on its way. Parts of a step are rows[FROM], and number FROM of those in LDS. */
template <typename SOURCE> struct tf32_group {
    struct tf32_ring<SOURCE> ring;
    struct tf32_lane lane;
    struct tf32_rows rows[2];
    u32 least;
};

/* A step; the next, if there is one, is split to the other parts, or some step is. A wave waits at a product until those
 * before it are nearly done, so a piece of the next step is split after each. Copies are asked for when all is split:
 * group_publish waits for those that are under way. */
template <bool LINES, int FROM, typename SOURCE, int N>
GPU_FN void tf32_group_step(struct tf32_group<SOURCE> &g, bool more, struct mma_tile (&sum)[1][N]) {
    enum { COLUMNS = N * 16, PART = COLUMNS * GROUP_LINE };
    u8 *high = (u8 *)tf32_shared + FROM * (2 * PART), *low = high + PART;
    u8 *free = (u8 *)tf32_shared + (FROM ^ 1) * (2 * PART);
    const struct tf32_rows &rows = g.rows[FROM];
    struct mma_tile part[N];
    group_begin();
    group_multiply_tf32<true>(part, rows.low[0], high, 0);
    if (!more) g.ring.used = 0;
    const f32 *raw = tf32_wait(g.ring);
    GPU_UNROLL for (u32 t = 1; t < 4; t++) group_multiply_tf32<false>(part, rows.low[t], high, t);
    GPU_UNROLL for (u32 t = 0; t < 4; t++) {
        if (t < COLUMNS / 32)
            g.least = tf32_split_b<LINES, COLUMNS>(raw + TF32_ROWS * TF32_PITCH, t, free, g.least);
        group_multiply_tf32<false>(part, rows.high[t], low, t);
    }
    GPU_UNROLL for (u32 t = 0; t < 4; t++) {
        g.least = tf32_split_a(raw, g.lane, t, g.rows[FROM ^ 1], g.least);
        group_multiply_tf32<false>(part, rows.high[t], high, t);
    }
    group_commit();
    group_publish();
    tf32_fill(g.ring);
    group_wait<0>();
    group_hold(part);
    GPU_UNROLL for (int j = 0; j < N; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) sum[0][j].v[e] += part[j].v[e];
    gpu_sync();
}

template <bool LINES, typename SOURCE, int N>
GPU_FN void tf32_group_steps(struct tf32_group<SOURCE> &g, u32 steps, struct mma_tile (&sum)[1][N]) {
    if (steps == 0) return;
    const f32 *raw = tf32_wait(g.ring);
    GPU_UNROLL for (u32 t = 0; t < 4; t++) g.least = tf32_split_a(raw, g.lane, t, g.rows[0], g.least);
    GPU_UNROLL for (u32 t = 0; t < N / 2; t++)
        g.least = tf32_split_b<LINES, N * 16>(raw + TF32_ROWS * TF32_PITCH, t, (u8 *)tf32_shared, g.least);
    group_publish();
    tf32_fill(g.ring);
    gpu_sync();
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step += 2) {
        tf32_group_step<LINES, 0>(g, step + 1 < steps, sum);
        if (step + 1 == steps) break;
        tf32_group_step<LINES, 1>(g, step + 2 < steps, sum);
    }
    mma_copy_wait<0>();
}

/* Where the steps are: behind two steps of B in parts. */
template <int COLUMNS> GPU_FN u8 *tf32_group_stages(void) {
    return (u8 *)tf32_shared + GPU_TF32_SPLIT(COLUMNS);
}

/* A wave makes 16 rows of all columns. */
template <typename WORK, int N> GPU_FN void tf32_group_tile(const WORK &work, struct mma_tile (&sum)[1][N]) {
    u8 *stages = tf32_group_stages<N * 16>();
    mma_clear(sum);
    auto source = tf32_source(work, true);
    struct tf32_group<decltype(source)> g = {tf32_begin(source, work.steps, stages, TF32_STAGES),
                                             tf32_lane_of(tf32_a_lines(source)), {}, ~0u};
    if (tf32_b_lines(source))
        tf32_group_steps<true>(g, work.steps, sum);
    else
        tf32_group_steps<false>(g, work.steps, sum);
    if (tf32_any(g.least < TF32_SMALL || tf32_not_finite(sum)))
        tf32_again(work, stages, TF32_STAGES, gpu_wave() * 16 * TF32_PITCH, TF32_ROWS * TF32_PITCH, sum);
}
#endif
#endif

#endif
