/* Reading GGUF, versions 1 to 3, little-endian. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 *
 *     magic, version, number of tensors, number of keys
 *     keys: name, type, value
 *     tensors: name, number of dims, dims (innermost first), type, offset in the data
 *     padding to general.alignment, data
 *
 * Lengths and counts are 64 bits, in version 1 32. Each is compared with the bytes that are left before it is used. */
#include "format/gguf.h"

#include "core/checked.h"
#include "core/dtype.h"
#include "core/layout.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_KEY = 65535, MAX_DIMS = 4, MAX_DEPTH = 16 };
enum { DEFAULT_ALIGNMENT = 32, MIN_ALIGNMENT = 8, MAX_ALIGNMENT = 1 << 20 };

bool wick__gguf_number(struct wick__cursor *cursor, int nbytes, uint64_t *value) {
    uint64_t number = 0;
    if (cursor->left < (size_t)nbytes) return false;
    memcpy(&number, cursor->at, (size_t)nbytes);
    cursor->at += nbytes;
    cursor->left -= (size_t)nbytes;
    *value = number;
    return true;
}

bool wick__gguf_string(struct wick__cursor *cursor, const char **text, uint64_t *nbytes) {
    if (!wick__gguf_number(cursor, cursor->narrow ? 4 : 8, nbytes) || *nbytes > cursor->left) return false;
    *text = (const char *)cursor->at;
    cursor->at += *nbytes;
    cursor->left -= (size_t)*nbytes;
    return true;
}

/* ---- keys and values ---- */

static enum wick_status skip_array(const struct wick_archive *archive, const char *key, struct wick__cursor *cursor,
                                   int depth);

/* Steps over one value that is not an array. */
static enum wick_status skip_value(const struct wick_archive *archive, const char *key, struct wick__cursor *cursor,
                                   int type) {
    char quoted[WICK__QUOTED];
    const char *text;
    uint64_t value;
    if (type == WICK__GGUF_STRING) {
        if (wick__gguf_string(cursor, &text, &value)) return WICK_OK;
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": its string does not end in the file",
                                  wick__quote(quoted, key));
    }
    if (!wick__gguf_number(cursor, wick__gguf_sizes[type], &value))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": its value does not lie in the file",
                                  wick__quote(quoted, key));
    if (type == WICK__GGUF_BOOL && value > 1)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": bool %d is neither 0 nor 1",
                                  wick__quote(quoted, key), (int)value);
    return WICK_OK;
}

/* Reads what stands before the items of an array. */
static enum wick_status array_head(const struct wick_archive *archive, const char *key, struct wick__cursor *cursor,
                                   int *type, uint64_t *length) {
    char quoted[WICK__QUOTED];
    uint64_t item;
    if (!wick__gguf_number(cursor, 4, &item) || !wick__gguf_number(cursor, cursor->narrow ? 4 : 8, length))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": its array does not lie in the file",
                                  wick__quote(quoted, key));
    if (item >= WICK__GGUF_TYPES)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": value type %" PRIu64 " is unknown",
                                  wick__quote(quoted, key), item);
    *type = (int)item;
    /* The least that one item takes: strings and arrays have at least a length. */
    uint64_t least = (uint64_t)wick__gguf_sizes[item];
    if (item == WICK__GGUF_STRING) least = cursor->narrow ? 4 : 8;
    if (item == WICK__GGUF_ARRAY) least = cursor->narrow ? 8 : 12;
    if (*length > cursor->left / least)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "key \"%s\": an array of %" PRIu64 " items does not fit in the %zu bytes left",
                                  wick__quote(quoted, key), *length, cursor->left);
    return WICK_OK;
}

static enum wick_status skip_items(const struct wick_archive *archive, const char *key, struct wick__cursor *cursor,
                                   int type, uint64_t length, int depth) {
    if (type == WICK__GGUF_ARRAY) {
        for (uint64_t i = 0; i < length; i++) WICK__TRY(skip_array(archive, key, cursor, depth + 1));
    } else if (type == WICK__GGUF_STRING || type == WICK__GGUF_BOOL) {
        for (uint64_t i = 0; i < length; i++) WICK__TRY(skip_value(archive, key, cursor, type));
    } else {
        size_t nbytes = (size_t)length * (size_t)wick__gguf_sizes[type];
        cursor->at += nbytes;
        cursor->left -= nbytes;
    }
    return WICK_OK;
}

