/* Some rows of activations, rounded to 8 bits, by weights of blocks, which are read once, as they are, and unpacked on
 * their way from LDS to matrix instructions of signed bytes.
 *
 * A block makes a tile of 128 rows of weights x COLUMNS in steps of 256 terms. Steps come to LDS by asynchronous copies,
 * some of them ahead (NVIDIA), or through registers, which hold the next one (AMD). A wave has 32 rows, and where waves
 * are of 32 lanes one half of each step. */
#include "gemm_common.h"
#include "quantised.h"
#include "wave.h"

#define BLOCK_FN GPU_FN
#define BLOCK_TABLE GPU_CONSTANT
#define BLOCK_UNROLL GPU_UNROLL
GPU_FN f32 block_from_f16(u16 bits) {
    f16 x;
    x.bits = bits;
    return gpu_from_f16(x);
}
#define BLOCK_F16(bits) block_from_f16(bits)
#define BLOCK_F32(bits) gpu_bits<f32>(bits)
#include "blocks.h"

#include "quantised_tiles.h"

/* ---- the activations ---- */

/* A thread rounds four of 32 neighbours, as round_activations of quantised.hip does, and puts them where the lane that
 * multiplies them looks. Shifts are multiplied by the sum of the 32. */
#if MMA
template <typename T> GPU_FN void round_tiles(const struct gpu_round_tiles &p) {
    enum { LANES = 8 }; /* of 32 activations */
    const f32 SMALLEST = 7.5231638e-37f; /* 2^-120 */
    u32 quads = (u32)p.k / 4;
    u64 count = (u64)p.groups * GPU_TILE_GROUP * quads;
    for (u64 i = gpu_global(); i < count; i += gpu_stride()) {
        u32 column = (u32)(i / quads), quad = (u32)(i - (u64)column * quads), lane = quad % LANES;
        gemm_quad<T> x;
        GPU_UNROLL for (int j = 0; j < 4; j++) gpu_down(&x.v[j], 0.0f);
        if (column < (u64)p.columns) x = ((const gemm_quad<T> *)p.x)[i];
        f32 v[4], most = 0, wrong = 0;
        GPU_UNROLL for (int j = 0; j < 4; j++) {
            v[j] = gpu_up(x.v[j]);
            most = gpu_join_max::of(most, gpu_fabs(v[j]));
            wrong += v[j] * 0.0f;
        }
        most = gpu_wave_join<gpu_join_max>(most, LANES);
        wrong = gpu_wave_join<gpu_join_add>(wrong, LANES);
        f32 by = most > SMALLEST && wrong == 0 ? 127.0f / most : 0.0f, scale = most / 127.0f + wrong;
        u32 word = 0;
        GPU_UNROLL for (int j = 0; j < 4; j++)
            word |= (u32)((i32)gpu_rint(by > 0 ? v[j] * by : 0.0f) & 255) << 8 * j;
        i32 sum = gpu_wave_join<gpu_join_add>(gpu_dot4(0x01010101u, word, 0), LANES);
        u32 run = quad / LANES % 8, c = column % GPU_TILE_GROUP;
        u8 *to = p.to + ((u64)(quad / LANES / 8) * p.groups + column / GPU_TILE_GROUP) * GPU_TILE_X;
        *(u32 *)mma_bytes_place(to, run, c, lane / 4, lane % 4) = word;
        if (lane != 0) continue;
        f32 *scales = mma_bytes_scale((f32 *)(to + GPU_TILE_SCALES), run, c);
        scales[0] = scale;
        scales[MMA_BYTES_SCALED] = scale * (f32)sum;
    }
}

/* ---- steps on their way through LDS: weights, then activations ---- */

