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

/* holds: for eq, ne, lt, le, gt, ge, whether they hold for the element and the number. */
static void check_comparisons(enum wick_dtype dtype, const void *element, struct wick_number n, const char *holds) {
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, dtype, 0, NULL, element, (size_t)wick_dtype_bits(dtype) / 8);
    struct wick_tensor *got[] = {wick_eq_scalar(x, n), wick_ne_scalar(x, n), wick_lt_scalar(x, n),
                                 wick_le_scalar(x, n), wick_gt_scalar(x, n), wick_ge_scalar(x, n)};
    for (int i = 0; i < 6; i++) {
        uint8_t answer = 2;
        CHECK_OK(wick_read(got[i], &answer, 1));
        TEST_CHECK_(answer == holds[i] - '0', "comparison %d of %s with %g, %lld is %d", i, wick_dtype_name(dtype),
                    n.real, (long long)n.integer, answer);
    }
    wick_scope_end(NULL);
}

#define EQUAL "100101"
#define LESS "011100"
#define GREATER "010011"
#define UNORDERED "010000"
#define COMPARE(dtype, type, element, number, holds) check_comparisons(dtype, &(const type){element}, number, holds)

/* Every number is compared as it is, however wide the dtype. */
static void check_limits(void) {
    COMPARE(WICK_I64, int64_t, BIG, WICK_INT(BIG), EQUAL);
    COMPARE(WICK_I64, int64_t, BIG, WICK_INT(BIG - 1), GREATER);
    COMPARE(WICK_I64, int64_t, BIG, WICK_REAL((double)(BIG - 1)), GREATER);
    COMPARE(WICK_I64, int64_t, -BIG, WICK_INT(-BIG + 1), LESS);
    COMPARE(WICK_I64, int64_t, INT64_MAX, WICK_INT(INT64_MAX), EQUAL);
    COMPARE(WICK_I64, int64_t, INT64_MIN, WICK_INT(INT64_MIN), EQUAL);
    COMPARE(WICK_I64, int64_t, INT64_MIN, WICK_REAL(-0x1p63), EQUAL);
    COMPARE(WICK_I64, int64_t, INT64_MAX, WICK_REAL(0x1p63), LESS);
    COMPARE(WICK_I64, int64_t, INT64_MIN, WICK_REAL(-1e300), GREATER);
    COMPARE(WICK_I64, int64_t, INT64_MIN, WICK_INT(INT64_MAX), LESS);
    COMPARE(WICK_I64, int64_t, 1, WICK_REAL(0.5), GREATER);
    COMPARE(WICK_I64, int64_t, -1, WICK_REAL(-0.5), LESS);
    COMPARE(WICK_I64, int64_t, 0, WICK_REAL(NAN), UNORDERED);
    COMPARE(WICK_I64, int64_t, INT64_MAX, WICK_REAL(INFINITY), LESS);
    COMPARE(WICK_U8, uint8_t, 255, WICK_INT(256), LESS);
    COMPARE(WICK_U8, uint8_t, 0, WICK_INT(-1), GREATER);
    COMPARE(WICK_U8, uint8_t, 255, WICK_INT(255), EQUAL);
    COMPARE(WICK_U32, uint32_t, UINT32_MAX, WICK_INT(INT64_C(1) << 32), LESS);
    COMPARE(WICK_I16, int16_t, -32768, WICK_INT(-32769), GREATER);
    COMPARE(WICK_I32, int32_t, INT32_MAX, WICK_REAL(3e9), LESS);
    COMPARE(WICK_F32, float, 0x1p53f, WICK_INT(BIG), LESS);
    COMPARE(WICK_F32, float, 0x1p53f, WICK_INT(BIG - 1), EQUAL);
    COMPARE(WICK_F32, float, 0x1p63f, WICK_INT(INT64_MAX), GREATER);
    COMPARE(WICK_F32, float, 0.1f, WICK_REAL(0.1), GREATER);
    COMPARE(WICK_F32, float, 0.1f, WICK_REAL((double)0.1f), EQUAL);
    COMPARE(WICK_F32, float, -0.0f, WICK_INT(0), EQUAL);
    COMPARE(WICK_F32, float, 0x1p-149f, WICK_INT(0), GREATER);
    COMPARE(WICK_F32, float, 0, WICK_REAL(1e-300), LESS);
    COMPARE(WICK_F32, float, 0x1.fffffep127f, WICK_REAL(1e300), LESS);
    COMPARE(WICK_F32, float, INFINITY, WICK_REAL(1e300), GREATER);
    COMPARE(WICK_F32, float, INFINITY, WICK_REAL(INFINITY), EQUAL);
    COMPARE(WICK_F32, float, -INFINITY, WICK_REAL(-INFINITY), EQUAL);
    COMPARE(WICK_F32, float, NAN, WICK_INT(0), UNORDERED);
    COMPARE(WICK_F32, float, 0, WICK_REAL(NAN), UNORDERED);
    COMPARE(WICK_F64, double, 0x1p53, WICK_INT(BIG), LESS);
    COMPARE(WICK_F64, double, -0x1p63, WICK_INT(INT64_MIN), EQUAL);
    COMPARE(WICK_F64, double, 0x1p63, WICK_INT(INT64_MAX), GREATER);
    COMPARE(WICK_F64, double, 0.1, WICK_REAL(0.1), EQUAL);
    COMPARE(WICK_BF16, uint16_t, 0x3f80, WICK_INT(1), EQUAL);
    COMPARE(WICK_BF16, uint16_t, 0x3f80, WICK_REAL(1.0001), LESS);
    COMPARE(WICK_F16, uint16_t, 0x7bff, WICK_INT(65505), LESS);
    COMPARE(WICK_F8E4M3, uint8_t, 0x7e, WICK_INT(448), EQUAL);
    COMPARE(WICK_F8E4M3, uint8_t, 0x7e, WICK_INT(500), LESS);
}

