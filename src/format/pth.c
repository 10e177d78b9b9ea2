/* Files of torch.save since PyTorch 1.6: a zip file of PREFIX/data.pkl, which names and describes the tensors, and
 * PREFIX/data/KEY, one for each storage. Dicts and lists in one another become names with dots; what is not a tensor
 * becomes metadata. */
#include "format/pickle.h"

#include "core/checked.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_NAME = 4096, MAX_DEPTH = 64 };

/* A walk through the values. */
struct walk {
    struct wick_archive *archive;
    size_t prefix; /* bytes of PREFIX in the name of the member data.pkl */
    const char *pickle;
    size_t budget; /* values that may still be visited: one that is shared is met often, one in itself without end */
    size_t name_size;
    char name[MAX_NAME];
};

int64_t wick__pth_find(const struct wick_archive *archive) {
    for (int64_t i = 0; i < archive->n_members; i++) {
        const char *slash = strchr(archive->members[i].name, '/');
        if (slash && strcmp(slash, "/data.pkl") == 0) return i;
    }
    return -1;
}

/* The member "PREFIX/" and more; -1 when there is none. */
static int64_t find_beside(const struct walk *walk, const char *folder, const char *name) {
    char path[MAX_NAME];
    int n = snprintf(path, sizeof path, "%.*s/%s%s", (int)walk->prefix, walk->pickle, folder, name);
    return n > 0 && (size_t)n < sizeof path ? wick__zip_find(walk->archive, path) : -1;
}

/* ---- tensors ---- */

/* Reads shape and strides, and sets *span to the elements from the first to the last. */
static enum wick_status set_layout(const struct walk *walk, struct wick__entry *entry,
                                   const struct wick__tensor_value *tensor, int64_t *span) {
    const struct wick_archive *archive = walk->archive;
    int64_t shape[WICK_MAX_RANK] = {0}, expected = 1, reach;
    size_t rank = tensor->shape->list.n;
    for (size_t d = 0; d < rank && d < WICK_MAX_RANK; d++) {
        shape[d] = tensor->shape->list.items[d]->integer;
        entry->stride[d] = tensor->stride->list.items[d]->integer;
        if (entry->stride[d] < 0)
            return wick__archive_fail(archive, WICK_FORMAT, entry->name, "stride %" PRId64 " of dim %zu is negative",
                                      entry->stride[d], d);
    }
    WICK__TRY(wick__archive_shape(archive, entry, (int64_t)rank, shape, tensor->type->bits));
    *span = entry->nbytes > 0 ? 1 : 0;
    if (entry->nbytes == 0) return WICK_OK;
    for (int d = entry->rank - 1; d >= 0; d--) {
        if (shape[d] > 1 && entry->stride[d] != expected) entry->strided = true;
        expected *= shape[d];
        if (!wick__mul(shape[d] - 1, entry->stride[d], &reach) || !wick__add(*span, reach, span))
            return wick__archive_fail(archive, WICK_OVERFLOW, entry->name,
                                      "its strides reach further than 64 bits can");
        /* Of a single element the stride means nothing. */
        if (shape[d] == 1) entry->stride[d] = 0;
    }
    return WICK_OK;
}

