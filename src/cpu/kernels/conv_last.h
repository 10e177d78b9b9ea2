/* Depthwise convolutions of images with channels last. */
#ifndef WICK_CPU_KERNELS_CONV_LAST_H
#define WICK_CPU_KERNELS_CONV_LAST_H

#include "backend.h"
#include "cpu/runtime/isa.h"

#ifdef WICK_ISA
/* Runs a call that wick__depthwise_last of points.h lets through. WICK_MEMORY. */
enum wick_status WICK__ISA(wick__conv_last)(const struct wick__call *call);
#endif

#endif
