/* Loading tensors from archives, and the host's view of tensors that are written. */
#include "format/archive.h"

#include "core/checked.h"
#include "core/memory.h"
#include "core/tensor.h"

#include <inttypes.h>

/* Elements from the first of a strided tensor to its last, that one included. */
static int64_t span_of(const struct wick__entry *entry) {
    int64_t span = 1;
    for (int d = 0; d < entry->rank; d++) {
        if (entry->shape[d] == 0) return 0;
        span += (entry->shape[d] - 1) * entry->stride[d];
    }
    return span;
}

/* A view of the mapped file. */
static struct wick_tensor *load_mapped(const struct wick_archive *archive, const struct wick__entry *entry,
                                       const unsigned char *data, struct wick_device *device) {
    struct wick__file *file = wick__file_ref(archive->file);
    struct wick_tensor *x, *base;
    struct wick__layout layout = {.rank = entry->rank};
    /* The mapping is private and writable, only its readers see it as const. */
    void *elements = (void *)(uintptr_t)data;
    struct wick_memory_block block = {elements, (size_t)entry->nbytes, wick__file_release, file};
    if (!entry->strided) {
        x = wick_from_memory(device, (enum wick_dtype)entry->dtype, entry->rank, entry->shape, &block);
        if (!x) wick__file_unref(file);
        return x;
    }
    int64_t span = span_of(entry);
    block.nbytes = (size_t)span * wick__size((enum wick_dtype)entry->dtype);
    base = wick_from_memory(device, (enum wick_dtype)entry->dtype, 1, &span, &block);
    if (!base) {
        wick__file_unref(file);
        return NULL;
    }
    memcpy(layout.shape, entry->shape, sizeof layout.shape);
    memcpy(layout.stride, entry->stride, sizeof layout.stride);
    x = wick__tensor_view(base, &layout);
    wick_release(base);
    return wick__scope_add(x);
}

/* Copies the elements of a strided tensor of `size`-byte elements to row-major order. */
static void pack(const struct wick__entry *entry, size_t size, const unsigned char *from, unsigned char *to) {
    int64_t index[WICK_MAX_RANK] = {0}, count = entry->nbytes / (int64_t)size, at = 0;
    for (int64_t i = 0; i < count; i++) {
        memcpy(to, from + (size_t)at * size, size);
        to += size;
        for (int d = entry->rank - 1; d >= 0; d--) {
            at += entry->stride[d];
            if (++index[d] < entry->shape[d]) break;
            at -= entry->stride[d] * entry->shape[d];
            index[d] = 0;
        }
    }
}

static struct wick_tensor *load_copied(const struct wick__entry *entry, const unsigned char *data,
                                       struct wick_device *device) {
    if (!entry->strided)
        return wick_from_data(device, (enum wick_dtype)entry->dtype, entry->rank, entry->shape, data,
                              (size_t)entry->nbytes);
    unsigned char *packed = wick__alloc((size_t)entry->nbytes);
    if (!packed) return NULL;
    pack(entry, wick__size((enum wick_dtype)entry->dtype), data, packed);
    struct wick_tensor *x =
        wick_from_data(device, (enum wick_dtype)entry->dtype, entry->rank, entry->shape, packed, (size_t)entry->nbytes);
    wick__free(packed, (size_t)entry->nbytes);
    return x;
}

static struct wick_tensor *load_entry(const struct wick_archive *archive, const struct wick__entry *entry,
                                      struct wick_device *device) {
    if (entry->dtype < 0) {
        wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "there is no dtype for elements of type %s",
                           entry->type);
        return NULL;
    }
    if (wick__device_check("archive_load", device) != WICK_OK) return NULL;
    if (entry->nbytes == 0) return wick_empty(device, (enum wick_dtype)entry->dtype, entry->rank, entry->shape);
    const unsigned char *data = archive->file->data + entry->offset;
    void *owned = NULL;
    size_t needed = 0;
    enum wick_dtype dtype = (enum wick_dtype)entry->dtype;
    size_t element = wick__is_plain(dtype) ? wick__size(dtype) : 1;
    if (entry->member >= 0) {
        needed = (size_t)entry->offset + (entry->strided ? (size_t)span_of(entry) * element : (size_t)entry->nbytes);
        if (wick__zip_read(archive, entry->member, needed, &data, &owned) != WICK_OK) return NULL;
        data += entry->offset;
    }
    bool aligned = element <= 1 || (uintptr_t)data % element == 0;
    bool mapped = archive->file->kind != WICK__FILE_BORROWED && !owned && aligned && device->heap->host_visible;
    struct wick_tensor *x = mapped ? load_mapped(archive, entry, data, device) : load_copied(entry, data, device);
    wick__free(owned, needed);
    return x;
}

struct wick_tensor *wick_archive_load_at(struct wick_archive *archive, int64_t i, struct wick_device *device) {
    if (!archive) {
        wick__fail(WICK_INVALID, "archive_load: archive is NULL");
        return NULL;
    }
    if (i < 0 || i >= archive->n_entries) {
        wick__fail(WICK_RANGE, "archive_load: %s: there is no tensor %" PRId64 " of %" PRId64, archive->file->name, i,
                   archive->n_entries);
        return NULL;
    }
    if (archive->format != WICK_FORMAT_SHARDS) return load_entry(archive, &archive->entries[i], device);
    struct wick_archive *shard = NULL;
    if (wick__shards_find(archive, &archive->entries[i], &shard, &i) != WICK_OK) return NULL;
    return load_entry(shard, &shard->entries[i], device);
}

struct wick_tensor *wick_archive_load(struct wick_archive *archive, const char *name, struct wick_device *device) {
    char quoted[WICK__QUOTED];
    int64_t i = wick_archive_find(archive, name);
    if (i >= 0 || !archive) return wick_archive_load_at(archive, i, device);
    wick__fail(name ? WICK_RANGE : WICK_INVALID, "archive_load: %s: there is no tensor \"%s\"", archive->file->name,
               name ? wick__quote(quoted, name) : "(NULL)");
    return NULL;
}

enum wick_status wick__host_bytes(const struct wick_tensor *x, const void **data, size_t *nbytes, void **owned) {
    *owned = NULL;
    if (!wick__nbytes(x->dtype, wick__count(x), nbytes))
        return wick__fail(WICK_OVERFLOW, "save: the size in bytes does not fit in 64 bits");
    if (wick__device(x)->heap->host_visible && wick__layout_is_contiguous(&x->layout)) {
        *data = wick_tensor_data(x);
        if (*data || *nbytes == 0) return WICK_OK;
        return wick__latest();
    }
    void *copy = wick__alloc(*nbytes);
    if (!copy) return WICK_MEMORY;
    enum wick_status status = wick_read(x, copy, *nbytes);
    if (status != WICK_OK) {
        wick__free(copy, *nbytes);
        return status;
    }
    *data = *owned = copy;
    return WICK_OK;
}
