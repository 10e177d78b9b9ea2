/* Quantised tensors: making blocks from floats, what they cost in bytes and precision, multiplying by them.
 *
 *     cc quantised.c -o quantised $(pkg-config --cflags --libs wick) */
#include <stdio.h>
#include <wick/wick.h>

enum { IN = 32, OUT = 2 }; /* q8_0 has blocks of 32 elements: one scale in f16 and 32 whole numbers of 8 bits */

int main(void) {
    float values[OUT][IN], products[2][OUT];
    for (int i = 0; i < IN; i++) {
        values[0][i] = i < IN - 1 ? (float)i : 127;
        values[1][i] = values[0][i] / 100;
    }
    struct wick_device *device = wick_device_open("auto");
    if (!device) return fprintf(stderr, "%s\n", wick_error()), 1;

    wick_scope_begin();
    struct wick_tensor *x = wick_ones(device, WICK_F32, WICK_SHAPE(1, IN));
    struct wick_tensor *weight = wick_from_data(device, WICK_F32, WICK_SHAPE(OUT, IN), values, sizeof values);
    struct wick_tensor *blocks = wick_quantise(weight, WICK_DTYPE_q8_0, NULL);
    if (blocks)
        printf("f32: %zu bytes, %s: %d bytes\n", sizeof values, wick_dtype_name(wick_tensor_dtype(blocks)),
               OUT * wick_dtype_block_bytes(wick_tensor_dtype(blocks)));

    /* Exact products use the numbers that the blocks stand for. Products of 8 bits round x as well, and are faster. */
    const struct wick_linear_options fast = {.products = WICK_PRODUCTS_8_BIT};
    struct wick_tensor *exact = wick_linear(x, blocks, NULL, WICK_ACTIVATION_NONE);
    struct wick_tensor *quick = wick_linear_with(x, blocks, NULL, &fast);
    enum wick_status status = wick_read(exact, products[0], sizeof products[0]);
    if (status == WICK_OK) status = wick_read(quick, products[1], sizeof products[1]);
    for (int i = 0; i < 2 && status == WICK_OK; i++)
        printf("%s products: %.2f %.2f\n", i == 0 ? "exact" : "8-bit", (double)products[i][0], (double)products[i][1]);

    /* A cast turns blocks into floats: the second row's scale, 0.01, is not a number of f16, so its elements moved. */
    double error = 0;
    struct wick_tensor *moved = wick_abs(wick_sub(wick_cast(blocks, WICK_F32), weight));
    if (status == WICK_OK) status = wick_read_scalar(wick_max(moved, WICK_ALL_DIMS, false), &error);
    if (status == WICK_OK)
        printf("the largest error: %.4f\n", error);
    else
        fprintf(stderr, "%s\n", wick_error());
    wick_scope_end(NULL);
    wick_device_close(device);
    return status == WICK_OK ? 0 : 1;
}
