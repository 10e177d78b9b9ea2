/* Pooling: windows, sizes and their rules. */
#include "ops/dispatch.h"

static const struct wick_pool_options defaults;

/* x [N,C,spatial...], and as many sizes of kernels or of the result. */
static bool check_input(const struct wick__call *call, int spatial, int n, const int64_t *sizes) {
    if (call->in[0]->layout.rank != spatial + 2) {
        wick__call_fail(call, WICK_SHAPE, "rank %d is not %d", call->in[0]->layout.rank, spatial + 2);
        return false;
    }
    if (n == spatial && sizes) return true;
    wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, sizes ? "" : " at NULL", spatial);
    return false;
}

static bool check_options(const struct wick__call *call, int s) {
    int64_t kernel = call->p.window.kernel[s], stride = call->p.window.stride[s];
    int64_t padding = call->p.window.padding[s], dilation = call->p.window.dilation[s], reach;
    if (kernel < 1)
        wick__call_fail(call, WICK_INVALID, "kernel %lld of spatial dim %d is not >= 1", (long long)kernel, s);
    else if (stride < 1)
        wick__call_fail(call, WICK_INVALID, "stride %lld of spatial dim %d is not >= 1", (long long)stride, s);
    else if (dilation < 1)
        wick__call_fail(call, WICK_INVALID, "dilation %lld of spatial dim %d is not >= 1", (long long)dilation, s);
    else if (!wick__mul(dilation, kernel - 1, &reach) || !wick__add(reach, 1, &reach))
        wick__call_fail(call, WICK_OVERFLOW, "dilation %lld x (kernel %lld - 1) does not fit in 64 bits",
                        (long long)dilation, (long long)kernel);
    else if (padding < 0 || padding > reach / 2)
        wick__call_fail(call, WICK_INVALID, "padding %lld of spatial dim %d is not in 0..%lld, half the kernel's reach",
                        (long long)padding, s, (long long)(reach / 2));
    else
        return true;
    return false;
}

/* out = floor or ceil((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 */
static bool out_size(const struct wick__call *call, int s, bool ceil_mode, int64_t *out) {
    int64_t in = call->in[0]->layout.shape[2 + s], padding = call->p.window.padding[s], padded;
    int64_t reach = call->p.window.dilation[s] * (call->p.window.kernel[s] - 1) + 1, stride = call->p.window.stride[s];
    if (!wick__mul(2, padding, &padded) || !wick__add(in, padded, &padded)) {
        wick__call_fail(call, WICK_OVERFLOW, "spatial dim %d with padding %lld does not fit in 64 bits", s,
                        (long long)padding);
        return false;
    }
    int64_t slack = ceil_mode ? stride - 1 : 0, space = padded - reach;
    if (space < -slack) {
        wick__call_fail(call, WICK_SHAPE, "the kernel reaches over %lld elements, spatial dim %d has %lld with padding",
                        (long long)reach, s, (long long)padded);
        return false;
    }
    int64_t steps = ceil_mode && space > 0 ? (space - 1) / stride + 1 : space > 0 ? space / stride : 0;
    /* The last window must begin inside the input or the padding in front of it. */
    if (ceil_mode && steps > 0 && steps > (in + padding - 1) / stride) steps--;
    *out = steps + 1;
    return true;
}

/* Adds the positions of the largest elements, for the caller or for a gradient. */
static bool add_indices(struct wick__call *call, bool wanted, int rank, const int64_t *shape) {
    int64_t plane = 1; /* can't overflow: N or C is 0, or a tensor has as many elements */
    for (int d = 2; d < rank && wick__count(call->in[0]) > 0; d++) plane *= call->in[0]->layout.shape[d];
    if (plane < UINT32_MAX) return wick__call_wanted(call, wanted, WICK_U32, rank, shape);
    if (!wanted) return true;
    wick__call_fail(call, WICK_OVERFLOW, "positions in %lld elements do not fit in u32", (long long)plane);
    wick__call_drop(call);
    return false;
}

