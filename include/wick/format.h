/* Files of named tensors: safetensors, GGUF, npy, npz, and the files of torch.save (pth).
 *
 * An archive is an open file, or a folder of shards, with named tensors. Opening reads and checks the description of
 * the tensors; loading a tensor reads its elements. On the CPU, a tensor whose elements are aligned in the file is a
 * view of the mapped file. Nothing is copied, writes in place change only this process's copy, and the view keeps the
 * mapping alive after the archive is closed. All other tensors are copies.
 *
 *     struct wick_archive *archive = wick_archive_open("model.safetensors", NULL);
 *     struct wick_tensor *weight = wick_archive_load(archive, "encoder.weight", device);
 *     wick_archive_close(archive);
 *     if (!weight) puts(wick_error());
 *
 * The content decides the format, never the file's name. Wick trusts nothing in a file: it checks each length, count,
 * offset and product before it uses it. If a file breaks a rule of its format, opening fails with a text that names the
 * file, the tensor and the rule. Nothing in a file is executed. docs/formats.md states the rules of each format. The
 * description of the tensors is copied before it is checked, so a file that changes meanwhile can't deceive the check.
 * If another process shortens a file while it is mapped, reading past the new end raises SIGBUS. Where that can happen,
 * use the option `copy`.
 *
 * Use an archive from one thread at a time. Tensors loaded from it are like any others. */
#ifndef WICK_FORMAT_H
#define WICK_FORMAT_H

#include <wick/limits.h>
#include <wick/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_archive;

enum wick_format {
    WICK_FORMAT_SAFETENSORS,
    WICK_FORMAT_GGUF,
    WICK_FORMAT_NPY, /* one tensor, named "arr_0" */
    WICK_FORMAT_NPZ,
    WICK_FORMAT_PTH,    /* the zip files torch.save writes since PyTorch 1.6 */
    WICK_FORMAT_SHARDS, /* a *.index.json with a weight_map, as on the Hugging Face hub */
    WICK_FORMAT_COUNT
};

/* "safetensors", "GGUF", "npy", "npz", "pth", "sharded"; "?" for a value that is not a format. Static strings. */
WICK_API const char *wick_format_name(enum wick_format format);

struct wick_archive_options {
    bool lenient; /* accept harmless breaches of the rules: holes between tensors and bytes after the last */
    bool copy;    /* read the file into memory on opening, so later changes to it do not matter */
    struct wick_limits limits;
    WICK_RESERVED;
};

/* Opens a file, a folder or a shard index. In a folder, opens the first of model.safetensors,
 * model.safetensors.index.json, pytorch_model.bin and pytorch_model.bin.index.json. Shards must lie in the index's own
 * folder; each is opened when it is first needed. `options` may be NULL. Close with wick_archive_close. NULL on
 * failure: WICK_IO (can't be read, or is not a regular file), WICK_FORMAT (breaks a rule), WICK_RANGE (exceeds a
 * limit), WICK_UNSUPPORTED (a kind of file that Wick does not read), WICK_MEMORY. */
WICK_API struct wick_archive *wick_archive_open(const char *path, const struct wick_archive_options *options);

/* The same for `nbytes` bytes at `data`, which must stay valid and unchanged until the archive is closed. Loaded
 * tensors are copies. A shard index can't be opened this way. Close with wick_archive_close. */
WICK_API struct wick_archive *wick_archive_open_memory(const void *data, size_t nbytes,
                                                       const struct wick_archive_options *options);

/* Closes an archive. Tensors loaded from it stay valid. NULL is fine. */
WICK_API void wick_archive_close(struct wick_archive *archive);

/* The archive's format; WICK_FORMAT_COUNT for NULL. */
WICK_API enum wick_format wick_archive_format(const struct wick_archive *archive);

/* The number of tensors; 0 for NULL. */
WICK_API int64_t wick_archive_count(const struct wick_archive *archive);

/* The name of the i-th tensor; NULL if there is none. Belongs to the archive. Tensors of safetensors and GGUF files
 * come in file order, those of npz files by name, those of pth files and shards as listed there. */
WICK_API const char *wick_archive_name(const struct wick_archive *archive, int64_t i);

/* The index of the tensor with this name; -1, without a failure, if there is none. */
WICK_API int64_t wick_archive_find(const struct wick_archive *archive, const char *name);

/* An archive's description of a tensor. Strings belong to the archive. */
struct wick_archive_entry {
    const char *name;
    const char *type; /* the element type as the format calls it: "BF16", "Q4_K", "<f4" */
    bool loadable;    /* false if Wick has no dtype for it; then `dtype` is undefined */
    enum wick_dtype dtype;
    int rank;
    int64_t shape[WICK_MAX_RANK]; /* row-major: GGUF's dims in reverse */
    int64_t nbytes;               /* of its elements, without gaps */
    WICK_RESERVED;
};

