/* Functions of one tensor of floats that few programs call and that take much code: an element a thread, so that each
 * function is there once for each dtype. Errors of f32 are below 4 units in the last place, of erfinv below 6. */
#include "elementwise.h"
#include "functions.h"

#include "unary.h"

/* ---- angles ---- */

template <typename C> GPU_FN C arc_sine(C x) { return gpu_angle_of(x, gpu_sqrt((1 - x) * (1 + x))); }
template <typename C> GPU_FN C arc_cosine(C x) { return gpu_angle_of(gpu_sqrt((1 - x) * (1 + x)), x); }
template <typename C> GPU_FN C arc_tangent(C x) { return gpu_angle_of(x, (C)1); }

/* ---- hyperbolic functions: e^a overflows before half of it does ---- */

template <typename C> GPU_FN C hyperbolic_sine(C x) {
    C a = gpu_fabs(x), y;
    if (a < 20) {
        C e = gpu_expm1(a);
        y = (e + e / (e + 1)) / 2;
    } else {
        C e = gpu_exp(a / 2);
        y = e / 2 * e;
    }
    return gpu_copysign(y, x);
}
template <typename C> GPU_FN C hyperbolic_cosine(C x) {
    C a = gpu_fabs(x);
    if (a < 20) {
        C e = gpu_exp(a);
        return (e + 1 / e) / 2;
    }
    C e = gpu_exp(a / 2);
    return e / 2 * e;
}
/* From 2^28 on, x^2 + 1 is x^2. */
template <typename C> GPU_FN C area_sine(C x) {
    C a = gpu_fabs(x), y;
    if (a < 268435456)
        y = gpu_log1p(a + a * a / (1 + gpu_sqrt(a * a + 1)));
    else
        y = gpu_log(a) + (C)0.69314718055994530942;
    return gpu_copysign(y, x);
}
template <typename C> GPU_FN C area_cosine(C x) {
    C t = x - 1;
    if (!(x < 268435456)) return gpu_log(x) + (C)0.69314718055994530942;
    return gpu_log1p(t + gpu_sqrt(t < 0 ? t : t * (2 + t)));
}
template <typename C> GPU_FN C area_tangent(C x) {
    C a = gpu_fabs(x);
    return gpu_copysign(gpu_log1p(2 * a / (1 - a)) / 2, x);
}

/* ---- the inverse of erf: Winitzki's approximation, good to 2e-3, and steps of Halley's ---- */

template <typename C> GPU_FN C inverse_erf(C x) {
    enum { STEPS = sizeof(C) == 8 ? 3 : 2 };
    C a = gpu_fabs(x), rest = 1 - a, y = a * (C)0.88622692545275801365;
    if (!(a < 1)) return a == 1 ? x / rest : gpu_sqrt(rest);
    if (a >= (C)1e-3) {
        C l = gpu_log(rest * (1 + a)), b = (C)4.3307467508 + l / 2, k = (C)6.8027210884 * l;
        y = gpu_sqrt(-k / (gpu_sqrt(b * b - k) + b));
    }
    GPU_NO_UNROLL for (int i = 0; i < STEPS; i++) {
        C t = (a < (C)0.5 ? gpu_erf(y) - a : rest - gpu_erfc(y)) * (C)0.88622692545275801365 * gpu_exp(y * y);
        y -= t / (1 + y * t);
    }
    return gpu_copysign(y, x);
}

/* ---- the kernels ---- */

#define FLOAT_asin arc_sine(x)
#define FLOAT_acos arc_cosine(x)
#define FLOAT_atan arc_tangent(x)
#define FLOAT_sinh hyperbolic_sine(x)
#define FLOAT_cosh hyperbolic_cosine(x)
#define FLOAT_asinh area_sine(x)
#define FLOAT_acosh area_cosine(x)
#define FLOAT_atanh area_tangent(x)
#define FLOAT_erfc gpu_erfc(x)
#define FLOAT_erfinv inverse_erf(x)
#define FLOAT_lgamma gpu_lgamma(x)

#define CASE_RARE(name)                                                                                                \
    case GPU_OP_##name: return FLOAT_##name;
#define CASE_LIGHT(name)
#define CASE_HEAVY(name)

template <typename C> GPU_FN C special(C x, u32 op) {
    switch (op) {
#define WICK__UNARY(number, name, dtypes, cost, ...) CASE_##cost(name)
#include "elementwise_ops.h"
    default: return x;
    }
}

template <typename T> GPU_FN void specials(const struct gpu_unary &p) {
    u64 tile = gpu_tile();
    if (tile >= (u64)p.walk.tiles) return;
    T r[1];
    gpu_fetch<1, 1>(r, p.walk, 0, tile);
    r[0] = gpu_round<T>(special(gpu_up(r[0]), p.op));
    gpu_put<1, 1>(r, p.walk, tile);
}
#define SPECIAL(T)                                                                                                     \
    GPU_KERNEL(special_##T, struct gpu_unary) { specials<T>(p); }
GPU_FLOATS(SPECIAL)
