/* An LSTM's gradients, beside those that PyTorch computed (lstm.py keeps them in lstm.safetensors).
 *
 *     cc lstm.c -o lstm $(pkg-config --cflags --libs wick)
 *     ./lstm lstm.safetensors */
#include <stdio.h>
#include <wick/wick.h>

static const char *const names[] = {"Wi", "Wh", "bi", "bh"};

/* Prints a tensor's first elements, and how far it is from that of the file. */
static enum wick_status show(struct wick_archive *archive, const char *name, const struct wick_tensor *x) {
    double apart, first[3];
    struct wick_tensor *flat = wick_cast(wick_reshape(x, WICK_SHAPE(-1)), WICK_F64);
    struct wick_tensor *theirs = wick_archive_load(archive, name, wick_tensor_device(x));
    enum wick_status status = wick_read(wick_narrow(flat, 0, 0, 3), first, sizeof first);
    if (!status) status = wick_read_scalar(wick_max(wick_abs(wick_sub(x, theirs)), WICK_ALL_DIMS, false), &apart);
    if (status) return status;
    printf("%-14s %9.6f %9.6f %9.6f ...  %s\n", name, first[0], first[1], first[2],
           apart < 1e-5 ? "as PyTorch's" : "NOT PyTorch's");
    return WICK_OK;
}

static enum wick_status run(struct wick_archive *archive, struct wick_device *device) {
    struct wick_tensor *weights[4], *reserve[3], *by_weights[4];
    for (int i = 0; i < 4; i++) weights[i] = wick_archive_load(archive, names[i], device);
    struct wick_tensor *x = wick_archive_load(archive, "x", device);
    struct wick_tensor *gradient = wick_archive_load(archive, "gradient", device);

    struct wick_recurrent_options lstm = {.mode = WICK_LSTM, .hidden = 3, .reserve = reserve};
    struct wick_tensor *y = wick_recurrent(x, 4, weights, &lstm);
    if (!y) return wick_error_status();

    struct wick_recurrent_backward_options places = {.weights = by_weights};
    struct wick_tensor *by_x = wick_recurrent_backward(x, gradient, 4, weights, &lstm, &places);
    if (!by_x) return wick_error_status();

    enum wick_status status = show(archive, "y", y);
    if (!status) status = show(archive, "gradient of x", by_x);
    for (int i = 0; i < 4 && !status; i++) {
        char name[32];
        snprintf(name, sizeof name, "gradient of %s", names[i]);
        status = show(archive, name, by_weights[i]);
    }
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: lstm lstm.safetensors\n"), 2;
    struct wick_device *device = wick_device_open("auto");
    struct wick_archive *archive = device ? wick_archive_open(argv[1], NULL) : NULL;
    enum wick_status status = wick_error_status();
    wick_scope_begin();
    if (archive) status = run(archive, device);
    wick_scope_end(NULL);
    if (status != WICK_OK) fprintf(stderr, "%s\n", wick_error());
    wick_archive_close(archive);
    wick_device_close(device);
    return status == WICK_OK ? 0 : 1;
}
