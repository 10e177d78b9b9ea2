/* Floats to blocks, the other way than blocks.h. For kernel files, and src/cpu/quantise.c, which chooses between them.
 */
#ifndef WICK_CPU_KERNELS_QUANTISE_H
#define WICK_CPU_KERNELS_QUANTISE_H

#include <wick/dtype.h>

#include <stdbool.h>
#include <stdint.h>

/* Rows of x to blocks of a dtype that wick__quantises. */
struct wick__quantise {
    enum wick_dtype dtype;
    const float *x;          /* [rows,k] */
    const float *importance; /* [k], >= 0; NULL: all the same */
    int64_t rows, k;
    uint8_t *out;
};
/* False when an element is NaN or beyond 65504, the largest f16. */
typedef bool wick__quantise_fn(const struct wick__quantise *q);

/* Whether there is a quantiser for the dtype. */
bool wick__quantises(enum wick_dtype dtype);
/* On all threads. */
wick__quantise_fn wick__quantise;

#endif
