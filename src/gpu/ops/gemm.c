/* Matrix products in plain arithmetic, of any strides: which tile, how k is split, and the products with a vector. */
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "gpu/routes/products.h"

_Static_assert((int)GPU_ACTIVATION_TANH == (int)WICK_ACTIVATION_TANH &&
                   (int)GPU_ACTIVATION_SILU == (int)WICK_ACTIVATION_SILU &&
                   (int)GPU_ACTIVATION_GELU == (int)WICK_ACTIVATION_GELU,
               "kernels name activations as the library does");

static size_t size_of(enum wick_dtype dtype) { return wick__size(dtype); }

/* Bytes of the type that a dtype is summed in. */
static size_t sum_size(enum wick_dtype dtype) { return size_of(dtype) == 8 ? 8 : 4; }

void wick__gemm_batch(const struct wick__product *g, struct gpu_shape *shape, struct gpu_layout strides[2]) {
    struct wick__layout layouts[2];
    wick__product_layouts(g, layouts);
    wick__gpu_shape(layouts, 2, shape, strides);
}

bool wick__gemm_aligned(const struct wick__product *g, bool is_b, int64_t row, int64_t count, size_t align) {
    const int64_t *batch = is_b ? g->b_batch : g->a_batch;
    if ((uintptr_t)(is_b ? g->b : g->a) % align != 0 || row % count != 0) return false;
    for (int d = 0; d < g->batch_rank; d++)
        if (g->batch_shape[d] > 1 && batch[d] % count != 0) return false;
    return true;
}

/* ---- splits ---- */

enum wick_status wick__split_begin(struct wick__gpu *gpu, const struct wick__product *g, struct wick__split *split,
                                   struct gpu_gemm_out *out) {
    *out = (struct gpu_gemm_out){.to = g->c,
                                 .bias = g->bias,
                                 .bias_step = g->bias_step,
                                 .columns = g->n,
                                 .bias_rows = g->bias_by_row ? g->m : 0,
                                 .activation = (u32)g->activation};
    split->partial = NULL;
    if (split->count <= 1 && !g->other_c) return WICK_OK;
    if (split->count <= 1 && g->c_dtype == WICK_F32 && !g->bias && g->activation == WICK_ACTIVATION_NONE) {
        out->partial = 1; /* the sums are the result */
        return WICK_OK;
    }
    split->nbytes = split->count * (size_t)(wick__product_batches(g) * g->m * g->n) * sum_size(g->dtype);
    WICK__TRY(wick__gpu_scratch(gpu, split->nbytes, &split->partial));
    *out = (struct gpu_gemm_out){.to = split->partial, .partial = 1};
    return WICK_OK;
}

/* c = round(activation(sums + bias)), from `splits` parts at `partial`. */
static enum wick_status add_up(struct wick__gpu *gpu, const struct wick__product *g, const void *partial, u32 splits) {
    enum wick_dtype dtype = wick__product_c_dtype(g);
    struct gpu_gemm_sum p = {.partial = partial,
                             .count = wick__product_batches(g) * g->m * g->n,
                             .columns = g->n,
                             .splits = splits,
                             .out = {.to = g->c,
                                     .bias = g->bias,
                                     .bias_step = g->bias_step,
                                     .columns = g->n,
                                     .bias_rows = g->bias_by_row ? g->m : 0,
                                     .activation = (u32)g->activation}};
    p.wide = p.count <= 4096 && splits >= 16;
    int64_t items = p.wide ? p.count * gpu->properties.wave : p.count / g->n * wick__div_up(g->n, 4);
    struct wick__launch launch = {.kernel = wick__gpu_of_all(WICK__GPU_K_gemm_sum_u8, dtype),
                                  .grid = {wick__gpu_blocks(gpu, items, 1)}};
    return wick__gpu_launch(gpu, &launch, &p);
}

