/* What ops that are made of others refuse, with the exact text; and sizes that depend on elements. */
#include "tests/test.h"

#include <math.h>

/* A layer of (3, 4), whose root of the mean square is 5 / sqrt(2), after a norm. */
static void norms(struct wick_device *cpu) {
    const float values[] = {3, 4}, by[] = {2, 1}, rows[] = {1, 0, 1, 1};
    float got[2];
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, WICK_SHAPE(1, 2), values, sizeof values);
    struct wick_tensor *norm = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2), by, sizeof by);
    struct wick_tensor *weight = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 2), rows, sizeof rows);
    struct wick_linear_options options = {.norm = norm};
    CHECK_OK(wick_read(wick_linear_with(x, weight, NULL, &options), got, sizeof got));
    CHECK_NEAR(got[0], 6 * sqrt(2) / 5, 1e-6);
    CHECK_NEAR(got[1], 10 * sqrt(2) / 5, 1e-6);
    options.epsilon = 37.5;
    CHECK_OK(wick_read(wick_linear_with(x, weight, NULL, &options), got, sizeof got));
    CHECK_NEAR(got[0], 6 / sqrt(50), 1e-6);
    options.epsilon = -1;
    CHECK_FAILS(wick_linear_with(x, weight, NULL, &options), WICK_INVALID,
                "linear: x [1,2] f32, weight [2,2] f32 on cpu: epsilon -1 is not >= 0");
    options = (struct wick_linear_options){.norm = x};
    CHECK_FAILS(wick_linear_with(x, weight, NULL, &options), WICK_SHAPE,
                "linear: x [1,2] f32, weight [2,2] f32 on cpu: norm is not [2]");
    options.norm = wick_cast(norm, WICK_F16);
    CHECK_FAILS(wick_linear_with(x, weight, NULL, &options), WICK_DTYPE,
                "rms_norm: x [1,2] f32, weight [2] f16 on cpu: dtypes differ, x has f32 and weight has f16");
    wick_scope_end(NULL);
}

