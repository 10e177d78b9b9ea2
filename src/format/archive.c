/* Archives: telling the format, finding, describing, closing. Loading is in load.c. */
#include "format/archive.h"

#include "core/checked.h"
#include "core/layout.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *wick_format_name(enum wick_format format) {
    static const char *const names[WICK_FORMAT_COUNT] = {[WICK_FORMAT_SAFETENSORS] = "safetensors",
                                                         [WICK_FORMAT_GGUF] = "GGUF",
                                                         [WICK_FORMAT_NPY] = "npy",
                                                         [WICK_FORMAT_NPZ] = "npz",
                                                         [WICK_FORMAT_PTH] = "pth",
                                                         [WICK_FORMAT_SHARDS] = "sharded"};
    return (unsigned)format < WICK_FORMAT_COUNT ? names[format] : "?";
}

/* ---- opening ---- */

/* Old formats that have a successor, told apart from mere noise so that the text can help. */
static enum wick_status refuse(const struct wick_archive *archive, const unsigned char *data, size_t nbytes) {
    static const unsigned char torch[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
    if (nbytes >= 4 && (memcmp(data, "FUGG", 4) == 0))
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "it is a big-endian GGUF file");
    if (nbytes >= 4 && (memcmp(data, "lmgg", 4) == 0 || memcmp(data, "fmgg", 4) == 0 || memcmp(data, "tjgg", 4) == 0 ||
                        memcmp(data, "algg", 4) == 0))
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "it is a GGML file from before GGUF: convert it");
    if (nbytes >= 2 + sizeof torch && data[0] == 0x80 && memcmp(data + 2, torch, sizeof torch) == 0)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL,
                                  "torch.save wrote it in the form from before PyTorch 1.6: load and save it again");
    if (nbytes >= 265 && memcmp(data + 257, "ustar", 5) == 0)
        return wick__archive_fail(
            archive, WICK_UNSUPPORTED, NULL,
            "it is a tar file, perhaps from torch.save before PyTorch 0.2: load and save it again");
    if (nbytes >= 2 && data[0] == 0x80 && data[1] >= 1 && data[1] <= 5)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL,
                                  "it is a bare pickle; only the zip files of torch.save since PyTorch 1.6 are read");
    if (nbytes == 0) return wick__archive_fail(archive, WICK_FORMAT, NULL, "it is empty");
    return wick__archive_fail(archive, WICK_FORMAT, NULL,
                              "its content is none of safetensors, GGUF, npy, npz, pth, shard index");
}

static enum wick_status read_zip(struct wick_archive *archive) {
    WICK__TRY(wick__zip_open(archive));
    if (wick__pth_find(archive) >= 0) return wick__pth_open(archive);
    return wick__npz_open(archive);
}

static enum wick_status read_any(struct wick_archive *archive) {
    const unsigned char *data = archive->file->data;
    size_t nbytes = archive->file->nbytes;
    if (nbytes >= 9 && data[8] == '{' && wick__get64(data) <= UINT32_MAX) return wick__safetensors_open(archive);
    if (nbytes >= 4 && memcmp(data, "GGUF", 4) == 0) return wick__gguf_open(archive);
    if (nbytes >= 6 && memcmp(data, "\x93NUMPY", 6) == 0) return wick__npy_open(archive);
    if (nbytes >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0)) return read_zip(archive);
    if (nbytes >= 1 && data[0] == '{') return wick__shards_open(archive);
    return refuse(archive, data, nbytes);
}

