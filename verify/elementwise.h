/* What the elementwise families' cases and references share. */
#ifndef WICK_VERIFY_ELEMENTWISE_H
#define WICK_VERIFY_ELEMENTWISE_H

#include "verify/verify.h"

/* Integers that hold sums and products of all others. */
__extension__ typedef __int128 verify_wide;

/* Shapes for ops of one tensor: number k of verify_one_shapes(), and a large one behind them. */
int verify_one_shapes(void);
struct verify_operand verify_one_operand(int k, double low, double high);

/* Pairs of shapes that broadcast, for ops of two: number k of verify_two_shapes(), and a large one behind them. */
int verify_two_shapes(void);
struct verify_operand verify_two_operand(int k, int which, double low, double high);

/* The result of n operands' shape, broadcast. False when out of memory. */
bool verify_broadcast_new(struct verify_array *out, enum wick_dtype dtype, const struct verify_array *in, int n,
                          bool scaled);
/* The value of an operand that belongs to element i of a result it broadcasts to. */
double verify_broadcast_at(const struct verify_array *in, const struct verify_array *out, int64_t i);

/* `value` as an integer op leaves it in its dtype: reduced modulo 2^bits. |value| below 2^100. */
double verify_wrap(enum wick_dtype dtype, verify_wide value);

bool verify_yes(enum wick_op op);

#endif
