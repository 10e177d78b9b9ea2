/* Numbers that op code passes to kernels, as elements. */
#define WICK_ISA_LEVEL 0 /* convert.h is for kernels of the CPU, which are compiled at three levels */
#include "gpu/ops/elementwise.h"

#include "cpu/kernels/convert.h"

uint64_t wick__gpu_element(enum wick_dtype dtype, struct wick_number n) {
    uint64_t bits = 0;
    wick__store_number(dtype, n, &bits);
    return bits;
}
