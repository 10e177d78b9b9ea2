/* Element types. */
#ifndef WICK_DTYPE_H
#define WICK_DTYPE_H

#include <wick/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, kind, elements, bytes): a block of so many elements takes so many bytes. Blocks lie next to one another.
 *
 * Every device family computes with the first ten dtypes; all others load, save and copy. f16 is IEEE binary16, bf16
 * the upper half of f32, f8e4m3 the OCP 8-bit float without infinities (largest 448). The dtypes from q4_0 on are
 * GGML's. Their elements share scales, so a block is the smallest addressable unit, and the last dim of a tensor is a
 * whole number of blocks. wick_cast, wick_index_select, wick_embedding and the weights of wick_linear accept them too.
 *
 * kind: UNSIGNED, SIGNED, FLOAT, BOOL, or QUANTISED. */
#define WICK_DTYPE_MAP(X)                                                                                              \
    X(u8, UNSIGNED, 1, 1)                                                                                              \
    X(u32, UNSIGNED, 1, 4)                                                                                             \
    X(i16, SIGNED, 1, 2)                                                                                               \
    X(i32, SIGNED, 1, 4)                                                                                               \
    X(i64, SIGNED, 1, 8)                                                                                               \
    X(bf16, FLOAT, 1, 2)                                                                                               \
    X(f16, FLOAT, 1, 2)                                                                                                \
    X(f32, FLOAT, 1, 4)                                                                                                \
    X(f64, FLOAT, 1, 8)                                                                                                \
    X(f8e4m3, FLOAT, 1, 1)                                                                                             \
    X(i8, SIGNED, 1, 1)                                                                                                \
    X(u16, UNSIGNED, 1, 2)                                                                                             \
    X(u64, UNSIGNED, 1, 8)                                                                                             \
    X(bool, BOOL, 1, 1)                                                                                                \
    X(f8e5m2, FLOAT, 1, 1)                                                                                             \
    X(f8e8m0, FLOAT, 1, 1)                                                                                             \
    X(f6e2m3, FLOAT, 4, 3)                                                                                             \
    X(f6e3m2, FLOAT, 4, 3)                                                                                             \
    X(f4, FLOAT, 2, 1)                                                                                                 \
    X(q4_0, QUANTISED, 32, 18)                                                                                         \
    X(q4_1, QUANTISED, 32, 20)                                                                                         \
    X(q5_0, QUANTISED, 32, 22)                                                                                         \
    X(q5_1, QUANTISED, 32, 24)                                                                                         \
    X(q8_0, QUANTISED, 32, 34)                                                                                         \
    X(q8_1, QUANTISED, 32, 36)                                                                                         \
    X(q2_k, QUANTISED, 256, 84)                                                                                        \
    X(q3_k, QUANTISED, 256, 110)                                                                                       \
    X(q4_k, QUANTISED, 256, 144)                                                                                       \
    X(q5_k, QUANTISED, 256, 176)                                                                                       \
    X(q6_k, QUANTISED, 256, 210)                                                                                       \
    X(q8_k, QUANTISED, 256, 292)                                                                                       \
    X(iq2_xxs, QUANTISED, 256, 66)                                                                                     \
    X(iq2_xs, QUANTISED, 256, 74)                                                                                      \
    X(iq3_xxs, QUANTISED, 256, 98)                                                                                     \
    X(iq1_s, QUANTISED, 256, 50)                                                                                       \
    X(iq4_nl, QUANTISED, 32, 18)                                                                                       \
    X(iq3_s, QUANTISED, 256, 110)                                                                                      \
    X(iq2_s, QUANTISED, 256, 82)                                                                                       \
    X(iq4_xs, QUANTISED, 256, 136)                                                                                     \
    X(iq1_m, QUANTISED, 256, 56)                                                                                       \
    X(tq1_0, QUANTISED, 256, 54)                                                                                       \
    X(tq2_0, QUANTISED, 256, 66)                                                                                       \
    X(mxfp4, QUANTISED, 32, 17)                                                                                        \
    X(nvfp4, QUANTISED, 64, 36)                                                                                        \
    X(q1_0, QUANTISED, 128, 18)                                                                                        \
    X(q2_0, QUANTISED, 64, 18)

enum wick_dtype {
#define WICK__DTYPE(name, kind, elements, nbytes) WICK_DTYPE_##name,
    WICK_DTYPE_MAP(WICK__DTYPE)
#undef WICK__DTYPE
        WICK_DTYPE_COUNT
};

/* The number of compute dtypes; they come first. */
#define WICK_DTYPE_COMPUTE_COUNT 10

enum wick_dtype_kind {
    WICK_DTYPE_KIND_UNSIGNED,
    WICK_DTYPE_KIND_SIGNED,
    WICK_DTYPE_KIND_FLOAT,
    WICK_DTYPE_KIND_BOOL,
    WICK_DTYPE_KIND_QUANTISED, /* GGML's blocks */
    WICK_DTYPE_KIND_NONE       /* of a value that is not a dtype */
};

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

/* "f32" and the like; "?" for a value that is not a dtype. Static strings. */
WICK_API const char *wick_dtype_name(enum wick_dtype dtype);

/* Finds a dtype by its name. False, and *dtype untouched, when there is none of that name. */
WICK_API bool wick_dtype_from_name(const char *name, enum wick_dtype *dtype);

/* What the elements are; see the list of kinds above. */
WICK_API enum wick_dtype_kind wick_dtype_kind(enum wick_dtype dtype);
/* True for bf16, f16, f32, f64 and the 8, 6 and 4 bit floats. */
WICK_API bool wick_dtype_is_float(enum wick_dtype dtype);

/* Bits of one element. 0 for quantised dtypes, whose elements share bits, and for a value that is not a dtype. Elements
 * of less than 8 bits lie packed, without gaps. */
WICK_API int wick_dtype_bits(enum wick_dtype dtype);

/* Elements of a block, and its bytes. 1 element for dtypes of whole bytes; 0 and 0 for a value that is not a dtype. */
WICK_API int wick_dtype_block(enum wick_dtype dtype);
WICK_API int wick_dtype_block_bytes(enum wick_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
