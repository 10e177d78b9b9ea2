/* Layouts as kernels take them: collapsed, the last dim first, with divisors for 32-bit arithmetic. */
#include "gpu/runtime/gpu.h"

void wick__gpu_divisor(struct gpu_divisor *divisor, uint32_t d) {
    /* With l = ceil(log2 d) and magic = floor(2^32 (2^l - d) / d) + 1, n / d = (mulhi(n, magic) + n) >> l; for n below
     * 2^31 the sum fits in 32 bits. */
    uint32_t shift = d <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(d - 1);
    uint64_t magic = (((uint64_t)1 << 32) * (((uint64_t)1 << shift) - d)) / d + 1;
    *divisor = (struct gpu_divisor){.d = d, .magic = (uint32_t)magic, .shift = shift};
}

bool wick__gpu_shape(struct wick__layout *layouts, int n, struct gpu_shape *shape, struct gpu_layout *strides) {
    bool flat = true;
    wick__layout_collapse(layouts, n);
    int rank = layouts[0].rank;
    *shape = (struct gpu_shape){.count = wick__layout_count(&layouts[0]), .rank = (u32)rank};
    shape->narrow = shape->count < INT32_MAX;
    for (int d = 0; d < GPU_RANK; d++) shape->size[d] = d < rank ? layouts[0].shape[rank - 1 - d] : 1;
    for (int d = 0; d < GPU_RANK && shape->narrow && shape->count > 0; d++)
        wick__gpu_divisor(&shape->divisor[d], (uint32_t)shape->size[d]);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < GPU_RANK; d++) strides[i].stride[d] = d < rank ? layouts[i].stride[rank - 1 - d] : 0;
        if (rank != 1 || (layouts[i].stride[0] != 1 && layouts[i].shape[0] > 1)) flat = false;
    }
    return flat;
}
