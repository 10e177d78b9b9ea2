/* A scalar has a dim 0, also called -1, wherever it has one in PyTorch, whose results these are. On the device named in
 * argv[1], the CPU without one. */
#include "tests/test.h"

static struct wick_device *device;

static struct wick_tensor *scalar(double value) { return wick_full(device, WICK_F32, 0, NULL, WICK_REAL(value)); }

static struct wick_tensor *ids(int rank, int64_t n) { return wick_zeros(device, WICK_I64, rank, rank ? &n : NULL); }

/* x has the rank, and `count` elements, all of them `want`. */
static void check(const struct wick_tensor *x, int rank, int64_t count, double want) {
    float got[4] = {0};
    CHECK(x != NULL);
    if (!x) return;
    CHECK_INT(wick_tensor_rank(x), rank);
    CHECK_INT(wick_tensor_count(x), count);
    CHECK_OK(wick_read(wick_cast(x, WICK_F32), got, (size_t)count * sizeof *got));
    for (int64_t i = 0; i < count; i++) CHECK_NEAR(got[i], want, 1e-6);
}

static void refused(const struct wick_tensor *x, enum wick_status status) {
    CHECK(x == NULL);
    CHECK_INT(wick_error_status(), status);
    wick_error_clear();
}

static void check_dim(int dim) {
    struct wick_tensor *x = scalar(3), *none = ids(0, 0), *index = NULL;
    const int twice[2] = {dim, dim};
    check(wick_sum(x, WICK_DIMS(dim), false), 0, 1, 3);
    check(wick_sum(x, WICK_DIMS(dim), true), 0, 1, 3);
    check(wick_var(x, 0, WICK_DIMS(dim), false), 0, 1, 0);
    check(wick_norm(x, 2, WICK_DIMS(dim), false), 0, 1, 3);
    check(wick_log_sum_exp(x, WICK_DIMS(dim), false), 0, 1, 3);
    check(wick_max(x, WICK_DIMS(dim), false), 0, 1, 3);
    check(wick_argmax(x, WICK_DIMS(dim), false), 0, 1, 0);
    refused(wick_sum(x, 2, twice, false), WICK_INVALID);
    check(wick_cumsum(x, dim), 0, 1, 3);
    check(wick_cumprod(x, dim), 0, 1, 3);
    check(wick_softmax(x, dim), 0, 1, 1);
    check(wick_log_softmax(x, dim), 0, 1, 0);
    check(wick_sort(x, dim, false, &index), 0, 1, 3);
    check(index, 0, 1, 0);
    check(wick_argsort(x, dim, true), 0, 1, 0);
    check(wick_topk(x, 1, dim, true, &index), 0, 1, 3);
    check(index, 0, 1, 0);
    refused(wick_topk(x, 2, dim, true, NULL), WICK_RANGE);
    check(wick_squeeze(x, dim), 0, 1, 3);
    check(wick_unsqueeze(x, dim), 1, 1, 3);
    check(wick_flatten(x, dim, dim), 1, 1, 3);
    check(wick_transpose(x, dim, 0), 0, 1, 3);
    check(wick_unfold(x, dim, 1, 1), 1, 1, 3);
    check(wick_unfold(x, dim, 0, 2), 1, 0, 0);
    refused(wick_unfold(x, dim, 2, 1), WICK_RANGE);
    check(wick_flip(x, 1, &dim), 0, 1, 3);
    refused(wick_flip(x, 2, twice), WICK_INVALID);
    check(wick_index_select(x, dim, ids(1, 1)), 0, 1, 3);
    refused(wick_index_select(x, dim, ids(1, 2)), WICK_SHAPE);
    refused(wick_index_select(x, dim, wick_ones(device, WICK_F32, WICK_SHAPE(1))), WICK_DTYPE);
    check(wick_gather(x, dim, none), 0, 1, 3);
    check(wick_gather(x, dim, ids(1, 2)), 1, 2, 3);
    check(wick_scatter(x, dim, none, scalar(5)), 0, 1, 5);
    check(wick_scatter_add(x, dim, none, scalar(5)), 0, 1, 8);
    check(wick_scatter_add(x, dim, ids(1, 2), wick_ones(device, WICK_F32, WICK_SHAPE(2))), 0, 1, 5);
    check(wick_index_add(x, dim, ids(1, 1), scalar(2)), 0, 1, 5);
    check(wick_index_add(x, dim, ids(1, 2), wick_ones(device, WICK_F32, WICK_SHAPE(2))), 0, 1, 5);
    struct wick_tensor *target = scalar(4);
    CHECK_OK(wick_scatter_inplace(target, dim, none, scalar(5)));
    CHECK_OK(wick_scatter_add_inplace(target, dim, none, scalar(6)));
    check(target, 0, 1, 11);
}

/* Where PyTorch refuses the dim of a scalar, Wick does, and no scalar has a dim 1. */
static void check_refused(void) {
    struct wick_tensor *x = scalar(3), *parts[1];
    const int one = 1;
    refused(wick_narrow(x, 0, 0, 1), WICK_RANGE);
    refused(wick_select(x, 0, 0), WICK_RANGE);
    refused(wick_roll(x, 1, 0), WICK_RANGE);
    refused(wick_diagonal(x, 0, 0, 0), WICK_RANGE);
    refused(wick_cat(1, &x, 0), WICK_RANGE);
    CHECK_INT(wick_chunk(x, 1, 0, parts), WICK_RANGE);
    wick_error_clear();
    refused(wick_sum(x, WICK_DIMS(1), false), WICK_RANGE);
    refused(wick_cumsum(x, -2), WICK_RANGE);
    refused(wick_softmax(x, 1), WICK_RANGE);
    refused(wick_flip(x, 1, &one), WICK_RANGE);
    refused(wick_transpose(x, 0, 1), WICK_RANGE);
    refused(wick_unfold(x, 1, 1, 1), WICK_RANGE);
    refused(wick_gather(x, 1, ids(0, 0)), WICK_RANGE);
    refused(wick_gather(x, 0, wick_reshape(ids(1, 1), WICK_SHAPE(1, 1))), WICK_SHAPE);
    refused(wick_gather(x, 0, NULL), WICK_INVALID);
    refused(wick_scatter(x, 0, ids(0, 0), NULL), WICK_INVALID);
    refused(wick_index_select(x, 1, ids(1, 1)), WICK_RANGE);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    for (int dim = -1; dim <= 0; dim++) {
        wick_scope_begin();
        check_dim(dim);
        wick_scope_end(NULL);
    }
    wick_scope_begin();
    check_refused();
    wick_scope_end(NULL);
    wick_device_close(device);
    return test_end();
}
