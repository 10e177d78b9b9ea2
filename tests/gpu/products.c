/* Matrix products and convolutions on the device named in argv[1], of sizes that each tile of the matrix instructions
 * takes, with operands along either dim: whole numbers, so that every order of summing gives the same bits. With a
 * second argument larger ones too, for a GPU that is there. */
#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct wick_device *cpu, *gpu;
static char what[160];

static int *numbers(size_t n, unsigned *seed) {
    int *x = malloc((n + 1) * sizeof *x);
    CHECK(x);
    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        x[i] = (int)(*seed >> 16) % 7 - 3;
    }
    return x;
}

/* The device's tensor of such numbers in a dtype; as [columns, rows] in memory when it is turned. */
static struct wick_tensor *tensor_of(const int *x, enum wick_dtype dtype, int64_t batch, int64_t rows, int64_t columns,
                                     bool turned) {
    size_t n = (size_t)(batch * rows * columns);
    float *values = malloc((n + 1) * sizeof *values);
    CHECK(values);
    for (int64_t i = 0; i < batch * rows * columns; i++) {
        int64_t b = i / (rows * columns), at = i % (rows * columns);
        int64_t r = turned ? at % rows : at / columns, c = turned ? at / rows : at % columns;
        values[i] = (float)x[(b * rows + r) * columns + c];
    }
    const int64_t shape[3] = {batch, turned ? columns : rows, turned ? rows : columns};
    struct wick_tensor *t = wick_cast(wick_from_data(cpu, WICK_F32, 3, shape, values, n * sizeof *values), dtype);
    t = wick_to_device(t, gpu);
    free(values);
    return turned ? wick_transpose(t, 1, 2) : t;
}

static float *read_floats(const struct wick_tensor *t) {
    struct wick_tensor *f = wick_to_device(wick_cast(t, WICK_F32), cpu);
    float *values = malloc((size_t)wick_tensor_count(f) * sizeof *values + 1);
    CHECK(values);
    CHECK_OK(wick_read(f, values, (size_t)wick_tensor_count(f) * sizeof *values));
    return values;
}

/* What a whole number becomes in a dtype, by the CPU's cast. */
static float *rounded(const int *x, size_t n, enum wick_dtype dtype) {
    const int64_t shape[1] = {(int64_t)n};
    struct wick_tensor *t = wick_cast(wick_from_data(cpu, WICK_I32, 1, shape, x, n * sizeof *x), WICK_F32);
    return read_floats(wick_cast(t, dtype));
}

static void check_equal(const int *want, const float *got, size_t n, enum wick_dtype dtype) {
    float *expected = rounded(want, n, dtype);
    size_t at = 0;
    while (at < n && expected[at] == got[at]) at++;
    TEST_CHECK_(at == n, "%s: element %zu of %zu is %g, not %g", what, at, n, at < n ? (double)got[at] : 0,
                at < n ? (double)expected[at] : 0);
    free(expected);
}

struct size {
    int64_t batch, m, n, k;
};

/* `turned`: bit 0, a is transposed in memory; bit 1, b is. */
static void check_product(const struct size *s, const int *a, const int *b, const int *want, enum wick_dtype dtype,
                          int turned) {
    bool a_turned = turned & 1, b_turned = turned & 2;
    snprintf(what, sizeof what, "%s %" PRId64 " x [%" PRId64 ",%" PRId64 "] [%" PRId64 ",%" PRId64 "]%s%s",
             wick_dtype_name(dtype), s->batch, s->m, s->k, s->k, s->n, a_turned ? ", a turned" : "",
             b_turned ? ", b turned" : "");
    wick_scope_begin();
    struct wick_tensor *x = tensor_of(a, dtype, s->batch, s->m, s->k, a_turned);
    struct wick_tensor *y = tensor_of(b, dtype, 1, s->k, s->n, b_turned), *z = wick_matmul(x, y);
    TEST_CHECK_(z != NULL, "%s: %s", what, wick_error());
    if (z) {
        float *got = read_floats(z);
        check_equal(want, got, (size_t)(s->batch * s->m * s->n), dtype);
        free(got);
    }
    wick_scope_end(NULL);
}

enum { BF16, F16, F8E4M3, F32, DTYPES };

