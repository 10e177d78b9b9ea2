/* Tensors: making them, views, broadcasting, reductions, dtypes, and what a failure looks like.
 *
 *     cc tensors.c -o tensors $(pkg-config --cflags --libs wick) */
#include <stdio.h>
#include <wick/wick.h>

/* Prints a matrix of f32. */
static void print(const char *name, const struct wick_tensor *x) {
    float values[64];
    int64_t rows = wick_tensor_dim(x, 0), columns = wick_tensor_dim(x, 1);
    if (!x || rows * columns > 64 || wick_read(x, values, (size_t)(rows * columns) * sizeof *values) != WICK_OK) return;
    printf("%s\n", name);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            printf("%7.3f%s", (double)values[i * columns + j], j + 1 < columns ? "" : "\n");
}

int main(void) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    double largest = 0;
    struct wick_device *device = wick_device_open("auto");
    if (!device) return fprintf(stderr, "%s\n", wick_error()), 1;

    wick_scope_begin(); /* owns every tensor below */
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2, 3), values, sizeof values);
    print("x", x);
    print("its transpose, a view of the same elements", wick_t(x));

    /* [2,3] - [2,1]: dims of size 1 are repeated. */
    struct wick_tensor *centred = wick_sub(x, wick_mean(x, WICK_DIMS(1), true));
    print("rows less their means", centred);
    print("x times its transpose", wick_matmul(x, wick_t(x)));
    print("the same through bf16", wick_cast(wick_cast(wick_matmul(x, wick_t(x)), WICK_BF16), WICK_F32));
    enum wick_status status = wick_read_scalar(wick_max(x, WICK_ALL_DIMS, false), &largest);
    if (status == WICK_OK) printf("the largest element: %g\n", largest);

    /* A failure gives NULL, NULL gives NULL: a chain is checked once, at its end. */
    struct wick_tensor *wrong = wick_softmax(wick_matmul(x, x), -1);
    if (!wrong) printf("as expected: %s\n", wick_error());
    wick_scope_end(NULL);
    wick_device_close(device);
    return status == WICK_OK && !wrong ? 0 : 1;
}
