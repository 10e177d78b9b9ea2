/* Devices: the list, opening, describing, what they support; names of dtypes and ops. */
#include "tests/test.h"

static void check_devices(void) {
    CHECK(wick_device_count() >= 1);
    for (int i = 0; i < wick_device_count(); i++) {
        struct wick_device *device = wick_device_open(wick_device_list(i));
        struct wick_device_info info;
        CHECK(device != NULL);
        CHECK_TEXT(wick_device_name(device), wick_device_list(i));
        CHECK_OK(wick_device_describe(device, &info));
        CHECK(*info.name && *info.family && *info.description && *info.isa && info.threads >= 1);
        CHECK_OK(wick_device_sync(device));
        CHECK_FAILS(wick_device_describe(device, NULL), WICK_INVALID, "device_describe: info is NULL");
        wick_device_close(device);
    }
    CHECK(wick_device_list(-1) == NULL && wick_device_list(wick_device_count()) == NULL);
    struct wick_device *best = wick_device_open("auto");
    CHECK_TEXT(wick_device_name(best), wick_device_list(0));
    wick_device_close(best);
    wick_device_close(NULL);
    CHECK(wick_device_name(NULL) == NULL);
    CHECK_FAILS(wick_device_open(NULL), WICK_INVALID, "device_open: name is NULL");
    if (wick_device_count() == 1) { /* why there is no GPU follows */
        const char *text = "device_open: no device \"cuda:7\"; there is auto, cpu; ";
        CHECK(!wick_device_open("cuda:7") && wick_error_status() == WICK_DEVICE);
        CHECK(strncmp(wick_error(), text, strlen(text)) == 0);
        wick_error_clear();
    }
    CHECK_FAILS(wick_device_sync(NULL), WICK_INVALID, "device_sync: device is NULL");
    CHECK_FAILS(wick_seed_set(NULL, 1), WICK_INVALID, "seed_set: device is NULL");
}

static void check_threads(void) {
    int threads = wick_threads();
    CHECK(threads >= 1);
    CHECK_OK(wick_threads_set(3));
    CHECK_INT(wick_threads(), 3);
    CHECK_FAILS(wick_threads_set(0), WICK_INVALID, "threads_set: 0 is not in 1..256");
    CHECK_FAILS(wick_threads_set(257), WICK_INVALID, "threads_set: 257 is not in 1..256");
    CHECK_INT(wick_threads(), 3);
    CHECK_OK(wick_threads_set(threads));

    int spin = wick_threads_spin();
    CHECK(spin >= 0);
    CHECK_OK(wick_threads_spin_set(0));
    CHECK_INT(wick_threads_spin(), 0);
    CHECK_FAILS(wick_threads_spin_set(-1), WICK_INVALID, "threads_spin_set: -1 is not in 0..1000000");
    CHECK_FAILS(wick_threads_spin_set(1000001), WICK_INVALID, "threads_spin_set: 1000001 is not in 0..1000000");
    CHECK_INT(wick_threads_spin(), 0);
    CHECK_OK(wick_threads_spin_set(spin));
}

static void check_dtypes(void) {
    for (int i = 0; i < WICK_DTYPE_COUNT; i++) {
        enum wick_dtype dtype = (enum wick_dtype) - 1;
        CHECK(wick_dtype_from_name(wick_dtype_name((enum wick_dtype)i), &dtype));
        CHECK_INT(dtype, i);
        if (wick_dtype_kind(dtype) != WICK_DTYPE_KIND_QUANTISED)
            CHECK(wick_dtype_bits(dtype) >= 4 && wick_dtype_bits(dtype) <= 64);
    }
    enum wick_dtype dtype = WICK_I16;
    CHECK(!wick_dtype_from_name("float", &dtype) && !wick_dtype_from_name("", &dtype) &&
          !wick_dtype_from_name(NULL, &dtype) && dtype == WICK_I16);
    CHECK_TEXT(wick_dtype_name((enum wick_dtype) - 1), "?");
    CHECK_TEXT(wick_dtype_name(WICK_DTYPE_COUNT), "?");
    CHECK_INT(wick_dtype_bits(WICK_DTYPE_COUNT), 0);
    CHECK(wick_dtype_is_float(WICK_BF16) && wick_dtype_is_float(WICK_DTYPE_f4) && !wick_dtype_is_float(WICK_I64) &&
          !wick_dtype_is_float(WICK_DTYPE_bool) && !wick_dtype_is_float(WICK_DTYPE_COUNT));
}

static void check_ops(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    enum wick_op op = WICK_OP_COUNT;
    for (int i = 0; i < WICK_OP_COUNT; i++) {
        CHECK(wick_op_from_name(wick_op_name((enum wick_op)i), &op));
        CHECK_INT(op, i);
        CHECK(strlen(wick_op_formula(op)) > 0 && strlen(wick_op_family(op)) > 0);
        bool any = false;
        for (int dtype = 0; dtype < WICK_DTYPE_COUNT; dtype++)
            any = any || wick_supports(cpu, op, (enum wick_dtype)dtype);
        TEST_CHECK_(any, "%s is supported for no dtype", wick_op_name(op));
    }
    op = WICK_OP_contiguous;
    CHECK(!wick_op_from_name("no_such_op", &op) && !wick_op_from_name(NULL, &op) && op == WICK_OP_contiguous);
    CHECK_TEXT(wick_op_name(WICK_OP_COUNT), "?");
    CHECK_TEXT(wick_op_formula((enum wick_op) - 1), "?");
    CHECK_TEXT(wick_op_family(WICK_OP_COUNT), "?");
    CHECK(!wick_supports(NULL, WICK_OP_contiguous, WICK_F32));
    CHECK(!wick_supports(cpu, WICK_OP_COUNT, WICK_F32));
    CHECK(!wick_supports(cpu, (enum wick_op) - 1, WICK_F32));
    CHECK(!wick_supports(cpu, WICK_OP_contiguous, WICK_DTYPE_COUNT));
    wick_device_close(cpu);
}

int main(void) {
    check_devices();
    check_threads();
    check_dtypes();
    check_ops();
    return test_end();
}
