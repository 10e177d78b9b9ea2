/* Products of a matrix and a vector, at the speed of memory: a wave a row where the terms of a row are neighbours in
 * memory, a block a run of rows where the rows are. */
#include "gemm_common.h"
#include "normed.h"

struct gemv_place {
    i64 task, batch, k0, k1, matrix, vector, to;
};

/* Tasks are numbered by unit (a row, or a run of rows), then batch, then split. */
GPU_FN struct gemv_place gemv_locate(const struct gpu_gemv &p, u64 task, u64 units) {
    struct gemv_place at;
    u64 whole = task / units, split = whole / (u64)p.batch.count;
    at.task = (i64)(task - whole * units);
    at.batch = (i64)(whole - split * (u64)p.batch.count);
    at.k0 = (i64)split * p.split;
    at.k1 = at.k0 + p.split < p.k ? at.k0 + p.split : p.k;
    gpu_offsets<2> o = gpu_locate<2>((u64)at.batch, p.batch, p.stride);
    at.matrix = o.at[0];
    at.vector = o.at[1];
    at.to = (i64)whole * p.rows;
    return at;
}

/* N neighbours, by loads of 16 bytes. */
template <typename V, int N> struct gemv_run {
    V v[N];
};
template <typename V, int N> GPU_FN gemv_run<V, N> gemv_take(const V *from) {
    enum { EACH = gpu_vec<V>::N };
    gemv_run<V, N> run;
    GPU_UNROLL for (int i = 0; i < N; i += EACH) {
        gpu_vec<V> part = gpu_load16(from + i);
        GPU_UNROLL for (int j = 0; j < EACH; j++) run.v[i + j] = part.v[j];
    }
    return run;
}

/* Lanes take 16 bytes of the row each in turn, some turns at a time; a tree adds up the lanes. */
template <typename T> GPU_FN void gemv_rows(const struct gpu_gemv &p) {
    typedef typename gemm_sum<T>::type S;
    enum { N = gpu_vec<T>::N, TURNS = N == 16 ? 2 : 4, STEP = N * GPU_WAVE };
    u64 task = (u64)gpu_block_x() * (GPU_BLOCK / GPU_WAVE) + gpu_wave();
    bool there = task < (u64)p.tasks;
    struct gemv_place at = gemv_locate(p, there ? task : 0, (u64)p.rows);
    const T *row = (const T *)p.matrix + at.matrix + at.task * p.row;
    const T *vector = (const T *)p.vector + at.vector;
    S sum[4];
    GPU_UNROLL for (int u = 0; u < 4; u++) sum[u] = 0;
    i64 k = at.k0;
    if (p.vector_load) {
        GPU_NO_UNROLL for (; k + TURNS * STEP <= at.k1; k += TURNS * STEP) {
            gpu_vec<T> x[TURNS];
            gemv_run<T, N> y[TURNS];
            GPU_UNROLL for (int u = 0; u < TURNS; u++) x[u] = gpu_load16(row + k + u * STEP + gpu_lane() * N);
            GPU_UNROLL for (int u = 0; u < TURNS; u++) y[u] = gemv_take<T, N>(vector + k + u * STEP + gpu_lane() * N);
            GPU_UNROLL for (int u = 0; u < TURNS; u++)
                GPU_UNROLL for (int j = 0; j < N; j++) sum[u] = gemm_mad(gemm_up(x[u].v[j]), gemm_up(y[u].v[j]), sum[u]);
        }
        GPU_NO_UNROLL for (; k + STEP <= at.k1; k += STEP) {
            gpu_vec<T> x = gpu_load16(row + k + gpu_lane() * N);
            gemv_run<T, N> y = gemv_take<T, N>(vector + k + gpu_lane() * N);
            GPU_UNROLL for (int j = 0; j < N; j++) sum[0] = gemm_mad(gemm_up(x.v[j]), gemm_up(y.v[j]), sum[0]);
        }
    } else {
        GPU_NO_UNROLL for (; k + TURNS * GPU_WAVE <= at.k1; k += TURNS * GPU_WAVE)
            GPU_UNROLL for (int u = 0; u < TURNS; u++) {
                i64 kk = k + u * GPU_WAVE + gpu_lane();
                sum[u] = gemm_mad(gemm_up(row[kk * p.step]), gemm_up(vector[kk * p.vector_step]), sum[u]);
            }
    }
    GPU_NO_UNROLL for (k += gpu_lane(); k < at.k1; k += GPU_WAVE)
        sum[1] = gemm_mad(gemm_up(row[k * p.step]), gemm_up(vector[k * p.vector_step]), sum[1]);
    S total = gpu_wave_join<gpu_join_add>((S)((sum[0] + sum[1]) + (sum[2] + sum[3])));
    gemm_quad<S> x = {{total, 0, 0, 0}};
    if (there && gpu_lane() == 0) gemm_store<T>(p.out, at.to + at.task, at.task, 1, x);
}

