/* Reading an importance matrix, and quantising by it. A file has two tensors for each weight, NAME.in_sum2, the sums of
 * squares [matrices, columns], and NAME.counts, of how many numbers, [matrices]. */
#include "cli/importance.h"

#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sums_suffix[] = ".in_sum2";

bool importance_open(const char *command, const char *path, struct wick_device *device, struct importance *importance) {
    *importance = (struct importance){.path = path, .device = device, .archive = wick_archive_open(path, NULL)};
    for (int64_t i = 0; i < wick_archive_count(importance->archive); i++) {
        const char *name = wick_archive_name(importance->archive, i);
        size_t length = strlen(name), suffix = sizeof sums_suffix - 1;
        importance->entries += length > suffix && strcmp(name + length - suffix, sums_suffix) == 0;
    }
    if (importance->archive && importance->entries > 0) return true;
    command_fail(command,
                 importance->archive ? "%s: not an importance matrix in GGUF: it has no sums of squares" : "%s", path);
    importance_close(importance);
    return false;
}

void importance_close(struct importance *importance) {
    wick_archive_close(importance->archive);
    *importance = (struct importance){.path = NULL};
}

/* The n numbers of an entry, which the caller frees. *numbers stays NULL where there is no such entry. */
static bool read_numbers(const char *command, const struct importance *importance, const char *name, int64_t n,
                         float **numbers) {
    struct wick_archive_entry entry;
    int64_t i = wick_archive_find(importance->archive, name);
    *numbers = NULL;
    if (i < 0) return true;
    bool good = wick_archive_describe(importance->archive, i, &entry) == WICK_OK;
    if (good && (!entry.loadable || entry.dtype != WICK_F32 || entry.nbytes != n * (int64_t)sizeof(float))) {
        command_fail(command, "%s: %s is not %lld f32", importance->path, name, (long long)n);
        return false;
    }
    struct wick_tensor *x = good ? wick_archive_load_at(importance->archive, i, importance->device) : NULL;
    *numbers = x ? malloc((size_t)n * sizeof(float) + 1) : NULL;
    good = *numbers && wick_read(x, *numbers, (size_t)n * sizeof(float)) == WICK_OK;
    wick_release(x);
    if (!good) command_fail(command, "%s: %s", importance->path, name);
    return good;
}

/* Sums to means. A matrix that met no numbers has no preference. */
static bool divide(const int64_t size[2], float *sums, const float *counts) {
    for (int64_t m = 0; m < size[0]; m++) {
        if (!(counts[m] >= 0 && isfinite(counts[m]))) return false;
        for (int64_t i = 0; i < size[1]; i++) {
            float *sum = &sums[m * size[1] + i];
            if (!(*sum >= 0 && isfinite(*sum))) return false;
            *sum = counts[m] > 0 ? *sum / counts[m] : 1;
        }
    }
    return true;
}

bool importance_of(const char *command, const struct importance *importance, const char *tensor, const int64_t size[2],
                   struct wick_tensor **weights) {
    char name[256];
    float *sums = NULL, *counts = NULL;
    *weights = NULL;
    snprintf(name, sizeof name, "%.200s%s", tensor, sums_suffix);
    bool good = read_numbers(command, importance, name, size[0] * size[1], &sums);
    snprintf(name, sizeof name, "%.200s.counts", tensor);
    good = good && read_numbers(command, importance, name, size[0], &counts);
    if (good && !sums != !counts) {
        command_fail(command, "%s: %s has sums or counts, but not both", importance->path, tensor);
        good = false;
    } else if (good && sums && !divide(size, sums, counts)) {
        command_fail(command, "%s: %s has a sum or a count below 0, or not finite", importance->path, tensor);
        good = false;
    } else if (good && sums) {
        *weights = wick_from_data(importance->device, WICK_F32, WICK_SHAPE(size[0], size[1]), sums,
                                  (size_t)(size[0] * size[1]) * sizeof(float));
        good = *weights != NULL;
        if (!good) command_fail(command, "%s", importance->path);
    }
    free(sums);
    free(counts);
    return good;
}

/* Puts the blocks of matrix m where they belong. */
static bool quantise_matrix(const struct wick_tensor *x, enum wick_dtype dtype, const struct wick_tensor *weights,
                            int64_t m, char *to, size_t nbytes) {
    wick_scope_begin();
    const struct wick_quantise_options options = {.importance = wick_select(weights, 0, m)};
    struct wick_tensor *y = options.importance ? wick_quantise(wick_select(x, 0, m), dtype, &options) : NULL;
    bool good = y && wick_read(y, to + (size_t)m * nbytes, nbytes) == WICK_OK;
    wick_scope_end(NULL);
    return good;
}

struct wick_tensor *importance_quantise(const struct importance *importance, const struct wick_tensor *x,
                                        enum wick_dtype dtype, const struct wick_tensor *weights) {
    int rank = wick_tensor_rank(x);
    const int64_t *shape = wick_tensor_shape(x);
    int64_t matrices = rank == 3 ? shape[0] : 1, elements = wick_tensor_count(x);
    size_t nbytes = (size_t)(elements / wick_dtype_block(dtype) * wick_dtype_block_bytes(dtype));
    char *blocks = malloc(nbytes + 1);
    bool good = blocks != NULL;
    wick_scope_begin();
    const struct wick_tensor *all = rank == 3 ? x : wick_unsqueeze(x, 0);
    for (int64_t m = 0; good && m < matrices; m++)
        good = quantise_matrix(all, dtype, weights, m, blocks, nbytes / (size_t)matrices);
    wick_scope_end(NULL);
    struct wick_tensor *y = good ? wick_from_data(importance->device, dtype, rank, shape, blocks, nbytes) : NULL;
    free(blocks);
    return y;
}
