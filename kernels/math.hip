/* Functions of one and two tensors of floats that take more than a few instructions. */
#include "elementwise.h"
#include "functions.h"
#include "sigmoid.h"
#include "turn_tiles.h"

#include "binary.h"
#include "unary.h"

#define CASE(name, value)                                                                                              \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = v[s];                                                                                                \
            v[s] = (C)(value);                                                                                         \
        }                                                                                                              \
        break;

/* ---- the bodies: x is the argument, a and b the numbers. selu's constants are PyTorch's ---- */

#define FLOAT_exp gpu_exp(x)
#define FLOAT_exp2 gpu_power_of_2(x)
#define FLOAT_expm1 gpu_expm1(x)
#define FLOAT_log gpu_log(x)
#define FLOAT_log2 gpu_log2(x)
#define FLOAT_log10 gpu_log_10(x)
#define FLOAT_log1p gpu_log1p(x)
#define FLOAT_sin gpu_wave_of(x, 0)
#define FLOAT_cos gpu_wave_of(x, 1)
#define FLOAT_tan gpu_tangent(x)
#define FLOAT_tanh gpu_hyperbolic_tangent(x)
#define FLOAT_erf gpu_erf(x)
#define FLOAT_gelu gpu_gelu(x)
#define FLOAT_gelu_tanh (x / (1 + gpu_exp((C)-1.59576912160573071176 * (x + (C)0.044715 * x * x * x))))
#define FLOAT_sigmoid gpu_sigmoid(x)
#define FLOAT_silu gpu_silu(x)
#define FLOAT_softplus ((x > 0 ? x : x != x ? x : 0) + gpu_log1p(gpu_exp(-gpu_fabs(x))))
#define FLOAT_mish gpu_mish(x)
#define FLOAT_selu                                                                                                     \
    (x > 0 ? (C)1.0507009873554804934193349852946 * x : (C)1.7580993408473768599402175208123 * gpu_expm1(x))
#define FLOAT_elu (x > 0 ? x : a * gpu_expm1(x))
#define FLOAT_celu (x > 0 ? x : a * gpu_expm1(x / a))
#define FLOAT_tanhshrink (x - gpu_hyperbolic_tangent(x))
#define FLOAT_log_sigmoid ((x < 0 ? x : x != x ? x : 0) - gpu_log1p(gpu_exp(-gpu_fabs(x))))
#define FLOAT_softplus_beta                                                                                            \
    (x * a > b ? x : ((x * a > 0 ? x * a : x != x ? x : 0) + gpu_log1p(gpu_exp(-gpu_fabs(x * a)))) / a)
#define FLOAT_powf (a == 2 ? x * x : gpu_raise(x, a))

#define FLOAT_CASE_HEAVY(name) CASE(name, FLOAT_##name)
#define FLOAT_CASE_LIGHT(name) /* in unary.hip and binary.hip */
#define FLOAT_CASE_RARE(name)  /* in special.hip */

/* x[] = op(x[]) in f32 or f64. */
template <typename C, int S, typename P> GPU_FN void math(C (&v)[S], const P &p) {
    C a = (C)p.f[0], b = (C)p.f[1];
    switch (p.op) {
#define WICK__UNARY(number, name, dtypes, cost, ...) FLOAT_CASE_##cost(name)
#define WICK__SCALAR1(number, name, dtypes, cost, ...) FLOAT_CASE_##cost(name)
#define WICK__SCALAR2(number, name, dtypes, cost, ...) FLOAT_CASE_##cost(name)
#include "elementwise_ops.h"
    default: break;
    }
}

/* Of f64 one element after the other: conditions of several at once take more scalar registers than there are. */
template <int S> GPU_FN void math_all(f64 (&v)[S], const struct gpu_unary &p) {
    GPU_UNROLL for (int s = 0; s < S; s++) {
        f64 one[1] = {v[s]};
        math(one, p);
        v[s] = one[0];
    }
}
template <int S> GPU_FN void math_all(f32 (&v)[S], const struct gpu_unary &p) { math(v, p); }

