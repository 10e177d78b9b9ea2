/* The gradient of a convolution by its weight: as an implicit product whose operands are fetched from both sides as
 * they lie, tile by tile; for groups of few channels, a few elements a block; for planes of one channel, all taps of a
 * channel a block; for windows of one element of one channel, an element a block. Terms are cut into parts, whose sums a
 * second kernel adds in f64, in order. */
#include "elementwise.h"
#include "wave.h"

#include "conv_weight.h"

/* A term: its places in both sides, and the coordinates where its window begins. */
struct weight_term {
    i64 small, large; /* offsets of position and image, in the first channel */
    i32 at[3];
    i32 there;
};

/* A column: its channel's offset in the large side, and its tap's steps from where a window begins. */
struct weight_column {
    i64 channel;
    i32 at[3];
    i32 there;
};

GPU_FN struct weight_term weight_term_of(const struct gpu_conv_weight &p, u32 term, u32 end) {
    struct weight_term r;
    r.there = term < end;
    if (!r.there) term = 0;
    u32 image = gpu_divide(term, p.by_plane), rest = term - image * (u32)p.small_plane;
    u32 row = gpu_divide(rest, p.by_w), depth = gpu_divide(row, p.by_h);
    r.small = (i64)image * p.groups * p.rows * p.small_plane + rest;
    r.large = (i64)image * p.groups * p.channels * p.large_plane;
    r.at[2] = (i32)(rest - row * (u32)p.dim[2].small) * p.dim[2].stride - p.dim[2].padding;
    r.at[1] = (i32)(row - depth * (u32)p.dim[1].small) * p.dim[1].stride - p.dim[1].padding;
    r.at[0] = (i32)depth * p.dim[0].stride - p.dim[0].padding;
    return r;
}

GPU_FN struct weight_column weight_column_of(const struct gpu_conv_weight &p, u32 column) {
    struct weight_column r;
    r.there = column < p.across;
    if (!r.there) column = 0;
    u32 channel = column / p.taps, tap = column - channel * p.taps;
    u32 row = tap / (u32)p.dim[2].kernel, depth = row / (u32)p.dim[1].kernel;
    r.channel = (i64)channel * p.large_plane;
    r.at[2] = (i32)(tap - row * (u32)p.dim[2].kernel) * p.dim[2].dilation;
    r.at[1] = (i32)(row - depth * (u32)p.dim[1].kernel) * p.dim[1].dilation;
    r.at[0] = (i32)depth * p.dim[0].dilation;
    return r;
}

/* The element of the large side that a term meets in a column; 0 in the padding. */
template <typename T>
GPU_FN typename gpu_compute<T>::type weight_meet(const struct gpu_conv_weight &p, const T *large,
                                                 const struct weight_term &term, const struct weight_column &column) {
    i32 d = term.at[0] + column.at[0], h = term.at[1] + column.at[1], w = term.at[2] + column.at[2];
    bool in = term.there && column.there && (u32)d < (u32)p.dim[0].large && (u32)h < (u32)p.dim[1].large &&
              (u32)w < (u32)p.dim[2].large;
    if (!in) return 0;
    return gpu_up(large[term.large + column.channel + ((i64)d * p.dim[1].large + h) * p.dim[2].large + w]);
}

/* Stores the sum of a part, or of all terms where there is one part. */
template <typename T>
GPU_FN void weight_put(const struct gpu_conv_weight &p, u32 part, i64 at, typename gpu_compute<T>::type v) {
    if (p.parts == 1)
        ((T *)p.out)[at] = gpu_round<T>(v);
    else
        ((typename gpu_compute<T>::type *)p.sums)[part * p.count + at] = v;
}

/* ---- tiles: 64 rows by 64 columns, or 32 by 128, with 4 x 4 sums a thread; threads are 16 side by side, twice ---- */

