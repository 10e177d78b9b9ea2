/* A loop of one's own, recorded as a graph: the largest eigenvalue of a matrix by power iteration. A step is recorded
 * once and launched a hundred times, which costs a fraction of calling its ops; nothing waits for the device in
 * between.
 *
 *     cc loop.c -o loop $(pkg-config --cflags --libs wick) */
#include <stdio.h>
#include <wick/wick.h>

/* x becomes A x / |A x|, in the same place. */
static enum wick_status step(const struct wick_tensor *a, struct wick_tensor *x) {
    struct wick_tensor *y = wick_matmul(a, x);
    return wick_copy_inplace(x, wick_div(y, wick_norm(y, 2, WICK_DIMS(0), true)));
}

int main(void) {
    const float matrix[] = {2, 1, 1, 3}, start[] = {1, 0};
    double eigenvalue = 0;
    struct wick_device *device = wick_device_open("auto");
    if (!device) return fprintf(stderr, "%s\n", wick_error()), 1;

    wick_scope_begin(); /* the tensors of a graph must live as long as it does */
    struct wick_tensor *a = wick_from_data(device, WICK_F32, WICK_SHAPE(2, 2), matrix, sizeof matrix);
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2, 1), start, sizeof start);
    enum wick_status status = step(a, x); /* once as it is: kernels are loaded, which a recording can't do */
    if (status == WICK_OK) status = wick_graph_begin(device);
    if (status == WICK_OK) status = step(a, x); /* recorded, not run */
    struct wick_graph *graph = wick_graph_end(device);
    for (int i = 0; i < 100 && graph && status == WICK_OK; i++) status = wick_graph_launch(graph);

    /* x is the eigenvector now: x' A x is the eigenvalue. */
    if (graph && status == WICK_OK) status = wick_read_scalar(wick_matmul(wick_t(x), wick_matmul(a, x)), &eigenvalue);
    wick_graph_free(graph);
    wick_scope_end(NULL);
    wick_device_close(device);
    if (!graph || status != WICK_OK) return fprintf(stderr, "%s\n", wick_error()), 1;
    printf("the largest eigenvalue: %.4f (true 3.6180)\n", eigenvalue);
    return 0;
}
