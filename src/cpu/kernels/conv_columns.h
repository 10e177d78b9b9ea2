/* Transposed convolutions of small images as products. */
#ifndef WICK_CPU_KERNELS_CONV_COLUMNS_H
#define WICK_CPU_KERNELS_CONV_COLUMNS_H

#include "backend.h"
#include "cpu/runtime/isa.h"

#ifdef WICK_ISA
/* Whether a call, whose operands are contiguous, is faster this way. */
bool WICK__ISA(wick__conv_columns_suit)(const struct wick__call *call);
/* Runs it then. WICK_MEMORY. */
enum wick_status WICK__ISA(wick__conv_columns)(const struct wick__call *call);
#endif

#endif
