/* Gradients of convolutions by x, weight and bias. That by x is a convolution too: of a convolution the transposed one
 * with the same weight, of a transposed one the plain. */
#include "ops/conv.h"

#include <string.h>

static const struct wick_conv_options defaults;

static bool is_transposed(enum wick_op op) {
    return (op >= WICK_OP_conv_transpose1d_backward_input && op <= WICK_OP_conv_transpose3d_backward_input) ||
           op >= WICK_OP_conv_transpose1d_backward_weight;
}

/* Checks options, operands of call->p.window.spatial + 2 dims, and n sizes; takes groups. */
static bool begin(struct wick__call *call, int n, const int64_t *sizes, const struct wick_conv_options *options) {
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call)) return false;
    int64_t groups = options->groups == 0 ? 1 : options->groups;
    int spatial = call->p.window.spatial;
    for (int i = 0; i < 2; i++)
        if (call->in[i]->layout.rank != spatial + 2) {
            wick__call_fail(call, WICK_SHAPE, "%s has rank %d, not %d", wick__operand_name(call->op, i),
                            call->in[i]->layout.rank, spatial + 2);
            return false;
        }
    if (n != spatial || !sizes)
        wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, sizes ? "" : " at NULL", spatial);
    else if (options->relu)
        wick__call_fail(call, WICK_INVALID, "relu has a gradient of its own, wick_relu_backward");
    else if (groups < 1)
        wick__call_fail(call, WICK_INVALID, "groups %lld is not >= 1", (long long)groups);
    else {
        call->p.window.groups = groups;
        return true;
    }
    return false;
}

static bool divides(const struct wick__call *call, int64_t channels, const char *which) {
    int64_t groups = call->p.window.groups;
    if (channels % groups == 0) return true;
    wick__call_fail(call, WICK_SHAPE, "groups %lld does not divide %lld %s channels", (long long)groups,
                    (long long)channels, which);
    return false;
}

/* Checks that windows over x of the given size make what gradient has. */
static bool check_gradient(struct wick__call *call, const struct wick_conv_options *options, const int64_t *in,
                           const int64_t *kernel) {
    int64_t out[WICK__MAX_SPATIAL];
    int spatial = call->p.window.spatial;
    char want[WICK__SHAPE_TEXT];
    if (!wick__conv_windows(call, is_transposed(call->op), options, in, kernel, out)) return false;
    if (memcmp(out, call->in[0]->layout.shape + 2, sizeof *out * (size_t)spatial) == 0) return true;
    wick__call_fail(call, WICK_SHAPE, "the spatial dims of gradient must be those of the result, %s",
                    wick__shape_text(want, spatial, out));
    return false;
}

/* ---- by x ---- */

static enum wick_status run_input(const struct wick__call *call) {
    static const enum wick_op plain[3] = {WICK_OP_conv1d, WICK_OP_conv2d, WICK_OP_conv3d};
    static const enum wick_op transposes[3] = {WICK_OP_conv_transpose1d, WICK_OP_conv_transpose2d,
                                               WICK_OP_conv_transpose3d};
    struct wick__call conv = *call;
    int spatial = call->p.window.spatial;
    conv.in_parts = NULL;
    conv.op = (is_transposed(call->op) ? plain : transposes)[spatial - 1];
    for (int s = 0; s < spatial; s++) /* one window's stride may be any number; there is no step */
        if (!is_transposed(call->op) && call->in[0]->layout.shape[2 + s] == 1) conv.p.window.stride[s] = 1;
    return wick__call_kernel(&conv);
}

static struct wick_tensor *by_input(struct wick__call *call, int n, const int64_t *size,
                                    const struct wick_conv_options *options) {
    const struct wick_tensor *gradient = call->in[0], *weight = call->in[1];
    bool transposed = is_transposed(call->op);
    int spatial = call->p.window.spatial;
    int64_t shape[WICK_MAX_RANK], other;
    if (!options) options = &defaults;
    if (!begin(call, n, size, options)) return NULL;
    const int64_t *kernels = weight->layout.shape, *results = gradient->layout.shape;
    if (!divides(call, kernels[0], transposed ? "input" : "output")) return NULL;
    if (!wick__mul(kernels[1], call->p.window.groups, &other)) {
        wick__call_fail(call, WICK_OVERFLOW, "the channels do not fit in 64 bits");
        return NULL;
    }
    if (results[1] != (transposed ? other : kernels[0])) {
        wick__call_fail(call, WICK_SHAPE, "weight is for %lld output channels, gradient has %lld",
                        (long long)(transposed ? other : kernels[0]), (long long)results[1]);
        return NULL;
    }
    shape[0] = results[0];
    shape[1] = transposed ? kernels[0] : other;
    for (int s = 0; s < spatial; s++) {
        shape[2 + s] = size[s];
        if (size[s] >= 0) continue;
        wick__call_fail(call, WICK_INVALID, "size %lld of spatial dim %d is negative", (long long)size[s], s);
        return NULL;
    }
    if (!check_gradient(call, options, size, kernels + 2) || !wick__call_out(call, gradient->dtype, spatial + 2, shape))
        return NULL;
    return wick__call_run(call);
}