#if MMA_ASYNC
struct alignas(128) tile_page {
    u8 bytes[128];
};
GPU_DYNAMIC_SHARED(struct tile_page, tile_shared);
#endif
enum { ROWS = GPU_TILE_ROWS, LANE_ROWS = 32 / MMA_BYTES_ROWS };
/* Waves of 32 rows; the same rows in the other half of a step. */
enum { ROW_WAVES = ROWS / 32, HALF_WAVES = GPU_BLOCK / GPU_WAVE / ROW_WAVES };

/* Where sums lie, so that lanes that have two columns at once meet in no bank. */
#if defined(MMA_WMMA11)
enum { PITCH_OUT = ROWS + 16 };
#else
enum { PITCH_OUT = ROWS + 4 };
#endif
GPU_FN f32 *tile_out(f32 *lds, u32 column, u32 row) {
#if defined(MMA_WMMA12)
    row ^= column / 8 % 2 * 16;
#endif
    return lds + column * PITCH_OUT + row;
}

template <int TYPE, int COLUMNS> struct tiles {
    typedef tile_type<TYPE> type;
    enum {
        GROUPS = (COLUMNS + 15) / 16,
        N = COLUMNS / 8 < 2 ? 1 : 16 / MMA_BYTES_COLUMNS, /* products of a group */
        WORDS = type::PARTS == TILE_SHIFTS ? 4 : 2,       /* of quads of a run */
        X = ROWS * type::PITCH,
        STAGE = X + GROUPS * GPU_TILE_X
    };
    struct sums {
        f32 v[GROUPS * N][2][MMA_BYTES_SUMS];
    };
#if MMA_ASYNC
    /* A thread copies a piece of one row in LINES. What is past the last row stays as it was, for nobody stores it. */
    GPU_FN void fill(const struct gpu_linear_tiles &p, u32 step, u32 stage) {
        enum { LINES = GPU_BLOCK / type::PIECES };
        mma_lds lds = mma_lds_from((u8 *)tile_shared + stage * STAGE);
        u32 line = gpu_thread() / type::PIECES, piece = gpu_thread() % type::PIECES;
        i64 row = (i64)gpu_block_x() * ROWS + line;
        const u8 *from = p.weight + row * p.row_nbytes + (u64)step * type::NBYTES;
        mma_lds to = lds + line * type::PITCH + piece * 16;
        GPU_UNROLL for (u32 j = 0; j < (ROWS + LINES - 1) / LINES; j++) {
            if (line < LINES && line + j * LINES < ROWS && row + j * LINES < p.rows) {
                if (type::LOOSE) {
                    const u8 *at = from - (u64)from % 16 + piece * 16;
                    i64 left = p.end - at;
                    if (left > 0) mma_copy16_at(to + j * LINES * type::PITCH, at, left < 16 ? (u32)left : 16);
                } else {
                    mma_copy16_whole_at(to + j * LINES * type::PITCH, from + piece * 16);
                }
            }
            from += LINES * p.row_nbytes;
        }
        const u8 *x = p.x + ((u64)step * p.groups + gpu_block_z() * GROUPS) * GPU_TILE_X + gpu_thread() * 16;
        lds += X + gpu_thread() * 16;
        GPU_UNROLL for (u32 j = 0; j < (GROUPS * GPU_TILE_X / 16 + GPU_BLOCK - 1) / GPU_BLOCK; j++)
            if (j * GPU_BLOCK + gpu_thread() < GROUPS * GPU_TILE_X / 16)
                mma_copy16_whole_at(lds + j * GPU_BLOCK * 16, x + j * GPU_BLOCK * 16);
    }

    /* One run of 32 terms: four rows of a lane, by two words each, by 8 columns. */
    GPU_FN void add(f32 (&sum)[2][4], const u32 (&w)[LANE_ROWS][2][WORDS], int s, const u32 *x,
                    const struct tile_scales (&scale)[LANE_ROWS], const gpu_vec<f32> &by) {
        GPU_UNROLL for (int i = 0; i < 2; i++) {
            u32 a[2 * WORDS];
            i32 first[4], second[4];
            GPU_UNROLL for (int j = 0; j < 2 * WORDS; j++) a[j] = w[2 * i + j % 2][s][j / 2];
            if (type::PARTS == TILE_HALVES) {
                mma_bytes<1>(first, a, x);
                mma_bytes<1>(second, a + 2, x + 1);
            } else {
                mma_bytes<2>(first, a, x);
                if (type::PARTS == TILE_SHIFTS) mma_bytes<2>(second, a + 2 * WORDS - 4, x);
            }
            GPU_UNROLL for (int e = 0; e < 4; e++) {
                const struct tile_scales &r = scale[2 * i + e / 2];
                f32 product = mma_bytes_sum(first[e]);
                if (type::PARTS) {
                    product = gpu_fma(mma_bytes_sum(second[e]), r.second, product * r.first);
                    sum[i][e] = gpu_fma(product, by.v[e % 2], sum[i][e]);
                } else {
                    sum[i][e] = gpu_fma(product, r.first * by.v[e % 2], sum[i][e]);
                }
                if (type::SHIFT) sum[i][e] = gpu_fma(r.second, by.v[2 + e % 2], sum[i][e]);
            }
        }
    }

    /* A step: `row` is the lane's first of four in LDS, 8 apart; `at`: where all of them begin, which rows of
     * an even number of bytes do at the same place of 16. */
    GPU_FN void multiply(struct sums &sum, const u8 *row, u32 at, const u8 *x) {
        u32 half = gpu_wave() / 4, lane = gpu_lane(), t = lane % 4;
        struct tile_scales mine[LANE_ROWS];
        GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++)
            mine[j] = type::scales(row + j * 8 * type::PITCH, at, half, t);
        GPU_NO_UNROLL for (u32 turn = 0; turn < 2; turn++) {
            u32 w[LANE_ROWS][2][WORDS];
            GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++)
                type::words(row + j * 8 * type::PITCH, at, half, turn, t, w[j]);
            GPU_UNROLL for (u32 s = 0; s < 2; s++) {
                u32 run = type::run(turn, s), from = lane - t + run;
                struct tile_scales scale[LANE_ROWS];
                GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++) {
                    scale[j].first = gpu_shuffle(mine[j].first, from);
                    if (type::SHIFT || type::PARTS != 0) scale[j].second = gpu_shuffle(mine[j].second, from);
                }
                run += 4 * half;
                GPU_UNROLL for (int g = 0; g < GROUPS; g++) {
                    const u8 *group = x + g * GPU_TILE_X;
                    gpu_vec<u32> b = *(const gpu_vec<u32> *)(group + (run * 32 + lane) * 16);
                    GPU_UNROLL for (u32 n = 0; n < N; n++) {
                        gpu_vec<f32> by =
                            *(const gpu_vec<f32> *)(group + GPU_TILE_SCALES + ((run * 2 + n) * 4 + t) * 16);
                        add(sum.v[g * N + n], w, (int)s, b.v + 2 * n, scale, by);
                    }
                }
            }
        }
    }
