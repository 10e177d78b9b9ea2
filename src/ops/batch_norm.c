/* Batch norm in training and its gradients: group norm of single channels, each of all images
 * together. */
#include "ops/batch.h"

#include <math.h>
#include <string.h>

/* Checks that x is [N,C,...]. */
static bool has_channels(const struct wick__call *call, const struct wick_tensor *x) {
    if (x->layout.rank >= 2) return true;
    wick__call_fail(call, WICK_SHAPE, "x must be [N,C,...]");
    return false;
}

/* Checks that `operand`, which may be NULL, is [C]. */
static bool by_channel(const struct wick__call *call, const struct wick_tensor *operand, const char *name, int64_t c) {
    if (!operand || (operand->layout.rank == 1 && operand->layout.shape[0] == c)) return true;
    wick__call_fail(call, WICK_SHAPE, "%s must be [%lld]", name, (long long)c);
    return false;
}

static enum wick_dtype statistic(const struct wick_tensor *x) { return x->dtype == WICK_F64 ? WICK_F64 : WICK_F32; }

/* Elements of a channel; false after recording that they do not fit in 64 bits. */
static bool count_channel(const struct wick__call *call, const struct wick_tensor *x, int64_t *n) {
    *n = 1;
    for (int d = 0; d < x->layout.rank; d++)
        if (d != 1 && !wick__mul(*n, x->layout.shape[d], n)) {
            wick__call_fail(call, WICK_OVERFLOW, "the elements of a channel do not fit in 64 bits");
            return false;
        }
    return true;
}

/* x [N,C,...] with its first two dims exchanged. */
static struct wick_tensor *exchange(const struct wick_tensor *x) { return wick_transpose(x, 0, 1); }

/* x [N,C,...] as [1,C,n]: the elements of a channel follow each other. */
static struct wick_tensor *gather(const struct wick_tensor *x, int64_t n) {
    return wick_reshape(exchange(x), 3, (const int64_t[]){1, x->layout.shape[1], n});
}

/* y [1,C,n] in the shape and order of x [N,C,...]. */
static struct wick_tensor *scatter(const struct wick_tensor *y, const struct wick_tensor *x) {
    int64_t shape[WICK_MAX_RANK];
    memcpy(shape, x->layout.shape, sizeof shape);
    shape[0] = x->layout.shape[1];
    shape[1] = x->layout.shape[0];
    return wick_contiguous(exchange(wick_reshape(y, x->layout.rank, shape)));
}

/* Whether kernels take the channels of x where they are. Planes of a few elements are brought together first. */
static bool in_place(const struct wick_tensor *x, int64_t n) {
    enum { WORTH_A_PLACE = 32 };
    return n > 0 && n / x->layout.shape[0] >= WORTH_A_PLACE;
}

/* ---- training ---- */

static const struct wick_batch_norm_train_options defaults;

/* Checks the running statistic, which may be NULL. */
static bool check_running(const struct wick__call *call, const struct wick_tensor *running, const char *name) {
    const struct wick_tensor *x = call->in[0];
    if (!by_channel(call, running, name, x->layout.shape[1])) return false;
    if (!running) return true;
    if (wick__device(running) != wick__device(x))
        wick__call_fail(call, WICK_DEVICE, "%s is on another device", name);
    else if (running->dtype != x->dtype && running->dtype != statistic(x))
        wick__call_fail(call, WICK_DTYPE, "%s must be %s or %s", name, wick_dtype_name(x->dtype),
                        wick_dtype_name(statistic(x)));
    else if (wick__layout_overlaps(&running->layout))
        wick__call_fail(call, WICK_INVALID, "elements of %s share addresses", name);
    else
        return true;
    return false;
}

static bool check_train(const struct wick__call *call, const struct wick_batch_norm_train_options *options,
                        int64_t *n) {
    const struct wick_tensor *x = call->in[0];
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) || !has_channels(call, x) ||
        !by_channel(call, options->weight, "weight", x->layout.shape[1]) ||
        !by_channel(call, options->bias, "bias", x->layout.shape[1]) ||
        !check_running(call, options->running_mean, "running_mean") ||
        !check_running(call, options->running_variance, "running_variance") || !count_channel(call, x, n))
        return false;
    if (!(options->epsilon >= 0))
        wick__call_fail(call, WICK_INVALID, "epsilon %g is not >= 0", options->epsilon);
    else if (!(options->momentum >= 0 && options->momentum <= 1))
        wick__call_fail(call, WICK_INVALID, "momentum %g is not in 0..1", options->momentum);
    else if (options->running_variance && *n < 2)
        wick__call_fail(call, WICK_SHAPE, "an unbiased variance needs 2 elements of a channel, x has %lld",
                        (long long)*n);
    else
        return true;
    return false;
}

