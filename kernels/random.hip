/* Random numbers and dropout: Philox4x32-10, computed in f64 and rounded once. A thread
 * makes one block. */
#include "dtype.h"

#include "random.h"

/* C++14 has no hexadecimal floats, and NVRTC keeps to it. */
#define TWO_TO_MINUS_53 1.1102230246251565e-16
#define TWO_TO_MINUS_32 2.3283064365386963e-10

struct block {
    u32 a, b, c, d;
};

/* Block number `n` of a seed. */
GPU_FN struct block philox(u64 seed, u64 n) {
    struct block x = {(u32)n, (u32)(n >> 32), 0, 0};
    u32 key0 = (u32)seed, key1 = (u32)(seed >> 32);
    GPU_UNROLL for (int round = 0; round < 10; round++) {
        u64 p = (u64)x.a * 0xD2511F53u, q = (u64)x.c * 0xCD9E8D57u;
        struct block y = {(u32)(q >> 32) ^ x.b ^ key0, (u32)q, (u32)(p >> 32) ^ x.d ^ key1, (u32)p};
        x = y;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return x;
}
GPU_FN u64 wide(u32 low, u32 high) { return low | (u64)high << 32; }
GPU_FN f64 unit(u64 x) { return (f64)(x >> 11) * TWO_TO_MINUS_53; }

/* x as an f32 whose last bit says whether anything was cut off, so that rounding it further rounds x once. */
GPU_FN f32 odd_f32(f64 x) {
    f32 r = (f32)x;
    if (x != x || (f64)r == x) return r;
    u32 bits = gpu_bits<u32>(r);
    f64 size = x < 0 ? -x : x, cut = r < 0 ? -(f64)r : (f64)r;
    return gpu_bits<f32>((cut > size ? bits - 1 : bits) | 1);
}
template <typename T> GPU_FN void put(T *r, f64 x) { *r = gpu_round<T>(odd_f32(x)); }
GPU_FN void put(f32 *r, f64 x) { *r = (f32)x; }
GPU_FN void put(f64 *r, f64 x) { *r = x; }

/* sqrt(-2 ln u) times the cosine and sine of v turns, 0 <= v < 1: Taylor's series within an eighth of a turn. */
GPU_FN void box_muller(f64 u, f64 v, f64 *first, f64 *second) {
    f64 quarter = gpu_rint(4 * v), x = 6.283185307179586477 * (v - quarter * 0.25), x2 = x * x;
    /* The coefficients are 1 / n! for n = 17, 15, ... 3 and for n = 18, 16, ... 2. */
    f64 s = 2.8114572543455206e-15, c = 1.5619206968586225e-16;
    s = gpu_fma(s, -x2, 7.647163731819816e-13);
    s = gpu_fma(s, -x2, 1.6059043836821613e-10);
    s = gpu_fma(s, -x2, 2.505210838544172e-08);
    s = gpu_fma(s, -x2, 2.7557319223985893e-06);
    s = gpu_fma(s, -x2, 0.0001984126984126984);
    s = gpu_fma(s, -x2, 0.008333333333333333);
    s = gpu_fma(s, -x2, 0.16666666666666666);
    s = gpu_fma(s * x2, -x, x);
    c = gpu_fma(c, -x2, 4.779477332387385e-14);
    c = gpu_fma(c, -x2, 1.1470745597729725e-11);
    c = gpu_fma(c, -x2, 2.08767569878681e-09);
    c = gpu_fma(c, -x2, 2.755731922398589e-07);
    c = gpu_fma(c, -x2, 2.48015873015873e-05);
    c = gpu_fma(c, -x2, 0.001388888888888889);
    c = gpu_fma(c, -x2, 0.041666666666666664);
    c = gpu_fma(c, -x2, 0.5);
    c = gpu_fma(c, -x2, 1.0);
    f64 r = gpu_sqrt(-2 * gpu_log(u));
    u32 turned = (u32)quarter;
    f64 cosine = turned & 1 ? -s : c, sine = turned & 1 ? c : s;
    *first = r * (turned & 2 ? -cosine : cosine);
    *second = r * (turned & 2 ? -sine : sine);
}

/* Up to four elements that one block makes. */
template <typename T> struct alignas(sizeof(T) * 4 > 16 ? 16 : sizeof(T) * 4) four {
    T v[4];
};
template <typename T> struct alignas(sizeof(T) * 2) two {
    T v[2];
};

template <typename T> GPU_FN void store(const struct gpu_random &p, i64 i, const four<T> &x) {
    if (i + 4 <= p.count) {
        *(four<T> *)((T *)p.out + i) = x;
        return;
    }
    GPU_UNROLL for (int j = 0; j < 4; j++)
        if (i + j < p.count) ((T *)p.out)[i + j] = x.v[j];
}
template <typename T> GPU_FN void store(const struct gpu_random &p, i64 i, const two<T> &x) {
    if (i + 2 <= p.count)
        *(two<T> *)((T *)p.out + i) = x;
    else
        ((T *)p.out)[i] = x.v[0];
}

template <typename T> GPU_FN four<T> make_four(const struct gpu_random &p, i64 i, struct block w) {
    four<T> x;
    u32 word[4] = {w.a, w.b, w.c, w.d};
    if (p.kind == GPU_UNIFORM) {
        f64 scale = 1.0 / (f64)(1u << p.significand);
        GPU_UNROLL for (int j = 0; j < 4; j++)
            put(&x.v[j], p.a + (f64)(word[j] >> (32 - p.significand)) * scale * (p.b - p.a));
    } else if (p.kind == GPU_NORMAL) {
        f64 n[4];
        box_muller(((f64)w.a + 1) * TWO_TO_MINUS_32, (f64)w.b * TWO_TO_MINUS_32, &n[0], &n[1]);
        box_muller(((f64)w.c + 1) * TWO_TO_MINUS_32, (f64)w.d * TWO_TO_MINUS_32, &n[2], &n[3]);
        GPU_UNROLL for (int j = 0; j < 4; j++) put(&x.v[j], p.a + p.b * n[j]);
    } else {
        GPU_UNROLL for (int j = 0; j < 4; j++) {
            f64 value = i + j < p.count ? (f64)gpu_up(((const T *)p.in)[i + j]) : 0;
            put(&x.v[j], word[j] < p.threshold ? 0 : value / p.a);
            if (p.mask && i + j < p.count) p.mask[i + j] = word[j] >= p.threshold;
        }
    }
    return x;
}

template <typename T> GPU_FN void random_floats(const struct gpu_random &p) {
    i64 n = (i64)gpu_global();
    if (4 * n < p.count) store(p, 4 * n, make_four<T>(p, 4 * n, philox(p.seed, p.offset + (u64)n)));
}

/* f64 takes 64 bits for each element, but for dropout. */
GPU_FN void random_wide(const struct gpu_random &p) {
    i64 n = (i64)gpu_global();
    if (p.kind == GPU_DROPOUT && 4 * n < p.count)
        store(p, 4 * n, make_four<f64>(p, 4 * n, philox(p.seed, p.offset + (u64)n)));
    if (p.kind != GPU_DROPOUT && 2 * n < p.count) {
        struct block w = philox(p.seed, p.offset + (u64)n);
        u64 first = wide(w.a, w.b), second = wide(w.c, w.d);
        two<f64> x;
        if (p.kind == GPU_UNIFORM) {
            x.v[0] = p.a + unit(first) * (p.b - p.a);
            x.v[1] = p.a + unit(second) * (p.b - p.a);
        } else {
            box_muller((f64)((first >> 11) + 1) * TWO_TO_MINUS_53, unit(second), &x.v[0], &x.v[1]);
            x.v[0] = p.a + p.b * x.v[0];
            x.v[1] = p.a + p.b * x.v[1];
        }
        store(p, 2 * n, x);
    }
}

/* The upper half of a product. */
GPU_FN u64 upper(u64 a, u64 b) {
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

template <typename T> GPU_FN void random_bits(const struct gpu_random &p) {
    i64 n = (i64)gpu_global();
    if (p.kind == GPU_BERNOULLI && 4 * n < p.count) {
        struct block w = philox(p.seed, p.offset + (u64)n);
        four<T> x;
        x.v[0] = (T)(w.a < p.threshold ? p.one : 0);
        x.v[1] = (T)(w.b < p.threshold ? p.one : 0);
        x.v[2] = (T)(w.c < p.threshold ? p.one : 0);
        x.v[3] = (T)(w.d < p.threshold ? p.one : 0);
        store(p, 4 * n, x);
    }
    if (p.kind == GPU_RANDINT && 2 * n < p.count) {
        struct block w = philox(p.seed, p.offset + (u64)n);
        two<T> x;
        x.v[0] = (T)(p.low + upper(wide(w.a, w.b), p.range));
        x.v[1] = (T)(p.low + upper(wide(w.c, w.d), p.range));
        store(p, 2 * n, x);
    }
}

#define RANDOM(type)                                                                                                   \
    GPU_KERNEL(random_##type, struct gpu_random) { random_floats<type>(p); }
RANDOM(bf16)
RANDOM(f16)
RANDOM(f32)
RANDOM(f8e4m3)
GPU_KERNEL(random_f64, struct gpu_random) { random_wide(p); }
GPU_KERNEL(random_bits_b1, struct gpu_random) { random_bits<u8>(p); }
GPU_KERNEL(random_bits_b2, struct gpu_random) { random_bits<u16>(p); }
GPU_KERNEL(random_bits_b4, struct gpu_random) { random_bits<u32>(p); }
GPU_KERNEL(random_bits_b8, struct gpu_random) { random_bits<u64>(p); }

/* Keys that a permutation sorts. */
GPU_KERNEL(random_keys, struct gpu_random) {
    i64 n = (i64)gpu_global();
    if (2 * n < p.count) {
        struct block w = philox(p.seed, p.offset + (u64)n);
        two<u64> x = {{wide(w.a, w.b), wide(w.c, w.d)}};
        store(p, 2 * n, x);
    }
}

GPU_KERNEL(narrow_indices, struct gpu_narrow_indices) {
    for (i64 i = (i64)gpu_global(); i < p.count; i += (i64)gpu_stride()) {
        u32 v = p.in[i];
        if (p.size == 8)
            ((u64 *)p.out)[i] = v;
        else if (p.size == 2)
            ((u16 *)p.out)[i] = (u16)v;
        else
            ((u8 *)p.out)[i] = (u8)v;
    }
}
