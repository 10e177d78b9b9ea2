/* Softmax, its logarithm and their gradients of lines that are long, few, across memory or at odd addresses, which the
 * table's cases are too small for, against sums in long double. On the device named in argv[1]. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>

static struct wick_device *gpu;

/* Values of a tensor as f64, to be freed. */
static double *values(const struct wick_tensor *x) {
    wick_scope_begin();
    struct wick_tensor *y = wick_cast(x, WICK_F64);
    size_t nbytes = (size_t)wick_tensor_count(y) * sizeof(double);
    double *v = malloc(nbytes);
    CHECK(y && v);
    CHECK_OK(wick_read(y, v, nbytes));
    wick_scope_end(NULL);
    return v;
}

/* What a rounding may add, relative to the result, and the arithmetic, relative to the terms. */
static double result_unit(enum wick_dtype dtype) {
    return dtype == WICK_BF16 ? 0x1p-8 : dtype == WICK_F16 ? 0x1p-11 : dtype == WICK_F32 ? 0x1p-23 : 0x1p-49;
}
static double term_unit(enum wick_dtype dtype) { return dtype == WICK_F64 ? 0x1p-49 : 0x1p-20; }

/* A line of n elements, `step` apart. */
struct line {
    enum wick_dtype dtype;
    bool log;
    int64_t n, step;
};

static bool near(const struct line *l, double got, long double want, double scale) {
    double least = l->dtype == WICK_F16 ? 0x1p-24 : 0;
    return fabsl(got - want) <= fabsl(want) * result_unit(l->dtype) + scale * term_unit(l->dtype) + least;
}

static bool forward_is_right(const struct line *l, const double *x, const double *y) {
    long double sum = 0;
    double most = -INFINITY;
    for (int64_t i = 0; i < l->n; i++) most = fmax(most, x[i * l->step]);
    for (int64_t i = 0; i < l->n; i++) sum += expl(x[i * l->step] - (long double)most);
    for (int64_t i = 0; i < l->n; i++) {
        long double less = x[i * l->step] - (long double)most, want = l->log ? less - logl(sum) : expl(less) / sum;
        /* The difference is rounded before its exponential is taken. */
        if (!near(l, y[i * l->step], want, (double)(fabsl(want) * (1 - less)))) return false;
    }
    return true;
}

static bool backward_is_right(const struct line *l, const double *g, const double *y, const double *d) {
    long double sum = 0, terms = 0;
    for (int64_t i = 0; i < l->n; i++) {
        long double term = l->log ? g[i * l->step] : (long double)g[i * l->step] * y[i * l->step];
        sum += term;
        terms += fabsl(term);
    }
    for (int64_t i = 0; i < l->n; i++) {
        long double gi = g[i * l->step], yi = y[i * l->step], factor = l->log ? expl(yi) : yi;
        long double want = l->log ? gi - factor * sum : factor * (gi - sum);
        long double scale = l->log ? fabsl(gi) + factor * terms : fabsl(factor) * (fabsl(gi) + terms);
        if (!near(l, d[i * l->step], want, (double)scale)) return false;
    }
    return true;
}

/* Tensors [outer,n,inner] that begin `skip` elements behind an aligned address. */
static void check(enum wick_dtype dtype, const int64_t shape[3], int64_t skip, bool is_log) {
    const int64_t count = shape[0] * shape[1] * shape[2];
    struct line line = {.dtype = dtype, .log = is_log, .n = shape[1], .step = shape[2]};
    wick_scope_begin();
    struct wick_tensor *all[2], *x[2];
    for (int i = 0; i < 2; i++) {
        all[i] = wick_cast(wick_normal(gpu, WICK_F32, WICK_SHAPE(count + skip), 0, 1.5), dtype);
        x[i] = wick_reshape(wick_narrow(all[i], 0, skip, count), 3, shape);
    }
    struct wick_tensor *y = is_log ? wick_log_softmax(x[0], 1) : wick_softmax(x[0], 1);
    struct wick_tensor *slope = is_log ? wick_log_softmax_backward(x[1], y, 1) : wick_softmax_backward(x[1], y, 1);
    double *in = values(x[0]), *gradient = values(x[1]), *result = values(y), *slopes = values(slope);
    bool forward = true, backward = true;
    for (int64_t i = 0; i < shape[0] * shape[2]; i++) {
        int64_t at = i / shape[2] * shape[1] * shape[2] + i % shape[2];
        forward = forward && forward_is_right(&line, in + at, result + at);
        backward = backward && backward_is_right(&line, gradient + at, result + at, slopes + at);
    }
    TEST_CHECK_(forward, "%s, n %lld, log %d", wick_dtype_name(dtype), (long long)shape[1], is_log);
    TEST_CHECK_(backward, "gradient, %s, n %lld, log %d", wick_dtype_name(dtype), (long long)shape[1], is_log);
    free(in);
    free(gradient);
    free(result);
    free(slopes);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    static const enum wick_dtype dtypes[] = {WICK_BF16, WICK_F16, WICK_F32, WICK_F64};
    static const int64_t shapes[][3] = {{1, 8016, 5},  {2, 1000, 40}, {3, 7419, 1},  {2, 16401, 1},
                                        {1, 50938, 1}, {1, 40000, 1}, {300, 131, 1}, {1, 3000, 70}};
    gpu = wick_device_open(argc > 1 ? argv[1] : "cuda:0");
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_seed_set(gpu, 12));
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int k = 0; k < 4; k++) check(dtypes[i], shapes[s], k / 2 * 3, k % 2 == 1);
    wick_device_close(gpu);
    return test_end();
}
