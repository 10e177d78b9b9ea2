/* Writing GGUF, version 3. gguf.c says how a file is laid out. */
#include "format/gguf.h"

#include "core/memory.h"
#include "core/tensor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ALIGNMENT = 32, MAX_DIMS = 4 };

static const char alignment_key[] = "general.alignment";

static void write_number(struct wick__output *output, uint64_t value, size_t nbytes) {
    wick__output_write(output, &value, nbytes); /* little-endian */
}

static void write_string(struct wick__output *output, const char *text) {
    write_number(output, strlen(text), 8);
    wick__output_write(output, text, strlen(text));
}

static void pad(struct wick__output *output) {
    static const char zeros[ALIGNMENT];
    wick__output_write(output, zeros, (size_t)(-output->position & (ALIGNMENT - 1)));
}

/* ---- keys ---- */

/* One key of the caller's: KEY, TYPE, VALUE, and the bytes of a value that is not a string. */
struct value {
    int type;
    uint64_t bits;
};

static bool parse_integer(const char *text, int type, uint64_t *bits) {
    bool is_signed =
        type == WICK__GGUF_I8 || type == WICK__GGUF_I16 || type == WICK__GGUF_I32 || type == WICK__GGUF_I64;
    int width = 8 * wick__gguf_sizes[type];
    char *end;
    errno = 0;
    if (is_signed) {
        int64_t value = strtoll(text, &end, 10), most = INT64_MAX >> (64 - width);
        *bits = (uint64_t)value;
        return end != text && !*end && errno == 0 && value <= most && value >= -most - 1;
    }
    *bits = strtoull(text, &end, 10);
    return end != text && !*end && errno == 0 && *text != '-' && *bits <= UINT64_MAX >> (64 - width);
}

static bool parse_float(const char *text, int type, uint64_t *bits) {
    char *end;
    double value = strtod(text, &end);
    float narrow = (float)value;
    *bits = 0;
    memcpy(bits, type == WICK__GGUF_F64 ? (void *)&value : (void *)&narrow, wick__gguf_sizes[type]);
    return end != text && !*end;
}

static bool parse(const char *type, const char *text, struct value *value) {
    for (value->type = 0; value->type < WICK__GGUF_TYPES; value->type++)
        if (strcmp(type, wick__gguf_names[value->type]) == 0) break;
    switch (value->type) {
    case WICK__GGUF_STRING: return true;
    case WICK__GGUF_ARRAY:
    case WICK__GGUF_TYPES: return false;
    case WICK__GGUF_BOOL: value->bits = strcmp(text, "true") == 0; return value->bits || strcmp(text, "false") == 0;
    case WICK__GGUF_F32:
    case WICK__GGUF_F64: return parse_float(text, value->type, &value->bits);
    default: return parse_integer(text, value->type, &value->bits);
    }
}

static bool has_key(const char *const *metadata, const char *key) {
    for (; metadata && *metadata; metadata += 3)
        if (strcmp(metadata[0], key) == 0) return true;
    return false;
}

/* Whether a key of `like` goes into the file. */
static bool is_copied(const struct wick__meta *meta, const char *const *metadata) {
    return strcmp(meta->key, alignment_key) != 0 && !has_key(metadata, meta->key);
}

static enum wick_status check_metadata(const struct wick_archive *like, const char *const *metadata, uint64_t *n) {
    char quoted[WICK__QUOTED];
    struct value value;
    *n = 0;
    if (like && (like->format != WICK_FORMAT_GGUF || like->gguf_narrow))
        return wick__fail(WICK_INVALID, "gguf_save: keys are copied from GGUF files of versions 2 and 3 only");
    for (int64_t i = 0; like && i < like->n_metas; i++) *n += is_copied(&like->metas[i], metadata);
    for (; metadata && *metadata; metadata += 3, ++*n) {
        if (!metadata[1] || !metadata[2] || !parse(metadata[1], metadata[2], &value))
            return wick__fail(WICK_INVALID, "gguf_save: metadata \"%s\" has no value of a type of GGUF",
                              wick__quote(quoted, *metadata));
        if (strcmp(metadata[0], alignment_key) == 0 || has_key(metadata + 3, metadata[0]))
            return wick__fail(WICK_INVALID, "gguf_save: metadata \"%s\" is there twice, or not the caller's to set",
                              wick__quote(quoted, *metadata));
    }
    return WICK_OK;
}

