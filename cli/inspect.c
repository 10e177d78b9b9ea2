/* wick inspect: what a file of tensors holds. */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_VALUE = 100, SHAPE_TEXT = 192 };

static void print_text(const char *text, int width) {
    int columns = output_text(stdout, text);
    printf("%*s", columns < width ? width - columns : 0, "");
}

static const char *shape_text(char text[SHAPE_TEXT], const struct wick_archive_entry *entry) {
    int at = snprintf(text, SHAPE_TEXT, "[");
    for (int d = 0; d < entry->rank; d++)
        at += snprintf(text + at, (size_t)(SHAPE_TEXT - at), d ? ",%" PRId64 : "%" PRId64, entry->shape[d]);
    snprintf(text + at, (size_t)(SHAPE_TEXT - at), "]");
    return text;
}

/* What Wick calls the type, or the format where there is no dtype for it. */
static const char *type_text(const struct wick_archive_entry *entry) {
    return entry->loadable ? wick_dtype_name(entry->dtype) : entry->type;
}

static enum wick_status print_metadata(const struct wick_archive *archive) {
    for (int64_t i = 0; i < wick_archive_metadata_count(archive); i++) {
        struct wick_metadata metadata;
        char value[SHOWN_VALUE + 4];
        enum wick_status status = wick_archive_metadata(archive, i, &metadata);
        if (status != WICK_OK) return status;
        int64_t length = wick_archive_metadata_text(archive, i, -1, value, SHOWN_VALUE);
        bool cut = length >= SHOWN_VALUE;
        if (cut) { /* not within a UTF-8 sequence */
            size_t end = SHOWN_VALUE - 1;
            while (end > 0 && ((unsigned char)value[end - 1] & 0xc0) == 0x80) end--;
            if (end > 0 && (unsigned char)value[end - 1] >= 0xc0) end--;
            value[end] = 0;
        }
        printf("  ");
        print_text(metadata.key, 0);
        if (metadata.type == WICK_METADATA_ARRAY)
            printf(" (%s, %" PRId64 ")", metadata.type_name, metadata.length);
        else if (strcmp(metadata.type_name, "string") != 0)
            printf(" (%s)", metadata.type_name);
        printf(" = ");
        print_text(value, 0);
        printf("%s\n", cut ? "..." : "");
    }
    return WICK_OK;
}

static enum wick_status print_table(const char *path, struct wick_archive *archive) {
    struct wick_archive_entry entry;
    int64_t n = wick_archive_count(archive), nbytes = 0, elements = 0;
    int width = 4;
    output_text(stdout, path);
    printf(": %s, %" PRId64 " tensor%s, %" PRId64 " metadata\n", wick_format_name(wick_archive_format(archive)), n,
           n == 1 ? "" : "s", wick_archive_metadata_count(archive));
    enum wick_status status = print_metadata(archive);
    for (int64_t i = 0; i < n; i++) {
        int columns = output_columns(wick_archive_name(archive, i));
        if (columns > width && columns <= 60) width = columns;
    }
    if (n > 0) printf("  %-*s %-8s %-20s %15s\n", width, "name", "dtype", "shape", "bytes");
    for (int64_t i = 0; i < n && status == WICK_OK; i++) {
        char shape[SHAPE_TEXT];
        status = wick_archive_describe(archive, i, &entry);
        if (status != WICK_OK) break;
        int64_t count = 1;
        for (int d = 0; d < entry.rank; d++) count *= entry.shape[d];
        elements += count;
        nbytes += entry.nbytes;
        printf("  ");
        print_text(entry.name, width);
        printf(" %-8s %-20s %15" PRId64 "\n", type_text(&entry), shape_text(shape, &entry), entry.nbytes);
    }
    if (status == WICK_OK) printf("  %" PRId64 " elements, %" PRId64 " bytes\n", elements, nbytes);
    return status;
}

static json_t *json_value(const struct wick_archive *archive, int64_t i, int64_t item) {
    int64_t length = wick_archive_metadata_text(archive, i, item, NULL, 0);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!text) return NULL;
    wick_archive_metadata_text(archive, i, item, text, (size_t)length + 1);
    json_t *string = json_text(text);
    free(text);
    return string;
}

/* {"KEY": {"type": ..., "value": ...}}; items of arrays as strings each. */
static json_t *json_metadata(const struct wick_archive *archive) {
    json_t *all = json_array();
    for (int64_t i = 0; i < wick_archive_metadata_count(archive); i++) {
        struct wick_metadata metadata;
        if (wick_archive_metadata(archive, i, &metadata) != WICK_OK) break;
        json_t *value = metadata.type == WICK_METADATA_ARRAY ? json_array() : json_value(archive, i, -1);
        for (int64_t item = 0; metadata.type == WICK_METADATA_ARRAY && item < metadata.length; item++)
            json_add(value, json_value(archive, i, item));
        json_add(all, json_pack("{s:o, s:s, s:o}", "key", json_text(metadata.key), "type", metadata.type_name, "value",
                                value));
    }
    return all;
}

static enum wick_status print_json(const char *path, struct wick_archive *archive) {
    json_t *tensors = json_array();
    for (int64_t i = 0; i < wick_archive_count(archive); i++) {
        struct wick_archive_entry entry;
        enum wick_status status = wick_archive_describe(archive, i, &entry);
        if (status != WICK_OK) {
            json_decref(tensors);
            return status;
        }
        json_t *shape = json_array();
        for (int d = 0; d < entry.rank; d++) json_add(shape, json_integer(entry.shape[d]));
        json_add(tensors, json_pack("{s:o, s:s, s:s?, s:o, s:I}", "name", json_text(entry.name), "type", entry.type,
                                    "dtype", entry.loadable ? wick_dtype_name(entry.dtype) : NULL, "shape", shape,
                                    "nbytes", (json_int_t)entry.nbytes));
    }
    json_t *all = json_pack("{s:o, s:s, s:o, s:o}", "file", json_text(path), "format",
                            wick_format_name(wick_archive_format(archive)), "metadata", json_metadata(archive),
                            "tensors", tensors);
    return json_print(all, JSON_INDENT(2)) ? WICK_OK : WICK_MEMORY;
}

int command_inspect(int argc, char **argv) {
    struct wick_archive_options how = {0};
    bool json = false;
    const struct option list[] = {
        OPTIONS_FLAG("--json", &json, "writes JSON, with all metadata"),
        OPTIONS_FLAG("--lenient", &how.lenient, "accepts holes between tensors, and bytes after the last one"),
        OPTIONS_END};
    const struct options options = {"inspect", list, 1};
    int n, status;
    if (!options_parse(&options, argc, argv, &n, &status)) return status;
    if (n == 0) return command_usage("inspect", "no file is given");
    struct wick_archive *archive = wick_archive_open(argv[0], &how);
    if (!archive) return command_fail("inspect", "%s can't be inspected", argv[0]);
    enum wick_status shown = json ? print_json(argv[0], archive) : print_table(argv[0], archive);
    wick_archive_close(archive);
    return shown == WICK_OK ? 0 : command_fail("inspect", "%s can't be inspected", argv[0]);
}
