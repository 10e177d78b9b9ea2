/* The driver of `wick verify` itself: a wrong element, a NaN, a wrong dtype, shape or layout, a touched operand or
 * guard zone, a leak and a refusal that is missing must all be reported. And its number formats. */
#include "tests/test.h"

#include "core/tensor.h"
#include "verify/driver.h"

#include <stdlib.h>
#include <unistd.h>

static const struct verify_bound equal = {0}, sums = {.ulp = 2};

static bool good(enum wick_dtype dtype, double got, double want, double scale, struct verify_bound bound) {
    double worst = 0;
    return verify_element_good(dtype, got, want, scale, bound, &worst);
}

static void check_elements(void) {
    CHECK(good(WICK_F32, 1, 1, 0, equal));
    CHECK(!good(WICK_F32, nextafterf(1, 2), 1, 0, equal));
    CHECK(good(WICK_F32, nextafterf(1, 2), 1, 0, sums));
    CHECK(!good(WICK_F32, 1 + 0x1p-20, 1, 0, sums));
    CHECK(good(WICK_F32, 0x1p-20, 0, 8, sums)); /* terms of magnitude 8 that cancel */
    CHECK(!good(WICK_F32, 0x1p-18, 0, 8, sums));
    CHECK(!good(WICK_F32, NAN, 1, 1e30, sums));
    CHECK(!good(WICK_F32, 1, NAN, 1e30, sums));
    CHECK(good(WICK_F32, NAN, NAN, 0, equal));
    CHECK(!good(WICK_F32, INFINITY, 1e38, 0, sums));
    CHECK(good(WICK_F32, INFINITY, 1e39, 0, equal));
    CHECK(!good(WICK_F32, -INFINITY, INFINITY, 0, sums));
    CHECK(!good(WICK_F32, 3e38, INFINITY, 0, sums));
    /* A bound that reaches past the range allows infinity on that side, whatever the sign of what is right. */
    CHECK(good(WICK_F64, INFINITY, 0, INFINITY, sums));
    CHECK(good(WICK_F64, -INFINITY, 1, INFINITY, sums));
    CHECK(!good(WICK_F64, INFINITY, 0, 1e300, sums));
    CHECK(!good(WICK_F64, -INFINITY, 1e308, 1e308, sums));
    /* One rounding to bf16 is allowed, a second one is not. */
    CHECK(good(WICK_BF16, 1.0078125, 1 + 0x1p-8 + 0x1p-20, 0, sums));
    CHECK(!good(WICK_BF16, 1, 1 + 0x1p-8 + 0x1p-16, 0, sums));
    CHECK(!good(WICK_BF16, 1.015625, 1, 0, sums));
    CHECK(good(WICK_F8E4M3, 448, 1000, 0, equal));
    CHECK(!good(WICK_F8E4M3, NAN, 1000, 0, equal));
    CHECK(good(WICK_I64, 5, 5, 0, equal));
    CHECK(!good(WICK_I64, 5, 6, 100, sums));
    struct verify_bound exact = {.ulp = 2, .exact = true};
    CHECK(!good(WICK_F32, nextafterf(3, 4), 3, 12, exact));
}

