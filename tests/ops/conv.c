/* What the table-driven cases of convolution, pooling, resizing and padding do not say: refusals and their texts, and
 * images of more than one band. */
#include "tests/test.h"

static struct wick_device *cpu;

#define SHAPE WICK_SHAPE

static void test_conv_refusals(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, SHAPE(1, 4, 5, 5)),
                       *w = wick_ones(cpu, WICK_F32, SHAPE(6, 4, 3, 3));
    struct wick_tensor *half = wick_ones(cpu, WICK_F16, SHAPE(6, 4, 3, 3)), *b = wick_ones(cpu, WICK_F32, SHAPE(5));
    struct wick_tensor *none = wick_ones(cpu, WICK_F32, SHAPE(6, 4, 0, 3)),
                       *two = wick_ones(cpu, WICK_F32, SHAPE(6, 2, 3, 3));
    const int64_t huge = INT64_MAX / 2;
#define OPERANDS "x [1,4,5,5] f32, weight [6,4,3,3] f32 on cpu: "
#define REFUSED(options, status, text)                                                                                 \
    CHECK_FAILS(wick_conv2d(x, w, NULL, &(struct wick_conv_options)options), status, "conv2d: " OPERANDS text)
#define ARG(...) {__VA_ARGS__}
    CHECK_FAILS(wick_conv2d(x, NULL, NULL, NULL), WICK_INVALID, "conv2d: weight is NULL");
    CHECK_FAILS(wick_conv1d(x, w, NULL, NULL), WICK_SHAPE, "conv1d: " OPERANDS "x has rank 4, not 3");
    CHECK_FAILS(wick_conv2d(x, half, NULL, NULL), WICK_DTYPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,3,3] f16 on cpu: dtypes differ, x has f32 and weight has f16");
    CHECK_FAILS(wick_conv2d(x, w, b, NULL), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,3,3] f32, bias [5] f32 on cpu: bias is not [6]");
    CHECK_FAILS(wick_conv2d(x, none, NULL, NULL), WICK_SHAPE,
                "conv2d: x [1,4,5,5] f32, weight [6,4,0,3] f32 on cpu: spatial dim 0 of weight is empty");
    CHECK_FAILS(
        wick_conv2d(x, two, NULL, NULL), WICK_SHAPE,
        "conv2d: x [1,4,5,5] f32, weight [6,2,3,3] f32 on cpu: weight is for 2 input channels, x has 4 in 1 groups");
    REFUSED(ARG(.groups = 3), WICK_SHAPE, "groups 3 does not divide 4 input channels");
    REFUSED(ARG(.groups = 4), WICK_SHAPE, "groups 4 does not divide 6 output channels");
    REFUSED(ARG(.groups = -1), WICK_INVALID, "groups -1 is not >= 1");
    REFUSED(ARG(.stride = {0, -2}), WICK_INVALID, "stride -2 of spatial dim 1 is not >= 1");
    REFUSED(ARG(.dilation = {-1}), WICK_INVALID, "dilation -1 of spatial dim 0 is not >= 1");
    REFUSED(ARG(.padding = {-1}), WICK_INVALID, "padding -1 of spatial dim 0 is negative");
    REFUSED(ARG(.dilation = {3}), WICK_SHAPE, "the kernel reaches over 7 elements, spatial dim 0 has 5 with padding");
    REFUSED(ARG(.dilation = {INT64_MAX}), WICK_OVERFLOW,
            "dilation 9223372036854775807 x (kernel 3 - 1) does not fit in 64 bits");
    REFUSED(ARG(.padding = {huge}), WICK_OVERFLOW, "spatial dim 0 of the result does not fit in 64 bits");
    CHECK_FAILS(wick_conv_transpose2d(x, two, NULL, NULL), WICK_SHAPE,
                "conv_transpose2d: x [1,4,5,5] f32, weight [6,2,3,3] f32 on cpu: "
                "weight is for 6 input channels, x has 4 in 1 groups");
    struct wick_tensor *back = wick_ones(cpu, WICK_F32, SHAPE(4, 6, 3, 3));
    CHECK_FAILS(wick_conv_transpose2d(x, back, NULL, &(struct wick_conv_options){.output_padding = {0, 1}}),
                WICK_INVALID,
                "conv_transpose2d: x [1,4,5,5] f32, weight [4,6,3,3] f32 on cpu: "
                "output_padding 1 of spatial dim 1 is not in 0..0");
    CHECK_FAILS(wick_conv_transpose2d(x, back, NULL, &(struct wick_conv_options){.padding = {4}}), WICK_SHAPE,
                "conv_transpose2d: x [1,4,5,5] f32, weight [4,6,3,3] f32 on cpu: "
                "spatial dim 0 of the result would have -1 elements");
    wick_scope_end(NULL);
}

