/* What the format readers build an archive with: the arena, growing lists, and the checks all formats share. */
#include "format/archive.h"

#include "core/checked.h"
#include "core/layout.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum wick_status wick__archive_fail(const struct wick_archive *archive, enum wick_status status, const char *tensor,
                                    const char *format, ...) {
    char text[512], quoted[WICK__QUOTED];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!tensor) return wick__fail(status, "archive_open: %s: %s", archive->file->name, text);
    return wick__fail(status, "archive_open: %s: tensor \"%s\": %s", archive->file->name, wick__quote(quoted, tensor),
                      text);
}

/* Appends a cleared record of `size` bytes to a list of n; NULL without memory. */
static void *append(void *list, int64_t *n, size_t *room, size_t size) {
    char *items;
    memcpy(&items, list, sizeof items);
    size_t used = (size_t)*n * size;
    if (*room - used < size) {
        size_t grown = *room ? *room * 2 : 16 * size;
        items = wick__realloc(items, *room, grown);
        if (!items) return NULL;
        *room = grown;
        memcpy(list, &items, sizeof items);
    }
    ++*n;
    return memset(items + used, 0, size);
}

enum wick_status wick__archive_charge(struct wick_archive *archive, size_t nbytes) {
    int64_t limit = archive->options.limits.metadata;
    if (nbytes <= (uint64_t)(limit - archive->charged)) {
        archive->charged += (int64_t)nbytes;
        return WICK_OK;
    }
    return wick__archive_fail(archive, WICK_RANGE, NULL,
                              "what describes its tensors has more than %" PRId64 " bytes, the limit of metadata",
                              limit);
}

struct wick__entry *wick__archive_entry(struct wick_archive *archive, const char *name) {
    if (archive->n_entries >= archive->options.limits.tensors) {
        wick__archive_fail(archive, WICK_RANGE, NULL, "it has more than %" PRId64 " tensors, the limit",
                           archive->options.limits.tensors);
        return NULL;
    }
    struct wick__entry *entry =
        append(&archive->entries, &archive->n_entries, &archive->entry_room, sizeof *archive->entries);
    if (!entry) return NULL;
    entry->name = name;
    entry->type = "?";
    entry->dtype = -1;
    entry->member = -1;
    return entry;
}

struct wick__meta *wick__archive_meta(struct wick_archive *archive, const char *key) {
    struct wick__meta *meta = append(&archive->metas, &archive->n_metas, &archive->meta_room, sizeof *archive->metas);
    if (!meta) return NULL;
    meta->key = key;
    meta->gguf_type = meta->gguf_item = -1;
    return meta;
}

struct wick__member *wick__archive_member(struct wick_archive *archive) {
    return append(&archive->members, &archive->n_members, &archive->member_room, sizeof *archive->members);
}

struct wick__shard *wick__archive_shard(struct wick_archive *archive) {
    return append(&archive->shards, &archive->n_shards, &archive->shard_room, sizeof *archive->shards);
}

enum wick_status wick__archive_meta_text(struct wick_archive *archive, const char *key, const char *text,
                                         size_t nbytes) {
    const char *kept_key = wick__arena_text(&archive->arena, key, strlen(key));
    const char *kept = wick__arena_text(&archive->arena, text, nbytes);
    struct wick__meta *meta = kept_key && kept ? wick__archive_meta(archive, kept_key) : NULL;
    if (!meta) return WICK_MEMORY;
    meta->type = WICK_METADATA_STRING;
    meta->type_name = "string";
    meta->length = (int64_t)nbytes;
    meta->value = (const unsigned char *)kept;
    return WICK_OK;
}

enum wick_status wick__archive_shape(const struct wick_archive *archive, struct wick__entry *entry, int64_t rank,
                                     const int64_t *shape, int bits) {
    int64_t count = 1, nbits;
    bool empty = false;
    if (rank < 0 || rank > WICK_MAX_RANK)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "rank %" PRId64 " is above %d", rank,
                                  WICK_MAX_RANK);
    for (int64_t i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                      "size %" PRId64 " of dim %" PRId64 " is negative", shape[i], i);
        if (shape[i] == 0) empty = true;
        /* The sizes that are not zero must fit too: strides are made of them. */
        if (shape[i] != 0 && !wick__mul(count, shape[i], &count)) count = -1;
        if (count < 0) break;
        entry->shape[i] = shape[i];
    }
    if (count < 0 || count > INT64_MAX / 64) {
        char text[WICK__SHAPE_TEXT];
        return wick__archive_fail(archive, WICK_OVERFLOW, entry->name,
                                  "shape %s has more elements than 64 bits can address",
                                  wick__shape_text(text, (int)rank, shape));
    }
    nbits = (empty ? 0 : count) * bits;
    if (nbits % 8 != 0)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                  "%" PRId64 " elements of %d bits are not whole bytes", count, bits);
    entry->rank = (int)rank;
    entry->nbytes = nbits / 8;
    return WICK_OK;
}

static int compare_places(const void *a, const void *b) {
    const struct wick__entry *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->nbytes != y->nbytes) return x->nbytes < y->nbytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

enum wick_status wick__archive_order(struct wick_archive *archive, uint64_t begin, uint64_t end, bool holes) {
    if (archive->n_entries > 0)
        qsort(archive->entries, (size_t)archive->n_entries, sizeof *archive->entries, compare_places);
    for (int64_t i = 0; i < archive->n_entries; i++) {
        const struct wick__entry *entry = &archive->entries[i];
        if (entry->offset < begin && (entry->nbytes > 0 || !holes))
            return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                      "its bytes from %" PRIu64 " overlap those of another tensor, to %" PRIu64,
                                      entry->offset, begin);
        if (entry->offset > begin && !holes)
            return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                      "bytes %" PRIu64 " to %" PRIu64 " before it belong to no tensor", begin,
                                      entry->offset);
        if (entry->nbytes > 0) begin = entry->offset + (uint64_t)entry->nbytes;
    }
    if (begin < end && !holes)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "%" PRIu64 " bytes after the last tensor belong to none",
                                  end - begin);
    return WICK_OK;
}

int64_t wick_archive_metadata_find(const struct wick_archive *archive, const char *key) {
    for (int64_t i = 0; archive && key && i < archive->n_metas; i++)
        if (strcmp(archive->metas[i].key, key) == 0) return i;
    return -1;
}
