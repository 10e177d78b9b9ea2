/* matmul and linear. */
#include "gpu/ops/gemm.h"

wick__kernel_fn wick__gpu_matmul;
enum wick_status wick__gpu_matmul(const struct wick__call *call) {
    struct wick__product g = wick__product_of(call);
    if (wick__count(call->out[0]) == 0) return WICK_OK;
    return wick__gemm_run(wick__gpu_of(call->out[0]), &g);
}
