/* What gradients need of ops beyond their results: statistics of norms, positions of the largest elements of windows,
 * masks of dropout. Against plain loops in float64, from the elements as they were read back, and against PyTorch where
 * elements are equal or NaN. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

static struct wick_device *device;

/* The elements of a tensor in float64, to be freed. */
static double *values(const struct wick_tensor *x) {
    int64_t n = wick_tensor_count(x);
    double *y = calloc((size_t)n + 1, sizeof *y);
    wick_scope_begin();
    CHECK(y && x);
    CHECK_OK(wick_read(wick_cast(x, WICK_F64), y, (size_t)n * sizeof *y));
    wick_scope_end(NULL);
    return y;
}

static void same_bits(const struct wick_tensor *a, const struct wick_tensor *b) {
    size_t nbytes = (size_t)wick_tensor_count(a) * (size_t)wick_dtype_bits(wick_tensor_dtype(a)) / 8;
    unsigned char *x = malloc(nbytes + 1), *y = malloc(nbytes + 1);
    CHECK_INT(wick_tensor_count(b), wick_tensor_count(a));
    CHECK_OK(wick_read(a, x, nbytes));
    CHECK_OK(wick_read(b, y, nbytes));
    CHECK_BYTES(x, y, nbytes);
    free(x);
    free(y);
}

/* ---- norms ---- */

static const double EPSILON = 0.01;

/* Statistics of rows of n elements of x; mean is NULL for root mean squares. */
static void check_rows(const struct wick_tensor *x, int64_t n, const struct wick_tensor *mean,
                       const struct wick_tensor *inverse) {
    double *elements = values(x), *means = mean ? values(mean) : NULL, *inverses = values(inverse);
    int64_t rows = wick_tensor_count(x) / n;
    enum wick_dtype dtype = wick_tensor_dtype(x) == WICK_F64 ? WICK_F64 : WICK_F32;
    double bound = dtype == WICK_F64 ? 1e-13 : 3e-7;
    CHECK_INT(wick_tensor_dtype(inverse), dtype);
    CHECK_INT(wick_tensor_count(inverse), rows);
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++) sum += elements[r * n + i];
        for (int64_t i = 0; i < n; i++) {
            long double apart = elements[r * n + i] - (mean ? sum / n : 0);
            squares += apart * apart;
        }
        double want = (double)(1 / sqrtl(squares / n + EPSILON));
        CHECK_NEAR(inverses[r], want, bound * want);
        if (mean) CHECK_NEAR(means[r], (double)(sum / n), bound * fabs((double)(sum / n)) + bound);
    }
    free(elements);
    free(means);
    free(inverses);
}

static struct wick_tensor *elements(enum wick_dtype dtype, int rank, const int64_t *shape) {
    return wick_cast(wick_uniform(device, WICK_F32, rank, shape, -1, 3), dtype);
}

static void check_norms(enum wick_dtype dtype, int64_t n) {
    struct wick_tensor *mean = NULL, *inverse = NULL;
    struct wick_norm_options both = {.epsilon = EPSILON, .mean = &mean, .inverse_deviation = &inverse};
    wick_scope_begin();
    struct wick_tensor *x = elements(dtype, WICK_SHAPE(3, n)), *w = elements(dtype, WICK_SHAPE(n));
    struct wick_tensor *b = elements(dtype, WICK_SHAPE(n));
    both.weight = w;
    both.bias = b;
    same_bits(wick_layer_norm(x, 1, w, b, EPSILON), wick_layer_norm_with(x, 1, &both));
    CHECK_INT(wick_tensor_rank(mean), 1);
    check_rows(x, n, mean, inverse);
    struct wick_norm_options root = {.weight = w, .epsilon = EPSILON, .inverse_deviation = &inverse};
    same_bits(wick_rms_norm(x, w, EPSILON), wick_rms_norm_with(x, &root));
    CHECK_INT(wick_tensor_rank(inverse), 1);
    check_rows(x, n, NULL, inverse);
    wick_scope_end(NULL);
}

static void check_groups(enum wick_dtype dtype, int64_t height, int64_t width) {
    struct wick_tensor *mean = NULL, *inverse = NULL;
    struct wick_norm_options both = {.epsilon = EPSILON, .mean = &mean, .inverse_deviation = &inverse};
    wick_scope_begin();
    struct wick_tensor *x = elements(dtype, WICK_SHAPE(2, 6, height, width)), *w = elements(dtype, WICK_SHAPE(6));
    both.weight = w;
    same_bits(wick_group_norm(x, 3, w, NULL, EPSILON), wick_group_norm_with(x, 3, &both));
    CHECK_INT(wick_tensor_rank(inverse), 2);
    CHECK_INT(wick_tensor_dim(inverse, 1), 3);
    check_rows(x, 2 * height * width, mean, inverse);
    wick_scope_end(NULL);
}