enum wick_status wick__split_end(struct wick__gpu *gpu, const struct wick__product *g, const struct wick__split *split,
                                 enum wick_status status) {
    if (!split->partial) return status;
    if (status == WICK_OK) status = add_up(gpu, g, split->partial, split->count);
    wick__gpu_release(gpu, split->partial, split->nbytes);
    return status;
}

enum wick_status wick__gemm_finish(struct wick__gpu *gpu, const struct wick__product *g) {
    return add_up(gpu, g, g->c, 1);
}

struct wick__split wick__split_of(int64_t k, int64_t wanted, int64_t least) {
    int64_t count = wick__max(1, wick__min(wanted, k / least));
    int64_t terms = count == 1 ? wick__max(k, 1) : wick__div_up(wick__div_up(k, count), 64) * 64;
    return (struct wick__split){.count = (u32)wick__max(1, wick__div_up(k, terms)), .terms = terms};
}

/* ---- tiles ---- */

/* In multiplications of one unit: those of the fullest unit at the tile's efficiency, the ends of its blocks, and what
 * writing and adding up the parts costs. */
static double tile_work(const struct wick__product *g, const struct wick__tile *tile, const struct wick__split *way,
                        int64_t blocks, int64_t units, const struct wick__split_cost *cost) {
    int64_t in_turn = wick__div_up(blocks * way->count, units);
    double work = (double)in_turn * (double)tile->rows * (double)tile->columns * (double)way->terms / tile->efficiency;
    if (tile->resident > 0) work += (double)wick__div_up(in_turn, tile->resident) * tile->ends;
    if (way->count == 1) return work;
    double sums = (double)(g->m * g->n * wick__product_batches(g)) / (double)units;
    return work + cost->launch + (double)way->count * 8 * sums * cost->byte;
}

const struct wick__tile *wick__tile_pick(const struct wick__gpu *gpu, const struct wick__product *g,
                                         const struct wick__tile *tiles, int n, const struct wick__split_cost *cost,
                                         struct wick__split *split) {
    int64_t units = wick__max(1, gpu->properties.units), batches = wick__product_batches(g);
    const struct wick__tile *best = NULL;
    double least = 0;
    for (const struct wick__tile *tile = tiles; tile < tiles + n; tile++) {
        int64_t blocks = wick__div_up(g->m, tile->rows) * wick__div_up(g->n, tile->columns) * batches;
        /* k in one part, or in as many as there are units for, once or twice. Once is only for kernels whose ends are
         * known: others want two blocks on a unit. */
        for (int times = 0; times <= 2; times += tile->resident > 0 ? 1 : 2) {
            struct wick__split way =
                wick__split_of(g->k, times && blocks < units ? times * units / blocks : 1, cost->least);
            if (times && way.count == 1) continue;
            double work = tile_work(g, tile, &way, blocks, units, cost);
            if (!best || work < least) {
                best = tile;
                least = work;
                *split = way;
            }
        }
    }
    return best;
}

enum wick_status wick__gemm_launch(struct wick__gpu *gpu, struct wick__launch launch, int64_t rows, int64_t columns,
                                   struct gpu_gemm *p) {
    p->tile_rows = (u32)wick__div_up(p->m, rows);
    p->tile_columns = (u32)wick__div_up(p->n, columns);
    int64_t blocks = (int64_t)p->tile_rows * p->tile_columns * p->batch.count * p->splits;
    launch.apart = true;
    for (int64_t first = 0; first < blocks; first += WICK__GEMM_BLOCKS) {
        launch.grid[0] = (unsigned)wick__min(blocks - first, WICK__GEMM_BLOCKS);
        p->first = (u32)first;
        WICK__TRY(wick__gpu_launch(gpu, &launch, p));
    }
    return WICK_OK;
}