/* ---- by the weight ---- */

static struct wick_tensor *by_weight(struct wick__call *call, int n, const int64_t *kernel,
                                     const struct wick_conv_options *options) {
    const struct wick_tensor *gradient = call->in[0], *x = call->in[1];
    bool transposed = is_transposed(call->op);
    int spatial = call->p.window.spatial;
    int64_t shape[WICK_MAX_RANK];
    if (!options) options = &defaults;
    if (!begin(call, n, kernel, options)) return NULL;
    const int64_t *results = gradient->layout.shape, *in = x->layout.shape;
    if (results[0] != in[0]) {
        wick__call_fail(call, WICK_SHAPE, "gradient is of %lld images, x of %lld", (long long)results[0],
                        (long long)in[0]);
        return NULL;
    }
    if (!divides(call, in[1], "input") || !divides(call, results[1], "output")) return NULL;
    shape[0] = transposed ? in[1] : results[1];
    shape[1] = (transposed ? results[1] : in[1]) / call->p.window.groups;
    for (int s = 0; s < spatial; s++) shape[2 + s] = kernel[s];
    if (!check_gradient(call, options, in + 2, kernel) || !wick__call_out(call, x->dtype, spatial + 2, shape))
        return NULL;
    return wick__call_run(call);
}

#define BACKWARD(name, dims)                                                                                           \
    struct wick_tensor *wick_##name##_backward_input(const struct wick_tensor *gradient,                               \
                                                     const struct wick_tensor *weight, int n, const int64_t *size,     \
                                                     const struct wick_conv_options *options) {                        \
        struct wick__call call = {.op = WICK_OP_##name##_backward_input,                                               \
                                  .in_parts = run_input,                                                               \
                                  .n_in = 2,                                                                           \
                                  .in = {gradient, weight},                                                            \
                                  .p.window.spatial = dims};                                                           \
        return by_input(&call, n, size, options);                                                                      \
    }                                                                                                                  \
    struct wick_tensor *wick_##name##_backward_weight(const struct wick_tensor *gradient, const struct wick_tensor *x, \
                                                      int n, const int64_t *kernel,                                    \
                                                      const struct wick_conv_options *options) {                       \
        struct wick__call call = {                                                                                     \
            .op = WICK_OP_##name##_backward_weight, .n_in = 2, .in = {gradient, x}, .p.window.spatial = dims};         \
        return by_weight(&call, n, kernel, options);                                                                   \
    }
BACKWARD(conv1d, 1)
BACKWARD(conv2d, 2)
BACKWARD(conv3d, 3)
BACKWARD(conv_transpose1d, 1)
BACKWARD(conv_transpose2d, 2)
BACKWARD(conv_transpose3d, 3)

/* ---- by the bias ---- */

static enum wick_status run_bias(const struct wick__call *call) {
    struct wick__call sum = *call;
    sum.op = WICK_OP_sum;
    sum.in_parts = NULL;
    sum.p.reduce.dims = ((1u << call->in[0]->layout.rank) - 1) & ~2u;
    return wick__call_kernel(&sum);
}

struct wick_tensor *wick_conv_backward_bias(const struct wick_tensor *gradient) {
    struct wick__call call = {.op = WICK_OP_conv_backward_bias, .in_parts = run_bias, .n_in = 1, .in = {gradient}};
    if (!wick__call_check(&call)) return NULL;
    if (gradient->layout.rank < 2) {
        wick__call_fail(&call, WICK_SHAPE, "gradient must be [N,C,...]");
        return NULL;
    }
    if (!wick__call_out(&call, gradient->dtype, 1, gradient->layout.shape + 1)) return NULL;
    return wick__call_run(&call);
}
