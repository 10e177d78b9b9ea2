/* Gradients of functions of one tensor: the gradient of the result, times the function's derivative at x. Where the
 * derivative tends to 0 or 1, x is cut first: so no large number meets a vanishing one, and infinities have a limit. */
#include "elementwise.h"
#include "functions.h"
#include "sigmoid.h"

#include "gradient.h"

/* NaN passes. */
template <typename C> GPU_FN C cut(C x, C low, C high) { return x < low ? low : x > high ? high : x; }

/* Phi(x) + x phi(x). */
GPU_FN f64 gelu_slope(f64 x) {
    f64 t = cut<f64>(x, -40, 40);
    return 0.5 * (1 + gpu_erf(t * 0.70710678118654752440)) + t * 0.39894228040143267794 * gpu_exp(-0.5 * t * t);
}

/* Both terms are multiples of e^(-a^2 / 2) with a = |x|, but for the 1 that Phi of a positive x has: with one exponential
 * and a polynomial in u = 1 / (1 + 0.28 a), for Phi(-a) e^(a^2 / 2), whose share of Phi is within 1e-8. */
GPU_FN f32 gelu_slope(f32 x) {
    f32 a = cut<f32>(gpu_fabs(x), 0, 15), u = gpu_reciprocal(gpu_fma(0.28f, a, 1.0f)), p = -1.058087543e-1f;
    p = gpu_fma(p, u, 3.898760886e-1f);
    p = gpu_fma(p, u, -2.369968188e-1f);
    p = gpu_fma(p, u, 2.689128380e-1f);
    p = gpu_fma(p, u, 6.749569024e-2f);
    p = gpu_fma(p, u, 1.165209469e-1f);
    f32 w = gpu_exp(-0.5f * a * a) * gpu_fma(p, u, -0.398942280f * a);
    return x < 0 ? w : 1 - w;
}

/* s + x s (1 - s) w' with s = sigmoid w, by e = e^-|w|: s (1 - s) = e / (1 + e)^2 keeps its digits. */
template <typename C> GPU_FN C gated_slope(C x, C w, C slope) {
    C e = gpu_exp(-gpu_fabs(w)), d = gpu_reciprocal(1 + e);
    return d * gpu_fma(x * e * d, slope, w < 0 ? e : (C)1);
}
template <typename C> GPU_FN C silu_slope(C x) {
    C t = cut<C>(x, -800, 800);
    return gated_slope<C>(t, t, 1);
}
template <typename C> GPU_FN C gelu_tanh_slope(C x) {
    C t = cut<C>(x, -22, 22), k = (C)1.59576912160573071176, cubed = k * (C)0.044715;
    return gated_slope<C>(t, t * gpu_fma(cubed, t * t, k), gpu_fma(3 * cubed, t * t, k));
}

/* tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e = e^x. */
template <typename C> GPU_FN C mish_slope(C x) {
    C t = cut<C>(x, -800, 40), e = gpu_exp(t), n = e * (e + 2), d = gpu_reciprocal(n + 2);
    return n * d + t * 4 * e * d * (1 + e) * d;
}

