/* Matrix products on a GPU: what there is to multiply, and who does it. */
#ifndef WICK_GPU_OPS_GEMM_H
#define WICK_GPU_OPS_GEMM_H

#include "gpu/runtime/target.h"
#include "kernels/gemm.h"
#include "product.h"

/* Runs a product of m, n > 0 and at least one batch: through the vendor's library where that is chosen, or by
 * wick__gemm_own. */
enum wick_status wick__gemm_run(struct wick__gpu *gpu, const struct wick__product *g);

/* The same with our kernels alone: matrix instructions where the device has them, or plain arithmetic. */
enum wick_status wick__gemm_own(struct wick__gpu *gpu, const struct wick__product *g);

/* Whether a product of one row of f32 by B of 16 bits, g's dtype, has a kernel, and that product: C and bias are f32.
 */
bool wick__gemm_wide_takes(const struct wick__product *g);
enum wick_status wick__gemm_wide(struct wick__gpu *gpu, const struct wick__product *g);

/* ---- parts of the above ---- */

/* The most blocks of one launch: the product with GPU_BLOCK must stay below 2^32. */
enum { WICK__GEMM_BLOCKS = 1 << 23 };

/* One operand's rows or columns, k, and the batch strides, as kernels take them. */
void wick__gemm_batch(const struct wick__product *g, struct gpu_shape *shape, struct gpu_layout strides[2]);

/* How k is split. Sums of more than one split go to scratch memory first. */
struct wick__split {
    u32 count;
    i64 terms;     /* of k in each */
    void *partial; /* NULL for one split */
    size_t nbytes;
};
/* Sets out's members for a product, and takes scratch memory when there is more than one split. */
enum wick_status wick__split_begin(struct wick__gpu *gpu, const struct wick__product *g, struct wick__split *split,
                                   struct gpu_gemm_out *out);
/* Adds up the splits, if there is more than one, and gives the memory back; `status` is what came before. */
enum wick_status wick__split_end(struct wick__gpu *gpu, const struct wick__product *g, const struct wick__split *split,
                                 enum wick_status status);

/* c = activation(c + bias) in place, of f32 or f64. */
enum wick_status wick__gemm_finish(struct wick__gpu *gpu, const struct wick__product *g);

/* Splits k into about `wanted` parts of at least `least` terms, each a multiple of 64. */
struct wick__split wick__split_of(int64_t k, int64_t wanted, int64_t least);

/* Launches a kernel of tiles of rows x columns over p's batches and splits; sets the members of p that number tiles. */
enum wick_status wick__gemm_launch(struct wick__gpu *gpu, struct wick__launch launch, int64_t rows, int64_t columns,
                                   struct gpu_gemm *p);

/* One way to cut a product into blocks: tiles of rows x columns, at `efficiency` of the fastest way's speed. */
struct wick__tile {
    enum wick__gpu_kernel kernel;
    int rows, columns;
    double efficiency;
    int resident; /* blocks that run on a unit at once */
    int stages;   /* where copies are asynchronous: the most steps of k that LDS holds */
    double ends;  /* what a block's beginning and end take, in multiplications of a unit at full speed; as many ends as
                     there are resident blocks take no longer than one */
};
/* What adding up splits takes, in multiplications of a unit at full speed: the launch, and a byte of a part; and the
 * fewest terms of k a part should have. */
struct wick__split_cost {
    double launch, byte;
    int64_t least;
};
/* The one of n ways, and the split of k, that should take the least time. */
const struct wick__tile *wick__tile_pick(const struct wick__gpu *gpu, const struct wick__product *g,
                                         const struct wick__tile *tiles, int n, const struct wick__split_cost *cost,
                                         struct wick__split *split);

/* Sets how many steps of a tile LDS holds for f32 by matrix instructions (kernels/mma_tf32.h), and how much that is: a
 * group's tile has split parts before them. */
void wick__tf32_shared(const struct wick__gpu *gpu, unsigned rows, unsigned columns, u32 *stages,
                       struct wick__launch *launch);

/* Whether matrix instructions are there and worth while for a product (gemm_mma.c), and the product by them. */
bool wick__gemm_mma_takes(const struct wick__gpu *gpu, const struct wick__product *g);
enum wick_status wick__gemm_mma(struct wick__gpu *gpu, const struct wick__product *g);
/* Whether they can have A or B as it lies. */
bool wick__gemm_mma_ready(const struct wick__gpu *gpu, const struct wick__product *g, bool is_b);

/* The product of p, whose operands are ready, by tiles of GPU_BULK_ROWS x GPU_BULK_COLUMNS that bulk copies bring
 * (gemm_bulk.c), and whether the device and the operands are for it. */
bool wick__gemm_bulk_takes(struct wick__gpu *gpu, const struct gpu_gemm *p, enum wick_dtype dtype);
enum wick_status wick__gemm_bulk(struct wick__gpu *gpu, const struct gpu_gemm *p, enum wick_dtype dtype);

/* Whether a product is of a matrix, which matrix instructions can't have as it lies, and a few vectors (gemm_few.c),
 * and that product. */
bool wick__gemm_few_takes(const struct wick__gpu *gpu, const struct wick__product *g);
enum wick_status wick__gemm_few(struct wick__gpu *gpu, const struct wick__product *g);

/* Whether what is `row` apart, and batches, start at multiples of `count` elements, and the base at `align` bytes. */
bool wick__gemm_aligned(const struct wick__product *g, bool is_b, int64_t row, int64_t count, size_t align);

#endif
