/* Gradients against differences of what the functions themselves give, in f64, with the statistics that the norms save;
 * and their rules. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <string.h>

static struct wick_device *device;

/* ---- a function of x, and its gradient by x ---- */

struct parts {
    struct wick_tensor *mean, *inverse, *weight, *weight_gradient, *bias_gradient, *indices;
};

static struct wick_tensor *softmax(const struct wick_tensor *x, struct parts *p) {
    (void)p;
    return wick_softmax(x, 1);
}
static struct wick_tensor *softmax_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    return wick_softmax_backward(g, softmax(x, p), 1);
}

static struct wick_tensor *log_softmax(const struct wick_tensor *x, struct parts *p) {
    (void)p;
    return wick_log_softmax(x, -1);
}
static struct wick_tensor *log_softmax_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    return wick_log_softmax_backward(g, log_softmax(x, p), -1);
}

static struct wick_norm_options options_of(struct parts *p, bool centered) {
    return (struct wick_norm_options){
        .weight = p->weight, .epsilon = 0.1, .mean = centered ? &p->mean : NULL, .inverse_deviation = &p->inverse};
}
static struct wick_norm_backward_options places_of(struct parts *p, bool centered) {
    return (struct wick_norm_backward_options){.weight = p->weight,
                                               .weight_gradient = &p->weight_gradient,
                                               .bias_gradient = centered ? &p->bias_gradient : NULL};
}

static struct wick_tensor *layer_norm(const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_options options = options_of(p, true);
    return wick_layer_norm_with(x, 1, &options);
}
static struct wick_tensor *layer_norm_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_backward_options places = places_of(p, true);
    layer_norm(x, p);
    return wick_layer_norm_backward(g, x, p->mean, p->inverse, 1, &places);
}

static struct wick_tensor *rms_norm(const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_options options = options_of(p, false);
    return wick_rms_norm_with(x, &options);
}
static struct wick_tensor *rms_norm_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_backward_options places = places_of(p, false);
    rms_norm(x, p);
    return wick_rms_norm_backward(g, x, p->inverse, &places);
}

static struct wick_tensor *group_norm(const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_options options = options_of(p, true);
    return wick_group_norm_with(x, 2, &options);
}
static struct wick_tensor *group_norm_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_backward_options places = places_of(p, true);
    group_norm(x, p);
    return wick_group_norm_backward(g, x, p->mean, p->inverse, 2, &places);
}

static const int64_t kernel[2] = {3, 2};
static const struct wick_pool_options windows = {.stride = {2, 1}, .padding = {1, 1}, .ceil_mode = true};

static struct wick_tensor *max_pool(const struct wick_tensor *x, struct parts *p) {
    struct wick_pool_options options = windows;
    options.indices = &p->indices;
    return wick_max_pool2d(x, 2, kernel, &options);
}
static struct wick_tensor *max_pool_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    CHECK(max_pool(x, p));
    return wick_max_pool2d_backward(g, p->indices, 2, wick_tensor_shape(x) + 2, kernel, &windows);
}

static struct wick_tensor *avg_pool(const struct wick_tensor *x, struct parts *p) {
    (void)p;
    return wick_avg_pool2d(x, 2, kernel, &windows);
}
static struct wick_tensor *avg_pool_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    (void)p;
    return wick_avg_pool2d_backward(g, 2, wick_tensor_shape(x) + 2, kernel, &windows);
}

static struct wick_tensor *batch_norm(const struct wick_tensor *x, struct parts *p) {
    const struct wick_batch_norm_train_options options = {
        .weight = p->weight, .epsilon = 0.1, .mean = &p->mean, .inverse_deviation = &p->inverse};
    return wick_batch_norm_train(x, &options);
}
static struct wick_tensor *batch_norm_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    struct wick_norm_backward_options places = places_of(p, true);
    batch_norm(x, p);
    return wick_batch_norm_backward(g, x, p->mean, p->inverse, true, &places);
}

/* With statistics that do not depend on x. */
static struct wick_tensor *batch_norm_given(const struct wick_tensor *x, struct parts *p) {
    const struct wick_batch_norm_options options = {.weight = p->weight, .epsilon = 0.25};
    p->mean = wick_full(device, WICK_F64, WICK_SHAPE(6), WICK_REAL(0.75));
    p->inverse = wick_full(device, WICK_F64, WICK_SHAPE(6), WICK_REAL(0.5));
    return wick_batch_norm(x, p->mean, wick_full(device, WICK_F64, WICK_SHAPE(6), WICK_REAL(3.75)), &options);
}
static struct wick_tensor *batch_norm_given_by_x(const struct wick_tensor *g, const struct wick_tensor *x,
                                                 struct parts *p) {
    struct wick_norm_backward_options places = places_of(p, true);
    batch_norm_given(x, p);
    return wick_batch_norm_backward(g, x, p->mean, p->inverse, false, &places);
}

