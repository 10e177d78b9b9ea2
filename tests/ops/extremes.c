/* Results that are in range although squares, powers, products or differences on the way to them are not. Expected
 * values are closed forms.
 *
 *     test-ops-extremes [DEVICE] */
#include "tests/test.h"

enum { LONG = 70000, ROW = 9000 };

static struct wick_device *device;

static struct wick_tensor *f64_of(int64_t n, const double *x) {
    return wick_from_data(device, WICK_F64, WICK_SHAPE(n), x, (size_t)n * sizeof *x);
}

/* x[i] = values[i * n_values / n]: each value fills a part of a tensor of n elements. */
static struct wick_tensor *parts(enum wick_dtype dtype, int64_t n, int n_values, const double *values) {
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; x && i < n; i++) x[i] = values[i * n_values / n];
    struct wick_tensor *y = x ? wick_cast(f64_of(n, x), dtype) : NULL;
    free(x);
    return y;
}

static double scalar(const struct wick_tensor *x) {
    double y = NAN;
    CHECK(wick_read_scalar(x, &y) == WICK_OK);
    return y;
}

/* An element of a tensor of any shape. */
static double element(const struct wick_tensor *x, int64_t i) {
    return scalar(wick_select(wick_reshape(x, WICK_SHAPE(-1)), 0, i));
}

#define CHECK_RATIO(got, want, bound) CHECK_NEAR((got) / (want), 1, bound)

/* The n elements as a line along memory, and as the second of three columns. */
#define ALONG_AND_ACROSS(x, n, result, check)                                                                          \
    do {                                                                                                               \
        struct wick_tensor *line = (x),                                                                                \
                           *columns =                                                                                  \
                               wick_contiguous(wick_expand(wick_reshape(line, WICK_SHAPE(n, 1)), WICK_SHAPE(n, 40)));  \
        struct wick_tensor *in = line;                                                                                 \
        int dim = 0;                                                                                                   \
        check(scalar(result));                                                                                         \
        in = columns;                                                                                                  \
        check(element(result, 39));                                                                                    \
    } while (0)

static void test_products(void) {
    static const double up_and_down[] = {0x1p100, 0x1p-100}, zero_last[] = {0x1p100, 0x1p100, 0x1p100, 0},
                        down_and_up[] = {-0x1p-1070, -0x1p1000, 0x1p70}, few[] = {3e38, 3e38, 1e-38, 1e-38};
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_F64, WICK_BF16};
#define ONE(y) CHECK_NEAR(y, 1, 0)
#define ZERO(y) CHECK_NEAR(y, 0, 0)
    for (int i = 0; i < 3; i++) {
        wick_scope_begin();
        ALONG_AND_ACROSS(parts(dtypes[i], 600, 2, up_and_down), 600, wick_prod(in, 1, &dim, false), ONE);
        ALONG_AND_ACROSS(parts(dtypes[i], 600, 4, zero_last), 600, wick_prod(in, 1, &dim, false), ZERO);
        ONE(scalar(wick_prod(parts(dtypes[i], LONG, 2, up_and_down), WICK_ALL_DIMS, false)));
        ZERO(scalar(wick_prod(parts(dtypes[i], LONG, 4, zero_last), WICK_ALL_DIMS, false)));
        wick_scope_end(NULL);
    }
    wick_scope_begin();
    ONE(scalar(wick_prod(f64_of(3, down_and_up), WICK_ALL_DIMS, false)));
    CHECK_RATIO(scalar(wick_prod(parts(WICK_F32, 4, 4, few), WICK_ALL_DIMS, false)), 9, 1e-6);
    wick_scope_end(NULL);
}

static double norm_of(enum wick_dtype dtype, int64_t n, int n_values, const double *values, double p) {
    wick_scope_begin();
    double y = scalar(wick_norm(parts(dtype, n, n_values, values), p, WICK_ALL_DIMS, false));
    wick_scope_end(NULL);
    return y;
}

