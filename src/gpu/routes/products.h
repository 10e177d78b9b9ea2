/* Products by vendors' libraries. */
#ifndef WICK_GPU_ROUTES_PRODUCTS_H
#define WICK_GPU_ROUTES_PRODUCTS_H

#include "gpu/routes/route.h"
#include "product.h"

/* What a route leaves to the caller: bias and activation, of sums in C's place or, where there are `sums`, of those, in
 * f32, which the caller gives back. */
struct wick__product_rest {
    bool left;
    void *sums;
    size_t nbytes;
};

/* Makes a whole product. */
typedef enum wick_status wick__product_fn(struct wick__gpu *gpu, const struct wick__product *g);

/* A product that is offered to routes, as they know it and as libraries do. */
struct wick__product_offer {
    struct wick__offer offer;
    const struct wick__product *g;
    struct wick__blas_product b;
    bool described; /* b is: libraries can have the operands where they lie */
    struct wick__product_rest rest;
    wick__product_fn *whole;
};

/* Multiplications, of all batches. */
double wick__product_work(const struct wick__product *g);

/* Whether a few vectors of 16 bits meet a matrix that is so large that libraries read it faster. On an H200 2 to 12 by
 * 14336 x 4096 take cuBLAS 32 us and ours 43, by 27648 x 5120 68 and 97, by 4096 x 4096 16 to 21 and 17; one takes ours
 * 30 and 66. */
bool wick__product_meets_large(const struct wick__product *g);

/* Whether the product is small, or of a vector whose terms lie side by side: those are our own kernels' in any case. */
bool wick__product_is_small(const struct wick__product *g);

/* Whether a product of 16 bits has rows or matrices that don't start at multiples of 16 bytes; and so many terms that
 * our own kernels, which pack such operands, are faster than libraries. On an H100, 4095 cubed in bf16 takes ours 456
 * us and cuBLAS 1052; 4096 x 4096 x 4100, 506 and 563. On an H200, f16 with bias, 874 x 13018 takes ours 36, 33 and 41
 * us for 52, 256 and 512 terms, cuBLASLt 22, 40 and 63; 874 x 13017 38 and 32 for 52 and 128, cuBLASLt 30 and 53; 30 x
 * 11360 of 3071 92 and 936; without bias 2048 x 2046 of 250 18 and 15, 2047 x 2047 of 64 11 and 13. */
bool wick__product_is_askew(const struct wick__blas_product *b);
bool wick__product_is_long_askew(const struct wick__blas_product *b);

/* Whether such a product has up to 256 rows, which start at multiples of 4 bytes, and a matrix that takes long to pack.
 * On an H200, bf16 with bias, 64 rows by 4096 x 3070 took ours 36 us, and cuBLAS with a second pass takes 22. */
bool wick__product_is_even_askew(const struct wick__gpu *gpu, const struct wick__blas_product *b);

/* Elements of a matrix of 16 bits from which on a single vector is worth more than a launch beside it. */
enum { WICK__LARGE_MATRIX = 3 << 22 };

/* Whether the former is of a matrix whose terms lie side by side and so few vectors that ours, which reads it where it
 * lies (kernels/gemm_few.hip), is faster than libraries: on an H200, f16, 2 by 15184 x 2597 36 us and 46, 7 by 4096 x
 * 4097 23 and 36, 16 by 4096 x 4094 20 and 20, 20 by 4001 x 2049 18 and 25; but 30 by 11360 x 3070 58 and 54. A single
 * one by 5432 x 7205 takes ours 56 and cuBLAS 35, by 3001 x 3001 9 and 12. */
bool wick__product_is_of_few(const struct wick__gpu *gpu, const struct wick__product *g,
                             const struct wick__blas_product *b);

/* Whether rows don't start at multiples of 16 bytes, there are many terms, and our own kernels are known to be faster.
 */
bool wick__product_is_packed(const struct wick__gpu *gpu, const struct wick__blas_product *b);

/* Whether our own kernels make a product of f32 of three of eleven bits, on a card for which that is known to be
 * faster: on an H200 1.5 times as fast as cuBLAS, the geometric mean of 70 sizes at random (bench/NOTES.md). */
bool wick__product_is_by_parts(const struct wick__gpu *gpu, const struct wick__product *g);

/* Whether a product of bf16 has 24 terms, more than 128 rows and not much work, on an H200, where libraries choose
 * badly: as 1x1 convolutions of 24 to 144 channels, 8 images of 56x56 take ours 13 us, cuBLAS 16 and cuDNN 14, 64 of
 * 28x28 23, 28 and 28, 32 of 56x56 36, 48 and 49; but 128 of them 106, 77 and 76, and 32 in f16 35, 18 and 18. */
bool wick__product_is_short(enum wick_dtype dtype, int64_t rows, int64_t terms, double work);

/* All that a library's choice of a way depends on; and a route's `key`. */
void wick__product_plan_key(const struct wick__blas_product *g, int64_t key[WICK__PLAN_KEY]);
bool wick__product_key(const struct wick__offer *offer, int64_t key[WICK__PLAN_KEY]);
/* A route's `say`: "m x n x k". */
void wick__product_say(const struct wick__offer *offer, char *text, size_t size);

/* Makes the product by a vendor's library, if one has it, is chosen, and passed its check; *done says so, and *rest
 * what is left to do then. `whole`, which calls this and does the rest, is called anew where ways are to be timed. */
enum wick_status wick__product_route(struct wick__gpu *gpu, const struct wick__product *g, wick__product_fn *whole,
                                     bool *done, struct wick__product_rest *rest);

#endif
