/* More than 2^31 elements: a u8 tensor of 2 GiB is copied, picked from and cut. */
#include "tests/test.h"

int main(void) {
    const int64_t n = (INT64_C(1) << 31) + 16, ids[3] = {n - 1, 5, INT64_C(1) << 31};
    const uint8_t seven = 7;
    uint8_t got[3] = {0};
    struct wick_device *cpu = wick_device_open("cpu");
    wick_scope_begin();
    struct wick_tensor *one = wick_from_data(cpu, WICK_U8, WICK_SHAPE(1), &seven, sizeof seven);
    struct wick_tensor *x = wick_contiguous(wick_broadcast_to(one, 1, &n));
    if (!x && wick_error_status() == WICK_MEMORY) return 77;
    uint8_t *data = wick_tensor_data(x);
    CHECK(data && data[0] == 7 && data[n / 2] == 7 && data[n - 1] == 7);
    if (data) data[n - 1] = 1, data[INT64_C(1) << 31] = 2;
    struct wick_tensor *picked = wick_index_select(x, 0, wick_from_data(cpu, WICK_I64, WICK_SHAPE(3), ids, sizeof ids));
    CHECK_OK(wick_read(picked, got, sizeof got));
    CHECK(got[0] == 1 && got[1] == 7 && got[2] == 2);
    CHECK_OK(wick_read(wick_slice(x, 0, -2, INT64_MAX, 1), got, 2));
    CHECK(got[0] == 7 && got[1] == 1);
    wick_scope_end(NULL);
    wick_device_close(cpu);
    return test_end();
}
