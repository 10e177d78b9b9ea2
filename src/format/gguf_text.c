/* GGUF values as text. They were copied and checked when the file was opened: what a value holds is well formed. */
#include "format/gguf.h"

#include <inttypes.h>
#include <stdio.h>

const unsigned char wick__gguf_sizes[WICK__GGUF_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

const char *const wick__gguf_names[WICK__GGUF_TYPES] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                        "bool", "string", "array", "u64", "i64", "f64"};

const char *const wick__gguf_array_names[WICK__GGUF_TYPES] = {
    "array of u8",  "array of i8",  "array of u16",  "array of i16",     "array of u32",
    "array of i32", "array of f32", "array of bool", "array of strings", "array of arrays",
    "array of u64", "array of i64", "array of f64"};

/* Text that goes to a buffer as far as it has room, and is counted all the same. */
struct sink {
    char *text;
    size_t size;
    int64_t length;
};

static void emit(struct sink *sink, const char *text, size_t nbytes) {
    if ((size_t)sink->length + 1 < sink->size) {
        size_t room = sink->size - 1 - (size_t)sink->length;
        memcpy(sink->text + sink->length, text, nbytes < room ? nbytes : room);
    }
    sink->length += (int64_t)nbytes;
}

/* A number of the file in a signed or unsigned 64-bit type, or as a float. */
static void emit_number(struct sink *sink, int type, uint64_t bits) {
    char text[40];
    float narrow;
    double wide;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    switch (type) {
    case WICK__GGUF_I8: snprintf(text, sizeof text, "%d", (int8_t)bits); break;
    case WICK__GGUF_I16: snprintf(text, sizeof text, "%d", (int16_t)bits); break;
    case WICK__GGUF_I32: snprintf(text, sizeof text, "%" PRId32, (int32_t)bits); break;
    case WICK__GGUF_I64: snprintf(text, sizeof text, "%" PRId64, (int64_t)bits); break;
    case WICK__GGUF_F32: snprintf(text, sizeof text, "%.9g", (double)narrow); break;
    case WICK__GGUF_F64: snprintf(text, sizeof text, "%.17g", wide); break;
    case WICK__GGUF_BOOL: snprintf(text, sizeof text, "%s", bits ? "true" : "false"); break;
    default: snprintf(text, sizeof text, "%" PRIu64, bits); break;
    }
    emit(sink, text, strlen(text));
}

/* Emits one value. Arrays nest no deeper than the reader allowed. */
static void walk(struct sink *sink, struct wick__cursor *cursor, int type) {
    uint64_t value = 0, item = 0;
    const char *text = NULL;
    if (type == WICK__GGUF_STRING) {
        if (wick__gguf_string(cursor, &text, &value)) emit(sink, text, (size_t)value);
        return;
    }
    if (type != WICK__GGUF_ARRAY) {
        if (wick__gguf_number(cursor, wick__gguf_sizes[type], &value)) emit_number(sink, type, value);
        return;
    }
    if (!wick__gguf_number(cursor, 4, &item) || !wick__gguf_number(cursor, cursor->narrow ? 4 : 8, &value)) return;
    emit(sink, "[", 1);
    for (uint64_t i = 0; i < value; i++) {
        if (i > 0) emit(sink, ", ", 2);
        walk(sink, cursor, (int)item);
    }
    emit(sink, "]", 1);
}

/* The bytes of an item of an array. */
static struct wick__cursor item_at(const struct wick_archive *archive, const struct wick__meta *meta, int64_t item) {
    size_t size = wick__gguf_sizes[meta->gguf_item], head = archive->gguf_narrow ? 8 : 12;
    size_t begin = meta->items ? meta->items[item] : head + (size_t)item * size;
    size_t end = meta->items ? meta->items[item + 1] : begin + size;
    return (struct wick__cursor){meta->value + begin, end - begin, archive->gguf_narrow};
}

int64_t wick__gguf_text(const struct wick_archive *archive, const struct wick__meta *meta, int64_t item, char *text,
                        size_t size) {
    struct wick__cursor cursor = {meta->value, meta->nbytes, archive->gguf_narrow};
    struct sink sink = {text, size, 0};
    bool array = meta->gguf_type == WICK__GGUF_ARRAY;
    if (item < -1 || (item >= 0 && (!array || item >= meta->length))) return -1;
    if (item >= 0) cursor = item_at(archive, meta, item);
    walk(&sink, &cursor, item >= 0 ? meta->gguf_item : meta->gguf_type);
    if (size > 0) text[(size_t)sink.length < size ? (size_t)sink.length : size - 1] = 0;
    return sink.length;
}
