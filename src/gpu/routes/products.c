/* Which products are worth a library, and how the log names one. */
#include "gpu/routes/products.h"

#include "core/checked.h"
#include "gpu/runtime/target.h"

#include <stdio.h>
#include <string.h>

/* Whether the product is of a vector and a matrix whose terms don't lie side by side: ours sums parts of that in a
 * second launch. */
static bool is_across(const struct wick__product *g) {
    return (g->m == 1 && g->n > 1 && g->b_k != 1) || (g->n == 1 && g->m > 1 && g->a_k != 1);
}

bool wick__product_meets_large(const struct wick__product *g) {
    const int64_t few = wick__min(g->m, g->n), most = 15;
    const double large = 1 << 25;
    return wick_dtype_bits(g->dtype) == 16 && few > 1 && few <= most &&
           (double)wick__max(g->m, g->n) * (double)g->k >= large && wick__product_batches(g) == 1;
}

double wick__product_work(const struct wick__product *g) {
    return (double)g->m * (double)g->n * (double)g->k * (double)wick__product_batches(g);
}

bool wick__product_is_small(const struct wick__product *g) {
    const double work = wick__product_work(g);
    bool large = g->m >= 16 && g->n >= 16 && g->k >= 16, plain = !g->bias && g->activation == WICK_ACTIVATION_NONE;
    /* With bias and activation in our own kernels: on an H100, 256 cubed in f32 takes them 10 to 18 us, libraries 35 to
     * 52; 1024 cubed 74 and 60. */
    return !wick__product_meets_large(g) && (work < (plain ? 2e6 : 1.3e8) || !(large || is_across(g)));
}

bool wick__product_is_by_parts(const struct wick__gpu *gpu, const struct wick__product *g) {
    return g->dtype == WICK_F32 && g->m >= 16 && g->n >= 16 && g->k >= WICK__TF32_TERMS && wick__capability(gpu) == 90;
}

/* A power of two divides this where all rows and matrices of 16 bits start at multiples of as many elements. */
static uint64_t starts(const struct wick__blas_product *b) {
    const int64_t strides[] = {b->lda, b->ldb, b->ldc, b->stride_a, b->stride_b, b->stride_c};
    uint64_t all = ((uintptr_t)b->a | (uintptr_t)b->b | (uintptr_t)b->c) / 2;
    for (int i = 0; i < (b->batch > 1 ? 6 : 3); i++) all |= (uint64_t)strides[i];
    return all;
}

bool wick__product_is_askew(const struct wick__blas_product *b) {
    return wick_dtype_bits(b->dtype) == 16 && starts(b) % 8 != 0;
}

bool wick__product_is_long_askew(const struct wick__blas_product *b) {
    const int64_t even = 256, odd = 64;
    return wick__product_is_askew(b) && b->k >= (starts(b) % 2 ? odd : even);
}

bool wick__product_is_even_askew(const struct wick__gpu *gpu, const struct wick__blas_product *b) {
    const int64_t most = 256;
    const double much = 1 << 22;
    return wick__capability(gpu) == 90 && wick__product_is_long_askew(b) && starts(b) % 2 == 0 && b->m <= most &&
           (double)b->n * (double)b->k >= much;
}

bool wick__product_is_packed(const struct wick__gpu *gpu, const struct wick__blas_product *b) {
    return wick__capability(gpu) == 90 && b->m >= 16 && b->n >= 16 && wick__product_is_long_askew(b) &&
           !wick__product_is_even_askew(gpu, b);
}

bool wick__product_is_of_few(const struct wick__gpu *gpu, const struct wick__product *g,
                             const struct wick__blas_product *b) {
    const int64_t most = starts(b) % 2 ? 32 : 16, few = wick__min(g->m, g->n);
    if (few == 1 && wick__max(g->m, g->n) * g->k >= WICK__LARGE_MATRIX) return false;
    return wick__capability(gpu) == 90 && wick__product_is_askew(b) && few <= most &&
           (g->n < g->m ? g->a_k : g->b_k) == 1 && wick__product_batches(g) == 1;
}

bool wick__product_is_short(enum wick_dtype dtype, int64_t rows, int64_t terms, double work) {
    const double much = 4e8;
    return dtype == WICK_BF16 && terms == 24 && rows > 128 && work < much;
}

void wick__product_plan_key(const struct wick__blas_product *g, int64_t key[WICK__PLAN_KEY]) {
    const bool many = g->batch > 1;
    const int64_t all[WICK__PLAN_KEY] = {g->dtype,
                                         g->activation,
                                         g->m,
                                         g->n,
                                         g->k,
                                         g->lda,
                                         g->ldb,
                                         g->ldc,
                                         (int64_t)((uintptr_t)g->a % 16),
                                         (int64_t)((uintptr_t)g->b % 16),
                                         (int64_t)((uintptr_t)g->c % 16),
                                         (g->bias ? 4 : 0) + (g->transpose_a ? 2 : 0) + (g->transpose_b ? 1 : 0),
                                         g->batch,
                                         many ? g->stride_a : 0,
                                         many ? g->stride_b : 0};
    memcpy(key, all, sizeof all);
}

bool wick__product_key(const struct wick__offer *offer, int64_t key[WICK__PLAN_KEY]) {
    const struct wick__product_offer *p = (const struct wick__product_offer *)offer;
    if (!p->described) return false;
    wick__product_plan_key(&p->b, key);
    key[WICK__PLAN_KEY - 1] = p->g->bias_by_row;
    return true;
}

void wick__product_say(const struct wick__offer *offer, char *text, size_t size) {
    const struct wick__product *g = ((const struct wick__product_offer *)offer)->g;
    snprintf(text, size, "%lld x %lld x %lld%s", (long long)g->m, (long long)g->n, (long long)g->k,
             g->bias ? ", bias" : "");
}
