/* Matrix products of a few rows or columns, where matrix instructions can't have the matrix as it lies: it is read once
 * for eight of them. */
#include "gpu/ops/gemm.h"

#include "core/checked.h"

#include <stdlib.h>

/* The few are B's columns where there are fewer of these than A has rows. */
static bool is_few_b(const struct wick__product *g) { return g->n < g->m; }

/* How a product is done. */
struct few {
    struct gpu_gemv_few p;
    struct wick__split split;
    bool columns; /* a lane has rows of the matrix; otherwise terms of k */
    int64_t blocks;
};

/* All but where results go. */
static struct few plan(const struct wick__gpu *gpu, const struct wick__product *g) {
    bool is_b = is_few_b(g);
    int64_t wave = gpu->properties.wave, units = wick__max(1, gpu->properties.units);
    struct few few = {.p = {.rows = is_b ? g->m : g->n,
                            .count = is_b ? g->n : g->m,
                            .k = g->k,
                            .few_columns = is_b,
                            .matrix = is_b ? g->a : g->b,
                            .few = is_b ? g->b : g->a,
                            .row = is_b ? g->a_row : g->b_column,
                            .step = is_b ? g->a_k : g->b_k,
                            .few_row = is_b ? g->b_column : g->a_row,
                            .few_step = is_b ? g->b_k : g->a_k}};
    struct gpu_gemv_few *p = &few.p;
    struct gpu_layout strides[2];
    wick__gemm_batch(g, &p->batch, strides);
    p->stride[0] = strides[!is_b];
    p->stride[1] = strides[is_b];
    p->groups = (u32)wick__div_up(p->count, GPU_FEW);
    few.columns = p->step != 1 && llabs(p->row) <= llabs(p->step) && p->rows >= wave;
    int64_t each = few.columns ? GPU_FEW_EACH * wave : GPU_FEW_ROWS * (GPU_BLOCK / wave);
    int64_t blocks = wick__div_up(p->rows, each) * p->batch.count * p->groups;
    few.split = wick__split_of(p->k, blocks >= units ? 1 : 4 * units / blocks, few.columns ? 128 : 512);
    p->split = few.split.terms;
    p->splits = few.split.count;
    few.blocks = blocks * few.split.count;
    return few;
}

/* Whether matrix instructions are faster, with the matrix packed for them: us for a million of its elements in a
 * product of GPU_FEW here, to pack it, and of launches and the product of what is packed. The first is from an H200,
 * the others are reckoned for it. */
static bool is_packed(const struct wick__gpu *gpu, const struct wick__product *g, int64_t count, double elements) {
    const double each = 2.7e-6, pack = 1.2e-6, rest = 10;
    double times = (double)wick__div_up(count, GPU_FEW);
    return elements * (each * times - pack) > rest && wick__gemm_mma_takes(gpu, g);
}

bool wick__gemm_few_takes(const struct wick__gpu *gpu, const struct wick__product *g) {
    bool is_b = is_few_b(g), half = g->dtype == WICK_BF16 || g->dtype == WICK_F16;
    int64_t count = is_b ? g->n : g->m, rows = is_b ? g->m : g->n;
    if (!half && g->dtype != WICK_F32 && g->dtype != WICK_F64) return false;
    if (count > (half ? 32 : GPU_FEW) || wick__gemm_mma_ready(gpu, g, !is_b)) return false;
    double elements = (double)rows * (double)g->k * (double)wick__product_batches(g);
    if (is_packed(gpu, g, count, elements)) return false;
    return rows < WICK__GEMM_BLOCKS && wick__product_batches(g) < WICK__GEMM_BLOCKS &&
           plan(gpu, g).blocks < WICK__GEMM_BLOCKS;
}

enum wick_status wick__gemm_few(struct wick__gpu *gpu, const struct wick__product *g) {
    struct few few = plan(gpu, g);
    enum wick__gpu_kernel first = few.columns ? WICK__GPU_K_gemv_few_columns_bf16 : WICK__GPU_K_gemv_few_rows_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, g->dtype), .grid = {(unsigned)few.blocks}};
    WICK__TRY(wick__split_begin(gpu, g, &few.split, &few.p.out));
    return wick__split_end(gpu, g, &few.split, wick__gpu_launch(gpu, &launch, &few.p));
}
