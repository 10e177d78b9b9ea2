/* Rows of weights in blocks by one row of activations of 8 bits, without a detour through memory: codes stay in
 * registers between unpacking and the dot product. For kernel files. */
#ifndef WICK_CPU_KERNELS_QUANTISED_ROWS_H
#define WICK_CPU_KERNELS_QUANTISED_ROWS_H

#include "cpu/kernels/blocks.h"

/* Rows of weights that a call multiplies. */
enum { WICK__ROWS_AT_ONCE = 8 };

/* out[r] = row r of the weights times the activations, of which `group` elements share a scale. The sums
 * are those of a panel (quantised_dot.h), in the same order. */
struct wick__rows_call {
    const uint8_t *weight;
    int64_t step, k; /* step: bytes from a row to the next; k: elements of a row */
    const int8_t *q;
    const int32_t *start;     /* by groups: minus `above` times the sum of q; with wick__scales_whole, the sums of two
                               * groups     of 16 at the first, of 16 bits each */
    const float *scale, *sum; /* by groups: the scale, and the scale times the sum of q */
    float *out;
};
typedef void wick__rows_fn(const struct wick__rows_call *call);

struct wick__rows {
    wick__rows_fn *fn; /* NULL: the dtype has none */
    int above;         /* what the unsigned codes are above the integers that they stand for */
};

#ifdef WICK_ISA
struct wick__rows WICK__ISA(wick__rows)(enum wick_dtype dtype);
#endif

#endif
