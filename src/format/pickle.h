/* Pickles as torch.save writes them, read as data: nothing is imported or called. The machine of pickle.c knows the
 * opcodes and builds values; torch.c knows the few globals that torch.save names and what they make of their arguments.
 * Any other global is refused by its name. */
#ifndef WICK_FORMAT_PICKLE_H
#define WICK_FORMAT_PICKLE_H

#include "format/archive.h"

/* A pickle that is larger is refused: the one of a state dict has some 150 bytes a tensor. */
enum { WICK__MAX_PICKLE = 64 << 20 };

enum wick__value_kind {
    WICK__NONE,
    WICK__BOOL,
    WICK__INT,
    WICK__FLOAT,
    WICK__TEXT,
    WICK__BINARY,
    WICK__TUPLE,
    WICK__LIST,
    WICK__DICT,
    WICK__GLOBAL,
    WICK__STORAGE,
    WICK__TENSOR
};

struct wick__storage_value {
    const struct wick__global *type;
    const char *key; /* the name of the member of the zip file */
    int64_t numel;
};

struct wick__tensor_value {
    const struct wick__storage_value *storage;
    const struct wick__global *type; /* what names its dtype */
    int64_t offset;                  /* in elements */
    const struct wick__value *shape, *stride;
};

struct wick__value {
    enum wick__value_kind kind;
    union {
        int64_t integer; /* BOOL, INT */
        double real;
        struct {
            const char *bytes; /* with a NUL after them */
            size_t n;
        } text; /* TEXT, BINARY */
        struct {
            struct wick__value **items;
            size_t n, room;
        } list; /* TUPLE, LIST; DICT: key, value, key, value, ... */
        const struct wick__global *global;
        const struct wick__storage_value *storage;
        const struct wick__tensor_value *tensor;
    };
};

/* A global that may be named. */
struct wick__global {
    const char *module, *name;
    enum {
        WICK__ORDERED_DICT,
        WICK__REBUILD_V2,
        WICK__REBUILD_V3,
        WICK__REBUILD_PARAMETER,
        WICK__SIZE,
        WICK__STORAGE_TYPE,
        WICK__UNTYPED,
        WICK__DTYPE
    } what;
    int dtype, bits; /* of storages and dtypes */
};

/* All values live in the archive's arena. */
enum wick_status wick__pickle_read(struct wick_archive *archive, const unsigned char *data, size_t nbytes,
                                   const struct wick__value **root);

/* A new value of a kind, cleared; NULL without memory. */
struct wick__value *wick__value_new(struct wick_archive *archive, enum wick__value_kind kind);
enum wick_status wick__value_append(struct wick_archive *archive, struct wick__value *list, struct wick__value *item);

/* The global of a name; NULL when it is not allowed. */
const struct wick__global *wick__torch_global(const char *module, const char *name);
/* What a global makes of its arguments. */
enum wick_status wick__torch_call(struct wick_archive *archive, const struct wick__global *global,
                                  const struct wick__value *arguments, struct wick__value **result);
/* The storage that a persistent id names. */
enum wick_status wick__torch_storage(struct wick_archive *archive, const struct wick__value *id,
                                     struct wick__value **result);

#endif
