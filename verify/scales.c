/* Which ops scales.def lists. */
#include "verify/driver.h"

#include <math.h>
#include <string.h>

/* Whether a word of `ops` is the op's name, or its family's and "/". */
static bool names(const char *ops, enum wick_op op) {
    const char *name = wick_op_name(op), *family = wick_op_family(op);
    for (size_t n; *ops; ops += n + (ops[n] == ' ')) {
        n = strcspn(ops, " ");
        if (n == strlen(name) && memcmp(ops, name, n) == 0) return true;
        if (n == strlen(family) + 1 && ops[n - 1] == '/' && memcmp(ops, family, n - 1) == 0) return true;
    }
    return false;
}

static bool listed(enum wick_op op) {
#define SCALE(name, parameters, formula, ops, where)                                                                   \
    if (names(ops, op)) return true;
#include "verify/scales.def"
#undef SCALE
    return false;
}

bool verify_scale_listed(enum wick_op op, const struct verify_array *out) {
    if (!out->scale || listed(op)) return true;
    for (int64_t i = 0; i < out->count; i++)
        if (out->scale[i] > fabs(out->data[i])) return false;
    return true;
}
