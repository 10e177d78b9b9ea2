/* Writing npy and npz files. */
#include "format/archive.h"

#include "core/memory.h"
#include "core/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <zlib.h>

/* The header with what pads it to 64 bytes: 8 dims of 20 digits fit with room to spare. */
enum { HEADER_ROOM = 320, ALIGNMENT = 64 };

/* Members are aligned by an extra field of this kind, as Android's zipalign does. */
enum { ALIGNMENT_FIELD = 0xd935, ZIP64_FIELD = 1, FLAG_UTF8 = 1 << 11 };

static const char *const descrs[WICK_DTYPE_COUNT] = {
    [WICK_DTYPE_bool] = "|b1", [WICK_DTYPE_u8] = "|u1",  [WICK_DTYPE_i8] = "|i1",  [WICK_DTYPE_u16] = "<u2",
    [WICK_DTYPE_i16] = "<i2",  [WICK_DTYPE_u32] = "<u4", [WICK_DTYPE_i32] = "<i4", [WICK_DTYPE_u64] = "<u8",
    [WICK_DTYPE_i64] = "<i8",  [WICK_DTYPE_f16] = "<f2", [WICK_DTYPE_f32] = "<f4", [WICK_DTYPE_f64] = "<f8",
};

static enum wick_status check_dtype(const char *op, const char *name, const struct wick_tensor *x) {
    char quoted[WICK__QUOTED];
    if (descrs[x->dtype]) return WICK_OK;
    return wick__fail(WICK_DTYPE, "%s: tensor \"%s\": npy files have no %s", op, wick__quote(quoted, name),
                      wick_dtype_name(x->dtype));
}

/* Makes the header and returns its size, a multiple of 64. */
static size_t make_header(char header[HEADER_ROOM], const struct wick_tensor *x) {
    int n = 10 + snprintf(header + 10, HEADER_ROOM - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                          descrs[x->dtype]);
    for (int d = 0; d < x->layout.rank; d++)
        n += snprintf(header + n, (size_t)(HEADER_ROOM - n),
                      x->layout.rank == 1 ? "%" PRId64 ","
                      : d                 ? ", %" PRId64
                                          : "%" PRId64,
                      x->layout.shape[d]);
    n += snprintf(header + n, (size_t)(HEADER_ROOM - n), "), }");
    size_t size = ((size_t)n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + n, ' ', size - (size_t)n);
    header[size - 1] = '\n';
    uint16_t length = (uint16_t)(size - 10);
    memcpy(header, "\x93NUMPY\1", 8);
    memcpy(header + 8, &length, sizeof length);
    return size;
}

enum wick_status wick_npy_save(const char *path, const struct wick_tensor *x) {
    struct wick__output output;
    char header[HEADER_ROOM];
    const void *data;
    size_t nbytes;
    void *owned;
    if (!x) return wick__fail(WICK_INVALID, "npy_save: x is NULL");
    WICK__TRY(check_dtype("npy_save", "x", x));
    WICK__TRY(wick__host_bytes(x, &data, &nbytes, &owned));
    enum wick_status status = wick__output_open(&output, "npy_save", path);
    if (status == WICK_OK) {
        wick__output_write(&output, header, make_header(header, x));
        wick__output_write(&output, data, nbytes);
        status = wick__output_close(&output, WICK_OK);
    }
    wick__free(owned, nbytes);
    return status;
}

/* ---- npz ---- */

struct record {
    uint64_t offset, nbytes; /* of the local header, and of the header and elements */
    uint32_t crc;
};

/* Bytes put together before they are written. */
struct fields {
    unsigned char bytes[160];
    size_t n;
};
static void add16(struct fields *fields, size_t value) {
    uint16_t v = (uint16_t)value;
    memcpy(fields->bytes + fields->n, &v, sizeof v);
    fields->n += sizeof v;
}
static void add32(struct fields *fields, uint64_t value) {
    uint32_t v = (uint32_t)value;
    memcpy(fields->bytes + fields->n, &v, sizeof v);
    fields->n += sizeof v;
}
static void add64(struct fields *fields, uint64_t value) {
    memcpy(fields->bytes + fields->n, &value, sizeof value);
    fields->n += sizeof value;
}

static uint64_t capped(uint64_t value) { return value < UINT32_MAX ? value : UINT32_MAX; }

/* What local header and central record have in common: version, flags, stored, the first of January 1980. */
static void add_common(struct fields *fields, const struct record *record, bool wide, size_t name) {
    add16(fields, wide ? 45 : 20);
    add16(fields, FLAG_UTF8);
    add16(fields, 0);
    add16(fields, 0);
    add16(fields, 0x21);
    add32(fields, record->crc);
    add32(fields, wide ? UINT32_MAX : record->nbytes);
    add32(fields, wide ? UINT32_MAX : record->nbytes);
    add16(fields, name);
}

static void write_name(struct wick__output *output, const char *name) {
    wick__output_write(output, name, strlen(name));
    wick__output_write(output, ".npy", 4);
}

