/* Matrix products by matrix instructions: whether the device has them, operands made ready, tiles. */
#include "gpu/ops/gemm.h"

#include "core/checked.h"

#include <stdlib.h>
#include <string.h>

/* Each kernel is there for bf16, next for f16 and, but for the widest, then for f8e4m3. */
enum { FROM_BF16_TO_F16 = 1, FROM_BF16_TO_F8 = 2 };
#define IN_ORDER(tile)                                                                                                 \
    ((int)WICK__GPU_K_mma_##tile##_f16 - (int)WICK__GPU_K_mma_##tile##_bf16 == FROM_BF16_TO_F16 &&                     \
     (int)WICK__GPU_K_mma_##tile##_f8e4m3 - (int)WICK__GPU_K_mma_##tile##_bf16 == FROM_BF16_TO_F8)
_Static_assert(IN_ORDER(64) && IN_ORDER(64_128) && IN_ORDER(128) &&
                   (int)WICK__GPU_K_mma_256_f16 - (int)WICK__GPU_K_mma_256_bf16 == FROM_BF16_TO_F16,
               "kernels of f16 follow those of bf16");

/* Whether kernels get the product's operands as pairs of f8e4m3. NVIDIA's unpack them to f16 each time they are used,
 * from compute capability 8.9 on by an instruction; that takes less than a copy as f16, and products of groups of waves
 * of that, while elements are used up to some hundred times. The figure is from an H200. */
static bool in_pairs(const struct wick__gpu *gpu, const struct wick__product *g) {
    const double uses = 512;
    if (g->dtype != WICK_F8E4M3) return false;
    return wick__has_mma_f8(gpu) ||
           (wick__capability(gpu) >= 89 && (double)g->m * (double)g->n <= uses * ((double)g->m + (double)g->n));
}

/* An operand as kernels take it, in memory of its own when it had to be packed. A pair of f8e4m3 is what kernels call
 * an element where they take pairs. */
struct operand {
    struct gpu_gemm_side side;
    int64_t batch[WICK_MAX_RANK]; /* strides of g's batch dims */
    void *packed;
    size_t nbytes;
};

/* Whether the operand can be read as it is: one dim of stride 1, everything else at multiples of 16 bytes. */
static bool is_ready(const struct wick__gpu *gpu, const struct wick__product *g, bool is_b, struct operand *o) {
    int64_t rows = is_b ? g->n : g->m, row = is_b ? g->b_column : g->a_row, k = is_b ? g->b_k : g->a_k;
    if (g->dtype == WICK_F8E4M3) {
        if (!in_pairs(gpu, g) || wick__mma_f8_is_fnuz(gpu) || k != 1 || g->k % 2 != 0) return false;
        for (int d = 0; d < g->batch_rank; d++) o->batch[d] = (is_b ? g->b_batch : g->a_batch)[d] / 2;
        o->side = (struct gpu_gemm_side){.from = is_b ? g->b : g->a, .row = row / 2, .k = 1, .mode = GPU_GEMM_ALONG_K};
        return wick__gemm_aligned(g, is_b, rows == 1 ? 0 : row, 16, 16);
    }
    memcpy(o->batch, is_b ? g->b_batch : g->a_batch, sizeof o->batch);
    o->side = (struct gpu_gemm_side){.from = is_b ? g->b : g->a, .row = row, .k = k};
    if (k == 1 && wick__gemm_aligned(g, is_b, rows == 1 ? 0 : row, 8, 16)) {
        o->side.mode = GPU_GEMM_ALONG_K;
        return true;
    }
    return row == 1 && wick__gemm_aligned(g, is_b, k, 8, 16);
}

/* Batches of the operand's own: dims that repeat it count once. */
static int64_t own_batches(const struct wick__product *g, bool is_b) {
    const int64_t *stride = is_b ? g->b_batch : g->a_batch;
    int64_t count = 1;
    for (int d = 0; d < g->batch_rank; d++)
        if (stride[d] != 0) count *= g->batch_shape[d];
    return count;
}

/* Copies an operand to [batch, rows, pitch], or where its rows are neighbours to [batch, k, pitch]; f8e4m3 that is not
 * taken in pairs, which are of neighbours along k, becomes f16. */
static enum wick_status pack(struct wick__gpu *gpu, const struct wick__product *g, bool is_b, struct operand *o) {
    const int64_t *stride = is_b ? g->b_batch : g->a_batch;
    struct gpu_gemm_pack p = {.rows = is_b ? g->n : g->m, .k = g->k};
    struct wick__layout own = {0};
    bool pairs = in_pairs(gpu, g), f8 = g->dtype == WICK_F8E4M3 && !pairs;
    p.from = (struct gpu_gemm_side){
        .from = is_b ? g->b : g->a, .row = is_b ? g->b_column : g->a_row, .k = is_b ? g->b_k : g->a_k};
    if (p.from.k <= p.from.row) p.from.mode = GPU_GEMM_ALONG_K;
    bool across = !pairs && !p.from.mode;
    if (across) {
        p.from = (struct gpu_gemm_side){.from = p.from.from, .row = p.from.k, .k = p.from.row};
        p.rows = g->k;
        p.k = is_b ? g->n : g->m;
    }
    int64_t per = pairs ? 2 : 1; /* elements to one of the kernels' */
    p.pitch = (p.k + 8 * per - 1) / (8 * per) * (8 * per);
    for (int d = 0; d < g->batch_rank; d++)
        if (stride[d] != 0) {
            own.shape[own.rank] = g->batch_shape[d];
            own.stride[own.rank++] = stride[d];
        }
    int64_t batches = own_batches(g, is_b), step = p.rows * p.pitch / per;
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        o->batch[d] = stride[d] != 0 ? step : 0;
        if (stride[d] != 0) step *= g->batch_shape[d];
    }
    o->nbytes = (size_t)(batches * p.rows * p.pitch / per) * 2;
    WICK__TRY(wick__gpu_scratch(gpu, o->nbytes, &o->packed));
    p.to = o->packed;
    wick__gpu_shape(&own, 1, &p.batch, p.stride);
    o->side = (struct gpu_gemm_side){.from = o->packed, .row = p.pitch / per, .k = 1, .mode = GPU_GEMM_ALONG_K};
    if (across) o->side = (struct gpu_gemm_side){.from = o->packed, .row = 1, .k = p.pitch};
    struct wick__launch launch = {.kernel = f8      ? WICK__GPU_K_gemm_pack_f8
                                            : pairs ? WICK__GPU_K_mma_pack_f8
                                                    : WICK__GPU_K_gemm_pack};
    /* A block makes GPU_BLOCK runs of eight, of as many rows as they fill; of pairs a tile. */
    int64_t runs = p.pitch / 8, tile = 64;
    p.block_rows = (u32)(pairs ? tile : wick__max(1, GPU_BLOCK / runs));
    launch.grid[0] = (unsigned)(pairs ? wick__div_up(p.pitch, tile) : wick__div_up(p.block_rows * runs, GPU_BLOCK));
    launch.grid[1] = (unsigned)wick__min(wick__div_up(p.rows, p.block_rows), 65535);
    launch.grid[2] = (unsigned)batches;
    return wick__gpu_launch(gpu, &launch, &p);
}

