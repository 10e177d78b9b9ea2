/* Files of named tensors: safetensors, GGUF, npy, npz, and what torch.save writes (pth).
 *
 * An archive is an open file, or a folder of shards, that names tensors. Opening reads and checks all that describes
 * the tensors; their elements are read when one is loaded. On the CPU a tensor whose elements lie aligned in the file
 * is a view of the mapped file: nothing is copied, writing to it in place changes this process's copy alone, and it
 * keeps the mapping alive after the archive was closed. Everything else is copied.
 *
 *     struct wick_archive *archive = wick_archive_open("model.safetensors", NULL);
 *     struct wick_tensor *weight = wick_archive_load(archive, "encoder.weight", device);
 *     wick_archive_close(archive);
 *     if (!weight) puts(wick_error());
 *
 * The format is told by the content, never by the file's name. Nothing in a file is trusted: each length, count,
 * offset and product is checked before it is used, and what breaks a rule of its format is refused with a text that
 * names the file, the tensor and the rule. Nothing in a file is executed. docs/formats.md states the rules of each
 * format. What describes tensors is copied before it is checked, so that a file that changes meanwhile is refused or
 * read, and never trusted twice. A file that another process shortens while it is mapped is another matter: reading
 * past its new end raises SIGBUS. Where that can happen, use the option `copy`.
 *
 * An archive is used by one thread at a time. Tensors loaded from it are like any others. */
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
    WICK_FORMAT_SHARDS, /* a *.index.json with a weight_map, as the Hugging Face hub has them */
    WICK_FORMAT_COUNT
};

/* "safetensors", "GGUF", "npy", "npz", "pth", "sharded"; "?" for a value that is no format. Static strings. */
WICK_API const char *wick_format_name(enum wick_format format);

struct wick_archive_options {
    bool lenient; /* accept what is harmless but against the rules: holes between tensors and bytes after the last */
    bool copy;    /* read the file into memory as it is opened: what happens to it later does not matter */
    struct wick_limits limits;
    WICK_RESERVED;
};

/* Opens a file, a folder or a shard index. A folder stands for the first of model.safetensors,
 * model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json in it. Shards must lie in the index's
 * own folder; each is opened when it is first needed. `options` may be NULL. Close with wick_archive_close. NULL on
 * failure: WICK_IO for what can't be read or is no regular file, WICK_FORMAT for what breaks a rule, WICK_RANGE for
 * what is beyond a limit, WICK_UNSUPPORTED for what Wick does not read, WICK_MEMORY. */
WICK_API struct wick_archive *wick_archive_open(const char *path, const struct wick_archive_options *options);

/* The same over nbytes at `data`, which must stay valid and unchanged until the archive is closed. Tensors are copied
 * out of it. A shard index can't be opened this way. Close with wick_archive_close. */
WICK_API struct wick_archive *wick_archive_open_memory(const void *data, size_t nbytes,
                                                       const struct wick_archive_options *options);

/* Closes an archive. Tensors that were loaded from it stay valid. NULL is fine. */
WICK_API void wick_archive_close(struct wick_archive *archive);

/* What the archive was opened as; WICK_FORMAT_COUNT for NULL. */
WICK_API enum wick_format wick_archive_format(const struct wick_archive *archive);

/* The number of tensors; 0 for NULL. */
WICK_API int64_t wick_archive_count(const struct wick_archive *archive);

/* The name of the i-th tensor; NULL when there is no such. Belongs to the archive. safetensors and GGUF give tensors as
 * they lie in the file, npz by name, pth and shards as they are listed. */
WICK_API const char *wick_archive_name(const struct wick_archive *archive, int64_t i);

/* The number of the tensor of this name; -1, without a failure, when there is none. */
WICK_API int64_t wick_archive_find(const struct wick_archive *archive, const char *name);

/* What an archive says of a tensor. Strings belong to the archive. */
struct wick_archive_entry {
    const char *name;
    const char *type; /* the element type as the format calls it: "BF16", "Q4_K", "<f4" */
    bool loadable;    /* false when Wick has no dtype for it; then `dtype` says nothing */
    enum wick_dtype dtype;
    int rank;
    int64_t shape[WICK_MAX_RANK]; /* row-major: GGUF's dims in reverse */
    int64_t nbytes;               /* of its elements, without gaps */
    WICK_RESERVED;
};

/* Describes the i-th tensor. WICK_RANGE when there is none; what opening can fail with, where a shard is opened. */
WICK_API WICK_CHECKED enum wick_status wick_archive_describe(struct wick_archive *archive, int64_t i,
                                                             struct wick_archive_entry *entry);

/* Loads a tensor to a device. WICK_RANGE when there is none of that name, WICK_UNSUPPORTED, naming the type, when
 * Wick has no dtype for it, WICK_FORMAT, WICK_IO, WICK_MEMORY, WICK_CLOSED. Fortran-ordered and strided tensors are
 * strided views on the CPU where they can be mapped, and contiguous otherwise. */
WICK_API struct wick_tensor *wick_archive_load(struct wick_archive *archive, const char *name,
                                               struct wick_device *device);
WICK_API struct wick_tensor *wick_archive_load_at(struct wick_archive *archive, int64_t i, struct wick_device *device);

/* ---- metadata ---- what a file says besides its tensors: safetensors' __metadata__, GGUF's typed key/values, the
 * numbers and strings among the tensors of a pth file, a shard index's "metadata". */

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
/* The number of a key; -1, without a failure, when there is none. */
WICK_API int64_t wick_archive_metadata_find(const struct wick_archive *archive, const char *key);

/* The i-th value as text, as snprintf does it: writes at most `size` bytes with the closing NUL, and returns the length
 * the whole text has, or -1 when there is no such value. `item` picks one item of an array; -1 is the whole value,
 * arrays as "[1, 2, 3]". Strings stand for themselves, without quotes and not always UTF-8. `text` may be NULL with
 * size 0. */
WICK_API int64_t wick_archive_metadata_text(const struct wick_archive *archive, int64_t i, int64_t item, char *text,
                                            size_t size);

/* ---- writing ---- a file is written beside its place under another name, flushed, and then renamed into place: a
 * reader sees the old file or the new one, and a failure leaves the old one. WICK_INVALID for NULL and names that are
 * doubled, empty or no UTF-8, WICK_DTYPE for dtypes the format lacks, WICK_IO, WICK_MEMORY. Tensors may live on any
 * device and have any layout. */

/* Writes a safetensors file of n >= 0 tensors. `metadata` is NULL, or key, value, key, value, ..., NULL. */
WICK_API WICK_CHECKED enum wick_status wick_safetensors_save(const char *path, int64_t n, const char *const *names,
                                                             const struct wick_tensor *const *tensors,
                                                             const char *const *metadata);

/* Writes a GGUF file of version 3 with n >= 0 tensors, quantised ones included, as they are. Its keys are those of
 * `like`, a GGUF archive of version 2 or 3 or NULL, and those of `metadata`, which come before keys of the same name in
 * `like`: NULL, or key, type, value, key, type, value, ..., NULL, where the type is "string", "bool", "f32", "u32" and
 * so on, and the value text as wick_archive_metadata_text gives it. Arrays can be copied from `like` only. WICK_INVALID
 * for metadata that is none of this, WICK_SHAPE for more than 4 dims. */
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
