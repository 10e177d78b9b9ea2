/* Writing safetensors. */
#include "format/archive.h"

#include "core/buffer.h"
#include "core/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const type_names[WICK_DTYPE_COUNT] = {
    [WICK_DTYPE_u8] = "U8",          [WICK_DTYPE_u32] = "U32",        [WICK_DTYPE_i16] = "I16",
    [WICK_DTYPE_i32] = "I32",        [WICK_DTYPE_i64] = "I64",        [WICK_DTYPE_bf16] = "BF16",
    [WICK_DTYPE_f16] = "F16",        [WICK_DTYPE_f32] = "F32",        [WICK_DTYPE_f64] = "F64",
    [WICK_DTYPE_f8e4m3] = "F8_E4M3", [WICK_DTYPE_i8] = "I8",          [WICK_DTYPE_u16] = "U16",
    [WICK_DTYPE_u64] = "U64",        [WICK_DTYPE_bool] = "BOOL",      [WICK_DTYPE_f8e5m2] = "F8_E5M2",
    [WICK_DTYPE_f8e8m0] = "F8_E8M0", [WICK_DTYPE_f6e2m3] = "F6_E2M3", [WICK_DTYPE_f6e3m2] = "F6_E3M2",
    [WICK_DTYPE_f4] = "F4",
};

/* One tensor, in the order in which they are written. */
struct item {
    const char *name;
    const struct wick_tensor *x;
    int64_t nbytes;
};

/* Wide elements first, so that all are aligned without padding; then by name, as the reference implementation does. */
static int compare_items(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    int bits_x = wick_dtype_bits(x->x->dtype), bits_y = wick_dtype_bits(y->x->dtype);
    return bits_x != bits_y ? (bits_x > bits_y ? -1 : 1) : strcmp(x->name, y->name);
}

/* The header as it grows; `good` is false once memory ran out. */
struct text {
    struct wick__buffer buffer;
    bool good;
};

static void put(struct text *text, const char *bytes, size_t n) {
    if (text->good) text->good = wick__buffer_append(&text->buffer, bytes, n) == WICK_OK;
}

static void put_text(struct text *text, const char *bytes) { put(text, bytes, strlen(bytes)); }

static void put_number(struct text *text, int64_t number) {
    char digits[24];
    put(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, number));
}

/* A JSON string of UTF-8. */
static void put_string(struct text *text, const char *string) {
    put_text(text, "\"");
    while (*string) {
        size_t plain = 0;
        while ((unsigned char)string[plain] >= 0x20 && string[plain] != '"' && string[plain] != '\\') plain++;
        put(text, string, plain);
        string += plain;
        if (!*string) break;
        char escaped[8];
        int n = *string == '"' || *string == '\\' ? snprintf(escaped, sizeof escaped, "\\%c", *string)
                                                  : snprintf(escaped, sizeof escaped, "\\u%04x", *string);
        put(text, escaped, (size_t)n);
        string++;
    }
    put_text(text, "\"");
}

/* "NAME":{"dtype":...,"shape":[...],"data_offsets":[...]} */
static void put_tensor(struct text *text, const struct item *item, int64_t begin) {
    put_string(text, item->name);
    put_text(text, ":{\"dtype\":");
    put_string(text, type_names[item->x->dtype]);
    put_text(text, ",\"shape\":[");
    for (int d = 0; d < item->x->layout.rank; d++) {
        if (d > 0) put_text(text, ",");
        put_number(text, item->x->layout.shape[d]);
    }
    put_text(text, "],\"data_offsets\":[");
    put_number(text, begin);
    put_text(text, ",");
    put_number(text, begin + item->nbytes);
    put_text(text, "]}");
}

/* Of keys that are there more than once, the last counts. */
static bool comes_again(const char *const *metadata) {
    for (const char *const *later = metadata + 2; *later; later += 2)
        if (strcmp(*later, *metadata) == 0) return true;
    return false;
}

