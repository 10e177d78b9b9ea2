/* Gradients of convolutions of bf16 and f16 by their weights, by matrix instructions.
 *
 * Both sides are first written with channels innermost (conv_pack), so that eight neighbouring rows or columns of a term
 * are 16 bytes that lie together, and none needs a check. Terms are cut into parts, whose sums a second kernel adds in
 * f64, in order.
 *
 * A block of 256 threads makes 64 or 128 rows by 128 columns; its waves, 2 x WAVES / 2, have MI x NI tiles of 16 x 16
 * each, or two groups of four waves (mma_group.h) 64 rows by 128 columns or by 64. */
#include "conv_weight_mma.h"
#include "kept.h"
#include "layout.h"
#include "mma_across.h"

#if MMA
enum { WAVES = GPU_BLOCK / GPU_WAVE, WAVE_COLUMNS = WAVES / 2, COLUMNS = GPU_CONV_WEIGHT_COLUMNS,
       NI = COLUMNS / 16 / WAVE_COLUMNS };

struct weight_block {
    u32 group, part, row0, column0;
    u32 first, end; /* terms */
};

/* Blocks of a part are neighbours, for they read the same. */
GPU_FN struct weight_block weight_block_of(const struct gpu_conv_weight_mma &p, u32 rows) {
    struct weight_block r;
    u32 block = gpu_block_x(), rest = block / p.column_tiles;
    r.column0 = (block - rest * p.column_tiles) * COLUMNS;
    r.row0 = rest % p.row_tiles * rows;
    rest /= p.row_tiles;
    r.group = rest % p.groups;
    r.part = rest / p.groups;
    r.first = r.part * p.part;
    r.end = p.terms - r.first < p.part ? p.terms : r.first + p.part;
    return r;
}

/* Where a term's rows lie in the small side, and the window of its columns in the large one. */
struct weight_place {
    u32 small, large;
};
GPU_FN struct weight_place weight_place_of(const struct gpu_conv_weight_mma &p, u32 term) {
    struct weight_place r;
    u32 image = gpu_divide(term, p.by_plane), rest = term - image * p.small_plane, line = gpu_divide(rest, p.by_w);
    u32 w = rest - line * p.small_size[2], d = gpu_divide(line, p.by_h), h = line - d * p.small_size[1];
    r.small = image * p.groups * p.small_group + rest * (p.small_pitch / 8);
    r.large = image * p.groups * p.large_group + d * p.window_step[0] + h * p.window_step[1] + w * p.window_step[2];
    return r;
}

/* Where eight columns lie in a window. */
GPU_FN u32 weight_columns_at(const struct gpu_conv_weight_mma &p, u32 column) {
    u32 tap = column / p.large_pitch, channel = column - tap * p.large_pitch, line = tap / p.taps_w;
    return line / p.taps_h * p.tap_step[0] + line % p.taps_h * p.tap_step[1] + tap % p.taps_w * p.tap_step[2] +
           channel / 8;
}

/* Where this thread's rows and columns lie, eight each, in the first term of the sides. */
struct weight_sides {
    u32 small, large;
    u32 rows, columns; /* whether they are there */
};
GPU_FN struct weight_sides weight_sides_of(const struct gpu_conv_weight_mma &p, const struct weight_block &at, u32 row,
                                           u32 column) {
    struct weight_sides r;
    row += at.row0;
    column += at.column0;
    r.rows = row < p.small_pitch;
    r.columns = column < p.across;
    r.small = gpu_kept(at.group * p.small_group + (r.rows ? row / 8 : 0));
    r.large = gpu_kept(at.group * p.large_group + (r.columns ? weight_columns_at(p, column) : 0));
    return r;
}

GPU_FN f32 *weight_sums_of(const struct gpu_conv_weight_mma &p, const struct weight_block &at) {
    return (f32 *)p.sums + ((i64)at.part * p.groups + at.group) * p.rows * p.across;
}

