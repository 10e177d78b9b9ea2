/* Local response norm and its gradient: averages of squares, by channels or in planes. */
#include "ops/average.h"
#include "ops/record.h"
#include "core/error.h"

#include <string.h>

/* The windows of one call: x seen as `view`, averages over `spatial` dims of it. */
struct windows {
    int spatial, rank;
    int64_t kernel[3], view[WICK_MAX_RANK];
    struct wick_pool_options options;
    bool longer; /* an even size reaches one further back: averages have one element more, the last of each line */
};

static bool check(const struct wick__call *call, const struct wick_response_options *options) {
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call)) return false;
    const struct wick__layout *x = &call->in[call->n_in - 1]->layout;
    if (x->rank < 2)
        wick__call_fail(call, WICK_SHAPE, "x must be [N,C,...]");
    else if (options->within_channels && (x->rank < 3 || x->rank > 5))
        wick__call_fail(call, WICK_SHAPE, "rank %d is not 3, 4 or 5, as within channels", x->rank);
    else if (options->size < 1)
        wick__call_fail(call, WICK_INVALID, "size %lld is not >= 1", (long long)options->size);
    else if (options->within_channels && options->size % 2 == 0)
        wick__call_fail(call, WICK_INVALID, "size %lld within channels is not odd", (long long)options->size);
    else if (!wick__shape_equal(&call->in[0]->layout, x))
        wick__call_fail(call, WICK_SHAPE, "gradient and x must have one shape");
    else
        return true;
    return false;
}

static struct windows windows_of(const struct wick_tensor *x, const struct wick_response_options *options) {
    struct windows w = {.rank = x->layout.rank};
    if (options->within_channels) {
        memcpy(w.view, x->layout.shape, sizeof w.view);
        w.spatial = w.rank - 2;
        w.options.exclude_padding = true;
    } else { /* [N,1,C,plane] */
        w.rank = 4;
        w.view[0] = x->layout.shape[0];
        w.view[1] = 1;
        w.view[2] = x->layout.shape[1];
        w.view[3] = 1;
        for (int d = 2; d < x->layout.rank; d++) w.view[3] *= x->layout.shape[d];
        w.spatial = 2;
        w.longer = options->size % 2 == 0;
    }
    for (int s = 0; s < w.spatial; s++) {
        bool counts = options->within_channels || s == 0;
        w.kernel[s] = counts ? options->size : 1;
        w.options.padding[s] = counts ? options->size / 2 : 0;
        w.options.stride[s] = 1;
    }
    return w;
}

/* The mean over the window of each element of x, in the windows' view. */
static struct wick_tensor *means(const struct windows *w, const struct wick_tensor *x) {
    struct wick_tensor *y = wick__average(x, w->spatial, w->kernel, &w->options);
    return w->longer ? wick_narrow(y, 2, 0, w->view[2]) : y;
}

/* The transpose of `means`. */
static struct wick_tensor *spread(const struct windows *w, const struct wick_tensor *x) {
    const struct wick_tensor *longer = w->longer ? wick_pad_with_zeros(x, 2, 0, 1) : x;
    return wick__average_backward(longer, w->spatial, w->view + 2, w->kernel, &w->options);
}

/* k + alpha mean(x^2) */
static struct wick_tensor *divisors(const struct windows *w, const struct wick_tensor *x,
                                    const struct wick_response_options *options) {
    struct wick_tensor *mean = means(w, wick_sqr(x));
    return wick_affine(mean, WICK_REAL(options->alpha), WICK_REAL(options->k));
}

static struct wick_tensor *viewed(const struct windows *w, const struct wick_tensor *x) {
    return wick_reshape(wick__widen(x), w->rank, w->view);
}

/* The result by a library of the device, NULL where that has none or leaves the call; then there is no failure to tell.
 * Who records wants the ops below. */
static struct wick_tensor *by_library(struct wick__call *call, const struct wick_response_options *options) {
    const struct wick_tensor *x = call->in[call->n_in - 1];
    struct wick__error quiet = {0};
    if (!wick__device(x)->backend->kernels[call->op].run || options->within_channels || wick__records()) return NULL;
    call->p.response.size = options->size;
    call->p.response.alpha = options->alpha;
    call->p.response.beta = options->beta;
    call->p.response.k = options->k;
    wick__error_swap(&quiet);
    bool room = wick__call_out(call, x->dtype, x->layout.rank, x->layout.shape);
    struct wick_tensor *y = room ? wick__call_run(call) : NULL;
    wick__error_swap(&quiet);
    return y;
}

static struct wick_tensor *finished(const struct wick_tensor *y, const struct wick_tensor *x) {
    return wick_scope_end(wick_cast(wick_reshape(y, x->layout.rank, x->layout.shape), x->dtype));
}

struct wick_tensor *wick_local_response_norm(const struct wick_tensor *x, const struct wick_response_options *options) {
    struct wick__call call = {.op = WICK_OP_local_response_norm, .n_in = 1, .in = {x}};
    if (!options) {
        if (wick__call_check(&call)) wick__call_fail(&call, WICK_INVALID, "options is NULL");
        return NULL;
    }
    if (!check(&call, options)) return NULL;
    wick_scope_begin();
    if (wick__count(x) == 0)
        return wick_scope_end(wick_zeros(wick__device(x), x->dtype, x->layout.rank, x->layout.shape));
    struct wick_tensor *whole = by_library(&call, options);
    if (whole) return wick_scope_end(whole);
    struct windows w = windows_of(x, options);
    struct wick_tensor *wide = viewed(&w, x);
    struct wick_tensor *y = wick_mul(wide, wick__power(divisors(&w, wide, options), -options->beta));
    return finished(y, x);
}

struct wick_tensor *wick_local_response_norm_backward(const struct wick_tensor *gradient, const struct wick_tensor *x,
                                                      const struct wick_response_options *options) {
    struct wick__call call = {.op = WICK_OP_local_response_norm_backward, .n_in = 2, .in = {gradient, x}};
    if (!options) {
        if (wick__call_check(&call)) wick__call_fail(&call, WICK_INVALID, "options is NULL");
        return NULL;
    }
    if (!check(&call, options)) return NULL;
    wick_scope_begin();
    if (wick__count(x) == 0)
        return wick_scope_end(wick_zeros(wick__device(x), x->dtype, x->layout.rank, x->layout.shape));
    struct wick_tensor *whole = by_library(&call, options);
    if (whole) return wick_scope_end(whole);
    struct windows w = windows_of(x, options);
    struct wick_tensor *wide = viewed(&w, x), *divisor = divisors(&w, wide, options);
    struct wick_tensor *part = wick_mul(viewed(&w, gradient), wick__power(divisor, -options->beta));
    struct wick_tensor *sum = spread(&w, wick_div(wick_mul(part, wide), divisor));
    struct wick_tensor *back = wick_mul_scalar(wick_mul(wide, sum), WICK_REAL(2 * options->alpha * options->beta));
    return finished(wick_sub(part, back), x);
}
