/* Reading safetensors: 8 bytes of header length, a JSON object, then the elements.
 * https://huggingface.co/docs/safetensors, and the checks of the reference implementation. */
#include "format/archive.h"

#include "core/memory.h"

#include <inttypes.h>
#include <jansson.h>

/* The reference implementation's limit. */
enum { MAX_HEADER = 100 * 1000 * 1000 };

static const struct {
    const char *name;
    int dtype, bits;
} types[] = {
    {"BOOL", WICK_DTYPE_bool, 8},
    {"U8", WICK_DTYPE_u8, 8},
    {"I8", WICK_DTYPE_i8, 8},
    {"I16", WICK_DTYPE_i16, 16},
    {"U16", WICK_DTYPE_u16, 16},
    {"F16", WICK_DTYPE_f16, 16},
    {"BF16", WICK_DTYPE_bf16, 16},
    {"I32", WICK_DTYPE_i32, 32},
    {"U32", WICK_DTYPE_u32, 32},
    {"F32", WICK_DTYPE_f32, 32},
    {"F64", WICK_DTYPE_f64, 64},
    {"I64", WICK_DTYPE_i64, 64},
    {"U64", WICK_DTYPE_u64, 64},
    {"F8_E4M3", WICK_DTYPE_f8e4m3, 8},
    {"F8_E5M2", WICK_DTYPE_f8e5m2, 8},
    {"F8_E8M0", WICK_DTYPE_f8e8m0, 8},
    {"F6_E2M3", WICK_DTYPE_f6e2m3, 6},
    {"F6_E3M2", WICK_DTYPE_f6e3m2, 6},
    {"F4", WICK_DTYPE_f4, 4},
    {"F8_E4M3FNUZ", -1, 8},
    {"F8_E5M2FNUZ", -1, 8},
    {"C64", -1, 64},
};
enum { TYPES = sizeof types / sizeof *types };

static enum wick_status read_metadata(struct wick_archive *archive, json_t *object) {
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "__metadata__ is not a JSON object");
    json_object_foreach(object, key, value) {
        char quoted[WICK__QUOTED];
        if (!json_is_string(value))
            return wick__archive_fail(archive, WICK_FORMAT, NULL, "__metadata__ \"%s\" is not a string",
                                      wick__quote(quoted, key));
        WICK__TRY(wick__archive_meta_text(archive, key, json_string_value(value), json_string_length(value)));
    }
    return WICK_OK;
}

/* Reads the shape of a tensor; the number of elements is checked once its type is known. */
static enum wick_status read_shape(struct wick_archive *archive, struct wick__entry *entry, const json_t *shape,
                                   int bits) {
    int64_t sizes[WICK_MAX_RANK] = {0};
    if (!json_is_array(shape)) return wick__archive_fail(archive, WICK_FORMAT, entry->name, "shape is not an array");
    size_t rank = json_array_size(shape);
    for (size_t d = 0; d < rank && d < WICK_MAX_RANK; d++) {
        const json_t *size = json_array_get(shape, d);
        if (!json_is_integer(size))
            return wick__archive_fail(archive, WICK_FORMAT, entry->name, "size of dim %zu is not an integer", d);
        sizes[d] = json_integer_value(size);
    }
    return wick__archive_shape(archive, entry, (int64_t)rank, sizes, bits);
}

static enum wick_status read_tensor(struct wick_archive *archive, const char *key, const json_t *object,
                                    uint64_t data_begin) {
    const char *name = wick__arena_text(&archive->arena, key, strlen(key));
    struct wick__entry *entry = name ? wick__archive_entry(archive, name) : NULL;
    if (!entry) return WICK_MEMORY;
    if (!json_is_object(object))
        return wick__archive_fail(archive, WICK_FORMAT, name, "its description is not a JSON object");
    const char *type = json_string_value(json_object_get(object, "dtype"));
    if (!type) return wick__archive_fail(archive, WICK_FORMAT, name, "dtype is not a string");
    int i = 0;
    while (i < TYPES && strcmp(types[i].name, type) != 0) i++;
    if (i == TYPES) {
        char quoted[WICK__QUOTED];
        return wick__archive_fail(archive, WICK_UNSUPPORTED, name, "dtype \"%s\" is unknown",
                                  wick__quote(quoted, type));
    }
    entry->type = types[i].name;
    entry->dtype = types[i].dtype;
    WICK__TRY(read_shape(archive, entry, json_object_get(object, "shape"), types[i].bits));

    const json_t *offsets = json_object_get(object, "data_offsets");
    const json_t *first = json_array_get(offsets, 0), *second = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(second))
        return wick__archive_fail(archive, WICK_FORMAT, name, "data_offsets is not an array of two integers");
    int64_t begin = json_integer_value(first), end = json_integer_value(second);
    int64_t room = (int64_t)(archive->file->nbytes - data_begin);
    if (begin < 0 || end < begin || end > room)
        return wick__archive_fail(archive, WICK_FORMAT, name,
                                  "data_offsets %" PRId64 " to %" PRId64 " do not lie in the file's %" PRId64
                                  " bytes of data",
                                  begin, end, room);
    if (end - begin != entry->nbytes)
        return wick__archive_fail(archive, WICK_FORMAT, name,
                                  "its data_offsets hold %" PRId64 " bytes, its shape and dtype need %" PRId64,
                                  end - begin, entry->nbytes);
    entry->offset = data_begin + (uint64_t)begin;
    return WICK_OK;
}

static enum wick_status read_header(struct wick_archive *archive, json_t *header, uint64_t data_begin) {
    const char *key;
    json_t *value;
    archive->format = WICK_FORMAT_SAFETENSORS;
    json_object_foreach(header, key, value) {
        if (strcmp(key, "__metadata__") == 0)
            WICK__TRY(read_metadata(archive, value));
        else
            WICK__TRY(read_tensor(archive, key, value, data_begin));
    }
    return wick__archive_order(archive, data_begin, archive->file->nbytes, archive->options.lenient);
}

enum wick_status wick__safetensors_open(struct wick_archive *archive) {
    const unsigned char *data = archive->file->data;
    uint64_t length = wick__get64(data), room = archive->file->nbytes - 8;
    json_error_t error;
    if (length > MAX_HEADER)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the header's %" PRIu64 " bytes are above %d", length,
                                  MAX_HEADER);
    if (length > room)
        return wick__archive_fail(archive, WICK_FORMAT, NULL,
                                  "the header's %" PRIu64 " bytes are more than the %" PRIu64 " the file has", length,
                                  room);
    WICK__TRY(wick__archive_charge(archive, (size_t)length));
    json_t *header = json_loadb((const char *)data + 8, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!header)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "the header is not valid JSON, at byte %d: %s",
                                  error.position, error.text);
    enum wick_status status = json_is_object(header)
                                  ? read_header(archive, header, 8 + length)
                                  : wick__archive_fail(archive, WICK_FORMAT, NULL, "the header is not a JSON object");
    json_decref(header);
    return status;
}
