/* What the table-driven cases of resizing, padding, unpooling, windows as columns and local response norm do not say:
 * refusals, positions of adaptive pooling, ties of unpooling, and gradients against differences of the functions, in
 * f64. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

static struct wick_device *device;

/* ---- gradients against differences ---- */

typedef struct wick_tensor *function(const struct wick_tensor *x);
typedef struct wick_tensor *gradient(const struct wick_tensor *g, const struct wick_tensor *x);

static const int64_t sizes[2] = {9, 4}, windows[2] = {2, 3}, before[4] = {0, 1, 2, -1}, after[4] = {0, 0, 3, 2};
static const struct wick_upsample_options corners = {.align_corners = true};
static const struct wick_response_options channels = {.size = 2, .alpha = 0.5, .beta = 0.75, .k = 1};
static const struct wick_response_options planes = {
    .size = 3, .alpha = 0.5, .beta = 0.75, .k = 1, .within_channels = true};

#define SIZE wick_tensor_shape(x) + 2
static struct wick_tensor *nearest(const struct wick_tensor *x) { return wick_upsample_nearest2d(x, 2, sizes, NULL); }
static struct wick_tensor *nearest_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_upsample_nearest_backward(g, 2, SIZE, NULL);
}
static struct wick_tensor *exact(const struct wick_tensor *x) { return wick_upsample_nearest_exact(x, 2, sizes, NULL); }
static struct wick_tensor *exact_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_upsample_nearest_exact_backward(g, 2, SIZE, NULL);
}
static struct wick_tensor *linear(const struct wick_tensor *x) {
    return wick_upsample_bilinear2d(x, 2, sizes, &corners);
}
static struct wick_tensor *linear_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_upsample_linear_backward(g, 2, SIZE, &corners);
}
static struct wick_tensor *cubic(const struct wick_tensor *x) { return wick_upsample_bicubic2d(x, 2, sizes, NULL); }
static struct wick_tensor *cubic_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_upsample_bicubic2d_backward(g, 2, SIZE, NULL);
}
static struct wick_tensor *adaptive(const struct wick_tensor *x) { return wick_adaptive_avg_pool2d(x, 2, sizes); }
static struct wick_tensor *adaptive_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_adaptive_avg_pool_backward(g, 2, SIZE);
}
static struct wick_tensor *largest(const struct wick_tensor *x) { return wick_adaptive_max_pool2d(x, 2, windows); }
static struct wick_tensor *largest_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    struct wick_tensor *indices = NULL;
    CHECK(wick_adaptive_max_pool_with_indices(x, 2, windows, &indices) != NULL);
    return wick_adaptive_max_pool_backward(g, indices, 2, SIZE);
}
#define PADDED(name, mode)                                                                                             \
    static struct wick_tensor *name(const struct wick_tensor *x) {                                                     \
        return wick_pad(x, 4, before, after, mode, WICK_INT(1));                                                       \
    }                                                                                                                  \
    static struct wick_tensor *name##_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {                 \
        (void)x;                                                                                                       \
        return wick_pad_backward(g, 4, before, after, mode);                                                           \
    }
PADDED(margin, WICK_PAD_CONSTANT)
PADDED(mirror, WICK_PAD_REFLECT)
PADDED(edge, WICK_PAD_REPLICATE)
PADDED(circle, WICK_PAD_CIRCULAR)
static struct wick_tensor *lp(const struct wick_tensor *x) { return wick_lp_pool(x, 3, 2, windows, NULL); }
static struct wick_tensor *lp_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_lp_pool_backward(g, x, 3, 2, windows, NULL);
}
static struct wick_tensor *columns(const struct wick_tensor *x) { return wick_im2col(x, 2, windows, NULL); }
static struct wick_tensor *columns_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_col2im(g, 2, SIZE, windows, NULL);
}
static struct wick_tensor *across(const struct wick_tensor *x) { return wick_local_response_norm(x, &channels); }
static struct wick_tensor *across_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_local_response_norm_backward(g, x, &channels);
}
static struct wick_tensor *within(const struct wick_tensor *x) { return wick_local_response_norm(x, &planes); }
static struct wick_tensor *within_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {
    return wick_local_response_norm_backward(g, x, &planes);
}

/* Places between -1.5 and 1.4, the same in each call, off the corners of all interpolations. */
static struct wick_tensor *grid(void) {
    float places[2 * 3 * 4 * 2];
    for (int i = 0; i < 48; i++) places[i] = (float)(i * 29 % 48) * 0.0603f - 1.5f;
    return wick_cast(wick_from_data(device, WICK_F32, WICK_SHAPE(2, 3, 4, 2), places, sizeof places), WICK_F64);
}
static const struct wick_grid_sample_options zeros = {.align_corners = false},
                                             border = {.padding = WICK_GRID_BORDER, .align_corners = true},
                                             cubes = {.mode = WICK_GRID_BICUBIC, .padding = WICK_GRID_REFLECTION};