/* The unbiased variance of n elements in f64, of the inverse deviation that epsilon entered. */
static struct wick_tensor *unbiased(const struct wick_tensor *inverse, double epsilon, int64_t n) {
    struct wick_tensor *wide = wick_cast(inverse, WICK_F64);
    double factor = (double)n / (double)(n - 1);
    struct wick_tensor *variance = wick_add_scalar(wick_recip(wick_mul(wide, wide)), WICK_REAL(-epsilon));
    return wick_mul_scalar(wick_maximum_scalar(variance, WICK_INT(0)), WICK_REAL(factor));
}

/* What becomes of a running statistic; NULL where there is none, and after a failure. */
static struct wick_tensor *moved(const struct wick_tensor *running, const struct wick_tensor *batch, double momentum) {
    if (!running) return NULL;
    struct wick_tensor *kept = wick_mul_scalar(wick_cast(running, WICK_F64), WICK_REAL(1 - momentum));
    struct wick_tensor *added = wick_mul_scalar(wick_cast(batch, WICK_F64), WICK_REAL(momentum));
    return wick_cast(wick_add(kept, added), running->dtype);
}

/* Moves the running statistics towards those of n elements. Both are computed before one is written. */
static bool move(const struct wick_batch_norm_train_options *options, const struct wick_tensor *mean,
                 const struct wick_tensor *inverse, int64_t n) {
    struct wick_tensor *variance = NULL;
    if (options->momentum == 0 || (!options->running_mean && !options->running_variance)) return true;
    if (options->running_variance)
        variance = moved(options->running_variance, unbiased(inverse, options->epsilon, n), options->momentum);
    struct wick_tensor *center = moved(options->running_mean, mean, options->momentum);
    if ((options->running_variance && !variance) || (options->running_mean && !center)) return false;
    return (!center || wick_copy_inplace(options->running_mean, center) == WICK_OK) &&
           (!variance || wick_copy_inplace(options->running_variance, variance) == WICK_OK);
}

struct wick_tensor *wick_batch_norm_train(const struct wick_tensor *x,
                                          const struct wick_batch_norm_train_options *options) {
    if (!options) options = &defaults;
    struct wick__call call = {.op = WICK_OP_batch_norm_train, .n_in = 3, .in = {x, options->weight, options->bias}};
    int64_t n;
    if (!check_train(&call, options, &n)) return NULL;
    int64_t channels = x->layout.shape[1];
    struct wick_tensor *mean = NULL, *inverse = NULL, *y = NULL;
    const struct wick_norm_options norm = {.weight = options->weight,
                                           .bias = options->bias,
                                           .epsilon = options->epsilon,
                                           .mean = &mean,
                                           .inverse_deviation = &inverse};
    wick_scope_begin();
    if (channels > 0) {
        y = in_place(x, n) ? wick__batch_norm(x, &norm)
                           : scatter(wick_group_norm_with(gather(x, n), channels, &norm), x);
    } else { /* there are no groups */
        y = wick_contiguous(x);
        mean = wick_zeros(wick__device(x), statistic(x), 1, &channels);
        inverse = wick_zeros(wick__device(x), statistic(x), 1, &channels);
    }
    mean = wick_reshape(mean, 1, &channels);
    inverse = wick_reshape(inverse, 1, &channels);
    if (!y || !mean || !inverse || !move(options, mean, inverse, n)) return wick_scope_end(NULL);
    if (options->mean) *options->mean = wick_keep(mean);
    if (options->inverse_deviation) *options->inverse_deviation = wick_keep(inverse);
    return wick_scope_end(y);
}

/* ---- gradients ---- */

static const struct wick_norm_backward_options no_options;