/* A thread's sums, whose first is in this row and column. */
template <typename T, typename S>
GPU_FN void weight_tile_put(const struct gpu_conv_weight &p, i64 group, u32 part, i64 row, u32 column,
                            const S (&sum)[4][4]) {
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        i64 at = (group * p.rows + row + i) * p.across + column;
        GPU_UNROLL for (int j = 0; j < 4; j++) {
            if (row + i < p.rows && column + j < p.across) weight_put<T>(p, part, at + j, sum[i][j]);
        }
    }
}

/* Where a term's window begins, as part of its offset in the large side; where a column's tap lies from there. */
GPU_FN struct weight_term weight_inside(const struct gpu_conv_weight &p, struct weight_term e) {
    e.large += ((i64)e.at[0] * p.dim[1].large + e.at[1]) * p.dim[2].large + e.at[2];
    return e;
}
GPU_FN u32 weight_inside(const struct gpu_conv_weight &p, const struct weight_column &c) {
    return (u32)c.channel + (u32)((c.at[0] * p.dim[1].large + c.at[1]) * p.dim[2].large + c.at[2]);
}

/* What the threads of a tile share; two steps of terms. INSIDE: all windows lie inside the large side, of which a group of
 * an image has less than 2^31 elements. */
template <typename S, int ROWS, bool INSIDE> struct weight_tile {
    enum { COLUMNS = GPU_CONV_WEIGHT_TILE / ROWS, DEPTH = 16, EACH = GPU_BLOCK / DEPTH };
    alignas(16) S left[2][DEPTH][ROWS + 4];
    alignas(16) S right[2][DEPTH][COLUMNS + 4];
    weight_term terms[2][DEPTH];
    weight_column columns[INSIDE ? 1 : COLUMNS];
    u32 offsets[INSIDE ? COLUMNS : 1];
};

template <typename S, int ROWS, bool INSIDE>
GPU_FN void weight_tile_term(const struct gpu_conv_weight &p, weight_tile<S, ROWS, INSIDE> &lds, u32 step, u32 i, u32 term,
                             u32 end) {
    weight_term e = weight_term_of(p, term, end);
    lds.terms[step][i] = INSIDE ? weight_inside(p, e) : e;
}

template <typename S, int ROWS, bool INSIDE>
GPU_FN void weight_tile_column(const struct gpu_conv_weight &p, weight_tile<S, ROWS, INSIDE> &lds, u32 i, u32 column) {
    weight_column c = weight_column_of(p, column);
    if (INSIDE)
        lds.offsets[i] = weight_inside(p, c);
    else
        lds.columns[i] = c;
}

template <typename S, int ROWS, bool INSIDE>
GPU_FN void weight_tile_multiply(const weight_tile<S, ROWS, INSIDE> &lds, u32 step, u32 row, u32 column, S (&sum)[4][4]) {
    struct alignas(4 * sizeof(S)) run {
        S v[4];
    };
    GPU_NO_UNROLL for (int d0 = 0; d0 < lds.DEPTH; d0 += 2) GPU_UNROLL for (int d = d0; d < d0 + 2; d++) {
        run a = *(const run *)&lds.left[step][d][row], b = *(const run *)&lds.right[step][d][column];
        GPU_UNROLL for (int i = 0; i < 4; i++)
            GPU_UNROLL for (int j = 0; j < 4; j++) sum[i][j] = gpu_fma(a.v[i], b.v[j], sum[i][j]);
    }
}