static void write_local(struct wick__output *output, const char *name, const struct record *record) {
    static const unsigned char zeros[ALIGNMENT];
    struct fields fields = {.n = 0}, extra = {.n = 0};
    bool wide = record->nbytes >= UINT32_MAX;
    size_t name_size = strlen(name) + 4;
    if (wide) {
        add16(&extra, ZIP64_FIELD);
        add16(&extra, 16);
        add64(&extra, record->nbytes);
        add64(&extra, record->nbytes);
    }
    size_t end = (size_t)output->position + 30 + name_size + extra.n + 6;
    size_t padding = (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
    add16(&extra, ALIGNMENT_FIELD);
    add16(&extra, 2 + padding);
    add16(&extra, ALIGNMENT);
    add32(&fields, 0x04034b50);
    add_common(&fields, record, wide, name_size);
    add16(&fields, extra.n + padding);
    wick__output_write(output, fields.bytes, fields.n);
    write_name(output, name);
    wick__output_write(output, extra.bytes, extra.n);
    wick__output_write(output, zeros, padding);
}

static void write_central(struct wick__output *output, const char *name, const struct record *record) {
    struct fields fields = {.n = 0}, extra = {.n = 0};
    bool wide = record->nbytes >= UINT32_MAX, far = record->offset >= UINT32_MAX;
    if (wide || far) {
        add16(&extra, ZIP64_FIELD);
        add16(&extra, (wide ? 16 : 0) + (far ? 8 : 0));
        if (wide) {
            add64(&extra, record->nbytes);
            add64(&extra, record->nbytes);
        }
        if (far) add64(&extra, record->offset);
    }
    add32(&fields, 0x02014b50);
    add16(&fields, 45);
    add_common(&fields, record, wide, strlen(name) + 4);
    add16(&fields, extra.n);
    add16(&fields, 0); /* comment, disk, attributes */
    add16(&fields, 0);
    add16(&fields, 0);
    add32(&fields, 0);
    add32(&fields, capped(record->offset));
    wick__output_write(output, fields.bytes, fields.n);
    write_name(output, name);
    wick__output_write(output, extra.bytes, extra.n);
}

static void write_end(struct wick__output *output, uint64_t n, uint64_t begin) {
    struct fields fields = {.n = 0};
    uint64_t end = (uint64_t)output->position, nbytes = end - begin;
    if (n >= UINT16_MAX || begin >= UINT32_MAX || nbytes >= UINT32_MAX) {
        add32(&fields, 0x06064b50);
        add64(&fields, 44);
        add16(&fields, 45);
        add16(&fields, 45);
        add32(&fields, 0);
        add32(&fields, 0);
        add64(&fields, n);
        add64(&fields, n);
        add64(&fields, nbytes);
        add64(&fields, begin);
        add32(&fields, 0x07064b50);
        add32(&fields, 0);
        add64(&fields, end);
        add32(&fields, 1);
    }
    size_t count = n < UINT16_MAX ? (size_t)n : UINT16_MAX;
    add32(&fields, 0x06054b50);
    add32(&fields, 0);
    add16(&fields, count);
    add16(&fields, count);
    add32(&fields, capped(nbytes));
    add32(&fields, capped(begin));
    add16(&fields, 0);
    wick__output_write(output, fields.bytes, fields.n);
}

static enum wick_status write_member(struct wick__output *output, const char *name, const struct wick_tensor *x,
                                     struct record *record) {
    char header[HEADER_ROOM];
    const void *data;
    size_t nbytes, header_size = make_header(header, x);
    void *owned;
    WICK__TRY(wick__host_bytes(x, &data, &nbytes, &owned));
    *record = (struct record){(uint64_t)output->position, header_size + nbytes, 0};
    record->crc = (uint32_t)crc32_z(0, (const unsigned char *)header, header_size);
    /* zlib takes a NULL address for a wish to start anew. */
    if (nbytes > 0) record->crc = (uint32_t)crc32_z(record->crc, data, nbytes);
    write_local(output, name, record);
    wick__output_write(output, header, header_size);
    wick__output_write(output, data, nbytes);
    wick__free(owned, nbytes);
    return output->status;
}

static enum wick_status write_all(struct wick__output *output, int64_t n, const char *const *names,
                                  const struct wick_tensor *const *tensors) {
    struct record *records = wick__calloc((size_t)n, sizeof *records);
    if (!records) return WICK_MEMORY;
    enum wick_status status = WICK_OK;
    for (int64_t i = 0; i < n && status == WICK_OK; i++)
        status = write_member(output, names[i], tensors[i], &records[i]);
    uint64_t begin = (uint64_t)output->position;
    for (int64_t i = 0; i < n && status == WICK_OK; i++) write_central(output, names[i], &records[i]);
    write_end(output, (uint64_t)n, begin);
    wick__free(records, (size_t)n * sizeof *records);
    return status;
}

enum wick_status wick_npz_save(const char *path, int64_t n, const char *const *names,
                               const struct wick_tensor *const *tensors) {
    struct wick__output output;
    WICK__TRY(wick__names_check("npz_save", n, names, tensors));
    for (int64_t i = 0; i < n; i++) {
        if (strlen(names[i]) > UINT16_MAX - 4)
            return wick__fail(WICK_INVALID, "npz_save: name %" PRId64 " is longer than %d bytes", i, UINT16_MAX - 4);
        WICK__TRY(check_dtype("npz_save", names[i], tensors[i]));
    }
    WICK__TRY(wick__output_open(&output, "npz_save", path));
    return wick__output_close(&output, write_all(&output, n, names, tensors));
}
