/* Defects that a neighbouring library, candle, was seen to have, by their number in our list of them: none may happen
 * here. On the device named in argv[1] ("cpu").
 *
 * Those with a home elsewhere: D2, stride with dilation, is a case of verify/conv.c; D13 and D14, kernels that are
 * named and not there, would stop the build; D16, a GGUF alignment of 0, is in tests/format; D8 and D10 are ops we
 * don't have. */
#include "tests/test.h"

static struct wick_device *device;

static struct wick_tensor *counted(int64_t n) {
    return wick_arange(device, WICK_F32, WICK_INT(0), WICK_INT(n), WICK_INT(1));
}

/* x [R,C] with elements 0, 1, 2, ... */
static struct wick_tensor *matrix(int64_t rows, int64_t columns) {
    return wick_reshape(counted(rows * columns), WICK_SHAPE(rows, columns));
}

static struct wick_tensor *ids_of(int64_t n, const int64_t *values) {
    return wick_from_data(device, WICK_I64, WICK_SHAPE(n), values, (size_t)n * sizeof *values);
}

static void check_equal(const struct wick_tensor *x, int n, const float *want) {
    float got[64];
    CHECK_INT(wick_tensor_count(x), n);
    if (wick_read(x, got, (size_t)n * sizeof *got) != WICK_OK) {
        CHECK(false);
        return;
    }
    for (int i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], 0);
}
#define CHECK_VALUES(x, ...)                                                                                           \
    check_equal(x, (int)(sizeof((const float[]){__VA_ARGS__}) / sizeof(float)), (const float[]){__VA_ARGS__})

/* D1: a kernel that is not contiguous. */
static void check_kernel_layout(void) {
    struct wick_tensor *x = wick_reshape(counted(4), WICK_SHAPE(1, 2, 2));
    struct wick_tensor *stored = wick_reshape(counted(8), WICK_SHAPE(2, 2, 2));   /* [k, c, o] */
    struct wick_tensor *weight = wick_permute(stored, 3, (const int[]){2, 1, 0}); /* [o, c, k] */
    /* out[o] = sum over c, k of stored[k, c, o] x[c, k] */
    CHECK_VALUES(wick_conv1d(x, weight, NULL, NULL), 0 * 0 + 4 * 1 + 2 * 2 + 6 * 3, 1 * 0 + 5 * 1 + 3 * 2 + 7 * 3);
}

/* D3, D4, D6: ids and operands of any stride and offset, and ids smaller than x. */
static void check_indices(void) {
    const int64_t spread[] = {2, 9, 0, 9};
    struct wick_tensor *ids = wick_slice(ids_of(4, spread), 0, 0, 4, 2); /* 2, 0 */
    struct wick_tensor *turned = wick_t(matrix(2, 3));                   /* rows 0 3, 1 4, 2 5 */
    CHECK_VALUES(wick_index_select(turned, 0, ids), 2, 5, 0, 3);
    struct wick_tensor *window = wick_narrow(matrix(4, 2), 0, 1, 3); /* rows 2 3, 4 5, 6 7 */
    CHECK_VALUES(wick_index_add(window, 0, ids, matrix(2, 2)), 2 + 2, 3 + 3, 4, 5, 6 + 0, 7 + 1);
    const int64_t few[] = {1, 0};
    struct wick_tensor *small = wick_reshape(ids_of(2, few), WICK_SHAPE(1, 2));
    CHECK_VALUES(wick_gather(matrix(3, 2), 0, small), 2, 1);
}

/* D5, D9: resizing to the same size, and pooling, of a view. */
static void check_views(void) {
    struct wick_tensor *x = wick_reshape(wick_narrow(counted(8), 0, 4, 4), WICK_SHAPE(1, 1, 2, 2));
    struct wick_tensor *turned = wick_transpose(x, 2, 3);
    CHECK_VALUES(wick_upsample_bilinear2d(turned, WICK_SHAPE(2, 2), NULL), 4, 6, 5, 7);
    CHECK_VALUES(wick_max_pool2d(x, WICK_SHAPE(1, 2), NULL), 5, 7);
}

/* D7: a copy into part of a tensor leaves the rest alone. */
static void check_tail(void) {
    struct wick_tensor *target = counted(6),
                       *source = wick_narrow(wick_full(device, WICK_F32, WICK_SHAPE(9), WICK_INT(50)), 0, 2, 2);
    CHECK(wick_slice_set_inplace(target, source, 0, 1) == WICK_OK);
    CHECK_VALUES(target, 0, 50, 50, 3, 4, 5);
    CHECK(wick_copy_inplace(wick_narrow(target, 0, 3, 2), source) == WICK_OK);
    CHECK_VALUES(target, 0, 50, 50, 50, 50, 5);
}

/* D11, D12: rows longer than a block, and dims of size 0 that stay. */
static void check_sizes(void) {
    enum { LONG = 9001 };
    static int64_t order[LONG];
    struct wick_tensor *down = wick_affine(counted(LONG), WICK_INT(-1), WICK_INT(LONG));
    struct wick_tensor *sorted = wick_argsort(down, 0, false);
    CHECK(wick_read(wick_cast(sorted, WICK_I64), order, sizeof order) == WICK_OK);
    CHECK(order[0] == LONG - 1 && order[LONG - 1] == 0);
    struct wick_tensor *none = wick_sum(wick_empty(device, WICK_F32, WICK_SHAPE(0, 3)), WICK_DIMS(1), false);
    CHECK(none && wick_tensor_count(none) == 0 && wick_tensor_shape(none)[0] == 0);
    CHECK_VALUES(wick_sum(wick_empty(device, WICK_F32, WICK_SHAPE(2, 0)), WICK_DIMS(1), false), 0, 0);
}

/* D15, D17, D18: integers in a function of floats, the name in an error, seeds. */
static void check_errors(void) {
    float first[4], second[4];
    const int64_t far[] = {7};
    CHECK(wick_exp(wick_ones(device, WICK_I32, WICK_SHAPE(2))) == NULL);
    CHECK(wick_error_status() == WICK_UNSUPPORTED && strstr(wick_error(), "exp"));
    wick_error_clear();
    struct wick_tensor *bad = wick_scatter(counted(4), 0, ids_of(1, far), wick_ones(device, WICK_F32, WICK_SHAPE(1)));
    CHECK(bad == NULL || wick_read(bad, first, sizeof first) != WICK_OK); /* a GPU says so when it is read */
    CHECK(wick_error_status() == WICK_RANGE && strstr(wick_error(), "scatter") && !strstr(wick_error(), "gather"));
    wick_error_clear();
    CHECK(wick_seed_set(device, 5) == WICK_OK);
    CHECK(wick_read(wick_uniform(device, WICK_F32, WICK_SHAPE(4), 0, 1), first, sizeof first) == WICK_OK);
    CHECK(wick_seed_set(device, 5) == WICK_OK);
    CHECK(wick_read(wick_uniform(device, WICK_F32, WICK_SHAPE(4), 0, 1), second, sizeof second) == WICK_OK);
    CHECK(memcmp(first, second, sizeof first) == 0);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) {
        printf("%s\n", wick_error());
        return 77;
    }
    wick_scope_begin();
    check_kernel_layout();
    check_indices();
    check_views();
    check_tail();
    check_sizes();
    check_errors();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