static void test_window_refusals(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, SHAPE(1, 2, 5, 6)),
                       *empty = wick_ones(cpu, WICK_F32, SHAPE(1, 2, 0));
    const int64_t zero[4] = {0}, more[4] = {0, 0, 5, 0}, less[4] = {0, 0, -6, 0};
#define POOLED(kernel, options, status, text)                                                                          \
    CHECK_FAILS(wick_max_pool2d(x, kernel, &(struct wick_pool_options)options), status,                                \
                "max_pool2d: x [1,2,5,6] f32 on cpu: " text)
    CHECK_FAILS(wick_max_pool2d(x, 2, NULL, NULL), WICK_INVALID,
                "max_pool2d: x [1,2,5,6] f32 on cpu: 2 sizes at NULL for 2 spatial dims");
    POOLED(WICK_SHAPE(2), ARG(0), WICK_INVALID, "1 sizes for 2 spatial dims");
    POOLED(WICK_SHAPE(0, 2), ARG(0), WICK_INVALID, "kernel 0 of spatial dim 0 is not >= 1");
    POOLED(WICK_SHAPE(2, 2), ARG(.stride = {-1}), WICK_INVALID, "stride -1 of spatial dim 0 is not >= 1");
    POOLED(WICK_SHAPE(3, 3), ARG(.padding = {2}), WICK_INVALID,
           "padding 2 of spatial dim 0 is not in 0..1, half the kernel's reach");
    POOLED(WICK_SHAPE(2, 7), ARG(0), WICK_SHAPE,
           "the kernel reaches over 7 elements, spatial dim 1 has 6 with padding");
    CHECK_FAILS(wick_avg_pool2d(x, WICK_SHAPE(2, 2), &(struct wick_pool_options){.divisor = -1}), WICK_INVALID,
                "avg_pool2d: x [1,2,5,6] f32 on cpu: divisor -1 is negative");
    CHECK_FAILS(wick_max_pool3d(x, WICK_SHAPE(1, 1, 1), NULL), WICK_SHAPE,
                "max_pool3d: x [1,2,5,6] f32 on cpu: rank 4 is not 5");
    CHECK_FAILS(wick_adaptive_avg_pool2d(x, WICK_SHAPE(-1, 1)), WICK_INVALID,
                "adaptive_avg_pool2d: x [1,2,5,6] f32 on cpu: size -1 of spatial dim 0 is negative");
    CHECK_FAILS(wick_adaptive_avg_pool1d(empty, WICK_SHAPE(1)), WICK_SHAPE,
                "adaptive_avg_pool1d: x [1,2,0] f32 on cpu: spatial dim 0 is empty");
    CHECK_FAILS(wick_upsample_bilinear2d(x, 0, NULL, NULL), WICK_INVALID,
                "upsample_bilinear2d: x [1,2,5,6] f32 on cpu: neither a size nor a scale for spatial dim 0");
    CHECK_FAILS(wick_upsample_nearest2d(x, 1, zero, NULL), WICK_INVALID,
                "upsample_nearest2d: x [1,2,5,6] f32 on cpu: 1 sizes for 2 spatial dims");
    CHECK_FAILS(wick_pad(x, 3, zero, zero, WICK_PAD_CONSTANT, WICK_INT(0)), WICK_INVALID,
                "pad: x [1,2,5,6] f32 on cpu: 3 sizes for 4 dims");
    const int64_t most[4] = {INT64_MAX, 0, 0, 0};
    CHECK_FAILS(wick_pad(x, 4, most, most, WICK_PAD_REFLECT, WICK_INT(0)), WICK_SHAPE,
                "pad: x [1,2,5,6] f32 on cpu: "
                "reflection of 9223372036854775807, 9223372036854775807 is not less than dim 0 of size 1");
    CHECK_FAILS(wick_upsample_nearest2d(x, WICK_SHAPE(0, 4), NULL), WICK_SHAPE,
                "upsample_nearest2d: x [1,2,5,6] f32 on cpu: spatial dim 0 of size 5 can't be resized to 0");
    CHECK_FAILS(wick_upsample_nearest2d(x, 0, NULL, &(struct wick_upsample_options){.scale = {-1, 1}}), WICK_INVALID,
                "upsample_nearest2d: x [1,2,5,6] f32 on cpu: scale -1 of spatial dim 0 is not positive and finite");
    CHECK_FAILS(wick_pixel_shuffle(x, 2), WICK_SHAPE,
                "pixel_shuffle: x [1,2,5,6] f32 on cpu: 2 channels are not a multiple of 4");
    CHECK_FAILS(wick_pixel_unshuffle(x, 2), WICK_SHAPE,
                "pixel_unshuffle: x [1,2,5,6] f32 on cpu: 5 x 6 pixels are not multiples of 2");
    CHECK_FAILS(wick_pad(x, 4, less, zero, WICK_PAD_CONSTANT, WICK_INT(0)), WICK_SHAPE,
                "pad: x [1,2,5,6] f32 on cpu: padding -6, 0 takes more than dim 2 of size 5 has");
    CHECK_FAILS(wick_pad(x, 4, more, zero, WICK_PAD_REFLECT, WICK_INT(0)), WICK_SHAPE,
                "pad: x [1,2,5,6] f32 on cpu: reflection of 5, 0 is not less than dim 2 of size 5");
    CHECK_FAILS(wick_pad(empty, 3, zero, more, WICK_PAD_REPLICATE, WICK_INT(0)), WICK_SHAPE,
                "pad: x [1,2,0] f32 on cpu: dim 2 is empty and has no edge to replicate");
    wick_scope_end(NULL);
}