/* Whether a product is one for matrix instructions, once its operands are ready. */
static bool is_for(const struct wick__gpu *gpu, const struct wick__product *g) {
    if (g->dtype != WICK_BF16 && g->dtype != WICK_F16 && g->dtype != WICK_F8E4M3) return false;
    return g->k >= 16 && g->k < INT32_MAX && g->m * g->n >= 256 && wick__has_mma(gpu);
}

bool wick__gemm_mma_ready(const struct wick__gpu *gpu, const struct wick__product *g, bool is_b) {
    struct operand o;
    return is_for(gpu, g) && is_ready(gpu, g, is_b, &o);
}

bool wick__gemm_mma_takes(const struct wick__gpu *gpu, const struct wick__product *g) {
    struct operand o;
    if (!is_for(gpu, g)) return false;
    /* To pack an operand pays when each of its elements is used more often than a few times (else gemm_few.c has it);
     * of f8e4m3, which plain arithmetic unpacks one by one, when 32 uses, or more than one of many, make up for a
     * launch (figures from an H200). */
    enum { USES = GPU_FEW / 2 + 1 };
    for (int is_b = 0; is_b < 2; is_b++) {
        int64_t rows = is_b ? g->n : g->m, uses = is_b ? g->m : g->n;
        int64_t pays = g->dtype != WICK_F8E4M3 ? USES : in_pairs(gpu, g) && rows * g->k >= 1 << 17 ? 2 : 32;
        if (!is_ready(gpu, g, is_b, &o) && (uses < pays || own_batches(g, is_b) > 65535)) return false;
    }
    return true;
}

/* Tiles by the kernels, and what splitting k costs. On compute capability 9.0 the larger ones are products by groups of
 * waves (kernels/mma_group.h), whose figures are from an H200. */
