/* Products of a matrix and a few vectors, of any strides and alignment: the matrix is read once for GPU_FEW vectors,
 * element by element, where the lanes of a wave lie side by side. */
#include "gemm_common.h"
#include "mma.h"
#include "wave.h"

struct few_place {
    i64 task, first, k0, k1; /* first: of the few */
    i64 matrix, few, to;
};

/* Tasks are numbered by group of the few, so that those that read the same of the matrix run together, then by unit (some
 * rows of the matrix), batch and split. */
GPU_FN struct few_place few_locate(const struct gpu_gemv_few &p, u64 task, u64 units) {
    struct few_place at;
    u64 rest = task / p.groups, whole = rest / units, split = whole / (u64)p.batch.count;
    at.first = (i64)(task - rest * p.groups) * GPU_FEW;
    at.task = (i64)(rest - whole * units);
    at.k0 = (i64)split * p.split;
    at.k1 = at.k0 + p.split < p.k ? at.k0 + p.split : p.k;
    gpu_offsets<2> o = gpu_locate<2>(whole - split * (u64)p.batch.count, p.batch, p.stride);
    at.matrix = o.at[0];
    at.few = o.at[1];
    at.to = (i64)whole * p.rows * p.count;
    return at;
}

/* The sum of row `row` of the matrix and number f of the few. */
template <typename T, typename S>
GPU_FN void few_store(const struct gpu_gemv_few &p, const struct few_place &at, i64 row, i64 f, S sum) {
    gemm_quad<S> x = {{sum, 0, 0, 0}};
    if (row >= p.rows || f >= p.count) return;
    if (p.few_columns)
        gemm_store<T>(p.out, at.to + row * p.count + f, f, 1, x);
    else
        gemm_store<T>(p.out, at.to + f * p.rows + row, row, 1, x);
}

/* Steps of FEW_DEPTH terms of the few lie in LDS, one a thread, as quads [f / 4][k][f % 4]. */
enum { FEW_DEPTH = GPU_BLOCK, FEW_QUADS = FEW_DEPTH * GPU_FEW / 4, FEW_WAVES = GPU_BLOCK / GPU_WAVE };

template <typename T, typename S>
GPU_FN void few_fetch(const struct gpu_gemv_few &p, const struct few_place &at, i64 k0, gemm_quad<S> *lds) {
    i64 k = k0 + gpu_thread();
    const T *from = (const T *)p.few + at.few + at.first * p.few_row + k * p.few_step;
    S v[GPU_FEW];
    GPU_UNROLL for (int f = 0; f < GPU_FEW; f++)
        v[f] = k < at.k1 && at.first + f < p.count ? gemm_up(from[f * p.few_row]) : 0;
    gpu_sync(); /* the step before has been used */
    GPU_UNROLL for (int f = 0; f < GPU_FEW; f += 4) {
        gemm_quad<S> quad = {{v[f], v[f + 1], v[f + 2], v[f + 3]}};
        lds[f / 4 * FEW_DEPTH + gpu_thread()] = quad;
    }
    gpu_sync();
}

/* Adds the products of x, elements of EACH rows of the matrix, and term k of the step. */
template <typename T, typename S, int EACH>
GPU_FN void few_add(const T (&x)[EACH], const gemm_quad<S> *lds, u32 k, S (&sum)[EACH][GPU_FEW]) {
    GPU_UNROLL for (int f = 0; f < GPU_FEW; f += 4) {
        gemm_quad<S> y = lds[f / 4 * FEW_DEPTH + k];
        GPU_UNROLL for (int e = 0; e < EACH; e++) GPU_UNROLL for (int j = 0; j < 4; j++)
            sum[e][f + j] = gemm_mad(gemm_up(x[e]), y.v[j], sum[e][f + j]);
    }
}

