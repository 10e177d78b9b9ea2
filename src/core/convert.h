/* Conversions between dtypes on the host, one element or one row at a time: the only place that knows how the 16-bit
 * and 8-bit floats are laid out and rounded. Everything is static, so that kernels of the processor, which are compiled
 * once for each instruction set, each get the conversions that their set has.
 *
 *   float to narrower float   to nearest, ties to even, rounded once; f8e4m3 saturates at +-448, infinities too
 *   float to integer          towards zero, saturating; NaN gives 0; to bool: x != 0
 *   integer to integer        wraps (two's complement)
 *   integer to float          to nearest, rounded once
 *
 * NaN stays NaN. bf16 and f16 overflow to infinity. */
#ifndef WICK_CORE_CONVERT_H
#define WICK_CORE_CONVERT_H

#include "core/number.h"
#include <wick/dtype.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __F16C__
#include <immintrin.h>
#endif

/* ---- one element ---- */

static inline uint32_t wick__f32_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float wick__bits_f32(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float wick__bf16_to_f32(uint16_t x) { return wick__bits_f32((uint32_t)x << 16); }

static inline uint16_t wick__f32_to_bf16(float x) {
    uint32_t bits = wick__f32_bits(x);
    uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
}

static inline float wick__f16_to_f32(uint16_t x) {
#ifdef __F16C__
    return _cvtsh_ss(x);
#else
    /* The exponent moves from bias 15 to bias 127 by a multiplication, which also normalises subnormals. */
    uint32_t magnitude = (uint32_t)(x & 0x7fff) << 13, sign = (uint32_t)(x & 0x8000) << 16;
    uint32_t bits = wick__f32_bits(wick__bits_f32(magnitude) * 0x1p112f);
    if (magnitude >= 0x0f800000) bits = magnitude | 0x7f800000;
    return wick__bits_f32(bits | sign);
#endif
}

static inline uint16_t wick__f32_to_f16(float x) {
#ifdef __F16C__
    return (uint16_t)_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
#else
    uint32_t bits = wick__f32_bits(x), sign = (bits >> 16) & 0x8000;
    bits &= 0x7fffffff;
    uint32_t normal = (bits - 0x38000000 + 0xfff + ((bits >> 13) & 1)) >> 13;
    /* Below 2^-14, adding 0.5 leaves the subnormal's bits, rounded, at the end of the sum. */
    uint32_t subnormal = wick__f32_bits(wick__bits_f32(bits) + 0.5f) - 0x3f000000;
    uint32_t result = bits < 0x38800000 ? subnormal : normal;
    if (bits >= 0x47800000) result = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
    return (uint16_t)(result | sign);
#endif
}

static inline float wick__f8e4m3_to_f32(uint8_t x) {
    uint32_t magnitude = (uint32_t)(x & 0x7f) << 20, sign = (uint32_t)(x & 0x80) << 24;
    uint32_t bits = wick__f32_bits(wick__bits_f32(magnitude) * 0x1p120f);
    if (magnitude == 0x07f00000) bits = 0x7fc00000;
    return wick__bits_f32(bits | sign);
}

static inline uint8_t wick__f32_to_f8e4m3(float x) {
    uint32_t bits = wick__f32_bits(x), sign = (bits >> 24) & 0x80;
    bits &= 0x7fffffff;
    uint32_t normal = ((bits + 0x7ffff + ((bits >> 20) & 1)) >> 20) - (120 << 3);
    /* Below 2^-6, adding 2^14 rounds to multiples of 2^-9. */
    uint32_t subnormal = wick__f32_bits(wick__bits_f32(bits) + 0x1p14f) - 0x46800000;
    uint32_t result = bits < 0x3c800000 ? subnormal : normal;
    if (bits >= 0x43e00000) result = bits > 0x7f800000 ? 0x7f : 0x7e;
    return (uint8_t)(result | sign);
}

static inline float wick__f8e5m2_to_f32(uint8_t x) { return wick__f16_to_f32((uint16_t)(x << 8)); }

/* Saturates nowhere: f8e5m2 has infinities. */
static inline uint8_t wick__f32_to_f8e5m2(float x) {
    uint32_t bits = wick__f32_bits(x), sign = (bits >> 24) & 0x80;
    bits &= 0x7fffffff;
    uint32_t normal = ((bits + 0xfffff + ((bits >> 21) & 1)) >> 21) - (112 << 2);
    /* Below 2^-14, adding 2^7 rounds to multiples of 2^-16. */
    uint32_t subnormal = wick__f32_bits(wick__bits_f32(bits) + 0x1p7f) - 0x43000000;
    uint32_t result = bits < 0x38800000 ? subnormal : normal;
    if (bits >= 0x47700000) result = bits > 0x7f800000 ? 0x7e : 0x7c;
    return (uint8_t)(result | sign);
}

/* x rounded to odd: towards zero, then the last bit set if anything was lost. Rounding the result to a float at least
 * two bits narrower gives what rounding x itself would have. */
static inline float wick__f64_to_f32_odd(double x) {
    float nearest = (float)x;
    uint32_t bits = wick__f32_bits(nearest);
    double back = (double)nearest;
    uint32_t over = fabs(back) > fabs(x), lost = back < x || back > x;
    return wick__bits_f32((bits - over) | lost);
}

static inline uint16_t wick__f64_to_bf16(double x) { return wick__f32_to_bf16(wick__f64_to_f32_odd(x)); }
static inline uint16_t wick__f64_to_f16(double x) { return wick__f32_to_f16(wick__f64_to_f32_odd(x)); }
static inline uint8_t wick__f64_to_f8e4m3(double x) { return wick__f32_to_f8e4m3(wick__f64_to_f32_odd(x)); }
static inline uint8_t wick__f64_to_f8e5m2(double x) { return wick__f32_to_f8e5m2(wick__f64_to_f32_odd(x)); }

/* Float to integer. `below` is the largest float under 2^bits, which the clamped value can't exceed. */
#define WICK__TO_INT(name, float_type, int_type, low, below, limit, max)                                               \
    static inline int_type name(float_type x) {                                                                        \
        float_type y = x > (low) ? x : (low);                                                                          \
        y = y < (below) ? y : (below);                                                                                 \
        y = x == x ? y : 0;                                                                                            \
        int_type i = (int_type)y;                                                                                      \
        return x >= (limit) ? (max) : i;                                                                               \
    }
WICK__TO_INT(wick__f32_to_u8, float, uint8_t, 0.0f, 255.0f, 256.0f, UINT8_MAX)
WICK__TO_INT(wick__f32_to_i8, float, int8_t, -128.0f, 127.0f, 128.0f, INT8_MAX)
WICK__TO_INT(wick__f32_to_i16, float, int16_t, -32768.0f, 32767.0f, 32768.0f, INT16_MAX)
WICK__TO_INT(wick__f32_to_u16, float, uint16_t, 0.0f, 65535.0f, 65536.0f, UINT16_MAX)
WICK__TO_INT(wick__f32_to_i32, float, int32_t, -0x1p31f, 0x1.fffffep30f, 0x1p31f, INT32_MAX)
WICK__TO_INT(wick__f32_to_u32, float, uint32_t, 0.0f, 0x1.fffffep31f, 0x1p32f, UINT32_MAX)
WICK__TO_INT(wick__f32_to_i64, float, int64_t, -0x1p63f, 0x1.fffffep62f, 0x1p63f, INT64_MAX)
WICK__TO_INT(wick__f32_to_u64, float, uint64_t, 0.0f, 0x1.fffffep63f, 0x1p64f, UINT64_MAX)
WICK__TO_INT(wick__f64_to_u8, double, uint8_t, 0.0, 255.0, 256.0, UINT8_MAX)
WICK__TO_INT(wick__f64_to_i8, double, int8_t, -128.0, 127.0, 128.0, INT8_MAX)
WICK__TO_INT(wick__f64_to_i16, double, int16_t, -32768.0, 32767.0, 32768.0, INT16_MAX)
WICK__TO_INT(wick__f64_to_u16, double, uint16_t, 0.0, 65535.0, 65536.0, UINT16_MAX)
WICK__TO_INT(wick__f64_to_i32, double, int32_t, -0x1p31, 2147483647.0, 0x1p31, INT32_MAX)
WICK__TO_INT(wick__f64_to_u32, double, uint32_t, 0.0, 4294967295.0, 0x1p32, UINT32_MAX)
WICK__TO_INT(wick__f64_to_i64, double, int64_t, -0x1p63, 0x1.fffffffffffffp62, 0x1p63, INT64_MAX)
WICK__TO_INT(wick__f64_to_u64, double, uint64_t, 0.0, 0x1.fffffffffffffp63, 0x1p64, UINT64_MAX)

/* ---- rows ---- */

/* The C type that holds an element of a dtype of at least 8 bits. */
#define WICK__CTYPE_u8 uint8_t
#define WICK__CTYPE_u32 uint32_t
#define WICK__CTYPE_i16 int16_t
#define WICK__CTYPE_i32 int32_t
#define WICK__CTYPE_i64 int64_t
#define WICK__CTYPE_bf16 uint16_t
#define WICK__CTYPE_f16 uint16_t
#define WICK__CTYPE_f32 float
#define WICK__CTYPE_f64 double
#define WICK__CTYPE_f8e4m3 uint8_t
#define WICK__CTYPE_i8 int8_t
#define WICK__CTYPE_u16 uint16_t
#define WICK__CTYPE_u64 uint64_t
#define WICK__CTYPE_bool uint8_t
#define WICK__CTYPE_f8e5m2 uint8_t

/* case: out[i] = expression of v, the element in[i * stride] */
#define WICK__ROW_IN(dtype, expression)                                                                                \
    case WICK_DTYPE_##dtype: {                                                                                         \
        const WICK__CTYPE_##dtype *from = in;                                                                          \
        if (stride == 1)                                                                                               \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                WICK__CTYPE_##dtype v = from[i];                                                                       \
                out[i] = expression;                                                                                   \
            }                                                                                                          \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                WICK__CTYPE_##dtype v = from[i * stride];                                                              \
                out[i] = expression;                                                                                   \
            }                                                                                                          \
        break;                                                                                                         \
    }