static const struct wick__tile *pick(const struct wick__gpu *gpu, const struct wick__product *g, bool pairs, bool bulk,
                                     struct wick__split *split) {
    static const struct wick__tile tiles[] = {
        {.kernel = WICK__GPU_K_mma_64_bf16, .rows = 64, .columns = 64, .efficiency = 0.45, .stages = 4},
        {.kernel = WICK__GPU_K_mma_64_128_bf16, .rows = 64, .columns = 128, .efficiency = 0.6, .stages = 4},
        {.kernel = WICK__GPU_K_mma_128_bf16, .rows = 128, .columns = 128, .efficiency = 0.8, .stages = 4},
        {.kernel = WICK__GPU_K_mma_256_bf16, .rows = 128, .columns = 256, .efficiency = 1.0, .stages = 4}};
    static const struct wick__tile groups[] = {
        {WICK__GPU_K_mma_64_bf16, 64, 64, .efficiency = 0.16, .resident = 2, .stages = 4, .ends = 5.5e6},
        {WICK__GPU_K_mma_64_128_bf16, 64, 128, .efficiency = 0.43, .resident = 3, .stages = 3, .ends = 6.4e6},
        {WICK__GPU_K_mma_128_bf16, 128, 128, .efficiency = 0.61, .resident = 2, .stages = 3, .ends = 9e6},
        {WICK__GPU_K_bulk_bf16, 128, 256, .efficiency = 1.0, .resident = 1, .stages = 4, .ends = 6e6}};
    static const struct wick__split_cost cost = {.launch = 1e6, .byte = 6, .least = 256},
                                         group_cost = {.launch = 11e6, .byte = 140, .least = 256};
    int sm = wick__capability(gpu);
    /* The widest has no kernel that goes through registers, nor one of pairs. */
    return sm == 90 && !pairs ? wick__tile_pick(gpu, g, groups, bulk ? 4 : 3, &group_cost, split)
                              : wick__tile_pick(gpu, g, tiles, sm && !pairs ? 4 : 3, &cost, split);
}

static enum wick_status multiply(struct wick__gpu *gpu, const struct wick__product *g, const struct operand *a,
                                 const struct operand *b) {
    struct wick__product seen = *g; /* as the kernel has it */
    struct wick__split split;
    bool pairs = in_pairs(gpu, g);
    if (pairs) seen.k = (g->k + 1) / 2;
    struct gpu_gemm p = {
        .m = g->m, .n = g->n, .k = seen.k, .a = a->side, .b = b->side, .f8 = g->dtype == WICK_F8E4M3 && !pairs};
    memcpy(seen.a_batch, a->batch, sizeof seen.a_batch);
    memcpy(seen.b_batch, b->batch, sizeof seen.b_batch);
    wick__gemm_batch(&seen, &p.batch, p.stride);
    enum wick_dtype dtype = g->dtype == WICK_BF16 ? WICK_BF16 : WICK_F16; /* of what kernels multiply, but for pairs */
    const struct wick__tile *tile = pick(gpu, &seen, pairs, !pairs && wick__gemm_bulk_takes(gpu, &p, dtype), &split);
    int from_bf16 = pairs ? FROM_BF16_TO_F8 : g->dtype == WICK_BF16 ? 0 : FROM_BF16_TO_F16;
    struct wick__launch launch = {.kernel = (enum wick__gpu_kernel)((int)tile->kernel + from_bf16)};
    p.split = split.terms;
    p.splits = split.count;
    if (tile->kernel == WICK__GPU_K_bulk_bf16) {
        WICK__TRY(wick__split_begin(gpu, g, &split, &p.out));
        return wick__split_end(gpu, g, &split, wick__gemm_bulk(gpu, &p, dtype));
    }
    if (wick__mma_shared(gpu)) {
        unsigned stage = GPU_MMA_STAGE((unsigned)tile->rows, (unsigned)tile->columns);
        int64_t stages = wick__min(tile->stages, wick__mma_shared(gpu) / stage);
        launch.most = (unsigned)wick__max(stages * stage, GPU_MMA_STORE);
        p.stages = (u32)wick__min(stages, (split.terms + GPU_MMA_STEP - 1) / GPU_MMA_STEP);
        launch.shared = wick__max(p.stages * stage, (unsigned)GPU_MMA_STORE);
    }
    WICK__TRY(wick__split_begin(gpu, g, &split, &p.out));
    return wick__split_end(gpu, g, &split, wick__gemm_launch(gpu, launch, tile->rows, tile->columns, &p));
}

enum wick_status wick__gemm_mma(struct wick__gpu *gpu, const struct wick__product *g) {
    struct operand a = {0}, b = {0};
    enum wick_status status = WICK_OK;
    if (!is_ready(gpu, g, false, &a)) status = pack(gpu, g, false, &a);
    if (status == WICK_OK && !is_ready(gpu, g, true, &b)) status = pack(gpu, g, true, &b);
    if (status == WICK_OK) status = multiply(gpu, g, &a, &b);
    if (a.packed) wick__gpu_release(gpu, a.packed, a.nbytes);
    if (b.packed) wick__gpu_release(gpu, b.packed, b.nbytes);
    return status;
}
