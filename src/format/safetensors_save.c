/* Writing safetensors. */
#include "format/archive.h"

#include "core/memory.h"
#include "core/tensor.h"

#include <inttypes.h>
#include <jansson.h>
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

/* Adds "NAME": {"dtype": ..., "shape": [...], "data_offsets": [...]}. */
static bool add_tensor(json_t *header, const struct item *item, int64_t begin) {
    json_t *shape = json_array();
    for (int d = 0; shape && d < item->x->layout.rank; d++)
        json_array_append_new(shape, json_integer(item->x->layout.shape[d]));
    json_t *object = json_pack("{s:s, s:o, s:[I, I]}", "dtype", type_names[item->x->dtype], "shape", shape,
                               "data_offsets", (json_int_t)begin, (json_int_t)(begin + item->nbytes));
    return object && json_object_set_new(header, item->name, object) == 0;
}

static bool add_metadata(json_t *header, const char *const *metadata) {
    json_t *object = metadata && *metadata ? json_object() : NULL;
    for (; object && metadata[0] && metadata[1]; metadata += 2)
        if (json_object_set_new(object, metadata[0], json_string(metadata[1])) != 0) {
            json_decref(object);
            return false;
        }
    return !object || json_object_set_new(header, "__metadata__", object) == 0;
}

static enum wick_status write_all(struct wick__output *output, const struct item *items, int64_t n,
                                  const char *header) {
    static const char spaces[8] = "        ";
    size_t length = strlen(header), padding = (8 - length % 8) % 8;
    uint64_t padded = length + padding;
    wick__output_write(output, &padded, sizeof padded);
    wick__output_write(output, header, length);
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
    int64_t at = 0;
    json_t *header = json_object();
    bool good = header && add_metadata(header, metadata);
    for (int64_t i = 0; i < n && good; i++) {
        good = add_tensor(header, &items[i], at);
        at += items[i].nbytes;
    }
    char *text = good ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (!text)
        return wick__fail(WICK_INVALID, "safetensors_save: the header could not be made: out of memory, or metadata "
                                        "that is no UTF-8");
    enum wick_status status = wick__output_open(&output, "safetensors_save", path);
    if (status == WICK_OK) status = wick__output_close(&output, write_all(&output, items, n, text));
    free(text);
    return status;
}

enum wick_status wick_safetensors_save(const char *path, int64_t n, const char *const *names,
                                       const struct wick_tensor *const *tensors, const char *const *metadata) {
    WICK__TRY(wick__names_check("safetensors_save", n, names, tensors));
    for (const char *const *at = metadata; at && *at; at += 2)
        if (!at[1]) return wick__fail(WICK_INVALID, "safetensors_save: metadata \"%.80s\" has no value", *at);
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
                                "safetensors_save: tensor \"%.80s\": %" PRId64 " elements of %s are no whole bytes",
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
