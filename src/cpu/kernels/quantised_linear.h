/* Layers with weights of blocks: what the two ways of multiplying share. For kernel files. */
#ifndef WICK_CPU_KERNELS_QUANTISED_LINEAR_H
#define WICK_CPU_KERNELS_QUANTISED_LINEAR_H

#include "cpu/kernels/blocks.h"

#include "backend.h"

/* out[m, n] = activation(x[m, k] weight[n, k]^T + bias[n]), all contiguous. */
struct wick__quantised_linear {
    enum wick_dtype dtype, weight_dtype; /* of x, bias and out; of weight */
    int64_t m, n, k;
    const char *x, *bias; /* bias NULL: none */
    const uint8_t *weight;
    char *out;
    enum wick_activation activation;
    int64_t row_nbytes; /* of weight */
};

#ifdef WICK_ISA
/* By activations of 8 bits. */
enum wick_status WICK__ISA(wick__quantised_linear_8_bit)(const struct wick__quantised_linear *l);
#endif

#endif
