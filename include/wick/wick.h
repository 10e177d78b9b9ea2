/* Wick: eager tensors in C, one interface to CPU, CUDA and ROCm devices. Includes every public header. */
#ifndef WICK_WICK_H
#define WICK_WICK_H

#include <wick/base.h>
#include <wick/status.h>
#include <wick/memory.h>
#include <wick/dtype.h>
#include <wick/device.h>
#include <wick/tensor.h>
#include <wick/ops.h>
#include <wick/shape.h>
#include <wick/reduce.h>
#include <wick/nn.h>
#include <wick/linalg.h>
#include <wick/format.h>
#include <wick/text.h>
#include <wick/index.h>
#include <wick/random.h>
#include <wick/conv.h>
#include <wick/elementwise.h>

#endif