/* Rows of 16 bits by a vector of f32, GPU_WIDE_ROWS a wave: the vector's bytes, which come from caches, are twice a
 * row's. The next numbers of the matrix are asked for as soon as there is room for them, the first ones, where no kernel
 * writes them, before the kernels ahead have ended. Sums are those of gemv_rows. */
template <typename T> struct gemv_wide {
    enum { N = gpu_vec<T>::N, TURNS = 4, STEP = N * GPU_WAVE, STEPS = TURNS * STEP };
    const T *row[GPU_WIDE_ROWS];
    gpu_vec<T> x[GPU_WIDE_ROWS][TURNS];
    f32 sum[GPU_WIDE_ROWS][4];

    GPU_FN void fetch(gemv_wide &s, int u, i64 k) {
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) s.x[r][u] = gpu_load16(s.row[r] + k + u * STEP + gpu_lane() * N);
    }
    GPU_FN void add(gemv_wide &s, const gpu_vec<T> (&x)[GPU_WIDE_ROWS], int u, const f32 *vector) {
        gemv_run<f32, N> y = gemv_take<f32, N>(vector + gpu_lane() * N);
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) {
            f32 up[N];
            gpu_up_vector(x[r], up);
            GPU_UNROLL for (int j = 0; j < N; j++) s.sum[r][u] = gemm_mad(up[j], y.v[j], s.sum[r][u]);
        }
    }
    GPU_FN void run(const struct gpu_gemv &p) {
        u64 task = (u64)gpu_block_x() * (GPU_BLOCK / GPU_WAVE) + gpu_wave();
        bool there = task < (u64)p.tasks;
        struct gemv_place at = gemv_locate(p, there ? task : 0, (u64)(p.rows + GPU_WIDE_ROWS - 1) / GPU_WIDE_ROWS);
        const f32 *vector = (const f32 *)p.vector + at.vector;
        i64 first = at.task * GPU_WIDE_ROWS, k = at.k0;
        gemv_wide s;
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) {
            s.row[r] = (const T *)p.matrix + at.matrix + (first + r < p.rows ? first + r : first) * p.row;
            GPU_UNROLL for (int u = 0; u < 4; u++) s.sum[r][u] = 0;
        }
        bool more = p.vector_load && k + STEPS <= at.k1;
        if (!p.early) gpu_wait();
        if (more) GPU_UNROLL for (int u = 0; u < TURNS; u++) fetch(s, u, k);
        if (p.early) gpu_wait();
        GPU_NO_UNROLL while (more) {
            i64 here = k;
            k += STEPS;
            more = k + STEPS <= at.k1;
            GPU_UNROLL for (int u = 0; u < TURNS; u++) {
                gpu_vec<T> x[GPU_WIDE_ROWS];
                GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) x[r] = s.x[r][u];
                if (more) fetch(s, u, k);
                add(s, x, u, vector + here + u * STEP);
            }
        }
        if (p.vector_load) GPU_NO_UNROLL for (; k + STEP <= at.k1; k += STEP) {
            gpu_vec<T> x[GPU_WIDE_ROWS];
            GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) x[r] = gpu_load16(s.row[r] + k + gpu_lane() * N);
            add(s, x, 0, vector + k);
        }
        GPU_NO_UNROLL for (k += gpu_lane(); k < at.k1; k += GPU_WAVE)
            GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++)
                s.sum[r][1] = gemm_mad(gemm_up(s.row[r][k]), vector[k * p.vector_step], s.sum[r][1]);
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) {
            f32 total = gpu_wave_join<gpu_join_add>((s.sum[r][0] + s.sum[r][1]) + (s.sum[r][2] + s.sum[r][3]));
            gemm_quad<f32> x = {{total, 0, 0, 0}};
            i64 row = first + r;
            if (there && row < p.rows && gpu_lane() == 0) gemm_store<f32>(p.out, at.to + row, row, 1, x);
        }
    }
};

