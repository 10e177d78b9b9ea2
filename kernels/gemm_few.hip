/* Products of a matrix of bf16 or f16, whose rows begin anywhere, and up to 32 vectors by matrix instructions. The matrix is
 * read once, word by word where it lies, straight into fragments; the few are made into fragments first. Rows that lie two
 * apart begin alike, modulo 4 bytes, so a tile has every other row. The waves of a block take the terms in turn, and their
 * sums are added in order. */
#include "gemm_common.h"
#include "mma.h"

#include "gemm_few.h"

#if MMA
enum { FEW_WAVES = GPU_BLOCK / GPU_WAVE, FEW_PAIRS = MMA_K / 2 };

/* What word w of a lane's fragments has: a row of the matrix or one of the few, and one of the pairs of a step. */
#if MMA_ASYNC
enum { FEW_ROWS = 2 };
GPU_FN u32 few_row(u32 w) { return gpu_lane() / 4 + w % 2 * 8; }
GPU_FN u32 few_pair(u32 w) { return w / 2 * 4 + gpu_lane() % 4; }
GPU_FN u32 few_column(u32 w) { return gpu_lane() / 4 + w / 2 * 8; }
GPU_FN u32 few_column_pair(u32 w) { return w % 2 * 4 + gpu_lane() % 4; }
#else
enum { FEW_ROWS = 1 };
GPU_FN u32 few_row(u32) { return gpu_lane() % 16; }
GPU_FN u32 few_pair(u32 w) { return mma_piece() * 4 + w; }
GPU_FN u32 few_column(u32) { return gpu_lane() % 16; }
GPU_FN u32 few_column_pair(u32 w) { return few_pair(w); }
#endif

/* The pair of a row, `step` elements apart, that begins with term k; terms that aren't there are 0. */
GPU_FN u32 few_word(const u16 *row, i64 k, i64 terms, i64 step) {
    u32 low = k >= 0 && k < terms ? row[k * step] : 0, high = k + 1 < terms ? row[(k + 1) * step] : 0;
    return high << 16 | low;
}

GPU_FN void few_fragments(const struct gpu_gemm_few &p) {
    u32 steps = p.steps * p.tiles, count = (u32)p.g.batch.count * 2 * steps * GPU_WAVE;
    for (u32 i = (u32)gpu_global(); i < count; i += (u32)gpu_stride()) {
        u32 place = i / GPU_WAVE, whole = place / steps, odd = whole % 2;
        u32 step = (place - whole * steps) / p.tiles, tile = place % p.tiles;
        const u16 *few = (const u16 *)p.g.few + gpu_locate<2>(whole / 2, p.g.batch, p.g.stride).at[1];
        struct mma_fragment f;
        GPU_UNROLL for (u32 w = 0; w < MMA_WORDS; w++) {
            i64 column = tile * 16 + few_column(w), k = 2 * (i64)(step * FEW_PAIRS + few_column_pair(w)) - odd;
            f.word[w] = column < p.g.count ? few_word(few + column * p.g.few_row, k, p.g.k, p.g.few_step) : 0;
        }
        ((struct mma_fragment *)p.fragments)[i] = f;
    }
}

/* A wave's 32 rows of the matrix: those of each tile, which begin `odd` elements behind a word, and the few for them. */
struct few_side {
    const u16 *row[2][FEW_ROWS];
    const struct mma_fragment *few[2];
    u32 odd[2];
};

GPU_FN struct few_side few_side_of(const struct gpu_gemm_few &p, u32 batch, i64 row0) {
    struct few_side s;
    const u16 *base = (const u16 *)p.g.matrix + gpu_locate<2>(batch, p.g.batch, p.g.stride).at[0];
    GPU_UNROLL for (u32 m = 0; m < 2; m++) {
        i64 first = row0 + m < p.g.rows ? row0 + m : row0; /* instead of those past the last */
        GPU_UNROLL for (u32 r = 0; r < FEW_ROWS; r++) {
            i64 row = row0 + m + 2 * few_row(r);
            s.row[m][r] = base + (row < p.g.rows ? row : first) * p.g.row;
        }
        s.odd[m] = (u32)(u64)s.row[m][0] / 2 % 2;
        s.few[m] = (const struct mma_fragment *)p.fragments + (batch * 2 + s.odd[m]) * p.steps * p.tiles * GPU_WAVE + gpu_lane();
    }
    return s;
}

