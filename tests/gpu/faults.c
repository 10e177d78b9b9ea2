/* What a kernel can't report at once: an index out of range and a division of integers by zero come back at the next
 * read or sync, as WICK_RANGE or WICK_DIVIDE, once, and the device stays good. On the device named in argv[1]. */
#include "tests/test.h"

static struct wick_device *device;

static const float four[4] = {1, 2, 3, 4};

static struct wick_tensor *floats(void) { return wick_from_data(device, WICK_F32, WICK_SHAPE(4), four, sizeof four); }

static struct wick_tensor *ids(int32_t a, int32_t b, int32_t c, int32_t d) {
    const int32_t list[4] = {a, b, c, d};
    return wick_from_data(device, WICK_I32, WICK_SHAPE(4), list, sizeof list);
}

/* The device works, and nothing is left to be reported. */
static void check_good(void) {
    float got[4] = {0};
    wick_scope_begin();
    CHECK_OK(wick_device_sync(device));
    struct wick_tensor *x = floats();
    CHECK_OK(wick_read(wick_add(x, x), got, sizeof got));
    for (int i = 0; i < 4; i++) CHECK_NEAR(got[i], 2 * four[i], 0);
    wick_scope_end(NULL);
}

/* `out` was queued without a failure; the failure comes with what waits for it. @ in the text is the device. */
static void check_late(struct wick_tensor *out, enum wick_status status, const char *text, bool by_read) {
    char back[64], want[160];
    CHECK(out);
    const char *at = strchr(text, '@');
    snprintf(want, sizeof want, "%.*s%s%s", (int)(at - text), text, wick_device_name(device), at + 1);
    if (out && by_read)
        CHECK_FAILS(wick_read(out, back, (size_t)wick_tensor_count(out) * wick_dtype_bits(wick_tensor_dtype(out)) / 8),
                    status, want);
    else
        CHECK_FAILS(wick_device_sync(device), status, want);
    check_good();
}

static void check_ids(bool by_read) {
    wick_scope_begin();
    struct wick_tensor *x = floats(), *high = ids(0, 9, 1, 1), *low = ids(0, 1, -3, 1);
    check_late(wick_gather(x, 0, high), WICK_RANGE, "gather: index 9 is out of range, on @", by_read);
    check_late(wick_gather(x, 0, low), WICK_RANGE, "gather: index -3 is out of range, on @", by_read);
    check_late(wick_index_select(x, 0, high), WICK_RANGE, "index_select: index 9 is out of range, on @", by_read);
    check_late(wick_scatter(x, 0, low, x), WICK_RANGE, "scatter: index -3 is out of range, on @", by_read);
    check_late(wick_scatter_add(x, 0, high, x), WICK_RANGE, "scatter_add: index 9 is out of range, on @", by_read);
    check_late(wick_index_add(x, 0, low, x), WICK_RANGE, "index_add: index -3 is out of range, on @", by_read);
    wick_scope_end(NULL);
}

static void check_division(bool by_read) {
    wick_scope_begin();
    struct wick_tensor *x = ids(7, -7, 0, 1), *y = ids(2, 2, 0, 1);
    check_late(wick_div(x, y), WICK_DIVIDE, "div: an integer on @ is divided by zero", by_read);
    check_late(wick_remainder(x, y), WICK_DIVIDE, "remainder: an integer on @ is divided by zero", by_read);
    struct wick_tensor *f = floats(), *zero = wick_zeros(device, WICK_F32, WICK_SHAPE(4));
    float got[4] = {0};
    CHECK_OK(wick_read(wick_div(f, zero), got, sizeof got)); /* of floats it is no failure */
    CHECK(isinf(got[0]));
    wick_scope_end(NULL);
}

/* A list of ids with one that is out of range changes nothing. */
static void check_in_place(void) {
    float got[4] = {0};
    wick_scope_begin();
    struct wick_tensor *x = floats(), *bad = ids(3, 2, 4, 0), *ones = wick_ones(device, WICK_F32, WICK_SHAPE(4));
    for (int add = 0; add < 2; add++) {
        enum wick_status status =
            add ? wick_scatter_add_inplace(x, 0, bad, ones) : wick_scatter_inplace(x, 0, bad, ones);
        if (status == WICK_OK) status = wick_device_sync(device);
        CHECK_INT(status, WICK_RANGE);
        wick_error_clear();
        CHECK_OK(wick_read(x, got, sizeof got));
        CHECK_BYTES(got, four, sizeof four);
    }
    wick_scope_end(NULL);
    check_good();
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "auto");
    if (!device) test_skip(wick_error());
    if (strcmp(wick_device_name(device), "cpu") == 0) test_skip("there is no GPU");
    for (int by_read = 0; by_read < 2; by_read++) {
        check_ids(by_read);
        check_division(by_read);
    }
    check_in_place();
    wick_device_close(device);
    return test_end();
}