static enum wick_status skip_array(const struct wick_archive *archive, const char *key, struct wick__cursor *cursor,
                                   int depth) {
    int type = 0;
    uint64_t length = 0;
    char quoted[WICK__QUOTED];
    if (depth >= MAX_DEPTH)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": arrays are nested more than %d deep",
                                  wick__quote(quoted, key), MAX_DEPTH);
    WICK__TRY(array_head(archive, key, cursor, &type, &length));
    return skip_items(archive, key, cursor, type, length, depth);
}

/* Reads a name into the arena. `what` is "key" or "tensor". */
static enum wick_status read_name(struct wick_archive *archive, struct wick__cursor *cursor, const char *what,
                                  uint64_t number, const char **name) {
    const char *text;
    uint64_t nbytes;
    if (!wick__gguf_string(cursor, &text, &nbytes))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the name of %s %" PRIu64 " does not end in the file",
                                  what, number);
    if (nbytes > MAX_KEY)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "the name of %s %" PRIu64 " has %" PRIu64 " bytes, above %d", what, number, nbytes,
                                  MAX_KEY);
    if (memchr(text, 0, (size_t)nbytes))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the name of %s %" PRIu64 " holds a zero byte", what,
                                  number);
    WICK__TRY(wick__archive_charge(archive, (size_t)nbytes));
    *name = wick__arena_text(&archive->arena, text, (size_t)nbytes);
    return *name ? WICK_OK : WICK_MEMORY;
}

/* Notes where the items of an array of strings or arrays begin, so that each is found at once. */
static enum wick_status index_items(struct wick_archive *archive, struct wick__cursor *cursor,
                                    struct wick__meta *meta) {
    size_t length = (size_t)meta->length;
    meta->items = wick__arena_alloc(&archive->arena, (length + 1) * sizeof *meta->items);
    if (!meta->items) return WICK_MEMORY;
    for (size_t i = 0; i < length; i++) {
        meta->items[i] = (size_t)(cursor->at - meta->value);
        WICK__TRY(skip_items(archive, meta->key, cursor, meta->gguf_item, 1, 0));
    }
    meta->items[length] = (size_t)(cursor->at - meta->value);
    return WICK_OK;
}

/* Steps over a value of the type, and sets what `meta` says of it but for its place. */
static enum wick_status read_value(struct wick_archive *archive, struct wick__cursor *cursor, struct wick__meta *meta) {
    size_t before = cursor->left;
    uint64_t length = 1;
    if (meta->gguf_type == WICK__GGUF_ARRAY) {
        WICK__TRY(array_head(archive, meta->key, cursor, &meta->gguf_item, &length));
        meta->type_name = wick__gguf_array_names[meta->gguf_item];
        meta->length = (int64_t)length;
        bool even = wick__gguf_sizes[meta->gguf_item] > 0;
        if (meta->value && !even) return index_items(archive, cursor, meta);
        return skip_items(archive, meta->key, cursor, meta->gguf_item, length, 0);
    }
    WICK__TRY(skip_value(archive, meta->key, cursor, meta->gguf_type));
    if (meta->gguf_type == WICK__GGUF_STRING) length = before - cursor->left - (cursor->narrow ? 4 : 8);
    meta->length = (int64_t)length;
    return WICK_OK;
}

