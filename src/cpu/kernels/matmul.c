/* matmul and linear. */
#include "cpu/kernels/gemm.h"

enum wick_status WICK__ISA(wick__cpu_matmul)(const struct wick__call *call);
enum wick_status WICK__ISA(wick__cpu_matmul)(const struct wick__call *call) {
    struct wick__product g = wick__product_of(call);
    return WICK__ISA(wick__gemm)(&g);
}
