/* The rows of the op table (ops.def), as far as they do not depend on a device. */
#ifndef WICK_CORE_OP_H
#define WICK_CORE_OP_H

#include "core/dtype.h"

#include <wick/ops.h>

enum { WICK__MAX_INPUTS = 9 };

/* Sets for operands: the dtype of the first operand, u8, f32, f32 or f64, f64, starts of sequences,
 * lengths of sequences, positions in a cache, positions in planes, the first's or blocks, one of 16 bits or u8. */
#define WICK__SAME (UINT64_C(1) << 63)
#define WICK__TRUTH WICK__BIT(u8)
#define WICK__SINGLE WICK__BIT(f32)
#define WICK__STATISTIC (WICK__BIT(f32) | WICK__BIT(f64))
#define WICK__DOUBLE WICK__BIT(f64)
#define WICK__STARTS (WICK__BIT(u32) | WICK__BIT(i32))
#define WICK__LENGTHS WICK__BIT(i64)
#define WICK__BEFORE WICK__BIT(i32)
#define WICK__POSITIONS WICK__BIT(u32)
#define WICK__SAME_OR_BLOCKS (WICK__SAME | WICK__BLOCKS)
#define WICK__SAME_OR_HALVES (WICK__SAME | WICK__HALVES)
#define WICK__SAME_OR_TRUTH (WICK__SAME | WICK__TRUTH)
_Static_assert(WICK_DTYPE_COUNT < 63, "the highest bit of a set of dtypes is WICK__SAME");

struct wick__operand {
    const char *name; /* one that ends in '?' is optional. NULL: no operand */
    wick__dtypes dtypes;
};

struct wick__op {
    const char *name, *family, *formula;
    struct wick__operand in[WICK__MAX_INPUTS]; /* for ops without operands in[0].dtypes is the result's */
};
extern const struct wick__op wick__ops[WICK_OP_COUNT];

/* What messages call operand i. Ops that part an operand in two call both by its name. */
static inline const char *wick__operand_name(enum wick_op op, int i) {
    const struct wick__operand *in = wick__ops[op].in;
    return in[i].name ? in[i].name : in[0].name;
}

/* Whether operand i may have a dtype beside a first operand of dtype `first`. */
static inline bool wick__op_takes(enum wick_op op, int i, enum wick_dtype first, enum wick_dtype dtype) {
    wick__dtypes set = wick__ops[op].in[i].dtypes;
    return wick__has(set, dtype) || ((set & WICK__SAME) != 0 && dtype == first);
}

#endif
