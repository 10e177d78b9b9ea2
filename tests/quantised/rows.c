/* Few rows of activations by weights of blocks with 8 bits: a row has the bits that it has alone, whatever stands in
 * the others, for rows of every number of blocks. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

enum { M = 4, ROWS = 5, MOST = 1024 };

static struct wick_device *device;

/* Rows first .. first + m - 1 of x by the weights. */
static void multiply(const float *x, int64_t first, int64_t m, const struct wick_tensor *weight, int64_t k,
                     float out[M][ROWS]) {
    wick_scope_begin();
    struct wick_tensor *rows =
        wick_from_data(device, WICK_F32, WICK_SHAPE(m, k), x + first * k, (size_t)(m * k) * sizeof *x);
    struct wick_tensor *y =
        wick_linear_with(rows, weight, NULL, &(struct wick_linear_options){.products = WICK_PRODUCTS_8_BIT});
    CHECK(y);
    CHECK_OK(wick_read(y, out, (size_t)(m * ROWS) * sizeof(float)));
    wick_scope_end(NULL);
}

static void check(enum wick_dtype dtype, int64_t k) {
    float x[M * MOST], values[ROWS * MOST], alone[M][ROWS], together[M][ROWS];
    for (int64_t i = 0; i < M * k; i++) x[i] = (float)((i * 37 + 11) % 101) / 50 - 1;
    for (int64_t i = 0; i < ROWS * k; i++) values[i] = (float)((i * 53 + 7) % 97) / 48 - 1;
    for (int64_t i = 0; i < k; i++) x[k + i] = x[3 * k + i] = NAN;
    wick_scope_begin();
    struct wick_tensor *weight = wick_quantise(
        wick_from_data(device, WICK_F32, WICK_SHAPE(ROWS, k), values, (size_t)(ROWS * k) * sizeof *values), dtype,
        NULL);
    CHECK(weight);
    multiply(x, 0, M, weight, k, together);
    for (int64_t i = 0; i < M; i++) {
        multiply(x, i, 1, weight, k, &alone[i]);
        for (int r = 0; r < ROWS; r++) {
            bool nan = i % 2 == 1,
                 good = nan ? isnan(together[i][r]) && isnan(alone[i][r])
                            : memcmp(&together[i][r], &alone[i][r], sizeof(float)) == 0 && isfinite(alone[i][r]);
            if (!good)
                fprintf(stderr, "%s, k %lld, row %lld: %g together, %g alone\n", wick_dtype_name(dtype), (long long)k,
                        (long long)i, (double)together[i][r], (double)alone[i][r]);
            CHECK(good);
        }
    }
    wick_scope_end(NULL);
}

int main(void) {
    static const enum wick_dtype types[] = {WICK_DTYPE_q4_0, WICK_DTYPE_q4_1,   WICK_DTYPE_q5_0, WICK_DTYPE_q5_1,
                                            WICK_DTYPE_q8_0, WICK_DTYPE_iq4_nl, WICK_DTYPE_q4_k, WICK_DTYPE_q5_k,
                                            WICK_DTYPE_q6_k, WICK_DTYPE_iq4_xs};
    device = wick_device_open("cpu");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int64_t k = wick_dtype_block(types[t]); k <= MOST; k += wick_dtype_block(types[t])) check(types[t], k);
    wick_device_close(device);
    return test_end();
}
