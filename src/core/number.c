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

/* The least and the greatest value of an integer dtype. */
static void whole_range(enum wick_dtype dtype, int64_t *least, int64_t *most) {
    int bits = wick_dtype_bits(dtype);
    bool sign = wick__traits[dtype].kind == WICK_DTYPE_KIND_SIGNED;
    *most = bits == 64 ? INT64_MAX : (INT64_C(1) << (sign ? bits - 1 : bits)) - 1;
    *least = sign ? -*most - 1 : 0;
}

void wick__number_bounds(enum wick_dtype dtype, const struct wick_number n[2], int64_t i[2]) {
    int64_t least, most;
    whole_range(dtype, &least, &most);
    i[0] = n[0].is_real ? saturated(ceil(n[0].real)) : n[0].integer;
    i[1] = n[1].is_real ? saturated(floor(n[1].real)) : n[1].integer;
    for (int k = 0; k < 2; k++) i[k] = i[k] < least ? least : i[k] > most ? most : i[k];
}

/* ---- comparisons ---- */

/* The neighbour of x, below or above, in f64, or in f32 for dtypes that are computed there. */
static double next(enum wick_dtype dtype, double x, double towards) {
    return dtype == WICK_F64 ? nextafter(x, towards) : (double)nextafterf((float)x, (float)towards);
}

/* The greatest value not above n and the least not below it, in that type. */
static void enclose(enum wick_dtype dtype, struct wick_number n, double *down, double *up) {
    *down = *up = n.is_real ? n.real : (double)n.integer;
    if (!n.is_real) {
        bool above = *up >= 0x1p63 || (int64_t)*up > n.integer, below = !above && (int64_t)*up < n.integer;
        if (above) *down = nextafter(*down, (double)-INFINITY);
        if (below) *up = nextafter(*up, (double)INFINITY);
    }
    if (dtype == WICK_F64) return;
    double low = (double)(float)*down, high = (double)(float)*up;
    *down = low > *down ? next(dtype, low, (double)-INFINITY) : low;
    *up = high < *up ? next(dtype, high, (double)INFINITY) : high;
}

static void float_range(enum wick_op op, enum wick_dtype dtype, struct wick_number n, struct wick__range *range) {
    double down, up;
    enclose(dtype, n, &down, &up);
    range->f_low = (double)-INFINITY;
    range->f_high = (double)INFINITY;
    bool none = false;
    switch (op) {
    case WICK_OP_lt_scalar:
        none = up == (double)-INFINITY;
        range->f_high = down == up ? next(dtype, up, (double)-INFINITY) : down;
        break;
    case WICK_OP_le_scalar: range->f_high = down; break;
    case WICK_OP_gt_scalar:
        none = down == (double)INFINITY;
        range->f_low = down == up ? next(dtype, down, (double)INFINITY) : up;
        break;
    case WICK_OP_ge_scalar: range->f_low = up; break;
    default: none = down != up; range->f_low = range->f_high = down;
    }
    if (!none && !isnan(down)) return;
    range->f_low = 1;
    range->f_high = 0;
}

static void whole_range_of(enum wick_op op, enum wick_dtype dtype, struct wick_number n, struct wick__range *range) {
    double x = n.is_real ? n.real : 0;
    bool past = x >= 0x1p63, before = x < -0x1p63, none = isnan(x);
    int64_t floor_of = n.is_real ? saturated(floor(x)) : n.integer,
            ceil_of = n.is_real ? saturated(ceil(x)) : n.integer;
    int64_t least, most;
    whole_range(dtype, &least, &most);
    range->i_low = least;
    range->i_high = most;
    switch (op) {
    case WICK_OP_lt_scalar:
    case WICK_OP_le_scalar:
        none = none || before || (op == WICK_OP_lt_scalar && !past && ceil_of == INT64_MIN);
        if (!none && !past) range->i_high = op == WICK_OP_lt_scalar ? ceil_of - 1 : floor_of;
        break;
    case WICK_OP_gt_scalar:
    case WICK_OP_ge_scalar:
        none = none || past || (op == WICK_OP_gt_scalar && !before && floor_of == INT64_MAX);
        if (!none && !before) range->i_low = op == WICK_OP_gt_scalar ? floor_of + 1 : ceil_of;
        break;
    default: none = none || past || before || floor_of != ceil_of; range->i_low = range->i_high = floor_of;
    }
    if (range->i_low < least) range->i_low = least;
    if (range->i_high > most) range->i_high = most;
    if (!none && range->i_low <= range->i_high) return;
    range->i_low = 1;
    range->i_high = 0;
}

struct wick__range wick__number_range(enum wick_op op, enum wick_dtype dtype, struct wick_number n) {
    struct wick__range range = {.others = op == WICK_OP_ne_scalar};
    if (wick_dtype_is_float(dtype))
        float_range(op, dtype, n, &range);
    else
        whole_range_of(op, dtype, n, &range);
    return range;
}
