/* Light functions of one tensor, with numbers or without. Also those of f8e4m3, by a table of its 256 values. */
#include "turn_tiles.h"

#include "unary.h"

#define CASE(name, value)                                                                                              \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = v[s];                                                                                                \
            v[s] = (C)(value);                                                                                         \
        }                                                                                                              \
        break;

/* y / 6 of NaN or 0 <= y <= 6 that is 0 or normal, rounded once, by fewer instructions than a division takes. */
template <typename C> GPU_FN C sixth(C y) {
    C part = y * (C)(1 / 6.0);
    return gpu_fma(gpu_fma(-part, (C)6, y), (C)(1 / 6.0), part);
}

/* ---- the bodies: x is the argument, a and b the numbers ---- */

#define FLOAT_abs gpu_fabs(x)
#define FLOAT_neg (-x)
#define FLOAT_sqr (x * x)
#define FLOAT_sign ((C)((x > 0) - (x < 0)))
#define FLOAT_relu (x < 0 ? 0 : x)
#define FLOAT_affine (x * a + b)
#define FLOAT_add_scalar (x + a)
#define FLOAT_sub_scalar (x - a)
#define FLOAT_mul_scalar (x * a)
#define FLOAT_div_scalar (x / a)
#define FLOAT_clamp ((x < a ? a : x) > b ? b : (x < a ? a : x))
#define FLOAT_sqrt gpu_sqrt(x)
#define FLOAT_rsqrt (1 / gpu_sqrt(x))
#define FLOAT_recip (1 / x)
#define FLOAT_floor gpu_floor(x)
#define FLOAT_ceil gpu_ceil(x)
#define FLOAT_round gpu_rint(x)
#define FLOAT_round_ties_away                                                                                          \
    (x - gpu_trunc(x) >= (C)0.5    ? gpu_trunc(x) + 1                                                                  \
     : x - gpu_trunc(x) <= (C)-0.5 ? gpu_trunc(x) - 1                                                                  \
                                   : gpu_trunc(x))
#define FLOAT_trunc gpu_trunc(x)
#define FLOAT_relu2 (x < 0 ? 0 : x * x)
#define FLOAT_relu6 (x < 0 ? 0 : x > 6 ? 6 : x)
#define FLOAT_hard_sigmoid sixth<C>(x < -3 ? 0 : x > 3 ? 6 : x + 3)
#define FLOAT_hard_swish (x * sixth<C>(x < -3 ? 0 : x > 3 ? 6 : x + 3))
#define FLOAT_leaky_relu (x < 0 ? x * a : x)
#define FLOAT_softsign (x / (1 + gpu_fabs(x)))
#define FLOAT_hardtanh ((x < a ? a : x) > b ? b : (x < a ? a : x))

/* Which ops have which body. */
#define FLOAT_CASE_ALL_LIGHT(name) CASE(name, FLOAT_##name)
#define FLOAT_CASE_FLOATS_LIGHT(name) CASE(name, FLOAT_##name)
#define FLOAT_CASE_INTS_LIGHT(name)
#define FLOAT_CASE_ALL_HEAVY(name) /* in math.hip */
#define FLOAT_CASE_FLOATS_HEAVY(name)
#define FLOAT_CASE_FLOATS_RARE(name) /* in special.hip */
#define INT_CASE_ALL(name) CASE(name, INT_##name)
#define INT_CASE_INTS(name) CASE(name, INT_##name)
#define INT_CASE_FLOATS(name)

/* x[] = op(x[]) in f32 or f64. */
template <typename C, int S, typename P> GPU_FN void unary_float(C (&v)[S], const P &p) {
    C a = (C)p.f[0], b = (C)p.f[1];
    switch (p.op) {
#define WICK__UNARY(number, name, dtypes, cost, ...) FLOAT_CASE_##dtypes##_##cost(name)
#define WICK__SCALAR1(number, name, dtypes, cost, ...) FLOAT_CASE_##dtypes##_##cost(name)
#define WICK__SCALAR2(number, name, dtypes, cost, ...) FLOAT_CASE_##dtypes##_##cost(name)
#include "elementwise_ops.h"
    default: break;
    }
}

/* Float to integer: towards zero, saturated, NaN is 0. */
GPU_FN i64 whole(f64 x, f64 low, f64 high) {
    if (x != x) return 0;
    return x <= low ? (i64)low : x >= high ? (i64)high : (i64)x;
}
GPU_FN u8 saturate(u8, f64 x) { return (u8)whole(x, 0, 255); }
GPU_FN u32 saturate(u32, f64 x) { return (u32)whole(x, 0, 4294967295.0); }
GPU_FN i16 saturate(i16, f64 x) { return (i16)whole(x, -32768, 32767); }
GPU_FN i32 saturate(i32, f64 x) { return (i32)whole(x, -2147483648.0, 2147483647.0); }
GPU_FN i64 saturate(i64, f64 x) {
    if (x >= 9223372036854775808.0) return 0x7fffffffffffffff;
    return whole(x, -9223372036854775808.0, 9223372036854774784.0);
}

