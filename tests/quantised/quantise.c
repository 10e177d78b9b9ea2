/* Quantisers: how far numbers are from what their blocks stand for, and products of them. The bounds are those that
 * ggml's own test has (test-quantize-fns: the root of the sum of squared errors by their count, on 0.1 + 2 cos i), and
 * for the dtypes that the package gguf 0.19 quantises, what it reaches, on that and on noise. Then refusals, and
 * importance. On the device named in argv[1]. */
#include "tests/test.h"

#include <math.h>

enum { N = 4096 };

static struct wick_device *device;
static float waves[N], noise[N];

static const struct {
    enum wick_dtype dtype;
    double most, dot;    /* ggml's bounds */
    double waves, noise; /* what gguf reaches; 0: it has no quantiser */
} types[] = {
    {WICK_DTYPE_q4_0, 0.002, 0.02, 1.121e-3, 7.481e-4},
    {WICK_DTYPE_q4_1, 0.002, 0.02, 1.144e-3, 6.882e-4},
    {WICK_DTYPE_q5_0, 0.002, 0.02, 5.910e-4, 3.747e-4},
    {WICK_DTYPE_q5_1, 0.002, 0.02, 5.562e-4, 3.375e-4},
    {WICK_DTYPE_q8_0, 0.002, 0.02, 7.444e-5, 4.641e-5},
    {WICK_DTYPE_q8_1, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_q8_k, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_q2_k, 0.0075, 0.04, 0, 0},
    {WICK_DTYPE_q3_k, 0.0040, 0.04, 0, 0},
    {WICK_DTYPE_q4_k, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_q5_k, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_q6_k, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_iq4_nl, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_iq4_xs, 0.002, 0.02, 0, 0},
    {WICK_DTYPE_tq1_0, 0.01, 0.15, 8.681e-3, 7.018e-3},
    {WICK_DTYPE_tq2_0, 0.01, 0.15, 8.681e-3, 7.018e-3},
    {WICK_DTYPE_mxfp4, 0.002, 0.02, 1.881e-3, 1.013e-3},
    {WICK_DTYPE_nvfp4, 0.003, 0.03, 0, 0},
    {WICK_DTYPE_q1_0, 0.025, 0.40, 0, 0},
    {WICK_DTYPE_q2_0, 0.01, 0.15, 0, 0},
};

/* Sums of four evenly spread numbers, about normal. */
static void make_numbers(void) {
    uint32_t state = 1;
    for (int i = 0; i < N; i++) {
        double sum = -2;
        for (int j = 0; j < 4; j++) {
            state = state * 1664525u + 1013904223u;
            sum += (double)(state >> 8) / 0x1p24;
        }
        noise[i] = (float)sum;
        waves[i] = (float)(0.1 + 2 * cos(i));
    }
}

/* The numbers as blocks, and back. */
static struct wick_tensor *blocks_of(const float *x, enum wick_dtype dtype, float *back) {
    struct wick_tensor *blocks = wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(1, N), x, N * sizeof *x), dtype);
    CHECK(blocks != NULL);
    CHECK_OK(wick_read(wick_cast(blocks, WICK_F32), back, N * sizeof *back));
    return blocks;
}

static double error_of(const float *x, const float *back) {
    double sum = 0;
    for (int i = 0; i < N; i++) sum += ((double)x[i] - (double)back[i]) * ((double)x[i] - (double)back[i]);
    return sqrt(sum) / N;
}

static void check_type(size_t t) {
    static float back[N], other[N];
    float got = 0;
    double want = 0;
    struct wick_linear_options rounded = {.products = WICK_PRODUCTS_8_BIT};
    const char *name = wick_dtype_name(types[t].dtype);
    for (int i = 0; i < N; i++) other[i] = (float)(0.1 + 2 * cos(i + 1));
    wick_scope_begin();
    struct wick_tensor *blocks = blocks_of(waves, types[t].dtype, back);
    double error = error_of(waves, back);
    TEST_CHECK_(error <= types[t].most, "%s: %g on waves, at most %g", name, error, types[t].most);
    TEST_CHECK_(types[t].waves == 0 || error <= types[t].waves, "%s: %g on waves, gguf %g", name, error,
                types[t].waves);
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, N), other, sizeof other);
    CHECK_OK(wick_read(wick_linear_with(x, blocks, NULL, &rounded), &got, sizeof got));
    for (int i = 0; i < N; i++) want += (double)waves[i] * (double)other[i];
    TEST_CHECK_(fabs((double)got - want) / N <= types[t].dot, "%s: a product %g, should be %g", name, (double)got,
                want);
    blocks_of(noise, types[t].dtype, back);
    error = error_of(noise, back);
    TEST_CHECK_(types[t].noise == 0 || error <= types[t].noise, "%s: %g on noise, gguf %g", name, error,
                types[t].noise);
    wick_scope_end(NULL);
}

