/* Two GPUs of a family, argv[1] names it: each computes by itself, and tensors go from one to the other directly or,
 * with WICK_PEER=off or argv[2] "off", by the host; the bytes are the same. Two handles of one GPU too. */
#include "tests/test.h"

#include <stdlib.h>

enum { N = 300 * 1000 }; /* more than a piece of what goes by the host */
static int32_t values[N], back[N];

static struct wick_device *open_one(const char *family, int ordinal) {
    char name[32];
    snprintf(name, sizeof name, "%s:%d", family, ordinal);
    struct wick_device *device = wick_device_open(name);
    if (!device) test_skip(wick_error());
    CHECK_TEXT(wick_device_name(device), name);
    return device;
}

static void check_copy(struct wick_device *from, struct wick_device *to) {
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(from, WICK_I32, WICK_SHAPE(N), values, sizeof values);
    struct wick_tensor *twice = wick_add(x, x);
    struct wick_tensor *there = wick_to_device(twice, to);
    struct wick_tensor *more = wick_add(there, there);
    /* What the copy reads is written again at once: the copy comes first. */
    CHECK_OK(wick_copy_inplace(twice, x));
    CHECK_OK(wick_read(more, back, sizeof back));
    for (int i = 0; i < N; i++)
        if (back[i] != 4 * values[i]) {
            CHECK_INT(back[i], 4 * values[i]);
            break;
        }
    /* A view that is not contiguous, and back. */
    struct wick_tensor *view = wick_transpose(wick_reshape(x, WICK_SHAPE(N / 300, 300)), 0, 1);
    struct wick_tensor *home = wick_to_device(wick_to_device(view, to), from);
    CHECK_OK(wick_read(wick_contiguous(wick_transpose(home, 0, 1)), back, sizeof back));
    CHECK_BYTES(back, values, sizeof values);
    wick_scope_end(NULL);
}

/* Operands on two devices are refused, and both devices stay good. */
static void check_mixed(struct wick_device *first, struct wick_device *second) {
    wick_scope_begin();
    struct wick_tensor *x = wick_ones(first, WICK_F32, WICK_SHAPE(3)), *y = wick_ones(second, WICK_F32, WICK_SHAPE(3));
    CHECK(x && y && !wick_add(x, y));
    CHECK_INT(wick_error_status(), WICK_DEVICE);
    wick_error_clear();
    CHECK_OK(wick_device_sync(first));
    CHECK_OK(wick_device_sync(second));
    wick_scope_end(NULL);
}

int main(int argc, char **argv) {
    const char *family = argc > 1 ? argv[1] : "rocm";
    if (argc > 2) setenv("WICK_PEER", argv[2], 1);
    struct wick_device *first = open_one(family, 0), *second = open_one(family, 1), *again = open_one(family, 0);
    for (int i = 0; i < N; i++) values[i] = (int32_t)(i * 7919L % 100003) - 50000;
    check_copy(first, second);
    check_copy(second, first);
    check_copy(first, again);
    check_mixed(first, second);
    wick_device_close(again);
    wick_device_close(second);
    check_copy(first, first);
    wick_device_close(first);
    return test_end();
}
