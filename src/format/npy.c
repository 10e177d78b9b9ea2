/* Reading npy files, versions 1 to 3, and npz files, which are zip files of them.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 * The header is a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and is read as
 * just that: these three keys, each once, in any order. */
#include "format/archive.h"

#include "core/checked.h"
#include "core/memory.h"

#include <inttypes.h>

/* Shapes of 8 dims need some hundred bytes; what is longer holds a structured dtype. */
enum { MAX_HEADER = 65536, PREFIX = 12 };

static const struct {
    char name[4];
    int dtype, bits;
} types[] = {
    {"b1", WICK_DTYPE_bool, 8}, {"i1", WICK_DTYPE_i8, 8},   {"u1", WICK_DTYPE_u8, 8},   {"i2", WICK_DTYPE_i16, 16},
    {"u2", WICK_DTYPE_u16, 16}, {"f2", WICK_DTYPE_f16, 16}, {"i4", WICK_DTYPE_i32, 32}, {"u4", WICK_DTYPE_u32, 32},
    {"f4", WICK_DTYPE_f32, 32}, {"i8", WICK_DTYPE_i64, 64}, {"u8", WICK_DTYPE_u64, 64}, {"f8", WICK_DTYPE_f64, 64},
};
enum { TYPES = sizeof types / sizeof *types };

/* The part of the header that has not been read. */
struct literal {
    const char *at, *end;
};

static void skip_blanks(struct literal *from) {
    while (from->at < from->end && (*from->at == ' ' || *from->at == '\t' || *from->at == '\n' || *from->at == '\r'))
        from->at++;
}

static bool take(struct literal *from, char c) {
    skip_blanks(from);
    if (from->at == from->end || *from->at != c) return false;
    from->at++;
    return true;
}

static bool take_word(struct literal *from, const char *word) {
    size_t n = strlen(word);
    skip_blanks(from);
    if ((size_t)(from->end - from->at) < n || memcmp(from->at, word, n) != 0) return false;
    from->at += n;
    return true;
}

/* A string in single or double quotes, without escapes; cut to `size`. */
static bool take_string(struct literal *from, char *text, size_t size) {
    size_t n = 0;
    skip_blanks(from);
    if (from->at == from->end || (*from->at != '\'' && *from->at != '"')) return false;
    char quote = *from->at++;
    for (; from->at < from->end && *from->at != quote; from->at++) {
        if (*from->at == '\\' || (unsigned char)*from->at < 0x20) return false;
        if (n + 1 < size) text[n++] = *from->at;
    }
    text[n] = 0;
    return take(from, quote);
}

/* "(2, 3)", "(2,)", "()"; Python 2 wrote "2L". False when it is none; *rank counts on past WICK_MAX_RANK. */
static bool take_shape(struct literal *from, int64_t *shape, int64_t *rank) {
    *rank = 0;
    if (!take(from, '(')) return false;
    while (!take(from, ')')) {
        int64_t size = 0, digits = 0;
        skip_blanks(from);
        for (; from->at < from->end && *from->at >= '0' && *from->at <= '9'; from->at++, digits++)
            if (!wick__mul(size, 10, &size) || !wick__add(size, *from->at - '0', &size)) return false;
        if (digits == 0) return false;
        if (from->at < from->end && *from->at == 'L') from->at++;
        if (*rank < WICK_MAX_RANK) shape[*rank] = size;
        ++*rank;
        if (!take(from, ',')) {
            if (!take(from, ')')) return false;
            break;
        }
    }
    return true;
}

static enum wick_status set_type(const struct wick_archive *archive, struct wick__entry *entry, const char *descr,
                                 int *bits) {
    char quoted[WICK__QUOTED];
    bool order = descr[0] == '<' || descr[0] == '|' || descr[0] == '=';
    if (descr[0] == '>')
        return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "dtype '%s' is big-endian",
                                  wick__quote(quoted, descr));
    for (int i = 0; i < TYPES && order; i++)
        if (strcmp(descr + 1, types[i].name) == 0) {
            entry->type = types[i].name;
            entry->dtype = types[i].dtype;
            *bits = types[i].bits;
            return WICK_OK;
        }
    return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "there is no dtype for NumPy's '%s'",
                              wick__quote(quoted, descr));
}

/* Fortran order: the first dim is the innermost. */
static void set_fortran(struct wick__entry *entry) {
    int64_t stride = 1;
    if (entry->rank < 2) return;
    entry->strided = true;
    for (int d = 0; d < entry->rank; d++) {
        entry->stride[d] = stride;
        if (entry->shape[d] > 1) stride *= entry->shape[d];
    }
}

static enum wick_status read_literal(const struct wick_archive *archive, struct wick__entry *entry,
                                     struct literal *from) {
    char key[16], descr[64] = "";
    int64_t shape[WICK_MAX_RANK] = {0}, rank = -1;
    int fortran = -1, bits = 0;
    bool good = take(from, '{');
    while (good && !take(from, '}')) {
        good = take_string(from, key, sizeof key) && take(from, ':');
        if (good && strcmp(key, "descr") == 0 && !*descr) {
            skip_blanks(from);
            if (from->at < from->end && (*from->at == '[' || *from->at == '('))
                return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "it has a structured dtype");
            good = take_string(from, descr, sizeof descr) && *descr;
        } else if (good && strcmp(key, "fortran_order") == 0 && fortran < 0) {
            fortran = take_word(from, "True") ? 1 : take_word(from, "False") ? 0 : -1;
            good = fortran >= 0;
        } else {
            good = good && strcmp(key, "shape") == 0 && rank < 0 && take_shape(from, shape, &rank);
        }
        if (good && !take(from, ',')) {
            good = take(from, '}');
            break;
        }
    }
    skip_blanks(from);
    if (!good || from->at != from->end || !*descr || fortran < 0 || rank < 0)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                  "its header is no {'descr': ..., 'fortran_order': ..., 'shape': ...}");
    WICK__TRY(set_type(archive, entry, descr, &bits));
    WICK__TRY(wick__archive_shape(archive, entry, rank, shape, bits));
    if (fortran) set_fortran(entry);
    return WICK_OK;
}

