/* Numbers that op code passes to kernels, as elements. */
#define WICK_ISA_LEVEL 0 /* convert.h is for kernels of the CPU, which are compiled at three levels */
#include "gpu/ops/elementwise.h"

#include "cpu/kernels/convert.h"

uint64_t wick__gpu_element(enum wick_dtype dtype, double x) {
    uint64_t bits = 0;
    wick__store_f64(dtype, x, &bits);
    return bits;
}

int64_t wick__gpu_int(double x) { return wick__f64_to_i64(x); }

void wick__gpu_int_range(enum wick_dtype dtype, int64_t *low, int64_t *high) {
    wick__store_f64(dtype, -(double)INFINITY, low);
    wick__store_f64(dtype, (double)INFINITY, high);
    wick__row_to_i64(dtype, low, 1, low, 1);
    wick__row_to_i64(dtype, high, 1, high, 1);
}