/* A product in some dtypes, from the first to before the end, its operands along either dim. */
static void check_products(const struct size *s, size_t first, size_t end) {
    static const enum wick_dtype dtypes[DTYPES] = {WICK_BF16, WICK_F16, WICK_F8E4M3, WICK_F32};
    unsigned seed = (unsigned)(s->m * 3 + s->n * 5 + s->k);
    int *a = numbers((size_t)(s->batch * s->m * s->k), &seed), *b = numbers((size_t)(s->k * s->n), &seed);
    int *want = calloc((size_t)(s->batch * s->m * s->n) + 1, sizeof *want);
    CHECK(want);
    for (int64_t r = 0; r < s->batch * s->m; r++)
        for (int64_t t = 0; t < s->k; t++)
            for (int64_t c = 0; c < s->n; c++) want[r * s->n + c] += a[r * s->k + t] * b[t * s->n + c];
    for (size_t d = first; d < end; d++)
        for (int turned = 0; turned < 4; turned++) check_product(s, a, b, want, dtypes[d], turned);
    free(a);
    free(b);
    free(want);
}

static double activated(enum wick_activation activation, double x) {
    switch (activation) {
    case WICK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case WICK_ACTIVATION_GELU: return x * 0.5 * erfc(-x / sqrt(2));
    case WICK_ACTIVATION_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * pow(x, 3))));
    case WICK_ACTIVATION_SILU: return x / (1 + exp(-x));
    case WICK_ACTIVATION_TANH: return tanh(x);
    default: return x;
    }
}

/* linear with a bias and each activation, of operands that are whole sixteenths and quarters: sums of exactly known
 * value around 1, where activations bend. */
static void check_linear(const struct size *s, enum wick_dtype dtype) {
    unsigned seed = (unsigned)(s->m + s->n * 3 + s->k);
    size_t count = (size_t)(s->m * s->n);
    int *a = numbers((size_t)(s->m * s->k), &seed), *b = numbers((size_t)(s->n * s->k), &seed);
    int *bias = numbers((size_t)s->n, &seed), *sums = calloc(count + 1, sizeof *sums);
    CHECK(sums);
    for (int64_t r = 0; r < s->m; r++)
        for (int64_t c = 0; c < s->n; c++)
            for (int64_t t = 0; t < s->k; t++) sums[r * s->n + c] += a[r * s->k + t] * b[c * s->k + t];
    for (int i = WICK_ACTIVATION_NONE; i <= WICK_ACTIVATION_TANH; i++) {
        const struct wick_linear_options options = {.activation = (enum wick_activation)i};
        wick_scope_begin();
        struct wick_tensor *x = wick_mul_scalar(tensor_of(a, dtype, 1, s->m, s->k, false), WICK_REAL(0.0625));
        struct wick_tensor *w = wick_mul_scalar(tensor_of(b, dtype, 1, s->n, s->k, false), WICK_REAL(0.25));
        struct wick_tensor *one = tensor_of(bias, dtype, 1, 1, s->n, false);
        struct wick_tensor *z = wick_linear_with(wick_squeeze(x, 0), wick_squeeze(w, 0),
                                                 wick_reshape(one, 1, (const int64_t[]){s->n}), &options);
        TEST_CHECK_(z != NULL, "%s", wick_error());
        if (z) {
            float *got = read_floats(z);
            size_t at = 0;
            for (double right = 0; at < count; at++) {
                right = activated(options.activation, sums[at] / 64.0 + bias[at % (size_t)s->n]);
                if (!(fabs((double)got[at] - right) <= 0x1p-8 * fabs(right) * (dtype == WICK_BF16 ? 1 : 0.25) + 1e-6))
                    break;
            }
            TEST_CHECK_(at == count,
                        "%s linear %" PRId64 " x %" PRId64 " x %" PRId64 ", activation %d: element %zu is %g",
                        wick_dtype_name(dtype), s->m, s->n, s->k, i, at, at < count ? (double)got[at] : 0);
            free(got);
        }
        wick_scope_end(NULL);
    }
    free(a);
    free(b);
    free(bias);
    free(sums);
}