static enum wick_status read_key(struct wick_archive *archive, struct wick__cursor *cursor, uint64_t number) {
    static const enum wick_metadata_type kinds[WICK__GGUF_TYPES] = {
        [WICK__GGUF_U8] = WICK_METADATA_UINT,       [WICK__GGUF_I8] = WICK_METADATA_INT,
        [WICK__GGUF_U16] = WICK_METADATA_UINT,      [WICK__GGUF_I16] = WICK_METADATA_INT,
        [WICK__GGUF_U32] = WICK_METADATA_UINT,      [WICK__GGUF_I32] = WICK_METADATA_INT,
        [WICK__GGUF_F32] = WICK_METADATA_FLOAT,     [WICK__GGUF_BOOL] = WICK_METADATA_BOOL,
        [WICK__GGUF_STRING] = WICK_METADATA_STRING, [WICK__GGUF_ARRAY] = WICK_METADATA_ARRAY,
        [WICK__GGUF_U64] = WICK_METADATA_UINT,      [WICK__GGUF_I64] = WICK_METADATA_INT,
        [WICK__GGUF_F64] = WICK_METADATA_FLOAT};
    char quoted[WICK__QUOTED];
    const char *name;
    uint64_t type;
    WICK__TRY(read_name(archive, cursor, "key", number, &name));
    if (!wick__gguf_number(cursor, 4, &type) || type >= WICK__GGUF_TYPES)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": it has no value type that is known",
                                  wick__quote(quoted, name));
    struct wick__meta *meta = wick__archive_meta(archive, name);
    if (!meta) return WICK_MEMORY;
    meta->type = kinds[type];
    meta->gguf_type = (int)type;
    meta->type_name = wick__gguf_names[type];
    /* Once over the file, to know how much to copy; then over the copy, which can't change any more. */
    const unsigned char *begin = cursor->at;
    WICK__TRY(read_value(archive, cursor, meta));
    meta->nbytes = (size_t)(cursor->at - begin);
    WICK__TRY(wick__archive_charge(archive, meta->nbytes));
    meta->value = (const unsigned char *)wick__arena_text(&archive->arena, begin, meta->nbytes);
    if (!meta->value) return WICK_MEMORY;
    struct wick__cursor copy = {meta->value, meta->nbytes, cursor->narrow};
    WICK__TRY(read_value(archive, &copy, meta));
    if (copy.left == 0) return WICK_OK;
    return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\": its value changed while it was read",
                              wick__quote(quoted, name));
}

/* ---- tensors ---- */

static enum wick_status read_alignment(const struct wick_archive *archive, uint64_t *alignment) {
    *alignment = DEFAULT_ALIGNMENT;
    int64_t i = wick_archive_metadata_find(archive, "general.alignment");
    if (i < 0) return WICK_OK;
    const struct wick__meta *meta = &archive->metas[i];
    if (meta->type != WICK_METADATA_UINT && meta->type != WICK_METADATA_INT)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "general.alignment is not an integer");
    struct wick__cursor cursor = {meta->value, meta->nbytes, false};
    if (!wick__gguf_number(&cursor, wick__gguf_sizes[meta->gguf_type], alignment)) return WICK_INTERNAL;
    if (*alignment < MIN_ALIGNMENT || *alignment > MAX_ALIGNMENT || (*alignment & (*alignment - 1)) != 0)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "general.alignment %" PRIu64 " is not a power of two from %d to %d", *alignment,
                                  MIN_ALIGNMENT, MAX_ALIGNMENT);
    return WICK_OK;
}

/* Reads the dims, which are the shape in reverse, the type, and from both the size. */
static enum wick_status read_shape(struct wick_archive *archive, struct wick__cursor *cursor,
                                   struct wick__entry *entry) {
    uint64_t rank, size = 0, number;
    int64_t shape[MAX_DIMS] = {0};
    if (!wick__gguf_number(cursor, 4, &rank))
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "its description is cut short");
    if (rank > MAX_DIMS)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "%" PRIu64 " dims are more than %d", rank,
                                  MAX_DIMS);
    for (uint64_t d = rank; d-- > 0;) {
        if (!wick__gguf_number(cursor, cursor->narrow ? 4 : 8, &size))
            return wick__archive_fail(archive, WICK_FORMAT, entry->name, "its description is cut short");
        if (size > INT64_MAX)
            return wick__archive_fail(archive, WICK_OVERFLOW, entry->name, "a dim of %" PRIu64 " is out of range",
                                      size);
        shape[d] = (int64_t)size;
    }
    if (!wick__gguf_number(cursor, 4, &number))
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "its description is cut short");
    const struct wick__gguf_type *type = wick__gguf_type(number);
    if (!type) return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "type %" PRIu64 " is unknown", number);
    const struct wick__traits *traits = &wick__traits[type->dtype];
    entry->type = type->name;
    entry->dtype = (int)type->dtype;
    WICK__TRY(wick__archive_shape(archive, entry, (int64_t)rank, shape, 8));
    int64_t row = rank > 0 ? shape[rank - 1] : 1;
    if (row % traits->elements != 0)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                  "rows of %" PRId64 " elements are not whole blocks of %d, as %s has them", row,
                                  traits->elements, type->name);
    entry->nbytes = entry->nbytes / traits->elements * traits->nbytes;
    return WICK_OK;
}

