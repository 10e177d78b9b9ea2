/* Gradients of resizing and of adaptive pooling, which are sums over the elements that an element is in. */
#include "ops/resize.h"

static const struct wick_upsample_options defaults;

/* Checks that the gradient is [N,C,out...] with n spatial dims, from `least` to `most`, and that there are sizes. */
static bool check_gradient(const struct wick__call *call, int n, int least, int most, const int64_t *size) {
    int rank = call->in[0]->layout.rank;
    if (n < least || n > most || !size)
        wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d spatial dims", n, size ? "" : " at NULL", rank - 2);
    else if (rank != n + 2)
        wick__call_fail(call, WICK_SHAPE, "rank %d is not %d", rank, n + 2);
    else
        return true;
    return false;
}

/* Gives the call a result [N,C,size...] and runs it. */
static struct wick_tensor *finish(struct wick__call *call, int n, const int64_t *size) {
    const struct wick_tensor *gradient = call->in[0];
    int64_t shape[WICK_MAX_RANK] = {gradient->layout.shape[0], gradient->layout.shape[1]};
    call->p.resize.spatial = n;
    for (int s = 0; s < n; s++) shape[2 + s] = size[s];
    if (!wick__call_out(call, gradient->dtype, n + 2, shape)) return NULL;
    return wick__call_run(call);
}

/* Of upsampling: the call has op, operand and kind. */
static struct wick_tensor *upsample_backward(struct wick__call *call, int n, const int64_t *size,
                                             const struct wick_upsample_options *options) {
    bool cubic = call->p.resize.kind == WICK__CUBIC, linear = call->p.resize.kind == WICK__LINEAR;
    if (!options) options = &defaults;
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) ||
        !check_gradient(call, n, cubic ? 2 : 1, cubic ? 2 : 3, size))
        return NULL;
    call->p.resize.align_corners = options->align_corners && (cubic || linear);
    for (int s = 0; s < n; s++)
        if (!wick__resize_scale(call, s, options->scale[s]) ||
            !wick__resize_dim(call, s, size[s], call->in[0]->layout.shape[2 + s], options->scale[s]))
            return NULL;
    return finish(call, n, size);
}

#define BACKWARD(name, how, centres)                                                                                   \
    struct wick_tensor *wick_##name(const struct wick_tensor *gradient, int n, const int64_t *size,                    \
                                    const struct wick_upsample_options *options) {                                     \
        struct wick__call call = {.op = WICK_OP_##name, .n_in = 1, .in = {gradient}};                                  \
        call.p.resize.kind = how;                                                                                      \
        call.p.resize.centred = centres;                                                                               \
        return upsample_backward(&call, n, size, options);                                                             \
    }
BACKWARD(upsample_nearest_backward, WICK__NEAREST, false)
BACKWARD(upsample_nearest_exact_backward, WICK__NEAREST, true)
BACKWARD(upsample_linear_backward, WICK__LINEAR, false)
BACKWARD(upsample_bicubic2d_backward, WICK__CUBIC, false)

/* Checks the sizes of x, and that positions in its planes fit in u32 where there are any. */
static bool check_sizes(const struct wick__call *call, int n, const int64_t *size) {
    int64_t plane = 1;
    for (int s = 0; s < n; s++) {
        if (size[s] < 1) {
            wick__call_fail(call, WICK_SHAPE, "size %lld of spatial dim %d is not >= 1", (long long)size[s], s);
            return false;
        }
        if (wick__mul(plane, size[s], &plane) && (call->n_in == 1 || plane < UINT32_MAX)) continue;
        wick__call_fail(call, WICK_OVERFLOW, "positions in planes of x do not fit in %d bits",
                        call->n_in == 1 ? 64 : 32);
        return false;
    }
    return true;
}

static struct wick_tensor *adaptive_backward(struct wick__call *call, int n, const int64_t *size) {
    call->p.resize.kind = WICK__AREA;
    if (!wick__call_check(call) || !check_gradient(call, n, 1, 3, size) || !check_sizes(call, n, size)) return NULL;
    return finish(call, n, size);
}

struct wick_tensor *wick_adaptive_avg_pool_backward(const struct wick_tensor *gradient, int n, const int64_t *size) {
    struct wick__call call = {.op = WICK_OP_adaptive_avg_pool_backward, .n_in = 1, .in = {gradient}};
    return adaptive_backward(&call, n, size);
}

struct wick_tensor *wick_adaptive_max_pool_backward(const struct wick_tensor *gradient,
                                                    const struct wick_tensor *indices, int n, const int64_t *size) {
    struct wick__call call = {.op = WICK_OP_adaptive_max_pool_backward, .n_in = 2, .in = {gradient, indices}};
    if (gradient && indices && !wick__shape_equal(&gradient->layout, &indices->layout)) {
        if (wick__call_check(&call)) wick__call_fail(&call, WICK_SHAPE, "gradient and indices must have one shape");
        return NULL;
    }
    return adaptive_backward(&call, n, size);
}