/* x / a, which is not 0, by magnitudes: dividing the least value by -1 wraps. W is unsigned, at least 32 bits. */
template <typename W, typename T> GPU_FN T divide_by(T x, i64 a) {
    u64 by = a < 0 ? 0 - (u64)a : (u64)a;
    W n = gpu_negative(x) ? 0 - (W)x : (W)x, quotient = by > (u64)(W) ~(W)0 ? 0 : n / (W)by;
    return (T)(gpu_negative(x) != (a < 0) ? 0 - quotient : quotient);
}

#define INT_abs (gpu_negative(x) ? 0 - (W)x : (W)x)
#define INT_neg (0 - (W)x)
#define INT_sqr ((W)x * (W)x)
#define INT_sign ((x != 0) - 2 * gpu_negative(x))
#define INT_relu (gpu_negative(x) ? 0 : x)
#define INT_bitwise_not (~(W)x)
#define INT_affine ((W)x * a + b)
#define INT_add_scalar ((W)x + a)
#define INT_sub_scalar ((W)x - a)
#define INT_mul_scalar ((W)x * a)
#define INT_div_scalar (divide_by<W>(x, p.i[0]))
#define INT_clamp ((x < low ? low : x) > high ? high : (x < low ? low : x))
#define INT_floor x
#define INT_ceil x
#define INT_round x
#define INT_round_ties_away x
#define INT_trunc x

/* The same for integers; W is an unsigned type of at least 32 bits, which wraps. */
template <typename W, typename C, int S> GPU_FN void unary_int(C (&v)[S], const struct gpu_unary &p) {
    W a = (W)p.i[0], b = (W)p.i[1];
    C low = (C)p.i[0], high = (C)p.i[1];
    switch (p.op) {
#define WICK__UNARY(number, name, dtypes, ...) INT_CASE_##dtypes(name)
#define WICK__SCALAR1(number, name, dtypes, ...) INT_CASE_##dtypes(name)
#define WICK__SCALAR2(number, name, dtypes, ...) INT_CASE_##dtypes(name)
#include "elementwise_ops.h"
        CASE(affine_by, saturate((C)0, (f64)x * p.f[0] + p.f[1]))
    default: break;
    }
}

template <typename T> GPU_FN void unary_floats(const struct gpu_unary &p) {
    typedef typename gpu_compute<T>::type C;
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T r[S];
    C v[S];
    gpu_fetch<E, S>(r, p.walk, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) v[s] = gpu_up(r[s]);
    unary_float(v, p);
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = gpu_round<T>(v[s]);
    gpu_put<E, S>(r, p.walk, tile);
}

template <typename T, typename W> GPU_FN void unary_ints(const struct gpu_unary &p) {
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T r[S];
    gpu_fetch<E, S>(r, p.walk, 0, tile);
    unary_int<W, T, S>(r, p);
    gpu_put<E, S>(r, p.walk, tile);
}

GPU_KERNEL(unary_u8, struct gpu_unary) { unary_ints<u8, u32>(p); }
GPU_KERNEL(unary_u32, struct gpu_unary) { unary_ints<u32, u32>(p); }
GPU_KERNEL(unary_i16, struct gpu_unary) { unary_ints<i16, u32>(p); }
GPU_KERNEL(unary_i32, struct gpu_unary) { unary_ints<i32, u32>(p); }
GPU_KERNEL(unary_i64, struct gpu_unary) { unary_ints<i64, u64>(p); }
GPU_KERNEL(unary_bf16, struct gpu_unary) { unary_floats<bf16>(p); }
GPU_KERNEL(unary_f16, struct gpu_unary) { unary_floats<f16>(p); }
GPU_KERNEL(unary_f32, struct gpu_unary) { unary_floats<f32>(p); }
GPU_KERNEL(unary_f64, struct gpu_unary) { unary_floats<f64>(p); }

GPU_KERNEL(unary_f8e4m3, struct gpu_unary) {
    GPU_SHARED u8 table[256];
    enum { E = GPU_CHUNK(1), S = GPU_SLOTS(1) };
    f8e4m3 self;
    self.bits = (u8)gpu_thread();
    f32 v[1] = {gpu_up(self)};
    unary_float(v, p);
    table[gpu_thread()] = gpu_round<f8e4m3>(v[0]).bits;
    gpu_sync();
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    u8 r[S];
    gpu_fetch<E, S>(r, p.walk, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = table[r[s]];
    gpu_put<E, S>(r, p.walk, tile);
}

/* Of an operand that is turned. */
GPU_KERNEL_OF(unary_turn, struct gpu_unary_turn, GPU_BLOCK, GPU_TURN_BLOCKS) {
    GPU_SHARED gpu_16 shared[GPU_TURN_VECTORS];
    struct gpu_turn_tile tile;
    if (!gpu_turn_floats(&tile, p.turn, p.dtype, shared)) return;
    GPU_NO_UNROLL for (u32 n = 0; n < p.turn.lines; n++) {
        struct gpu_turn_line line = gpu_turn_line_of(p.turn, tile, n, p.dtype == GPU_TURN_f32 ? 4 : 2);
        GPU_NO_UNROLL for (; line.column < tile.left_i; gpu_turn_next(&line, p.turn)) {
            f32 v[GPU_TURN_SLOTS];
            gpu_turn_take_floats(v, p.dtype, line, shared);
            unary_float(v, p);
            gpu_turn_put_floats(v, p.turn, p.dtype, line);
        }
    }
}
