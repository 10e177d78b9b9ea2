/* Sharded models: a JSON index whose weight_map says which file of the same folder holds which tensor. */
#include "format/archive.h"

#include "core/dump.h"
#include "core/memory.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_INDEX = 256 << 20, MAX_SHARD_NAME = 255 };

/* A plain name, so that it can't leave the folder. */
static bool name_is_safe(const char *name) {
    size_t n = strlen(name);
    return n > 0 && n <= MAX_SHARD_NAME && name[0] != '.' && !strchr(name, '/') && !strchr(name, '\\');
}

/* The number of the shard of this file name, added when it is new. The map goes through one shard after another, so
 * the latest is tried first. */
static enum wick_status shard_number(struct wick_archive *archive, json_t *known, const char *file, int64_t *number) {
    char quoted[WICK__QUOTED];
    json_t *found = json_object_get(known, file);
    if (found) {
        *number = json_integer_value(found);
        return WICK_OK;
    }
    if (!name_is_safe(file))
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "shard \"%s\" is not a plain name of a file beside the index",
                                  wick__quote(quoted, file));
    *number = archive->n_shards;
    struct wick__shard *shard = wick__archive_shard(archive);
    if (!shard) return WICK_MEMORY;
    shard->file = wick__arena_text(&archive->arena, file, strlen(file));
    if (!shard->file) return WICK_MEMORY;
    if (json_object_set_new(known, file, json_integer(*number)) != 0)
        return wick__fail(WICK_MEMORY, "archive_open: out of memory");
    return WICK_OK;
}

static enum wick_status read_map(struct wick_archive *archive, json_t *map, json_t *known) {
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value) {
        const char *file = json_string_value(value);
        if (!file) return wick__archive_fail(archive, WICK_FORMAT, key, "its shard is not a string");
        int64_t number = 0;
        WICK__TRY(shard_number(archive, known, file, &number));
        const char *name = wick__arena_text(&archive->arena, key, strlen(key));
        struct wick__entry *entry = name ? wick__archive_entry(archive, name) : NULL;
        if (!entry) return WICK_MEMORY;
        entry->member = number;
    }
    return WICK_OK;
}

static enum wick_status read_metadata(struct wick_archive *archive, json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        char *text = json_is_string(value) ? NULL : wick__json_dump(value, JSON_COMPACT | JSON_ENCODE_ANY);
        const char *shown = text ? text : json_string_value(value);
        enum wick_status status = shown ? wick__archive_meta_text(archive, key, shown, strlen(shown))
                                        : wick__fail(WICK_MEMORY, "archive_open: out of memory");
        free(text);
        WICK__TRY(status);
    }
    return WICK_OK;
}

enum wick_status wick__shards_open(struct wick_archive *archive) {
    json_error_t error;
    archive->format = WICK_FORMAT_SHARDS;
    if (archive->file->nbytes > MAX_INDEX)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "an index of %zu bytes is above %d",
                                  archive->file->nbytes, MAX_INDEX);
    WICK__TRY(wick__archive_charge(archive, archive->file->nbytes));
    json_t *index =
        json_loadb((const char *)archive->file->data, archive->file->nbytes, JSON_REJECT_DUPLICATES, &error);
    if (!index)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "it is not valid JSON, at byte %d: %s", error.position,
                                  error.text);
    json_t *map = json_object_get(index, "weight_map"), *known = json_object();
    enum wick_status status;
    if (!json_is_object(map))
        status = wick__archive_fail(archive, WICK_FORMAT, NULL, "it is a JSON file without a weight_map");
    else if (archive->file->kind == WICK__FILE_BORROWED)
        status = wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "a shard index in memory has no folder");
    else if (!known)
        status = wick__fail(WICK_MEMORY, "archive_open: out of memory");
    else
        status = read_map(archive, map, known);
    if (status == WICK_OK) status = read_metadata(archive, json_object_get(index, "metadata"));
    json_decref(known);
    json_decref(index);
    return status;
}

/* Opens the shard; a shard that is itself an index is refused. */
static enum wick_status open_shard(const struct wick_archive *archive, struct wick__shard *shard) {
    const char *slash = strrchr(archive->file->name, '/');
    int folder = slash ? (int)(slash - archive->file->name) + 1 : 0;
    size_t size = (size_t)folder + strlen(shard->file) + 1;
    char *path = wick__alloc(size);
    if (!path) return WICK_MEMORY;
    snprintf(path, size, "%.*s%s", folder, archive->file->name, shard->file);
    struct wick__file *file = wick__file_open("archive_open", path, archive->options.copy);
    struct wick_archive *opened = file ? wick__archive_open_file(file, &archive->options) : NULL;
    wick__free(path, size);
    if (!opened) return wick__latest();
    if (opened->format == WICK_FORMAT_SHARDS) {
        wick_archive_close(opened);
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "shard \"%s\" is an index itself", shard->file);
    }
    shard->archive = opened;
    return WICK_OK;
}

enum wick_status wick__shards_find(struct wick_archive *archive, const struct wick__entry *entry,
                                   struct wick_archive **shard, int64_t *i) {
    struct wick__shard *holder = &archive->shards[entry->member];
    if (!holder->archive) WICK__TRY(open_shard(archive, holder));
    int64_t found = wick_archive_find(holder->archive, entry->name);
    if (found < 0)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "its shard \"%s\" does not hold it", holder->file);
    *shard = holder->archive;
    *i = found;
    return WICK_OK;
}
