/* What generated functions are written in, for both sides. */
#ifndef PRELUDE_H
#define PRELUDE_H

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef i16 i16_2 __attribute__((ext_vector_type(2)));
typedef u16 u16_2 __attribute__((ext_vector_type(2)));
typedef f16 f16_2 __attribute__((ext_vector_type(2)));

enum { BLOCK = 96, BLOCKS = 2 }; /* threads of a block: with waves of 64, the second is half empty */

#define FMA_f32 __builtin_fmaf
#define FMA_f64 __builtin_fma
#define SQRT_f32 __builtin_sqrtf
#define SQRT_f64 __builtin_sqrt
#define FLOOR __builtin_elementwise_floor
#define CEIL __builtin_elementwise_ceil
#define TRUNC __builtin_elementwise_trunc
#define RINT __builtin_elementwise_rint
#define ABS __builtin_elementwise_abs
#define COPYSIGN __builtin_elementwise_copysign
#define MIN2 __builtin_elementwise_min
#define MAX2 __builtin_elementwise_max
#define ADD_SAT __builtin_elementwise_add_sat
#define SUB_SAT __builtin_elementwise_sub_sat
#define POPCOUNT __builtin_popcountll
#define CLZ(x) ((x) ? __builtin_clzll(x) : 64)
#define CTZ(x) ((x) ? __builtin_ctzll(x) : 64)
#define REVERSE8 __builtin_bitreverse8
#define REVERSE16 __builtin_bitreverse16
#define REVERSE32 __builtin_bitreverse32
#define REVERSE64 __builtin_bitreverse64
#define SWAP8(x) (x)
#define SWAP16 __builtin_bswap16
#define SWAP32 __builtin_bswap32
#define SWAP64 __builtin_bswap64
/* x with its NaNs the same on all machines. */
#define CANON(type, x) canon_##type(x)

#define INTEGER(type, unsigned_type, wide, bits)                                                                       \
    static FN type div_##type(type a, type b) {                                                                        \
        return (type)(b == 0 || (type)(b + 1) == 0 ? (type)(0 - a) : (type)(a / b));                                   \
    }                                                                                                                  \
    static FN type mod_##type(type a, type b) { return (type)(b == 0 || (type)(b + 1) == 0 ? a : (type)(a % b)); }     \
    static FN type min_##type(type a, type b) { return a < b ? a : b; }                                                \
    static FN type max_##type(type a, type b) { return a > b ? a : b; }                                                \
    static FN type rotate_##type(type a, type b) {                                                                     \
        u32 n = (u32)b & (bits - 1);                                                                                   \
        return (type)((unsigned_type)a << n | (unsigned_type)a >> (-n & (bits - 1)));                                  \
    }                                                                                                                  \
    static FN type high_##type(type a, type b) { return (type)((wide)a * (wide)b >> bits); }                           \
    static FN type IN_##type(u64 word) { return (type)word; }                                                          \
    static FN u64 OUT_##type(type x) { return (u64)x; }
INTEGER(u8, u8, u32, 8)
INTEGER(i8, u8, i32, 8)
INTEGER(u16, u16, u32, 16)
INTEGER(i16, u16, i32, 16)
INTEGER(u32, u32, u64, 32)
INTEGER(i32, u32, i64, 32)
INTEGER(u64, u64, unsigned __int128, 64)
INTEGER(i64, u64, __int128, 64)

/* IN makes a number of moderate size of a word of input, RAW takes its bits. */
#define FLOATING(type, bits_type, nan)                                                                                 \
    static FN type canon_##type(type x) {                                                                              \
        union {                                                                                                        \
            bits_type bits;                                                                                            \
            type value;                                                                                                \
        } u;                                                                                                           \
        u.bits = nan;                                                                                                  \
        return x != x ? u.value : x;                                                                                   \
    }                                                                                                                  \
    static FN type min_##type(type a, type b) { return a < b ? a : b; }                                                \
    static FN type max_##type(type a, type b) { return a > b ? a : b; }                                                \
    static FN type sub_##type(type a, type b) {                                                                        \
        HIDE(a);                                                                                                       \
        return a - b;                                                                                                  \
    }                                                                                                                  \
    static FN type IN_##type(u64 word) { return (type)(i32)(word >> 20) * (type)0.0009765625; }                        \
    static FN type RAW_##type(u64 word) {                                                                              \
        union {                                                                                                        \
            bits_type bits;                                                                                            \
            type value;                                                                                                \
        } u;                                                                                                           \
        u.bits = (bits_type)word;                                                                                      \
        return u.value;                                                                                                \
    }                                                                                                                  \
    static FN u64 OUT_##type(type x) {                                                                                 \
        union {                                                                                                        \
            type value;                                                                                                \
            bits_type bits;                                                                                            \
        } u;                                                                                                           \
        u.value = canon_##type(x);                                                                                     \
        return u.bits;                                                                                                 \
    }
FLOATING(f16, u16, 0x7e00)
FLOATING(f32, u32, 0x7fc00000)
FLOATING(f64, u64, 0x7ff8000000000000)

static FN f16_2 sub_f16_2(f16_2 a, f16_2 b) {
    HIDE(a);
    return a - b;
}

#define FROM_FLOAT(to, from, least, end)                                                                               \
    static FN to to##_from_##from(from x) { return (f64)x > (least) && (f64)x < (end) ? (to)x : (to)7; }
#define FROM_FLOATS(to, least, end)                                                                                    \
    FROM_FLOAT(to, f16, least, end) FROM_FLOAT(to, f32, least, end) FROM_FLOAT(to, f64, least, end)
FROM_FLOATS(u8, -1.0, 256.0)
FROM_FLOATS(i8, -129.0, 128.0)
FROM_FLOATS(u16, -1.0, 65536.0)
FROM_FLOATS(i16, -32769.0, 32768.0)
FROM_FLOATS(u32, -1.0, 4294967296.0)
FROM_FLOATS(i32, -2147483649.0, 2147483648.0)
FROM_FLOATS(u64, -1.0, 18446744073709551616.0)
FROM_FLOATS(i64, -9223372036854775808.0, 9223372036854775808.0)

#endif