/* case: the element out[i] = expression of v = in[i] */
#define WICK__ROW_OUT(dtype, type, expression)                                                                         \
    case WICK_DTYPE_##dtype: {                                                                                         \
        WICK__CTYPE_##dtype *to = out;                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            type v = in[i];                                                                                            \
            to[i] = expression;                                                                                        \
        }                                                                                                              \
        break;                                                                                                         \
    }

/* f16 rows of stride 1, for which compilers make no vector code by themselves. */
static inline void wick__row_f16_to_f32(const uint16_t *in, float *out, int64_t n) {
    int64_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(out + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(in + i))));
#elif defined __F16C__
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(in + i))));
#endif
    for (; i < n; i++) out[i] = wick__f16_to_f32(in[i]);
}

static inline void wick__row_f32_to_f16(const float *in, uint16_t *out, int64_t n) {
    int64_t i = 0;
#ifdef __AVX512F__
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(out + i), _mm512_cvtps_ph(_mm512_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined __F16C__
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++) out[i] = wick__f32_to_f16(in[i]);
}

/* n elements of any dtype of at least 8 bits, `stride` elements apart, as f32. */
static inline void wick__row_to_f32(enum wick_dtype dtype, const void *in, int64_t stride, float *out, int64_t n) {
    if (dtype == WICK_DTYPE_f16 && stride == 1) {
        wick__row_f16_to_f32(in, out, n);
        return;
    }
    switch (dtype) {
        WICK__ROW_IN(u8, (float)v)
        WICK__ROW_IN(u32, (float)v)
        WICK__ROW_IN(i16, (float)v)
        WICK__ROW_IN(i32, (float)v)
        WICK__ROW_IN(i64, (float)v)
        WICK__ROW_IN(bf16, wick__bf16_to_f32(v))
        WICK__ROW_IN(f16, wick__f16_to_f32(v))
        WICK__ROW_IN(f32, v)
        WICK__ROW_IN(f64, (float)v)
        WICK__ROW_IN(f8e4m3, wick__f8e4m3_to_f32(v))
        WICK__ROW_IN(i8, (float)v)
        WICK__ROW_IN(u16, (float)v)
        WICK__ROW_IN(u64, (float)v)
        WICK__ROW_IN(bool, (float)(v != 0))
        WICK__ROW_IN(f8e5m2, wick__f8e5m2_to_f32(v))
    default: break;
    }
}