#else
    /* A thread moves a piece of one row in LINES. Between them and the next row may lie a gap, whose threads idle, so that
     * those that write at once meet in no bank. */
    enum {
        SLOTS = type::PITCH / 16,
        LINES = GPU_BLOCK / SLOTS,
        EACH = (ROWS + LINES - 1) / LINES,
        EACH_X = (GROUPS * GPU_TILE_X / 16 + GPU_BLOCK - 1) / GPU_BLOCK
    };
    struct pieces {
        gpu_16 weight[EACH], x[EACH_X];
    };
    GPU_FN bool has_piece(u32 line, u32 piece, u32 j) {
        return piece < type::PIECES && line < LINES && line + j * LINES < ROWS;
    }
    GPU_FN void fetch(const struct gpu_linear_tiles &p, u32 step, struct pieces &v) {
        u32 line = gpu_thread() / SLOTS, piece = gpu_thread() % SLOTS;
        i64 row = (i64)gpu_block_x() * ROWS + line;
        const u8 *from = p.weight + row * p.row_nbytes + (u64)step * type::NBYTES + piece * 16;
        GPU_UNROLL for (u32 j = 0; j < EACH; j++) {
            v.weight[j] = gpu_16{{0, 0, 0, 0}};
            if (has_piece(line, piece, j) && row + j * LINES < p.rows)
                v.weight[j] = type::NBYTES % 16 ? tile_fetch(from, p.end - from) : tile_fetch(from);
            from += LINES * p.row_nbytes;
        }
        const u8 *x = p.x + ((u64)step * p.groups + gpu_block_z() * GROUPS) * GPU_TILE_X + gpu_thread() * 16;
        GPU_UNROLL for (u32 j = 0; j < EACH_X; j++)
            if (j * GPU_BLOCK + gpu_thread() < GROUPS * GPU_TILE_X / 16)
                v.x[j] = tile_fetch(x + j * GPU_BLOCK * 16);
    }
    GPU_FN void put(u8 *lds, const struct pieces &v) {
        u32 line = gpu_thread() / SLOTS, piece = gpu_thread() % SLOTS;
        GPU_UNROLL for (u32 j = 0; j < EACH; j++)
            if (has_piece(line, piece, j))
                *(gpu_16 *)(lds + (line + j * LINES) * type::PITCH + piece * 16) =
                    tile_flip(v.weight[j], (line + j * LINES) & 8);
        GPU_UNROLL for (u32 j = 0; j < EACH_X; j++)
            if (j * GPU_BLOCK + gpu_thread() < GROUPS * GPU_TILE_X / 16)
                *(gpu_16 *)(lds + X + (j * GPU_BLOCK + gpu_thread()) * 16) = v.x[j];
    }

    /* One run of 32 terms, of a row of a lane in each tile, by the columns of its sums in a group. */
    GPU_FN void add(f32 (&sum)[2][MMA_BYTES_SUMS], const struct mma_bytes_run (&w)[LANE_ROWS][2][WORDS / 2], int s,
                    const u8 *group, u32 run, const struct tile_scales (&scale)[LANE_ROWS]) {
        const f32 *scales = (const f32 *)(group + GPU_TILE_SCALES);
        struct mma_bytes_run x = mma_bytes_load(group, run);
        struct mma_bytes_by by = mma_bytes_by_of(scales, run);
        GPU_UNROLL for (int i = 0; i < LANE_ROWS; i++) {
            enum { HALVES = type::PARTS == TILE_HALVES };
            struct mma_bytes_sums first = mma_bytes<0, HALVES ? 0 : 1>(x, w[i][s][0]), second = first;
            const struct tile_scales &r = scale[i];
            if (type::PARTS) second = mma_bytes<HALVES ? 1 : 0, 1>(x, w[i][s][WORDS / 2 - 1]);
            GPU_UNROLL for (int e = 0; e < MMA_BYTES_SUMS; e++) {
                f32 product = mma_bytes_sum(first.v[e]);
                if (type::PARTS) {
                    product = gpu_fma(mma_bytes_sum(second.v[e]), r.second, product * r.first);
                    sum[i][e] = gpu_fma(product, by.v[e], sum[i][e]);
                } else {
                    sum[i][e] = gpu_fma(product, r.first * by.v[e], sum[i][e]);
                }
            }
        }
        mma_stay();
        if (!type::SHIFT) return;
        by = mma_bytes_by_of(scales + MMA_BYTES_SCALED, run);
        GPU_UNROLL for (int i = 0; i < LANE_ROWS; i++) GPU_UNROLL for (int e = 0; e < MMA_BYTES_SUMS; e++)
            sum[i][e] = gpu_fma(scale[i].second, by.v[e], sum[i][e]);
        mma_stay();
    }

    /* Half a step: `row` is the lane's first of two in LDS, 16 apart. */
    GPU_FN void multiply(struct sums &sum, const u8 *row, u32 half, const u8 *x) {
        GPU_NO_UNROLL for (u32 turn = 0; turn < 2; turn++) {
            struct mma_bytes_run w[LANE_ROWS][2][WORDS / 2];
            GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++) GPU_UNROLL for (u32 u = 0; u < MMA_BYTES_WORDS; u++) {
                u32 quads[2][WORDS];
                type::words(row + j * MMA_BYTES_ROWS * type::PITCH, 0, half, turn, mma_bytes_quad(u), quads);
                GPU_UNROLL for (int s = 0; s < 2; s++) GPU_UNROLL for (int i = 0; i < WORDS; i++)
                    w[j][s][i / 2].word[i % 2][u] = quads[s][i];
            }
            GPU_UNROLL for (u32 s = 0; s < 2; s++) {
                u32 run = type::run(turn, s);
                struct tile_scales scale[LANE_ROWS];
                GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++)
                    scale[j] = type::scales(row + j * MMA_BYTES_ROWS * type::PITCH, 0, half, run);
                run += 4 * half;
                GPU_UNROLL for (int g = 0; g < GROUPS; g++)
                    add(sum.v[g], w, (int)s, x + g * GPU_TILE_X, run, scale);
            }
        }
    }
