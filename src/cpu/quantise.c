/* Floats to blocks: the kernel for the instruction set in use. */
#include "cpu/kernels/quantise.h"

#include "cpu/runtime/isa.h"

#include "core/dtype.h"

wick__quantise_fn wick__quantise_baseline, wick__quantise_avx2, wick__quantise_avx512;

bool wick__quantise(const struct wick__quantise *q) {
    static wick__quantise_fn *const copies[WICK__ISA_COUNT] = {wick__quantise_baseline, wick__quantise_avx2,
                                                               wick__quantise_avx512};
    return copies[wick__isa()](q);
}

bool wick__quantises(enum wick_dtype dtype) {
    const wick__dtypes codebooks = WICK__BIT(iq1_s) | WICK__BIT(iq1_m) | WICK__BIT(iq2_xxs) | WICK__BIT(iq2_xs) |
                                   WICK__BIT(iq2_s) | WICK__BIT(iq3_xxs) | WICK__BIT(iq3_s);
    return wick__has(WICK__BLOCKS & ~codebooks, dtype);
}