template <int MI>
GPU_FN void weight_store(const struct gpu_conv_weight_mma &p, const struct weight_block &at,
                         const struct mma_tile (&sum)[MI][NI]) {
    f32 *to = weight_sums_of(p, at);
    u32 row0 = at.row0 + gpu_wave() / WAVE_COLUMNS * (MI * 16);
    u32 column0 = at.column0 + gpu_wave() % WAVE_COLUMNS * (NI * 16);
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++) {
        u32 row = row0 + i * 16 + mma_row(e);
        GPU_UNROLL for (int j = 0; j < NI; j++) {
            u32 column = column0 + j * 16 + mma_column(e);
            if (row < p.rows && column < p.across) to[(i64)row * p.across + column] = sum[i][j].v[e];
        }
    }
}

template <int MI> GPU_FN void weight_clear(struct mma_tile (&sum)[MI][NI]) {
    GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++)
        GPU_UNROLL for (int e = 0; e < MMA_SUMS; e++) sum[i][j].v[e] = 0;
}
#endif

#if MMA && MMA_ASYNC
/* LDS holds some steps of 64 terms of both sides, as mma_across.h says. */
struct alignas(1024) weight_page {
    u8 bytes[1024];
};
GPU_DYNAMIC_SHARED(struct weight_page, weight_shared);
enum { STEP = GPU_CONV_WEIGHT_STEP, RUN = 16 /* terms that all threads copy at once */ };
#define NOWHERE 0xffffffffu /* the place of what comes after the last term */

/* This thread's pieces of the steps on their way to LDS. */
template <int ROWS> struct weight_source {
    enum { STAGE = GPU_CONV_WEIGHT_STAGE(ROWS), B = ROWS * STEP * 2 };
    struct weight_sides sides;
    u32 term, end;    /* the term whose places this lane finds for its wave */
    u32 a, b;         /* places in a stage */
    u32 left, filled; /* steps not asked for yet, the stage of the next */
};

template <int ROWS> GPU_FN void weight_fill(const struct gpu_conv_weight_mma &p, struct weight_source<ROWS> &s) {
    if (s.left > 0) {
        u8 *to = (u8 *)weight_shared + s.filled * weight_source<ROWS>::STAGE;
        struct weight_place own = weight_place_of(p, s.term < s.end ? s.term : 0);
        if (s.term >= s.end) own.small = NOWHERE;
        GPU_UNROLL for (u32 i = 0; i < STEP / RUN; i++) {
            u32 from = gpu_lane() / 16 + i * 2;
            u32 small = gpu_shuffle_word(own.small, from), large = gpu_shuffle_word(own.large, from);
            bool a = s.sides.rows && small != NOWHERE, b = s.sides.columns && small != NOWHERE;
            /* Of 64 rows a line has half as many pieces, so that half of the threads take every other run. */
            if (ROWS == 128 || i % 2 == gpu_lane() / 8 % 2)
                mma_copy16(to + s.a + i * (RUN * MMA_LINE), (const gpu_16 *)p.small + (a ? s.sides.small + small : 0),
                           a ? 16 : 0);
            mma_copy16(to + s.b + i * (RUN * MMA_LINE), (const gpu_16 *)p.large + (b ? s.sides.large + large : 0),
                       b ? 16 : 0);
        }
        s.term += STEP;
        s.filled = s.filled + 1 == p.stages ? 0 : s.filled + 1;
        s.left--;
    }
    mma_copy_commit();
}

template <int ROWS>
GPU_FN struct weight_source<ROWS> weight_source_of(const struct gpu_conv_weight_mma &p, const struct weight_block &at,
                                                   u32 steps, u32 ahead) {
    struct weight_source<ROWS> s;
    u32 lane = gpu_lane(), line = gpu_wave() * 2 + lane / 16, b = lane % 16, a = ROWS == 128 ? b : b % 8;
    s.sides = weight_sides_of(p, at, a * 8, b * 8);
    s.a = gpu_kept((a / 8 * MMA_LINES + line) * MMA_LINE + (a % 8 ^ line % 8) * 16);
    s.b = gpu_kept(weight_source<ROWS>::B + (b / 8 * MMA_LINES + line) * MMA_LINE + (b % 8 ^ line % 8) * 16);
    /* The wave's lines are two of each run. */
    s.term = at.first + gpu_wave() * 2 + lane % 2 + lane / 2 % (STEP / RUN) * RUN;
    s.end = at.end;
    s.left = steps;
    s.filled = 0;
    GPU_NO_UNROLL for (u32 i = 0; i < ahead; i++) weight_fill(p, s);
    return s;
}

