/* Matrix products of a few rows or columns, where the tiles of matrix instructions can't have the matrix as it lies: it
 * is read once for eight of them, or in 16 bits, by matrix instructions for few (kernels/gemm_few.hip), for all. */
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "gpu/runtime/target.h"
#include "kernels/gemm_few.h"

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

/* ---- by matrix instructions ---- */

_Static_assert((int)WICK__GPU_K_few_16_f16 - (int)WICK__GPU_K_few_16_bf16 == 1 &&
                   (int)WICK__GPU_K_few_32_f16 - (int)WICK__GPU_K_few_32_bf16 == 1,
               "kernels of f16 follow those of bf16");

/* Whether gemv_few_rows has no kernel, for matrix instructions are faster. */
static bool has_fragments(const struct wick__gpu *gpu, const struct wick__product *g) {
    return (g->dtype == WICK_BF16 || g->dtype == WICK_F16) && wick__has_mma(gpu);
}

/* Terms of a step: MMA_K of kernels/mma.h. */
static int64_t step_of(const struct wick__gpu *gpu) { return gpu->properties.wave == 64 ? 32 : 16; }

/* Parts of the terms: with some blocks for each unit, they save less than adding them up costs. */
static u32 split_steps(const struct wick__gpu *gpu, int64_t blocks, u32 steps) {
    enum { LEAST = 32 };
    int64_t units = wick__max(1, gpu->properties.units);
    int64_t parts = blocks >= units ? 1 : wick__max(1, wick__min(2 * units / blocks, steps / LEAST));
    return (u32)wick__div_up(steps, parts);
}

/* How a product is done so. */
struct fragments {
    struct gpu_gemm_few p;
    struct wick__split split;
    int64_t blocks, lanes; /* of the product; of the launch that makes fragments */
    size_t nbytes;
};

/* False: it is too large. */
static bool plan_fragments(const struct wick__gpu *gpu, const struct wick__product *g, struct fragments *f) {
    const int64_t most = INT32_MAX / 4, step = step_of(gpu), batches = wick__product_batches(g);
    struct gpu_gemm_few *p = &f->p;
    *f = (struct fragments){.p = {.g = plan(gpu, g).p}};
    if (p->g.step != 1 || p->g.count > GPU_FEW_MOST || p->g.rows >= most || p->g.k >= most || batches >= most)
        return false;
    p->steps = (u32)wick__div_up(p->g.k / 2 + 1, step / 2);
    p->tiles = p->g.count > GPU_FEW_MOST / 2 ? 2 : 1;
    int64_t blocks = wick__div_up(p->g.rows, GPU_FEW_TILE), all = 2 * (int64_t)p->steps * p->tiles;
    if (batches >= most / blocks || all >= most / 64 / batches) return false;
    p->split = split_steps(gpu, blocks * batches, p->steps);
    f->split.count = p->g.splits = (u32)wick__div_up(p->steps, p->split);
    f->blocks = blocks * batches * f->split.count;
    f->lanes = all * batches * gpu->properties.wave;
    f->nbytes = (size_t)f->lanes * 32; /* a fragment has up to eight words */
    return f->blocks < WICK__GEMM_BLOCKS;
}

static enum wick_status run_fragments(struct wick__gpu *gpu, const struct wick__product *g, struct fragments *f) {
    enum wick__gpu_kernel kernel = f->p.tiles == 2 ? WICK__GPU_K_few_32_bf16 : WICK__GPU_K_few_16_bf16;
    struct wick__launch pack = {.kernel = WICK__GPU_K_few_pack, .grid = {wick__gpu_blocks(gpu, f->lanes, 1)}};
    struct wick__launch launch = {.kernel = (enum wick__gpu_kernel)((int)kernel + (g->dtype == WICK_F16)),
                                  .grid = {(unsigned)f->blocks}};
    WICK__TRY(wick__gpu_scratch(gpu, f->nbytes, &f->p.fragments));
    enum wick_status status = wick__gpu_launch(gpu, &pack, &f->p);
    if (status == WICK_OK) status = wick__split_begin(gpu, g, &f->split, &f->p.g.out);
    if (status == WICK_OK) status = wick__split_end(gpu, g, &f->split, wick__gpu_launch(gpu, &launch, &f->p));
    wick__gpu_release(gpu, f->p.fragments, f->nbytes);
    return status;
}

/* ---- all ---- */

bool wick__gemm_few_takes(const struct wick__gpu *gpu, const struct wick__product *g) {
    bool is_b = is_few_b(g), half = g->dtype == WICK_BF16 || g->dtype == WICK_F16;
    int64_t count = is_b ? g->n : g->m, rows = is_b ? g->m : g->n;
    struct fragments fragments;
    if (!half && g->dtype != WICK_F32 && g->dtype != WICK_F64) return false;
    if (count > (half ? GPU_FEW_MOST : GPU_FEW) || wick__gemm_mma_ready(gpu, g, !is_b)) return false;
    if (has_fragments(gpu, g) && plan_fragments(gpu, g, &fragments)) return true;
    double elements = (double)rows * (double)g->k * (double)wick__product_batches(g);
    if (is_packed(gpu, g, count, elements)) return false;
    const struct few few = plan(gpu, g);
    return rows < WICK__GEMM_BLOCKS && wick__product_batches(g) < WICK__GEMM_BLOCKS && few.blocks < WICK__GEMM_BLOCKS &&
           (few.columns || !has_fragments(gpu, g));
}

enum wick_status wick__gemm_few(struct wick__gpu *gpu, const struct wick__product *g) {
    struct fragments fragments;
    if (has_fragments(gpu, g) && plan_fragments(gpu, g, &fragments)) return run_fragments(gpu, g, &fragments);
    struct few few = plan(gpu, g);
    enum wick__gpu_kernel first = few.columns ? WICK__GPU_K_gemv_few_columns_bf16 : WICK__GPU_K_gemv_few_rows_bf16;
    struct wick__launch launch = {.kernel = wick__gpu_of_floats(first, g->dtype), .grid = {(unsigned)few.blocks}};
    WICK__TRY(wick__split_begin(gpu, g, &few.split, &few.p.out));
    return wick__split_end(gpu, g, &few.split, wick__gpu_launch(gpu, &launch, &few.p));
}
