/* The op table. */
#include "core/op.h"

#include <string.h>

const struct wick__op wick__ops[WICK_OP_COUNT] = {
#define IN(name_, dtypes_)                                                                                             \
    { .name = #name_, .dtypes = WICK__##dtypes_ }
#define OUT(dtypes_)                                                                                                   \
    { .name = NULL, .dtypes = WICK__##dtypes_ }
#define WICK__OP(number, name_, family_, ulp, formula_, ...)                                                           \
    [number] = {.name = #name_, .family = #family_, .formula = formula_, .in = {__VA_ARGS__}},
#include <wick/ops.def>
#undef WICK__OP
#undef IN
#undef OUT
};

static bool valid(enum wick_op op) { return (unsigned)op < WICK_OP_COUNT; }

const char *wick_op_name(enum wick_op op) { return valid(op) ? wick__ops[op].name : "?"; }

const char *wick_op_formula(enum wick_op op) { return valid(op) ? wick__ops[op].formula : "?"; }

const char *wick_op_family(enum wick_op op) { return valid(op) ? wick__ops[op].family : "?"; }

const char *wick_op_operand(enum wick_op op, int i) {
    return valid(op) && i >= 0 && i < WICK__MAX_INPUTS ? wick__ops[op].in[i].name : NULL;
}

bool wick_op_takes(enum wick_op op, int i, enum wick_dtype first, enum wick_dtype dtype) {
    return wick_op_operand(op, i) && (unsigned)dtype < WICK_DTYPE_COUNT && wick__op_takes(op, i, first, dtype);
}

bool wick_op_from_name(const char *name, enum wick_op *op) {
    for (int i = 0; name && op && i < WICK_OP_COUNT; i++)
        if (strcmp(name, wick__ops[i].name) == 0) {
            *op = (enum wick_op)i;
            return true;
        }
    return false;
}
