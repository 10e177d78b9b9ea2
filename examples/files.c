/* Files: saving tensors as safetensors, listing what a file holds, loading one.
 *
 *     cc files.c -o files $(pkg-config --cflags --libs wick)
 *     ./files weights.safetensors */
#include <stdio.h>
#include <wick/wick.h>

static enum wick_status save(const char *path, struct wick_device *device) {
    static const char *const names[] = {"weight", "bias"};
    static const char *const metadata[] = {"made by", "examples/files.c", NULL};
    wick_scope_begin();
    const struct wick_tensor *tensors[] = {
        wick_cast(wick_reshape(wick_arange(device, WICK_F32, WICK_INT(0), WICK_INT(12), WICK_INT(1)), WICK_SHAPE(3, 4)),
                  WICK_F16),
        wick_ones(device, WICK_F32, WICK_SHAPE(4))};
    enum wick_status status = wick_safetensors_save(path, 2, names, tensors, metadata);
    wick_scope_end(NULL);
    return status;
}

/* Names, dtypes and shapes, without reading an element. */
static enum wick_status list(struct wick_archive *archive) {
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < wick_archive_count(archive) && status == WICK_OK; i++) {
        struct wick_archive_entry entry;
        status = wick_archive_describe(archive, i, &entry);
        if (status != WICK_OK) break;
        printf("%s: %s of rank %d, %lld bytes\n", entry.name, wick_dtype_name(entry.dtype), entry.rank,
               (long long)entry.nbytes);
    }
    return status;
}

int main(int argc, char **argv) {
    double sum = 0;
    if (argc != 2) return fprintf(stderr, "usage: files NAME.safetensors\n"), 2;
    struct wick_device *device = wick_device_open("auto");
    enum wick_status status = device ? save(argv[1], device) : WICK_DEVICE;
    struct wick_archive *archive = status == WICK_OK ? wick_archive_open(argv[1], NULL) : NULL;
    if (archive) status = list(archive);

    /* On the CPU a loaded tensor is a view of the mapped file. It outlives the archive. */
    struct wick_tensor *weight = archive ? wick_archive_load(archive, "weight", device) : NULL;
    wick_archive_close(archive);
    wick_scope_begin();
    status = wick_read_scalar(wick_sum(wick_cast(weight, WICK_F32), WICK_ALL_DIMS, false), &sum);
    wick_scope_end(NULL);
    if (status == WICK_OK)
        printf("sum of weight: %g\n", sum);
    else
        fprintf(stderr, "%s\n", wick_error());
    wick_release(weight);
    wick_device_close(device);
    return status == WICK_OK ? 0 : 1;
}