/* The same of a vector after a norm, which each block makes for itself in LDS while its first numbers of the matrix come.
 * Its waves then take GPU_WIDE_ROWS rows in turn. */
template <typename T> struct gemv_normed {
    enum {
        N = gpu_vec<T>::N,
        TURNS = 4,
        STEP = TURNS * GPU_WAVE, /* vectors of a row that a wave asks for at once */
        WAVES = GPU_BLOCK / GPU_WAVE,
        MOST = GPU_NORMED / N / GPU_BLOCK, /* vectors of a thread, of the norm */
        HALVES = N / 4
    };
    typedef gpu_vec<T> ahead[GPU_WIDE_ROWS][TURNS];

    /* Where a lane asks for vectors of rows, and how many from there on. */
    struct place {
        const T *at[GPU_WIDE_ROWS];
        u32 left;
    };
    GPU_FN place locate(const struct gpu_gemv_normed &p, u32 pair, u32 first) {
        u32 vectors = p.k / N, at = first + gpu_lane(), row = pair * GPU_WIDE_ROWS;
        place from;
        GPU_UNROLL for (u32 r = 0; r < GPU_WIDE_ROWS; r++)
            from.at[r] = (const T *)p.matrix + ((u64)(row + r < p.rows ? row + r : p.rows - 1) * vectors + at) * N;
        from.left = at < vectors ? vectors - at : 0;
        return from;
    }
    /* Vectors behind the end of a row are 0. */
    GPU_FN void fetch(const place &from, u32 u, ahead &x) {
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) {
            GPU_UNROLL for (int j = 0; j < N; j++) x[r][u].v[j] = gpu_round<T>(0.0f);
            if (u * GPU_WAVE < from.left) x[r][u] = gpu_load16(from.at[r] + u * GPU_WAVE * N);
        }
    }
    /* Vectors of f32, in halves of 16 bytes that lie side by side; those behind the end are 0. */
    GPU_FN void norm(const struct gpu_gemv_normed &p, gpu_vec<f32> (&to)[HALVES][GPU_NORMED / N]) {
        gpu_vec<f32> weight[MOST][HALVES], x[MOST][HALVES];
        u32 vectors = p.k / N;
        GPU_UNROLL for (u32 a = 0; a < MOST; a++) GPU_UNROLL for (u32 h = 0; h < HALVES; h++) {
            u32 at = gpu_thread() + a * GPU_BLOCK;
            weight[a][h] = gpu_load16(p.norm + (at < vectors ? at : 0) * N + h * 4);
        }
        if (p.early) gpu_wait();
        GPU_UNROLL for (u32 a = 0; a < MOST; a++) GPU_UNROLL for (u32 h = 0; h < HALVES; h++) {
            u32 at = gpu_thread() + a * GPU_BLOCK;
            x[a][h] = gpu_load16(p.vector + (at < vectors ? at : 0) * N + h * 4);
        }
        f64 squares[2] = {0, 0}, per = 1.0 / (f64)p.k;
        GPU_UNROLL for (u32 a = 0; a < MOST; a++) {
            if (gpu_thread() + a * GPU_BLOCK >= vectors) break;
            GPU_UNROLL for (u32 h = 0; h < HALVES; h++)
                GPU_UNROLL for (int j = 0; j < 4; j++)
                    squares[j % 2] = gpu_fma((f64)x[a][h].v[j], (f64)x[a][h].v[j], squares[j % 2]);
        }
        f32 by = normed_scale(squares[0] + squares[1], per, p.epsilon);
        GPU_UNROLL for (u32 a = 0; a < MOST; a++) GPU_UNROLL for (u32 h = 0; h < HALVES; h++) {
            u32 at = gpu_thread() + a * GPU_BLOCK;
            GPU_UNROLL for (int j = 0; j < 4; j++)
                x[a][h].v[j] = at < vectors ? x[a][h].v[j] * by * weight[a][h].v[j] : 0.0f;
            to[h][at] = x[a][h];
        }
        gpu_sync();
    }
    GPU_FN void run(const struct gpu_gemv_normed &p) {
        GPU_SHARED gpu_vec<f32> vector[HALVES][GPU_NORMED / N];
        u32 pairs = (p.rows + GPU_WIDE_ROWS - 1) / GPU_WIDE_ROWS, vectors = p.k / N;
        u32 pair = gpu_block_x() * WAVES + gpu_wave(), first = 0;
        ahead next;
        f32 sum[GPU_WIDE_ROWS][TURNS];
        if (!p.early) gpu_wait();
        place from = locate(p, pair, 0);
        GPU_UNROLL for (u32 u = 0; u < TURNS; u++) fetch(from, u, next);
        norm(p, vector);
        GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) GPU_UNROLL for (int u = 0; u < TURNS; u++) sum[r][u] = 0;
        GPU_NO_UNROLL while (pair < pairs) {
            u32 here = first, row = pair * GPU_WIDE_ROWS;
            bool last = first + STEP >= vectors;
            first = last ? 0 : first + STEP;
            if (last) pair += gpu_blocks_x() * WAVES;
            from = locate(p, pair, first);
            GPU_UNROLL for (u32 u = 0; u < TURNS; u++) {
                gpu_vec<T> now[GPU_WIDE_ROWS];
                f32 x[GPU_WIDE_ROWS][N];
                u32 at = here + u * GPU_WAVE + gpu_lane();
                GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) now[r] = next[r][u];
                if (pair < pairs) fetch(from, u, next);
                GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) gpu_up_vector(now[r], x[r]);
                GPU_UNROLL for (u32 h = 0; h < HALVES; h++) {
                    gpu_vec<f32> y = vector[h][at];
                    GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++)
                        GPU_UNROLL for (int j = 0; j < 4; j++)
                            sum[r][u] = gemm_mad(x[r][4 * h + j], y.v[j], sum[r][u]);
                }
            }
            if (!last) continue;
            GPU_UNROLL for (int r = 0; r < GPU_WIDE_ROWS; r++) {
                f32 total = gpu_wave_join<gpu_join_add>((sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]));
                gemm_quad<f32> x = {{total, 0, 0, 0}};
                if (row + r < p.rows && gpu_lane() == 0) gemm_store<f32>(p.out, row + r, row + r, 1, x);
                GPU_UNROLL for (int u = 0; u < TURNS; u++) sum[r][u] = 0;
            }
        }
    }
};