/* Of 16 bits, whose rounding hides what a reciprocal and an e^x near the least lose: a division that is right for all
 * numbers takes as long as the rest. */
GPU_FN f32 math_narrow_sigmoid(f32 x) {
    f32 e = gpu_exp(-gpu_fabs(x));
    return (x < 0 ? e : 1.0f) * gpu_reciprocal(1 + e);
}
#define NARROW(name, value)                                                                                            \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) v[s] = value;                                                           \
        break;
template <int S> GPU_FN void math_narrow(f32 (&v)[S], const struct gpu_unary &p) {
    switch (p.op) {
        NARROW(sigmoid, math_narrow_sigmoid(v[s]))
        NARROW(silu, v[s] * math_narrow_sigmoid(v[s]))
    default: math(v, p);
    }
}

template <typename T> struct math_of {
    template <typename C, int S> GPU_FN void all(C (&v)[S], const struct gpu_unary &p) { math_all(v, p); }
};
template <> struct math_of<bf16> {
    template <int S> GPU_FN void all(f32 (&v)[S], const struct gpu_unary &p) { math_narrow(v, p); }
};
template <> struct math_of<f16> : math_of<bf16> {};

/* A chunk of several tiles a thread. Values of f8e4m3 are looked up among 256, one tile a block. */
template <typename T> GPU_FN void maths(const struct gpu_unary &p) {
    typedef typename gpu_compute<T>::type C;
    enum { E = GPU_CHUNK(sizeof(T)), S = GPU_SLOTS_OF_MATH(sizeof(T)) };
    static_assert(E == S && E == gpu_vec<T>::N, "a thread takes 16 bytes of a tile");
    /* Tiles are of 4 KiB: 32 bits count them. */
    u32 tile = (u32)gpu_tile(), step = gpu_blocks_x() * gpu_blocks_y(), tiles = (u32)p.walk.tiles;
    /* The next two tiles are loaded before this one is worked on. */
    u32 ahead = p.walk.mode == GPU_WALK_FLAT && !(p.walk.splat & 1) ? (u32)((u64)p.walk.count / (GPU_BLOCK * S)) : 0;
    const T *in = (const T *)p.walk.in[0] + gpu_thread() * S;
    T *out = (T *)p.walk.out + gpu_thread() * S;
    gpu_vec<T> next = {}, then = {};
    if (tile < ahead) next = gpu_load16(in + (u64)tile * (GPU_BLOCK * S));
    if (tile + step < ahead) then = gpu_load16(in + (u64)(tile + step) * (GPU_BLOCK * S));
    GPU_NO_UNROLL for (; tile < tiles; tile += step) {
        C v[S];
        if (tile < ahead) {
            gpu_up_vector(next, v);
            next = then;
            if (tile + 2 * step < ahead) then = gpu_load16(in + (u64)(tile + 2 * step) * (GPU_BLOCK * S));
        } else {
            T r[S];
            gpu_fetch<E, S>(r, p.walk, 0, tile);
            GPU_UNROLL for (int s = 0; s < S; s++) v[s] = gpu_up(r[s]);
        }
        math_of<T>::all(v, p);
        if (tile < ahead) {
            gpu_vec<T> vector;
            gpu_down_vector(&vector, v);
            gpu_store16(out + (u64)tile * (GPU_BLOCK * S), vector);
        } else {
            T r[S];
            GPU_UNROLL for (int s = 0; s < S; s++) r[s] = gpu_round<T>(v[s]);
            gpu_put<E, S>(r, p.walk, tile);
        }
    }
}

/* As many blocks on a unit as have registers without spilling: what the largest function of them all would like to have
 * leaves too few threads to hide what a load takes. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900 /* six spill 24 bytes on sm_80 */