static void check_norm_rules(void) {
    struct wick_tensor *mean = NULL, *inverse = NULL;
    double nothing[3] = {0};
    wick_scope_begin();
    struct wick_tensor *x = wick_zeros(device, WICK_F32, WICK_SHAPE(3, 0)),
                       *y = wick_ones(device, WICK_F32, WICK_SHAPE(3));
    struct wick_norm_options only = {.mean = &mean};
    CHECK(wick_layer_norm_with(x, 1, &only) != NULL);
    CHECK_OK(wick_read(wick_cast(mean, WICK_F64), nothing, sizeof nothing));
    for (int i = 0; i < 3; i++) CHECK(isnan(nothing[i]));
    mean = NULL;
    CHECK(wick_rms_norm_with(y, &only) == NULL && wick_error_status() == WICK_INVALID && !mean);
    wick_error_clear();
    CHECK(wick_rms_norm_with(y, &(struct wick_norm_options){.bias = y}) == NULL);
    CHECK_INT(wick_error_status(), WICK_INVALID);
    wick_error_clear();
    struct wick_norm_options bad = {.epsilon = -1, .inverse_deviation = &inverse};
    CHECK(wick_layer_norm_with(y, 1, &bad) == NULL && !inverse);
    wick_error_clear();
    CHECK(wick_layer_norm_with(y, 1, NULL) && wick_rms_norm_with(y, NULL));
    CHECK(wick_group_norm_with(wick_unsqueeze(y, 0), 3, NULL) != NULL);
    wick_scope_end(NULL);
}

/* ---- pooling ---- */

/* Positions in planes [H,W] by kernel, stride, padding and dilation, the same in both dims. */
static void check_positions(const struct wick_tensor *x, int64_t kernel, const struct wick_pool_options *options) {
    struct wick_tensor *indices = NULL;
    struct wick_pool_options with = *options;
    with.indices = &indices;
    const int64_t *shape = wick_tensor_shape(x), kernels[2] = {kernel, kernel};
    wick_scope_begin();
    struct wick_tensor *y = wick_max_pool2d(x, 2, kernels, &with);
    same_bits(wick_max_pool2d(x, 2, kernels, options), y);
    const int64_t *out = wick_tensor_shape(y), planes = out[0] * out[1];
    double *in = values(x), *got = values(indices);
    CHECK_INT(wick_tensor_dtype(indices), WICK_U32);
    int64_t step = options->dilation[0] ? options->dilation[0] : 1;
    for (int64_t i = 0; i < planes * out[2] * out[3]; i++) {
        const double *plane = in + i / (out[2] * out[3]) * shape[2] * shape[3];
        int64_t want = UINT32_MAX;
        for (int64_t t = 0; t < kernel * kernel; t++) {
            int64_t h = i / out[3] % out[2] * options->stride[0] - options->padding[0] + t / kernel * step;
            int64_t w = i % out[3] * options->stride[0] - options->padding[0] + t % kernel * step,
                    at = h * shape[3] + w;
            if (h < 0 || w < 0 || h >= shape[2] || w >= shape[3]) continue;
            if (want == UINT32_MAX || plane[at] > plane[want] || isnan(plane[at])) want = at;
        }
        CHECK_INT(got[i], want);
    }
    free(in);
    free(got);
    wick_scope_end(NULL);
}

static void check_pools(enum wick_dtype dtype) {
    static const struct wick_pool_options options[] = {
        {.stride = {2, 2}},
        {.stride = {1, 1}, .padding = {1, 1}},
        {.stride = {3, 3}, .padding = {1, 1}, .ceil_mode = true},
        {.stride = {2, 2}, .padding = {2, 2}, .dilation = {3, 3}},
    };
    wick_scope_begin();
    /* Few values, so that most windows have equals. */
    struct wick_tensor *x = wick_cast(wick_randint(device, WICK_I32, WICK_SHAPE(2, 3, 11, 14), 0, 5), dtype);
    for (int64_t kernel = 2; kernel <= 5; kernel++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            if (options[o].padding[0] <= ((kernel - 1) * (options[o].dilation[0] ? options[o].dilation[0] : 1) + 1) / 2)
                check_positions(x, kernel, &options[o]);
    struct wick_pool_options large = {.stride = {30, 30}};
    check_positions(wick_cast(wick_randint(device, WICK_I32, WICK_SHAPE(1, 2, 30, 30), 0, 5), dtype), 30, &large);
    wick_scope_end(NULL);
}

/* What PyTorch's max_pool2d of these with return_indices gives; and a window in the padding, which PyTorch refuses. */
static void check_known(void) {
    const float x[2][4] = {{NAN, 1, NAN, 2}, {-INFINITY, -INFINITY, -INFINITY, -INFINITY}};
    const uint32_t want[2] = {2, 0};
    uint32_t got[4] = {9, 9, 9, 9};
    struct wick_tensor *indices = NULL;
    wick_scope_begin();
    struct wick_tensor *t = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 2, 2, 2), x, sizeof x);
    CHECK(wick_max_pool2d(t, WICK_SHAPE(2, 2), &(struct wick_pool_options){.indices = &indices}) != NULL);
    CHECK_OK(wick_read(indices, got, sizeof want));
    CHECK_BYTES(got, want, sizeof want);
    struct wick_tensor *line = wick_reshape(wick_narrow(t, 1, 0, 1), WICK_SHAPE(1, 1, 4)), *before = indices;
    CHECK(wick_avg_pool1d(line, WICK_SHAPE(2), &(struct wick_pool_options){.indices = &indices}) == NULL);
    CHECK(wick_error_status() == WICK_INVALID && indices == before);
    wick_error_clear();
    wick_scope_end(NULL);
}

