/* Average pooling has the same bits on the CPU and on a GPU (docs/numerics.md), whatever window, padding and dtype. On
 * the device named in argv[1]. */
#include "tests/test.h"

#include <stdlib.h>

static struct wick_device *cpu, *gpu;

static void same(const struct wick_tensor *ours, const struct wick_tensor *theirs, const char *what) {
    CHECK(ours && theirs);
    size_t nbytes = (size_t)wick_tensor_count(ours) * (size_t)wick_dtype_bits(wick_tensor_dtype(ours)) / 8;
    char *want = malloc(nbytes), *got = malloc(nbytes);
    CHECK(nbytes > 0 && want && got);
    CHECK_INT(wick_tensor_count(theirs), wick_tensor_count(ours));
    CHECK_OK(wick_read(ours, want, nbytes));
    CHECK_OK(wick_read(theirs, got, nbytes));
    TEST_CHECK_(memcmp(want, got, nbytes) == 0, "%s of %s has other bits", what,
                wick_dtype_name(wick_tensor_dtype(ours)));
    free(want);
    free(got);
}

/* The elements are normally distributed, so that neighbours differ in their exponents. */
static void check(enum wick_dtype dtype, int64_t size) {
    static const struct wick_pool_options options[] = {
        {.stride = {0}},
        {.stride = {2, 2}, .padding = {1, 1}},
        {.stride = {1, 2}, .padding = {1, 0}, .ceil_mode = true, .exclude_padding = true},
        {.stride = {3, 1}, .divisor = 7},
    };
    static const int64_t kernels[][2] = {{2, 2}, {3, 3}, {5, 2}, {7, 7}, {20, 17}};
    wick_scope_begin();
    struct wick_tensor *x = wick_cast(wick_normal(cpu, WICK_F32, WICK_SHAPE(2, 3, size, size + 1), 0.3, 2), dtype);
    struct wick_tensor *y = wick_to_device(x, gpu);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            same(wick_avg_pool2d(x, 2, kernels[k], &options[o]), wick_avg_pool2d(y, 2, kernels[k], &options[o]),
                 "avg_pool2d");
    for (int64_t n = 1; n <= 7; n += 3) {
        const int64_t sizes[2] = {n, n + 1};
        same(wick_adaptive_avg_pool2d(x, 2, sizes), wick_adaptive_avg_pool2d(y, 2, sizes), "adaptive_avg_pool2d");
    }
    wick_scope_end(NULL);
}

/* Windows that are whole planes, of a block each and in pieces, at odd addresses. */
static void check_planes(enum wick_dtype dtype) {
    static const int64_t sizes[][2] = {{17, 19}, {152, 151}, {301, 299}}, one[2] = {1, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t height = sizes[i][0], width = sizes[i][1];
        wick_scope_begin();
        struct wick_tensor *all = wick_normal(cpu, WICK_F32, WICK_SHAPE(1 + 3 * height * width), 5, 20);
        struct wick_tensor *x = wick_cast(wick_narrow(all, 0, 1, 3 * height * width), dtype);
        struct wick_tensor *y = wick_narrow(wick_to_device(wick_cast(all, dtype), gpu), 0, 1, 3 * height * width);
        x = wick_reshape(x, WICK_SHAPE(1, 3, height, width));
        y = wick_reshape(y, WICK_SHAPE(1, 3, height, width));
        same(wick_adaptive_avg_pool2d(x, 2, one), wick_adaptive_avg_pool2d(y, 2, one), "adaptive_avg_pool2d");
        same(wick_adaptive_max_pool2d(x, 2, one), wick_adaptive_max_pool2d(y, 2, one), "adaptive_max_pool2d");
        same(wick_avg_pool2d(x, 2, sizes[i], NULL), wick_avg_pool2d(y, 2, sizes[i], NULL), "avg_pool2d");
        wick_scope_end(NULL);
    }
}

int main(int argc, char **argv) {
    static const enum wick_dtype dtypes[] = {WICK_F32, WICK_F16, WICK_BF16, WICK_F8E4M3};
    cpu = wick_device_open("cpu");
    gpu = wick_device_open(argc > 1 ? argv[1] : "cuda:0");
    if (!gpu) test_skip(wick_error());
    CHECK_OK(wick_seed_set(cpu, 12));
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        check(dtypes[i], 21);
        check(dtypes[i], 40);
    }
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) check_planes(dtypes[i]);
    check_planes(WICK_U8);
    check_planes(WICK_I64);
    wick_device_close(gpu);
    wick_device_close(cpu);
    return test_end();
}
