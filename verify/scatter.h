/* Cases of the ops that place by id what sources come to (verify/scatter_reduce.c), which stand in several families. */
#ifndef WICK_VERIFY_SCATTER_H
#define WICK_VERIFY_SCATTER_H

#include "verify/verify.h"

/* Whether the op is one of them. */
bool verify_reduces(enum wick_op op);
int verify_reduce_cases(enum wick_op op);
void verify_reduce_make(enum wick_op op, int k, struct verify_case *c);
bool verify_reduce_call(const struct verify_case *c, struct wick_tensor *const *in, struct wick_tensor **out);
bool verify_reduce_reference(const struct verify_case *c, const struct verify_array *in, struct verify_array *out);

#endif
