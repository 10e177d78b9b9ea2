/* Parameters of the losses of elements and their gradients. */
#ifndef WICK_KERNELS_LOSS_H
#define WICK_KERNELS_LOSS_H

#include "params.h"

enum gpu_loss_kind {
    GPU_LOSS_MSE,
    GPU_LOSS_L1,
    GPU_LOSS_SMOOTH_L1,
    GPU_LOSS_HUBER,
    GPU_LOSS_KL_DIV,
    GPU_LOSS_BINARY,
    GPU_LOSS_LOGITS
};

/* All are contiguous, of `count` elements; weight, pos_weight and of_target may be NULL. */
struct gpu_loss {
    const void *gradient, *x, *target, *weight, *pos_weight;
    void *out;       /* the loss, or the gradient of x */
    void *of_target; /* the gradient of the target */
    i64 count;
    double a, scale; /* beta or delta; what gradients are multiplied with */
    u32 kind;        /* enum gpu_loss_kind */
    u32 log;         /* kl_div: the target is a logarithm */
    u32 wide;        /* the loss is stored as it is computed */
    u32 single;      /* the gradient is one element */
    u32 aligned;     /* all but such a gradient begin at multiples of 16 bytes */
};

#endif
