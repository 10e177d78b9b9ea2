/* Reshaping a view that only a copy can reshape, though its first dims could stay as they are. */
#include "tests/test.h"

int main(void) {
    struct wick_device *device = wick_device_open("cpu");
    float values[24], expected[24];
    for (int h = 0; h < 3; h++)
        for (int t = 0; t < 4; t++)
            for (int k = 0; k < 2; k++) {
                values[(h * 4 + t) * 2 + k] = (float)((h * 4 + t) * 2 + k);
                expected[(t * 3 + h) * 2 + k] = values[(h * 4 + t) * 2 + k];
            }
    for (int64_t batch = 1; batch <= 2; batch++) {
        float got[24] = {0};
        wick_scope_begin();
        struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(1, 3, 4, 2), values, sizeof values);
        struct wick_tensor *y = wick_transpose(wick_expand(x, WICK_SHAPE(batch, 3, 4, 2)), 1, 2);
        struct wick_tensor *z = wick_reshape(y, WICK_SHAPE(batch * 4, 6));
        CHECK(wick_tensor_is_contiguous(z));
        CHECK_OK(wick_read(wick_narrow(z, 0, 4 * (batch - 1), 4), got, sizeof got));
        CHECK_BYTES(got, expected, sizeof got);
        wick_scope_end(NULL);
    }
    wick_device_close(device);
    return test_end();
}