template <typename S, int EACH> GPU_FN void few_clear(S (&sum)[EACH][GPU_FEW]) {
    GPU_UNROLL for (int e = 0; e < EACH; e++) GPU_UNROLL for (int f = 0; f < GPU_FEW; f++) sum[e][f] = 0;
}

/* ---- terms side by side in memory ---- */

/* Adds up the lanes: lane l gets the sum of number l % GPU_FEW. */
template <typename S> GPU_FN S few_join(S (&v)[GPU_FEW]) {
    GPU_UNROLL for (u32 half = GPU_FEW / 2; half > 0; half /= 2) {
        bool upper = (gpu_lane() & half) != 0;
        GPU_UNROLL for (u32 i = 0; i < half; i++) {
            S low = v[i], high = v[i + half];
            v[i] = (upper ? high : low) + gpu_shuffle_xor(upper ? low : high, half);
        }
    }
    GPU_UNROLL for (u32 mask = GPU_FEW; mask < GPU_WAVE; mask *= 2) v[0] += gpu_shuffle_xor(v[0], mask);
    return v[0];
}

/* A wave takes GPU_FEW_ROWS rows of the matrix, its lanes the terms in turn. All that a lane has of a step is asked for at
 * once, and before the few are. */
template <typename T> GPU_FN void gemv_few_rows(const struct gpu_gemv_few &p) {
    typedef typename gemm_sum<T>::type S;
    enum { ROWS = GPU_FEW_ROWS, TURNS = FEW_DEPTH / GPU_WAVE };
    GPU_SHARED gemm_quad<S> lds[FEW_QUADS];
    struct few_place at = few_locate(p, gpu_block_x(), (u64)(p.rows + ROWS * FEW_WAVES - 1) / (ROWS * FEW_WAVES));
    i64 row0 = (at.task * FEW_WAVES + gpu_wave()) * ROWS;
    const T *row[ROWS]; /* those past the last are the last again */
    GPU_UNROLL for (int i = 0; i < ROWS; i++)
        row[i] = (const T *)p.matrix + at.matrix + (row0 + i < p.rows ? row0 + i : p.rows - 1) * p.row;
    S sum[ROWS][GPU_FEW];
    few_clear(sum);
    GPU_NO_UNROLL for (i64 k0 = at.k0; k0 < at.k1; k0 += FEW_DEPTH) {
        T x[TURNS][ROWS];
        u32 n = at.k1 - k0 < FEW_DEPTH ? (u32)(at.k1 - k0) : FEW_DEPTH;
        GPU_UNROLL for (int i = 0; i < ROWS; i++) {
            const T *from = row[i] + (k0 + gpu_lane()) * p.step;
            GPU_UNROLL for (u32 u = 0; u < TURNS; u++) {
                x[u][i] = T();
                if (u * GPU_WAVE + gpu_lane() < n) x[u][i] = *from;
                from += GPU_WAVE * p.step;
            }
        }
        few_fetch<T>(p, at, k0, lds);
        GPU_UNROLL for (u32 u = 0; u < TURNS; u++) few_add(x[u], lds, u * GPU_WAVE + gpu_lane(), sum);
    }
    S total = few_join(sum[0]);
    GPU_UNROLL for (u32 i = 1; i < ROWS; i++) {
        S next = few_join(sum[i]);
        if (gpu_lane() / GPU_FEW == i) total = next;
    }
    u32 i = gpu_lane() / GPU_FEW, f = gpu_lane() % GPU_FEW;
    if (i < ROWS) few_store<T>(p, at, row0 + i, at.first + f, total);
}

/* ---- rows side by side in memory ---- */

/* A block takes WIDTH rows of the matrix, GPU_FEW_EACH a lane; its waves take the terms in turn, and their sums are added
 * in order. */
