/* Functions of two tensors, with broadcasting. */
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/vmath.h"

#include <math.h>
#include <string.h>

/* ---- floats: x, y are the arguments, F(f) the function for their type ---- */

/* PyTorch's remainder: the sign of the divisor. */
static inline float remainder_of_f32(float x, float y) {
    float r = fmodf(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static inline double remainder_of_f64(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* C's fmod, under a name that has the type's suffix. */
static inline float rest_of_f32(float x, float y) { return fmodf(x, y); }
static inline double rest_of_f64(double x, double y) { return fmod(x, y); }

static inline float trunc_of_f32(float x) { return truncf(x); }
static inline double trunc_of_f64(double x) { return trunc(x); }

/* floor(x / y), from the part of x that y divides: the quotient of that is off by less than a half. Of f32 in f64. */
static inline double floor_divide_of_f64(double x, double y) {
    if (y == 0) return x / y;
    double r = fmod(x, y), quotient = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return copysign(0, x / y);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static inline float floor_divide_of_f32(float x, float y) { return (float)floor_divide_of_f64((double)x, (double)y); }

#define FLOAT_OPS(X)                                                                                                   \
    X(add, x + y)                                                                                                      \
    X(sub, x - y)                                                                                                      \
    X(mul, x *y)                                                                                                       \
    X(div, x / y)                                                                                                      \
    X(maximum, x != x || x > y ? x : y)                                                                                \
    X(minimum, x != x || x < y ? x : y)                                                                                \
    X(remainder, F(remainder_of)(x, y))                                                                                \
    X(fmod, F(rest_of)(x, y))                                                                                          \
    X(floor_divide, F(floor_divide_of)(x, y))                                                                          \
    X(trunc_divide, F(trunc_of)(x / y))                                                                                \
    X(prelu, x > 0 ? x : x * y)

#define LOOP(name, type, expression)                                                                                   \
    static void name(const struct wick__row *row) {                                                                    \
        const type *a = row->in[0], *b = row->in[1];                                                                   \
        type *out = row->out;                                                                                          \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            type x = a[i], y = b[i];                                                                                   \
            out[i] = (type)(expression);                                                                               \
        }                                                                                                              \
    }

#define F(name) name##_f32
#define FLOAT_F32(name, expression) LOOP(name##_f32, float, expression)
FLOAT_OPS(FLOAT_F32)
#undef F
#define F(name) name##_f64
#define FLOAT_F64(name, expression) LOOP(name##_f64, double, expression)
FLOAT_OPS(FLOAT_F64)
#undef F

/* By SLEEF's vector functions. swiglu: silu(x) y. glu: x sigmoid(y). */
#define VECTOR_OPS(X)                                                                                                  \
    X(pow, FN(pow, u10)(x, y))                                                                                         \
    X(atan2, FN(atan2, u10)(x, y))                                                                                     \
    X(swiglu, V(silu_by)(x, y))                                                                                        \
    X(glu, x *V(sigmoid)(y))

#define VECTOR_LOOP(name, type, vector, lanes, load, store, expression)                                                \
    static void name(const struct wick__row *row) {                                                                    \
        const type *a = row->in[0], *b = row->in[1];                                                                   \
        type *out = row->out;                                                                                          \
        int64_t i = 0;                                                                                                 \
        for (; i + lanes <= row->n; i += lanes) {                                                                      \
            vector x = load(a + i), y = load(b + i);                                                                   \
            store(out + i, expression);                                                                                \
        }                                                                                                              \
        if (i < row->n) {                                                                                              \
            type rest[2][lanes] = {{0}};                                                                               \
            memcpy(rest[0], a + i, (size_t)(row->n - i) * sizeof *a);                                                  \
            memcpy(rest[1], b + i, (size_t)(row->n - i) * sizeof *b);                                                  \
            vector x = load(rest[0]), y = load(rest[1]);                                                               \
            store(rest[0], expression);                                                                                \
            memcpy(out + i, rest[0], (size_t)(row->n - i) * sizeof *out);                                              \
        }                                                                                                              \
    }

#define FN WICK__VF_FN
#define V(name) wick__vf_##name
#define VECTOR_F32(name, expression)                                                                                   \
    VECTOR_LOOP(name##_f32, float, wick__vf, WICK__VF, wick__vf_load, wick__vf_store, expression)
VECTOR_OPS(VECTOR_F32)
#undef FN
#undef V
#define FN WICK__VD_FN
#define V(name) wick__vd_##name
#define VECTOR_F64(name, expression)                                                                                   \
    VECTOR_LOOP(name##_f64, double, wick__vd, WICK__VD, wick__vd_load, wick__vd_store, expression)
VECTOR_OPS(VECTOR_F64)
#undef FN
#undef V

/* ---- integers: W is an unsigned type, at least as wide as int, that wraps as T does ---- */

#define INT_OPS(T, W, s)                                                                                               \
    LOOP(add_##s, T, (W)x + (W)y)                                                                                      \
    LOOP(sub_##s, T, (W)x - (W)y)                                                                                      \
    LOOP(mul_##s, T, (W)x *(W)y)                                                                                       \
    LOOP(maximum_##s, T, x > y ? x : y)                                                                                \
    LOOP(minimum_##s, T, x < y ? x : y)                                                                                \
    LOOP(bitwise_and_##s, T, x &y)                                                                                     \
    LOOP(bitwise_or_##s, T, x | y)                                                                                     \
    LOOP(bitwise_xor_##s, T, x ^ y)

INT_OPS(uint8_t, uint32_t, u8)
INT_OPS(uint32_t, uint32_t, u32)
INT_OPS(int16_t, uint32_t, i16)
INT_OPS(int32_t, uint32_t, i32)
INT_OPS(int64_t, uint64_t, i64)

/* Quotient and remainder. The least value divided by -1 wraps to itself, and must not reach the processor. */
#define DIVISION(name, T, quotient, guard)                                                                             \
    static void name(const struct wick__row *row) {                                                                    \
        const T *a = row->in[0], *b = row->in[1];                                                                      \
        T *out = row->out;                                                                                             \
        bool zero = false;                                                                                             \
        const int64_t n = row->n;                                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            T x = a[i], y = b[i];                                                                                      \
            zero |= y == 0;                                                                                            \
            y = y == 0 ? 1 : y;                                                                                        \
            guard out[i] = (T)(quotient);                                                                              \
        }                                                                                                              \
        if (zero) atomic_store_explicit(row->failed, true, memory_order_relaxed);                                      \
    }
#define UNSIGNED_DIVISION(T, W, s)                                                                                     \
    DIVISION(div_##s, T, x / y, )                                                                                      \
    DIVISION(remainder_##s, T, x % y, )                                                                                \
    DIVISION(fmod_##s, T, x % y, )                                                                                     \
    DIVISION(floor_divide_##s, T, x / y, )                                                                             \
    DIVISION(trunc_divide_##s, T, x / y, )
#define NEGATE_GUARD(T, W, result)                                                                                     \
    if (y == -1) {                                                                                                     \
        out[i] = (T)(result);                                                                                          \
        continue;                                                                                                      \
    }
#define SIGNED_DIVISION(T, W, s)                                                                                       \
    DIVISION(div_##s, T, x / y, NEGATE_GUARD(T, W, 0 - (W)x))                                                          \
    DIVISION(remainder_##s, T, x % y != 0 && ((x % y) ^ y) < 0 ? x % y + y : x % y, NEGATE_GUARD(T, W, 0))             \
    DIVISION(fmod_##s, T, x % y, NEGATE_GUARD(T, W, 0))                                                                \
    DIVISION(floor_divide_##s, T, x / y - (x % y != 0 && ((x % y) ^ y) < 0), NEGATE_GUARD(T, W, 0 - (W)x))             \
    DIVISION(trunc_divide_##s, T, x / y, NEGATE_GUARD(T, W, 0 - (W)x))

UNSIGNED_DIVISION(uint8_t, uint32_t, u8)
UNSIGNED_DIVISION(uint32_t, uint32_t, u32)
SIGNED_DIVISION(int16_t, uint32_t, i16)
SIGNED_DIVISION(int32_t, uint32_t, i32)
SIGNED_DIVISION(int64_t, uint64_t, i64)

/* Shifts by fewer than 0 or more than all bits move everything out. */
#define UNSIGNED_SHIFTS(T, W, s)                                                                                       \
    LOOP(shift_left_##s, T, y < 8 * sizeof x ? (W)x << y : 0)                                                          \
    LOOP(shift_right_##s, T, y < 8 * sizeof x ? x >> y : 0)
#define SIGNED_SHIFTS(T, W, s)                                                                                         \
    LOOP(shift_left_##s, T, y >= 0 && y < (T)(8 * sizeof x) ? (W)x << y : 0)                                           \
    LOOP(shift_right_##s, T, y >= 0 && y < (T)(8 * sizeof x) ? x >> y : x < 0 ? -1 : 0)

UNSIGNED_SHIFTS(uint8_t, uint32_t, u8)
UNSIGNED_SHIFTS(uint32_t, uint32_t, u32)
SIGNED_SHIFTS(int16_t, uint32_t, i16)
SIGNED_SHIFTS(int32_t, uint32_t, i32)
SIGNED_SHIFTS(int64_t, uint64_t, i64)

/* x^y by squaring, wrapping. A negative exponent leaves 1 for 1, +-1 for -1, and 0 for all else. */
static inline uint64_t power(uint64_t x, uint64_t y) {
    uint64_t result = 1;
    for (; y; y >>= 1) {
        if (y & 1) result *= x;
        x *= x;
    }
    return result;
}

static inline uint64_t signed_power(int64_t x, int64_t y) {
    if (y >= 0) return power((uint64_t)x, (uint64_t)y);
    if (x == 1) return 1;
    if (x == -1) return y % 2 ? (uint64_t)-1 : 1;
    return 0;
}

LOOP(pow_u8, uint8_t, power(x, y))
LOOP(pow_u32, uint32_t, power(x, y))
LOOP(pow_i16, int16_t, signed_power(x, y))
LOOP(pow_i32, int32_t, signed_power(x, y))
LOOP(pow_i64, int64_t, signed_power(x, y))

/* ---- choice ---- */

static const struct wick__rows *rows_of(enum wick_op op) {
    switch ((int)op) {
#define WICK__BINARY(number, name, dtypes, cost, ...) WICK__ROWS_CASE(number, name, dtypes, cost)
#define WICK__PAIR(number, name, dtypes, cost, ...) WICK__ROWS_CASE(number, name, dtypes, cost)
#include "kernels/elementwise_ops.h"
    default: return NULL;
    }
}

wick__kernel_fn WICK__ISA(wick__cpu_binary);
enum wick_status WICK__ISA(wick__cpu_binary)(const struct wick__call *call) {
    struct wick__elementwise e = {.n_in = 2, .in = {call->in[0], call->in[1]}, .out = call->out[0]};
    WICK__TRY(wick__rows_choose(&e, call->op, rows_of(call->op)));
    WICK__ISA(wick__elementwise)(&e);
    if (!atomic_load(&e.failed)) return WICK_OK;
    const struct wick_tensor *a = wick__as_made(call)->in[0], *b = wick__as_made(call)->in[1];
    char lhs[WICK__SHAPE_TEXT], rhs[WICK__SHAPE_TEXT];
    return wick__fail(WICK_DIVIDE, "%s: %s %s %s, %s %s %s on %s: integer division by zero", wick_op_name(call->op),
                      wick__operand_name(call->op, 0), wick__shape_text(lhs, a->layout.rank, a->layout.shape),
                      wick_dtype_name(a->dtype), wick__operand_name(call->op, 1),
                      wick__shape_text(rhs, b->layout.rank, b->layout.shape), wick_dtype_name(b->dtype),
                      wick__device(a)->name);
}