size_t wick__npy_header_size(const unsigned char *data, size_t nbytes) {
    if (nbytes < PREFIX || memcmp(data, "\x93NUMPY", 6) != 0) return 0;
    return data[6] == 1 ? 10 + (size_t)wick__get16(data + 8) : 12 + (size_t)wick__get32(data + 8);
}

static enum wick_status read_header(const struct wick_archive *archive, struct wick__entry *entry,
                                    const unsigned char *data, size_t nbytes, size_t *header) {
    *header = wick__npy_header_size(data, nbytes);
    if (*header == 0)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "it does not begin as npy data does");
    if (data[6] < 1 || data[6] > 3)
        return wick__archive_fail(archive, WICK_UNSUPPORTED, entry->name, "npy version %d.%d is none of 1, 2, 3",
                                  data[6], data[7]);
    if (*header > MAX_HEADER)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "an npy header of %zu bytes is above %d", *header,
                                  MAX_HEADER);
    if (*header > nbytes)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "an npy header of %zu bytes does not lie in %zu",
                                  *header, nbytes);
    struct literal from = {(const char *)data + (data[6] == 1 ? 10 : 12), (const char *)data + *header};
    return read_literal(archive, entry, &from);
}

/* Reads a copy, which can't change between a check and its use, as a mapped file can. */
enum wick_status wick__npy_header(const struct wick_archive *archive, struct wick__entry *entry,
                                  const unsigned char *data, size_t nbytes, size_t *header) {
    size_t size = nbytes <= MAX_HEADER ? nbytes : MAX_HEADER + 1;
    unsigned char *copy = wick__alloc(size + 1);
    if (!copy) return WICK_MEMORY;
    memcpy(copy, data, size);
    enum wick_status status = read_header(archive, entry, copy, size, header);
    wick__free(copy, size + 1);
    return status;
}

/* What follows the header must be the elements. */
static enum wick_status check_size(const struct wick_archive *archive, const struct wick__entry *entry, uint64_t room) {
    if ((uint64_t)entry->nbytes > room)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name,
                                  "its shape and dtype need %" PRId64 " bytes, there are %" PRIu64, entry->nbytes,
                                  room);
    if ((uint64_t)entry->nbytes < room && !archive->options.lenient)
        return wick__archive_fail(archive, WICK_FORMAT, entry->name, "%" PRIu64 " bytes follow its last element",
                                  room - (uint64_t)entry->nbytes);
    return WICK_OK;
}

enum wick_status wick__npy_open(struct wick_archive *archive) {
    size_t header = 0;
    archive->format = WICK_FORMAT_NPY;
    struct wick__entry *entry = wick__archive_entry(archive, "arr_0");
    if (!entry) return WICK_MEMORY;
    WICK__TRY(wick__npy_header(archive, entry, archive->file->data, archive->file->nbytes, &header));
    entry->offset = header;
    return check_size(archive, entry, archive->file->nbytes - header);
}

/* Reads the header of one member, unpacking no more of it than that. */
static enum wick_status read_member(struct wick_archive *archive, struct wick__entry *entry) {
    const struct wick__member *member = &archive->members[entry->member];
    const unsigned char *data = NULL;
    void *owned = NULL;
    size_t prefix = member->nbytes < PREFIX ? (size_t)member->nbytes : PREFIX, header = 0;
    WICK__TRY(wick__zip_read(archive, entry->member, prefix, &data, &owned));
    size_t wanted = wick__npy_header_size(data, prefix);
    wick__free(owned, prefix);
    if (wanted < prefix) wanted = prefix;
    if (wanted > MAX_HEADER) wanted = MAX_HEADER + 1;
    if (wanted > member->nbytes) wanted = (size_t)member->nbytes;
    WICK__TRY(wick__zip_read(archive, entry->member, wanted, &data, &owned));
    enum wick_status status = wick__npy_header(archive, entry, data, wanted, &header);
    wick__free(owned, wanted);
    WICK__TRY(status);
    entry->offset = header;
    return check_size(archive, entry, member->nbytes - header);
}

enum wick_status wick__npz_open(struct wick_archive *archive) {
    archive->format = WICK_FORMAT_NPZ;
    for (int64_t i = 0; i < archive->n_members; i++) {
        const char *name = archive->members[i].name;
        size_t n = strlen(name);
        if (n < 4 || strcmp(name + n - 4, ".npy") != 0) {
            char quoted[WICK__QUOTED];
            return wick__archive_fail(
                archive, WICK_FORMAT, NULL,
                "zip member \"%s\" is not a .npy, and there is no data.pkl: it is neither npz nor pth",
                wick__quote(quoted, name));
        }
        const char *kept = wick__arena_text(&archive->arena, name, n - 4);
        struct wick__entry *entry = kept ? wick__archive_entry(archive, kept) : NULL;
        if (!entry) return WICK_MEMORY;
        entry->member = i;
        WICK__TRY(read_member(archive, entry));
    }
    return WICK_OK;
}