/* A block takes GPU_WAVE * N rows, N a lane; its waves take the terms in turn, and their sums are added in order. */
template <typename T> GPU_FN void gemv_columns(const struct gpu_gemv &p) {
    typedef typename gemm_sum<T>::type S;
    enum { N = gpu_vec<T>::N, WIDTH = N * GPU_WAVE, COUNT = GPU_BLOCK / GPU_WAVE, TURNS = 4 };
    GPU_SHARED S shared[COUNT][WIDTH];
    struct gemv_place at = gemv_locate(p, gpu_block_x(), (u64)(p.rows + WIDTH - 1) / WIDTH);
    i64 row0 = at.task * WIDTH, mine = row0 + gpu_lane() * N, k = at.k0 + gpu_wave();
    const T *from = (const T *)p.matrix + at.matrix + mine * p.row, *vector = (const T *)p.vector + at.vector;
    S sum[N];
    GPU_UNROLL for (int j = 0; j < N; j++) sum[j] = 0;
    if (p.vector_load && mine + N <= p.rows) {
        GPU_NO_UNROLL for (; k + (TURNS - 1) * COUNT < at.k1; k += TURNS * COUNT) {
            gpu_vec<T> x[TURNS];
            S y[TURNS];
            GPU_UNROLL for (int u = 0; u < TURNS; u++) x[u] = gpu_load16(from + (k + u * COUNT) * p.step);
            GPU_UNROLL for (int u = 0; u < TURNS; u++) y[u] = gemm_up(vector[(k + u * COUNT) * p.vector_step]);
            GPU_UNROLL for (int u = 0; u < TURNS; u++)
                GPU_UNROLL for (int j = 0; j < N; j++) sum[j] = gemm_mad(gemm_up(x[u].v[j]), y[u], sum[j]);
        }
        GPU_NO_UNROLL for (; k < at.k1; k += COUNT) {
            gpu_vec<T> x = gpu_load16(from + k * p.step);
            S y = gemm_up(vector[k * p.vector_step]);
            GPU_UNROLL for (int j = 0; j < N; j++) sum[j] = gemm_mad(gemm_up(x.v[j]), y, sum[j]);
        }
    } else {
        GPU_NO_UNROLL for (; k < at.k1; k += COUNT) {
            S y = gemm_up(vector[k * p.vector_step]);
            i64 here = gpu_anew(mine);
            GPU_UNROLL for (int j = 0; j < N; j++)
                if (here + j < p.rows) sum[j] = gemm_mad(gemm_up(from[j * p.row + k * p.step]), y, sum[j]);
        }
    }
    GPU_UNROLL for (int j = 0; j < N; j++) shared[gpu_wave()][gpu_lane() * N + j] = sum[j];
    gpu_sync();
    for (u32 c = gpu_thread(); c < WIDTH && row0 + c < p.rows; c += GPU_BLOCK) {
        S total = shared[0][c];
        GPU_UNROLL for (int w = 1; w < COUNT; w++) total += shared[w][c];
        gemm_quad<S> x = {{total, 0, 0, 0}};
        gemm_store<T>(p.out, at.to + row0 + c, row0 + c, 1, x);
    }
}

#define GEMV_ROWS(type) GPU_KERNEL_OF(gemv_rows_##type, struct gpu_gemv, GPU_BLOCK, 3) { gemv_rows<type>(p); }
#define GEMV_COLUMNS(type) GPU_KERNEL_OF(gemv_columns_##type, struct gpu_gemv, GPU_BLOCK, 2) { gemv_columns<type>(p); }
GPU_ALL(GEMV_ROWS)
GPU_ALL(GEMV_COLUMNS)
GPU_KERNEL_AHEAD(gemv_wide_bf16, struct gpu_gemv, GPU_BLOCK, 2) { gemv_wide<bf16>::run(p); }
GPU_KERNEL_AHEAD(gemv_wide_f16, struct gpu_gemv, GPU_BLOCK, 2) { gemv_wide<f16>::run(p); }
GPU_KERNEL_AHEAD(gemv_normed_bf16, struct gpu_gemv_normed, GPU_BLOCK, 2) { gemv_normed<bf16>::run(p); }
GPU_KERNEL_AHEAD(gemv_normed_f16, struct gpu_gemv_normed, GPU_BLOCK, 2) { gemv_normed<f16>::run(p); }
