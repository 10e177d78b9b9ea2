/* Sums of f32 over dims whose neighbours are kept, or in runs, without the detours that other reductions need. */
#ifndef WICK_CPU_KERNELS_SUMS_H
#define WICK_CPU_KERNELS_SUMS_H

#include "cpu/kernels/lines.h"
#include "cpu/runtime/isa.h"

#ifdef WICK_ISA
/* out [outs] = the sums of the lines / divisor, added in f64. False, and nothing done, for lines that are cut among
 * threads or lie in another way. */
bool WICK__ISA(wick__sums_f32)(const struct lines *lines, double divisor, float *out);
#endif

#endif