GPU_FN u32 weight_steps(const struct weight_block &at) { return (at.end - at.first + STEP - 1) / STEP; }

#if MMA_GROUP
template <int N>
GPU_FN void weight_group_store(const struct gpu_conv_weight_mma &p, const struct weight_block &at,
                               struct group_sums<N> &sum, u32 row0, u32 column0) {
    struct alignas(8) pair {
        f32 v[2];
    };
    f32 *to = weight_sums_of(p, at);
    GPU_UNROLL for (u32 i = 0; i < N / 2; i += 2) {
        u32 row = at.row0 + row0 + group_row(i), column = at.column0 + column0 + group_column(i);
        struct pair two = {{group_at(sum, i), group_at(sum, i + 1)}};
        if (row < p.rows && column < p.across) *(struct pair *)(to + (i64)row * p.across + column) = two;
    }
}

template <typename T, int ROWS> GPU_FN void conv_weight(const struct gpu_conv_weight_mma &p) {
    /* One group above the other, or side by side. */
    enum { HIGH = ROWS / 64, N = COLUMNS / (2 / HIGH) };
    typedef struct weight_source<ROWS> source_type;
    struct weight_block at = weight_block_of(p, ROWS);
    u32 steps = weight_steps(at), ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
    source_type source = weight_source_of<ROWS>(p, at, steps, ahead);
    u32 group = group_number(), row = HIGH == 2 ? group * 64 : 0, column = HIGH == 2 ? 0 : group * N;
    const u8 *a = (const u8 *)weight_shared + row * MMA_LINE;
    const u8 *b = (const u8 *)weight_shared + source_type::B + column * MMA_LINE;
    struct group_sums<N> sum;
    group_clear(sum);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        group_wait<0>();
        group_publish();
        gpu_sync();
        group_begin();
        group_multiply<T, true, true>(sum.tile, a + used * source_type::STAGE, b + used * source_type::STAGE);
        group_commit();
        used = used + 1 == p.stages ? 0 : used + 1;
        weight_fill(p, source);
    }
    group_wait<0>();
    mma_copy_wait<0>();
    weight_group_store<N>(p, at, sum, row, column);
}
#else
template <typename T, int ROWS> GPU_FN void conv_weight(const struct gpu_conv_weight_mma &p) {
    enum { MI = ROWS / 32 };
    typedef struct weight_source<ROWS> source_type;
    struct weight_block at = weight_block_of(p, ROWS);
    u32 steps = weight_steps(at), ahead = steps <= p.stages ? steps : p.stages - 1, used = 0;
    source_type source = weight_source_of<ROWS>(p, at, steps, ahead);
    u32 a_base = mma_fragment_base<true>(gpu_wave() / WAVE_COLUMNS * (MI * 16), 0);
    u32 b_base = source_type::B + mma_fragment_base<true>(gpu_wave() % WAVE_COLUMNS * (NI * 16), 1);
    struct mma_tile sum[MI][NI];
    weight_clear(sum);
    GPU_NO_UNROLL for (u32 step = 0; step < steps; step++) {
        mma_copy_wait_but(ahead - 1);
        gpu_sync();
        weight_fill(p, source);
        const u8 *from = (const u8 *)weight_shared + used * source_type::STAGE;
        used = used + 1 == p.stages ? 0 : used + 1;
        struct mma_fragment a[2][MI], b[2][NI];
        GPU_UNROLL for (int i = 0; i < MI; i++) a[0][i] = mma_fragment_at<true>(from, a_base, i, 0);
        GPU_UNROLL for (int j = 0; j < NI; j++) b[0][j] = mma_fragment_at<true>(from, b_base, j, 0);
        GPU_UNROLL for (int t = 0; t < STEP / MMA_K; t++) {
            if (t + 1 < STEP / MMA_K) {
                GPU_UNROLL for (int i = 0; i < MI; i++) a[(t + 1) % 2][i] = mma_fragment_at<true>(from, a_base, i, t + 1);
                GPU_UNROLL for (int j = 0; j < NI; j++) b[(t + 1) % 2][j] = mma_fragment_at<true>(from, b_base, j, t + 1);
            }
            GPU_UNROLL for (int i = 0; i < MI; i++)
                GPU_UNROLL for (int j = 0; j < NI; j++) mma<T>(sum[i][j], a[t % 2][i], b[t % 2][j]);
        }
    }
    mma_copy_wait<0>();
    weight_store<MI>(p, at, sum);
}
#endif