static void refusals(struct wick_device *cpu) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3)),
                       *none = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 0));
    struct wick_tensor *ids = wick_arange(cpu, WICK_I64, WICK_INT(0), WICK_INT(4), WICK_INT(1)), *indices = x;
    struct wick_tensor *less = wick_add_scalar(ids, WICK_INT(-1)), *bytes = wick_ones(cpu, WICK_U8, WICK_SHAPE(4));
    struct wick_tensor *list[3] = {ids, ids, ids};
    CHECK_FAILS(wick_max_along(NULL, 0, false, NULL), WICK_INVALID, "max_along: x is NULL");
    CHECK_FAILS(wick_max_along(none, 1, false, &indices), WICK_SHAPE,
                "max_along: x [2,0] f32 on cpu: dim 1 has size 0, and no such element");
    CHECK(indices == x);
    CHECK_FAILS(wick_median(x, 2, false, NULL), WICK_RANGE,
                "median: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_quantile(x, 1.5, 0, false), WICK_INVALID, "quantile: x [2,3] f32 on cpu: q 1.5 is not in 0..1");
    CHECK_FAILS(wick_mean_in(ids, WICK_I64, WICK_ALL_DIMS, false), WICK_DTYPE,
                "mean_in: x [4] i64 on cpu: results are of a float dtype, not i64");
    CHECK_FAILS(
        wick_masked_select(x, bytes), WICK_SHAPE,
        "masked_select: x [2,3] f32, mask [4] u8 on cpu: shapes do not broadcast: sizes must be equal, 1 or missing");
    CHECK_FAILS(wick_bincount(less, NULL, 0), WICK_RANGE,
                "bincount: x [4] i64 on cpu: x has an element -1, which nothing counts");
    CHECK_FAILS(wick_bincount(ids, NULL, -1), WICK_INVALID, "bincount: x [4] i64 on cpu: the least size is -1");
    CHECK_FAILS(wick_index(x, 3, list), WICK_INVALID,
                "index: x [2,3] f32, ids [4] i64 on cpu: ids for 3 dims, x has 2");
    CHECK_FAILS(wick_index(x, 0, list), WICK_INVALID,
                "index: x [2,3] f32, ids [4] i64 on cpu: ids for 0 dims, x has 2");
    CHECK_FAILS(wick_index_put(x, 1, list, none, true), WICK_SHAPE,
                "index_put: x [2,3] f32, ids [4] i64, values [2,0] f32 on cpu: values do not broadcast to the shape of "
                "what ids "
                "pick");
    CHECK(wick_index(x, 1, list) == NULL && wick_error_status() == WICK_RANGE); /* 2 and 3 of 2 rows */
    wick_error_clear();
    CHECK_FAILS(wick_searchsorted(wick_ones(cpu, WICK_I64, WICK_SHAPE(2, 3)), ids, false), WICK_SHAPE,
                "searchsorted: sequence [2,3] i64, values [4] i64 on cpu: sequence must have rank 1, or the shape of "
                "values but "
                "for the last dim");
    CHECK_FAILS(wick_repeat_interleave(x, ids, 0), WICK_SHAPE,
                "repeat_interleave: x [2,3] f32, repeats [4] i64 on cpu: repeats is neither a scalar nor [2]");
    CHECK_FAILS(wick_repeat_interleave(ids, less, 0), WICK_INVALID,
                "repeat_interleave: x [4] i64, repeats [4] i64 on cpu: -1 repeats");
    CHECK_FAILS(wick_isclose(ids, ids, -1, 0, false), WICK_INVALID,
                "isclose: lhs [4] i64, rhs [4] i64 on cpu: tolerances -1 and 0 are not >= 0");
    CHECK_FAILS(wick_einsum("ij,j..->i", 2, (struct wick_tensor *[]){x, x}), WICK_INVALID,
                "einsum: operands[0] [2,3] f32 on cpu: \"ij,j..->i\" is not the text of 2 operands");
    CHECK_FAILS(wick_einsum("ij,jk->ik", 2, (struct wick_tensor *[]){x, x}), WICK_SHAPE,
                "einsum: operands[0] [2,3] f32, operands[i] [2,3] f32 on cpu: label j is of size 3, and of size 2 in "
                "operand 1");
    CHECK_FAILS(wick_einsum("ij->i", 0, NULL), WICK_INVALID,
                "einsum: 0 operands, or a text that is NULL: there may be 1 to 8");
    CHECK_FAILS(wick_linspace(cpu, WICK_F32, 0, INFINITY, 3), WICK_INVALID,
                "linspace: 3 elements from 0 to inf: n must be >= 0 and both ends finite");
    CHECK_FAILS(
        wick_addmm(x, x, x, 1, 1), WICK_SHAPE,
        "addmm: input [2,3] f32, lhs [2,3] f32, rhs [2,3] f32 on cpu: lhs and rhs must have rank 2, and the sizes of a "
        "product");
    wick_scope_end(NULL);
}

/* One answer for all elements, and the bins of nothing. */
static void answers(struct wick_device *cpu) {
    int64_t none = 0;
    bool close = false;
    wick_scope_begin();
    struct wick_tensor *x = wick_linspace(cpu, WICK_F64, 0, 1, 5), *y = wick_add_scalar(x, WICK_REAL(1e-9));
    CHECK_OK(wick_allclose(x, y, 1e-5, 1e-8, false, &close));
    CHECK(close);
    CHECK_OK(wick_allclose(x, y, 0, 1e-10, false, &close));
    CHECK(!close);
    CHECK(wick_allclose(x, y, 0, 0, false, NULL) == WICK_INVALID);
    wick_error_clear();
    struct wick_tensor *bins = wick_bincount(wick_zeros(cpu, WICK_U8, 1, &none), NULL, 3);
    CHECK(bins && wick_tensor_count(bins) == 3 && wick_tensor_dtype(bins) == WICK_I64);
    wick_scope_end(NULL);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    norms(cpu);
    refusals(cpu);
    answers(cpu);
    wick_device_close(cpu);
    return test_end();
}