static struct wick_tensor *image(void) {
    struct wick_tensor *x = wick_arange(device, WICK_F64, WICK_INT(0), WICK_INT(2 * 3 * 6 * 5), WICK_INT(1));
    return wick_reshape(wick_sin(x), WICK_SHAPE(2, 3, 6, 5));
}
/* x [2,3,5,7] as places, along one dim as they are and along the other turned round. */
static struct wick_tensor *places(const struct wick_tensor *x) {
    struct wick_tensor *at = wick_add_scalar(wick_reshape(x, WICK_SHAPE(2, 15, 7, 1)), WICK_REAL(-1.25));
    return wick_cat(2, (struct wick_tensor *const[]){at, wick_neg(at)}, 3);
}
#define SAMPLED(name, how)                                                                                             \
    static struct wick_tensor *name(const struct wick_tensor *x) { return wick_grid_sample(x, grid(), &how); }         \
    static struct wick_tensor *name##_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {                 \
        return wick_grid_sample_backward_input(g, grid(), 2, SIZE, &how);                                              \
    }                                                                                                                  \
    static struct wick_tensor *name##_at(const struct wick_tensor *x) {                                                \
        return wick_grid_sample(image(), places(x), &how);                                                             \
    }                                                                                                                  \
    static struct wick_tensor *name##_at_by_x(const struct wick_tensor *g, const struct wick_tensor *x) {              \
        struct wick_tensor *both = wick_grid_sample_backward_grid(g, image(), places(x), &how);                        \
        struct wick_tensor *one = wick_sub(wick_narrow(both, 3, 0, 1), wick_narrow(both, 3, 1, 1));                    \
        return wick_reshape(one, WICK_SHAPE(2, 3, 5, 7));                                                              \
    }
SAMPLED(sampled, zeros)
SAMPLED(bordered, border)
SAMPLED(cubed, cubes)

/* The sum of f(x) g. */
static double loss(function *f, const struct wick_tensor *x, const struct wick_tensor *g) {
    double sum = 0;
    CHECK_OK(wick_read(wick_sum(wick_mul(f(x), g), WICK_ALL_DIMS, false), &sum, sizeof sum));
    return sum;
}

static void check_gradient(const char *name, function *f, gradient *by_x) {
    enum { COUNT = 2 * 3 * 5 * 7 };
    double slope[COUNT], values[COUNT];
    wick_scope_begin();
    struct wick_tensor *x = wick_uniform(device, WICK_F64, WICK_SHAPE(2, 3, 5, 7), 0.5, 2), *y = f(x);
    CHECK(y != NULL);
    struct wick_tensor *g = wick_uniform(device, WICK_F64, wick_tensor_rank(y), wick_tensor_shape(y), -1, 1);
    struct wick_tensor *slopes = by_x(g, x);
    CHECK(slopes != NULL);
    CHECK_OK(wick_read(slopes, slope, sizeof slope));
    CHECK_OK(wick_read(x, values, sizeof values));
    for (int i = 0; i < COUNT; i += 13) {
        const double step = 1e-6, here = values[i];
        double at[2];
        for (int side = 0; side < 2; side++) {
            wick_scope_begin();
            values[i] = here + (side ? step : -step);
            at[side] = loss(f, wick_from_data(device, WICK_F64, WICK_SHAPE(2, 3, 5, 7), values, sizeof values), g);
            wick_scope_end(NULL);
        }
        values[i] = here;
        double difference = (at[1] - at[0]) / (2 * step);
        TEST_CHECK_(fabs(difference - slope[i]) < 1e-6, "%s: element %d: %g, by differences %g", name, i, slope[i],
                    difference);
    }
    wick_scope_end(NULL);
}

/* ---- positions ---- */

static void check_values(const struct wick_tensor *y, const float want[4]) {
    float got[4] = {0};
    CHECK(y != NULL);
    CHECK_OK(wick_read(y, got, sizeof got));
    CHECK_BYTES(got, want, sizeof got);
}
#define CHECK_VALUES(y, ...) check_values(y, (const float[4]){__VA_ARGS__})

