/* Rows of activations by weights of blocks with 8 bits: a row has the bits that it has alone, in any number of rows and
 * whatever stands in the others, for every dtype of blocks and rows of many numbers of blocks. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { M = 11, ROWS = 37, MOST = 1280 };

static struct wick_device *device;
static float x[M * MOST], values[ROWS * MOST];
static unsigned char bytes[ROWS * MOST * 2];

/* Rows first .. first + m - 1 of x by the weights. */
static void multiply(int64_t first, int64_t m, const struct wick_tensor *weight, int64_t rows, int64_t k, float *out) {
    wick_scope_begin();
    struct wick_tensor *some =
        wick_from_data(device, WICK_F32, WICK_SHAPE(m, k), x + first * k, (size_t)(m * k) * sizeof *x);
    struct wick_tensor *y =
        wick_linear_with(some, weight, NULL, &(struct wick_linear_options){.products = WICK_PRODUCTS_8_BIT});
    CHECK(y);
    CHECK_OK(wick_read(y, out, (size_t)(m * rows) * sizeof(float)));
    wick_scope_end(NULL);
}

/* Weights of a dtype; of bytes as they come, none of which makes a scale infinite or NaN, where it has no quantiser. */
static struct wick_tensor *weights(enum wick_dtype dtype, int64_t rows, int64_t k) {
    struct wick_tensor *wide =
        wick_from_data(device, WICK_F32, WICK_SHAPE(rows, k), values, (size_t)(rows * k) * sizeof *values);
    struct wick_tensor *weight = wick_quantise(wide, dtype, NULL);
    if (weight) return weight;
    wick_error_clear();
    size_t nbytes = (size_t)(rows * k / wick_dtype_block(dtype) * wick_dtype_block_bytes(dtype));
    CHECK(nbytes <= sizeof bytes);
    return wick_from_data(device, dtype, WICK_SHAPE(rows, k), bytes, nbytes);
}

/* `nans`: every other row has a NaN. */
static void check(enum wick_dtype dtype, int64_t rows, int64_t k, int64_t m, bool nans) {
    static float alone[M][ROWS], together[M * ROWS];
    for (int64_t i = 0; i < M * k; i++) x[i] = (float)((i * 37 + 11) % 1009) / 500 - 1;
    for (int64_t i = 1; nans && i < M; i += 2) x[i * k + i * 5 % k] = NAN;
    wick_scope_begin();
    struct wick_tensor *weight = weights(dtype, rows, k);
    CHECK(weight);
    multiply(0, m, weight, rows, k, together);
    for (int64_t i = 0; i < m; i++) {
        multiply(i, 1, weight, rows, k, alone[i]);
        for (int r = 0; r < rows; r++) {
            float a = alone[i][r], b = together[i * rows + r];
            bool good = nans && i % 2 == 1 ? isnan(a) && isnan(b) : memcmp(&a, &b, sizeof a) == 0 && isfinite(a);
            if (!good)
                fprintf(stderr, "%s, k %lld, row %lld of %lld, %d of %lld: %.9g alone, %.9g together\n",
                        wick_dtype_name(dtype), (long long)k, (long long)i, (long long)m, r, (long long)rows, (double)a,
                        (double)b);
            CHECK(good);
        }
    }
    wick_scope_end(NULL);
}

int main(void) {
    static const int64_t blocks[] = {1, 2, 3, 5, 8, 13, 31, 40}, many[] = {2, 4, 5, M};
    device = wick_device_open("cpu");
    for (int64_t i = 0; i < ROWS * MOST; i++) values[i] = (float)((i * 53 + 7) % 997) / 480 - 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 2654435761u / 65536 % 0x38);
    for (int t = WICK_DTYPE_q4_0; t < WICK_DTYPE_COUNT; t++) {
        enum wick_dtype dtype = (enum wick_dtype)t;
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            int64_t k = blocks[b] * wick_dtype_block(dtype);
            if (k > MOST) continue;
            for (size_t m = 0; m < sizeof many / sizeof *many; m++) check(dtype, b % 2 ? ROWS : 5, k, many[m], m % 2);
        }
    }
    wick_device_close(device);
    return test_end();
}