static enum wick_status add_tensor(struct walk *walk, const struct wick__tensor_value *tensor) {
    struct wick_archive *archive = walk->archive;
    const struct wick__storage_value *storage = tensor->storage;
    char quoted[WICK__QUOTED];
    const char *name = wick__arena_text(&archive->arena, walk->name, walk->name_size);
    struct wick__entry *entry = name ? wick__archive_entry(archive, name) : NULL;
    if (!entry) return WICK_MEMORY;
    entry->type = tensor->type->name;
    entry->dtype = tensor->type->dtype;
    entry->member = find_beside(walk, "data/", storage->key);
    if (entry->member < 0)
        return wick__archive_fail(archive, WICK_FORMAT, name, "there is no storage \"%s\" in the file",
                                  wick__quote(quoted, storage->key));
    int64_t span = 0, end = 0, nbytes = 0, size = tensor->type->bits / 8, held = 0;
    WICK__TRY(set_layout(walk, entry, tensor, &span));
    uint64_t room = archive->members[entry->member].nbytes;
    if (!wick__mul(storage->numel, storage->type->bits / 8, &held) || (uint64_t)held > room)
        return wick__archive_fail(archive, WICK_FORMAT, name,
                                  "storage \"%s\" should have %" PRId64 " elements but has %" PRIu64 " bytes",
                                  wick__quote(quoted, storage->key), storage->numel, room);
    if (span == 0) return WICK_OK;
    if (tensor->offset < 0 || !wick__add(tensor->offset, span, &end) || !wick__mul(end, size, &nbytes) || nbytes > held)
        return wick__archive_fail(archive, WICK_FORMAT, name,
                                  "%" PRId64 " elements from %" PRId64 " do not lie in the %" PRId64
                                  " bytes of storage \"%s\"",
                                  span, tensor->offset, held, wick__quote(quoted, storage->key));
    entry->offset = (uint64_t)(tensor->offset * size);
    return WICK_OK;
}

/* ---- names ---- */

/* Adds ".part" to the name, without the dot at its beginning. */
static enum wick_status enter(struct walk *walk, const char *part, size_t n) {
    char quoted[WICK__QUOTED];
    bool dot = walk->name_size > 0;
    if (memchr(part, 0, n))
        return wick__archive_fail(walk->archive, WICK_FORMAT, NULL, "data.pkl: key \"%s\" holds a zero byte",
                                  wick__quote(quoted, part));
    if (n + dot >= MAX_NAME - walk->name_size)
        return wick__archive_fail(walk->archive, WICK_FORMAT, NULL,
                                  "data.pkl: keys in one another make a name above %d bytes", MAX_NAME);
    if (dot) walk->name[walk->name_size++] = '.';
    memcpy(walk->name + walk->name_size, part, n);
    walk->name_size += n;
    walk->name[walk->name_size] = 0;
    return WICK_OK;
}

static enum wick_status add_scalar(struct walk *walk, const struct wick__value *value) {
    char text[80];
    const char *name = walk->name_size ? walk->name : "value";
    switch (value->kind) {
    case WICK__TEXT: return wick__archive_meta_text(walk->archive, name, value->text.bytes, value->text.n);
    case WICK__NONE: snprintf(text, sizeof text, "None"); break;
    case WICK__BOOL: snprintf(text, sizeof text, value->integer ? "True" : "False"); break;
    case WICK__INT: snprintf(text, sizeof text, "%" PRId64, value->integer); break;
    case WICK__FLOAT: snprintf(text, sizeof text, "%.17g", value->real); break;
    case WICK__BINARY: snprintf(text, sizeof text, "(%zu bytes)", value->text.n); break;
    case WICK__GLOBAL: snprintf(text, sizeof text, "%s.%s", value->global->module, value->global->name); break;
    default:
        return wick__archive_fail(walk->archive, WICK_UNSUPPORTED, NULL, "data.pkl holds a storage without a tensor");
    }
    return wick__archive_meta_text(walk->archive, name, text, strlen(text));
}

static enum wick_status visit(struct walk *walk, const struct wick__value *value, int depth);

static enum wick_status visit_item(struct walk *walk, const struct wick__value *list, size_t i, int depth) {
    char number[24];
    size_t outer = walk->name_size;
    const struct wick__value *key = NULL, *value = list->list.items[i];
    if (list->kind == WICK__DICT) {
        key = value;
        value = list->list.items[i + 1];
    }
    if (key && key->kind == WICK__TEXT) {
        WICK__TRY(enter(walk, key->text.bytes, key->text.n));
    } else if (!key || key->kind == WICK__INT) {
        int n = snprintf(number, sizeof number, "%" PRId64, key ? key->integer : (int64_t)i);
        WICK__TRY(enter(walk, number, (size_t)n));
    } else {
        return wick__archive_fail(walk->archive, WICK_UNSUPPORTED, NULL,
                                  "data.pkl: the dict \"%.80s\" has a key that is neither text nor an integer",
                                  walk->name);
    }
    WICK__TRY(visit(walk, value, depth + 1));
    walk->name_size = outer;
    walk->name[outer] = 0;
    return WICK_OK;
}

