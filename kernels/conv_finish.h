/* The last step on an element of a convolution's result in plain arithmetic. */
#ifndef WICK_KERNELS_CONV_FINISH_H
#define WICK_KERNELS_CONV_FINISH_H

#include "conv.h"
#include "gemm_common.h"

/* Whether an element is below 0, as the dtype it has. */
GPU_FN bool conv_negative(u8) { return false; }
GPU_FN bool conv_negative(u32) { return false; }
template <typename T> GPU_FN bool conv_negative(T x) { return gpu_up(x) < 0; }

template <typename T, typename S> GPU_FN T conv_finish(const struct gpu_conv &p, i64 channel, S sum) {
    T r;
    if (p.bias) sum += gemm_up(((const T *)p.bias)[channel]);
    gemm_down(&r, sum);
    if (p.relu && conv_negative(r)) gemm_down(&r, (S)0);
    return r;
}

#endif