static void test_norms(void) {
    static const double sizes[] = {1e200, 1e-200, 1e305, 1e-305, 1};
    for (int i = 0; i < 5; i++) {
        double size = sizes[i], sides[] = {3 * size, -4 * size}, mixed[] = {0, 1e-300 * size, 3 * size, 4 * size};
        wick_scope_begin();
#define FIVE(y) CHECK_RATIO(y, 5 * size, 4e-16)
#define LONG_FIVE(y) CHECK_RATIO(y, 5 * size * sqrt(ROW / 2.0), 4e-14)
        FIVE(norm_of(WICK_F64, 2, 2, sides, 2));
        FIVE(norm_of(WICK_F64, 4, 4, mixed, 2));
        ALONG_AND_ACROSS(parts(WICK_F64, ROW, 2, sides), ROW, wick_norm(in, 2, 1, &dim, false), LONG_FIVE);
        CHECK_RATIO(norm_of(WICK_F64, 2, 2, sides, 3), size * cbrt(91), 1e-15);
        CHECK_RATIO(norm_of(WICK_F64, 2, 2, sides, -2), size * 2.4, 1e-15);
        CHECK_RATIO(norm_of(WICK_F64, LONG, 1, sides, 10), 3 * size * pow(LONG, 0.1), 1e-14);
        wick_scope_end(NULL);
    }
    static const double large[] = {3e30, 4e30}, small[] = {1e-40, 1, 1, 1}, zero[] = {0, 1};
    CHECK_RATIO(norm_of(WICK_F32, 2, 2, large, 3), 1e30 * cbrt(91), 1e-6);
    CHECK_RATIO(norm_of(WICK_F32, 4, 4, small, -2), 1e-40, 1e-5);
    CHECK_NEAR(norm_of(WICK_F32, 2, 2, zero, -2), 0, 0);
    for (double v = 0.1; v < 8; v += 0.37) { /* one value again and again, in no memory of its own */
        wick_scope_begin();
        struct wick_tensor *x = wick_expand(f64_of(1, &v), WICK_SHAPE(LONG));
        CHECK_RATIO(scalar(wick_norm(x, 2, WICK_ALL_DIMS, false)), v * sqrt(LONG), 2e-15);
        CHECK_RATIO(scalar(wick_norm(x, 0.5, WICK_ALL_DIMS, false)), v * LONG * LONG, 2e-15);
        wick_scope_end(NULL);
    }
}

static void test_deviations(void) {
    static const double sizes[] = {1e160, 1e-170, 1.7e308, 1e-300, 1};
    for (int i = 0; i < 5; i++) {
        double size = sizes[i], both[] = {size, -size}, apart[] = {size, size / 2};
        wick_scope_begin();
#define SIZE(y) CHECK_RATIO(y, size, 1e-14)
#define QUARTER(y) CHECK_RATIO(y, size / 4, 1e-13)
        SIZE(scalar(wick_std(f64_of(2, both), 0, WICK_ALL_DIMS, false)));
        ALONG_AND_ACROSS(parts(WICK_F64, ROW, 2, both), ROW, wick_std(in, 0, 1, &dim, false), SIZE);
        ALONG_AND_ACROSS(parts(WICK_F64, ROW, 2, apart), ROW, wick_std(in, 0, 1, &dim, false), QUARTER);
        SIZE(scalar(wick_std(parts(WICK_F64, LONG, 2, both), 0, WICK_ALL_DIMS, false)));
        wick_scope_end(NULL);
    }
    static const double small[] = {1e-150, -1e-150};
    CHECK_RATIO(scalar(wick_var(f64_of(2, small), 0, WICK_ALL_DIMS, false)), 1e-300, 1e-15);
}

/* Rows of two values that differ in sign come to 1 and -1, long ones too. */
static void test_normalised(void) {
    static const double sizes[] = {1e160, 1e-170, 1.7e308, 1e-300};
    for (int i = 0; i < 4; i++)
        for (int64_t n = 34; n <= ROW; n += ROW - 34) {
            double both[] = {sizes[i], -sizes[i]};
            wick_scope_begin();
            struct wick_tensor *x = wick_reshape(parts(WICK_F64, n, 2, both), WICK_SHAPE(1, n));
            struct wick_tensor *y[] = {wick_layer_norm(x, 1, NULL, NULL, 0), wick_rms_norm(x, NULL, 0),
                                       wick_group_norm(wick_reshape(x, WICK_SHAPE(1, 2, n / 2)), 1, NULL, NULL, 0)};
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(element(y[k], 0), 1, 1e-13);
                CHECK_NEAR(element(y[k], n - 1), -1, 1e-13);
            }
            wick_scope_end(NULL);
        }
}

/* (x - mean) / root overflows, times the weight it does not. */
static void test_given(void) {
    const float x[] = {3e38f, -3e38f}, mean = 0, variance = 0.25f, weight = 0.125f;
    for (int plane = 1; plane <= 2; plane++) {
        wick_scope_begin();
        struct wick_tensor *in = wick_from_data(device, WICK_F32, WICK_SHAPE(2 / plane, 1, plane), x, sizeof x);
        struct wick_tensor *by[3];
        const float *values[] = {&mean, &variance, &weight};
        for (int i = 0; i < 3; i++) by[i] = wick_from_data(device, WICK_F32, WICK_SHAPE(1), values[i], sizeof(float));
        struct wick_batch_norm_options options = {.weight = by[2]};
        struct wick_tensor *y = wick_batch_norm(in, by[0], by[1], &options);
        CHECK_RATIO(element(y, 0), 0.75e38, 1e-6);
        CHECK_RATIO(element(y, 1), -0.75e38, 1e-6);
        wick_scope_end(NULL);
    }
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device != NULL);
    wick_scope_begin();
    test_products();
    test_norms();
    test_deviations();
    test_normalised();
    test_given();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