static struct wick_tensor *pool(enum wick_op op, const struct wick_tensor *x, int spatial, int n, const int64_t *kernel,
                                const struct wick_pool_options *options) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    bool average = op >= WICK_OP_avg_pool1d && op <= WICK_OP_avg_pool3d;
    struct wick_tensor **indices = options ? options->indices : NULL;
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) ||
        !check_input(&call, spatial, n, kernel))
        return NULL;
    call.p.window.spatial = spatial;
    call.p.window.count_include_pad = !options->exclude_padding;
    call.p.window.divisor = options->divisor;
    if (options->divisor < 0) {
        wick__call_fail(&call, WICK_INVALID, "divisor %lld is negative", (long long)options->divisor);
        return NULL;
    }
    if (average && indices) {
        wick__call_fail(&call, WICK_INVALID, "averages have no indices");
        return NULL;
    }
    shape[0] = x->layout.shape[0];
    shape[1] = x->layout.shape[1];
    for (int s = 0; s < spatial; s++) {
        call.p.window.kernel[s] = kernel[s];
        call.p.window.stride[s] = options->stride[s] == 0 ? kernel[s] : options->stride[s];
        call.p.window.padding[s] = options->padding[s];
        call.p.window.dilation[s] = average || options->dilation[s] == 0 ? 1 : options->dilation[s];
        if (!check_options(&call, s) || !out_size(&call, s, options->ceil_mode, &shape[2 + s])) return NULL;
    }
    if (!wick__call_out(&call, x->dtype, spatial + 2, shape) ||
        (!average && !add_indices(&call, indices != NULL, spatial + 2, shape)))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y && indices) *indices = call.out[1];
    return y;
}

static struct wick_tensor *adaptive(enum wick_op op, const struct wick_tensor *x, int spatial, int n,
                                    const int64_t *size) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    int64_t shape[WICK_MAX_RANK];
    if (!wick__call_check(&call) || !check_input(&call, spatial, n, size)) return NULL;
    call.p.window.spatial = spatial;
    call.p.window.count_include_pad = true;
    shape[0] = x->layout.shape[0];
    shape[1] = x->layout.shape[1];
    for (int s = 0; s < spatial; s++) {
        if (size[s] < 0) {
            wick__call_fail(&call, WICK_INVALID, "size %lld of spatial dim %d is negative", (long long)size[s], s);
            return NULL;
        }
        if (x->layout.shape[2 + s] == 0) {
            wick__call_fail(&call, WICK_SHAPE, "spatial dim %d is empty", s);
            return NULL;
        }
        shape[2 + s] = size[s];
        call.p.window.stride[s] = 1;
    }
    bool most = op >= WICK_OP_adaptive_max_pool1d && op <= WICK_OP_adaptive_max_pool3d;
    if (!wick__call_out(&call, x->dtype, spatial + 2, shape) ||
        (most && !add_indices(&call, false, spatial + 2, shape)))
        return NULL;
    return wick__call_run(&call);
}

#define POOL(name, spatial)                                                                                            \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, int n, const int64_t *kernel,                         \
                                    const struct wick_pool_options *options) {                                         \
        return pool(WICK_OP_##name, x, spatial, n, kernel, options);                                                   \
    }
POOL(max_pool1d, 1)
POOL(max_pool2d, 2)
POOL(max_pool3d, 3)
POOL(avg_pool1d, 1)
POOL(avg_pool2d, 2)
POOL(avg_pool3d, 3)

#define ADAPTIVE(name, spatial)                                                                                        \
    struct wick_tensor *wick_##name(const struct wick_tensor *x, int n, const int64_t *size) {                         \
        return adaptive(WICK_OP_##name, x, spatial, n, size);                                                          \
    }
ADAPTIVE(adaptive_max_pool1d, 1)
ADAPTIVE(adaptive_max_pool2d, 2)
ADAPTIVE(adaptive_max_pool3d, 3)
ADAPTIVE(adaptive_avg_pool1d, 1)
ADAPTIVE(adaptive_avg_pool2d, 2)
ADAPTIVE(adaptive_avg_pool3d, 3)
