/* Convolutions: channels, groups, windows and sizes. */
#include "ops/conv.h"

static const struct wick_conv_options defaults;

/* Operands: x [N,Cin,spatial...], weight of the same rank, bias? [Cout]. */
static bool check_operands(const struct wick__call *call, int spatial) {
    for (int i = 0; i < 2; i++)
        if (call->in[i]->layout.rank != spatial + 2) {
            wick__call_fail(call, WICK_SHAPE, "%s has rank %d, not %d", wick__operand_name(call->op, i),
                            call->in[i]->layout.rank, spatial + 2);
            return false;
        }
    return true;
}

/* Channels of x, weight and bias under `groups`; the result's into *out. */
static bool check_channels(const struct wick__call *call, bool transposed, int64_t *out) {
    const int64_t *x = call->in[0]->layout.shape, *weight = call->in[1]->layout.shape;
    int64_t groups = call->p.window.groups, per_group = weight[1];
    if (groups < 1) {
        wick__call_fail(call, WICK_INVALID, "groups %lld is not >= 1", (long long)groups);
        return false;
    }
    if (x[1] % groups != 0 || (!transposed && weight[0] % groups != 0)) {
        wick__call_fail(call, WICK_SHAPE, "groups %lld does not divide %lld %s channels", (long long)groups,
                        (long long)(x[1] % groups != 0 ? x[1] : weight[0]), x[1] % groups != 0 ? "input" : "output");
        return false;
    }
    if (transposed ? weight[0] != x[1] : per_group != x[1] / groups) {
        wick__call_fail(call, WICK_SHAPE, "weight is for %lld input channels, x has %lld in %lld groups",
                        (long long)(transposed ? weight[0] : per_group), (long long)x[1], (long long)groups);
        return false;
    }
    *out = weight[0];
    if (transposed && !wick__mul(per_group, groups, out)) {
        wick__call_fail(call, WICK_OVERFLOW, "the output channels do not fit in 64 bits");
        return false;
    }
    const struct wick_tensor *bias = call->in[2];
    if (!bias || (bias->layout.rank == 1 && bias->layout.shape[0] == *out)) return true;
    wick__call_fail(call, WICK_SHAPE, "bias is not [%lld]", (long long)*out);
    return false;
}

/* Option values of spatial dim s; `reach` becomes dilation (kernel - 1) + 1. */
static bool check_window(const struct wick__call *call, int s, int64_t *reach) {
    int64_t kernel = call->p.window.kernel[s], stride = call->p.window.stride[s];
    int64_t padding = call->p.window.padding[s], dilation = call->p.window.dilation[s];
    if (kernel < 1)
        wick__call_fail(call, WICK_SHAPE, "spatial dim %d of weight is empty", s);
    else if (stride < 1)
        wick__call_fail(call, WICK_INVALID, "stride %lld of spatial dim %d is not >= 1", (long long)stride, s);
    else if (dilation < 1)
        wick__call_fail(call, WICK_INVALID, "dilation %lld of spatial dim %d is not >= 1", (long long)dilation, s);
    else if (padding < 0)
        wick__call_fail(call, WICK_INVALID, "padding %lld of spatial dim %d is negative", (long long)padding, s);
    else if (!wick__mul(dilation, kernel - 1, reach) || !wick__add(*reach, 1, reach))
        wick__call_fail(call, WICK_OVERFLOW, "dilation %lld x (kernel %lld - 1) does not fit in 64 bits",
                        (long long)dilation, (long long)kernel);
    else
        return true;
    return false;
}

static bool overflow(const struct wick__call *call, int s) {
    wick__call_fail(call, WICK_OVERFLOW, "spatial dim %d of the result does not fit in 64 bits", s);
    return false;
}

