/* The CPU family's kernel table, made from ops.def and families.def. */
#ifndef WICK_CPU_TABLE_H
#define WICK_CPU_TABLE_H

#include "backend.h"

extern const struct wick__kernel wick__cpu_kernels[WICK_OP_COUNT];

#endif