#define FLOAT_relu_backward (x <= 0 ? 0 : g)
#define FLOAT_relu2_backward (x <= 0 ? 0 : 2 * (g * x))
#define FLOAT_relu6_backward (x <= 0 || x >= 6 ? 0 : g)
#define FLOAT_hard_sigmoid_backward (x <= -3 || x >= 3 ? 0 : g / 6)
#define FLOAT_hard_swish_backward (x <= -3 ? 0 : x >= 3 ? g : g * (x / 3 + (C)0.5))
#define FLOAT_softsign_backward (g / (1 + gpu_fabs(x)) / (1 + gpu_fabs(x)))
#define FLOAT_leaky_relu_backward (x > 0 ? g : g * a)
#define FLOAT_hardtanh_backward (x <= a || x >= b ? 0 : g)
#define FLOAT_sigmoid_backward (g * x * (1 - x))
#define FLOAT_tanh_backward (g * (1 - gpu_fabs(x)) * (1 + gpu_fabs(x)))
#define FLOAT_tanhshrink_backward (g * gpu_hyperbolic_tangent(x) * gpu_hyperbolic_tangent(x))
#define FLOAT_gelu_backward (g * gelu_slope(x))
#define FLOAT_gelu_tanh_backward (g * gelu_tanh_slope(x))
#define FLOAT_silu_backward (g * silu_slope(x))
#define FLOAT_mish_backward (g * mish_slope(x))
#define FLOAT_softplus_backward (x * a > b ? g : g * gpu_sigmoid(x * a))
#define FLOAT_log_sigmoid_backward (g * gpu_sigmoid(-x))
#define FLOAT_selu_backward                                                                                            \
    (x > 0 ? g * (C)1.0507009873554804934193349852946 : g * ((C)1.7580993408473768599402175208123 * gpu_exp(x)))
#define FLOAT_elu_backward (x > 0 ? g : g * (a * gpu_exp(x)))
#define FLOAT_celu_backward (x > 0 ? g : g * gpu_exp(x / a))

#define CASE(name)                                                                                                     \
    case GPU_OP_##name:                                                                                                \
        GPU_UNROLL for (int s = 0; s < S; s++) {                                                                       \
            C g = r[s], x = q[s];                                                                                      \
            r[s] = (C)(FLOAT_##name);                                                                                  \
        }                                                                                                              \
        break;

/* r[] = op(r[], q[]) in f32 or f64. */
template <typename C, int S> GPU_FN void gradient(C (&r)[S], const C (&q)[S], const struct gpu_gradient &p) {
    C a = (C)p.f[0], b = (C)p.f[1];
    switch (p.op) {
#define WICK__GRADIENT(number, name, ...) CASE(name)
#define WICK__GRADIENT1(number, name, ...) CASE(name)
#define WICK__GRADIENT2(number, name, ...) CASE(name)
#include "elementwise_ops.h"
    default: break;
    }
}

/* Of f64 one element after the other: conditions of several at once take more scalar registers than there are. */
template <int S> GPU_FN void gradient_all(f64 (&r)[S], const f64 (&q)[S], const struct gpu_gradient &p) {
    GPU_UNROLL for (int s = 0; s < S; s++) {
        f64 one[1] = {r[s]}, other[1] = {q[s]};
        gradient<f64, 1>(one, other, p);
        r[s] = one[0];
    }
}
template <int S> GPU_FN void gradient_all(f32 (&r)[S], const f32 (&q)[S], const struct gpu_gradient &p) {
    gradient<f32, S>(r, q, p);
}

template <typename T> GPU_FN void gradients(const struct gpu_gradient &p) {
    typedef typename gpu_compute<T>::type C;
    enum { S = GPU_CHUNK_OF_GRADIENT(sizeof(T)) };
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    C a[S], b[S];
    gpu_fetch_both<T, S>(a, b, p.walk, tile);
    gradient_all(a, b, p);
    gpu_put_rounded<T, S>(a, p.walk, tile);
}

/* More blocks on a unit than the registers of the longest function would leave, as for the kernels of math.hip. */
enum { GRADIENT_BLOCKS = 6 };
GPU_KERNEL_OF(gradient_bf16, struct gpu_gradient, GPU_BLOCK, GRADIENT_BLOCKS) { gradients<bf16>(p); }
GPU_KERNEL_OF(gradient_f16, struct gpu_gradient, GPU_BLOCK, GRADIENT_BLOCKS) { gradients<f16>(p); }
GPU_KERNEL_OF(gradient_f32, struct gpu_gradient, GPU_BLOCK, GRADIENT_BLOCKS) { gradients<f32>(p); }
GPU_KERNEL(gradient_f64, struct gpu_gradient) { gradients<f64>(p); }
GPU_KERNEL(gradient_f8e4m3, struct gpu_gradient) { gradients<f8e4m3>(p); }
