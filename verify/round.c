/* The dtypes as number formats, in plain C: rounding, encoding, limits. Shares nothing with the library, so that a
 * fault in the library's conversions can't hide here too. */
#include "verify/driver.h"

#include <math.h>
#include <string.h>

/* Floats: mantissa bits without the hidden one, exponent bits, the least normal exponent, the largest value. f8e8m0 has
 * powers of two from 2^-127 and no sign. */
struct format {
    int mantissa, exponent, least;
    double highest;
};

static bool float_format(enum wick_dtype dtype, struct format *format) {
    switch (dtype) {
    case WICK_DTYPE_f8e4m3: *format = (struct format){3, 4, -6, 448}; return true;
    case WICK_DTYPE_bf16: *format = (struct format){7, 8, -126, 0x1.fep127}; return true;
    case WICK_DTYPE_f16: *format = (struct format){10, 5, -14, 65504}; return true;
    case WICK_DTYPE_f32: *format = (struct format){23, 8, -126, 0x1.fffffep127}; return true;
    case WICK_DTYPE_f64: *format = (struct format){52, 11, -1022, 0x1.fffffffffffffp1023}; return true;
    case WICK_DTYPE_f8e5m2: *format = (struct format){2, 5, -14, 57344}; return true;
    case WICK_DTYPE_f8e8m0: *format = (struct format){0, 8, -127, 0x1p127}; return true;
    default: return false;
    }
}

/* 2^n, and floor(log2(|value|)); quick where the double is normal. */
static double power(int n) {
    double result;
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    if (n < -1022 || n > 1023) return ldexp(1, n);
    memcpy(&result, &bits, sizeof result);
    return result;
}

static int exponent_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent > 0) return exponent - 1023;
    frexp(value, &exponent);
    return exponent - 1;
}

/* Integers: 2^63 stands for the largest i64, and 2^64 for the largest u64, which a double can't hold. */
double verify_highest(enum wick_dtype dtype) {
    struct format format;
    if (float_format(dtype, &format)) return format.highest;
    switch (dtype) {
    case WICK_DTYPE_bool: return 1;
    case WICK_DTYPE_u8: return 255;
    case WICK_DTYPE_u16: return 65535;
    case WICK_DTYPE_u32: return 4294967295.0;
    case WICK_DTYPE_u64: return 0x1p64;
    default: return ldexp(1, wick_dtype_bits(dtype) - 1) - (wick_dtype_bits(dtype) < 64);
    }
}

double verify_lowest(enum wick_dtype dtype) {
    switch (dtype) {
    case WICK_DTYPE_bool:
    case WICK_DTYPE_u8:
    case WICK_DTYPE_u16:
    case WICK_DTYPE_u32:
    case WICK_DTYPE_u64: return 0;
    case WICK_DTYPE_i8:
    case WICK_DTYPE_i16:
    case WICK_DTYPE_i32:
    case WICK_DTYPE_i64: return -ldexp(1, wick_dtype_bits(dtype) - 1);
    case WICK_DTYPE_f8e8m0: return 0x1p-127;
    default: return -verify_highest(dtype);
    }
}

double verify_spacing(enum wick_dtype dtype, double magnitude) {
    struct format format;
    if (!float_format(dtype, &format)) return 1;
    magnitude = fabs(magnitude);
    if (!(magnitude <= format.highest)) magnitude = format.highest;
    int exponent = exponent_of(magnitude);
    if (magnitude == 0 || exponent < format.least) exponent = format.least;
    return power(exponent - format.mantissa);
}

double verify_least_normal(enum wick_dtype dtype) {
    struct format format;
    return float_format(dtype, &format) ? ldexp(1, format.least) : 1;
}

double verify_least(enum wick_dtype dtype) {
    struct format format;
    return float_format(dtype, &format) ? ldexp(1, format.least - format.mantissa) : 1;
}

double verify_round(enum wick_dtype dtype, double value) {
    struct format format;
    if (!float_format(dtype, &format)) {
        if (dtype == WICK_DTYPE_bool) return value != 0;
        if (isnan(value)) return 0;
        value = trunc(value);
        if (value > verify_highest(dtype)) return verify_highest(dtype);
        return value < verify_lowest(dtype) ? verify_lowest(dtype) : value;
    }
    if (isnan(value) || dtype == WICK_DTYPE_f64) return value;
    if (dtype == WICK_DTYPE_f8e8m0) /* powers of two and NaN */
        return value < 0x1p-127 ? 0x1p-127 : value > 0x1p127 ? 0x1p127 : power(exponent_of(value));
    bool saturates = dtype == WICK_DTYPE_f8e4m3;
    if (isinf(value)) return saturates ? copysign(format.highest, value) : value;
    if (fabs(value) >= 2 * format.highest) return copysign(saturates ? format.highest : INFINITY, value);
    /* Within twice the largest value, the spacing is that of the binade the value is in, as if the format went on. */
    int exponent = exponent_of(value);
    if (value == 0 || exponent < format.least) exponent = format.least;
    double rounded = nearbyint(value * power(format.mantissa - exponent)) * power(exponent - format.mantissa);
    if (fabs(rounded) > format.highest) return copysign(saturates ? format.highest : INFINITY, value);
    return copysign(rounded, value);
}