static const struct wick_conv_options taps = {.stride = {2, 1}, .padding = {1, 1}, .dilation = {1, 2}, .groups = 2};

static struct wick_tensor *conv(const struct wick_tensor *x, struct parts *p) {
    return wick_conv2d(x, wick_reshape(p->weight, WICK_SHAPE(6, 2, 2, 2)), NULL, &taps);
}
static struct wick_tensor *conv_by_x(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    p->weight_gradient = wick_conv2d_backward_weight(g, x, WICK_SHAPE(2, 2), &taps);
    return wick_conv2d_backward_input(g, wick_reshape(p->weight, WICK_SHAPE(6, 2, 2, 2)), 2, wick_tensor_shape(x) + 2,
                                      &taps);
}

static struct wick_tensor *conv_transpose(const struct wick_tensor *x, struct parts *p) {
    return wick_conv_transpose2d(x, wick_reshape(p->weight, WICK_SHAPE(4, 3, 2, 2)), NULL, &taps);
}
static struct wick_tensor *conv_transpose_by_x(const struct wick_tensor *g, const struct wick_tensor *x,
                                               struct parts *p) {
    p->weight_gradient = wick_conv_transpose2d_backward_weight(g, x, WICK_SHAPE(2, 2), &taps);
    return wick_conv_transpose2d_backward_input(g, wick_reshape(p->weight, WICK_SHAPE(4, 3, 2, 2)), 2,
                                                wick_tensor_shape(x) + 2, &taps);
}

static const struct {
    struct wick_tensor *(*of)(const struct wick_tensor *x, struct parts *p);
    struct wick_tensor *(*by_x)(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p);
    int rank;
    int64_t shape[4];
    int64_t weights; /* 0: none */
} functions[] = {
    {softmax, softmax_by_x, 3, {2, 5, 3}, 0},
    {log_softmax, log_softmax_by_x, 2, {3, 7}, 0},
    {layer_norm, layer_norm_by_x, 2, {4, 6}, 6},
    {rms_norm, rms_norm_by_x, 2, {4, 6}, 6},
    {group_norm, group_norm_by_x, 3, {2, 6, 3}, 6},
    {max_pool, max_pool_by_x, 4, {1, 2, 6, 5}, 0},
    {avg_pool, avg_pool_by_x, 4, {1, 2, 6, 5}, 0},
    {batch_norm, batch_norm_by_x, 3, {2, 6, 3}, 6},
    {conv, conv_by_x, 4, {1, 4, 3, 4}, 48},
    {batch_norm_given, batch_norm_given_by_x, 3, {2, 6, 3}, 6},
    {conv_transpose, conv_transpose_by_x, 4, {1, 4, 3, 3}, 48},
};

/* ---- differences ---- */

/* The sum of g f(x). */
static double loss(int f, const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p) {
    double y = 0;
    CHECK_OK(wick_read(wick_sum(wick_mul(g, functions[f].of(x, p)), WICK_ALL_DIMS, false), &y, sizeof y));
    return y;
}

/* Compares the gradient by an operand of `count` elements, x or the weight, with central differences. */
static void check_differences(int f, const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p,
                              bool by_weight, const struct wick_tensor *gradient) {
    const struct wick_tensor *varied = by_weight ? p->weight : x;
    double in[64], got[64], step = 1e-5;
    int64_t count = wick_tensor_count(varied);
    CHECK_INT(wick_tensor_count(gradient), count);
    CHECK_OK(wick_read(varied, in, sizeof *in * (size_t)count));
    CHECK_OK(wick_read(gradient, got, sizeof *got * (size_t)count));
    for (int64_t i = 0; i < count; i++) {
        double side[2], at = in[i];
        for (int k = 0; k < 2; k++) {
            in[i] = at + (k ? step : -step);
            wick_scope_begin();
            struct wick_tensor *near = wick_from_data(device, WICK_F64, wick_tensor_rank(varied),
                                                      wick_tensor_shape(varied), in, sizeof *in * (size_t)count);
            struct parts at_near = {.weight = by_weight ? near : p->weight};
            side[k] = loss(f, g, by_weight ? x : near, &at_near);
            wick_scope_end(NULL);
        }
        in[i] = at;
        CHECK_NEAR(got[i], (side[1] - side[0]) / (2 * step), 1e-8);
    }
}

