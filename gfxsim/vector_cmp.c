/* v_cmp_* and v_cmpx_*: a function for each condition and type. v_cmpx writes EXEC beside its destination, which on
 * gfx10 and later is EXEC. */
#include "gfxsim/vector_math.h"

/* X(condition, expression, targets): floats of any size; integers. */
#define FLOATS(X, type)                                                                                                \
    X(type, f, false, SIM_GFX9 | SIM_GFX10_11)                                                                         \
    X(type, lt, a < b, SIM_ALL)                                                                                        \
    X(type, eq, a == b, SIM_ALL)                                                                                       \
    X(type, le, a <= b, SIM_ALL)                                                                                       \
    X(type, gt, a > b, SIM_ALL)                                                                                        \
    X(type, lg, a<b || a> b, SIM_ALL)                                                                                  \
    X(type, ge, a >= b, SIM_ALL)                                                                                       \
    X(type, o, a == a && b == b, SIM_ALL)                                                                              \
    X(type, u, a != a || b != b, SIM_ALL)                                                                              \
    X(type, nge, !(a >= b), SIM_ALL)                                                                                   \
    X(type, nlg, !(a < b || a > b), SIM_ALL)                                                                           \
    X(type, ngt, !(a > b), SIM_ALL)                                                                                    \
    X(type, nle, !(a <= b), SIM_ALL)                                                                                   \
    X(type, neq, a != b, SIM_ALL)                                                                                      \
    X(type, nlt, !(a < b), SIM_ALL)                                                                                    \
    X(type, tru, true, SIM_GFX9 | SIM_GFX1030)                                                                         \
    X(type, t, true, SIM_GFX1100)
#define INTEGERS(X, type, targets)                                                                                     \
    X(type, f, false, targets)                                                                                         \
    X(type, lt, SIM_A < SIM_B, SIM_ALL)                                                                                \
    X(type, eq, SIM_A == SIM_B, SIM_ALL)                                                                               \
    X(type, le, SIM_A <= SIM_B, SIM_ALL)                                                                               \
    X(type, gt, SIM_A > SIM_B, SIM_ALL)                                                                                \
    X(type, ne, SIM_A != SIM_B, SIM_ALL)                                                                               \
    X(type, ge, SIM_A >= SIM_B, SIM_ALL)                                                                               \
    X(type, t, true, targets)
#define SIGNED(X)                                                                                                      \
    INTEGERS(X, i16, SIM_GFX9)                                                                                         \
    INTEGERS(X, i32, SIM_GFX9 | SIM_GFX10_11) INTEGERS(X, i64, SIM_GFX9 | SIM_GFX10_11)
#define UNSIGNED(X)                                                                                                    \
    INTEGERS(X, u16, SIM_GFX9)                                                                                         \
    INTEGERS(X, u32, SIM_GFX9 | SIM_GFX10_11) INTEGERS(X, u64, SIM_GFX9 | SIM_GFX10_11)
#define ALL_FLOATS(X) FLOATS(X, f16) FLOATS(X, f32) FLOATS(X, f64)

#define OVER_f16 SIM_CMP_HALF
#define OVER_f32 SIM_CMP32
#define OVER_f64 SIM_CMP64
#define OVER_i16 SIM_CMP16
#define OVER_u16 SIM_CMP16
#define OVER_i32 SIM_CMP32
#define OVER_u32 SIM_CMP32
#define OVER_i64 SIM_CMP64
#define OVER_u64 SIM_CMP64
#define SOURCES_f16                                                                                                    \
    { SIM_F16, SIM_F16 }
#define SOURCES_f32                                                                                                    \
    { SIM_F32, SIM_F32 }
#define SOURCES_f64                                                                                                    \
    { SIM_F64, SIM_F64 }
#define SOURCES_i16                                                                                                    \
    { SIM_I16, SIM_I16 }
#define SOURCES_u16                                                                                                    \
    { SIM_U16, SIM_U16 }
#define SOURCES_i32                                                                                                    \
    { SIM_I32, SIM_I32 }
#define SOURCES_u32                                                                                                    \
    { SIM_U32, SIM_U32 }
#define SOURCES_i64                                                                                                    \
    { SIM_I64, SIM_I64 }
#define SOURCES_u64                                                                                                    \
    { SIM_U64, SIM_U64 }

#define FUNCTION(type, condition, expression, targets) OVER_##type(condition##_##type, expression)
ALL_FLOATS(FUNCTION)
#define SIM_A ia
#define SIM_B ib
SIGNED(FUNCTION)
#undef SIM_A
#undef SIM_B
#define SIM_A ua
#define SIM_B ub
UNSIGNED(FUNCTION)

/* The class of a float, as the number of the bit that asks for it: signalling and quiet NaN, then from -inf to +inf. */
static inline u32 class_of(bool negative, u32 exponent, u32 all_ones, bool fraction, bool quiet) {
    if (exponent == all_ones) return fraction ? (quiet ? 1 : 0) : negative ? 2 : 9;
    if (exponent) return negative ? 3 : 8;
    if (fraction) return negative ? 4 : 7;
    return negative ? 5 : 6;
}
SIM_CMP32(class_f32, ub >> class_of(ua >> 31, ua >> 23 & 255, 255, ua & 0x7fffff, ua & 0x400000) & 1)
SIM_CMP32(class_f16, ub >> class_of(ua >> 15 & 1, ua >> 10 & 31, 31, ua & 0x3ff, ua & 0x200) & 1)
SIM_CMP64(class_f64,
          ub >> class_of(ua >> 63, (u32)(ua >> 52) & 2047, 2047, (ua & 0xfffffffffffff) != 0, ua >> 51 & 1) & 1)

#define SOURCES_class_f16                                                                                              \
    { SIM_F16, SIM_B32 }
#define SOURCES_class_f32                                                                                              \
    { SIM_F32, SIM_B32 }
#define SOURCES_class_f64                                                                                              \
    { SIM_F64, SIM_B32 }

#define VECTOR(fn, flags)                                                                                              \
    &(const struct sim_vector) { fn, NULL, flags }
#define ROWS(name, fn, sources, targets, flags)                                                                        \
    {"v_cmp_" name, targets, SIM_CLASS_VALU, {SIM_MASK}, sources, sim_vector_compare, VECTOR(fn, flags)},              \
        {"v_cmpx_" name,                                                                                               \
         targets,                                                                                                      \
         SIM_CLASS_VALU,                                                                                               \
         {SIM_MASK},                                                                                                   \
         sources,                                                                                                      \
         sim_vector_compare,                                                                                           \
         VECTOR(fn, (flags) | SIM_WRITES_EXEC)},
#define ENTRY(type, condition, expression, targets)                                                                    \
    ROWS(#condition "_" #type, condition##_##type, SOURCES_##type, targets, 0)
#define CLASS(type) ROWS(#type, type, SOURCES_##type, SIM_ALL, SIM_NO_FLUSH)

const struct sim_op SIM_ISA(sim_vector_cmp)[] = {
    /* clang-format off */
    ALL_FLOATS(ENTRY)
    SIGNED(ENTRY)
    UNSIGNED(ENTRY)
    CLASS(class_f16)
    CLASS(class_f32)
    CLASS(class_f64)
    /* clang-format on */
    {0}};