#elif MMA
/* Through registers; LDS holds two steps of 32 terms as [row][k]. A thread takes two neighbouring terms of eight rows and
 * of eight columns. */
enum { STEP = 32, PITCH = STEP + 8 };

GPU_FN gpu_16 weight_fetch(const gpu_16 *from, bool there) {
    u32 w[4] = {0, 0, 0, 0};
    if (there) {
        gpu_16 x = *from;
        GPU_UNROLL for (int i = 0; i < 4; i++) w[i] = x.word[i];
    }
    return gpu_16{{w[0], w[1], w[2], w[3]}};
}

template <typename T, int ROWS> GPU_FN void conv_weight(const struct gpu_conv_weight_mma &p) {
    enum { MI = ROWS / 32, B = ROWS * PITCH, STAGE = (ROWS + COLUMNS) * PITCH };
    GPU_SHARED gpu_16 shared[2 * STAGE / 8];
    u16 *lds = (u16 *)shared;
    struct weight_block at = weight_block_of(p, ROWS);
    u32 t = gpu_thread(), b_piece = t / 8 % 16, a_piece = ROWS == 128 ? b_piece : b_piece % 8;
    u32 k = (t % 8 + t / 128 * 8) * 2, term = at.first + k;
    struct weight_sides sides = weight_sides_of(p, at, a_piece * 8, b_piece * 8);
    bool has_rows = ROWS == 128 || b_piece < 8; /* 64 rows leave half of the threads none to take */
    struct mma_tile sum[MI][NI];
    weight_clear(sum);
    u32 steps = (at.end - at.first + STEP - 1) / STEP;
    const u32 a_base = gpu_wave() / WAVE_COLUMNS * (MI * 16) * PITCH;
    const u32 b_base = B + gpu_wave() % WAVE_COLUMNS * (NI * 16) * PITCH;
    gpu_16 a_next[2], b_next[2];
    GPU_NO_UNROLL for (u32 step = 0; step <= steps; step++) {
        /* Past the last step zeros are fetched, which nobody uses. */
        GPU_UNROLL for (u32 i = 0; i < 2; i++) {
            bool there = term + i < at.end;
            struct weight_place place = weight_place_of(p, there ? term + i : 0);
            a_next[i] = weight_fetch((const gpu_16 *)p.small + (sides.small + place.small),
                                     there && has_rows && sides.rows);
            b_next[i] = weight_fetch((const gpu_16 *)p.large + (sides.large + place.large), there && sides.columns);
        }
        term += STEP;
        if (step > 0) {
            const u16 *from = lds + (step - 1) % 2 * STAGE;
            GPU_UNROLL for (int e = 0; e < STEP; e += MMA_K) {
                struct mma_fragment a[MI], b[NI];
                GPU_UNROLL for (int i = 0; i < MI; i++) a[i] = mma_load_rows(from + a_base + i * 16 * PITCH + e, PITCH);
                GPU_UNROLL for (int j = 0; j < NI; j++) b[j] = mma_load_rows(from + b_base + j * 16 * PITCH + e, PITCH);
                GPU_UNROLL for (int i = 0; i < MI; i++) GPU_UNROLL for (int j = 0; j < NI; j++) mma<T>(sum[i][j], a[i], b[j]);
            }
        }
        u16 *to = lds + step % 2 * STAGE + k;
        if (has_rows) mma_put_across(to + a_piece * 8 * PITCH, PITCH, a_next);
        mma_put_across(to + B + b_piece * 8 * PITCH, PITCH, b_next);
        gpu_sync();
    }
    weight_store<MI>(p, at, sum);
}
#endif

/* ---- the sum of the parts ---- */

template <typename T> GPU_FN void weight_put(const struct gpu_conv_weight_finish &p, i64 to, f32 sum) {
    if (p.f8)
        ((f8e4m3 *)p.out)[to] = gpu_round<f8e4m3>(sum);
    else
        ((T *)p.out)[to] = gpu_round<T>(sum);
}