static void check_function(int f) {
    wick_scope_begin();
    struct wick_tensor *x = wick_normal(device, WICK_F64, functions[f].rank, functions[f].shape, 0.5, 1);
    struct parts p = {.weight = NULL};
    if (functions[f].weights) p.weight = wick_normal(device, WICK_F64, 1, &functions[f].weights, 0, 1);
    const struct wick_tensor *y = functions[f].of(x, &p);
    struct wick_tensor *g = wick_normal(device, WICK_F64, wick_tensor_rank(y), wick_tensor_shape(y), 0, 1);
    struct wick_tensor *by_x = functions[f].by_x(g, x, &p);
    check_differences(f, g, x, &p, false, by_x);
    if (p.weight) check_differences(f, g, x, &p, true, p.weight_gradient);
    if (p.bias_gradient) {
        /* All dims but that of the weight, the second of group norm and the last of layer norm. */
        static const int others[2] = {0, 2};
        double sums[6], got[6];
        CHECK_OK(wick_read(wick_sum(g, functions[f].rank - 1, others, false), sums, sizeof sums));
        CHECK_OK(wick_read(p.bias_gradient, got, sizeof got));
        for (int i = 0; i < 6; i++) CHECK_NEAR(got[i], sums[i], 1e-14 * 100);
    }
    wick_scope_end(NULL);
}

/* ---- rules ---- */

static void refuses(const struct wick_tensor *result, enum wick_status status, const char *rule) {
    CHECK(!result && wick_error_status() == status && strstr(wick_error(), rule));
    if (!strstr(wick_error(), rule)) CHECK_TEXT(wick_error(), rule);
    wick_error_clear();
}

static void check_rules(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(2, 3)),
                       *s = wick_ones(device, WICK_F32, WICK_SHAPE(2));
    struct wick_tensor *wide = wick_ones(device, WICK_F64, WICK_SHAPE(2)), *weight = NULL, *bias = NULL;
    struct wick_tensor *long_x = wick_ones(device, WICK_F32, WICK_SHAPE(3, 2));
    const struct wick_norm_backward_options of_bias = {.bias_gradient = &bias}, wrong = {.weight = s};
    const struct wick_norm_backward_options both = {.weight_gradient = &weight, .bias_gradient = &bias};
    refuses(wick_softmax_backward(x, long_x, 0), WICK_SHAPE, "gradient and result must have one shape");
    refuses(wick_softmax_backward(x, x, 2), WICK_RANGE, "dim 2");
    refuses(wick_softmax_backward(x, NULL, 0), WICK_INVALID, "result");
    refuses(wick_layer_norm_backward(x, long_x, s, s, 1, NULL), WICK_SHAPE, "gradient and x must have one shape");
    refuses(wick_layer_norm_backward(x, x, x, s, 1, NULL), WICK_SHAPE, "mean must be [2]");
    refuses(wick_layer_norm_backward(x, x, s, wide, 1, NULL), WICK_DTYPE, "inverse_deviation must be f32");
    refuses(wick_layer_norm_backward(x, x, s, s, 3, NULL), WICK_RANGE, "3 axes are not in 1..2");
    refuses(wick_layer_norm_backward(x, x, s, s, 1, &wrong), WICK_SHAPE, "weight must be [3]");
    refuses(wick_rms_norm_backward(x, x, s, &of_bias), WICK_INVALID, "there is no bias");
    refuses(wick_group_norm_backward(x, x, s, s, 2, NULL), WICK_SHAPE, "2 groups do not divide 3 channels");
    CHECK(!bias && !weight);
    struct wick_tensor *image = wick_ones(device, WICK_F32, WICK_SHAPE(1, 1, 2, 2)), *at = wick_cast(image, WICK_U32);
    const int64_t two[2] = {2, 2}, four[2] = {4, 4}, five[2] = {5, 6}, far[2] = {65536, 65536}, below[2] = {-1, 4};
    const struct wick_pool_options asks = {.indices = &weight};
    CHECK(wick_max_pool2d_backward(image, at, 2, four, two, NULL) != NULL);
    refuses(wick_max_pool2d_backward(image, at, 2, five, two, NULL), WICK_SHAPE, "must be those of the windows, [2,3]");
    refuses(wick_max_pool2d_backward(image, image, 2, four, two, NULL), WICK_DTYPE, "indices must be of");
    refuses(wick_max_pool2d_backward(image, at, 2, far, two, NULL), WICK_OVERFLOW, "do not fit in 32 bits");
    refuses(wick_avg_pool2d_backward(image, 2, below, two, NULL), WICK_INVALID, "size -1 of spatial dim 0");
    refuses(wick_avg_pool2d_backward(image, 3, four, two, NULL), WICK_INVALID, "3 sizes for 2 spatial dims");
    refuses(wick_avg_pool2d_backward(image, 2, four, NULL, NULL), WICK_INVALID, "at NULL");
    refuses(wick_avg_pool2d_backward(image, 2, four, two, &asks), WICK_INVALID, "no indices");
    CHECK(!weight);
    /* Sums of no terms are 0. */
    struct wick_tensor *none = wick_zeros(device, WICK_F32, WICK_SHAPE(0, 3)),
                       *no = wick_zeros(device, WICK_F32, WICK_SHAPE(0));
    float zeros[3] = {1, 1, 1};
    CHECK(wick_layer_norm_backward(none, none, no, no, 1, &both) != NULL);
    CHECK_OK(wick_read(weight, zeros, sizeof zeros));
    for (int i = 0; i < 3; i++) CHECK(zeros[i] == 0);
    /* The bias alone. */
    bias = NULL;
    CHECK(wick_layer_norm_backward(x, x, s, s, 1, &of_bias) != NULL);
    CHECK_OK(wick_read(bias, zeros, sizeof zeros));
    for (int i = 0; i < 3; i++) CHECK(zeros[i] == 2);
    wick_scope_end(NULL);
}