/* x is [batch,cin,side,side], the weight [cout,cin,kernel,kernel]. */
struct conv {
    int64_t batch, cin, cout, side, kernel, stride;
};
static void check_conv(enum wick_dtype dtype, struct conv size) {
    const int64_t batch = size.batch, cin = size.cin, cout = size.cout, side = size.side, kernel = size.kernel,
                  stride = size.stride;
    snprintf(what, sizeof what,
             "%s convolution %" PRId64 " x %" PRId64 " to %" PRId64 " at %" PRId64 ", kernel %" PRId64
             ", stride %" PRId64,
             wick_dtype_name(dtype), batch, cin, cout, side, kernel, stride);
    unsigned seed = (unsigned)(cin * side + cout);
    int64_t padding = kernel / 2, out = (side + 2 * padding - kernel) / stride + 1;
    int *x = numbers((size_t)(batch * cin * side * side), &seed);
    int *w = numbers((size_t)(cout * cin * kernel * kernel), &seed);
    size_t count = (size_t)(batch * cout * out * out);
    int *want = calloc(count + 1, sizeof *want);
    CHECK(want);
    for (int64_t i = 0; i < (int64_t)count; i++) {
        int64_t q = i % out, p = i / out % out, m = i / out / out % cout, b = i / out / out / cout;
        for (int64_t c = 0; c < cin; c++)
            for (int64_t h = 0; h < kernel; h++)
                for (int64_t v = 0; v < kernel; v++) {
                    int64_t row = p * stride + h - padding, column = q * stride + v - padding;
                    if (row >= 0 && row < side && column >= 0 && column < side)
                        want[i] += x[((b * cin + c) * side + row) * side + column] *
                                   w[((m * cin + c) * kernel + h) * kernel + v];
                }
    }
    wick_scope_begin();
    const int64_t x_shape[4] = {batch, cin, side, side}, w_shape[4] = {cout, cin, kernel, kernel};
    struct wick_tensor *tx = wick_reshape(tensor_of(x, dtype, batch, cin, side * side, false), 4, x_shape);
    struct wick_tensor *tw = wick_reshape(tensor_of(w, dtype, cout, cin, kernel * kernel, false), 4, w_shape);
    const struct wick_conv_options options = {
        .stride = {stride, stride}, .padding = {padding, padding}, .dilation = {1, 1}, .groups = 1};
    struct wick_tensor *z = wick_conv2d(tx, tw, NULL, &options);
    TEST_CHECK_(z != NULL, "%s: %s", what, wick_error());
    if (z) {
        float *got = read_floats(z);
        check_equal(want, got, count, dtype);
        free(got);
    }
    wick_scope_end(NULL);
    free(x);
    free(w);
    free(want);
}

int main(int argc, char **argv) {
    /* Tiles of 64, 64 x 128, 128 and 128 x 256 on a device of 4 multiprocessors; k of one step, of part of one, of as
     * many as LDS holds and of more; split; edges that are not whole tiles, and rows at addresses that are not whole
     * vectors. */
    static const struct size sizes[] = {{1, 64, 64, 64},   {1, 130, 136, 72}, {2, 72, 200, 200},
                                        {1, 90, 104, 600}, {1, 77, 131, 65},  {1, 130, 260, 520}};
    static const struct size large[] = {{1, 1024, 1024, 1000}, {1, 2000, 2056, 520}, {2, 1000, 3000, 328},
                                        {1, 16, 4096, 2048},   {1, 128, 128, 20000}, {64, 256, 784, 64},
                                        {1, 4096, 64, 1024},   {1, 3001, 1003, 129}, {3, 1100, 1800, 1032},
                                        {1, 2049, 2562, 776},  {1, 1000, 4100, 2048}};
    static const struct size linear[] = {{1, 96, 200, 72}, {1, 2000, 2056, 200}, {1, 1999, 2061, 136}};
    cpu = wick_device_open("cpu");
    gpu = wick_device_open(argc > 1 ? argv[1] : "auto");
    if (!gpu) test_skip(wick_error());
    bool all = argc > 2;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_products(&sizes[i], all ? BF16 : i % F32, all ? F32 : i % F32 + 1);
        check_products(&sizes[i], F32, DTYPES);
    }
    check_products(&(struct size){1, 520, 60, 60}, BF16, DTYPES); /* in f32 256 x 64 */
    check_products(&(struct size){1, 6, 400, 336}, F8E4M3, F32);  /* of few rows, packed where that pays */
    for (size_t i = 0; all && i < sizeof large / sizeof *large; i++) check_products(&large[i], BF16, DTYPES);
    for (size_t i = 0; i < (all ? sizeof linear / sizeof *linear : 1); i++)
        for (int d = 0; d < 2; d++) check_linear(&linear[i], d ? WICK_F16 : WICK_BF16);
    check_conv(WICK_BF16, (struct conv){2, 16, 24, 9, 3, 1});
    check_conv(WICK_F16, (struct conv){2, 40, 136, 14, 3, 2});
    check_conv(WICK_F8E4M3, (struct conv){2, 72, 80, 7, 1, 1});
    check_conv(WICK_BF16, (struct conv){1, 64, 72, 8, 1, 1});
    check_conv(WICK_BF16, (struct conv){1, 3, 64, 20, 7, 2});
    check_conv(WICK_F32, (struct conv){2, 40, 136, 14, 3, 2});
    check_conv(WICK_F32, (struct conv){1, 70, 40, 9, 1, 1});
    check_conv(WICK_F32, (struct conv){3, 9, 64, 11, 5, 1});
    if (all) check_conv(WICK_BF16, (struct conv){8, 64, 256, 28, 3, 1});
    if (all) check_conv(WICK_F16, (struct conv){16, 512, 256, 14, 1, 1});
    wick_device_close(gpu);
    wick_device_close(cpu);
    return test_end();
}
