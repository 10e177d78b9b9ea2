/* An importance matrix: for each weight, the mean squares of what its columns are multiplied by, in the GGUF form that
 * llama.cpp's imatrix writes. */
#ifndef WICK_CLI_IMPORTANCE_H
#define WICK_CLI_IMPORTANCE_H

#include <wick/wick.h>

struct importance {
    const char *path;           /* NULL: there is none */
    struct wick_device *device; /* the CPU */
    struct wick_archive *archive;
    int64_t entries; /* weights that it knows */
};

/* Opens a file; the device must stay open. False, with nothing to close, after a failure was reported. */
bool importance_open(const char *command, const char *path, struct wick_device *device, struct importance *importance);
void importance_close(struct importance *importance);

/* The weights of the columns of a tensor of so many matrices, [matrices, columns] f32 in *weights; NULL there if the
 * file does not know the tensor. False after a failure was reported. */
bool importance_of(const char *command, const struct importance *importance, const char *tensor, const int64_t size[2],
                   struct wick_tensor **weights);

/* x, f32, f16 or bf16, as blocks: each of its matrices by its own weights. NULL on failure. */
struct wick_tensor *importance_quantise(const struct importance *importance, const struct wick_tensor *x,
                                        enum wick_dtype dtype, const struct wick_tensor *weights);

#endif