static void check_conv_rules(void) {
    wick_scope_begin();
    struct wick_tensor *g = wick_ones(device, WICK_F32, WICK_SHAPE(1, 4, 3, 3));
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(1, 2, 4, 4));
    struct wick_tensor *weight = wick_ones(device, WICK_F32, WICK_SHAPE(4, 2, 2, 2));
    struct wick_tensor *flat = wick_reshape(x, WICK_SHAPE(32));
    const int64_t four[2] = {4, 4}, five[2] = {5, 4}, two[2] = {2, 2}, three[2] = {3, 2}, below[2] = {-1, 4};
    const struct wick_conv_options relu = {.relu = true}, thirds = {.groups = 3}, halves = {.groups = 2};
    const struct wick_conv_options negative = {.groups = -1};
    CHECK(wick_conv2d_backward_input(g, weight, 2, four, NULL) != NULL);
    CHECK(wick_conv2d_backward_weight(g, x, 2, two, NULL) != NULL);
    refuses(wick_conv2d_backward_input(g, weight, 2, five, NULL), WICK_SHAPE, "must be those of the result, [4,3]");
    refuses(wick_conv2d_backward_input(g, weight, 2, below, NULL), WICK_INVALID, "size -1 of spatial dim 0");
    refuses(wick_conv2d_backward_input(g, weight, 3, four, NULL), WICK_INVALID, "3 sizes for 2 spatial dims");
    refuses(wick_conv2d_backward_input(g, weight, 2, NULL, NULL), WICK_INVALID, "at NULL");
    refuses(wick_conv2d_backward_input(g, flat, 2, four, NULL), WICK_SHAPE, "weight has rank 1, not 4");
    refuses(wick_conv2d_backward_input(g, weight, 2, four, &relu), WICK_INVALID, "wick_relu_backward");
    refuses(wick_conv2d_backward_input(g, weight, 2, four, &thirds), WICK_SHAPE, "groups 3 does not divide 4 output");
    refuses(wick_conv2d_backward_input(g, weight, 2, four, &negative), WICK_INVALID, "groups -1 is not >= 1");
    refuses(wick_conv2d_backward_input(x, weight, 2, four, NULL), WICK_SHAPE, "weight is for 4 output channels");
    refuses(wick_conv_transpose2d_backward_input(x, weight, 2, four, &halves), WICK_SHAPE, "weight is for 4 output");
    refuses(wick_conv2d_backward_weight(g, x, 2, three, NULL), WICK_SHAPE, "must be those of the result, [2,3]");
    refuses(wick_conv2d_backward_weight(g, x, 2, below, NULL), WICK_SHAPE, "spatial dim 0 of weight is empty");
    refuses(wick_conv2d_backward_weight(g, wick_cat(2, (struct wick_tensor *[]){x, x}, 0), 2, two, NULL), WICK_SHAPE,
            "gradient is of 1 images, x of 2");
    refuses(wick_conv_backward_bias(flat), WICK_SHAPE, "[N,C,...]");
    wick_scope_end(NULL);
}

