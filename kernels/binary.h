/* Parameters of the kernels of functions and comparisons of two tensors. */
#ifndef WICK_KERNELS_BINARY_H
#define WICK_KERNELS_BINARY_H

#include "op_numbers.h"
#include "report.h"
#include "walk.h"

/* Whether the kernel of floats of so many bytes reads the first operand by steps, too. */
#define GPU_BINARY_ANY(bytes) ((bytes) == 2 || (bytes) == 4)

struct gpu_binary {
    struct gpu_walk walk; /* x, y */
    u32 op;                   /* enum gpu_op */
    struct gpu_report report; /* integers: of divisions by zero */
};

/* Whether x is in a range, or out of it: comparisons with a number. */
struct gpu_limit {
    struct gpu_walk walk;
    double f_low, f_high; /* floats */
    i64 i_low, i_high; /* integers, in the range of the dtype */
    u32 others;        /* the answer is turned */
};

/* out = condition ? a : b. Operands: a, b, condition. */
struct gpu_where {
    struct gpu_walk walk;
    u32 condition; /* bytes of an element of it */
    u32 immediate; /* a is `value` everywhere, and walk has none */
    u64 value;
};

#endif
