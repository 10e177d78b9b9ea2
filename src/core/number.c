/* Numbers that callers give to ops. */
#include "core/number.h"

#include "core/dtype.h"

#include <math.h>

/* A whole number of more than 53 bits to odd: the bits that an f64 lacks only say whether there were any. Then rounding
 * once more, to a float of at most 51 bits, is as rounding once. */
static double to_odd(int64_t x) {
    uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    if (magnitude >> 53) magnitude = (magnitude & ~UINT64_C(0xfff)) | (uint64_t)((magnitude & 0xfff) != 0) << 11;
    return x < 0 ? -(double)magnitude : (double)magnitude;
}

double wick__number_f64(enum wick_dtype dtype, struct wick_number n) {
    if (n.is_real) return n.real;
    return dtype == WICK_F64 ? (double)n.integer : to_odd(n.integer);
}

static int64_t saturated(double x) {
    if (isnan(x)) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

int64_t wick__number_i64(struct wick_number n) { return n.is_real ? saturated(n.real) : n.integer; }

bool wick__numbers_whole(const struct wick_number n[2], int64_t i[2]) {
    for (int k = 0; k < 2; k++) {
        double x = n[k].real;
        i[k] = n[k].integer;
        if (!n[k].is_real) continue;
        if (!isfinite(x) || x != trunc(x)) return false;
        double rest = fmod(x, 0x1p64); /* exact, and |rest| < 2^64 */
        i[k] = (int64_t)(rest < 0 ? 0 - (uint64_t)-rest : (uint64_t)rest);
    }
    return true;
}

void wick__number_bounds(enum wick_dtype dtype, const struct wick_number n[2], int64_t i[2]) {
    int bits = wick_dtype_bits(dtype);
    bool sign = wick__traits[dtype].kind == WICK_DTYPE_KIND_SIGNED;
    int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << (sign ? bits - 1 : bits)) - 1, least = sign ? -most - 1 : 0;
    i[0] = n[0].is_real ? saturated(ceil(n[0].real)) : n[0].integer;
    i[1] = n[1].is_real ? saturated(floor(n[1].real)) : n[1].integer;
    for (int k = 0; k < 2; k++) i[k] = i[k] < least ? least : i[k] > most ? most : i[k];
}