/* How a block fetches an operand whose rows are `row` apart. */
static u32 fetch_mode(const struct wick__product *g, bool is_b, int64_t rows, int64_t row, int64_t k) {
    bool along_k = row != 1 && k <= row;
    /* Of a matrix with one row the stride of rows means nothing, likewise for k. */
    if (rows == 1) along_k = true;
    if (g->k == 1) along_k = false;
    int64_t inner = along_k ? k : row, outer = along_k ? row : k;
    bool single = along_k ? rows == 1 : g->k == 1;
    bool vector = inner == 1 && wick__gemm_aligned(g, is_b, single ? 0 : outer, 4, 4 * size_of(g->dtype));
    return (along_k ? (u32)GPU_GEMM_ALONG_K : 0) | (vector ? (u32)GPU_GEMM_VECTOR : 0);
}

/* The kernel with tiles of 128 x 128; WICK__GPU_KERNELS when there is none. */
static enum wick__gpu_kernel large_kernel(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_U32:
    case WICK_I32: return WICK__GPU_K_gemm_128_u32;
    case WICK_F32: return WICK__GPU_K_gemm_128_f32;
    case WICK_BF16: return WICK__GPU_K_gemm_128_bf16;
    case WICK_F16: return WICK__GPU_K_gemm_128_f16;
    case WICK_F8E4M3: return WICK__GPU_K_gemm_128_f8e4m3;
    default: return WICK__GPU_KERNELS;
    }
}

/* ---- f32 by matrix instructions of eleven bits, three for each product (kernels/mma_tf32.h) ---- */

/* Their error grows with terms of k less than plain arithmetic's, but begins higher: docs/numerics.md. */
static bool takes_tf32(const struct wick__gpu *gpu, const struct wick__product *g) {
    return g->dtype == WICK_F32 && g->k >= WICK__TF32_TERMS && g->k < INT32_MAX && wick__has_tf32(gpu);
}

/* On compute capability 9.0 the largest tile is by groups of waves (kernels/mma_group.h); figures are from an H200. */
static const struct wick__tile *tf32_pick(const struct wick__gpu *gpu, const struct wick__product *g,
                                          const struct wick__split_cost *cost, struct wick__split *split) {
    static const struct wick__tile tiles[] = {
        {.kernel = WICK__GPU_K_gemm_tf32_64, .rows = 64, .columns = 64, .efficiency = 0.5},
        {.kernel = WICK__GPU_K_gemm_tf32_64_128, .rows = 64, .columns = 128, .efficiency = 0.7},
        {.kernel = WICK__GPU_K_gemm_tf32_128, .rows = 128, .columns = 128, .efficiency = 1.0}};
    static const struct wick__tile groups[] = {
        {WICK__GPU_K_gemm_tf32_64, 64, 64, .efficiency = 0.46, .resident = 2, .ends = 1.1e6},
        {WICK__GPU_K_gemm_tf32_64_128, 64, 128, .efficiency = 0.54, .resident = 2, .ends = 1.3e6},
        {WICK__GPU_K_gemm_tf32_128, 128, 128, .efficiency = 1.0, .resident = 1, .ends = 1.8e6}};
    static const struct wick__split_cost group_cost = {.launch = 0.5e6, .byte = 14, .least = 96};
    return wick__capability(gpu) == 90 ? wick__tile_pick(gpu, g, groups, 3, &group_cost, split)
                                       : wick__tile_pick(gpu, g, tiles, 3, cost, split);
}

void wick__tf32_shared(const struct wick__gpu *gpu, unsigned rows, unsigned columns, u32 *stages,
                       struct wick__launch *launch) {
    unsigned split = wick__capability(gpu) == 90 && rows == 128 ? (unsigned)GPU_TF32_SPLIT(columns) : 0;
    unsigned stage = (unsigned)GPU_TF32_STAGE(rows, columns);
    *stages = wick__min((wick__mma_shared(gpu) - split) / stage, 4);
    launch->shared = launch->most = split + *stages * stage;
}