#endif

    /* Waves of the second halves hand their sums to those of the first, and all store them. */
    GPU_FN void store(const struct gpu_linear_tiles &p, const struct sums &sum, f32 *lds) {
        gpu_sync();
        GPU_NO_UNROLL for (u32 half = HALF_WAVES; half-- > 0;) {
            if (gpu_wave() / ROW_WAVES == half)
                GPU_UNROLL for (u32 n = 0; n < GROUPS * N; n++) GPU_UNROLL for (u32 i = 0; i < 2; i++)
                    GPU_UNROLL for (u32 e = 0; e < MMA_BYTES_SUMS; e++) {
                        u32 row = gpu_wave() % ROW_WAVES * 32 + i * 16 + mma_bytes_sum_row(e);
                        f32 *to = tile_out(lds, n * MMA_BYTES_COLUMNS + mma_bytes_sum_column(e), row);
                        *to = half || HALF_WAVES == 1 ? sum.v[n][i][e] : sum.v[n][i][e] + *to;
                    }
            gpu_sync();
        }
        i64 row0 = (i64)gpu_block_x() * ROWS, column0 = (i64)gpu_block_z() * COLUMNS;
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < COLUMNS * ROWS / 4; u += GPU_BLOCK) {
            u32 line = u / (ROWS / 4), j = u % (ROWS / 4) * 4;
            i64 column = column0 + line, row = row0 + j, at = column * p.rows + row;
            if (column >= p.columns || row >= p.rows) continue;
            u32 n = p.rows - row < 4 ? (u32)(p.rows - row) : 4;
            gemm_quad<f32> x = *(const gemm_quad<f32> *)tile_out(lds, line, j);
            if (p.out.partial) at += (i64)gpu_block_y() * p.rows * p.columns;
            if (p.dtype == GPU_PLAIN_bf16)
                gemm_store<bf16>(p.out, at, row, n, x);
            else if (p.dtype == GPU_PLAIN_f16)
                gemm_store<f16>(p.out, at, row, n, x);
            else
                gemm_store<f32>(p.out, at, row, n, x);
        }
    }

    GPU_FN void run(const struct gpu_linear_tiles &p) {
        u32 step = gpu_block_y() * p.split, count = p.steps - step < p.split ? p.steps - step : p.split;
        struct sums sum;
        GPU_UNROLL for (int n = 0; n < GROUPS * N; n++) GPU_UNROLL for (int i = 0; i < 2; i++)
            GPU_UNROLL for (int e = 0; e < MMA_BYTES_SUMS; e++) sum.v[n][i][e] = 0;
#if MMA_ASYNC
        GPU_NO_UNROLL for (u32 i = 0; i + 1 < p.stages; i++) {
            if (i < count) fill(p, step + i, i);
            mma_copy_commit();
        }
        u32 line = gpu_wave() % ROW_WAVES * 32 + mma_bytes_row(), stage = 0;
        u32 row0 = gpu_block_x() * ROWS + line;
        GPU_NO_UNROLL for (u32 i = 0; i < count; i++) {
            mma_copy_wait_but(p.stages - 2);
            gpu_sync();
            if (i + p.stages - 1 < count)
                fill(p, step + i + p.stages - 1, stage == 0 ? p.stages - 1 : stage - 1);
            mma_copy_commit();
            const u8 *lds = (const u8 *)tile_shared + stage * STAGE;
            u32 at = type::LOOSE ? (row0 * (u32)p.row_nbytes + (step + i) * type::NBYTES) % 16 : 0;
            multiply(sum, lds + line * type::PITCH, at, lds + X);
            stage = stage + 1 == p.stages ? 0 : stage + 1;
        }
        store(p, sum, (f32 *)tile_shared);
#else
        enum { OUT = COLUMNS * PITCH_OUT * 4 };
        GPU_SHARED gpu_16 shared[(STAGE > OUT ? STAGE : OUT) / 16];
        u8 *lds = (u8 *)shared;
        u32 line = gpu_wave() % ROW_WAVES * 32 + mma_bytes_row();
        struct pieces next;
        fetch(p, step, next);
        GPU_NO_UNROLL for (u32 i = 0; i < count; i++) {
            put(lds, next);
            gpu_sync();
            if (i + 1 < count) fetch(p, step + i + 1, next);
            GPU_NO_UNROLL for (u32 half = mma_bytes_same(gpu_wave() / ROW_WAVES); half < 2; half += HALF_WAVES)
                multiply(sum, lds + line * type::PITCH, half, lds + X);
            gpu_sync();
        }
        store(p, sum, (f32 *)lds);
#endif
    }
};
#if MMA_ASYNC
#define TILES_RUN(name, columns) tiles<BLOCK_##name, columns>::run(p)
#else
/* A product has 16 columns there; the host asks for no fewer. */
template <int TYPE, int COLUMNS> struct tiles_way : tiles<TYPE, COLUMNS> {};
template <int TYPE> struct tiles_way<TYPE, 8> {
    GPU_FN void run(const struct gpu_linear_tiles &) {}
};
#define TILES_RUN(name, columns) tiles_way<BLOCK_##name, columns>::run(p)
#endif
#define TILES_ROUND(T) round_tiles<T>(p)
#else
/* The host asks for these only where they are. */
#define TILES_RUN(name, columns) (void)p
#define TILES_ROUND(T) (void)p
#endif

GPU_KERNEL(round_tiles_bf16, struct gpu_round_tiles) { TILES_ROUND(bf16); }
GPU_KERNEL(round_tiles_f16, struct gpu_round_tiles) { TILES_ROUND(f16); }
GPU_KERNEL(round_tiles_f32, struct gpu_round_tiles) { TILES_ROUND(f32); }

#if MMA_ASYNC
#define TILES_RESIDENT(name, columns) ((columns) > GPU_TILE_PAIR_##name ? 1 : 2)
#else
#define TILES_RESIDENT(name, columns) 1
#endif
#define TILES_ONE(name, columns)                                                                                       \
    GPU_KERNEL_OF(tiles_##name##_##columns, struct gpu_linear_tiles, GPU_BLOCK, TILES_RESIDENT(name, columns)) {           \
        TILES_RUN(name, columns);                                                                                      \
    }
#define TILES_OF(name) GPU_QUANTISED_TILES(TILES_ONE, name)
GPU_QUANTISED_TILE_TYPES(TILES_OF)