template <typename T> GPU_FN void gemv_few_columns(const struct gpu_gemv_few &p) {
    typedef typename gemm_sum<T>::type S;
    enum { EACH = GPU_FEW_EACH, WIDTH = EACH * GPU_WAVE, TURNS = 8 };
    GPU_SHARED gemm_quad<S> lds[FEW_WAVES * GPU_FEW * WIDTH / 4];
    struct few_place at = few_locate(p, gpu_block_x(), (u64)(p.rows + WIDTH - 1) / WIDTH);
    i64 row0 = at.task * WIDTH;
    const T *from[EACH];
    GPU_UNROLL for (u32 e = 0; e < EACH; e++) {
        i64 row = row0 + e * GPU_WAVE + gpu_lane();
        from[e] = (const T *)p.matrix + at.matrix + (row < p.rows ? row : p.rows - 1) * p.row;
    }
    S sum[EACH][GPU_FEW];
    few_clear(sum);
    GPU_NO_UNROLL for (i64 k0 = at.k0; k0 < at.k1; k0 += FEW_DEPTH) {
        u32 n = at.k1 - k0 < FEW_DEPTH ? (u32)(at.k1 - k0) : FEW_DEPTH;
        few_fetch<T>(p, at, k0, lds);
        GPU_NO_UNROLL for (u32 k = gpu_wave(); k < n; k += TURNS * FEW_WAVES) {
            T x[TURNS][EACH];
            GPU_UNROLL for (u32 u = 0; u < TURNS; u++) GPU_UNROLL for (int e = 0; e < EACH; e++)
                x[u][e] = from[e][(k0 + (k + u * FEW_WAVES < n ? k + u * FEW_WAVES : k)) * p.step];
            GPU_UNROLL for (u32 u = 0; u < TURNS; u++)
                if (k + u * FEW_WAVES < n) few_add(x[u], lds, k + u * FEW_WAVES, sum);
        }
    }
    gpu_sync();
    S *all = (S *)lds;
    GPU_UNROLL for (u32 f = 0; f < GPU_FEW; f++) GPU_UNROLL for (u32 e = 0; e < EACH; e++)
        all[(gpu_wave() * GPU_FEW + f) * WIDTH + e * GPU_WAVE + gpu_lane()] = sum[e][f];
    gpu_sync();
    GPU_NO_UNROLL for (u32 c = gpu_thread(); c < GPU_FEW * WIDTH; c += GPU_BLOCK) {
        S total = all[c];
        GPU_UNROLL for (u32 w = 1; w < FEW_WAVES; w++) total += all[w * GPU_FEW * WIDTH + c];
        few_store<T>(p, at, row0 + c % WIDTH, at.first + c / WIDTH, total);
    }
}

#define GEMV_FEW_ROWS(type)                                                                                            \
    GPU_KERNEL_OF(gemv_few_rows_##type, struct gpu_gemv_few, GPU_BLOCK, sizeof(type) == 8 ? 1 : 3) {                   \
        gemv_few_rows<type>(p);                                                                                        \
    }
#if MMA
/* The host never asks for these where there are matrix instructions: gemm_few.hip has them. */
#define GEMV_FEW_HALVES(type)                                                                                          \
    GPU_KERNEL(gemv_few_rows_##type, struct gpu_gemv_few) { (void)p; }
#else
#define GEMV_FEW_HALVES(type) GEMV_FEW_ROWS(type)
#endif
#define GEMV_FEW_COLUMNS(type)                                                                                         \
    GPU_KERNEL_OF(gemv_few_columns_##type, struct gpu_gemv_few, GPU_BLOCK, sizeof(type) == 8 ? 2 : 3) {                \
        gemv_few_columns<type>(p);                                                                                     \
    }
GEMV_FEW_HALVES(bf16)
GEMV_FEW_HALVES(f16)
GEMV_FEW_ROWS(f32)
GEMV_FEW_ROWS(f64)
GEMV_FEW_COLUMNS(bf16)
GEMV_FEW_COLUMNS(f16)
GEMV_FEW_COLUMNS(f32)
GEMV_FEW_COLUMNS(f64)