/* Sign, exponent and mantissa of a float of up to 16 bits. */
static uint16_t encode_small(const struct format *format, double value, bool infinite) {
    uint16_t sign = (uint16_t)(signbit(value) ? 1u << (format->exponent + format->mantissa) : 0);
    uint16_t top = (uint16_t)(((1u << format->exponent) - 1) << format->mantissa);
    if (isnan(value)) return (uint16_t)(top | ((1u << format->mantissa) - 1));
    if (isinf(value) && infinite) return sign | top;
    if (value == 0) return sign;
    double magnitude = fabs(value);
    int exponent = exponent_of(value);
    if (exponent < format->least) /* denormal */
        return (uint16_t)(sign | (uint16_t)(magnitude * power(format->mantissa - format->least)));
    uint16_t mantissa = (uint16_t)(magnitude * power(format->mantissa - exponent) - power(format->mantissa));
    return (uint16_t)(sign | (uint16_t)((exponent - format->least + 1) << format->mantissa) | mantissa);
}

static double decode_small(const struct format *format, uint16_t bits, bool infinite) {
    int all = (1 << format->exponent) - 1;
    int exponent = bits >> format->mantissa & all, mantissa = bits & ((1 << format->mantissa) - 1);
    double sign = bits >> (format->exponent + format->mantissa) & 1 ? -1 : 1;
    if (exponent == all && infinite) return mantissa ? NAN : sign * INFINITY;
    if (exponent == all && mantissa == (1 << format->mantissa) - 1) return NAN; /* f8e4m3's only NaN */
    if (exponent == 0) return sign * mantissa * power(format->least - format->mantissa);
    return sign * (mantissa + (1 << format->mantissa)) * power(exponent - 1 + format->least - format->mantissa);
}

static void encode_integer(enum wick_dtype dtype, double value, void *to) {
    uint64_t bits;
    if (value >= 0x1p63)
        bits = dtype == WICK_DTYPE_u64 ? (value >= 0x1p64 ? UINT64_MAX : (uint64_t)value) : (uint64_t)INT64_MAX;
    else
        bits = (uint64_t)(int64_t)value;
    memcpy(to, &bits, (size_t)wick_dtype_block_bytes(dtype)); /* little-endian */
}

void verify_encode(enum wick_dtype dtype, double value, void *to) {
    struct format format;
    if (!float_format(dtype, &format)) {
        encode_integer(dtype, value, to);
    } else if (dtype == WICK_DTYPE_f64) {
        memcpy(to, &value, sizeof value);
    } else if (dtype == WICK_DTYPE_f32) {
        float narrow = (float)value;
        memcpy(to, &narrow, sizeof narrow);
    } else if (dtype == WICK_DTYPE_f8e8m0) {
        *(uint8_t *)to = isnan(value) ? 255 : (uint8_t)(exponent_of(value) + 127);
    } else {
        uint16_t bits = encode_small(&format, value, dtype != WICK_DTYPE_f8e4m3);
        memcpy(to, &bits, (size_t)wick_dtype_block_bytes(dtype));
    }
}

double verify_decode(enum wick_dtype dtype, const void *from) {
    struct format format;
    uint64_t bits = 0;
    int width = wick_dtype_bits(dtype);
    memcpy(&bits, from, (size_t)width / 8);
    if (!float_format(dtype, &format)) {
        if (verify_lowest(dtype) == 0) return (double)bits;
        if (width < 64 && bits >> (width - 1)) bits |= ~UINT64_C(0) << width; /* the sign */
        return (double)(int64_t)bits;
    }
    if (dtype == WICK_DTYPE_f64) {
        double value;
        memcpy(&value, from, sizeof value);
        return value;
    }
    if (dtype == WICK_DTYPE_f32) {
        float value;
        memcpy(&value, from, sizeof value);
        return value;
    }
    if (dtype == WICK_DTYPE_f8e8m0) return bits == 255 ? NAN : power((int)bits - 127);
    return decode_small(&format, (uint16_t)bits, dtype != WICK_DTYPE_f8e4m3);
}
