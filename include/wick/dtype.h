/* Element types. */
#ifndef WICK_DTYPE_H
#define WICK_DTYPE_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, bits, kind): the ten dtypes every device family computes with come first; the others load, save and copy.
 * f16 is IEEE binary16, bf16 the upper half of f32, f8e4m3 the OCP 8-bit float without infinities (largest 448).
 * kind: U unsigned, I signed integer, F float, B boolean. */
#define WICK_DTYPE_MAP(X)                                                                                              \
    X(u8, 8, U)                                                                                                        \
    X(u32, 32, U)                                                                                                      \
    X(i16, 16, I)                                                                                                      \
    X(i32, 32, I)                                                                                                      \
    X(i64, 64, I)                                                                                                      \
    X(bf16, 16, F)                                                                                                     \
    X(f16, 16, F)                                                                                                      \
    X(f32, 32, F)                                                                                                      \
    X(f64, 64, F)                                                                                                      \
    X(f8e4m3, 8, F)                                                                                                    \
    X(i8, 8, I)                                                                                                        \
    X(u16, 16, U)                                                                                                      \
    X(u64, 64, U)                                                                                                      \
    X(bool, 8, B)                                                                                                      \
    X(f8e5m2, 8, F)                                                                                                    \
    X(f8e8m0, 8, F)                                                                                                    \
    X(f6e2m3, 6, F)                                                                                                    \
    X(f6e3m2, 6, F)                                                                                                    \
    X(f4, 4, F)

enum wick_dtype {
#define WICK__DTYPE(name, bits, kind) WICK_DTYPE_##name,
    WICK_DTYPE_MAP(WICK__DTYPE)
#undef WICK__DTYPE
        WICK_DTYPE_COUNT
};

/* How many dtypes, from the first, take part in arithmetic. */
#define WICK_DTYPE_COMPUTE_COUNT 10

/* The short names a program uses: WICK_F32 for WICK_DTYPE_f32. */
#define WICK_U8 WICK_DTYPE_u8
#define WICK_U32 WICK_DTYPE_u32
#define WICK_I16 WICK_DTYPE_i16
#define WICK_I32 WICK_DTYPE_i32
#define WICK_I64 WICK_DTYPE_i64
#define WICK_BF16 WICK_DTYPE_bf16
#define WICK_F16 WICK_DTYPE_f16
#define WICK_F32 WICK_DTYPE_f32
#define WICK_F64 WICK_DTYPE_f64
#define WICK_F8E4M3 WICK_DTYPE_f8e4m3

/* "f32" and the like; "?" for a value that is no dtype. Static strings. */
WICK_API const char *wick_dtype_name(enum wick_dtype dtype);

/* Bits of one element, 0 for a value that is no dtype. Elements of less than 8 bits lie packed, without gaps. */
WICK_API int wick_dtype_bits(enum wick_dtype dtype);

/* True for bf16, f16, f32, f64 and the 8, 6 and 4 bit floats. */
WICK_API bool wick_dtype_is_float(enum wick_dtype dtype);

/* Finds a dtype by its name. False, and *dtype untouched, when there is none of that name. */
WICK_API bool wick_dtype_from_name(const char *name, enum wick_dtype *dtype);

#ifdef __cplusplus
}
#endif
#endif
