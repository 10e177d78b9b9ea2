/* Numbers as arguments of ops: 64-bit integers, which do not all fit a double, or doubles.
 *
 *     wick_full(device, WICK_I64, WICK_SHAPE(2), WICK_INT(INT64_MAX));
 *     wick_clamp(x, WICK_INT(0), WICK_REAL(INFINITY));
 *
 * Each op says how it uses them. A number that becomes an element is cast as wick_cast casts an i64, or an f64 if it is
 * real: to u8, WICK_INT(300) wraps to 44 and WICK_REAL(300) saturates at 255. */
#ifndef WICK_NUMBER_H
#define WICK_NUMBER_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is the whole number 0. */
struct wick_number {
    int64_t integer; /* the number, unless is_real */
    double real;     /* the number, when is_real */
    bool is_real;
};

#ifdef __cplusplus
#define WICK_INT(n) (wick_number{static_cast<int64_t>(n), 0.0, false})
#define WICK_REAL(x) (wick_number{0, static_cast<double>(x), true})
#else
#define WICK_INT(n) ((struct wick_number){.integer = (n)})
#define WICK_REAL(x) ((struct wick_number){.real = (x), .is_real = true})
#endif

#ifdef __cplusplus
}
#endif
#endif
