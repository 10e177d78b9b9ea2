/* Pooling and its gradients: windows, sizes and their rules. */
#include "ops/dispatch.h"

static const struct wick_pool_options defaults;

static bool is_average(enum wick_op op) {
    return (op >= WICK_OP_avg_pool1d && op <= WICK_OP_avg_pool3d) ||
           (op >= WICK_OP_avg_pool1d_backward && op <= WICK_OP_avg_pool3d_backward);
}

/* x [N,C,spatial...], or a gradient like it, and as many sizes of kernels or of the result. */
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
static bool out_size(const struct wick__call *call, int s, bool ceil_mode, int64_t in, int64_t *out) {
    int64_t padding = call->p.window.padding[s], padded;
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

/* Takes the options, and finds how many windows there are over `in` elements of each spatial dim. */
static bool set_windows(struct wick__call *call, const int64_t *kernel, const struct wick_pool_options *options,
                        const int64_t *in, int64_t *out) {
    bool average = is_average(call->op);
    call->p.window.count_include_pad = !options->exclude_padding;
    call->p.window.divisor = options->divisor;
    if (options->divisor < 0) {
        wick__call_fail(call, WICK_INVALID, "divisor %lld is negative", (long long)options->divisor);
        return false;
    }
    for (int s = 0; s < call->p.window.spatial; s++) {
        call->p.window.kernel[s] = kernel[s];
        call->p.window.stride[s] = options->stride[s] == 0 ? kernel[s] : options->stride[s];
        call->p.window.padding[s] = options->padding[s];
        call->p.window.dilation[s] = average || options->dilation[s] == 0 ? 1 : options->dilation[s];
        if (!check_options(call, s) || !out_size(call, s, options->ceil_mode, in[s], &out[s])) return false;
    }
    return true;
}

static struct wick_tensor *pool(enum wick_op op, const struct wick_tensor *x, int spatial, int n, const int64_t *kernel,
                                const struct wick_pool_options *options) {
    struct wick__call call = {.op = op, .n_in = 1, .in = {x}};
    bool average = is_average(op);
    struct wick_tensor **indices = options ? options->indices : NULL;
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!wick__call_reserved(&call, options->reserved) || !wick__call_check(&call) ||
        !check_input(&call, spatial, n, kernel))
        return NULL;
    call.p.window.spatial = spatial;
    if (average && indices) {
        wick__call_fail(&call, WICK_INVALID, "averages have no indices");
        return NULL;
    }
    shape[0] = x->layout.shape[0];
    shape[1] = x->layout.shape[1];
    if (!set_windows(&call, kernel, options, x->layout.shape + 2, shape + 2) ||
        !wick__call_out(&call, x->dtype, spatial + 2, shape) ||
        (!average && !add_indices(&call, indices != NULL, spatial + 2, shape)))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y && indices) *indices = call.out[1];
    return y;
}

static struct wick_tensor *adaptive(enum wick_op op, const struct wick_tensor *x, int spatial, int n,
                                    const int64_t *size, struct wick_tensor **indices) {
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
        (most && !add_indices(&call, indices != NULL, spatial + 2, shape)))
        return NULL;
    struct wick_tensor *y = wick__call_run(&call);
    if (y && indices) *indices = call.out[1];
    return y;
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
        return adaptive(WICK_OP_##name, x, spatial, n, size, NULL);                                                    \
    }
ADAPTIVE(adaptive_max_pool1d, 1)
ADAPTIVE(adaptive_max_pool2d, 2)
ADAPTIVE(adaptive_max_pool3d, 3)
ADAPTIVE(adaptive_avg_pool1d, 1)
ADAPTIVE(adaptive_avg_pool2d, 2)
ADAPTIVE(adaptive_avg_pool3d, 3)

struct wick_tensor *wick_adaptive_max_pool_with_indices(const struct wick_tensor *x, int n, const int64_t *size,
                                                        struct wick_tensor **indices) {
    static const enum wick_op ops[] = {WICK_OP_adaptive_max_pool1d, WICK_OP_adaptive_max_pool2d,
                                       WICK_OP_adaptive_max_pool3d};
    struct wick__call call = {.op = ops[n == 2 ? 1 : n == 3 ? 2 : 0], .n_in = 1, .in = {x}};
    if (n >= 1 && n <= 3 && indices) return adaptive(call.op, x, n, n, size, indices);
    if (wick__call_check(&call))
        wick__call_fail(&call, WICK_INVALID, indices ? "%d is not 1, 2 or 3 spatial dims" : "%d dims, indices is NULL",
                        n);
    return NULL;
}