static void put_metadata(struct text *text, const char *const *metadata) {
    const char *comma = "";
    put_text(text, "\"__metadata__\":{");
    for (; *metadata; metadata += 2) {
        if (comes_again(metadata)) continue;
        put_text(text, comma);
        put_string(text, metadata[0]);
        put_text(text, ":");
        put_string(text, metadata[1]);
        comma = ",";
    }
    put_text(text, "}");
}

static enum wick_status write_all(struct wick__output *output, const struct item *items, int64_t n,
                                  const struct text *header) {
    static const char spaces[8] = "        ";
    size_t padding = (8 - header->buffer.nbytes % 8) % 8;
    uint64_t padded = header->buffer.nbytes + padding;
    wick__output_write(output, &padded, sizeof padded);
    wick__output_write(output, header->buffer.data, header->buffer.nbytes);
    wick__output_write(output, spaces, padding);
    for (int64_t i = 0; i < n && output->status == WICK_OK; i++) {
        const void *data;
        size_t nbytes;
        void *owned;
        WICK__TRY(wick__host_bytes(items[i].x, &data, &nbytes, &owned));
        wick__output_write(output, data, nbytes);
        wick__free(owned, nbytes);
    }
    return output->status;
}

static enum wick_status save(const char *path, struct item *items, int64_t n, const char *const *metadata) {
    struct wick__output output;
    struct text header = {.good = true};
    int64_t at = 0;
    put_text(&header, "{");
    if (metadata && *metadata) put_metadata(&header, metadata);
    for (int64_t i = 0; i < n; i++) {
        if (header.buffer.nbytes > 1) put_text(&header, ",");
        put_tensor(&header, &items[i], at);
        at += items[i].nbytes;
    }
    put_text(&header, "}");
    enum wick_status status = header.good ? wick__output_open(&output, "safetensors_save", path) : WICK_MEMORY;
    if (status == WICK_OK) status = wick__output_close(&output, write_all(&output, items, n, &header));
    wick__buffer_free(&header.buffer);
    return status;
}

enum wick_status wick_safetensors_save(const char *path, int64_t n, const char *const *names,
                                       const struct wick_tensor *const *tensors, const char *const *metadata) {
    WICK__TRY(wick__names_check("safetensors_save", n, names, tensors));
    for (const char *const *at = metadata; at && *at; at += 2) {
        if (!at[1]) return wick__fail(WICK_INVALID, "safetensors_save: metadata \"%.80s\" has no value", *at);
        if (!wick__is_utf8(at[0]) || !wick__is_utf8(at[1]))
            return wick__fail(WICK_INVALID, "safetensors_save: metadata %d is not UTF-8", (int)(at - metadata) / 2);
    }
    struct item *items = wick__calloc((size_t)n, sizeof *items);
    if (!items) return WICK_MEMORY;
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < n && status == WICK_OK; i++) {
        size_t nbytes = 0;
        const struct wick_tensor *x = tensors[i];
        items[i] = (struct item){names[i], x, 0};
        if (!type_names[x->dtype])
            status = wick__fail(WICK_DTYPE, "safetensors_save: tensor \"%.80s\": the format has no %s", names[i],
                                wick_dtype_name(x->dtype));
        else if (strcmp(names[i], "__metadata__") == 0)
            status = wick__fail(WICK_INVALID, "safetensors_save: no tensor can have the name __metadata__");
        else if (!wick__nbytes(x->dtype, wick__count(x), &nbytes))
            status = wick__fail(WICK_OVERFLOW, "safetensors_save: the size in bytes does not fit in 64 bits");
        else if (wick__count(x) * wick_dtype_bits(x->dtype) % 8 != 0)
            status = wick__fail(WICK_INVALID,
                                "safetensors_save: tensor \"%.80s\": %" PRId64 " elements of %s are not whole bytes",
                                names[i], wick__count(x), wick_dtype_name(x->dtype));
        items[i].nbytes = (int64_t)nbytes;
    }
    if (status == WICK_OK) {
        if (n > 0) qsort(items, (size_t)n, sizeof *items, compare_items);
        status = save(path, items, n, metadata);
    }
    wick__free(items, (size_t)n * sizeof *items);
    return status;
}
