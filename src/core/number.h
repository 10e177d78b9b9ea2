/* Numbers that callers give to ops, as elements and integers. */
#ifndef WICK_CORE_NUMBER_H
#define WICK_CORE_NUMBER_H

#include <wick/dtype.h>
#include <wick/number.h>
#include <wick/ops.h>

/* As an f64 that rounds to the float dtype as the number itself does. */
double wick__number_f64(enum wick_dtype dtype, struct wick_number n);

/* As wick_cast to i64 makes it: towards 0, saturated, NaN as 0. */
int64_t wick__number_i64(struct wick_number n);

/* Both numbers as integers modulo 2^64 into i; false when one of them is not whole. */
bool wick__numbers_whole(const struct wick_number n[2], int64_t i[2]);

/* The least and the greatest value of an integer dtype that is not below n[0] and not above n[1]; the range of the
 * dtype bounds both. */
void wick__number_bounds(enum wick_dtype dtype, const struct wick_number n[2], int64_t i[2]);

/* The elements for which a comparison with a number holds: those from low to high, or all others. Floats have the
 * bounds f, in the type they are computed in, f32 or f64; integers have i, which fit the dtype. */
struct wick__range {
    double f_low, f_high;
    int64_t i_low, i_high;
    bool others;
};

/* The range of eq_scalar and its kind. Exact, whatever the number is. */
struct wick__range wick__number_range(enum wick_op op, enum wick_dtype dtype, struct wick_number n);

#endif
