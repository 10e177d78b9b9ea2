/* Gradients of functions of one tensor. */
#include "gpu/ops/elementwise.h"
#include "core/number.h"
#include "kernels/gradient.h"

wick__kernel_fn wick__gpu_gradient;
enum wick_status wick__gpu_gradient(const struct wick__call *call) {
    enum wick_dtype dtype = call->in[0]->dtype;
    const struct wick_number *given = call->p.number;
    int chunk = GPU_CHUNK_OF_GRADIENT(wick__size(dtype));
    struct gpu_gradient params = {.op = (u32)call->op,
                                  .f = {wick__number_f64(dtype, given[0]), wick__number_f64(dtype, given[1])}};
    struct wick__elements e = {.kernel = wick__gpu_of_floats(WICK__GPU_K_gradient_bf16, dtype),
                               .params = &params,
                               .walk = &params.walk,
                               .n_in = 2,
                               .in = {call->in[0], call->in[1]},
                               .out = call->out[0],
                               .chunk = chunk,
                               .slots = chunk};
    return wick__gpu_elements(&e);
}
