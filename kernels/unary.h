/* Parameters of the kernels of light functions of one tensor: those without a function of the vendor's library, and
 * those with one or two numbers. */
#ifndef WICK_KERNELS_UNARY_H
#define WICK_KERNELS_UNARY_H

#include "op_numbers.h"
#include "walk.h"

struct gpu_unary {
    struct gpu_walk walk;
    u32 op; /* enum gpu_op */
    double f[2]; /* the numbers */
    i64 i[2];    /* the numbers of integer ops */
};

#endif
