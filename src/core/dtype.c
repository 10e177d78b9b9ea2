/* The traits of dtypes, and what follows from them. */
#include "core/dtype.h"

#include "core/checked.h"

#include <stdio.h>
#include <string.h>

const struct wick__traits wick__traits[WICK_DTYPE_COUNT] = {
#define ROW(name_, kind_, elements_, nbytes_)                                                                          \
    [WICK_DTYPE_##                                                                                                     \
        name_] = {.name = #name_, .kind = WICK_DTYPE_KIND_##kind_, .elements = (elements_), .nbytes = (nbytes_)},
    WICK_DTYPE_MAP(ROW)
#undef ROW
};

static const struct wick__traits none = {.name = "?", .kind = WICK_DTYPE_KIND_NONE};

static const struct wick__traits *traits(enum wick_dtype dtype) {
    return (unsigned)dtype < WICK_DTYPE_COUNT ? &wick__traits[dtype] : &none;
}

const char *wick_dtype_name(enum wick_dtype dtype) { return traits(dtype)->name; }

enum wick_dtype_kind wick_dtype_kind(enum wick_dtype dtype) { return traits(dtype)->kind; }

bool wick_dtype_is_float(enum wick_dtype dtype) { return traits(dtype)->kind == WICK_DTYPE_KIND_FLOAT; }

int wick_dtype_block(enum wick_dtype dtype) { return traits(dtype)->elements; }

int wick_dtype_block_bytes(enum wick_dtype dtype) { return traits(dtype)->nbytes; }

int wick_dtype_bits(enum wick_dtype dtype) {
    const struct wick__traits *of = traits(dtype);
    return of->kind >= WICK_DTYPE_KIND_QUANTISED ? 0 : 8 * of->nbytes / of->elements;
}

bool wick_dtype_from_name(const char *name, enum wick_dtype *dtype) {
    for (int i = 0; name && dtype && i < WICK_DTYPE_COUNT; i++)
        if (strcmp(name, wick__traits[i].name) == 0) {
            *dtype = (enum wick_dtype)i;
            return true;
        }
    return false;
}

bool wick__nbytes(enum wick_dtype dtype, int64_t n, size_t *nbytes) {
    const struct wick__traits *of = &wick__traits[dtype];
    int64_t whole, rest = n % of->elements;
    if (!wick__mul(n / of->elements, of->nbytes, &whole)) return false;
    if (!wick__add(whole, (rest * of->nbytes + of->elements - 1) / of->elements, &whole)) return false;
    *nbytes = (size_t)whole;
    return true;
}

char *wick__dtypes_text(char text[WICK__DTYPES_TEXT], wick__dtypes set) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < WICK_DTYPE_COUNT && at < WICK__DTYPES_TEXT; i++) {
        if (!wick__has(set, (enum wick_dtype)i)) continue;
        bool last = set >> i == 1;
        at += (size_t)snprintf(text + at, WICK__DTYPES_TEXT - at, "%s%s",
                               at == 0 ? ""
                               : last  ? " or "
                                       : ", ",
                               wick__traits[i].name);
    }
    return text;
}