/* The larger and the smaller of an element and a number, and rounding with ties away from 0. */
static void check_bounds(void) {
    const int64_t three[3] = {3, -BIG, INT64_MAX};
    const double halves[6] = {0.5, -0.5, 2.5, -3.5, 0x1.fffffffffffffp-2, 0x1p52 + 1},
                 away[6] = {1, -1, 3, -4, 0, 0x1p52 + 1};
    double got[6];
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, WICK_I64, WICK_SHAPE(3), three, sizeof three);
    CHECK_INTS(wick_keep(wick_maximum_scalar(x, WICK_INT(BIG))), BIG, BIG, INT64_MAX);
    CHECK_INTS(wick_keep(wick_maximum_scalar(x, WICK_INT(-BIG + 1))), 3, -BIG + 1, INT64_MAX);
    CHECK_INTS(wick_keep(wick_minimum_scalar(x, WICK_INT(-BIG - 1))), -BIG - 1, -BIG - 1, -BIG - 1);
    CHECK_INTS(wick_keep(wick_minimum_scalar(x, WICK_REAL(2.5))), 2, -BIG, 2);
    CHECK_INTS(wick_keep(wick_minimum_scalar(x, WICK_REAL(INFINITY))), 3, -BIG, INT64_MAX);
    struct wick_tensor *y = wick_from_data(device, WICK_F64, WICK_SHAPE(6), halves, sizeof halves);
    CHECK_OK(wick_read(wick_round_ties_away(y), got, sizeof got));
    CHECK_BYTES(got, away, sizeof got);
    CHECK_INTS(wick_keep(wick_round_ties_away(x)), 3, -BIG, INT64_MAX);
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    check_elements();
    check_ranges();
    check_scalars();
    check_limits();
    check_bounds();
    wick_device_close(device);
    return test_end();
}