static void check_positions(void) {
    wick_scope_begin();
    struct wick_tensor *indices = NULL, *x = wick_arange(device, WICK_F32, WICK_INT(0), WICK_INT(12), WICK_INT(1));
    struct wick_tensor *y =
        wick_adaptive_max_pool_with_indices(wick_reshape(x, WICK_SHAPE(1, 1, 3, 4)), WICK_SHAPE(2, 2), &indices);
    CHECK_VALUES(wick_cast(y, WICK_F32), 5, 7, 9, 11);
    CHECK_VALUES(wick_cast(indices, WICK_F32), 5, 7, 9, 11);
    /* The last of equal indices stays, and 2^32 - 1 is skipped. */
    const uint32_t at[4] = {2, 0, 2, UINT32_MAX};
    struct wick_tensor *to = wick_from_data(device, WICK_U32, WICK_SHAPE(1, 1, 4), at, sizeof at);
    struct wick_tensor *small = wick_reshape(wick_narrow(x, 0, 5, 4), WICK_SHAPE(1, 1, 4));
    CHECK_VALUES(wick_max_unpool(small, to, WICK_SHAPE(4)), 6, 0, 7, 0);
    CHECK_VALUES(wick_max_unpool_backward(small, to), 7, 5, 7, 0);
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
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(1, 2, 4, 4)), *at = wick_cast(x, WICK_U32);
    const int64_t two[2] = {2, 2}, none[2] = {0, 2}, less[4] = {0, 0, -5, 0}, zero[4] = {0}, four[4] = {0, 0, 4, 0};
    struct wick_tensor *given = NULL;
    refuses(wick_upsample_nearest_backward(x, 2, none, NULL), WICK_SHAPE, "of size 0 can't be resized to 4");
    refuses(wick_upsample_nearest_backward(x, 1, two, NULL), WICK_SHAPE, "rank 4 is not 3");
    refuses(wick_upsample_bicubic2d_backward(x, 3, two, NULL), WICK_INVALID, "3 sizes for 2 spatial dims");
    refuses(wick_upsample_nearest_exact(wick_reshape(x, WICK_SHAPE(32)), 0, NULL, NULL), WICK_SHAPE,
            "rank 1 is not 3, 4 or 5");
    refuses(wick_adaptive_avg_pool_backward(x, 2, none), WICK_SHAPE, "size 0 of spatial dim 0 is not >= 1");
    refuses(wick_adaptive_max_pool_backward(x, wick_narrow(at, 3, 0, 2), 2, two), WICK_SHAPE, "must have one shape");
    refuses(wick_adaptive_max_pool_with_indices(x, 2, two, NULL), WICK_INVALID, "indices is NULL");
    refuses(wick_adaptive_max_pool_with_indices(x, 4, two, &given), WICK_INVALID, "4 is not 1, 2 or 3 spatial dims");
    refuses(wick_pad(x, 4, less, zero, WICK_PAD_CONSTANT, WICK_INT(0)), WICK_SHAPE,
            "padding -5, 0 takes more than dim 2 of size 4 has");
    refuses(wick_pad_backward(x, 4, four, zero, WICK_PAD_CIRCULAR), WICK_SHAPE, "dim 2 is empty");
    refuses(wick_pad_backward(x, 4, zero, (const int64_t[]){0, 3, 0, 0}, WICK_PAD_CONSTANT), WICK_SHAPE,
            "no dim 1 with padding 0, 3 has size 2");
    refuses(wick_max_unpool(x, wick_narrow(at, 3, 0, 2), 2, two), WICK_SHAPE, "x and indices must have one shape");
    refuses(wick_max_unpool(x, at, 3, two), WICK_INVALID, "3 sizes for 2 spatial dims");
    refuses(wick_lp_pool(x, 0, 2, two, NULL), WICK_INVALID, "p 0 is not finite and other than 0");
    refuses(wick_lp_pool(x, 2, 2, two, &(struct wick_pool_options){.divisor = 2}), WICK_INVALID, "divisor");
    refuses(wick_im2col(x, 2, none, NULL), WICK_INVALID, "kernel 0, stride 0");
    refuses(wick_im2col(x, 2, (const int64_t[]){5, 1}, NULL), WICK_SHAPE, "the kernel reaches over 5 elements");
    refuses(wick_col2im(x, 2, two, two, NULL), WICK_SHAPE, "columns must be [N, a multiple of 4, 1]");
    refuses(wick_local_response_norm(x, NULL), WICK_INVALID, "options is NULL");
    refuses(wick_local_response_norm(x, &(struct wick_response_options){.size = 2, .within_channels = true}),
            WICK_INVALID, "size 2 within channels is not odd");
    CHECK(!given);
    struct wick_tensor *at_all = wick_zeros(device, WICK_F32, WICK_SHAPE(1, 3, 3, 2));
    refuses(wick_grid_sample(x, x, NULL), WICK_SHAPE, "grid must be [1,out...,2] of rank 4");
    refuses(wick_grid_sample(wick_reshape(x, WICK_SHAPE(1, 2, 16)), at_all, NULL), WICK_SHAPE,
            "1 spatial dims are not");
    refuses(wick_grid_sample_backward_input(x, at_all, 2, two, NULL), WICK_SHAPE, "gradient must be [1,2,out...]");
    refuses(wick_grid_sample(wick_narrow(x, 2, 0, 0), at_all, NULL), WICK_SHAPE, "spatial dim 0 of x of size 0");
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device != NULL);
#define GRADIENT(name) check_gradient(#name, name, name##_by_x)
    GRADIENT(nearest), GRADIENT(exact), GRADIENT(linear), GRADIENT(cubic), GRADIENT(adaptive), GRADIENT(largest);
    GRADIENT(margin), GRADIENT(mirror), GRADIENT(edge), GRADIENT(circle), GRADIENT(lp), GRADIENT(columns);
    GRADIENT(across), GRADIENT(within), GRADIENT(sampled), GRADIENT(bordered), GRADIENT(cubed), GRADIENT(sampled_at);
    GRADIENT(bordered_at), GRADIENT(cubed_at);
    check_positions();
    check_rules();
    wick_device_close(device);
    return test_end();
}