/* A block makes all taps of some channels of a row, which lie together in the result, but apart in the sums. A thread
 * adds up E of them at once, AHEAD parts of each in flight. */
template <typename T, int E, int AHEAD> GPU_FN void weight_join(const struct gpu_conv_weight_finish &p, f32 *turned) {
    u32 row = gpu_block_x() / p.channel_runs, channel0 = gpu_block_x() % p.channel_runs * p.run;
    u32 channels = p.channels - channel0 < p.run ? p.channels - channel0 : p.run, all = channels * p.taps;
    u32 own = p.merged > 1 ? row / p.rows % p.merged * p.channels : 0;
    const f32 *from = (const f32 *)p.sums + ((i64)(u64)row * p.across + own + channel0);
    i64 to = ((i64)(u64)row * p.channels + channel0) * p.taps;
    bool turns = p.taps > 1 && all <= GPU_CONV_WEIGHT_TURNED;
    for (u32 i0 = gpu_thread(); i0 < all; i0 += GPU_BLOCK * E) {
        u32 at[E], place[E];
        f64 sum[E];
        GPU_UNROLL for (u32 e = 0; e < E; e++) {
            u32 i = i0 + e * GPU_BLOCK < all ? i0 + e * GPU_BLOCK : i0, tap = i / channels, channel = i - tap * channels;
            at[e] = tap * p.pitch + channel;
            place[e] = channel * p.taps + tap;
            sum[e] = 0;
        }
        GPU_NO_UNROLL for (u32 part = 0; part < p.parts; part += AHEAD) {
            f32 x[E][AHEAD];
            GPU_UNROLL for (u32 e = 0; e < E; e++) GPU_UNROLL for (u32 j = 0; j < AHEAD; j++)
                x[e][j] = part + j < p.parts ? from[(part + j) * p.count + at[e]] : 0;
            GPU_UNROLL for (u32 e = 0; e < E; e++) GPU_UNROLL for (u32 j = 0; j < AHEAD; j++) sum[e] += (f64)x[e][j];
        }
        GPU_UNROLL for (u32 e = 0; e < E; e++) {
            if (i0 + e * GPU_BLOCK >= all) continue;
            if (turns)
                turned[place[e]] = (f32)sum[e];
            else
                weight_put<T>(p, to + place[e], (f32)sum[e]);
        }
    }
    if (!turns) return;
    gpu_sync();
    for (u32 i = gpu_thread(); i < all; i += GPU_BLOCK) weight_put<T>(p, to + i, turned[i]);
}

template <typename T> GPU_FN void weight_finish(const struct gpu_conv_weight_finish &p) {
    GPU_SHARED f32 turned[GPU_CONV_WEIGHT_TURNED];
    if (p.parts >= GPU_CONV_WEIGHT_MANY)
        weight_join<T, 1, 16>(p, turned);
    else
        weight_join<T, 8, 1>(p, turned);
}

#if MMA
#define CONV_WEIGHT(type, rows) conv_weight<type, rows>(p)
#else
/* The host never asks for these where there are no matrix instructions. */
#define CONV_WEIGHT(type, rows) (void)p
#endif
/* Blocks that a unit shall have registers for: groups of waves keep nothing but sums in them. */
#if MMA && MMA_GROUP
enum { WEIGHT_BLOCKS_64 = 3, WEIGHT_BLOCKS_128 = 2 };
#else
enum { WEIGHT_BLOCKS_64 = 1, WEIGHT_BLOCKS_128 = 1 };
#endif
#define CONV_WEIGHTS(type)                                                                                             \
    GPU_KERNEL_OF(conv_weight_64_##type, struct gpu_conv_weight_mma, GPU_BLOCK, WEIGHT_BLOCKS_64) {                    \
        CONV_WEIGHT(type, 64);                                                                                         \
    }                                                                                                                  \
    GPU_KERNEL_OF(conv_weight_128_##type, struct gpu_conv_weight_mma, GPU_BLOCK, WEIGHT_BLOCKS_128) {                  \
        CONV_WEIGHT(type, 128);                                                                                        \
    }                                                                                                                  \
    GPU_KERNEL(conv_weight_finish_##type, struct gpu_conv_weight_finish) { weight_finish<type>(p); }
CONV_WEIGHTS(bf16)
CONV_WEIGHTS(f16)
