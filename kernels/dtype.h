/* The dtypes of elements as kernels see them, and conversion between them. A dtype of 16 or 8 bits is a struct, so that
 * it is never added by accident: gpu_up gives the type it is computed in, gpu_down rounds back once. */
#ifndef WICK_KERNELS_DTYPE_H
#define WICK_KERNELS_DTYPE_H

#include "gpu.h"

struct bf16 {
    u16 bits;
};
struct f16 {
    u16 bits;
};
struct f8e4m3 {
    u8 bits;
};
typedef float f32;
typedef double f64;

/* ---- to and from f32; to nearest, ties to even ---- */

GPU_FN f32 gpu_from_bf16(bf16 x) { return gpu_bits<f32>((u32)x.bits << 16); }
GPU_FN bf16 gpu_to_bf16(f32 x) {
    bf16 r;
#if defined(GPU_NVIDIA) && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
#else
    u32 u = gpu_bits<u32>(x);
    r.bits = x != x ? (u16)(u >> 16 | 0x40) : (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
#endif
    return r;
}

#if defined(GPU_NVIDIA)
GPU_FN f32 gpu_from_f16(f16 x) {
    f32 r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
    return r;
}
GPU_FN f16 gpu_to_f16(f32 x) {
    f16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
}
#else
GPU_FN f32 gpu_from_f16(f16 x) { return (f32)gpu_bits<_Float16>(x.bits); }
GPU_FN f16 gpu_to_f16(f32 x) {
    f16 r;
    r.bits = gpu_bits<u16>((_Float16)x);
    return r;
}
#endif

/* f8e4m3 (OCP "e4m3fn"): no infinities, NaN is 0x7f and 0xff, the largest is 448; larger saturate, NaN stays NaN. */
#if defined(GPU_NVIDIA) && __CUDA_ARCH__ >= 890
/* The two in the low half of a word as two of f16, which holds every value. */
GPU_FN u32 gpu_f8_as_f16(u32 two) {
    u32 r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((u16)two));
    return r;
}
GPU_FN f32 gpu_from_f8e4m3(f8e4m3 x) {
    f16 r;
    r.bits = (u16)gpu_f8_as_f16(x.bits);
    return gpu_from_f16(r);
}
GPU_FN f8e4m3 gpu_to_f8e4m3(f32 x) {
    u16 two;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(two) : "f"(0.0f), "f"(x));
    f8e4m3 r;
    r.bits = (u8)two;
    return r;
}
#else
GPU_FN f32 gpu_from_f8e4m3(f8e4m3 x) {
    u32 sign = (u32)(x.bits & 0x80) << 24, m = x.bits & 0x7f;
    if (m == 0x7f) return gpu_bits<f32>(sign | 0x7fc00000u);
    /* The bits as an f32 that is 2^120 too small, denormals of f8 included. */
    f32 v = gpu_bits<f32>(m << 20) * 1.329227995784916e36f;
    return gpu_bits<f32>(gpu_bits<u32>(v) | sign);
}
GPU_FN f8e4m3 gpu_to_f8e4m3(f32 x) {
    f8e4m3 r;
    u32 u = gpu_bits<u32>(x), sign = u >> 24 & 0x80, m = u & 0x7fffffffu;
    if (m > 0x7f800000u) {
        r.bits = (u8)(sign | 0x7f);
    } else if (m >= 0x43e00000u) { /* 448 */
        r.bits = (u8)(sign | 0x7e);
    } else if (m < 0x3c800000u) { /* below 2^-6: a multiple of 2^-9 */
        f32 v = gpu_bits<f32>(m) + 16384.0f; /* whose last bit is worth 2^-9 */
        r.bits = (u8)(sign | (gpu_bits<u32>(v) & 0xff));
    } else {
        m += 0x7ffff + (m >> 20 & 1);
        m = (m >> 20) - (120 << 3);
        r.bits = (u8)(sign | (m > 0x7e ? 0x7e : m));
    }
    return r;
}
#if defined(GPU_NVIDIA)
GPU_FN u32 gpu_f8_as_f16(u32 two) {
    u32 x = (two & 0xff) | (two & 0xff00) << 8, size = x & 0x007f007f, nan = (size + 0x00010001) & 0x00800080, r;
    /* The bits as those of f16 that are 2^8 too small, denormals included. */
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(size << 7), "r"(0x5c005c00));
    return r | (x & 0x00800080) << 8 | (nan >> 7) * 0x7fff;
}
#else
GPU_FN u32 gpu_f8_as_f16(u32 two) {
    f8e4m3 low, high;
    low.bits = (u8)two;
    high.bits = (u8)(two >> 8);
    return (u32)gpu_to_f16(gpu_from_f8e4m3(high)).bits << 16 | gpu_to_f16(gpu_from_f8e4m3(low)).bits;
}
#endif
#endif