/* Every bit pattern of the small floats comes back, and neighbours round as they should. */
static void check_formats(void) {
    static const enum wick_dtype small[] = {WICK_BF16, WICK_F16, WICK_F8E4M3, WICK_DTYPE_f8e5m2};
    for (int n = 0; n < 4; n++) {
        int bits = wick_dtype_bits(small[n]);
        for (uint32_t i = 0; i < 1u << bits; i++) {
            uint16_t back = 0, from = (uint16_t)i;
            double value = verify_decode(small[n], &from);
            verify_encode(small[n], value, &back);
            if (isnan(value)) {
                CHECK(isnan(verify_decode(small[n], &back)));
                continue;
            }
            CHECK_INT(back, from);
            if (isinf(value)) continue;
            CHECK(verify_round(small[n], value) == value);
            double step = verify_spacing(small[n], value);
            if (fabs(value) + step > verify_highest(small[n])) continue;
            double up = value < 0 ? value - step : value + step, middle = (value + up) / 2;
            double even = from & 1 ? up : value;
            CHECK(verify_round(small[n], middle) == even);
            CHECK(verify_round(small[n], nextafter(middle, value)) == value);
            CHECK(verify_round(small[n], nextafter(middle, up)) == up);
        }
    }
    for (int i = 0; i < 256; i++) {
        unsigned char from = (unsigned char)i, back = 0;
        double value = verify_decode(WICK_DTYPE_f8e8m0, &from);
        verify_encode(WICK_DTYPE_f8e8m0, value, &back);
        CHECK_INT(back, from);
        CHECK(i == 255 ? isnan(value) : value == ldexp(1, i - 127));
    }
    CHECK_NEAR(verify_round(WICK_F16, 65519), 65504, 0);
    CHECK(isinf(verify_round(WICK_F16, 65520)));
    CHECK(isinf(verify_round(WICK_F32, 0x1.ffffffp127)));
    CHECK(isinf(verify_round(WICK_BF16, 1e39)));
    CHECK_NEAR(verify_round(WICK_F8E4M3, -1e9), -448, 0);
    CHECK_NEAR(verify_round(WICK_F8E4M3, 465), 448, 0);
    CHECK_NEAR(verify_round(WICK_U8, -3.5), 0, 0);
    CHECK_NEAR(verify_round(WICK_U8, 255.9), 255, 0);
    CHECK_NEAR(verify_round(WICK_I16, -32769), -32768, 0);
    CHECK_NEAR(verify_round(WICK_I32, NAN), 0, 0);
    for (int dtype = 0; dtype < 5; dtype++) {
        double limits[2] = {verify_lowest((enum wick_dtype)dtype), verify_highest((enum wick_dtype)dtype)};
        for (int i = 0; i < 2; i++) {
            int64_t bits = 0;
            verify_encode((enum wick_dtype)dtype, limits[i], &bits);
            CHECK(verify_decode((enum wick_dtype)dtype, &bits) == limits[i]);
        }
    }
}

/* Layouts show the same elements as the array they were made from, and notice a write anywhere. */
static void check_buffers(struct wick_device *cpu) {
    struct verify_operand operand = {.role = VERIFY_VALUE, .rank = 3, .shape = {3, 4, 5}, .low = -8, .high = 8};
    for (int v = 0; v < VERIFY_LAYOUTS; v++) {
        struct verify_random random = {(uint64_t)v};
        struct verify_placing placing = verify_placing_for(&operand, (enum verify_variant)v, v, &random);
        struct verify_array array = {0};
        struct verify_buffer buffer;
        CHECK_INT(placing.layout, v);
        CHECK_INT(verify_values(&operand, WICK_I16, (enum verify_variant)v, placing, &random, &array), VERIFY_GOOD);
        CHECK(verify_upload(cpu, &array, placing, &buffer));
        CHECK_INT(wick_tensor_is_contiguous(buffer.view), v == VERIFY_CONTIGUOUS || v == VERIFY_OFFSET);
        int16_t data[60];
        CHECK_OK(wick_read(buffer.view, data, sizeof data));
        for (int i = 0; i < 60; i++) CHECK_INT(data[i], array.data[i]);
        CHECK(verify_unchanged(&buffer));
        int16_t *raw = wick_tensor_data(buffer.base);
        for (int64_t i = 0; i < wick_tensor_count(buffer.base); i++) {
            raw[i] ^= 1;
            CHECK(!verify_unchanged(&buffer));
            raw[i] ^= 1;
        }
        verify_buffer_free(&buffer);
        free(array.data);
    }
}

static void check_targets(struct wick_device *cpu) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 3), data, sizeof data);
    struct wick_tensor *target = verify_target(x);
    CHECK(verify_is_target(target) && !verify_is_target(x));
    float *raw = wick_tensor_data(target);
    raw[5] = 7;
    CHECK(verify_targets_intact());
    raw[6] = 7;
    CHECK(!verify_targets_intact());
    wick_release(target);
    verify_targets_free();
    wick_release(x);
}

