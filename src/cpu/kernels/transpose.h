/* The transposing copy. */
#ifndef WICK_CPU_KERNELS_TRANSPOSE_H
#define WICK_CPU_KERNELS_TRANSPOSE_H

#include "cpu/runtime/isa.h"

#include "core/layout.h"

#ifdef WICK_ISA
/* Copies `in` to `out`, whose layouts were collapsed together, when the elements that are neighbours in `out` are not
 * in `in` but those along another dim are. False, and nothing done, for other layouts and for small dims. */
bool WICK__ISA(wick__transpose)(const struct wick__layout *from, const struct wick__layout *to, const void *in,
                                void *out, size_t size);

/* Turns size[1] rows of size[0] elements, `step` elements apart, into size[0] rows of size[1], `to` elements apart. */
void WICK__ISA(wick__turn)(size_t bytes, const void *in, int64_t step, const int64_t size[2], void *out, int64_t to);
#endif

#endif