/* Describes the i-th tensor. WICK_RANGE if there is none; any failure of opening, if it opens a shard. */
WICK_API WICK_CHECKED enum wick_status wick_archive_describe(struct wick_archive *archive, int64_t i,
                                                             struct wick_archive_entry *entry);

/* Loads a tensor to a device, by name or by index. WICK_RANGE if there is no such tensor, WICK_UNSUPPORTED, naming the
 * type, if Wick has no dtype for it, WICK_FORMAT, WICK_IO, WICK_MEMORY, WICK_CLOSED. Fortran-ordered and strided
 * tensors are strided views on the CPU if they can be mapped, and contiguous otherwise. */
WICK_API struct wick_tensor *wick_archive_load(struct wick_archive *archive, const char *name,
                                               struct wick_device *device);
WICK_API struct wick_tensor *wick_archive_load_at(struct wick_archive *archive, int64_t i, struct wick_device *device);

/* ---- metadata ---- data beside the tensors: safetensors' __metadata__, GGUF's typed key/values, the numbers and
 * strings among the tensors of a pth file, a shard index's "metadata". */

enum wick_metadata_type {
    WICK_METADATA_STRING,
    WICK_METADATA_BOOL,
    WICK_METADATA_INT,
    WICK_METADATA_UINT,
    WICK_METADATA_FLOAT,
    WICK_METADATA_ARRAY
};

struct wick_metadata {
    const char *key;       /* belongs to the archive */
    const char *type_name; /* "string", "u32", "array of f32", ...; a static string */
    enum wick_metadata_type type;
    int64_t length; /* items of an array, bytes of a string, 1 for the others */
    WICK_RESERVED;
};

/* The number of keys; 0 for NULL. */
WICK_API int64_t wick_archive_metadata_count(const struct wick_archive *archive);
/* Describes the i-th key. WICK_RANGE when there is none. */
WICK_API WICK_CHECKED enum wick_status wick_archive_metadata(const struct wick_archive *archive, int64_t i,
                                                             struct wick_metadata *metadata);
/* The index of a key; -1, without a failure, if there is none. */
WICK_API int64_t wick_archive_metadata_find(const struct wick_archive *archive, const char *key);

/* Writes the i-th value as text, as snprintf does: at most `size` bytes with the closing NUL. Returns the length of the
 * whole text, or -1 if there is no such value. `item` picks one item of an array; -1 is the whole value, with arrays as
 * "[1, 2, 3]". Strings have no quotes, and are not always UTF-8. `text` may be NULL if size is 0. */
WICK_API int64_t wick_archive_metadata_text(const struct wick_archive *archive, int64_t i, int64_t item, char *text,
                                            size_t size);

/* ---- writing ---- These functions write the file under another name in the same folder, flush it, rename it, and
 * flush the folder. A reader sees the old file or the new one, and a failure but that of the last step leaves the old
 * one. They replace the file that a symbolic link points to. The new file has the old one's owner and mode, as far as
 * this process may set them. WICK_IO for a path that is a folder, a pipe or a device, and when writing fails.
 * WICK_INVALID for NULL and for names that repeat, are empty or are not UTF-8, WICK_DTYPE for dtypes that the format
 * lacks, WICK_MEMORY. Tensors may live on any device and have any layout. */

/* Writes a safetensors file of n >= 0 tensors. `metadata` is NULL, or key, value, key, value, ..., NULL. */
WICK_API WICK_CHECKED enum wick_status wick_safetensors_save(const char *path, int64_t n, const char *const *names,
                                                             const struct wick_tensor *const *tensors,
                                                             const char *const *metadata);

/* Writes a GGUF file of version 3 with n >= 0 tensors as they are, quantised ones included. Its keys are those of
 * `like`, which is NULL or a GGUF archive of version 2 or 3, and those of `metadata`, which replace keys of the same
 * name. `metadata` is NULL, or key, type, value, key, type, value, ..., NULL. A type is "string", "bool", "f32", "u32"
 * and so on; a value is text as wick_archive_metadata_text gives it. Arrays can only come from `like`. WICK_INVALID for
 * any other metadata, WICK_SHAPE for more than 4 dims. */
WICK_API WICK_CHECKED enum wick_status wick_gguf_save(const char *path, int64_t n, const char *const *names,
                                                      const struct wick_tensor *const *tensors,
                                                      const struct wick_archive *like, const char *const *metadata);

/* Writes one tensor as a .npy file. The format has no bf16 and no float below 16 bits. */
WICK_API WICK_CHECKED enum wick_status wick_npy_save(const char *path, const struct wick_tensor *x);

/* Writes an uncompressed .npz file, in which numpy.load finds tensors[i] as names[i]. */
WICK_API WICK_CHECKED enum wick_status wick_npz_save(const char *path, int64_t n, const char *const *names,
                                                     const struct wick_tensor *const *tensors);

#ifdef __cplusplus
}
#endif
#endif
