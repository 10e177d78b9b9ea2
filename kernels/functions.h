/* Functions that vendors' libraries lack, need a stack for, or round less well than the op table allows: sin, cos, tan,
 * exp2, log10, tanh, atan2 and pow. Errors are below 2 units in the last place, below 1 where not said. */
#ifndef WICK_KERNELS_FUNCTIONS_H
#define WICK_KERNELS_FUNCTIONS_H

#include "gpu.h"

/* ---- x = quadrant pi/2 + r, |r| <= pi/4: by subtraction where x is small, else by multiplying its mantissa with those
 * 96 or 192 bits of 2/pi that matter (Payne and Hanek, "Radian reduction for trigonometric functions", 1983) ---- */

/* 2/pi = 0.A2F9836E..., behind 64 bits of zeros. */
GPU_CONSTANT u32 gpu_two_over_pi_32[9] = {0,           0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                          0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
GPU_CONSTANT u64 gpu_two_over_pi_64[19] = {0,
                                           0xa2f9836e4e441529ull,
                                           0xfc2757d1f534ddc0ull,
                                           0xdb6295993c439041ull,
                                           0xfe5163abdebbc561ull,
                                           0xb7246e3a424dd2e0ull,
                                           0x06492eea09d1921cull,
                                           0xfe1deb1cb129a73eull,
                                           0xe88235f52ebb4484ull,
                                           0xe99c7026b45f7e41ull,
                                           0x3991d639835339f4ull,
                                           0x9c845f8bbdf9283bull,
                                           0x1ff897ffde05980full,
                                           0xef2f118b5a0a6d1full,
                                           0x6d367ecf27cb09b7ull,
                                           0x4f463f669e5fea2dull,
                                           0x7527bac7ebe5f17bull,
                                           0x3d0739f78a5292eaull,
                                           0x6bfb5fb11f8d5d08ull};

template <typename T> struct gpu_angle {
    T r, rest; /* r + rest; rest is 0 for f32 */
    u32 quadrant;
};

GPU_FN gpu_angle<float> gpu_reduce_far(float x) {
    gpu_angle<float> a;
    u32 bits = gpu_bits<u32>(x), exponent = bits >> 23 & 0xff, m = (bits << 8) | 0x80000000u;
    a.rest = 0;
    a.quadrant = 0;
    a.r = x - x;
    if (exponent == 255) return a;
    /* x = m 2^(exponent - 158). The table's bits from `first` on, times m, have 2 bits before the point, and those in
     * front are multiples of 4. */
    u32 first = exponent - 127 + 31, word = first >> 5, shift = first & 31;
    u32 w0 = gpu_two_over_pi_32[word], w1 = gpu_two_over_pi_32[word + 1], w2 = gpu_two_over_pi_32[word + 2],
        w3 = gpu_two_over_pi_32[word + 3];
    u32 z0 = (u32)(((u64)w0 << 32 | w1) << shift >> 32), z1 = (u32)(((u64)w1 << 32 | w2) << shift >> 32),
        z2 = (u32)(((u64)w2 << 32 | w3) << shift >> 32);
    u64 p = ((u64)m * z2 >> 32) + (u64)m * z1 + ((u64)(m * z0) << 32);
    a.quadrant = (u32)(p >> 62);
    i64 part = (i64)(p << 2); /* of a quarter turn, in 2^-64; from 1/2 on it is what is left to the next one */
    if (part < 0) a.quadrant++;
    a.r = (float)((double)part * 8.5153039502163873e-20); /* pi/2 2^-64 */
    if (bits >> 31) {
        a.r = -a.r;
        a.quadrant = 0 - a.quadrant;
    }
    return a;
}

GPU_FN gpu_angle<float> gpu_reduce(float x) {
    if (!(gpu_fabs(x) < 65536.0f)) return gpu_reduce_far(x);
    gpu_angle<float> a;
    float k = gpu_rint(x * 0.636619772f);
    a.quadrant = (u32)(i32)k;
    a.r = gpu_fma(k, -1.57079601e+00f, x); /* exact */
    a.r = gpu_fma(k, -3.13916473e-07f, a.r);
    a.r = gpu_fma(k, -5.39030253e-15f, a.r);
    a.rest = 0;
    return a;
}

GPU_FN u64 gpu_mulhi64(u64 a, u64 b) {
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

GPU_FN u32 gpu_leading_zeros(u64 x) {
    u32 n = 0;
    GPU_UNROLL for (u32 step = 32; step; step >>= 1) if (x >> (64 - step) == 0) {
        n += step;
        x <<= step;
    }
    return n;
}

GPU_FN gpu_angle<double> gpu_reduce_far(double x) {
    gpu_angle<double> a;
    u64 bits = gpu_bits<u64>(x), m = (bits << 11) | 0x8000000000000000ull;
    u32 exponent = (u32)(bits >> 52) & 0x7ff;
    a.rest = 0;
    a.quadrant = 0;
    a.r = x - x;
    if (exponent == 2047) return a;
    u32 first = exponent - 1024, word = first >> 6, shift = first & 63;
    u64 w0 = gpu_two_over_pi_64[word], w1 = gpu_two_over_pi_64[word + 1], w2 = gpu_two_over_pi_64[word + 2],
        w3 = gpu_two_over_pi_64[word + 3];
    u64 z0 = w0 << shift | w1 >> 1 >> (63 - shift), z1 = w1 << shift | w2 >> 1 >> (63 - shift),
        z2 = w2 << shift | w3 >> 1 >> (63 - shift);
    u64 carry = gpu_mulhi64(m, z2), low = m * z1 + carry, high = gpu_mulhi64(m, z1) + m * z0 + (low < carry);
    a.quadrant = (u32)(high >> 62);
    high = high << 2 | low >> 62;
    low <<= 2;
    bool negative = high >> 63;
    if (negative) {
        a.quadrant++;
        high = ~high + (low == 0);
        low = 0 - low;
    }
    u32 zeros = gpu_leading_zeros(high);
    high = high << zeros | low >> 1 >> (63 - zeros);
    low <<= zeros;
    double h = (double)(high >> 11), l = (double)(high << 53 | low >> 11) * 5.42101086242752217e-20; /* 2^-64 */
    double scale = gpu_bits<double>((u64)(1023 - 53 - zeros) << 52);
    a.r = h * 1.5707963267948966;
    a.rest = gpu_fma(h, 1.5707963267948966, -a.r) + h * 6.123233995736766e-17 + l * 1.5707963267948966;
    if (negative != (bool)(bits >> 63)) scale = -scale;
    if (bits >> 63) a.quadrant = 0 - a.quadrant;
    a.r *= scale;
    a.rest *= scale;
    return a;
}

GPU_FN gpu_angle<double> gpu_reduce(double x) {
    if (!(gpu_fabs(x) < 1e9)) return gpu_reduce_far(x);
    gpu_angle<double> a;
    double k = gpu_rint(x * 0.63661977236758134);
    a.quadrant = (u32)(i32)k;
    double t = gpu_fma(k, -1.5707963267948966, x); /* exact */
    double next = k * 6.123233995736766e-17;
    a.r = t - next;
    a.rest = (t - a.r) - next - gpu_fma(k, 6.123233995736766e-17, -next);
    a.rest = gpu_fma(k, 1.4973849048591698e-33, a.rest);
    return a;
}

/* ---- sin, cos and tan of a reduced argument; tan is their quotient, good to 2 units ---- */

GPU_FN float gpu_sin_poly(gpu_angle<float> a) {
    float s = a.r * a.r, p = 2.86567956e-6f;
    p = gpu_fma(p, s, -1.98559923e-4f);
    p = gpu_fma(p, s, 8.33338592e-3f);
    p = gpu_fma(p, s, -1.66666672e-1f);
    return gpu_fma(p, a.r * s, a.r);
}
GPU_FN float gpu_cos_poly(gpu_angle<float> a) {
    float s = a.r * a.r, p = 2.44677067e-5f;
    p = gpu_fma(p, s, -1.38877297e-3f);
    p = gpu_fma(p, s, 4.16666567e-2f);
    p = gpu_fma(p, s, -5.00000000e-1f);
    return gpu_fma(p, s, 1.0f);
}
/* The polynomials of fdlibm's __kernel_sin and __kernel_cos. */
GPU_FN double gpu_sin_poly(gpu_angle<double> a) {
    double x = a.r, z = x * x, v = z * x, p = 1.58969099521155010221e-10;
    p = gpu_fma(p, z, -2.50507602534068634195e-08);
    p = gpu_fma(p, z, 2.75573137070700676789e-06);
    p = gpu_fma(p, z, -1.98412698298579493134e-04);
    p = gpu_fma(p, z, 8.33333333332248946124e-03);
    return x - ((z * (0.5 * a.rest - v * p) - a.rest) + v * 1.66666666666666324348e-01);
}
GPU_FN double gpu_cos_poly(gpu_angle<double> a) {
    double x = a.r, z = x * x, half = 0.5 * z, w = 1 - half, p = -1.13596475577881948265e-11;
    p = gpu_fma(p, z, 2.08757232129817482790e-09);
    p = gpu_fma(p, z, -2.75573143513906633035e-07);
    p = gpu_fma(p, z, 2.48015872894767294178e-05);
    p = gpu_fma(p, z, -1.38888888888741095749e-03);
    p = gpu_fma(p, z, 4.16666666666666019037e-02);
    return w + (((1 - w) - half) + (z * (z * p) - x * a.rest));
}

/* sin x for turn 0, cos x for turn 1. */
template <typename T> GPU_FN T gpu_wave_of(T x, u32 turn) {
    if (x == 0) return turn ? (T)1 : x;
    gpu_angle<T> a = gpu_reduce(x);
    u32 quadrant = a.quadrant + turn;
    T y = quadrant & 1 ? gpu_cos_poly(a) : gpu_sin_poly(a);
    return quadrant & 2 ? -y : y;
}
template <typename T> GPU_FN T gpu_tangent(T x) {
    if (x == 0) return x;
    gpu_angle<T> a = gpu_reduce(x);
    T s = gpu_sin_poly(a), c = gpu_cos_poly(a);
    return a.quadrant & 1 ? -c / s : s / c;
}

/* ---- exp2, log10, tanh ---- */

/* x 2^n for n in -250 .. 250. */
GPU_FN float gpu_scale(float x, i32 n) {
    i32 half = n >> 1;
    return x * gpu_bits<float>((u32)(127 + half) << 23) * gpu_bits<float>((u32)(127 + n - half) << 23);
}

GPU_FN float gpu_power_of_2(float x) {
    if (!(gpu_fabs(x) < 160.0f)) x = x > 0 ? 160.0f : x < 0 ? -160.0f : x;
    float n = gpu_rint(x), f = x - n, p = 1.51961503e-5f;
    p = gpu_fma(p, f, 1.54667563e-4f);
    p = gpu_fma(p, f, 1.33339351e-3f);
    p = gpu_fma(p, f, 9.61803831e-3f);
    p = gpu_fma(p, f, 5.55041023e-2f);
    p = gpu_fma(p, f, 2.40226507e-1f);
    p = gpu_fma(p, f, 6.93147182e-1f);
    p = gpu_fma(p, f, 1.0f);
    return x == x ? gpu_scale(p, (i32)n) : x;
}
GPU_FN double gpu_power_of_2(double x) { return gpu_exp2(x); }

/* log10 x = log x (0.43... in two parts). */
GPU_FN float gpu_log_10(float x) {
    float l = gpu_log(x);
    return gpu_fabs(l) < 128.0f ? gpu_fma(l, 0.434294492f, l * -1.01011324e-08f) : l;
}
GPU_FN double gpu_log_10(double x) { return gpu_log10(x); }

GPU_FN float gpu_hyperbolic_tangent(float x) {
    float a = gpu_fabs(x), s = x * x, p = -5.51469682e-4f;
    p = gpu_fma(p, s, 2.80958018e-3f);
    p = gpu_fma(p, s, -8.47378932e-3f);
    p = gpu_fma(p, s, 2.17581727e-2f);
    p = gpu_fma(p, s, -5.39508462e-2f);
    p = gpu_fma(p, s, 1.33332029e-1f);
    p = gpu_fma(p, s, -3.33333313e-1f);
    /* Both ways without a branch, which lanes would take apart. Behind 10 it is 1; NaN passes. */
    float near = gpu_fma(p, s * a, a), most = a > 10.0f ? 10.0f : a;
    float far = gpu_fma(-2.0f, gpu_reciprocal(gpu_exp(2.0f * most) + 1.0f), 1.0f);
    return gpu_copysign(a < 0.8f ? near : far, x);
}
GPU_FN double gpu_hyperbolic_tangent(double x) { return gpu_tanh(x); }

/* x (1 + erf(x / sqrt 2)) / 2, within 4 2^-23 |x|. The erf is that of src/cpu/kernels/vmath.h: odd over even, both of order
 * 13 and 8, good to 4 units; from 4 on it is 1. */
GPU_FN float gpu_gelu(float x) {
    float a = gpu_fabs(x), t = a * 0.707106769f, most = t > 4.0f ? 4.0f : t;
    float s = most * most, p = -2.72614225801306e-10f, q = -1.45660718464996e-05f;
    p = gpu_fma(p, s, 2.77068142495902e-08f);
    p = gpu_fma(p, s, -2.10102402082508e-06f);
    p = gpu_fma(p, s, -5.69250639462346e-05f);
    p = gpu_fma(p, s, -7.34990630326855e-04f);
    p = gpu_fma(p, s, -2.95459980854025e-03f);
    p = gpu_fma(p, s, -1.60960333262415e-02f);
    q = gpu_fma(q, s, -2.13374055278905e-04f);
    q = gpu_fma(q, s, -1.68282697438203e-03f);
    q = gpu_fma(q, s, -7.37332916720468e-03f);
    q = gpu_fma(q, s, -1.42647390514189e-02f);
    float e = t > 4.0f ? 1.0f : most * (p * gpu_reciprocal(q)), half = 0.5f * x;
    return gpu_fma(gpu_fabs(half), e, half);
}
GPU_FN double gpu_gelu(double x) { return 0.5 * x * (1 + gpu_erf(x * 0.70710678118654752440)); }

/* ---- atan2 ---- */

GPU_FN float gpu_angle_of(float y, float x) {
    float ax = gpu_fabs(x), ay = gpu_fabs(y), top = ax > ay ? ay : ax, bottom = ax > ay ? ax : ay;
    float z = bottom == 0 ? 0 : top == bottom ? 1.0f : top / bottom;
    /* What z lacks, and then atan z = z + z^3 p(z^2). */
    float rest = bottom > 1e-30f && bottom < 1e38f ? gpu_fma(-z, bottom, top) / bottom : 0.0f;
    float s = z * z, p = -1.79354392e-3f;
    p = gpu_fma(p, s, 1.09142563e-2f);
    p = gpu_fma(p, s, -3.11771929e-2f);
    p = gpu_fma(p, s, 5.79569377e-2f);
    p = gpu_fma(p, s, -8.40341225e-2f);
    p = gpu_fma(p, s, 1.09521724e-1f);
    p = gpu_fma(p, s, -1.42642394e-1f);
    p = gpu_fma(p, s, 1.99985474e-1f);
    p = gpu_fma(p, s, -3.33332986e-1f);
    float tail = gpu_fma(p, s * z, rest / (1.0f + s)), a;
    /* z + tail, from pi/2 and from pi, whose parts are 1.57... - 4.37e-8 and twice that. */
    bool steep = ay > ax, left = gpu_bits<u32>(x) >> 31;
    if (steep)
        a = left ? 1.57079637f + (z + (tail - 4.37113883e-8f)) : 1.57079637f - (z + (tail + 4.37113883e-8f));
    else
        a = left ? 3.14159274f - (z + (tail + 8.74227766e-8f)) : z + tail;
    a = gpu_copysign(a, y);
    return x != x || y != y ? x + y : a;
}
GPU_FN double gpu_angle_of(double y, double x) { return gpu_atan2(y, x); }

/* ---- pow ---- */

/* log a as high + low, for a > 0 and finite: 2 atanh((m - 1) / (m + 1)) + e log 2 with a = m 2^e. */
GPU_FN void gpu_log_parts(float a, float *high, float *low) {
    float e = 0;
    if (a < 1.17549435e-38f) {
        a *= 8388608.0f;
        e = -23;
    }
    u32 bits = gpu_bits<u32>(a), exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
    float m = gpu_bits<float>(bits - exponent);
    e += (float)((i32)exponent >> 23);
    float p = m + 1.0f, r = 1.0f / p;
    m = m - 1.0f;
    float q = r * m, q_low = r * gpu_fma(q, -m, gpu_fma(q, -2.0f, m));
    float s = q * q, t;
    /* atanh q = q + q^3 (1/3 + q^2 r), 1/3 in two parts */
    r = 0.1205174550f;
    r = gpu_fma(r, s, 0.1425339729f);
    r = gpu_fma(r, s, 0.2000043392f);
    t = gpu_fma(q, q_low + q_low, gpu_fma(q, q, -s)); /* the low part of the square */
    p = s * q;
    t = gpu_fma(s, q_low, gpu_fma(t, q, gpu_fma(s, q, -p))); /* of the cube */
    s = gpu_fma(p, 0.333333343f, gpu_fma(p, gpu_fma(r, s, -9.934107e-9f), gpu_fma(t, 0.333333343f, q_low)));
    r = 2.0f * q;
    t = gpu_fma(0.693147182f, e, r);
    p = gpu_fma(-0.693147182f, e, t);
    s = gpu_fma(-1.904654323e-9f, e, gpu_fma(2.0f, s, r - p));
    *high = t + s;
    *low = (t - *high) + s;
}

/* |x|^y by e^(y log |x|) in two parts, then the rules of C for everything that is not plain. */
GPU_FN float gpu_raise(float x, float y) {
    float a = gpu_fabs(x), high, low, result;
    bool whole = gpu_rint(y) == y, odd = whole && gpu_fabs(y) < 16777216.0f && ((i32)y & 1);
    bool infinite = a - a != 0, y_infinite = y - y != 0;
    if (x == 1.0f || y == 0) return 1.0f;
    if (x != x || y != y) return x + y;
    if (a == 0 || infinite) {
        result = (a == 0) == (y > 0) ? 0.0f : gpu_bits<float>(0x7f800000u);
    } else if (y_infinite) {
        result = a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0) ? gpu_fabs(y) : 0.0f;
    } else {
        gpu_log_parts(a, &high, &low);
        float product = high * y;
        if (gpu_fabs(product) < 110.0f) {
            float rest = gpu_fma(low, y, gpu_fma(high, y, -product));
            result = gpu_exp(product);
            if (result - result == 0) result = gpu_fma(result, rest, result);
        } else {
            result = product > 0 ? gpu_bits<float>(0x7f800000u) : 0.0f;
        }
        if (x < 0 && !whole) return gpu_bits<float>(0x7fc00000u);
    }
    return odd && gpu_bits<u32>(x) >> 31 ? -result : result;
}
GPU_FN double gpu_raise(double x, double y) { return gpu_pow(x, y); }

#endif
