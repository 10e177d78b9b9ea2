/* Positions of elements: from a running number to the offset in each operand. */
#ifndef WICK_KERNELS_LAYOUT_H
#define WICK_KERNELS_LAYOUT_H

#include "gpu.h"

GPU_FN u32 gpu_divide(u32 n, const struct gpu_divisor &by) { return (gpu_mulhi(n, by.magic) + n) >> by.shift; }

/* Offsets, in elements, of element i of a shape in N operands. */
template <int N> struct gpu_offsets {
    i64 at[N];
};

template <int N>
GPU_FN gpu_offsets<N> gpu_locate(u64 i, const struct gpu_shape &shape, const struct gpu_layout (&layouts)[N]) {
    gpu_offsets<N> o;
    GPU_UNROLL for (int k = 0; k < N; k++) o.at[k] = 0;
    if (shape.narrow) {
        u32 rest = (u32)i;
        GPU_UNROLL_DIMS for (u32 d = 0; d < GPU_RANK; d++) {
            if (d == shape.rank) break;
            u32 quotient = gpu_divide(rest, shape.divisor[d]);
            u32 digit = rest - quotient * (u32)shape.size[d];
            rest = quotient;
            GPU_UNROLL for (int k = 0; k < N; k++) o.at[k] += (i64)digit * layouts[k].stride[d];
        }
    } else {
        u64 rest = i;
        GPU_NO_UNROLL for (u32 d = 0; d < shape.rank; d++) {
            u64 quotient = rest / (u64)shape.size[d];
            i64 digit = (i64)(rest - quotient * (u64)shape.size[d]);
            rest = quotient;
            GPU_UNROLL for (int k = 0; k < N; k++) o.at[k] += digit * layouts[k].stride[d];
        }
    }
    return o;
}

#endif