static enum wick_status run_tiles(struct wick__gpu *gpu, const struct wick__product *g) {
    const struct wick__tile tiles[] = {
        {.kernel = wick__gpu_of_all(WICK__GPU_K_gemm_32_u8, g->dtype), .rows = 32, .columns = 32, .efficiency = 0.3},
        {.kernel = wick__gpu_of_all(WICK__GPU_K_gemm_64_u8, g->dtype), .rows = 64, .columns = 64, .efficiency = 0.65},
        {.kernel = large_kernel(g->dtype), .rows = 128, .columns = 128, .efficiency = 1.0},
        {.kernel = WICK__GPU_K_gemm_256_f32, .rows = 256, .columns = 64, .efficiency = 0.95}};
    const struct wick__split_cost cost = {.launch = 1e6, .byte = 6, .least = 256};
    struct wick__split split;
    bool tf32 = takes_tf32(gpu, g);
    int ways = g->dtype == WICK_F32 ? 4 : large_kernel(g->dtype) != WICK__GPU_KERNELS ? 3 : 2;
    const struct wick__tile *tile =
        tf32 ? tf32_pick(gpu, g, &cost, &split) : wick__tile_pick(gpu, g, tiles, ways, &cost, &split);
    struct gpu_gemm p = {.m = g->m, .n = g->n, .k = g->k, .split = split.terms, .splits = split.count};
    p.a = (struct gpu_gemm_side){.from = g->a, .row = g->a_row, .k = g->a_k};
    p.b = (struct gpu_gemm_side){.from = g->b, .row = g->b_column, .k = g->b_k};
    p.a.mode = fetch_mode(g, false, g->m, g->a_row, g->a_k);
    p.b.mode = fetch_mode(g, true, g->n, g->b_column, g->b_k);
    wick__gemm_batch(g, &p.batch, p.stride);
    WICK__TRY(wick__split_begin(gpu, g, &split, &p.out));
    struct wick__launch launch = {.kernel = tile->kernel};
    if (tf32) wick__tf32_shared(gpu, (unsigned)tile->rows, (unsigned)tile->columns, &p.stages, &launch);
    return wick__split_end(gpu, g, &split, wick__gemm_launch(gpu, launch, tile->rows, tile->columns, &p));
}

/* ---- a matrix and a vector ---- */

static enum wick__gpu_kernel vector_kernel(enum wick_dtype dtype, bool columns, bool wide) {
    if (wide) return dtype == WICK_BF16 ? WICK__GPU_K_gemv_wide_bf16 : WICK__GPU_K_gemv_wide_f16;
    return wick__gpu_of_all(columns ? WICK__GPU_K_gemv_columns_u8 : WICK__GPU_K_gemv_rows_u8, dtype);
}

