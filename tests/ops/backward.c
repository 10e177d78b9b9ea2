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

static const struct {
    struct wick_tensor *(*of)(const struct wick_tensor *x, struct parts *p);
    struct wick_tensor *(*by_x)(const struct wick_tensor *g, const struct wick_tensor *x, struct parts *p);
    int rank;
    int64_t shape[4];
    int64_t weights; /* 0: no norm */
} functions[] = {
    {softmax, softmax_by_x, 3, {2, 5, 3}, 0},       {log_softmax, log_softmax_by_x, 2, {3, 7}, 0},
    {layer_norm, layer_norm_by_x, 2, {4, 6}, 6},    {rms_norm, rms_norm_by_x, 2, {4, 6}, 6},
    {group_norm, group_norm_by_x, 3, {2, 6, 3}, 6}, {max_pool, max_pool_by_x, 4, {1, 2, 6, 5}, 0},
    {avg_pool, avg_pool_by_x, 4, {1, 2, 6, 5}, 0},
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

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    CHECK_OK(wick_seed_set(device, 3));
    for (int f = 0; f < (int)(sizeof functions / sizeof *functions); f++) check_function(f);
    check_rules();
    wick_device_close(device);
    return test_end();
}