/* Checks sizes of x, which the caller gives, and whether positions in its planes fit in u32. */
static bool check_sizes(const struct wick__call *call, const int64_t *size) {
    int64_t plane = 1;
    for (int s = 0; s < call->p.window.spatial; s++) {
        if (size[s] < 0) {
            wick__call_fail(call, WICK_INVALID, "size %lld of spatial dim %d is negative", (long long)size[s], s);
            return false;
        }
        if (wick__mul(plane, size[s], &plane) && (is_average(call->op) || plane < UINT32_MAX)) continue;
        wick__call_fail(call, WICK_OVERFLOW, "positions in planes of x do not fit in %d bits",
                        is_average(call->op) ? 64 : 32);
        return false;
    }
    return true;
}

/* Checks that each operand has the shape of the pooled x. */
static bool check_pooled(const struct wick__call *call, const int64_t *pooled) {
    for (int i = 0; i < call->n_in; i++) {
        const int64_t *shape = call->in[i]->layout.shape;
        bool fits = call->in[i]->layout.rank == call->p.window.spatial + 2;
        for (int d = 0; d < 2 && fits; d++) fits = shape[d] == call->in[0]->layout.shape[d];
        for (int s = 0; s < call->p.window.spatial && fits; s++) fits = shape[2 + s] == pooled[s];
        if (fits) continue;
        char want[WICK__SHAPE_TEXT];
        wick__call_fail(call, WICK_SHAPE, "the spatial dims of %s must be those of the windows, %s",
                        wick__operand_name(call->op, i), wick__shape_text(want, call->p.window.spatial, pooled));
        return false;
    }
    return true;
}

static struct wick_tensor *pool_backward(struct wick__call *call, int n, const int64_t *size, const int64_t *kernel,
                                         const struct wick_pool_options *options) {
    const struct wick_tensor *gradient = call->in[0];
    int spatial = call->p.window.spatial;
    int64_t shape[WICK_MAX_RANK], pooled[WICK__MAX_SPATIAL];
    if (!options) options = &defaults;
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) ||
        !check_input(call, spatial, n, size) || !check_input(call, spatial, n, kernel) || !check_sizes(call, size))
        return NULL;
    if (options->indices) {
        wick__call_fail(call, WICK_INVALID, "a gradient makes no indices");
        return NULL;
    }
    if (!set_windows(call, kernel, options, size, pooled) || !check_pooled(call, pooled)) return NULL;
    shape[0] = gradient->layout.shape[0];
    shape[1] = gradient->layout.shape[1];
    for (int s = 0; s < spatial; s++) shape[2 + s] = size[s];
    if (!wick__call_out(call, gradient->dtype, spatial + 2, shape)) return NULL;
    return wick__call_run(call);
}

#define MAX_BACKWARD(name, dims)                                                                                       \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, const struct wick_tensor *indices, int n,      \
                                    const int64_t *size, const int64_t *kernel,                                        \
                                    const struct wick_pool_options *options) {                                         \
        struct wick__call call = {                                                                                     \
            .op = WICK_OP_##name, .n_in = 2, .in = {gradient, indices}, .p.window.spatial = dims};                     \
        return pool_backward(&call, n, size, kernel, options);                                                         \
    }
MAX_BACKWARD(max_pool1d_backward, 1)
MAX_BACKWARD(max_pool2d_backward, 2)
MAX_BACKWARD(max_pool3d_backward, 3)

#define AVERAGE_BACKWARD(name, dims)                                                                                   \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, int n, const int64_t *size,                    \
                                    const int64_t *kernel, const struct wick_pool_options *options) {                  \
        struct wick__call call = {.op = WICK_OP_##name, .n_in = 1, .in = {gradient}, .p.window.spatial = dims};        \
        return pool_backward(&call, n, size, kernel, options);                                                         \
    }
AVERAGE_BACKWARD(avg_pool1d_backward, 1)
AVERAGE_BACKWARD(avg_pool2d_backward, 2)
AVERAGE_BACKWARD(avg_pool3d_backward, 3)
