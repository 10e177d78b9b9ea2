/* searchsorted: a thread looks for each value by halves. */
#include "gpu/runtime/gpu.h"
#include "kernels/gather.h"

wick__kernel_fn wick__gpu_search;
enum wick_status wick__gpu_search(const struct wick__call *call) {
    const struct wick_tensor *sequence = call->in[0], *values = call->in[1];
    struct wick__gpu *gpu = wick__gpu_of(values);
    int rank = sequence->layout.rank, last = values->layout.rank - 1;
    struct gpu_search p = {.sequence = wick__data(sequence),
                           .values = wick__data(values),
                           .out = wick__data(call->out[0]),
                           .count = wick__count(values),
                           .n = sequence->layout.shape[rank - 1],
                           .m = last >= 0 ? values->layout.shape[last] : 1,
                           .shared = rank == 1,
                           .right = call->p.along.start != 0};
    struct wick__launch launch = {.kernel = wick__gpu_of_all(WICK__GPU_K_search_u8, values->dtype),
                                  .grid = {wick__gpu_blocks(gpu, p.count, 1)}};
    return p.count == 0 ? WICK_OK : wick__gpu_launch(gpu, &launch, &p);
}