/* ---- dropout ---- */

static void check_dropout(enum wick_dtype dtype) {
    struct wick_tensor *mask = NULL;
    int64_t kept = 0, n = 5003;
    wick_scope_begin();
    struct wick_tensor *x = elements(dtype, WICK_SHAPE(n));
    CHECK_OK(wick_seed_set(device, 7));
    struct wick_tensor *plain = wick_dropout(x, 0.25);
    CHECK_OK(wick_seed_set(device, 7));
    struct wick_tensor *y = wick_dropout_with(x, 0.25, &(struct wick_dropout_options){.mask = &mask});
    same_bits(plain, y);
    CHECK_INT(wick_tensor_dtype(mask), WICK_U8);
    double *from = values(x), *to = values(y), *stays = values(mask);
    for (int64_t i = 0; i < n; i++) {
        CHECK(stays[i] == 0 || stays[i] == 1);
        CHECK_NEAR(to[i], stays[i] != 0 ? from[i] / 0.75 : 0, 0.09 * fabs(from[i]) + 0.01);
        CHECK(stays[i] != 0 || to[i] == 0);
        kept += stays[i] != 0;
    }
    CHECK(kept > 3500 && kept < 4000);
    free(from);
    free(to);
    free(stays);
    wick_scope_end(NULL);
}

/* ---- records ---- */

/* The last call of the record has `extra` more results than its caller saw, with the bits of those of `wanted`. */
static void check_extra(int64_t i, int extra, struct wick_record *record, struct wick_tensor *const *wanted) {
    struct wick_recorded call;
    CHECK_OK(wick_record_call(record, i, &call));
    CHECK_INT(call.n_extra, extra);
    CHECK_INT(call.n_out, extra + 1);
    for (int k = 0; k < extra && call.n_extra == extra; k++)
        if (wanted[k]) same_bits(wanted[k], call.out[k + 1]);
}

static void check_records(void) {
    struct wick_tensor *mean[2], *inverse[3], *indices, *mask;
    wick_scope_begin();
    struct wick_tensor *x = wick_uniform(device, WICK_F32, WICK_SHAPE(2, 4, 6, 6), -1, 1);
    wick_layer_norm_with(x, 1, &(struct wick_norm_options){.mean = &mean[0], .inverse_deviation = &inverse[0]});
    wick_group_norm_with(x, 2, &(struct wick_norm_options){.mean = &mean[1], .inverse_deviation = &inverse[1]});
    wick_rms_norm_with(x, &(struct wick_norm_options){.inverse_deviation = &inverse[2]});
    wick_max_pool2d(x, WICK_SHAPE(2, 2), &(struct wick_pool_options){.indices = &indices});
    CHECK_OK(wick_seed_set(device, 3));
    wick_dropout_with(x, 0.5, &(struct wick_dropout_options){.mask = &mask});
    CHECK_OK(wick_seed_set(device, 3));
    CHECK_OK(wick_record_begin());
    wick_layer_norm(x, 1, NULL, NULL, 0);
    wick_group_norm(x, 2, NULL, NULL, 0);
    wick_rms_norm(x, NULL, 0);
    wick_max_pool2d(x, WICK_SHAPE(2, 2), NULL);
    wick_adaptive_max_pool2d(x, WICK_SHAPE(3, 3));
    wick_dropout(x, 0.5);
    struct wick_record *record = wick_record_end();
    CHECK_INT(wick_record_count(record), 6);
    check_extra(0, 2, record, (struct wick_tensor *[]){inverse[0], mean[0]});
    check_extra(1, 2, record, (struct wick_tensor *[]){inverse[1], mean[1]});
    check_extra(2, 1, record, &inverse[2]);
    check_extra(3, 1, record, &indices);
    check_extra(4, 1, record, &indices); /* 3 x 3 windows of 2 x 2 */
    check_extra(5, 1, record, &mask);
    CHECK_OK(wick_record_replay(record));
    wick_record_free(record);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    static const enum wick_dtype floats[] = {WICK_F32, WICK_F64, WICK_F16, WICK_BF16, WICK_F8E4M3};
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    CHECK_OK(wick_seed_set(device, 5));
    for (int d = 0; d < 5; d++) {
        check_norms(floats[d], 40);
        check_norms(floats[d], 3001);
        check_groups(floats[d], 5, 7);
        check_dropout(floats[d]);
        check_pools(floats[d]);
    }
    check_norms(WICK_F32, 70001); /* more than a GPU keeps in registers */
    check_norms(WICK_F64, 70001);
    check_groups(WICK_F32, 190, 200);
    check_pools(WICK_I64);
    check_pools(WICK_U8);
    check_norm_rules();
    check_known();
    check_records();
    wick_device_close(device);
    return test_end();
}
