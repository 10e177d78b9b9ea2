/* The code of docs/errors.md, as it stands there, and what the page says of it. On the device named in argv[1], the CPU
 * without one. */
#include "tests/test.h"

static struct wick_device *device;
static const char *reported;

static int report(const char *text) {
    reported = text;
    return 1;
}

static int chain(struct wick_tensor *x, struct wick_tensor *weight, struct wick_tensor *bias) {
#include "errors-1.h"
    return 0;
}

static void check_chain(void) {
    char want[128];
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(device, WICK_F16, WICK_SHAPE(2, 3, 64)),
                       *short_weight = wick_ones(device, WICK_F16, WICK_SHAPE(2, 32, 8)),
                       *weight = wick_ones(device, WICK_F16, WICK_SHAPE(2, 64, 8)),
                       *bias = wick_ones(device, WICK_F16, WICK_SHAPE(8));
    CHECK_INT(chain(x, weight, bias), 0);
    CHECK_INT(chain(x, short_weight, bias), 1);
    snprintf(want, sizeof want, "matmul: lhs [2,3,64] f16, rhs [2,32,8] f16 on %s: inner 64 != 32",
             wick_device_name(device));
    CHECK_TEXT(reported, want);
    wick_error_clear();
    wick_scope_end(NULL);
}

/* The CPU finds an id out of range in the call itself, a GPU when a result is read. */
static void check_data(void) {
    float out[12];
    const size_t nbytes = sizeof out;
    const int32_t bad[4] = {0, 9, 1, 0}, good[4] = {0, 1, 2, 0};
    char want[96];
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(3, 3)),
                       *bad_ids = wick_from_data(device, WICK_I32, WICK_SHAPE(4), bad, sizeof bad),
                       *good_ids = wick_from_data(device, WICK_I32, WICK_SHAPE(4), good, sizeof good);
#include "errors-2.h"
    bool late = strcmp(wick_device_name(device), "cpu") != 0;
    CHECK_INT(a != NULL, late);
    CHECK_INT(first, late ? WICK_RANGE : WICK_INVALID);
    CHECK_INT(wick_error_status(), WICK_RANGE);
    snprintf(want, sizeof want, "index_select: id 9 at position 1 of ids [4] i32 on %s is ", wick_device_name(device));
    TEST_CHECK_(strncmp(wick_error(), want, strlen(want)) == 0, "the error is %s", wick_error());
    CHECK_INT(second, WICK_OK);
    CHECK_NEAR(out[11], -1, 0);
    wick_error_clear();
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    device = wick_device_open(argc > 1 ? argv[1] : "cpu");
    if (!device) test_skip(wick_error());
    check_chain();
    check_data();
    wick_device_close(device);
    return test_end();
}