/* n floats as elements of any dtype of at least 8 bits, next to one another. */
static inline void wick__row_from_f32(enum wick_dtype dtype, const float *in, void *out, int64_t n) {
    if (dtype == WICK_DTYPE_f16) {
        wick__row_f32_to_f16(in, out, n);
        return;
    }
    switch (dtype) {
        WICK__ROW_OUT(u8, float, wick__f32_to_u8(v))
        WICK__ROW_OUT(u32, float, wick__f32_to_u32(v))
        WICK__ROW_OUT(i16, float, wick__f32_to_i16(v))
        WICK__ROW_OUT(i32, float, wick__f32_to_i32(v))
        WICK__ROW_OUT(i64, float, wick__f32_to_i64(v))
        WICK__ROW_OUT(bf16, float, wick__f32_to_bf16(v))
        WICK__ROW_OUT(f32, float, v)
        WICK__ROW_OUT(f64, float, (double)v)
        WICK__ROW_OUT(f8e4m3, float, wick__f32_to_f8e4m3(v))
        WICK__ROW_OUT(i8, float, wick__f32_to_i8(v))
        WICK__ROW_OUT(u16, float, wick__f32_to_u16(v))
        WICK__ROW_OUT(u64, float, wick__f32_to_u64(v))
        WICK__ROW_OUT(bool, float, v != 0)
        WICK__ROW_OUT(f8e5m2, float, wick__f32_to_f8e5m2(v))
    default: break;
    }
}