/* Running statistics, by momentum and as an average; and what they refuse. */
static void check_running(void) {
    const double values[8] = {1, 2, 3, 6, -1, 1, 5, 7}; /* [2,2,2]: channel 0 has 1, 2, -1, 1 */
    double mean[2], variance[2];
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, WICK_F64, WICK_SHAPE(2, 2, 2), values, sizeof values);
    struct wick_tensor *m = wick_full(device, WICK_F64, WICK_SHAPE(2), WICK_REAL(2));
    struct wick_tensor *v = wick_full(device, WICK_F64, WICK_SHAPE(2), WICK_REAL(4)), *kept = NULL;
    struct wick_batch_norm_train_options options = {
        .epsilon = 1e-3, .running_mean = m, .running_variance = v, .momentum = 0.25};
    CHECK(wick_batch_norm_train(x, &options) != NULL);
    CHECK_OK(wick_read(m, mean, sizeof mean));
    CHECK_OK(wick_read(v, variance, sizeof variance));
    CHECK_NEAR(mean[0], 0.75 * 2 + 0.25 * 0.75, 1e-14);
    CHECK_NEAR(mean[1], 0.75 * 2 + 0.25 * 5.25, 1e-14);
    CHECK_NEAR(variance[0], 0.75 * 4 + 0.25 * 4.75 / 3, 1e-12);
    CHECK_NEAR(variance[1], 0.75 * 4 + 0.25 * 8.75 / 3, 1e-12);
    /* The second call with 1 / 2 after one with 1 gives the average of both. */
    options.momentum = 1;
    CHECK(wick_batch_norm_train(wick_mul_scalar(x, WICK_REAL(3)), &options) != NULL);
    options.momentum = 0.5;
    CHECK(wick_batch_norm_train(x, &options) != NULL);
    CHECK_OK(wick_read(m, mean, sizeof mean));
    CHECK_OK(wick_read(v, variance, sizeof variance));
    CHECK_NEAR(mean[0], 0.75 * (1 + 3) / 2, 1e-14);
    CHECK_NEAR(variance[1], 8.75 / 3 * (1 + 9) / 2, 1e-12);
    options.momentum = 2;
    options.mean = &kept;
    refuses(wick_batch_norm_train(x, &options), WICK_INVALID, "momentum 2 is not in 0..1");
    options.momentum = 1;
    refuses(wick_batch_norm_train(wick_narrow(wick_narrow(x, 0, 0, 1), 2, 0, 1), &options), WICK_SHAPE,
            "needs 2 elements of a channel, x has 1");
    options.running_mean = wick_zeros(device, WICK_F32, WICK_SHAPE(2));
    refuses(wick_batch_norm_train(x, &options), WICK_DTYPE, "running_mean must be f64");
    options.running_mean = wick_expand(wick_zeros(device, WICK_F64, WICK_SHAPE(1)), WICK_SHAPE(2));
    refuses(wick_batch_norm_train(x, &options), WICK_INVALID, "elements of running_mean share addresses");
    options.running_mean = wick_zeros(device, WICK_F64, WICK_SHAPE(3));
    refuses(wick_batch_norm_train(x, &options), WICK_SHAPE, "running_mean must be [2]");
    refuses(wick_batch_norm_backward(x, x, m, wick_cast(m, WICK_F32), true, NULL), WICK_DTYPE,
            "inverse_deviation must be f64");
    refuses(wick_batch_norm_backward(x, wick_narrow(x, 2, 0, 1), m, v, true, NULL), WICK_SHAPE, "must have one shape");
    refuses(wick_batch_norm_backward(m, m, m, v, true, NULL), WICK_SHAPE, "x must be [N,C,...]");
    CHECK(!kept);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    CHECK_OK(wick_seed_set(device, 3));
    for (int f = 0; f < (int)(sizeof functions / sizeof *functions); f++) check_function(f);
    check_rules();
    check_conv_rules();
    check_running();
    wick_device_close(device);
    return test_end();
}