static enum wick_status visit(struct walk *walk, const struct wick__value *value, int depth) {
    if (depth > MAX_DEPTH)
        return wick__archive_fail(walk->archive, WICK_FORMAT, NULL, "data.pkl: dicts are nested more than %d deep",
                                  MAX_DEPTH);
    if (walk->budget-- == 0)
        return wick__archive_fail(walk->archive, WICK_FORMAT, NULL,
                                  "data.pkl holds the same values in one another too often");
    if (value->kind == WICK__TENSOR) {
        if (walk->name_size == 0) WICK__TRY(enter(walk, "tensor", 6));
        return add_tensor(walk, value->tensor);
    }
    if (value->kind != WICK__TUPLE && value->kind != WICK__LIST && value->kind != WICK__DICT)
        return add_scalar(walk, value);
    for (size_t i = 0; i < value->list.n; i += value->kind == WICK__DICT ? 2 : 1)
        WICK__TRY(visit_item(walk, value, i, depth));
    return WICK_OK;
}

/* ---- opening ---- */

static enum wick_status check_byteorder(const struct walk *walk) {
    int64_t member = find_beside(walk, "", "byteorder");
    const unsigned char *data = NULL;
    void *owned = NULL;
    if (member < 0) return WICK_OK;
    size_t nbytes = (size_t)walk->archive->members[member].nbytes;
    if (nbytes == 6) {
        WICK__TRY(wick__zip_read(walk->archive, member, nbytes, &data, &owned));
        bool little = memcmp(data, "little", 6) == 0;
        wick__free(owned, nbytes);
        if (little) return WICK_OK;
    }
    return wick__archive_fail(walk->archive, WICK_UNSUPPORTED, NULL, "its tensors are not little-endian");
}

static enum wick_status read_pickle(struct walk *walk, int64_t member) {
    struct wick_archive *archive = walk->archive;
    const struct wick__value *root = NULL;
    const unsigned char *data = NULL;
    void *owned = NULL;
    if (archive->members[member].nbytes > WICK__MAX_PICKLE)
        return wick__archive_fail(archive, WICK_FORMAT, NULL, "data.pkl has %" PRIu64 " bytes, above %d",
                                  archive->members[member].nbytes, WICK__MAX_PICKLE);
    size_t nbytes = (size_t)archive->members[member].nbytes;
    WICK__TRY(wick__archive_charge(archive, nbytes));
    WICK__TRY(wick__zip_read(archive, member, nbytes, &data, &owned));
    /* A stored one lies in the file, which can change: what is checked is read once, from a copy. */
    if (!owned) data = (const unsigned char *)wick__arena_text(&archive->arena, data, nbytes);
    enum wick_status status = data ? wick__pickle_read(archive, data, nbytes, &root) : WICK_MEMORY;
    wick__free(owned, nbytes);
    WICK__TRY(status);
    walk->budget = nbytes + 16;
    return visit(walk, root, 0);
}

enum wick_status wick__pth_open(struct wick_archive *archive) {
    int64_t member = wick__pth_find(archive);
    archive->format = WICK_FORMAT_PTH;
    struct walk *walk = wick__calloc(1, sizeof *walk);
    if (!walk) return WICK_MEMORY;
    walk->archive = archive;
    walk->pickle = archive->members[member].name;
    walk->prefix = strlen(walk->pickle) - strlen("/data.pkl");
    enum wick_status status = check_byteorder(walk);
    if (status == WICK_OK && find_beside(walk, "", "constants.pkl") >= 0)
        status = wick__archive_fail(archive, WICK_UNSUPPORTED, NULL,
                                    "it is a TorchScript program: save its state_dict instead");
    if (status == WICK_OK) status = read_pickle(walk, member);
    wick__free(walk, sizeof *walk);
    return status;
}
