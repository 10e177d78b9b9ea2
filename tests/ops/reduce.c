/* What reductions, sorting and norms refuse, with the exact text; and answers that rounding must not spoil. */
#include "tests/test.h"

#include <string.h>

static void refusals(struct wick_device *cpu) {
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 3)), *i = wick_ones(cpu, WICK_I32, WICK_SHAPE(4));
    struct wick_tensor *none = wick_ones(cpu, WICK_F32, WICK_SHAPE(2, 0)), *w = wick_ones(cpu, WICK_F32, WICK_SHAPE(2));
    struct wick_tensor *narrow = wick_ones(cpu, WICK_F16, WICK_SHAPE(3)), *scalar = wick_ones(cpu, WICK_F32, 0, NULL);
    struct wick_tensor *one = wick_ones(cpu, WICK_U8, WICK_SHAPE(1)), *indices = x;
    struct wick_tensor *wide = wick_expand(one, WICK_SHAPE(INT64_C(0xffffffff)));
    CHECK_FAILS(wick_sum(NULL, WICK_ALL_DIMS, false), WICK_INVALID, "sum: x is NULL");
    CHECK_FAILS(wick_sum(x, WICK_DIMS(2), false), WICK_RANGE,
                "sum: x [2,3] f32 on cpu: dim 2 is out of range for rank 2");
    CHECK_FAILS(wick_sum(x, WICK_DIMS(1, -1), false), WICK_INVALID, "sum: x [2,3] f32 on cpu: dim -1 is given twice");
    CHECK_FAILS(wick_sum(x, 1, NULL, false), WICK_INVALID, "sum: x [2,3] f32 on cpu: dims is NULL but there are 1");
    CHECK_FAILS(wick_sum(x, -2, NULL, false), WICK_INVALID, "sum: x [2,3] f32 on cpu: -2 dims");
    CHECK_FAILS(wick_mean(i, WICK_ALL_DIMS, false), WICK_UNSUPPORTED,
                "mean: x [4] i32 on cpu: cpu has no mean for i32");
    CHECK_FAILS(wick_max(none, WICK_DIMS(1), false), WICK_SHAPE,
                "max: x [2,0] f32 on cpu: a dim of size 0 has no such element");
    CHECK_FAILS(wick_argmin(none, WICK_ALL_DIMS, true), WICK_SHAPE,
                "argmin: x [2,0] f32 on cpu: a dim of size 0 has no such element");
    CHECK_FAILS(wick_argmax(wide, WICK_ALL_DIMS, false), WICK_OVERFLOW,
                "argmax: x [4294967295] u8 on cpu: the index of 4294967295 elements does not fit in u32");
    CHECK_FAILS(wick_var(x, NAN, WICK_ALL_DIMS, false), WICK_INVALID, "var: x [2,3] f32 on cpu: the correction is NaN");
    CHECK_FAILS(wick_norm(x, NAN, WICK_ALL_DIMS, false), WICK_INVALID, "norm: x [2,3] f32 on cpu: p is NaN");
    CHECK_FAILS(wick_cumsum(scalar, 1), WICK_RANGE, "cumsum: x [] f32 on cpu: dim 1 is out of range for rank 0");
    CHECK_FAILS(wick_sort(wide, 0, false, &indices), WICK_OVERFLOW,
                "sort: x [4294967295] u8 on cpu: the indices of 4294967295 elements do not fit in u32");
    CHECK_FAILS(wick_topk(x, 4, 1, true, &indices), WICK_RANGE, "topk: x [2,3] f32 on cpu: k 4 is not in 0..3");
    CHECK(indices == x);
    CHECK_FAILS(wick_softmax(i, 0), WICK_UNSUPPORTED, "softmax: x [4] i32 on cpu: cpu has no softmax for i32");
    CHECK_FAILS(wick_layer_norm(x, 3, NULL, NULL, 0), WICK_RANGE,
                "layer_norm: x [2,3] f32 on cpu: 3 axes are not in 1..2");
    CHECK_FAILS(wick_layer_norm(x, 1, w, NULL, 0), WICK_SHAPE,
                "layer_norm: x [2,3] f32, weight [2] f32 on cpu: weight must be [3]");
    CHECK_FAILS(wick_layer_norm(x, 1, narrow, NULL, 0), WICK_DTYPE,
                "layer_norm: x [2,3] f32, weight [3] f16 on cpu: dtypes differ, x has f32 and weight has f16");
    CHECK_FAILS(wick_rms_norm(x, NULL, -1), WICK_INVALID, "rms_norm: x [2,3] f32 on cpu: epsilon -1 is not >= 0");
    CHECK_FAILS(wick_rms_norm(scalar, NULL, 0), WICK_SHAPE, "rms_norm: x [] f32 on cpu: x must be [...,N]");
    CHECK_FAILS(wick_group_norm(x, 2, NULL, NULL, 0), WICK_SHAPE,
                "group_norm: x [2,3] f32 on cpu: 2 groups do not divide 3 channels");
    CHECK_FAILS(wick_batch_norm(w, w, w, NULL), WICK_SHAPE,
                "batch_norm: x [2] f32, mean [2] f32, variance [2] f32 on cpu: x must be [N,C,...]");
    wick_release(x), wick_release(i), wick_release(none), wick_release(w), wick_release(narrow), wick_release(scalar);
    wick_release(one), wick_release(wide);
}