enum { MATH_BLOCKS = 5 };
#else
enum { MATH_BLOCKS = 6 };
#endif
GPU_KERNEL_OF(math_bf16, struct gpu_unary, GPU_BLOCK, MATH_BLOCKS) { maths<bf16>(p); }
GPU_KERNEL_OF(math_f16, struct gpu_unary, GPU_BLOCK, MATH_BLOCKS) { maths<f16>(p); }
GPU_KERNEL_OF(math_f32, struct gpu_unary, GPU_BLOCK, MATH_BLOCKS) { maths<f32>(p); }
GPU_KERNEL(math_f64, struct gpu_unary) { maths<f64>(p); }

GPU_KERNEL(math_f8e4m3, struct gpu_unary) {
    GPU_SHARED u8 table[256];
    enum { E = GPU_CHUNK(1), S = GPU_SLOTS_OF_MATH(1) };
    f8e4m3 self;
    self.bits = (u8)gpu_thread();
    f32 v[1] = {gpu_up(self)};
    math(v, p);
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
GPU_KERNEL_OF(math_turn, struct gpu_unary_turn, GPU_BLOCK, GPU_TURN_BLOCKS) {
    GPU_SHARED gpu_16 shared[GPU_TURN_VECTORS];
    struct gpu_turn_tile tile;
    if (!gpu_turn_floats(&tile, p.turn, p.dtype, shared)) return;
    GPU_NO_UNROLL for (u32 n = 0; n < p.turn.lines; n++) {
        struct gpu_turn_line line = gpu_turn_line_of(p.turn, tile, n, p.dtype == GPU_TURN_f32 ? 4 : 2);
        GPU_NO_UNROLL for (; line.column < tile.left_i; gpu_turn_next(&line, p.turn)) {
            f32 v[GPU_TURN_SLOTS];
            gpu_turn_take_floats(v, p.dtype, line, shared);
            math(v, p);
            gpu_turn_put_floats(v, p.turn, p.dtype, line);
        }
    }
}

/* ---- two operands ---- */

/* Of the sign of the divisor. */
template <typename C> GPU_FN C remainder_of(C x, C y) {
    C r = gpu_fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* floor(x / y), from the part of x that y divides: the quotient of that is off by less than a half. */
template <typename C> GPU_FN C floor_divide_of(C x, C y) {
    if (y == 0) return x / y;
    C r = gpu_fmod(x, y), quotient = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return gpu_copysign((C)0, x / y);
    C whole = gpu_floor(quotient);
    return quotient - whole > (C)0.5 ? whole + 1 : whole;
}

#undef CASE
#define CASE(name, value)                                                                                             \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C x = a[s], y = b[s];                                                                                      \
            a[s] = (C)(value);                                                                                         \
        }                                                                                                              \
        break;

#define FLOAT_pow gpu_raise(x, y)
#define FLOAT_remainder remainder_of(x, y)
#define FLOAT_fmod gpu_fmod(x, y)
#define FLOAT_floor_divide floor_divide_of(x, y)
#define FLOAT_atan2 gpu_angle_of(x, y)
#define FLOAT_swiglu gpu_silu_by(x, y)
#define FLOAT_glu (x * gpu_sigmoid(y))

template <typename T, int E> GPU_FN void binary_maths(const struct gpu_binary &p) {
    typedef typename gpu_compute<T>::type C;
    enum { S = E };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    C a[S], b[S];
    gpu_fetch_both<T, E>(a, b, p.walk, tile);
    switch (p.op) {
#define WICK__BINARY(number, name, dtypes, cost, ...) FLOAT_CASE_##cost(name)
#define WICK__PAIR(number, name, dtypes, cost, ...) FLOAT_CASE_##cost(name)
#include "elementwise_ops.h"
    default: break;
    }
    gpu_put_rounded<T, E>(a, p.walk, tile);
}
#define BINARY_MATH(T)                                                                                                 \
    GPU_KERNEL(binary_math_##T, struct gpu_binary) { binary_maths<T, GPU_CHUNK(sizeof(T))>(p); }
GPU_FLOATS(BINARY_MATH)
