/* Light functions of two tensors, with broadcasting. */
#include "turn_tiles.h"

#include "binary.h"

#define CASE(name, value)                                                                                              \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = a[s], y = b[s];                                                                                      \
            a[s] = (C)(value);                                                                                         \
        }                                                                                                              \
        break;

/* ---- the bodies: x and y are the arguments ---- */

#define FLOAT_add (x + y)
#define FLOAT_sub (x - y)
#define FLOAT_mul (x * y)
#define FLOAT_div (x / y)
#define FLOAT_trunc_divide gpu_trunc(x / y)
#define FLOAT_maximum (x != x || x > y ? x : y)
#define FLOAT_minimum (x != x || x < y ? x : y)
#define FLOAT_prelu (x > 0 ? x : x * y)

/* Which ops have which body. */
#define FLOAT_CASE_ALL_LIGHT(name) CASE(name, FLOAT_##name)
#define FLOAT_CASE_FLOATS_LIGHT(name) CASE(name, FLOAT_##name)
#define FLOAT_CASE_INTS_LIGHT(name)
#define FLOAT_CASE_ALL_HEAVY(name) /* in math.hip */
#define FLOAT_CASE_FLOATS_HEAVY(name)
#define INT_CASE_ALL(name) CASE(name, INT_##name)
#define INT_CASE_INTS(name) CASE(name, INT_##name)
#define INT_CASE_FLOATS(name)

/* a[] = op(a[], b[]) in f32 or f64. */
template <typename C, int S> GPU_FN void binary_float(C (&a)[S], const C (&b)[S], u32 op) {
    switch (op) {
#define WICK__BINARY(number, name, dtypes, cost, ...) FLOAT_CASE_##dtypes##_##cost(name)
#define WICK__PAIR(number, name, dtypes, cost, ...) FLOAT_CASE_##dtypes##_##cost(name)
#include "elementwise_ops.h"
    default: break;
    }
}

