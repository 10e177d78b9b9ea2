/* contiguous, copy_inplace: from any layout to any other. */
#include "gpu/gpu.h"
#include "kernels/copy.h"

wick__kernel_fn wick__gpu_copy;
enum wick_status wick__gpu_copy(const struct wick__call *call) {
    const struct wick_tensor *in = call->in[0], *out = call->out[0];
    struct wick__gpu *gpu = wick__gpu_of(out);
    size_t size = (size_t)wick_dtype_bits(in->dtype) / 8;
    struct wick__layout layouts[2] = {in->layout, out->layout};
    struct gpu_copy_strided strided = {.in = wick__data(in), .out = wick__data(out)};
    int64_t count = wick__count(out);
    if (count == 0) return WICK_OK;
    if (wick__gpu_shape(layouts, 2, &strided.shape, strided.layout)) {
        struct gpu_copy_flat flat = {.in = strided.in, .out = strided.out, .count = count};
        if (wick__aligned16(flat.in) && wick__aligned16(flat.out)) flat.vectors = count / (int64_t)(16 / size);
        struct wick__launch launch = {.kernel = wick__gpu_of_size(WICK__GPU_K_copy_flat_b1, size),
                                      .grid = {wick__gpu_blocks(gpu, flat.vectors ? flat.vectors : count, 2)}};
        return wick__gpu_launch(gpu, &launch, &flat);
    }
    struct wick__launch launch = {.kernel = wick__gpu_of_size(WICK__GPU_K_copy_strided_b1, size),
                                  .grid = {wick__gpu_blocks(gpu, count, 4)}};
    return wick__gpu_launch(gpu, &launch, &strided);
}
