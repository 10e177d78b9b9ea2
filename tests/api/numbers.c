/* Numbers as arguments: whole ones of 64 bits come through unchanged, reals as wick_cast has them. Expected values are
 * written out, by the rules of the headers. On the device named in argv[1], the CPU without one. */
#include "tests/test.h"

static struct wick_device *device;

static const int64_t BIG = (INT64_C(1) << 53) + 1; /* which no double holds */

static void check_ints(struct wick_tensor *x, int n, const int64_t *want) {
    int64_t got[8] = {0};
    CHECK_INT(wick_tensor_count(x), n);
    CHECK_OK(wick_read(x, got, (size_t)n * sizeof *got));
    for (int i = 0; i < n; i++) CHECK_INT(got[i], want[i]);
    wick_release(x);
}

#define CHECK_INTS(x, ...)                                                                                             \
    check_ints(x, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

static int64_t element(enum wick_dtype dtype, struct wick_number n) {
    int64_t bits = 0;
    struct wick_tensor *x = wick_full(device, dtype, 0, NULL, n);
    CHECK_OK(wick_read(x, &bits, (size_t)wick_dtype_bits(dtype) / 8));
    wick_release(x);
    return bits;
}

static void check_elements(void) {
    CHECK_INT(element(WICK_I64, WICK_INT(INT64_MAX)), INT64_MAX);
    CHECK_INT(element(WICK_I64, WICK_INT(INT64_MIN)), INT64_MIN);
    CHECK_INT(element(WICK_I64, WICK_INT(BIG)), BIG);
    CHECK_INT(element(WICK_I64, WICK_REAL(1e300)), INT64_MAX);
    CHECK_INT(element(WICK_DTYPE_u64, WICK_INT(-1)), -1);
    CHECK_INT(element(WICK_U8, WICK_INT(300)), 44);
    CHECK_INT(element(WICK_U8, WICK_REAL(300)), 255);
    CHECK_INT(element(WICK_U8, WICK_REAL(NAN)), 0);
    CHECK_INT(element(WICK_DTYPE_bool, WICK_INT(256)), 1);
    /* Rounded once: by way of the nearest double it would be 2^60. */
    CHECK_INT(element(WICK_F32, WICK_INT((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1)), 0x5d800001);
    CHECK_INT(element(WICK_F32, WICK_INT(-(INT64_C(1) << 60) - (INT64_C(1) << 36) - 1)), 0xdd800001);
    CHECK_INT(element(WICK_F64, WICK_INT(BIG)), INT64_C(0x4340000000000000));
    struct wick_tensor *x = wick_zeros(device, WICK_I64, WICK_SHAPE(2));
    CHECK_OK(wick_fill_inplace(x, WICK_INT(-BIG)));
    CHECK_INTS(x, -BIG, -BIG);
}

static void check_ranges(void) {
    CHECK_INTS(wick_arange(device, WICK_I64, WICK_INT(BIG - 1), WICK_INT(BIG + 2), WICK_INT(1)), BIG - 1, BIG, BIG + 1);
    CHECK_INTS(wick_arange(device, WICK_I64, WICK_INT(INT64_MAX - 2), WICK_INT(INT64_MAX), WICK_INT(1)), INT64_MAX - 2,
               INT64_MAX - 1);
    CHECK_INTS(wick_arange(device, WICK_I64, WICK_INT(INT64_MIN), WICK_INT(INT64_MAX), WICK_INT(INT64_MAX)), INT64_MIN,
               -1, INT64_MAX - 1);
    CHECK_INTS(wick_arange(device, WICK_I64, WICK_INT(BIG), WICK_INT(BIG - 5), WICK_INT(-3)), BIG, BIG - 3);
    CHECK_INTS(wick_arange(device, WICK_I64, WICK_INT(5), WICK_REAL(0), WICK_REAL(-2.5)), 5, 2);
    CHECK(wick_arange(device, WICK_I64, WICK_INT(INT64_MIN), WICK_INT(INT64_MAX), WICK_INT(1)) == NULL);
    CHECK_INT(wick_error_status(), WICK_OVERFLOW);
    wick_error_clear();
    struct wick_tensor *none = wick_arange(device, WICK_U8, WICK_INT(3), WICK_INT(3), WICK_INT(INT64_MIN));
    CHECK_INT(wick_tensor_count(none), 0);
    wick_release(none);
}

static void check_scalars(void) {
    const int64_t three[3] = {3, -BIG, INT64_MAX};
    struct wick_tensor *x = wick_from_data(device, WICK_I64, WICK_SHAPE(3), three, sizeof three);
    CHECK_INTS(wick_add_scalar(x, WICK_INT(BIG)), BIG + 3, 0, INT64_MIN + (INT64_C(1) << 53));
    CHECK_INTS(wick_sub_scalar(x, WICK_INT(BIG)), 3 - BIG, -2 * BIG, INT64_MAX - BIG);
    CHECK_INTS(wick_mul_scalar(x, WICK_INT(-1)), -3, BIG, -INT64_MAX);
    CHECK_INTS(wick_div_scalar(x, WICK_INT(BIG)), 0, -1, 1023);
    CHECK_INTS(wick_affine(x, WICK_INT(1), WICK_INT(BIG)), BIG + 3, 0, INT64_MIN + (INT64_C(1) << 53));
    /* 2^63 times an odd number is 2^63, modulo 2^64; 2^64 times any is 0. */
    CHECK_INTS(wick_affine(x, WICK_REAL(0x1p63), WICK_INT(0)), INT64_MIN, INT64_MIN, INT64_MIN);
    CHECK_INTS(wick_affine(x, WICK_REAL(-0x1p64), WICK_REAL(7)), 7, 7, 7);
    CHECK_INTS(wick_clamp(x, WICK_INT(-BIG + 1), WICK_INT(BIG)), 3, -BIG + 1, BIG);
    CHECK_INTS(wick_clamp(x, WICK_REAL(-1.5), WICK_REAL(2.5)), 2, -1, 2);
    CHECK_INTS(wick_clamp(x, WICK_REAL(0.2), WICK_REAL(0.8)), 0, 0, 0);
    CHECK_INTS(wick_clamp(x, WICK_REAL(-INFINITY), WICK_INT(4)), 3, -BIG, 4);
    CHECK(wick_clamp(x, WICK_REAL(NAN), WICK_INT(4)) == NULL);
    wick_error_clear();
    CHECK(wick_div_scalar(x, WICK_REAL(0.5)) == NULL);
    CHECK_INT(wick_error_status(), WICK_DIVIDE);
    wick_error_clear();
    struct wick_tensor *mask = wick_ones(device, WICK_U8, WICK_SHAPE(3));
    CHECK_INTS(wick_masked_fill(x, mask, WICK_INT(BIG)), BIG, BIG, BIG);
    wick_release(mask);
    const int64_t one = 1, nothing = 0;
    CHECK_INTS(wick_pad(x, 1, &nothing, &one, WICK_PAD_CONSTANT, WICK_INT(BIG)), 3, -BIG, INT64_MAX, BIG);
    wick_release(x);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    check_elements();
    check_ranges();
    check_scalars();
    wick_device_close(device);
    return test_end();
}