template <typename T, int ROWS, bool INSIDE> GPU_FN void conv_weight_tile(const struct gpu_conv_weight &p) {
    typedef typename gpu_compute<T>::type S;
    typedef weight_tile<S, ROWS, INSIDE> tile;
    enum { COLUMNS = tile::COLUMNS, DEPTH = tile::DEPTH, EACH = tile::EACH };
    enum { LEFT = ROWS / EACH, RIGHT = COLUMNS / EACH, HALF = 4 * ROWS /* threads of 64 columns */ };
    GPU_SHARED tile lds;
    u32 t = gpu_thread(), row = t % HALF / 16 * 4, column = (t / HALF * 16 + t % 16) * 4, block = gpu_block_x();
    u32 column0 = block % p.column_tiles * COLUMNS;
    block /= p.column_tiles;
    i64 row0 = (i64)(block % p.row_tiles) * ROWS;
    block /= p.row_tiles;
    i64 group = block % (u32)p.groups;
    u32 part = block / (u32)p.groups, first = part * p.part, end = first + p.part < p.terms ? first + p.part : p.terms;
    u32 steps = end > first ? (end - first + DEPTH - 1) / DEPTH : 0;

    /* This thread fetches one term of some rows and of some columns. */
    u32 k = t % DEPTH, lane = t / DEPTH, offset[RIGHT];
    const T *small = (const T *)p.small + (group * p.rows + row0 + lane) * p.small_plane;
    const T *large = (const T *)p.large + group * p.channels * p.large_plane;
    i64 rows_left = p.rows - row0 - lane;
    bool live = !INSIDE || column0 + t / HALF * 64 < p.across, both = !INSIDE || column0 + COLUMNS / 2 < p.across;
    S sum[4][4], l_next[LEFT], r_next[RIGHT];
    GPU_UNROLL for (int i = 0; i < 4; i++) GPU_UNROLL for (int j = 0; j < 4; j++) sum[i][j] = 0;
    if (t < COLUMNS) weight_tile_column(p, lds, t, column0 + t);
    if (t < 2 * DEPTH) weight_tile_term(p, lds, t / DEPTH, t % DEPTH, first + t, end);
    gpu_sync();
    GPU_UNROLL for (int i = 0; i < RIGHT; i++) offset[i] = INSIDE ? lds.offsets[lane + i * EACH] : 0;
    for (u32 step = 0; step <= steps; step++) {
        u32 now = step % 2;
        if (step < steps) {
            /* Fetch this step; it is used in the next round. */
            weight_term e = lds.terms[now][k];
            GPU_UNROLL for (int i = 0; i < LEFT; i++) {
                bool in = e.there && i * EACH < rows_left;
                l_next[i] = in ? gpu_up(small[i * EACH * p.small_plane + e.small]) : (S)0;
            }
            GPU_UNROLL for (int i = 0; i < RIGHT; i++) {
                if (INSIDE)
                    r_next[i] = e.there && (i < RIGHT / 2 || both) ? gpu_up(large[e.large + offset[i]]) : (S)0;
                else
                    r_next[i] = weight_meet<T>(p, large, e, lds.columns[lane + i * EACH]);
            }
        }
        if (step > 0 && live) weight_tile_multiply(lds, now ^ 1, row, column, sum);
        if (step < steps) {
            GPU_UNROLL for (int i = 0; i < LEFT; i++) lds.left[now][k][lane + i * EACH] = l_next[i];
            GPU_UNROLL for (int i = 0; i < RIGHT; i++) lds.right[now][k][lane + i * EACH] = r_next[i];
        }
        gpu_sync();
        if (t < DEPTH && step + 2 < steps) weight_tile_term(p, lds, now, t, first + (step + 2) * DEPTH + t, end);
    }
    weight_tile_put<T>(p, group, part, row0 + row, column0 + column, sum);
}

/* ---- a few rows by a few columns a block, for groups of few channels: what a term needs is found once for all ---- */