static bool check_backward(const struct wick__call *call, const struct wick_norm_backward_options *options,
                           int64_t *n) {
    const struct wick_tensor *gradient = call->in[0], *x = call->in[1];
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call) || !has_channels(call, x))
        return false;
    int64_t channels = x->layout.shape[1];
    if (gradient->layout.rank != x->layout.rank ||
        memcmp(gradient->layout.shape, x->layout.shape, sizeof channels * (size_t)x->layout.rank) != 0) {
        wick__call_fail(call, WICK_SHAPE, "gradient and x must have one shape");
        return false;
    }
    for (int i = 2; i < 4; i++) {
        const char *name = wick__operand_name(call->op, i);
        if (!by_channel(call, call->in[i], name, channels)) return false;
        if (call->in[i]->dtype == statistic(x)) continue;
        wick__call_fail(call, WICK_DTYPE, "%s must be %s", name, wick_dtype_name(statistic(x)));
        return false;
    }
    return by_channel(call, options->weight, "weight", channels) && count_channel(call, x, n);
}

/* gradient weight inverse by channel, rounded once: the gradient of x where the statistics are not those of x. */
static struct wick_tensor *scale(const struct wick_tensor *gradient, const struct wick_tensor *weight,
                                 const struct wick_tensor *inverse) {
    int64_t shape[WICK_MAX_RANK];
    int rank = gradient->layout.rank;
    for (int d = 1; d < rank; d++) shape[d - 1] = d == 1 ? gradient->layout.shape[1] : 1;
    const struct wick_tensor *slope = inverse;
    if (weight) slope = wick_mul(slope, wick_cast(weight, inverse->dtype));
    struct wick_tensor *wide = wick_cast(gradient, inverse->dtype);
    return wick_cast(wick_mul(wide, wick_reshape(slope, rank - 1, shape)), gradient->dtype);
}

/* The gradient of x and those that `norm` asks for, of n elements of each channel. */
static struct wick_tensor *by_channels(const struct wick__call *call, int64_t n,
                                       const struct wick_norm_backward_options *norm) {
    const struct wick_tensor *gradient = call->in[0], *x = call->in[1], *mean = call->in[2], *inverse = call->in[3];
    int64_t channels = x->layout.shape[1];
    if (in_place(x, n)) return wick__batch_norm_backward(gradient, x, mean, inverse, norm);
    const int64_t single[2] = {1, channels};
    return scatter(wick_group_norm_backward(gather(gradient, n), gather(x, n), wick_reshape(mean, 2, single),
                                            wick_reshape(inverse, 2, single), channels, norm),
                   x);
}

struct wick_tensor *wick_batch_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                             const struct wick_tensor *mean,
                                             const struct wick_tensor *inverse_deviation, bool training,
                                             const struct wick_norm_backward_options *options) {
    if (!options) options = &no_options;
    struct wick__call call = {
        .op = WICK_OP_batch_norm_backward, .n_in = 5, .in = {gradient, x, mean, inverse_deviation, options->weight}};
    int64_t n;
    if (!check_backward(&call, options, &n)) return NULL;
    int64_t channels = x->layout.shape[1];
    bool wanted = options->weight_gradient || options->bias_gradient;
    struct wick_tensor *by_weight = NULL, *by_bias = NULL, *y = NULL;
    struct wick_norm_backward_options norm = {.weight = training ? options->weight : NULL};
    if (wanted) {
        norm.weight_gradient = &by_weight;
        norm.bias_gradient = &by_bias;
    }
    wick_scope_begin();
    if (channels == 0) {
        y = wick_contiguous(x);
        by_weight = wick_zeros(wick__device(x), x->dtype, 1, &channels);
        by_bias = wick_zeros(wick__device(x), x->dtype, 1, &channels);
    } else if (training || wanted) {
        y = by_channels(&call, n, &norm);
    }
    if (channels > 0 && !training && (y || !wanted)) y = scale(gradient, options->weight, inverse_deviation);
    if (!y || (wanted && (!by_weight || !by_bias))) return wick_scope_end(NULL);
    if (options->weight_gradient) *options->weight_gradient = wick_keep(by_weight);
    if (options->bias_gradient) *options->bias_gradient = wick_keep(by_bias);
    return wick_scope_end(y);
}
