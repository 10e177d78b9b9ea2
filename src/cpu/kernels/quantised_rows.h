/* Rows of weights in blocks by one row of activations of 8 bits, without a detour through memory: codes stay in
 * registers between unpacking and the dot product. For kernel files. */
#ifndef WICK_CPU_KERNELS_QUANTISED_ROWS_H
#define WICK_CPU_KERNELS_QUANTISED_ROWS_H

#include "cpu/kernels/blocks.h"

/* Scales and sums are read eight at a time, from any 32 elements on: so far beyond the end of a row. */
enum { WICK__ROW_MARGIN = 7 * 32 };

/* One row of activations. Behind its k elements, all is 0 for WICK__ROW_MARGIN elements more, and from there up to a
 * multiple of WICK__STRETCH. */
struct wick__row_8_bit {
    const int8_t *q;
    const int32_t *start;     /* by 4: minus `above` times the sum of q */
    const float *scale, *sum; /* by 32: the scale, and the scale times the sum of q */
};

/* out[r] = row r of the weights times x. */
struct wick__rows_call {
    const uint8_t *weight;
    int64_t row_nbytes, rows, k; /* rows of k elements */
    struct wick__row_8_bit x;
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