static int compare_names(const void *a, const void *b) {
    const struct wick__entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static enum wick_status index_names(struct wick_archive *archive) {
    size_t n = (size_t)archive->n_entries;
    archive->by_name = wick__calloc(n, sizeof *archive->by_name);
    if (!archive->by_name) return WICK_MEMORY;
    for (size_t i = 0; i < n; i++) archive->by_name[i] = &archive->entries[i];
    qsort(archive->by_name, n, sizeof *archive->by_name, compare_names);
    for (size_t i = 1; i < n; i++)
        if (strcmp(archive->by_name[i - 1]->name, archive->by_name[i]->name) == 0)
            return wick__archive_fail(archive, WICK_FORMAT, archive->by_name[i]->name,
                                      "the name stands for two tensors");
    return WICK_OK;
}

struct wick_archive *wick__archive_open_file(struct wick__file *file, const struct wick_archive_options *options) {
    if (!file) return NULL;
    struct wick_archive *archive = wick__calloc(1, sizeof *archive);
    if (!archive) {
        wick__file_unref(file);
        return NULL;
    }
    archive->file = file;
    if (options) archive->options = *options;
    archive->options.limits = wick_limits_effective(&archive->options.limits);
    if (wick__reserved("archive_open", options ? options->reserved : NULL) == WICK_OK &&
        wick__reserved("archive_open", options ? options->limits.reserved : NULL) == WICK_OK &&
        read_any(archive) == WICK_OK && index_names(archive) == WICK_OK)
        return archive;
    wick_archive_close(archive);
    return NULL;
}

/* Opens what a folder stands for. */
static struct wick_archive *open_folder(const char *path, const struct wick_archive_options *options) {
    static const char *const known[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                        "pytorch_model.bin.index.json"};
    size_t size = strlen(path) + 40;
    char *file = wick__alloc(size);
    if (!file) return NULL;
    struct wick_archive *archive = NULL;
    size_t i = 0;
    for (; i < sizeof known / sizeof *known; i++) {
        struct stat stat_buffer;
        snprintf(file, size, "%s/%s", path, known[i]);
        if (stat(file, &stat_buffer) == 0) break;
    }
    if (i == sizeof known / sizeof *known)
        wick__fail(WICK_IO,
                   "archive_open: %s: the folder has no model.safetensors or pytorch_model.bin, nor an index of shards",
                   path);
    else
        archive = wick__archive_open_file(wick__file_open("archive_open", file, options && options->copy), options);
    wick__free(file, size);
    return archive;
}

struct wick_archive *wick_archive_open(const char *path, const struct wick_archive_options *options) {
    struct stat stat_buffer;
    if (!path) {
        wick__fail(WICK_INVALID, "archive_open: path is NULL");
        return NULL;
    }
    if (stat(path, &stat_buffer) == 0 && S_ISDIR(stat_buffer.st_mode)) return open_folder(path, options);
    return wick__archive_open_file(wick__file_open("archive_open", path, options && options->copy), options);
}

struct wick_archive *wick_archive_open_memory(const void *data, size_t nbytes,
                                              const struct wick_archive_options *options) {
    if (!data && nbytes > 0) {
        wick__fail(WICK_INVALID, "archive_open_memory: data is NULL");
        return NULL;
    }
    return wick__archive_open_file(wick__file_borrow(data ? data : "", nbytes, "(memory)"), options);
}

void wick_archive_close(struct wick_archive *archive) {
    if (!archive) return;
    for (int64_t i = 0; i < archive->n_shards; i++) wick_archive_close(archive->shards[i].archive);
    if (archive->by_name) wick__free(archive->by_name, (size_t)archive->n_entries * sizeof *archive->by_name);
    wick__free(archive->entries, archive->entry_room);
    wick__free(archive->metas, archive->meta_room);
    wick__free(archive->members, archive->member_room);
    wick__free(archive->shards, archive->shard_room);
    wick__arena_free(&archive->arena);
    wick__file_unref(archive->file);
    wick__free(archive, sizeof *archive);
}

/* ---- looking ---- */

enum wick_format wick_archive_format(const struct wick_archive *archive) {
    return archive ? archive->format : WICK_FORMAT_COUNT;
}

int64_t wick_archive_count(const struct wick_archive *archive) { return archive ? archive->n_entries : 0; }

const char *wick_archive_name(const struct wick_archive *archive, int64_t i) {
    return archive && i >= 0 && i < archive->n_entries ? archive->entries[i].name : NULL;
}

int64_t wick_archive_find(const struct wick_archive *archive, const char *name) {
    if (!archive || !name) return -1;
    int64_t low = 0, high = archive->n_entries;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(name, archive->by_name[middle]->name);
        if (order == 0) return archive->by_name[middle] - archive->entries;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

enum wick_status wick_archive_describe(struct wick_archive *archive, int64_t i, struct wick_archive_entry *entry) {
    if (!archive || !entry)
        return wick__fail(WICK_INVALID, "archive_describe: %s is NULL", archive ? "entry" : "archive");
    if (i < 0 || i >= archive->n_entries)
        return wick__fail(WICK_RANGE, "archive_describe: %s: there is no tensor %" PRId64 " of %" PRId64,
                          archive->file->name, i, archive->n_entries);
    const struct wick__entry *from = &archive->entries[i];
    if (archive->format == WICK_FORMAT_SHARDS) {
        struct wick_archive *shard = NULL;
        WICK__TRY(wick__shards_find(archive, from, &shard, &i));
        from = &shard->entries[i];
    }
    *entry = (struct wick_archive_entry){.name = from->name,
                                         .type = from->type,
                                         .loadable = from->dtype >= 0,
                                         .dtype = (enum wick_dtype)(from->dtype >= 0 ? from->dtype : 0),
                                         .rank = from->rank,
                                         .nbytes = from->nbytes};
    memcpy(entry->shape, from->shape, sizeof entry->shape);
    return WICK_OK;
}

int64_t wick_archive_metadata_count(const struct wick_archive *archive) { return archive ? archive->n_metas : 0; }

enum wick_status wick_archive_metadata(const struct wick_archive *archive, int64_t i, struct wick_metadata *metadata) {
    if (!archive || !metadata)
        return wick__fail(WICK_INVALID, "archive_metadata: %s is NULL", archive ? "metadata" : "archive");
    if (i < 0 || i >= archive->n_metas)
        return wick__fail(WICK_RANGE, "archive_metadata: %s: there is no key %" PRId64 " of %" PRId64,
                          archive->file->name, i, archive->n_metas);
    const struct wick__meta *meta = &archive->metas[i];
    *metadata = (struct wick_metadata){
        .key = meta->key, .type_name = meta->type_name, .type = meta->type, .length = meta->length};
    return WICK_OK;
}

int64_t wick_archive_metadata_text(const struct wick_archive *archive, int64_t i, int64_t item, char *text,
                                   size_t size) {
    if (!archive || i < 0 || i >= archive->n_metas || (!text && size > 0)) return -1;
    const struct wick__meta *meta = &archive->metas[i];
    if (meta->gguf_type >= 0) return wick__gguf_text(archive, meta, item, text, size);
    if (item != -1) return -1;
    if (size > 0) {
        size_t n = (size_t)meta->length < size - 1 ? (size_t)meta->length : size - 1;
        memcpy(text, meta->value, n);
        text[n] = 0;
    }
    return meta->length;
}