template <typename T> GPU_FN void binary_floats(const struct gpu_binary &p) {
    typedef typename gpu_compute<T>::type C;
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MANY(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    C a[S], b[S];
    gpu_fetch_both<T, E, GPU_BINARY_ANY(sizeof(T))>(a, b, p.walk, tile);
    binary_float<C, S>(a, b, p.op);
    gpu_put_rounded<T, E>(a, p.walk, tile);
}

/* Where one of the operands is turned. */
GPU_KERNEL_OF(binary_turn, struct gpu_binary_turn, GPU_BLOCK, GPU_TURN_BLOCKS) {
    GPU_SHARED gpu_16 shared[GPU_TURN_VECTORS];
    struct gpu_turn_tile tile;
    if (!gpu_turn_floats(&tile, p.turn, p.dtype, shared)) return;
    GPU_NO_UNROLL for (u32 n = 0; n < p.turn.lines; n++) {
        struct gpu_turn_line line = gpu_turn_line_of(p.turn, tile, n, p.dtype == GPU_TURN_f32 ? 4 : 2);
        GPU_NO_UNROLL for (; line.column < tile.left_i; gpu_turn_next(&line, p.turn)) {
            f32 turned[GPU_TURN_SLOTS], other[GPU_TURN_SLOTS], a[GPU_TURN_SLOTS], b[GPU_TURN_SLOTS];
            gpu_turn_other_floats(other, p.turn, p.dtype, line);
            gpu_turn_take_floats(turned, p.dtype, line, shared);
            GPU_UNROLL for (int s = 0; s < GPU_TURN_SLOTS; s++) {
                a[s] = p.second ? other[s] : turned[s];
                b[s] = p.second ? turned[s] : other[s];
            }
            binary_float(a, b, p.op);
            gpu_turn_put_floats(a, p.turn, p.dtype, line);
        }
    }
}

/* ---- integers: W is an unsigned type of at least 32 bits, which wraps ---- */

template <typename W, typename T> GPU_FN W magnitude(T x) { return gpu_negative(x) ? 0 - (W)x : (W)x; }

/* Towards zero. By magnitudes, so that the least value divided by -1 wraps to itself. */
template <typename W, typename T> GPU_FN T divide(T x, T y) {
    W quotient = magnitude<W>(x) / (y == 0 ? 1 : magnitude<W>(y));
    return (T)(gpu_negative(x) != gpu_negative(y) ? 0 - quotient : quotient);
}

/* Of the sign of x. */
template <typename W, typename T> GPU_FN T rest_of(T x, T y) {
    W rest = magnitude<W>(x) % (y == 0 ? 1 : magnitude<W>(y));
    return (T)(gpu_negative(x) ? 0 - rest : rest);
}

/* Down. */
template <typename W, typename T> GPU_FN T floor_divide(T x, T y) {
    W by = y == 0 ? 1 : magnitude<W>(y), quotient = magnitude<W>(x) / by;
    bool negative = gpu_negative(x) != gpu_negative(y), up = quotient * by != magnitude<W>(x);
    return (T)(negative ? 0 - quotient - up : quotient);
}

/* Of the sign of the divisor. */
template <typename W, typename T> GPU_FN T remainder(T x, T y) {
    W rest = magnitude<W>(x) % (y == 0 ? 1 : magnitude<W>(y));
    W r = gpu_negative(x) ? 0 - rest : rest;
    return (T)(rest != 0 && gpu_negative(x) != gpu_negative(y) ? r + (W)y : r);
}

/* x^y by squaring. A negative exponent leaves 1 for 1, +-1 for -1, and 0 for all else. */
template <typename W, typename T> GPU_FN T power(T x, T y) {
    W result = 1, square = (W)x;
    if (gpu_negative(y)) return x == 1 ? (T)1 : x == (T)-1 ? (y & 1 ? (T)-1 : (T)1) : (T)0;
    GPU_NO_UNROLL for (W n = (W)y; n; n >>= 1) {
        if (n & 1) result *= square;
        square *= square;
    }
    return (T)result;
}

/* Shifts by fewer than 0 or more than all bits move everything out. */
template <typename W, typename T> GPU_FN T shift_left(T x, T y) {
    return gpu_negative(y) || (u64)y >= 8 * sizeof(T) ? (T)0 : (T)((W)x << (u32)y);
}
template <typename T> GPU_FN T shift_right(T x, T y) {
    return gpu_negative(y) || (u64)y >= 8 * sizeof(T) ? (gpu_negative(x) ? (T)-1 : (T)0) : (T)(x >> (u32)y);
}

#define INT_add ((W)x + (W)y)
#define INT_sub ((W)x - (W)y)
#define INT_mul ((W)x * (W)y)
#define INT_div (divide<W>(x, y))
#define INT_maximum (x > y ? x : y)
#define INT_minimum (x < y ? x : y)
#define INT_pow (power<W>(x, y))
#define INT_remainder (remainder<W>(x, y))
#define INT_fmod (rest_of<W>(x, y))
#define INT_floor_divide (floor_divide<W>(x, y))
#define INT_trunc_divide (divide<W>(x, y))
#define INT_bitwise_and (x & y)
#define INT_bitwise_or (x | y)
#define INT_bitwise_xor (x ^ y)
#define INT_shift_left (shift_left<W>(x, y))
#define INT_shift_right shift_right(x, y)

template <typename W, typename C, int S> GPU_FN void binary_int(C (&a)[S], const C (&b)[S], u32 op) {
    switch (op) {
#define WICK__BINARY(number, name, dtypes, ...) INT_CASE_##dtypes(name)
#define WICK__PAIR(number, name, dtypes, ...) INT_CASE_##dtypes(name)
#include "elementwise_ops.h"
    default: break;
    }
}

/* Four bytes of a word at a time, for the ops that allow it; false for the others. */
GPU_FN bool binary_bytes(gpu_16 &a, const gpu_16 &b, u32 op) {
    const u32 low = 0x7f7f7f7fu, high = 0x80808080u;
    switch (op) {
    case GPU_OP_add:
        GPU_UNROLL for (int w = 0; w < 4; w++) a.word[w] =
            ((a.word[w] & low) + (b.word[w] & low)) ^ ((a.word[w] ^ b.word[w]) & high);
        return true;
    case GPU_OP_sub:
        GPU_UNROLL for (int w = 0; w < 4; w++) a.word[w] =
            ((a.word[w] | high) - (b.word[w] & low)) ^ ((a.word[w] ^ ~b.word[w]) & high);
        return true;
    case GPU_OP_bitwise_and: GPU_UNROLL for (int w = 0; w < 4; w++) a.word[w] &= b.word[w]; return true;
    case GPU_OP_bitwise_or: GPU_UNROLL for (int w = 0; w < 4; w++) a.word[w] |= b.word[w]; return true;
    case GPU_OP_bitwise_xor: GPU_UNROLL for (int w = 0; w < 4; w++) a.word[w] ^= b.word[w]; return true;
    default: return false;
    }
}

/* A whole chunk of bytes a thread, when the op allows it. */
template <typename T> GPU_FN bool binary_by_words(T, const struct gpu_binary &, u64) { return false; }
GPU_FN bool binary_by_words(u8, const struct gpu_binary &p, u64 tile) {
    enum { E = GPU_CHUNK(1), S = GPU_SLOTS_OF_MANY(1) };
    static_assert(E == S && E == 16, "a thread takes 16 bytes of a tile");
    if (!gpu_walk_straight<S>(p.walk, tile)) return false;
    u64 at = tile * (GPU_BLOCK * S) + (u64)gpu_thread() * S;
    gpu_16 a = *(const gpu_16 *)((const u8 *)p.walk.in[0] + at), b = *(const gpu_16 *)((const u8 *)p.walk.in[1] + at);
    if (!binary_bytes(a, b, p.op)) return false;
    *(gpu_16 *)((u8 *)p.walk.out + at) = a;
    return true;
}

GPU_FN bool divides(u32 op) {
    return op == GPU_OP_div || op == GPU_OP_remainder || op == GPU_OP_fmod || op == GPU_OP_floor_divide ||
           op == GPU_OP_trunc_divide;
}

template <typename T, typename W> GPU_FN void binary_ints(const struct gpu_binary &p) {
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MANY(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    if (binary_by_words(T(), p, tile)) return;
    T a[S], b[S];
    gpu_fetch<E, S>(a, p.walk, 0, tile);
    gpu_fetch<E, S>(b, p.walk, 1, tile);
    if (divides(p.op)) {
        bool zero = false;
        GPU_UNROLL for (int s = 0; s < S; s++) zero |= b[s] == 0;
        if (zero) gpu_report_failure(p.report, 0, 0);
    }
    binary_int<W, T, S>(a, b, p.op);
    gpu_put<E, S>(a, p.walk, tile);
}

GPU_KERNEL(binary_u8, struct gpu_binary) { binary_ints<u8, u32>(p); }
GPU_KERNEL(binary_u32, struct gpu_binary) { binary_ints<u32, u32>(p); }
GPU_KERNEL(binary_i16, struct gpu_binary) { binary_ints<i16, u32>(p); }
GPU_KERNEL(binary_i32, struct gpu_binary) { binary_ints<i32, u32>(p); }
GPU_KERNEL(binary_i64, struct gpu_binary) { binary_ints<i64, u64>(p); }
#define BINARY(T)                                                                                                      \
    GPU_KERNEL(binary_##T, struct gpu_binary) { binary_floats<T>(p); }
GPU_FLOATS(BINARY)
