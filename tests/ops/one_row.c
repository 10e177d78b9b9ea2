/* Products of one row or one column of floats with matrices, alone and in batches, of sizes drawn at random, beside
 * sums in float64 of the operands as they were stored; and of few rows with equal terms, many of them. On the device
 * named in argv[1] ("cpu"). */
#include "tests/test.h"

static struct wick_device *device;

static unsigned draw(unsigned n) {
    static unsigned state = 2463534242u;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state % n;
}

/* The elements in f64, row-major; the caller frees them. */
static double *values_of(const struct wick_tensor *x) {
    size_t nbytes = (size_t)wick_tensor_count(x) * sizeof(double);
    double *values = malloc(nbytes);
    CHECK_OK(wick_read(wick_cast(x, WICK_F64), values, nbytes));
    return values;
}

/* [batch, rows, columns], with either of the last two side by side. */
static struct wick_tensor *operand(enum wick_dtype dtype, int64_t batch, int64_t rows, int64_t columns, bool turned) {
    const int64_t stored[] = {batch, turned ? columns : rows, turned ? rows : columns};
    struct wick_tensor *x = wick_cast(wick_uniform(device, WICK_F32, 3, stored, -1, 1), dtype);
    return turned ? wick_transpose(x, 1, 2) : x;
}

/* Half a unit of the result's last place, as a fraction of it. */
static double half_unit(enum wick_dtype dtype) {
    return dtype == WICK_F32 ? 0x1p-24 : dtype == WICK_F16 ? 0x1p-11 : dtype == WICK_BF16 ? 0x1p-8 : 0x1p-4;
}

struct sizes {
    int64_t batch, m, k, n;
};

static void check_product(enum wick_dtype dtype, struct sizes sizes, bool a_turned, bool b_turned) {
    const int64_t batch = sizes.batch, m = sizes.m, k = sizes.k, n = sizes.n;
    wick_scope_begin();
    struct wick_tensor *a = operand(dtype, batch, m, k, a_turned), *b = operand(dtype, batch, k, n, b_turned);
    double *x = values_of(a), *y = values_of(b), *got = values_of(wick_matmul(a, b));
    int bad = 0;
    for (int64_t i = 0; i < batch * m * n; i++) {
        const double *row = x + i / n * k, *column = y + i / (m * n) * k * n + i % n;
        double want = 0, size = 0;
        for (int64_t t = 0; t < k; t++) {
            want += row[t] * column[t * n];
            size += fabs(row[t] * column[t * n]);
        }
        double bound = size * (double)k * 0x1p-24 + (fabs(want) + 0x1p-6) * half_unit(dtype);
        bad += !(fabs(got[i] - want) <= bound);
    }
    if (bad > 0)
        printf("%s, %d of [%d,%d,%d] by [%d,%d]%s%s\n", wick_dtype_name(dtype), bad, (int)batch, (int)m, (int)k, (int)k,
               (int)n, a_turned ? ", a turned" : "", b_turned ? ", b turned" : "");
    CHECK_INT(bad, 0);
    free(x), free(y), free(got);
    wick_scope_end(NULL);
}

/* Equal terms err alike, so that the error tells how many follow one another in a sum: docs/numerics.md says 256. */
static void check_equal(int64_t m, int64_t k, int64_t n, bool turned) {
    const float x = 0.1f, y = 0.7f;
    const double want = (double)x * (double)y * (double)k, bound = want * (1 + 256 / 2) * 0x1p-23;
    wick_scope_begin();
    struct wick_tensor *a = wick_full(device, WICK_F32, 2, (const int64_t[]){m, k}, WICK_REAL((double)x));
    struct wick_tensor *b =
        wick_full(device, WICK_F32, 2, (const int64_t[]){turned ? n : k, turned ? k : n}, WICK_REAL((double)y));
    double *got = values_of(wick_matmul(a, turned ? wick_transpose(b, 0, 1) : b));
    int bad = 0;
    for (int64_t i = 0; i < m * n; i++) bad += !(fabs(got[i] - want) <= bound);
    if (bad > 0)
        printf("%d of equal terms, [%d,%d] by [%d,%d]%s\n", bad, (int)m, (int)k, (int)k, (int)n,
               turned ? ", turned" : "");
    CHECK_INT(bad, 0);
    free(got);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    enum { ROUNDS = 60 };
    const enum wick_dtype dtypes[] = {WICK_F32, WICK_BF16, WICK_F16, WICK_F8E4M3};
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    CHECK(device != NULL);
    if (!device) return test_end();
    for (int round = 0; round < ROUNDS; round++)
        for (int d = 0; d < 4; d++) {
            int64_t k = 1 + draw(round % 3 == 0 ? 1500 : 150), n = 1 + draw(300), batch = 1 + draw(3);
            bool turned = draw(2);
            check_product(dtypes[d], (struct sizes){batch, 1, k, n}, draw(2), turned);
            check_product(dtypes[d], (struct sizes){batch, n, k, 1}, turned, draw(2));
        }
    for (int64_t m = 1; m <= 3; m += 2)
        for (int turned = 0; turned < 2; turned++) {
            check_equal(m, 100000, 1, turned);
            check_equal(m, 100000, 40, turned);
        }
    wick_device_close(device);
    return test_end();
}
