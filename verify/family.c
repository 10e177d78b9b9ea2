/* The list of families, and helpers of their references. */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#define VERIFY_FAMILY(name) extern const struct verify_family verify_##name;
#include "verify/families.def"
#undef VERIFY_FAMILY

static const struct verify_family *const families[] = {
#define VERIFY_FAMILY(name) &verify_##name,
#include "verify/families.def"
#undef VERIFY_FAMILY
    NULL,
};

const struct verify_family *verify_family(enum wick_op op) {
    for (int i = 0; families[i]; i++)
        if (strcmp(families[i]->name, wick_op_family(op)) == 0) return families[i];
    return NULL;
}

void verify_operand_resize(struct verify_operand *operand, int rank, const int64_t *shape) {
    operand->rank = rank;
    memcpy(operand->shape, shape, sizeof *shape * (size_t)rank);
}

bool verify_make_large(void (*make)(enum wick_op op, int k, struct verify_case *c), int k, struct verify_case *c) {
    make(c->op, k, c);
    for (int i = 0; i < VERIFY_MAX_INPUTS; i++)
        verify_operand_resize(&c->in[i], 2, (const int64_t[]){VERIFY_ROWS, VERIFY_COLUMNS});
    return true;
}

bool verify_array_new(struct verify_array *out, enum wick_dtype dtype, int rank, const int64_t *shape, bool scaled) {
    *out = (struct verify_array){.dtype = dtype, .rank = rank, .count = 1};
    for (int d = 0; d < rank; d++) {
        out->shape[d] = shape[d];
        out->count *= shape[d];
    }
    size_t nbytes = sizeof(double) * (size_t)(out->count > 0 ? out->count : 1);
    out->data = malloc(nbytes);
    out->scale = scaled ? malloc(nbytes) : NULL;
    if (out->data && (out->scale || !scaled)) return true;
    free(out->data);
    free(out->scale);
    out->data = out->scale = NULL;
    return false;
}