/* out = floor((in + 2 padding - reach) / stride) + 1 */
static bool conv_size(const struct wick__call *call, int s, int64_t reach, int64_t in, int64_t *out) {
    int64_t padded, stride = call->p.window.stride[s];
    if (!wick__mul(2, call->p.window.padding[s], &padded) || !wick__add(padded, in, &padded)) return overflow(call, s);
    if (reach > padded) {
        wick__call_fail(call, WICK_SHAPE, "the kernel reaches over %lld elements, spatial dim %d has %lld with padding",
                        (long long)reach, s, (long long)padded);
        return false;
    }
    *out = (padded - reach) / stride + 1;
    return true;
}

/* out = (in - 1) stride - 2 padding + reach + output_padding */
static bool transposed_size(const struct wick__call *call, int s, int64_t reach, int64_t extra, int64_t in,
                            int64_t *out) {
    int64_t padded;
    int64_t limit = wick__max(call->p.window.stride[s], call->p.window.dilation[s]);
    if (extra < 0 || extra >= limit) {
        wick__call_fail(call, WICK_INVALID, "output_padding %lld of spatial dim %d is not in 0..%lld", (long long)extra,
                        s, (long long)(limit - 1));
        return false;
    }
    if (in < 1) {
        wick__call_fail(call, WICK_SHAPE, "spatial dim %d is empty", s);
        return false;
    }
    if (!wick__mul(2, call->p.window.padding[s], &padded) || !wick__mul(in - 1, call->p.window.stride[s], out) ||
        !wick__add(*out, reach, out) || !wick__add(*out, extra, out))
        return overflow(call, s);
    *out -= padded;
    if (*out >= 1) return true;
    wick__call_fail(call, WICK_SHAPE, "spatial dim %d of the result would have %lld elements", s, (long long)*out);
    return false;
}

bool wick__conv_windows(struct wick__call *call, bool transposed, const struct wick_conv_options *options,
                        const int64_t *in, const int64_t *kernel, int64_t *out) {
    int64_t reach;
    for (int s = 0; s < call->p.window.spatial; s++) {
        call->p.window.stride[s] = options->stride[s] == 0 ? 1 : options->stride[s];
        call->p.window.padding[s] = options->padding[s];
        call->p.window.dilation[s] = options->dilation[s] == 0 ? 1 : options->dilation[s];
        call->p.window.kernel[s] = kernel[s];
        if (!check_window(call, s, &reach)) return false;
        if (transposed ? !transposed_size(call, s, reach, options->output_padding[s], in[s], &out[s])
                       : !conv_size(call, s, reach, in[s], &out[s]))
            return false;
    }
    return true;
}

static struct wick_tensor *conv(const struct wick__call *operands, int spatial, bool transposed,
                                const struct wick_conv_options *options) {
    struct wick__call call = *operands;
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) || !check_operands(&call, spatial))
        return NULL;
    call.p.window.spatial = spatial;
    call.p.window.groups = options->groups == 0 ? 1 : options->groups;
    call.p.window.relu = options->relu;
    shape[0] = call.in[0]->layout.shape[0];
    if (!check_channels(&call, transposed, &shape[1]) ||
        !wick__conv_windows(&call, transposed, options, call.in[0]->layout.shape + 2, call.in[1]->layout.shape + 2,
                            shape + 2))
        return NULL;
    if (!wick__call_out(&call, call.in[0]->dtype, spatial + 2, shape)) return NULL;
    return wick__call_run(&call);
}

#define CONV(op_name, spatial, transposed)                                                                             \
    struct wick_tensor *wick_##op_name(const struct wick_tensor *x, const struct wick_tensor *weight,                  \
                                       const struct wick_tensor *bias, const struct wick_conv_options *options) {      \
        struct wick__call call = {.op = WICK_OP_##op_name, .n_in = 3, .in = {x, weight, bias}};                        \
        return conv(&call, spatial, transposed, options);                                                              \
    }
CONV(conv1d, 1, false)
CONV(conv2d, 2, false)
CONV(conv3d, 3, false)
CONV(conv_transpose1d, 1, true)
CONV(conv_transpose2d, 2, true)
CONV(conv_transpose3d, 3, true)