static double only(struct wick_tensor *x) {
    double value = NAN;
    CHECK(x && wick_read_scalar(x, &value) == WICK_OK);
    wick_release(x);
    return value;
}

/* Elements near 7e9 over 6912 columns: squares of them would cost all digits of their spread. */
static void large_values(struct wick_device *cpu) {
    enum { N = 6912 };
    static float x[N];
    double mean = 0, squares = 0, worst = 0;
    for (int i = 0; i < N; i++) x[i] = 7e9f + 512 * (float)(i * 37 % 1001 - 500);
    for (int i = 0; i < N; i++) mean += (double)x[i] / N;
    for (int i = 0; i < N; i++) squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    struct wick_tensor *t = wick_from_data(cpu, WICK_F32, WICK_SHAPE(1, N), x, sizeof x);
    struct wick_tensor *y = wick_layer_norm(t, 1, NULL, NULL, 1e-5);
    static float got[N];
    CHECK(y && wick_read(y, got, sizeof got) == WICK_OK);
    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs((double)got[i] - ((double)x[i] - mean) / sqrt(squares / N + 1e-5)));
    CHECK_NEAR(worst, 0, 1e-6);
    CHECK_NEAR(only(wick_std(t, 0, WICK_ALL_DIMS, false)) / sqrt(squares / N), 1, 1e-7);
    wick_release(y);
    y = wick_rms_norm(t, NULL, 1e-5);
    CHECK(y && wick_read(y, got, sizeof got) == WICK_OK);
    for (int i = 0; i < N; i++) CHECK(isfinite(got[i]) && fabsf(got[i] - 1) < 1e-3f);
    wick_release(y);
    wick_release(t);
}

/* Rows whose squares, or whose differences to the mean, no number of their type can hold; n elements like -1 1 1 1. */
static void extreme_rows(struct wick_device *cpu) {
    static const struct {
        enum wick_dtype dtype;
        double size, epsilon;
    } rows[] = {{WICK_F32, 3e38, 1e-5}, {WICK_BF16, 3e38, 1e-5}, {WICK_F32, 1e-40, 0}, {WICK_F64, 1e160, 1e-5},
                {WICK_F64, 1.7e308, 0}, {WICK_F64, 1e-200, 0},   {WICK_F64, 1e-310, 0}};
    const double root = sqrt(3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double got[4], x[] = {-rows[i].size, rows[i].size, rows[i].size, rows[i].size};
        wick_scope_begin();
        struct wick_tensor *t = wick_cast(wick_from_data(cpu, WICK_F64, WICK_SHAPE(1, 4), x, sizeof x), rows[i].dtype);
        struct wick_tensor *results[] = {wick_layer_norm(t, 1, NULL, NULL, rows[i].epsilon),
                                         wick_group_norm(t, 1, NULL, NULL, rows[i].epsilon),
                                         wick_rms_norm(t, NULL, rows[i].epsilon)};
        for (int k = 0; k < 3; k++) {
            CHECK_OK(wick_read(wick_cast(results[k], WICK_F64), got, sizeof got));
            CHECK_NEAR(got[0], k < 2 ? -root : -1, rows[i].dtype == WICK_BF16 ? 4e-3 : 1e-6);
            CHECK_NEAR(got[3], k < 2 ? root / 3 : 1, rows[i].dtype == WICK_BF16 ? 2e-3 : 1e-6);
        }
        wick_scope_end(NULL);
    }
    wick_scope_begin();
    double got[2];
    struct wick_tensor *x = wick_full(cpu, WICK_F32, WICK_SHAPE(2, 1, 1), WICK_REAL(3e38)),
                       *mean = wick_full(cpu, WICK_F32, WICK_SHAPE(1), WICK_REAL(-3e38));
    struct wick_tensor *variance = wick_full(cpu, WICK_F32, WICK_SHAPE(1), WICK_REAL(1e38));
    CHECK_OK(wick_read(wick_cast(wick_batch_norm(x, mean, variance, NULL), WICK_F64), got, sizeof got));
    CHECK_NEAR(got[0] / 6e19, 1, 1e-6);
    x = wick_full(cpu, WICK_F32, WICK_SHAPE(2, 1, 3), WICK_REAL(3e38));
    CHECK_OK(wick_read(wick_cast(wick_narrow(wick_batch_norm(x, mean, variance, NULL), 2, 0, 1), WICK_F64), got,
                       sizeof got));
    CHECK_NEAR(got[1] / 6e19, 1, 1e-6);
    wick_scope_end(NULL);
}