static enum wick_status read_tensor(struct wick_archive *archive, struct wick__cursor *cursor, uint64_t number,
                                    uint64_t alignment) {
    const char *name;
    WICK__TRY(read_name(archive, cursor, "tensor", number, &name));
    struct wick__entry *entry = wick__archive_entry(archive, name);
    if (!entry) return WICK_MEMORY;
    WICK__TRY(read_shape(archive, cursor, entry));
    if (!wick__gguf_number(cursor, 8, &entry->offset))
        return wick__archive_fail(archive, WICK_FORMAT, name, "its description is cut short");
    if (entry->offset % alignment != 0)
        return wick__archive_fail(archive, WICK_FORMAT, name,
                                  "offset %" PRIu64 " is not a multiple of the alignment %" PRIu64, entry->offset,
                                  alignment);
    return WICK_OK;
}

/* Makes offsets count from the start of the file, and checks that the tensors lie in it. */
static enum wick_status place_tensors(struct wick_archive *archive, uint64_t begin) {
    uint64_t end = archive->file->nbytes, room = begin < end ? end - begin : 0;
    for (int64_t i = 0; i < archive->n_entries; i++) {
        struct wick__entry *entry = &archive->entries[i];
        uint64_t nbytes = (uint64_t)entry->nbytes;
        if (entry->offset > room || nbytes > room - entry->offset)
            return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                      "%" PRIu64 " bytes at offset %" PRIu64 " do not lie in the file's %" PRIu64
                                      " bytes of data",
                                      nbytes, entry->offset, room);
        entry->offset += begin;
    }
    return wick__archive_order(archive, begin, end, true);
}

static int compare_keys(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static enum wick_status check_keys(struct wick_archive *archive) {
    char quoted[WICK__QUOTED];
    size_t n = (size_t)archive->n_metas;
    const char **keys = wick__arena_alloc(&archive->arena, n * sizeof *keys);
    if (!keys) return WICK_MEMORY;
    for (size_t i = 0; i < n; i++) keys[i] = archive->metas[i].key;
    if (n > 0) qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "key \"%s\" is there twice",
                                      wick__quote(quoted, keys[i]));
    return WICK_OK;
}

static enum wick_status read_head(struct wick_archive *archive, struct wick__cursor *cursor, uint64_t *n_tensors,
                                  uint64_t *n_keys) {
    uint64_t version;
    if (!wick__gguf_number(cursor, 4, &version))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the header is cut short");
    if (version > 0xffff && version % 0x1000000 == 0)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "it is a big-endian GGUF file");
    if (version < 1 || version > 3)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, NULL, "GGUF version %" PRIu64 " is none of 1, 2, 3",
                                  version);
    archive->gguf_narrow = cursor->narrow = version == 1;
    int size = cursor->narrow ? 4 : 8;
    if (!wick__gguf_number(cursor, size, n_tensors) || !wick__gguf_number(cursor, size, n_keys))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the header is cut short");
    /* The least that one takes: an empty name, a type, and a one-byte value or no dims and an offset. */
    uint64_t least_key = (uint64_t)size + 5, least_tensor = (uint64_t)size + 16;
    if (*n_keys > cursor->left / least_key || *n_tensors > cursor->left / least_tensor)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "%" PRIu64 " keys and %" PRIu64 " tensors do not fit in the %zu bytes left", *n_keys,
                                  *n_tensors, cursor->left);
    return WICK_OK;
}

enum wick_status wick__gguf_open(struct wick_archive *archive) {
    uint64_t n_tensors = 0, n_keys = 0, alignment = 0;
    struct wick__cursor cursor = {archive->file->data + 4, archive->file->nbytes - 4, false};
    archive->format = WICK_FORMAT_GGUF;
    WICK__TRY(read_head(archive, &cursor, &n_tensors, &n_keys));
    for (uint64_t i = 0; i < n_keys; i++) WICK__TRY(read_key(archive, &cursor, i));
    WICK__TRY(check_keys(archive));
    WICK__TRY(read_alignment(archive, &alignment));
    for (uint64_t i = 0; i < n_tensors; i++) WICK__TRY(read_tensor(archive, &cursor, i, alignment));
    uint64_t end = archive->file->nbytes - cursor.left;
    return place_tensors(archive, (end + alignment - 1) & ~(alignment - 1));
}
