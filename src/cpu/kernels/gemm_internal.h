/* What the files of the matrix product share: kinds of arithmetic, tiles, packing, and the last step of a tile.
 *
 * A kind is a packed element type, an accumulator type and the tile functions for it. Operands are packed into panels:
 * a panel of A holds up to `rows` rows, element (i, kk) at kk * its rows + i; a panel of B holds up to `columns`
 * columns, element (kk, j) at kk * columns + j. Panels of the bf16 dot product hold pairs of neighbours along k as
 * one 32-bit element. */
#ifndef WICK_CPU_KERNELS_GEMM_INTERNAL_H
#define WICK_CPU_KERNELS_GEMM_INTERNAL_H

#include "cpu/kernels/gemm.h"

#include "core/checked.h"
#include "core/dtype.h"

/* Tiles in registers: rows, and vectors a row. The accumulators, a row of B and a broadcast element of A must fit into
 * 32 registers with AVX-512, 16 without. */
#if WICK_ISA_LEVEL == 2
enum { GEMM_ROWS = 14, GEMM_VECTORS = 2, GEMM_BYTES = 64 };
#elif WICK_ISA_LEVEL == 1
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2, GEMM_BYTES = 32 };
#else
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2, GEMM_BYTES = 16 };
#endif
enum { GEMM_COLUMNS_MAX = GEMM_VECTORS * GEMM_BYTES / 4 };

/* C[rows, vectors] = or += A panel x B panel over k packed elements; ldc in elements. */
typedef void gemm_tile_fn(int64_t k, const void *a, const void *b, void *c, int64_t ldc, bool add);

/* The same of GEMM_ROWS rows of A where they lie, `lda` elements apart, their terms side by side. */
typedef void gemm_in_place_fn(int64_t k, const void *a, int64_t lda, const void *b, void *c, int64_t ldc, bool add);

struct gemm_kind {
    size_t size;     /* bytes of a packed element, and of an accumulator */
    int group;       /* terms along k in a packed element */
    int columns;     /* of a full tile */
    int lanes;       /* columns of one vector */
    int64_t k_block; /* terms along k summed before they are added to C: part of the numbers, not of the schedule */
    gemm_tile_fn *tile[GEMM_ROWS][GEMM_VECTORS]; /* by rows - 1, vectors - 1 */
    gemm_in_place_fn *in_place[GEMM_VECTORS];    /* by vectors - 1; NULL: A is packed */
};

/* The kinds: f32 and f64; integers of up to 32 bits, and of 64, in unsigned arithmetic; bf16 by pairs. */
extern const struct gemm_kind WICK__ISA(wick__gemm_f32), WICK__ISA(wick__gemm_f64), WICK__ISA(wick__gemm_u32),
    WICK__ISA(wick__gemm_u64), WICK__ISA(wick__gemm_bf16);

/* The kind that a dtype is computed with here. */
const struct gemm_kind *WICK__ISA(wick__gemm_kind)(enum wick_dtype dtype);

/* Where a matrix of the batch begins in an operand with these strides. */
static inline int64_t gemm_batch_offset(const struct wick__product *g, const int64_t *stride, int64_t batch) {
    int64_t offset = 0;
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        offset += batch % g->batch_shape[d] * stride[d];
        batch /= g->batch_shape[d];
    }
    return offset;
}

/* Panels to pack: `width` rows of A or columns of B with stride `step`, `depth` terms along k with stride `k_step`,
 * into panels that follow one another, each of `ld` of them (the last may have fewer) in rows of ld packed elements.
 * Strides count elements of the dtype. */
struct gemm_panel {
    enum wick_dtype dtype;
    const void *from;
    int64_t step, k_step;
    int64_t width, depth;
    int64_t ld;
    void *to;
};
void WICK__ISA(wick__gemm_pack)(const struct gemm_kind *kind, const struct gemm_panel *panels);

/* Stores rows x columns accumulators at `tile`, of row stride ld, as C[i0.., j0..] of one matrix of the batch, with
 * bias and activation. `c` and `bias` are that matrix's own. */
struct gemm_store {
    const struct wick__product *g;
    void *c;
    const void *bias;
    int64_t i0, j0, rows, columns;
    const void *tile; /* aligned as vectors are, and so are its rows, unless it is C itself */
    int64_t ld;
    bool streamed; /* C is too large to stay in the caches */
};
void WICK__ISA(wick__gemm_store)(const struct gemm_store *store);

/* Runs a product of one row or one column of floats (f64 apart) with a matrix whose terms or columns lie side by side;
 * false where it is none. Sums over terms side by side have an order of their own, which k alone decides. */
bool WICK__ISA(wick__gemv)(const struct wick__product *g, enum wick_status *status);

/* Runs a product of a few rows or columns of f32 with a matrix whose terms or lines lie side by side; false where it is
 * none. Its sums have the order that k, the number of these and the layout of the matrix decide. */
bool WICK__ISA(wick__gemm_few)(const struct wick__product *g, enum wick_status *status);

#endif
