/* How elementwise kernels run: out[i] = f(in0[i], in1[i], in2[i]).
 *
 * A kernel supplies f as a function on rows: up to WICK__BLOCK elements of each operand, next to one another. The
 * driver in kernels/elementwise.c brings every operand into that form, whatever its layout and broadcasting; shows
 * bf16, f16 and f8e4m3 as f32 and rounds the f32 result once; streams large results past the caches; and shares
 * the blocks out among the threads. Rows of contiguous operands are passed as they lie in memory. So an op needs a
 * function for f32, one for f64 and those for the integers, and none for layouts. */
#ifndef WICK_CPU_ELEMENTWISE_H
#define WICK_CPU_ELEMENTWISE_H

#include "cpu/isa.h"

#include "core/tensor.h"

enum { WICK__BLOCK = 1024, WICK__ROW_INPUTS = 3 };

struct wick__row {
    const void *in[WICK__ROW_INPUTS];
    void *out;
    int64_t n;           /* 1 .. WICK__BLOCK */
    const void *params;  /* what the kernel put into struct wick__elementwise */
    atomic_bool *failed; /* set by a row that meets a value its op refuses */
};

typedef void wick__row_fn(const struct wick__row *row);

struct wick__elementwise {
    wick__row_fn *row; /* NULL: the result is the first operand */
    int n_in;
    const struct wick_tensor *in[WICK__ROW_INPUTS]; /* of a shape that broadcasts to out's */
    struct wick_tensor *out;                        /* contiguous */
    const void *params;
    bool raw;   /* rows take the elements as they lie, also bf16, f16 and f8e4m3 */
    bool heavy; /* an element takes tens of cycles: share smaller pieces out */
    atomic_bool failed;
};

#ifdef WICK_ISA
/* Runs it. Can't fail; look at ->failed afterwards. */
void WICK__ISA(wick__elementwise)(struct wick__elementwise *e);
#endif

/* The dtype in which a dtype's elements reach the rows. */
static inline enum wick_dtype wick__row_dtype(enum wick_dtype dtype) {
    return dtype == WICK_DTYPE_bf16 || dtype == WICK_DTYPE_f16 || dtype == WICK_DTYPE_f8e4m3 ? WICK_DTYPE_f32 : dtype;
}

#endif
