/* Lp pooling and its gradient: powers around averages, which are made sums. */
#include "ops/average.h"

#include <math.h>

static const struct wick_pool_options defaults;

struct windows {
    double p;
    int n;
    const int64_t *kernel;
    const struct wick_pool_options *options;
    double elements; /* of a window */
};

/* Checks operands, p and options, and counts the elements of a window. */
static bool check(const struct wick__call *call, struct windows *w) {
    const struct wick_pool_options *options = w->options;
    if (!wick__call_reserved(call, options->reserved) || !wick__call_check(call)) return false;
    int rank = call->in[call->n_in - 1]->layout.rank; /* of x */
    if (w->n < 1 || w->n > 3 || !w->kernel)
        wick__call_fail(call, WICK_INVALID, "%d sizes%s for %d spatial dims", w->n, w->kernel ? "" : " at NULL",
                        rank - 2);
    else if (rank != w->n + 2)
        wick__call_fail(call, WICK_SHAPE, "rank %d is not %d", rank, w->n + 2);
    else if (!isfinite(w->p) || w->p == 0)
        wick__call_fail(call, WICK_INVALID, "p %g is not finite and other than 0", w->p);
    else if (options->exclude_padding || options->divisor || options->indices)
        wick__call_fail(call, WICK_INVALID, "norms have no exclude_padding, divisor or indices");
    else {
        for (int s = 0; s < w->n; s++) {
            w->elements *= (double)w->kernel[s];
            if (options->dilation[s] == 0 || options->dilation[s] == 1) continue;
            wick__call_fail(call, WICK_INVALID, "norms have no dilation");
            return false;
        }
        return true;
    }
    return false;
}

/* The sum of x^p of each window, of a wide x. */
static struct wick_tensor *sums(const struct windows *w, struct wick_tensor *x) {
    return wick_mul_scalar(wick__average(wick__power(x, w->p), w->n, w->kernel, w->options), WICK_REAL(w->elements));
}

struct wick_tensor *wick_lp_pool(const struct wick_tensor *x, double p, int n, const int64_t *kernel,
                                 const struct wick_pool_options *options) {
    struct wick__call call = {.op = WICK_OP_lp_pool, .n_in = 1, .in = {x}};
    struct windows w = {p, n, kernel, options ? options : &defaults, 1};
    if (!check(&call, &w)) return NULL;
    wick_scope_begin();
    return wick_scope_end(wick_cast(wick__power(sums(&w, wick__widen(x)), 1 / p), x->dtype));
}

/* With s the sum of a window, s^(1 / p - 1) x^(p - 1) is the slope of its result. */
struct wick_tensor *wick_lp_pool_backward(const struct wick_tensor *gradient, const struct wick_tensor *x, double p,
                                          int n, const int64_t *kernel, const struct wick_pool_options *options) {
    struct wick__call call = {.op = WICK_OP_lp_pool_backward, .n_in = 2, .in = {gradient, x}};
    struct windows w = {p, n, kernel, options ? options : &defaults, 1};
    if (!check(&call, &w)) return NULL;
    wick_scope_begin();
    struct wick_tensor *g = wick__widen(gradient), *wide = wick__widen(x), *sum = sums(&w, wide);
    if (!sum) return wick_scope_end(NULL);
    if (!wick__shape_equal(&gradient->layout, &sum->layout)) {
        char want[WICK__SHAPE_TEXT];
        wick__call_fail(&call, WICK_SHAPE, "gradient must be %s",
                        wick__shape_text(want, sum->layout.rank, sum->layout.shape));
        return wick_scope_end(NULL);
    }
    if (p != 1) {
        struct wick_tensor *part = wick_mul(g, wick__power(sum, 1 / p - 1));
        g = wick_masked_fill(part, wick_eq_scalar(sum, WICK_INT(0)), WICK_INT(0));
    }
    struct wick_tensor *shares = wick__average_backward(g, n, x->layout.shape + 2, kernel, w.options);
    struct wick_tensor *y = wick_mul_scalar(shares, WICK_REAL(w.elements));
    if (p != 1) y = wick_mul(y, wick__power(wide, p - 1));
    return wick_scope_end(wick_cast(y, x->dtype));
}
