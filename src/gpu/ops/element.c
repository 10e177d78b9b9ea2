/* Numbers that op code passes to kernels, as elements. */
#include "gpu/ops/elementwise.h"

#include "core/convert.h"

uint64_t wick__gpu_element(enum wick_dtype dtype, struct wick_number n) {
    uint64_t bits = 0;
    wick__store_number(dtype, n, &bits);
    return bits;
}
