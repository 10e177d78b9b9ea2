/* Names and sizes of dtypes. */
#include <wick/dtype.h>

#include <string.h>

enum kind { U, I, F, B };

static const struct {
    const char *name;
    int bits;
    enum kind kind;
} dtypes[WICK_DTYPE_COUNT] = {
#define ROW(name, bits, kind) [WICK_DTYPE_##name] = {#name, bits, kind},
    WICK_DTYPE_MAP(ROW)
#undef ROW
};

static bool valid(enum wick_dtype dtype) { return (unsigned)dtype < WICK_DTYPE_COUNT; }

const char *wick_dtype_name(enum wick_dtype dtype) { return valid(dtype) ? dtypes[dtype].name : "?"; }

int wick_dtype_bits(enum wick_dtype dtype) { return valid(dtype) ? dtypes[dtype].bits : 0; }

bool wick_dtype_is_float(enum wick_dtype dtype) { return valid(dtype) && dtypes[dtype].kind == F; }

bool wick_dtype_from_name(const char *name, enum wick_dtype *dtype) {
    for (int i = 0; name && i < WICK_DTYPE_COUNT; i++)
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = (enum wick_dtype)i;
            return true;
        }
    return false;
}
