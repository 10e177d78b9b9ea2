/* The numbers of the elementwise ops, by which kernels know them. */
#ifndef WICK_KERNELS_OP_NUMBERS_H
#define WICK_KERNELS_OP_NUMBERS_H

enum gpu_op {
#define WICK__UNARY(number, name, ...) GPU_OP_##name = number,
#define WICK__QUESTION(number, name, ...) GPU_OP_##name = number,
#define WICK__SCALAR1(number, name, ...) GPU_OP_##name = number,
#define WICK__SCALAR2(number, name, ...) GPU_OP_##name = number,
#define WICK__BINARY(number, name, ...) GPU_OP_##name = number,
#define WICK__PAIR(number, name, ...) GPU_OP_##name = number,
#define WICK__COMPARISON(number, name, ...) GPU_OP_##name = number,
#define WICK__LIMIT(number, name, ...) GPU_OP_##name = number,
#define WICK__GRADIENT(number, name, ...) GPU_OP_##name = number,
#define WICK__GRADIENT1(number, name, ...) GPU_OP_##name = number,
#define WICK__GRADIENT2(number, name, ...) GPU_OP_##name = number,
#include "elementwise_ops.h"
    GPU_OP_affine_by = 1 << 16 /* affine of integers with numbers that are not whole, in f64 */
};

#endif