/* ---- the type a dtype is computed in ---- */

template <typename T> struct gpu_compute {
    typedef T type;
};
template <> struct gpu_compute<bf16> {
    typedef f32 type;
};
template <> struct gpu_compute<f16> {
    typedef f32 type;
};
template <> struct gpu_compute<f8e4m3> {
    typedef f32 type;
};
template <typename T> struct gpu_is_float {
    enum { value = 0 };
};
template <> struct gpu_is_float<f32> {
    enum { value = 1 };
};
template <> struct gpu_is_float<f64> {
    enum { value = 1 };
};

GPU_FN f32 gpu_up(bf16 x) { return gpu_from_bf16(x); }
GPU_FN f32 gpu_up(f16 x) { return gpu_from_f16(x); }
GPU_FN f32 gpu_up(f8e4m3 x) { return gpu_from_f8e4m3(x); }
template <typename T> GPU_FN T gpu_up(T x) { return x; }

/* The elements of a vector. */
template <typename T> GPU_FN void gpu_up_vector(const gpu_vec<T> &v, typename gpu_compute<T>::type (&x)[gpu_vec<T>::N]) {
    GPU_UNROLL for (int i = 0; i < gpu_vec<T>::N; i++) x[i] = gpu_up(v.v[i]);
}
/* By words: half of them need no shift. */
GPU_FN void gpu_up_vector(const gpu_vec<bf16> &v, f32 (&x)[8]) {
    gpu_16 words = gpu_bits<gpu_16>(v);
    GPU_UNROLL for (int i = 0; i < 4; i++) {
        x[2 * i] = gpu_bits<f32>(words.word[i] << 16);
        x[2 * i + 1] = gpu_bits<f32>(words.word[i] & 0xffff0000u);
    }
}

/* The greater ones of two pairs of elements, by pairs; NaN where either is. */
#if defined(GPU_NVIDIA) && __CUDA_ARCH__ >= 800
#define GPU_MAX_PAIRS 1
GPU_FN u32 gpu_max_pair(bf16, u32 a, u32 b) {
    u32 r;
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
GPU_FN u32 gpu_max_pair(f16, u32 a, u32 b) {
    u32 r;
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
#endif

/* A computed value as an element, rounded once. */
GPU_FN void gpu_down(bf16 *r, f32 x) { *r = gpu_to_bf16(x); }
GPU_FN void gpu_down(f16 *r, f32 x) { *r = gpu_to_f16(x); }
GPU_FN void gpu_down(f8e4m3 *r, f32 x) { *r = gpu_to_f8e4m3(x); }
template <typename T> GPU_FN void gpu_down(T *r, T x) { *r = x; }
template <typename T> GPU_FN T gpu_round(typename gpu_compute<T>::type x) {
    T r;
    gpu_down(&r, x);
    return r;
}

/* Computed values as the elements of a vector, rounded once; by pairs where there is an instruction for that. */
template <typename T> GPU_FN void gpu_down_vector(gpu_vec<T> *v, const typename gpu_compute<T>::type *x) {
    GPU_UNROLL for (int i = 0; i < gpu_vec<T>::N; i++) gpu_down(&v->v[i], x[i]);
}
#if defined(GPU_NVIDIA) && __CUDA_ARCH__ >= 800
GPU_FN u32 gpu_down_pair(bf16, f32 low, f32 high) {
    u32 r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
GPU_FN u32 gpu_down_pair(f16, f32 low, f32 high) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
template <typename T> GPU_FN void gpu_down_pairs(gpu_vec<T> *v, const f32 *x) {
    gpu_16 words;
    GPU_UNROLL for (int i = 0; i < 4; i++) words.word[i] = gpu_down_pair(T(), x[2 * i], x[2 * i + 1]);
    *v = gpu_bits<gpu_vec<T>>(words);
}
GPU_FN void gpu_down_vector(gpu_vec<bf16> *v, const f32 *x) { gpu_down_pairs(v, x); }
GPU_FN void gpu_down_vector(gpu_vec<f16> *v, const f32 *x) { gpu_down_pairs(v, x); }
#endif

/* M(dtype) for each dtype of a set, in the order of enum wick_dtype. */
#define GPU_INTS(M) M(u8) M(u32) M(i16) M(i32) M(i64)
#define GPU_FLOATS(M) M(bf16) M(f16) M(f32) M(f64) M(f8e4m3)
#define GPU_ALL(M) GPU_INTS(M) GPU_FLOATS(M)

#endif
