/* What the GGUF reader and the printer of its values share. */
#ifndef WICK_FORMAT_GGUF_H
#define WICK_FORMAT_GGUF_H

#include "format/archive.h"

/* Value types, by their numbers in the file. */
enum {
    WICK__GGUF_U8,
    WICK__GGUF_I8,
    WICK__GGUF_U16,
    WICK__GGUF_I16,
    WICK__GGUF_U32,
    WICK__GGUF_I32,
    WICK__GGUF_F32,
    WICK__GGUF_BOOL,
    WICK__GGUF_STRING,
    WICK__GGUF_ARRAY,
    WICK__GGUF_U64,
    WICK__GGUF_I64,
    WICK__GGUF_F64,
    WICK__GGUF_TYPES
};

/* Bytes of a value; 0 for strings and arrays. */
extern const unsigned char wick__gguf_sizes[WICK__GGUF_TYPES];
/* "u8" ..., and "array of u8" .... */
extern const char *const wick__gguf_names[WICK__GGUF_TYPES], *const wick__gguf_array_names[WICK__GGUF_TYPES];

/* A place in the file, and the bytes that follow it. */
struct wick__cursor {
    const unsigned char *at;
    size_t left;
    bool narrow; /* lengths have 32 bits */
};

/* Reads a number of nbytes <= 8 bytes, or a string, and steps past it; false when it does not lie in the file. */
bool wick__gguf_number(struct wick__cursor *cursor, int nbytes, uint64_t *value);
bool wick__gguf_string(struct wick__cursor *cursor, const char **text, uint64_t *nbytes);

/* ---- types of tensors (gguf_types.c) ---- */

struct wick__gguf_type {
    uint32_t number;
    const char *name;
    enum wick_dtype dtype;
};
/* By number and by dtype; NULL when there is none. Numbers 4, 5, 31 to 33 and 36 to 38 were withdrawn. */
const struct wick__gguf_type *wick__gguf_type(uint64_t number);
const struct wick__gguf_type *wick__gguf_type_of(enum wick_dtype dtype);

#endif