template <typename T, int ROWS, int COLUMNS> GPU_FN void conv_weight_few(const struct gpu_conv_weight &p) {
    typedef typename gpu_compute<T>::type S;
    enum { N = ROWS * COLUMNS };
    GPU_SHARED f64 room[N * GPU_BLOCK / GPU_WAVE];
    GPU_SHARED weight_column columns[COLUMNS];
    i64 item = (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x(), blocks = p.groups * p.row_tiles * p.column_tiles;
    u32 part = (u32)(item / blocks), at = (u32)(item - part * blocks), above = at / p.column_tiles;
    if (item >= blocks * p.parts) return;
    u32 column0 = (at - above * p.column_tiles) * COLUMNS, group = above / p.row_tiles;
    i64 row0 = (i64)(above - group * p.row_tiles) * ROWS;
    if (gpu_thread() < COLUMNS) columns[gpu_thread()] = weight_column_of(p, column0 + gpu_thread());
    gpu_sync();
    const T *small = (const T *)p.small + (group * p.rows + row0) * p.small_plane;
    const T *large = (const T *)p.large + group * p.channels * p.large_plane;
    u32 first = part * p.part, end = first + p.part < p.terms ? first + p.part : p.terms;
    S sum[ROWS][COLUMNS];
    GPU_UNROLL for (int i = 0; i < ROWS; i++) GPU_UNROLL for (int j = 0; j < COLUMNS; j++) sum[i][j] = 0;
    GPU_NO_UNROLL for (u32 term = first + gpu_thread(); term < end; term += GPU_BLOCK) {
        struct weight_term e = weight_term_of(p, term, end);
        S meets[COLUMNS];
        GPU_UNROLL for (int j = 0; j < COLUMNS; j++) meets[j] = weight_meet<T>(p, large, e, columns[j]);
        GPU_UNROLL for (int i = 0; i < ROWS; i++) {
            S v = row0 + i < p.rows ? gpu_up(small[i * p.small_plane + e.small]) : (S)0;
            GPU_UNROLL for (int j = 0; j < COLUMNS; j++) sum[i][j] = gpu_fma(v, meets[j], sum[i][j]);
        }
    }
    f64 all[N];
    GPU_UNROLL for (int i = 0; i < N; i++) all[i] = sum[i / COLUMNS][i % COLUMNS];
    f64 v = gpu_block_join_each<gpu_join_add, N>(all, room);
    u32 t = gpu_thread(), row = t / COLUMNS, column = t % COLUMNS;
    if (t >= N || row0 + row >= p.rows || column0 + column >= p.across) return;
    weight_put<T>(p, part, (group * p.rows + row0 + row) * p.across + column0 + column, (S)v);
}

/* ---- ROWS rows of K x K taps of one channel and row a block, of planes: what a term needs is found once for a line of
 * windows ---- */

/* Threads in `p.across` columns take windows of a line, and every so many lines. */
template <typename T, int K, int ROWS> GPU_FN void conv_weight_planes(const struct gpu_conv_weight &p) {
    typedef typename gpu_compute<T>::type S;
    enum { TAPS = ROWS * K, N = TAPS <= 16 ? 16 : 32, CUTS = (K + ROWS - 1) / ROWS };
    GPU_SHARED f64 room[N * GPU_BLOCK / GPU_WAVE];
    i64 item = (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x();
    if (item >= p.groups * p.rows * p.parts * CUTS) return;
    u32 top = (u32)(item % CUTS) * ROWS; /* the first row of taps */
    item /= CUTS;
    const struct gpu_conv_weight_dim &h = p.dim[1], &w = p.dim[2];
    u32 part = (u32)(item / (p.groups * p.rows)), to = (u32)(item - (i64)part * p.groups * p.rows);
    u32 group = to / (u32)p.rows, lane = gpu_thread() % p.across, step = GPU_BLOCK / p.across;
    u32 first = part * p.part, end = first + p.part < p.terms ? first + p.part : p.terms; /* lines of windows */
    S sum[TAPS];
    GPU_UNROLL for (int k = 0; k < TAPS; k++) sum[k] = 0;
    GPU_NO_UNROLL for (u32 line = first + gpu_thread() / p.across; line < end; line += step) {
        u32 image = line / (u32)h.small, row = line - image * (u32)h.small;
        i32 y = (i32)row * h.stride - h.padding + (i32)top * h.dilation;
        const T *small = (const T *)p.small + ((i64)image * p.groups * p.rows + to) * p.small_plane + row * (u32)w.small;
        const T *large = (const T *)p.large + ((i64)image * p.groups + group) * p.large_plane;
        GPU_NO_UNROLL for (i32 column = (i32)lane; column < w.small; column += (i32)p.across) {
            S v = gpu_up(small[column]);
            i32 x = column * w.stride - w.padding;
            GPU_UNROLL for (int k = 0; k < TAPS; k++) {
                i32 r = y + k / K * h.dilation, c = x + k % K * w.dilation;
                bool in = (u32)r < (u32)h.large && (u32)c < (u32)w.large;
                S met = in ? gpu_up(large[r * w.large + c]) : (S)0;
                sum[k] = gpu_fma(v, met, sum[k]);
            }
        }
    }
    f64 all[N];
    GPU_UNROLL for (int k = 0; k < N; k++) all[k] = k < TAPS ? (f64)sum[k < TAPS ? k : 0] : 0;
    f64 v = gpu_block_join_each<gpu_join_add, N>(all, room);
    u32 t = gpu_thread();
    if (t < TAPS && top * K + t < K * K) weight_put<T>(p, part, (i64)to * (K * K) + top * K + t, (S)v);
}

/* ---- an element a block: products of planes ---- */

template <typename T, int E> GPU_FN void conv_weight_points(const struct gpu_conv_weight &p) {
    enum { AHEAD = E > 1 ? 4 : 8 }; /* runs of both sides in flight together */
    GPU_SHARED f64 room[GPU_BLOCK / GPU_WAVE];
    i64 item = (i64)gpu_block_y() * gpu_blocks_x() + gpu_block_x();
    if (item >= p.count * p.parts) return;
    u32 channels = (u32)p.count, part = (u32)(item / p.count), channel = (u32)(item - part * p.count);
    u32 group = gpu_divide(channel, p.by_rows), groups = (u32)p.groups;
    u32 first = part * p.part, end = first + p.part < p.terms ? first + p.part : p.terms;
    f32 sum[E];
    GPU_UNROLL for (int e = 0; e < E; e++) sum[e] = 0;
    GPU_NO_UNROLL for (u32 i = first + gpu_thread(); i < end; i += AHEAD * GPU_BLOCK) {
        gpu_pack<T, E> small[AHEAD], large[AHEAD];
        GPU_UNROLL for (u32 a = 0; a < AHEAD; a++) {
            u32 run = i + a * GPU_BLOCK < end ? i + a * GPU_BLOCK : i;
            u32 image = gpu_divide(run, p.by_plane), place = (run - image * p.by_plane.d) * E;
            small[a] = gpu_load_pack<T, E>((const T *)p.small + ((i64)(u64)image * channels + channel) * p.small_plane + place);
            large[a] = gpu_load_pack<T, E>((const T *)p.large + ((i64)(u64)image * groups + group) * p.small_plane + place);
        }
        GPU_UNROLL for (u32 a = 0; a < AHEAD; a++) {
            if (i + a * GPU_BLOCK >= end) continue;
            GPU_UNROLL for (int e = 0; e < E; e++) sum[e] = gpu_fma(gpu_up(small[a].v[e]), gpu_up(large[a].v[e]), sum[e]);
        }
    }
    f64 all = 0;
    GPU_UNROLL for (int e = 0; e < E; e++) all += sum[e];
    all = gpu_block_join<gpu_join_add>(all, room);
    if (gpu_thread() == 0) weight_put<T>(p, part, channel, (f32)all);
}

/* ---- the sum of the parts ---- */

template <typename T> GPU_FN void conv_weight_join(const struct gpu_conv_weight_join &p) {
    enum { AHEAD = 4 };
    typedef typename gpu_compute<T>::type S;
    for (i64 i = (i64)gpu_global(); i < p.count; i += (i64)gpu_stride()) {
        f64 sum = 0;
        GPU_NO_UNROLL for (i64 at = i; at < p.total;) {
            S x[AHEAD];
            GPU_UNROLL for (u32 j = 0; j < AHEAD; j++) {
                x[j] = at < p.total ? ((const S *)p.sums)[at] : (S)0;
                at += p.count;
            }
            GPU_UNROLL for (u32 j = 0; j < AHEAD; j++) sum += (f64)x[j];
        }
        ((T *)p.out)[i] = gpu_round<T>((S)sum);
    }
}

/* Blocks that a unit shall have registers for. */
#if defined(GPU_NVIDIA)
enum { WEIGHT_BLOCKS_F32 = 4 };
#else
enum { WEIGHT_BLOCKS_F32 = 1 };
#endif
#define CONV_WEIGHT(T, ROWS, INSIDE, BLOCKS)                                                                           \
    GPU_KERNEL_OF(conv_weight_tile_##T, struct gpu_conv_weight, GPU_BLOCK, BLOCKS) {                                   \
        conv_weight_tile<T, ROWS, INSIDE>(p);                                                                          \
    }                                                                                                                  \
    GPU_KERNEL(conv_weight_join_##T, struct gpu_conv_weight_join) { conv_weight_join<T>(p); }
CONV_WEIGHT(bf16, GPU_CONV_WEIGHT_ROWS, false, 1)
CONV_WEIGHT(f16, GPU_CONV_WEIGHT_ROWS, false, 1)
CONV_WEIGHT(f32, GPU_CONV_WEIGHT_ROWS_F32, true, WEIGHT_BLOCKS_F32)
CONV_WEIGHT(f64, GPU_CONV_WEIGHT_ROWS, false, 1)
CONV_WEIGHT(f8e4m3, GPU_CONV_WEIGHT_ROWS, false, 1)

/* One row a group, as depthwise layers have, or several. */
#define CONV_WEIGHT_FEW(T, COLUMNS)                                                                                    \
    GPU_KERNEL(conv_weight_one_##T, struct gpu_conv_weight) { conv_weight_few<T, 1, COLUMNS>(p); }                     \
    GPU_KERNEL(conv_weight_few_##T, struct gpu_conv_weight) { conv_weight_few<T, GPU_CONV_FEW_ROWS, COLUMNS>(p); }
CONV_WEIGHT_FEW(bf16, GPU_CONV_FEW_COLUMNS)
CONV_WEIGHT_FEW(f16, GPU_CONV_FEW_COLUMNS)
CONV_WEIGHT_FEW(f32, GPU_CONV_FEW_COLUMNS)
CONV_WEIGHT_FEW(f64, GPU_CONV_FEW_COLUMNS_F64) /* and so f8e4m3: registers are few */
CONV_WEIGHT_FEW(f8e4m3, GPU_CONV_FEW_COLUMNS_F64)

#define CONV_WEIGHT_PLANES(T)                                                                                          \
    GPU_KERNEL(conv_weight_planes3_##T, struct gpu_conv_weight) { conv_weight_planes<T, 3, 3>(p); }                    \
    GPU_KERNEL(conv_weight_planes5_##T, struct gpu_conv_weight) { conv_weight_planes<T, 5, 5>(p); }                    \
    GPU_KERNEL(conv_weight_planes7_##T, struct gpu_conv_weight) { conv_weight_planes<T, 7, 4>(p); }
GPU_FLOATS(CONV_WEIGHT_PLANES)

#define CONV_WEIGHT_POINTS(T)                                                                                          \
    GPU_KERNEL(conv_weight_points_##T, struct gpu_conv_weight) { conv_weight_points<T, 4>(p); }                        \
    GPU_KERNEL(conv_weight_points_each_##T, struct gpu_conv_weight) { conv_weight_points<T, 1>(p); }
CONV_WEIGHT_POINTS(bf16) CONV_WEIGHT_POINTS(f16) CONV_WEIGHT_POINTS(f32)