/* Columns that count more come out nearer than without, and no columns that count nothing change that. */
static void check_importance(void) {
    float importance[N], plain[N], weighted[N];
    const enum wick_dtype dtypes[] = {WICK_DTYPE_q4_0, WICK_DTYPE_q4_k, WICK_DTYPE_q3_k, WICK_DTYPE_iq4_xs};
    for (int i = 0; i < N; i++) importance[i] = i % 4 == 0 ? 100 : 0.01f;
    for (int t = 0; t < 4; t++) {
        double sum[2] = {0};
        wick_scope_begin();
        struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, N), noise, sizeof noise);
        struct wick_quantise_options options = {
            .importance = wick_from_data(device, WICK_F32, WICK_SHAPE(N), importance, sizeof importance)};
        CHECK_OK(wick_read(wick_cast(wick_quantise(x, dtypes[t], NULL), WICK_F32), plain, sizeof plain));
        CHECK_OK(wick_read(wick_cast(wick_quantise(x, dtypes[t], &options), WICK_F32), weighted, sizeof weighted));
        for (int i = 0; i < N; i += 4) {
            sum[0] += pow((double)plain[i] - (double)noise[i], 2);
            sum[1] += pow((double)weighted[i] - (double)noise[i], 2);
        }
        TEST_CHECK_(sum[1] < 0.7 * sum[0], "%s: importance leaves %g of %g", wick_dtype_name(dtypes[t]), sum[1],
                    sum[0]);
        wick_scope_end(NULL);
    }
}

#define REFUSED(call, status)                                                                                          \
    do {                                                                                                               \
        wick_error_clear();                                                                                            \
        CHECK((call) == NULL);                                                                                         \
        CHECK_INT(wick_error_status(), status);                                                                        \
        wick_error_clear();                                                                                            \
    } while (0)

static void check_refusals(void) {
    float x[64] = {0};
    wick_scope_begin();
    struct wick_tensor *zeros = wick_from_data(device, WICK_F32, WICK_SHAPE(2, 32), x, sizeof x);
    REFUSED(wick_quantise(zeros, WICK_DTYPE_iq2_xxs, NULL), WICK_UNSUPPORTED);
    REFUSED(wick_quantise(zeros, WICK_F16, NULL), WICK_UNSUPPORTED);
    REFUSED(wick_quantise(zeros, WICK_DTYPE_q4_k, NULL), WICK_SHAPE);
    REFUSED(wick_quantise(zeros, WICK_DTYPE_COUNT, NULL), WICK_DTYPE);
    struct wick_quantise_options options = {.importance = zeros};
    REFUSED(wick_quantise(zeros, WICK_DTYPE_q4_0, &options), WICK_SHAPE);
    x[3] = -1;
    options.importance = wick_from_data(device, WICK_F32, WICK_SHAPE(32), x, sizeof x / 2);
    REFUSED(wick_quantise(zeros, WICK_DTYPE_q4_0, &options), WICK_RANGE);
    x[3] = NAN;
    REFUSED(wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(2, 32), x, sizeof x), WICK_DTYPE_q8_0), WICK_RANGE);
    x[3] = 65536;
    REFUSED(wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(2, 32), x, sizeof x), WICK_DTYPE_q8_0), WICK_RANGE);
    float back[64];
    CHECK_OK(wick_read(wick_cast(wick_cast(zeros, WICK_DTYPE_q5_1), WICK_F32), back, sizeof back));
    for (int i = 0; i < 64; i++) CHECK_INT((int)back[i], 0);
    CHECK(wick_cast(wick_empty(device, WICK_F16, WICK_SHAPE(0, 32)), WICK_DTYPE_q4_0) != NULL);
    wick_scope_end(NULL);
}

/* Experts of quantised weights give what each gives alone. */
static void check_experts(void) {
    static float weights[4 * 32 * 64], x[5 * 64], want[32], got[5 * 2 * 32];
    const int32_t ids[10] = {0, 3, 3, 1, 1, 1, 0, 2, 3, 0};
    for (int i = 0; i < 4 * 32 * 64; i++) weights[i] = noise[i % N] + (float)i * 1e-4f;
    wick_scope_begin();
    struct wick_tensor *w =
        wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(4, 32, 64), weights, sizeof weights), WICK_DTYPE_q4_1);
    struct wick_tensor *rows = wick_from_data(device, WICK_F32, WICK_SHAPE(5, 1, 64), waves, sizeof x);
    struct wick_tensor *chosen = wick_from_data(device, WICK_I32, WICK_SHAPE(5, 2), ids, sizeof ids);
    CHECK_OK(wick_read(wick_linear_experts(rows, w, chosen, NULL, NULL), got, sizeof got));
    for (int i = 0; i < 10; i++) {
        struct wick_tensor *y =
            wick_linear(wick_select(rows, 0, i / 2), wick_select(w, 0, ids[i]), NULL, WICK_ACTIVATION_NONE);
        CHECK_OK(wick_read(y, want, sizeof want));
        for (int j = 0; j < 32; j++) CHECK(fabs((double)(got[32 * i + j] - want[j])) < 1e-4);
    }
    int32_t wrong[10] = {0, 4};
    REFUSED(wick_linear_experts(rows, w, wick_from_data(device, WICK_I32, WICK_SHAPE(5, 2), wrong, sizeof wrong), NULL,
                                NULL),
            WICK_RANGE);
    REFUSED(wick_linear_experts(rows, w, wick_narrow(chosen, 0, 0, 4), NULL, NULL), WICK_SHAPE);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) return 1;
    make_numbers();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) check_type(t);
    check_importance();
    check_refusals();
    check_experts();
    wick_device_close(device);
    return test_end();
}
