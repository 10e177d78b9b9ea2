/* Cases and the operands of their calls. */
#include "verify/driver.h"

#include <stdlib.h>

/* The dtypes an index operand comes in. */
static const enum wick_dtype id_dtypes[] = {WICK_U8, WICK_U32, WICK_I16, WICK_I32, WICK_I64};
enum { ID_DTYPES = sizeof id_dtypes / sizeof *id_dtypes };

void verify_case_make(const struct verify_family *family, enum wick_op op, enum wick_dtype dtype, int k,
                      struct verify_case *c) {
    *c = (struct verify_case){.op = op, .dtype = dtype};
    family->make(op, k, c);
    c->op = op;
    c->dtype = dtype;
}

bool verify_has_index(const struct verify_case *c) {
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].role == VERIFY_INDEX) return true;
    return false;
}

static bool holds(const struct verify_case *c, enum wick_dtype id) {
    for (int i = 0; i < c->n_in; i++)
        if (c->in[i].role == VERIFY_INDEX && (c->in[i].low < verify_lowest(id) || c->in[i].high > verify_highest(id)))
            return false;
    return true;
}

int verify_id_dtypes(const struct verify_case *c) {
    int count = 0;
    for (int i = 0; i < ID_DTYPES; i++) count += holds(c, id_dtypes[i]);
    return verify_has_index(c) ? count : 1;
}

enum wick_dtype verify_id_dtype(const struct verify_case *c, int n) {
    int count = verify_id_dtypes(c);
    n = count > 0 ? n % count : 0;
    for (int i = 0; i < ID_DTYPES; i++)
        if (holds(c, id_dtypes[i]) && n-- == 0) return id_dtypes[i];
    return WICK_I64;
}

static enum wick_dtype dtype_of(const struct verify_case *c, int i, enum wick_dtype id) {
    switch (c->in[i].role) {
    case VERIFY_INDEX: return id;
    case VERIFY_CONDITION: return WICK_U8;
    case VERIFY_F32: return WICK_F32;
    case VERIFY_STATISTIC: return c->dtype == WICK_F64 ? WICK_F64 : WICK_F32;
    case VERIFY_BLOCKS: return c->in[i].blocks;
    case VERIFY_HALVES: return c->dtype == WICK_F32 ? c->in[i].blocks : c->dtype;
    case VERIFY_VALUE:
    case VERIFY_ABSENT: break;
    }
    return c->dtype;
}

enum verify_outcome verify_operands_make(struct wick_device *device, const struct verify_case *c,
                                         const struct verify_making *how, struct verify_operands *operands) {
    struct verify_random random = {how->seed};
    for (const char *name = wick_op_name(c->op); *name; name++) verify_random_mix(&random, (unsigned char)*name);
    verify_random_mix(&random, (uint64_t)c->dtype << 32 | (uint64_t)how->k << 8 | (uint64_t)how->variant);
    *operands = (struct verify_operands){.n = c->n_in, .id = how->id};
    for (int i = 0; i < c->n_in; i++) {
        const struct verify_operand *operand = &c->in[i];
        if (operand->role == VERIFY_ABSENT) continue;
        struct verify_placing placing = verify_placing_for(operand, how->variant, how->k + i, &random);
        enum verify_outcome outcome =
            verify_values(operand, dtype_of(c, i, how->id), how->variant, placing, &random, &operands->in[i]);
        if (outcome != VERIFY_GOOD) return outcome;
        if (!verify_upload(device, &operands->in[i], placing, &operands->buffer[i])) return VERIFY_BAD;
        operands->tensor[i] = operands->buffer[i].view;
    }
    return VERIFY_GOOD;
}

void verify_operands_free(struct verify_operands *operands) {
    for (int i = 0; i < operands->n; i++) {
        verify_buffer_free(&operands->buffer[i]);
        free(operands->in[i].data);
        free(operands->in[i].blocks);
        operands->in[i].blocks = NULL;
        operands->in[i].data = NULL;
        operands->tensor[i] = NULL;
    }
}

int verify_operands_changed(const struct verify_operands *operands) {
    for (int i = 0; i < operands->n; i++)
        if (operands->tensor[i] && !verify_unchanged(&operands->buffer[i])) return i;
    return -1;
}
