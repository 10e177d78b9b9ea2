/* Fits y = a x + b to noisy points in closed form: random numbers, broadcasting, matrix products, reading results.
 *
 *     cc regression.c -o regression $(pkg-config --cflags --libs wick) */
#include <stdio.h>
#include <wick/wick.h>

int main(void) {
    const double a = 2.5, b = -1;
    double count, sum_x, sum_y, sum_xx, sum_xy;
    struct wick_device *device = wick_device_open("auto");
    if (!device) return fprintf(stderr, "%s\n", wick_error()), 1;

    wick_scope_begin();
    struct wick_tensor *x = wick_uniform(device, WICK_F64, WICK_SHAPE(1000), 0, 1);
    struct wick_tensor *noise = wick_normal(device, WICK_F64, WICK_SHAPE(1000), 0, 0.1);
    struct wick_tensor *y = wick_add(wick_affine(x, WICK_REAL(a), WICK_REAL(b)), noise);
    count = (double)wick_tensor_count(x);
    enum wick_status status = wick_read_scalar(wick_sum(x, WICK_ALL_DIMS, false), &sum_x);
    if (!status) status = wick_read_scalar(wick_sum(y, WICK_ALL_DIMS, false), &sum_y);
    if (!status) status = wick_read_scalar(wick_dot(x, x), &sum_xx);
    if (!status) status = wick_read_scalar(wick_dot(x, y), &sum_xy);
    wick_scope_end(NULL);

    if (status == WICK_OK) {
        double slope = (count * sum_xy - sum_x * sum_y) / (count * sum_xx - sum_x * sum_x);
        printf("slope %.3f (true %.1f), intercept %.3f (true %.1f)\n", slope, a, (sum_y - slope * sum_x) / count, b);
    } else {
        fprintf(stderr, "%s\n", wick_error());
    }
    wick_device_close(device);
    return status == WICK_OK ? 0 : 1;
}