/* Steps `step` .. step + N - 1, all loads before all products. WHOLE: all terms are there. */
template <typename T, int TILES, int N, bool WHOLE>
GPU_FN void few_steps(const struct gpu_gemm_few &p, const struct few_side &s, u32 step, struct mma_tile (&sum)[2][TILES]) {
    struct mma_fragment x[N][2], y[N][2][TILES];
    GPU_UNROLL for (u32 n = 0; n < N; n++) GPU_UNROLL for (u32 m = 0; m < 2; m++) {
        GPU_UNROLL for (u32 w = 0; w < MMA_WORDS; w++) {
            const u16 *row = s.row[m][w % FEW_ROWS];
            i64 k = 2 * (i64)((step + n) * FEW_PAIRS + few_pair(w)) - s.odd[m];
            x[n][m].word[w] = WHOLE ? *(const u32 *)(row + k) : few_word(row, k, p.g.k, 1);
        }
        GPU_UNROLL for (u32 t = 0; t < TILES; t++) {
            GPU_UNROLL for (u32 w = 0; w < MMA_WORDS; w++) y[n][m][t].word[w] = 0;
            if (t * 16 + few_column(0) < p.g.count) y[n][m][t] = s.few[m][((step + n) * TILES + t) * GPU_WAVE];
        }
    }
    GPU_UNROLL for (u32 n = 0; n < N; n++) GPU_UNROLL for (u32 m = 0; m < 2; m++)
        GPU_UNROLL for (u32 t = 0; t < TILES; t++) mma<T>(sum[m][t], x[n][m], y[n][m][t]);
}

/* The sum of row `row` of the matrix and number f of the few, of batch and split `whole`. */
template <typename T> GPU_FN void few_store(const struct gpu_gemv_few &g, i64 whole, i64 row, i64 f, f32 sum) {
    gemm_quad<f32> x = {{sum, 0, 0, 0}};
    i64 to = whole * g.rows * g.count;
    if (row >= g.rows || f >= g.count) return;
    if (g.few_columns)
        gemm_store<T>(g.out, to + row * g.count + f, f, 1, x);
    else
        gemm_store<T>(g.out, to + f * g.rows + row, row, 1, x);
}

template <typename T, int TILES> GPU_FN void few_product(const struct gpu_gemm_few &p) {
    enum { N = 4 / TILES, ROWS = GPU_FEW_TILE, SUMS = 16 * TILES * ROWS };
    GPU_SHARED f32 all[FEW_WAVES * SUMS]; /* [wave, number of the few, row] */
    u32 blocks = (u32)((p.g.rows + ROWS - 1) / ROWS), whole = gpu_block_x() / blocks;
    u32 split = whole / (u32)p.g.batch.count, batch = whole - split * (u32)p.g.batch.count;
    u32 from = split * p.split, to = from + p.split < p.steps ? from + p.split : p.steps;
    i64 row0 = (i64)(gpu_block_x() - whole * blocks) * ROWS;
    struct few_side s = few_side_of(p, batch, row0);
    struct mma_tile sum[2][TILES];
    mma_clear(sum);
    GPU_NO_UNROLL for (u32 step = from + gpu_wave() * N; step < to; step += FEW_WAVES * N) {
        bool all_there = step > 0 && step + N <= to && (i64)(step + N) * MMA_K <= p.g.k;
        if (all_there) {
            few_steps<T, TILES, N, true>(p, s, step, sum);
        } else {
            GPU_NO_UNROLL for (u32 one = step; one < step + N && one < to; one++)
                few_steps<T, TILES, 1, false>(p, s, one, sum);
        }
    }
    GPU_UNROLL for (u32 m = 0; m < 2; m++) GPU_UNROLL for (u32 t = 0; t < TILES; t++)
        GPU_UNROLL for (u32 e = 0; e < MMA_SUMS; e++)
            all[gpu_wave() * SUMS + (t * 16 + mma_column(e)) * ROWS + 2 * mma_row(e) + m] = sum[m][t].v[e];
    gpu_sync();
    GPU_NO_UNROLL for (u32 c = gpu_thread(); c < SUMS; c += GPU_BLOCK) {
        f32 total = all[c];
        GPU_UNROLL for (u32 w = 1; w < FEW_WAVES; w++) total += all[w * SUMS + c];
        few_store<T>(p.g, whole, row0 + c % ROWS, c / ROWS, total);
    }
}
#define FEW_PACK few_fragments(p)
#define FEW_PRODUCT(type, tiles) few_product<type, tiles>(p)
#else
/* The host never asks for these where there are no matrix instructions. */
#define FEW_PACK (void)p
#define FEW_PRODUCT(type, tiles) (void)p
#endif

GPU_KERNEL(few_pack, struct gpu_gemm_few) { FEW_PACK; }
#define FEW_KERNELS(type)                                                                                              \
    GPU_KERNEL_OF(few_16_##type, struct gpu_gemm_few, GPU_BLOCK, 2) { FEW_PRODUCT(type, 1); }                          \
    GPU_KERNEL_OF(few_32_##type, struct gpu_gemm_few, GPU_BLOCK, 2) { FEW_PRODUCT(type, 2); }
FEW_KERNELS(bf16)
FEW_KERNELS(f16)