/* `wide`: A is the vector, and A, bias and C are f32. */
static enum wick_status run_vector(struct wick__gpu *gpu, const struct wick__product *g, bool wide) {
    bool is_row = wide || (g->m == 1 && g->n != 1); /* the vector is A, the matrix B */
    struct wick__product sums = *g;
    struct gpu_gemv p = {.rows = is_row ? g->n : g->m, .k = g->k};
    struct gpu_layout strides[2];
    int64_t size = (int64_t)size_of(g->dtype), count = 16 / size, wave = gpu->properties.wave;
    int64_t units = wick__max(1, gpu->properties.units);
    p.matrix = is_row ? g->b : g->a;
    p.vector = is_row ? g->a : g->b;
    p.row = is_row ? g->b_column : g->a_row;
    p.step = is_row ? g->b_k : g->a_k;
    p.vector_step = is_row ? g->a_k : g->b_k;
    p.early = g->constant_b;
    wick__gemm_batch(g, &p.batch, strides);
    p.stride[0] = strides[is_row];
    p.stride[1] = strides[!is_row];
    /* A lane a row pays only when there are rows for the lanes of a wave. */
    bool columns = p.step != 1 && p.row <= p.step && p.rows >= wave;
    struct wick__split split;
    int64_t units_of_work;
    if (columns) {
        units_of_work = wick__div_up(p.rows, wave * count) * p.batch.count;
        p.vector_load = p.row == 1 && wick__gemm_aligned(g, is_row, p.step, count, 16);
        split = wick__split_of(p.k, wick__min(units * 4 / units_of_work, 256), 64);
    } else {
        units_of_work = wick__div_up(p.rows, wide ? GPU_WIDE_ROWS : 1) * p.batch.count;
        p.vector_load = p.step == 1 && p.vector_step == 1 &&
                        wick__gemm_aligned(g, is_row, p.rows == 1 ? 0 : p.row, count, 16) &&
                        wick__gemm_aligned(g, !is_row, 0, count, 16);
        /* With some waves for each unit, splitting saves less than adding up the parts costs. */
        int64_t wanted = units_of_work >= units * 3 ? 1 : wick__min(units * 32 / units_of_work, 1024);
        split = wick__split_of(p.k, wanted, wave * count * 4);
    }
    p.split = split.terms;
    p.splits = split.count;
    p.tasks = units_of_work * split.count;
    if (wide) {
        sums.dtype = WICK_F32;
        sums.other_c = false;
    }
    WICK__TRY(wick__split_begin(gpu, &sums, &split, &p.out));
    /* The kernel's columns are the matrix's rows; a column of C has one bias for all of them. */
    if (!is_row && !g->bias_by_row) p.out.bias_step = 0;
    int64_t blocks = columns ? p.tasks : wick__div_up(p.tasks, GPU_BLOCK / wave);
    struct wick__launch launch = {.kernel = vector_kernel(g->dtype, columns, wide), .grid = {(unsigned)blocks}};
    return wick__split_end(gpu, &sums, &split, wick__gpu_launch(gpu, &launch, &p));
}

bool wick__gemm_wide_takes(const struct wick__product *g) {
    return g->m == 1 && g->b_k == 1 && g->n < WICK__GEMM_BLOCKS;
}

enum wick_status wick__gemm_wide(struct wick__gpu *gpu, const struct wick__product *g) {
    return run_vector(gpu, g, true);
}

/* Whether a vector's matrix of 16 bits is so large that kernels for few rows, which read rows from anywhere, save more
 * than a launch. On an H200 1 x 5432 x 7205 took run_vector 56 us, and 2 rows, which are as much to read, theirs 39. */
static bool is_large_askew(const struct wick__gpu *gpu, const struct wick__product *g) {
    return wick_dtype_bits(g->dtype) == 16 && wick__max(g->m, g->n) * g->k >= WICK__LARGE_MATRIX &&
           wick__gemm_few_takes(gpu, g);
}

enum wick_status wick__gemm_own(struct wick__gpu *gpu, const struct wick__product *g) {
    const bool vector = g->m == 1 || g->n == 1;
    if (vector && wick__product_batches(g) * wick__max(g->m, g->n) < WICK__GEMM_BLOCKS && !is_large_askew(gpu, g))
        return run_vector(gpu, g, false);
    if (wick__gemm_few_takes(gpu, g)) return wick__gemm_few(gpu, g);
    if (wick__gemm_mma_takes(gpu, g)) return wick__gemm_mma(gpu, g);
    return run_tiles(gpu, g);
}

enum wick_status wick__gemm_run(struct wick__gpu *gpu, const struct wick__product *g) {
    bool done = false;
    struct wick__product_rest rest = {0};
    WICK__TRY(wick__product_route(gpu, g, wick__gemm_run, &done, &rest));
    if (!done) return wick__gemm_own(gpu, g);
    if (!rest.left) return WICK_OK;
    enum wick_status status = add_up(gpu, g, rest.sums ? rest.sums : g->c, 1); /* in place where they are C's dtype */
    if (rest.sums) wick__gpu_release(gpu, rest.sums, rest.nbytes);
    return status;
}
