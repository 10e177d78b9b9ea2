/* Some rows of activations, rounded to 8 bits, by weights of blocks, which are read once, as they are, and unpacked on
 * their way from LDS to matrix instructions of signed bytes.
 *
 * The weights are rows of A and the activations columns of B. A block makes a tile of 128 x COLUMNS in steps of 256 terms
 * that come to LDS by asynchronous copies; a wave has 32 rows of it and half of each step. */
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
template <typename T> GPU_FN void round_tiles(const struct gpu_round_tiles &p) {
    enum { LANES = 8 }; /* of 32 activations */
    const f32 SMALLEST = 7.5231638e-37f; /* 2^-120 */
    u32 quads = (u32)p.k / 4;
    u64 count = (u64)p.groups * GPU_TILE_GROUP * quads;
    for (u64 i = gpu_global(); i < count; i += gpu_stride()) {
        u32 column = (u32)(i / quads), quad = (u32)(i - (u64)column * quads), lane = quad % LANES, t = lane % 4;
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
        u32 run = quad / LANES % 8, c = column % GPU_TILE_GROUP, n = c / 8;
        u8 *to = p.to + ((u64)(quad / LANES / 8) * p.groups + column / GPU_TILE_GROUP) * GPU_TILE_X;
        *(u32 *)(to + (run * 32 + c % 8 * 4 + t) * 16 + n * 8 + lane / 4 * 4) = word;
        if (lane != 0) continue;
        f32 *scales = (f32 *)(to + GPU_TILE_SCALES) + ((run * 2 + n) * 4 + c % 8 / 2) * 4 + c % 2;
        scales[0] = scale;
        scales[2] = scale * (f32)sum;
    }
}
GPU_KERNEL(round_tiles_bf16, struct gpu_round_tiles) { round_tiles<bf16>(p); }
GPU_KERNEL(round_tiles_f16, struct gpu_round_tiles) { round_tiles<f16>(p); }
GPU_KERNEL(round_tiles_f32, struct gpu_round_tiles) { round_tiles<f32>(p); }

#if MMA_ASYNC
/* ---- steps on their way through LDS: weights, then activations ---- */

struct alignas(128) tile_page {
    u8 bytes[128];
};
GPU_DYNAMIC_SHARED(struct tile_page, tile_shared);
enum { ROWS = GPU_TILE_ROWS, PITCH_OUT = ROWS + 4, LANE_ROWS = 4 };

template <int TYPE, int COLUMNS> struct tiles {
    typedef tile_type<TYPE> type;
    enum {
        GROUPS = (COLUMNS + 15) / 16,
        N = COLUMNS / 8 < 2 ? 1 : 2, /* tiles of 8 columns of a group */
        X = ROWS * type::PITCH,
        STAGE = X + GROUPS * GPU_TILE_X
    };
    struct sums {
        f32 v[GROUPS * N][2][4];
    };

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
    GPU_FN void add(f32 (&sum)[2][4], const u32 (&w)[LANE_ROWS][2][2], int s, const u32 *x,
                    const struct tile_scales (&scale)[LANE_ROWS], const gpu_vec<f32> &by) {
        GPU_UNROLL for (int i = 0; i < 2; i++) {
            const u32 a[4] = {w[2 * i][s][0], w[2 * i + 1][s][0], w[2 * i][s][1], w[2 * i + 1][s][1]};
            i32 first[4], second[4];
            if (type::PARTS) {
                mma_bytes<1>(first, a, x);
                mma_bytes<1>(second, a + 2, x + 1);
            } else {
                mma_bytes<2>(first, a, x);
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
            u32 w[LANE_ROWS][2][2];
            GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++)
                type::words(row + j * 8 * type::PITCH, at, half, turn, t, w[j]);
            GPU_UNROLL for (u32 s = 0; s < 2; s++) {
                u32 run = type::run(turn, s), from = lane - t + run;
                struct tile_scales scale[LANE_ROWS];
                GPU_UNROLL for (int j = 0; j < LANE_ROWS; j++) {
                    scale[j].first = gpu_shuffle(mine[j].first, from);
                    if (type::SHIFT || type::PARTS) scale[j].second = gpu_shuffle(mine[j].second, from);
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

    /* Waves of the second halves hand their sums to those of the first, and all store them. */
    GPU_FN void store(const struct gpu_linear_tiles &p, const struct sums &sum) {
        f32 *lds = (f32 *)tile_shared;
        gpu_sync();
        GPU_NO_UNROLL for (u32 half = 2; half-- > 0;) {
            if (gpu_wave() / 4 == half)
                GPU_UNROLL for (u32 n = 0; n < GROUPS * N; n++) GPU_UNROLL for (u32 i = 0; i < 2; i++)
                    GPU_UNROLL for (u32 e = 0; e < 4; e++) {
                        u32 row = gpu_wave() % 4 * 32 + i * 16 + e / 2 * 8 + gpu_lane() / 4;
                        f32 *to = lds + (n * 8 + gpu_lane() % 4 * 2 + e % 2) * PITCH_OUT + row;
                        *to = half ? sum.v[n][i][e] : sum.v[n][i][e] + *to;
                    }
            gpu_sync();
        }
        i64 row0 = (i64)gpu_block_x() * ROWS, column0 = (i64)gpu_block_z() * COLUMNS;
        GPU_NO_UNROLL for (u32 u = gpu_thread(); u < COLUMNS * ROWS / 4; u += GPU_BLOCK) {
            u32 line = u / (ROWS / 4), j = u % (ROWS / 4) * 4;
            i64 column = column0 + line, row = row0 + j, at = column * p.rows + row;
            if (column >= p.columns || row >= p.rows) continue;
            u32 n = p.rows - row < 4 ? (u32)(p.rows - row) : 4;
            gemm_quad<f32> x = *(const gemm_quad<f32> *)(lds + line * PITCH_OUT + j);
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
            GPU_UNROLL for (int e = 0; e < 4; e++) sum.v[n][i][e] = 0;
        GPU_NO_UNROLL for (u32 i = 0; i + 1 < p.stages; i++) {
            if (i < count) fill(p, step + i, i);
            mma_copy_commit();
        }
        u32 line = gpu_wave() % 4 * 32 + gpu_lane() / 4, stage = 0;
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
        store(p, sum);
    }
};
#define TILES_RUN(name, columns) tiles<BLOCK_##name, columns>::run(p)
#else
/* The host asks for these only where they are. */
#define TILES_RUN(name, columns) (void)p
#endif

#define TILES_RESIDENT(name, columns) ((columns) > GPU_TILE_PAIR_##name ? 1 : 2)
#define TILES_ONE(name, columns)                                                                                       \
    GPU_KERNEL_OF(tiles_##name##_##columns, struct gpu_linear_tiles, GPU_BLOCK, TILES_RESIDENT(name, columns)) {           \
        TILES_RUN(name, columns);                                                                                      \
    }
#define TILES_OF(name) GPU_QUANTISED_TILES(TILES_ONE, name)
GPU_QUANTISED_TILE_TYPES(TILES_OF)