static void write_keys(struct wick__output *output, const struct wick_archive *like, const char *const *metadata) {
    for (int64_t i = 0; like && i < like->n_metas; i++) {
        const struct wick__meta *meta = &like->metas[i];
        if (!is_copied(meta, metadata)) continue;
        write_string(output, meta->key);
        write_number(output, (uint64_t)meta->gguf_type, 4);
        wick__output_write(output, meta->value, meta->nbytes);
    }
    for (; metadata && *metadata; metadata += 3) {
        struct value value;
        if (!parse(metadata[1], metadata[2], &value)) continue; /* checked before */
        write_string(output, metadata[0]);
        write_number(output, (uint64_t)value.type, 4);
        if (value.type == WICK__GGUF_STRING)
            write_string(output, metadata[2]);
        else
            write_number(output, value.bits, wick__gguf_sizes[value.type]);
    }
}

/* ---- tensors ---- */

static enum wick_status check_tensors(int64_t n, const char *const *names, const struct wick_tensor *const *tensors) {
    char quoted[WICK__QUOTED];
    for (int64_t i = 0; i < n; i++) {
        const struct wick_tensor *x = tensors[i];
        size_t nbytes;
        if (!wick__gguf_type_of(x->dtype))
            return wick__fail(WICK_DTYPE, "gguf_save: tensor \"%s\": the format has no %s",
                              wick__quote(quoted, names[i]), wick_dtype_name(x->dtype));
        if (x->layout.rank > MAX_DIMS)
            return wick__fail(WICK_SHAPE, "gguf_save: tensor \"%s\": %d dims are more than the format's %d",
                              wick__quote(quoted, names[i]), x->layout.rank, MAX_DIMS);
        if (!wick__nbytes(x->dtype, wick__count(x), &nbytes))
            return wick__fail(WICK_OVERFLOW, "gguf_save: the size in bytes does not fit in 64 bits");
    }
    return WICK_OK;
}

/* Name, dims with the innermost first, type and place of each. */
static void write_list(struct wick__output *output, int64_t n, const char *const *names,
                       const struct wick_tensor *const *tensors) {
    uint64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct wick_tensor *x = tensors[i];
        size_t nbytes = 0;
        wick__nbytes(x->dtype, wick__count(x), &nbytes);
        write_string(output, names[i]);
        write_number(output, (uint64_t)x->layout.rank, 4);
        for (int d = x->layout.rank - 1; d >= 0; d--) write_number(output, (uint64_t)x->layout.shape[d], 8);
        write_number(output, wick__gguf_type_of(x->dtype)->number, 4);
        write_number(output, at, 8);
        at += (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

static enum wick_status write_data(struct wick__output *output, int64_t n, const struct wick_tensor *const *tensors) {
    pad(output);
    for (int64_t i = 0; i < n && output->status == WICK_OK; i++) {
        const void *data;
        size_t nbytes;
        void *owned;
        WICK__TRY(wick__host_bytes(tensors[i], &data, &nbytes, &owned));
        wick__output_write(output, data, nbytes);
        wick__free(owned, nbytes);
        pad(output);
    }
    return output->status;
}

enum wick_status wick_gguf_save(const char *path, int64_t n, const char *const *names,
                                const struct wick_tensor *const *tensors, const struct wick_archive *like,
                                const char *const *metadata) {
    struct wick__output output;
    uint64_t n_keys;
    WICK__TRY(wick__names_check("gguf_save", n, names, tensors));
    WICK__TRY(check_tensors(n, names, tensors));
    WICK__TRY(check_metadata(like, metadata, &n_keys));
    WICK__TRY(wick__output_open(&output, "gguf_save", path));
    wick__output_write(&output, "GGUF", 4);
    write_number(&output, 3, 4);
    write_number(&output, (uint64_t)n, 8);
    write_number(&output, n_keys, 8);
    write_keys(&output, like, metadata);
    write_list(&output, n, names, tensors);
    return wick__output_close(&output, write_data(&output, n, tensors));
}