static void check_comparison(struct wick_device *cpu) {
    float data[4] = {1, 2, 3, 4};
    double right[4] = {1, 2, 3, 4}, worst = 0;
    char why[256];
    struct verify_array want = {.dtype = WICK_F32, .rank = 2, .shape = {2, 2}, .count = 4, .data = right};
    struct wick_tensor *x = wick_from_data(cpu, WICK_F32, WICK_SHAPE(2, 2), data, sizeof data);
    CHECK(verify_compare(x, &want, equal, &worst, why, sizeof why));
    right[2] = 3.5;
    CHECK(!verify_compare(x, &want, equal, &worst, why, sizeof why));
    CHECK_TEXT(why, "1 of 4 elements of [2,2], the first at 2: 3, should be 3.5 +- 1.19e-07");
    right[2] = NAN;
    CHECK(!verify_compare(x, &want, equal, &worst, why, sizeof why));
    right[2] = 3;
    want.dtype = WICK_F64;
    CHECK(!verify_compare(x, &want, equal, &worst, why, sizeof why));
    CHECK_TEXT(why, "dtype f32, should be f64");
    want.dtype = WICK_F32;
    want.rank = 1;
    want.shape[0] = 4;
    CHECK(!verify_compare(x, &want, equal, &worst, why, sizeof why));
    CHECK_TEXT(why, "shape [2,2], should be [4]");
    wick_release(x);
}

static void check_allocator(void) {
    unsigned char *block = verify_allocator.alloc(NULL, 100, 64);
    CHECK(block && (uintptr_t)block % 64 == 0 && block[0] == 0xFF && block[99] == 0xFF);
    verify_allocator.free(NULL, block, 100);
    CHECK_INT(verify_allocator_damage(), 0);
    static const int places[] = {-1, 100, -64, 163};
    for (int i = 0; i < 4; i++) {
        block = verify_allocator.alloc(NULL, 100, 64);
        block[places[i]] ^= 1;
        verify_allocator.free(NULL, block, 100);
        CHECK_INT(verify_allocator_damage(), i + 1);
    }
}

static void keep_line(void *context, const char *line) { snprintf(context, 160, "%s", line); }

static enum wick_status run_listed(const char *text, const char *pattern, struct verify_totals *totals,
                                   char line[160]) {
    char path[] = "/tmp/wick-driver-XXXXXX";
    int file = mkstemp(path);
    line[0] = '\0';
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) return WICK_IO;
    close(file);
    struct verify_options options = {.pattern = pattern, .list = path, .print = keep_line, .context = line};
    enum wick_status status = verify_run(&options, totals);
    unlink(path);
    return status;
}

/* Each check of a list runs once; one that there is not fails. */
static void check_lists(void) {
    struct verify_totals totals;
    char line[160];
    CHECK_OK(run_listed("mul u8 0 offset\n\n# a remark\nadd f32 1 contiguous\nmul u8 0 offset\n", NULL, &totals, line));
    CHECK_INT(totals.cells, 2);
    CHECK_INT(totals.checks, 2);
    CHECK_INT(totals.bad, 0);
    CHECK_OK(run_listed("add f32 9999 contiguous\nadd f32 0 contiguous\n", NULL, &totals, line));
    CHECK_INT(totals.checks, 1);
    CHECK_INT(totals.bad, 1);
    CHECK_TEXT(line, "BAD add f32 case 9999 contiguous: listed, but there is no such check");
    CHECK_INT(run_listed("add f32 0 contiguous\n", "add", &totals, line), WICK_INVALID);
    wick_error_clear();
    CHECK_INT(run_listed("add f32 contiguous\n", NULL, &totals, line), WICK_INVALID);
    CHECK(strstr(wick_error(), "line 1 of"));
}

int main(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    check_elements();
    check_formats();
    check_buffers(cpu);
    check_targets(cpu);
    check_comparison(cpu);
    check_allocator();
    wick_device_close(cpu);
    check_lists();
    return test_end();
}
