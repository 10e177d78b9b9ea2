/* The order in memory of the dims of results of elementwise ops: that of their operand, or row-major where the device
 * is told so. Expected strides and values are written out. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

#include <string.h>

static struct wick_device *device;

/* [2,3,4] of 0 .. 23. */
static struct wick_tensor *numbers(void) {
    return wick_reshape(wick_arange(device, WICK_F32, WICK_INT(0), WICK_INT(24), WICK_INT(1)), WICK_SHAPE(2, 3, 4));
}

static void check_strides(const struct wick_tensor *x, int64_t a, int64_t b, int64_t c) {
    const int64_t *stride = wick_tensor_strides(x);
    CHECK(x != NULL);
    if (!x) return;
    CHECK_INT(stride[0], a);
    CHECK_INT(stride[1], b);
    CHECK_INT(stride[2], c);
    CHECK_INT(wick_tensor_offset(x), 0);
}

/* Elements in row-major order are those of y, of the same shape. */
static void check_same(const struct wick_tensor *x, const struct wick_tensor *y) {
    float a[64] = {0}, b[64] = {0};
    size_t nbytes = (size_t)wick_tensor_count(y) * sizeof *a;
    CHECK_OK(wick_read(x, a, nbytes));
    CHECK_OK(wick_read(y, b, nbytes));
    CHECK(memcmp(a, b, nbytes) == 0);
}

static void check_functions(void) {
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *turned = wick_transpose(x, 0, 2), *last = wick_transpose(x, 1, 2);
    struct wick_tensor *packed = wick_contiguous(turned);
    check_strides(wick_neg(x), 12, 4, 1);
    check_strides(wick_neg(turned), 1, 4, 12);
    check_strides(wick_neg(last), 12, 1, 4);
    check_strides(wick_add_scalar(turned, WICK_INT(1)), 1, 4, 12);
    check_strides(wick_isnan(turned), 1, 4, 12);
    check_strides(wick_gt_scalar(turned, WICK_INT(1)), 1, 4, 12);
    check_strides(wick_cast(turned, WICK_F16), 1, 4, 12);
    check_same(wick_neg(turned), wick_neg(packed));
    check_same(wick_cast(wick_cast(turned, WICK_I32), WICK_F32), packed);
    /* Gaps go, the order stays. */
    struct wick_tensor *part = wick_narrow(turned, 2, 1, 1);
    CHECK_INT(wick_tensor_count(part), 12);
    check_same(wick_exp(part), wick_exp(wick_contiguous(part)));
    check_same(wick_exp(wick_narrow(turned, 0, 1, 2)), wick_exp(wick_narrow(packed, 0, 1, 2)));
    check_strides(wick_exp(wick_narrow(turned, 0, 1, 2)), 1, 2, 6);
    /* What repeats elements has no order. */
    check_strides(wick_neg(wick_broadcast_to(wick_transpose(wick_narrow(x, 0, 0, 1), 1, 2), WICK_SHAPE(2, 4, 3))), 12,
                  3, 1);
    wick_scope_end(NULL);
}

static void check_pairs(void) {
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *turned = wick_transpose(x, 0, 2), *packed = wick_contiguous(turned);
    struct wick_tensor *row = wick_contiguous(wick_select(wick_select(turned, 0, 0), 0, 0));
    struct wick_tensor *plane = wick_narrow(turned, 0, 1, 1);
    check_strides(wick_add(turned, turned), 1, 4, 12);
    check_strides(wick_sub(turned, packed), 1, 4, 12);
    check_strides(wick_sub(packed, turned), 6, 2, 1);
    check_strides(wick_mul(row, turned), 1, 4, 12);
    check_strides(wick_div(plane, turned), 1, 4, 12);
    check_strides(wick_lt(turned, row), 1, 4, 12);
    check_strides(wick_where(wick_lt(packed, turned), row, turned), 1, 4, 12);
    check_same(wick_sub(turned, packed), wick_zeros(device, WICK_F32, WICK_SHAPE(4, 3, 2)));
    check_same(wick_mul(row, turned), wick_mul(row, packed));
    check_same(wick_div(plane, turned), wick_div(wick_contiguous(plane), packed));
    check_same(wick_where(wick_lt(row, turned), turned, row), wick_where(wick_lt(row, packed), packed, row));
    check_same(wick_prelu(turned, wick_narrow(wick_reshape(x, WICK_SHAPE(24)), 0, 2, 3)),
               wick_prelu(packed, wick_narrow(wick_reshape(x, WICK_SHAPE(24)), 0, 2, 3)));
    check_same(wick_glu(turned, 0), wick_glu(packed, 0));
    /* Later ops take such a result as any view. */
    check_same(wick_matmul(wick_neg(wick_t(wick_select(x, 0, 0))), wick_select(x, 0, 1)),
               wick_matmul(wick_neg(wick_contiguous(wick_t(wick_select(x, 0, 0)))), wick_select(x, 0, 1)));
    check_same(wick_sum(wick_neg(turned), WICK_DIMS(1), false), wick_sum(wick_neg(packed), WICK_DIMS(1), false));
    check_same(wick_reshape(wick_neg(turned), WICK_SHAPE(24)), wick_reshape(wick_neg(packed), WICK_SHAPE(24)));
    wick_scope_end(NULL);
}

/* Messages tell of the operands as they were given. */
static void check_failure(void) {
    wick_scope_begin();
    struct wick_tensor *x = wick_transpose(wick_cast(numbers(), WICK_I32), 0, 2), *y = wick_div(x, x);
    int32_t values[24];
    CHECK(!y || wick_read(y, values, sizeof values) == WICK_DIVIDE);
    CHECK_INT(wick_error_status(), WICK_DIVIDE);
    CHECK(strstr(wick_error(), "[4,3,2]") != NULL);
    wick_error_clear();
    wick_scope_end(NULL);
}

static void check_row_major(void) {
    wick_scope_begin();
    struct wick_tensor *turned = wick_transpose(numbers(), 0, 2);
    CHECK_OK(wick_row_major_set(device, true));
    check_strides(wick_neg(turned), 6, 2, 1);
    check_strides(wick_add(turned, turned), 6, 2, 1);
    CHECK_OK(wick_row_major_set(device, false));
    check_strides(wick_neg(turned), 1, 4, 12);
    CHECK_INT(wick_row_major_set(NULL, true), WICK_INVALID);
    wick_error_clear();
    wick_scope_end(NULL);
}

/* A graph computes them again in the same order. */
static void check_graph(void) {
    wick_scope_begin();
    struct wick_tensor *x = numbers(), *turned = wick_transpose(x, 0, 2), *y = NULL;
    CHECK_OK(wick_graph_begin(device));
    y = wick_mul(wick_neg(turned), turned);
    struct wick_graph *graph = wick_graph_end(device);
    CHECK(graph != NULL);
    CHECK_OK(wick_copy_inplace(x, wick_add_scalar(x, WICK_INT(1))));
    CHECK_OK(wick_graph_launch(graph));
    check_strides(y, 1, 4, 12);
    check_same(y, wick_mul(wick_neg(turned), turned));
    wick_graph_free(graph);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    check_functions();
    check_pairs();
    check_failure();
    check_row_major();
    check_graph();
    wick_device_close(device);
    return test_end();
}