/* A kept dim of size 0 gives a result without elements; a reduced one what nothing comes to. */
static void nothing(struct wick_device *cpu) {
    struct wick_tensor *x = wick_ones(cpu, WICK_F32, WICK_SHAPE(0, 3));
    struct wick_tensor *y = wick_max(x, WICK_DIMS(1), false);
    CHECK(y && wick_tensor_rank(y) == 1 && wick_tensor_dim(y, 0) == 0);
    wick_release(y);
    CHECK(only(wick_sum(x, WICK_ALL_DIMS, false)) == 0);
    CHECK(only(wick_prod(x, WICK_ALL_DIMS, false)) == 1);
    CHECK(isnan(only(wick_mean(x, WICK_ALL_DIMS, false))));
    CHECK(only(wick_log_sum_exp(x, WICK_ALL_DIMS, false)) == -INFINITY);
    CHECK(only(wick_any(x, WICK_ALL_DIMS, false)) == 0);
    CHECK(only(wick_all(x, WICK_ALL_DIMS, false)) == 1);
    wick_release(x);
}

/* Dims of size 1, of a transpose: elements as they are, and the first place. */
static void ones(struct wick_device *cpu) {
    typedef struct wick_tensor *reduction(const struct wick_tensor *x, int n_dims, const int *dims, bool keepdim);
    static reduction *const same[] = {wick_sum, wick_mean, wick_prod, wick_min, wick_max};
    enum { ROWS = 70, COLUMNS = 90, N = ROWS * COLUMNS };
    static float x[N], got[N];
    static uint32_t places[N];
    for (int i = 0; i < N; i++) x[i] = (float)(i * 37 % 1001 - 500) / 7;
    x[3] = NAN, x[5] = INFINITY, x[7] = -INFINITY, x[11] = 3e38f, x[13] = 1e-45f;
    wick_scope_begin();
    struct wick_tensor *whole = wick_from_data(cpu, WICK_F32, WICK_SHAPE(1, ROWS, COLUMNS), x, sizeof x);
    struct wick_tensor *turned = wick_transpose(whole, 0, 2); /* [COLUMNS,ROWS,1] */
    for (size_t op = 0; op < sizeof same / sizeof *same; op++)
        for (int keep = 0; keep < 2; keep++) {
            struct wick_tensor *y = same[op](turned, WICK_DIMS(-1), keep == 1);
            CHECK(y && wick_tensor_rank(y) == 2 + keep && wick_tensor_dim(y, 0) == COLUMNS);
            CHECK_OK(wick_read(y, got, sizeof got));
            for (int c = 0; c < COLUMNS; c++)
                for (int r = 0; r < ROWS; r++) {
                    float a = got[c * ROWS + r], b = x[r * COLUMNS + c];
                    CHECK(a == b || (isnan(a) && isnan(b)));
                }
        }
    struct wick_tensor *firsts[] = {wick_argmin(turned, WICK_DIMS(2), false), wick_argmax(turned, WICK_DIMS(2), true)};
    for (int i = 0; i < 2; i++) {
        memset(places, 1, sizeof places);
        CHECK_OK(wick_read(firsts[i], places, sizeof places));
        for (int j = 0; j < N; j++) CHECK(places[j] == 0);
    }
    wick_scope_end(NULL);
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    refusals(cpu);
    large_values(cpu);
    extreme_rows(cpu);
    nothing(cpu);
    ones(cpu);
    wick_device_close(cpu);
    return test_end();
}
