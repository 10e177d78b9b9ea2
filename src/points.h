/* Convolutions of images with channels last that need not be packed: by single elements, as products, depthwise, and by
 * whole pieces of channels. */
#ifndef WICK_POINTS_H
#define WICK_POINTS_H

#include "core/layout.h"
#include "product.h"

/* Whether a convolution, or a transposed one, is a product of its weight with images as they lie: channels last,
 * windows of single elements that leave none out, one group. Where it is, *g is the product, all but its addresses. */
static inline bool wick__product_of_points(const struct wick__call *call, struct wick__product *g) {
    const struct wick__layout *x = &call->in[0]->layout, *weight = &call->in[1]->layout, *y = &call->out[0]->layout;
    bool transposed = call->op >= WICK_OP_conv_transpose1d, wraps = !wick_dtype_is_float(call->in[0]->dtype);
    int64_t positions = 1;
    if (call->p.window.groups != 1 || (call->p.window.relu && wraps) || !wick__layout_is_channels_last(x)) return false;
    for (int d = 2; d < x->rank; d++) {
        if (weight->shape[d] != 1 || call->p.window.padding[d - 2] != 0 || x->shape[d] != y->shape[d]) return false;
        positions *= x->shape[d];
    }
    int out = transposed ? 1 : 0;
    *g = (struct wick__product){.dtype = call->in[0]->dtype,
                                .m = y->shape[1],
                                .n = positions,
                                .k = x->shape[1],
                                .a_row = weight->stride[out],
                                .a_k = weight->stride[1 - out],
                                .b_k = 1,
                                .b_column = x->shape[1],
                                .c_row = positions,
                                .bias_by_row = true,
                                .bias_step = 1,
                                .activation = call->p.window.relu ? WICK_ACTIVATION_RELU : WICK_ACTIVATION_NONE,
                                .batch_rank = 1,
                                .batch_shape = {x->shape[0]},
                                .b_batch = {x->stride[0]}};
    return true;
}

/* Whether a convolution is a depthwise one of f32 whose images have their channels last. Rows that a row of the result
 * takes fill a mebibyte at most, 16 channels of them. */
static inline bool wick__depthwise_last(const struct wick__call *call) {
    enum { LEAST_CHANNELS = 16, MOST_POSITIONS = 1 << 14 };
    const struct wick__layout *x = &call->in[0]->layout, *weight = &call->in[1]->layout, *y = &call->out[0]->layout;
    int64_t positions = 1;
    if (call->op > WICK_OP_conv3d || call->in[0]->dtype != WICK_F32 || x->shape[1] < LEAST_CHANNELS ||
        x->shape[1] != call->p.window.groups || y->shape[1] != x->shape[1] || !wick__layout_is_channels_last(x))
        return false;
    for (int s = 0, n = call->p.window.spatial; s < n; s++) {
        int64_t taken = s < n - 2 ? weight->shape[2 + s] : (weight->shape[2 + s] - 1) * call->p.window.dilation[s] + 1;
        if (s == n - 1 && call->p.window.stride[s] > MOST_POSITIONS) return false;
        if (s == n - 1) taken += (y->shape[2 + s] + 7) * call->p.window.stride[s];
        if (taken > MOST_POSITIONS / positions) return false;
        positions *= taken;
    }
    return true;
}

/* Whether operand i of a convolution, or of its gradient by the weight, is images of 16 bits with channels last, whose
 * groups are whole pieces of 16 bytes: what matrix instructions take. */
static inline bool wick__pieces_last(const struct wick__call *call, int i) {
    enum { PIECE = 8, FEW = 16 };
    const bool forward = call->op >= WICK_OP_conv1d && call->op <= WICK_OP_conv_transpose3d;
    const struct wick_tensor *x = call->in[i];
    if (i >= (forward ? 1 : 2) || (x->dtype != WICK_BF16 && x->dtype != WICK_F16)) return false;
    const int64_t channels = x->layout.shape[1] / call->p.window.groups;
    return channels % PIECE == 0 && channels >= FEW && wick__layout_is_channels_last(&x->layout);
}

#endif
