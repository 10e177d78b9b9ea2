/* The gradients of attention against differences of what attention itself gives, in f64; and their rules. On the device
 * named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <string.h>

enum { HEADS = 4, KEY_HEADS = 2, QUERIES = 5, KEYS = 7, DEPTH = 3, WIDTH = 2 };
enum { Q = HEADS * QUERIES * DEPTH, K = KEY_HEADS * KEYS * DEPTH, V = KEY_HEADS * KEYS * WIDTH, MOST = Q };
enum { ROWS = HEADS * QUERIES, RESULT = ROWS * WIDTH };

static struct wick_device *device;

static const struct wick_attention_options *function;
static struct wick_tensor *mask;

static struct wick_tensor *upload(const double *from, int64_t heads, int64_t n, int64_t length) {
    return wick_from_data(device, WICK_F64, WICK_SHAPE(1, heads, n, length), from,
                          sizeof *from * (size_t)(heads * n * length));
}

struct operands {
    double q[Q], k[K], v[V];
};

/* The sum of the result's elements, each times its own weight. */
static double loss(const struct operands *x, const double *weights) {
    double y[RESULT], sum = 0;
    wick_scope_begin();
    struct wick_tensor *out =
        wick_scaled_dot_product_attention(upload(x->q, HEADS, QUERIES, DEPTH), upload(x->k, KEY_HEADS, KEYS, DEPTH),
                                          upload(x->v, KEY_HEADS, KEYS, WIDTH), mask, function);
    CHECK(wick_read(out, y, sizeof y) == WICK_OK);
    wick_scope_end(NULL);
    for (int i = 0; i < RESULT; i++) sum += weights[i] * y[i];
    return sum;
}

/* Compares a gradient with differences by `n` numbers of x, which are at `at`. */
static void compare(struct operands *x, double *at, int n, const struct wick_tensor *gradient, const double *weights,
                    const char *name) {
    double got[MOST];
    const double step = 1e-5;
    CHECK(wick_read(gradient, got, sizeof *got * (size_t)n) == WICK_OK);
    for (int i = 0; i < n; i++) {
        double before = at[i], above, below;
        at[i] = before + step;
        above = loss(x, weights);
        at[i] = before - step;
        below = loss(x, weights);
        at[i] = before;
        double want = (above - below) / (2 * step);
        TEST_CHECK_(fabs(got[i] - want) < 1e-8, "gradient of %s[%d] is %g, should be %g", name, i, got[i], want);
    }
}

static void fill(double *to, int n, uint64_t state) {
    for (int i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        to[i] = (double)(state >> 40) / (1 << 23) - 1;
    }
}

static void check_differences(const struct wick_attention_options *options, struct wick_tensor *with) {
    static struct operands x;
    double weights[RESULT];
    fill(x.q, Q, 7);
    fill(x.k, K, 8);
    fill(x.v, V, 9);
    for (int i = 0; i < RESULT; i++) weights[i] = (i * 7 % 11 - 5) / 4.0;
    function = options;
    mask = with;
    struct wick_tensor *q = upload(x.q, HEADS, QUERIES, DEPTH), *k = upload(x.k, KEY_HEADS, KEYS, DEPTH);
    struct wick_tensor *v = upload(x.v, KEY_HEADS, KEYS, WIDTH), *sums, *dk, *dv;
    struct wick_attention_options first = *options;
    first.log_sums = &sums;
    struct wick_tensor *result = wick_scaled_dot_product_attention(q, k, v, with, &first);
    struct wick_attention_backward places = {
        .result = result, .log_sums = sums, .mask = with, .function = options, .k_gradient = &dk, .v_gradient = &dv};
    struct wick_tensor *gradient = upload(weights, HEADS, QUERIES, WIDTH);
    struct wick_tensor *dq = wick_scaled_dot_product_attention_backward(gradient, q, k, v, &places);
    CHECK(dq != NULL);
    if (!dq) return;
    compare(&x, x.q, Q, dq, weights, "q");
    compare(&x, x.k, K, dk, weights, "k");
    compare(&x, x.v, V, dv, weights, "v");
}

static void check_refused(const struct wick_tensor *y, enum wick_status status, const char *text) {
    CHECK(y == NULL);
    CHECK_INT(wick_error_status(), status);
    TEST_CHECK_(strstr(wick_error(), text) != NULL, "\"%s\" does not say \"%s\"", wick_error(), text);
    wick_error_clear();
}

static void check_arguments(void) {
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3, 5, 4)), *three, *starts, *other = NULL;
    struct wick_tensor *sums = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3, 5));
    three = wick_ones(device, WICK_F32, WICK_SHAPE(6, 3, 4));
    starts = wick_zeros(device, WICK_I32, WICK_SHAPE(3));
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, NULL), WICK_INVALID, "options are NULL");
    struct wick_attention_backward places = {.log_sums = sums};
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &places), WICK_INVALID, "result is NULL");
    places.result = three;
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &places), WICK_SHAPE,
                  "result is not [2,3,5,4]");
    places.result = x;
    CHECK(wick_scaled_dot_product_attention_backward(x, x, x, x, &places) != NULL);
    places.log_sums = wick_ones(device, WICK_F64, WICK_SHAPE(2, 3, 5));
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &places), WICK_DTYPE, "log_sums must be f32");
    places.log_sums = sums;
    places.q_starts = starts;
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &places), WICK_INVALID, "packed sequences");
    places.q_starts = NULL;
    places.function = &(struct wick_attention_options){.log_sums = &other};
    check_refused(wick_scaled_dot_product_attention_backward(x, x, x, x, &places), WICK_INVALID, "log_sums");
    places = (struct wick_attention_backward){
        .result = three, .log_sums = wick_ones(device, WICK_F32, WICK_SHAPE(6, 3)), .q_starts = starts, .mask = sums};
    check_refused(wick_attention_packed_backward(three, three, three, three, &places), WICK_INVALID, "no mask");
    places.mask = NULL;
    check_refused(wick_attention_packed_backward(three, three, three, three, &places), WICK_INVALID,
                  "k_starts is NULL");
    /* Starts that do not end with the number of positions, which a GPU reports when a result is read. */
    float out[72];
    places.k_starts = starts;
    struct wick_tensor *y = wick_attention_packed_backward(three, three, three, three, &places);
    CHECK((y ? wick_read(y, out, sizeof out) : wick_error_status()) == WICK_RANGE);
    wick_error_clear();
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device != NULL);
    if (!device) return test_end();
    wick_scope_begin();
    const float slopes[HEADS] = {0.25f, 0.5f, 0, 1};
    const uint8_t keep[KEYS] = {1, 0, 1, 1, 1, 0, 1};
    check_differences(&(struct wick_attention_options){.scale = 0.75}, NULL);
    check_differences(&(struct wick_attention_options){.causal = true, .align_last = true, .soft_cap = 0.8}, NULL);
    check_differences(&(struct wick_attention_options){.windowed = true,
                                                       .left = 2,
                                                       .right = 1,
                                                       .soft_cap = 3,
                                                       .slopes = wick_from_data(device, WICK_F32, WICK_SHAPE(HEADS),
                                                                                slopes, sizeof slopes)},
                      wick_from_data(device, WICK_U8, WICK_SHAPE(KEYS), keep, sizeof keep));
    check_arguments();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