/* The same in f64. */
static inline void wick__row_to_f64(enum wick_dtype dtype, const void *in, int64_t stride, double *out, int64_t n) {
    switch (dtype) {
        WICK__ROW_IN(u8, (double)v)
        WICK__ROW_IN(u32, (double)v)
        WICK__ROW_IN(i16, (double)v)
        WICK__ROW_IN(i32, (double)v)
        WICK__ROW_IN(i64, (double)v)
        WICK__ROW_IN(bf16, (double)wick__bf16_to_f32(v))
        WICK__ROW_IN(f16, (double)wick__f16_to_f32(v))
        WICK__ROW_IN(f32, (double)v)
        WICK__ROW_IN(f64, v)
        WICK__ROW_IN(f8e4m3, (double)wick__f8e4m3_to_f32(v))
        WICK__ROW_IN(i8, (double)v)
        WICK__ROW_IN(u16, (double)v)
        WICK__ROW_IN(u64, (double)v)
        WICK__ROW_IN(bool, (double)(v != 0))
        WICK__ROW_IN(f8e5m2, (double)wick__f8e5m2_to_f32(v))
    default: break;
    }
}

static inline void wick__row_from_f64(enum wick_dtype dtype, const double *in, void *out, int64_t n) {
    switch (dtype) {
        WICK__ROW_OUT(u8, double, wick__f64_to_u8(v))
        WICK__ROW_OUT(u32, double, wick__f64_to_u32(v))
        WICK__ROW_OUT(i16, double, wick__f64_to_i16(v))
        WICK__ROW_OUT(i32, double, wick__f64_to_i32(v))
        WICK__ROW_OUT(i64, double, wick__f64_to_i64(v))
        WICK__ROW_OUT(bf16, double, wick__f64_to_bf16(v))
        WICK__ROW_OUT(f16, double, wick__f64_to_f16(v))
        WICK__ROW_OUT(f32, double, (float)v)
        WICK__ROW_OUT(f64, double, v)
        WICK__ROW_OUT(f8e4m3, double, wick__f64_to_f8e4m3(v))
        WICK__ROW_OUT(i8, double, wick__f64_to_i8(v))
        WICK__ROW_OUT(u16, double, wick__f64_to_u16(v))
        WICK__ROW_OUT(u64, double, wick__f64_to_u64(v))
        WICK__ROW_OUT(bool, double, v != 0)
        WICK__ROW_OUT(f8e5m2, double, wick__f64_to_f8e5m2(v))
    default: break;
    }
}

/* Integers as i64 (u64 wraps), and back (narrower ones wrap). */
static inline void wick__row_to_i64(enum wick_dtype dtype, const void *in, int64_t stride, int64_t *out, int64_t n) {
    switch (dtype) {
        WICK__ROW_IN(u8, v)
        WICK__ROW_IN(u32, v)
        WICK__ROW_IN(i16, v)
        WICK__ROW_IN(i32, v)
        WICK__ROW_IN(i64, v)
        WICK__ROW_IN(i8, v)
        WICK__ROW_IN(u16, v)
        WICK__ROW_IN(u64, (int64_t)v)
        WICK__ROW_IN(bool, v != 0)
    default: break;
    }
}

static inline void wick__row_from_i64(enum wick_dtype dtype, const int64_t *in, void *out, int64_t n) {
    switch (dtype) {
        WICK__ROW_OUT(u8, int64_t, (uint8_t)v)
        WICK__ROW_OUT(u32, int64_t, (uint32_t)v)
        WICK__ROW_OUT(i16, int64_t, (int16_t)v)
        WICK__ROW_OUT(i32, int64_t, (int32_t)v)
        WICK__ROW_OUT(i64, int64_t, v)
        WICK__ROW_OUT(i8, int64_t, (int8_t)v)
        WICK__ROW_OUT(u16, int64_t, (uint16_t)v)
        WICK__ROW_OUT(u64, int64_t, (uint64_t)v)
        WICK__ROW_OUT(bool, int64_t, v != 0)
    default: break;
    }
}

/* One element of any dtype of at least 8 bits, from and to f32 and f64. */
static inline float wick__load_f32(enum wick_dtype dtype, const void *in) {
    float x = 0;
    wick__row_to_f32(dtype, in, 1, &x, 1);
    return x;
}

static inline double wick__load_f64(enum wick_dtype dtype, const void *in) {
    double x = 0;
    wick__row_to_f64(dtype, in, 1, &x, 1);
    return x;
}

static inline void wick__store_f32(enum wick_dtype dtype, float x, void *out) { wick__row_from_f32(dtype, &x, out, 1); }
static inline void wick__store_f64(enum wick_dtype dtype, double x, void *out) {
    wick__row_from_f64(dtype, &x, out, 1);
}

/* A caller's number as an element. */
static inline void wick__store_number(enum wick_dtype dtype, struct wick_number n, void *out) {
    if (n.is_real || wick_dtype_is_float(dtype))
        wick__store_f64(dtype, wick__number_f64(dtype, n), out);
    else
        wick__row_from_i64(dtype, &n.integer, out, 1);
}

#endif
