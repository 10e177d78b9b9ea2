/* Light functions of one tensor, with numbers or without. Also those of f8e4m3, by a table of its 256 values. */
#include "elementwise.h"

#include "unary.h"

#define CASE(name, value)                                                                                              \
    case GPU_UNARY_##name:                                                                                             \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = v[s];                                                                                                \
            v[s] = (C)(value);                                                                                         \
        }                                                                                                              \
        break;

/* x[] = op(x[]) in f32 or f64. */
template <typename C, int S> GPU_FN void unary_float(C (&v)[S], const struct gpu_unary &p) {
    C a = (C)p.f[0], b = (C)p.f[1];
    switch (p.op) {
        CASE(abs, gpu_fabs(x))
        CASE(neg, -x)
        CASE(sqr, x * x)
        CASE(sign, (C)((x > 0) - (x < 0)))
        CASE(relu, x < 0 ? 0 : x)
        CASE(affine, x * a + b)
        CASE(add_scalar, x + a)
        CASE(sub_scalar, x - a)
        CASE(mul_scalar, x * a)
        CASE(div_scalar, x / a)
        CASE(clamp, (x < a ? a : x) > b ? b : (x < a ? a : x))
        CASE(sqrt, gpu_sqrt(x))
        CASE(rsqrt, 1 / gpu_sqrt(x))
        CASE(recip, 1 / x)
        CASE(floor, gpu_floor(x))
        CASE(ceil, gpu_ceil(x))
        CASE(round, gpu_rint(x))
        CASE(trunc, gpu_trunc(x))
        CASE(relu2, x < 0 ? 0 : x * x)
        CASE(relu6, x < 0 ? 0 : x > 6 ? 6 : x)
        CASE(hard_sigmoid, (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6)
        CASE(hard_swish, x * ((x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6))
        CASE(leaky_relu, x < 0 ? x * a : x)
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

/* The same for integers; W is an unsigned type of at least 32 bits, which wraps. */
template <typename W, typename C, int S> GPU_FN void unary_int(C (&v)[S], const struct gpu_unary &p) {
    W a = (W)p.i[0], b = (W)p.i[1];
    C low = (C)p.i[0], high = (C)p.i[1];
    switch (p.op) {
        CASE(abs, gpu_negative(x) ? 0 - (W)x : (W)x)
        CASE(neg, 0 - (W)x)
        CASE(sqr, (W)x * (W)x)
        CASE(sign, (x != 0) - 2 * gpu_negative(x))
        CASE(relu, gpu_negative(x) ? 0 : x)
        CASE(bitwise_not, ~(W)x)
        CASE(affine, (W)x * a + b)
        CASE(add_scalar, (W)x + a)
        CASE(sub_scalar, (W)x - a)
        CASE(mul_scalar, (W)x * a)
        CASE(div_scalar, divide_by<W>(x, p.i[0]))
        CASE(clamp, (x < low ? low : x) > high ? high : (x < low ? low : x))
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
    unary_float<C, S>(v, p);
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
    unary_float<f32, 1>(v, p);
    table[gpu_thread()] = gpu_round<f8e4m3>(v[0]).bits;
    gpu_sync();
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    u8 r[S];
    gpu_fetch<E, S>(r, p.walk, 0, tile);
    GPU_UNROLL for (int s = 0; s < S; s++) r[s] = table[r[s]];
    gpu_put<E, S>(r, p.walk, tile);
}