/* A convolution whose images do not fit one band, of small integers, so that every order of summing is exact. */
static void test_bands(int64_t stride, int64_t groups) {
    enum { N = 2, CIN = 48, COUT = 10, SIDE = 61 };
    const int64_t per_group = CIN / groups, out = (SIDE + 2 - 3) / stride + 1;
    float *x = malloc(sizeof *x * N * CIN * SIDE * SIDE), *w = malloc(sizeof *w * COUT * CIN * 9);
    float *y = malloc(sizeof *y * N * COUT * SIDE * SIDE);
    for (int i = 0; i < N * CIN * SIDE * SIDE; i++) x[i] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < COUT * CIN * 9; i++) w[i] = (float)(i * 5 % 7 - 3);
    wick_scope_begin();
    struct wick_tensor *tx =
        wick_from_data(cpu, WICK_F32, SHAPE(N, CIN, SIDE, SIDE), x, sizeof *x * N * CIN * SIDE * SIDE);
    struct wick_tensor *tw =
        wick_from_data(cpu, WICK_F32, SHAPE(COUT, per_group, 3, 3), w, sizeof *w * COUT * (size_t)per_group * 9);
    struct wick_conv_options options = {.stride = {stride, stride}, .padding = {1, 1}, .groups = groups};
    struct wick_tensor *ty = wick_conv2d(tx, tw, NULL, &options);
    CHECK(wick_read(ty, y, sizeof *y * (size_t)(N * COUT * out * out)) == WICK_OK);
    int64_t wrong = 0;
    for (int64_t i = 0; i < N * COUT * out * out; i++) {
        int64_t column = i % out * stride - 1, row = i / out % out * stride - 1, o = i / out / out % COUT;
        int64_t first = i / out / out / COUT * CIN + o / (COUT / groups) * per_group;
        float sum = 0;
        for (int64_t k = 0; k < per_group * 9; k++) {
            int64_t h = row + k / 3 % 3, v = column + k % 3;
            if (h < 0 || v < 0 || h >= SIDE || v >= SIDE) continue;
            sum += w[o * per_group * 9 + k] * x[((first + k / 9) * SIDE + h) * SIDE + v];
        }
        wrong += y[i] != sum;
    }
    CHECK_INT(wrong, 0);
    wick_scope_end(NULL);
    free(x);
    free(w);
    free(y);
}

int main(void) {
    cpu = wick_device_open("cpu");
    test_conv_refusals();
    test_window_refusals();
    for (int64_t stride = 1; stride <= 3; stride++)
        for (int64_t groups = 1; groups <= 2; groups++) test_bands(stride, groups);
    wick_device_close(cpu);
    return test_end();
}
