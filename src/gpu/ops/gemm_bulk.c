/* Large products of bf16 and f16 whose operands come to LDS by bulk tensor copies (kernels/gemm_bulk.hip). */
#include "gpu/ops/gemm.h"

#include "core/checked.h"
#include "kernels/gemm_bulk.h"

#include <stdlib.h>

_Static_assert((int)WICK__GPU_K_bulk_f16 - (int)WICK__GPU_K_bulk_bf16 == 1, "the kernel of f16 follows that of bf16");

/* From one line of an operand to the next in elements; of a single line anything will do. */
static int64_t line_stride(const struct gpu_gemm_side *side, int64_t lines, int64_t length) {
    int64_t stride = side->mode & GPU_GEMM_ALONG_K ? side->row : side->k;
    return lines == 1 ? wick__round_up(length, 8) : stride;
}

static bool has_map(const struct gpu_gemm_side *side, int64_t rows, int64_t k, int64_t batch_stride) {
    bool along = side->mode & GPU_GEMM_ALONG_K;
    int64_t stride = line_stride(side, along ? rows : k, along ? k : rows);
    return rows <= WICK__MAP_MOST && k <= WICK__MAP_MOST && stride > 0 && stride < WICK__MAP_STRIDE &&
           batch_stride >= 0 && batch_stride < WICK__MAP_STRIDE;
}

bool wick__gemm_bulk_takes(struct wick__gpu *gpu, const struct gpu_gemm *p, enum wick_dtype dtype) {
    if (!gpu->properties.maps || (dtype != WICK_BF16 && dtype != WICK_F16) || wick__capability(gpu) != 90) return false;
    if (p->batch.rank > 1 || p->batch.count > WICK__MAP_MOST) return false;
    return has_map(&p->a, p->m, p->k, p->stride[0].stride[0]) && has_map(&p->b, p->n, p->k, p->stride[1].stride[0]) &&
           wick__gpu_is_native(gpu, WICK__GPU_M_gemm_bulk);
}

/* Results of 16 bits whose rows start at multiples of 16 bytes leave by a map as well. */
static bool maps_results(const struct gpu_gemm *p) {
    return !p->out.partial && !p->f8 && p->n % 8 == 0 && (uintptr_t)p->out.to % 16 == 0 &&
           p->n < WICK__MAP_STRIDE / p->m;
}
static int encode_results(struct wick__gpu *gpu, struct gpu_tensor_map *map, const struct gpu_gemm *p,
                          enum wick_dtype dtype) {
    const struct wick__tensor_map tensor = {.dtype = dtype,
                                            .rank = 3,
                                            .from = p->out.to,
                                            .size = {p->n, p->m, p->batch.count},
                                            .stride = {p->n, p->m * p->n},
                                            .box = {64, 16}};
    return gpu->vendor->tensor_map(map, &tensor);
}

/* The map of A or B, of which every batch has a matrix of its own, or all one. */
static int encode(struct wick__gpu *gpu, struct gpu_gemm_bulk *p, enum wick_dtype dtype, bool is_b) {
    const struct gpu_gemm *g = &p->g;
    const struct gpu_gemm_side *side = is_b ? &g->b : &g->a;
    const bool along = side->mode & GPU_GEMM_ALONG_K;
    const int64_t rows = is_b ? g->n : g->m, batch_stride = g->stride[is_b].stride[0];
    const int64_t length = along ? g->k : rows, lines = along ? rows : g->k, stride = line_stride(side, lines, length);
    const int64_t batches = batch_stride == 0 ? 1 : g->batch.count;
    const struct wick__tensor_map tensor = {.dtype = dtype,
                                            .rank = 3,
                                            .from = side->from,
                                            .size = {length, lines, batches},
                                            .stride = {stride, batches == 1 ? stride * lines : batch_stride},
                                            .box = {GPU_MMA_STEP, !along ? GPU_MMA_STEP
                                                                  : is_b ? GPU_BULK_COLUMNS
                                                                         : GPU_BULK_ROWS}};
    *(is_b ? &p->b_batches : &p->a_batches) = batches > 1;
    return gpu->vendor->tensor_map(is_b ? &p->b : &p->a, &tensor);
}

enum wick_status wick__gemm_bulk(struct wick__gpu *gpu, const struct gpu_gemm *of, enum wick_dtype dtype) {
    struct gpu_gemm_bulk p = {.g = *of};
    p.g.tile_rows = (u32)wick__div_up(of->m, GPU_BULK_ROWS);
    p.g.tile_columns = (u32)wick__div_up(of->n, GPU_BULK_COLUMNS);
    int64_t tiles = (int64_t)p.g.tile_rows * p.g.tile_columns * of->batch.count * of->splits;
    p.tiles = (u32)tiles;
    int code = encode(gpu, &p, dtype, false);
    if (!code) code = encode(gpu, &p, dtype, true);
    p.c_mapped = maps_results(of);
    if (!code && p.c_mapped) code = encode_results(gpu, &p.c, of, dtype);
    WICK__TRY(wick__gpu_check(gpu, code, "describe the operands of a product"));
    struct wick__launch launch = {.kernel = dtype == WICK_BF16 ? WICK__GPU_K_bulk_bf16 : WICK__GPU_K_bulk_f16,
                                  .grid = {(unsigned)wick__min(tiles, wick__max(1, gpu->properties.units))},
                                  .threads = GPU_BULK_THREADS,
                                  .shared = GPU_BULK_SHARED,
                                  .apart = true};
    return wick__gpu_launch(gpu, &launch, &p);
}
