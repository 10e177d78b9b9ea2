/* Nearest and linear resizing over 1 to 3 dims. Positions that follow from sizes are exact. */
#include "dtype.h"
#include "layout.h"

#include "place.h"
#include "resize.h"

/* Where an element comes from along one dim: (1 - weight) x[low] + weight x[high]. */
struct source {
    i64 low, high;
    f64 weight;
};

template <bool LINEAR> GPU_FN struct source find_source(const struct gpu_resize &p, int d, i64 o) {
    const struct gpu_position &at = p.at[d];
    struct source s;
    i64 last = p.from[d] - 1, low = gpu_place(at, o, &s.weight);
    s.low = low < 0 ? 0 : low < last ? low : last;
    s.high = s.low < last ? s.low + 1 : last;
    if (!LINEAR || s.high == s.low || low < 0) s.weight = 0;
    return s;
}

struct sources {
    i64 plane;
    struct source s[3];
};

template <bool LINEAR> GPU_FN struct sources find_sources(const struct gpu_resize &p, u64 i) {
    struct sources at;
    u64 rest = i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        u64 quotient = gpu_anew(p.narrow) ? gpu_divide((u32)rest, p.by[d]) : rest / (u64)p.to[d];
        at.s[d] = find_source<LINEAR>(p, d, (i64)(rest - quotient * (u64)p.to[d]));
        rest = quotient;
    }
    at.plane = (i64)rest;
    return at;
}

template <typename T> GPU_FN void resize_nearest(const struct gpu_resize &p) {
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct sources at = find_sources<false>(p, i);
        i64 row = (at.plane * p.from[0] + at.s[0].low) * p.from[1] + at.s[1].low;
        ((T *)p.out)[i] = ((const T *)p.in)[row * p.from[2] + at.s[2].low];
    }
}

GPU_KERNEL(resize_nearest_b1, struct gpu_resize) { resize_nearest<u8>(p); }
GPU_KERNEL(resize_nearest_b2, struct gpu_resize) { resize_nearest<u16>(p); }
GPU_KERNEL(resize_nearest_b4, struct gpu_resize) { resize_nearest<u32>(p); }
GPU_KERNEL(resize_nearest_b8, struct gpu_resize) { resize_nearest<u64>(p); }

/* ---- linear: floats of up to 32 bits in f32, the others in f64; integers to the nearest, ties to even ---- */

template <typename T> struct blend_of {
    typedef f64 type;
};
#define BLEND_OF(T)                                                                                                    \
    template <> struct blend_of<T> {                                                                                   \
        typedef f32 type;                                                                                              \
    };
BLEND_OF(bf16)
BLEND_OF(f16)
BLEND_OF(f32)
BLEND_OF(f8e4m3)

GPU_FN void put(bf16 *r, f32 x) { *r = gpu_to_bf16(x); }
GPU_FN void put(f16 *r, f32 x) { *r = gpu_to_f16(x); }
GPU_FN void put(f8e4m3 *r, f32 x) { *r = gpu_to_f8e4m3(x); }
GPU_FN void put(f32 *r, f32 x) { *r = x; }
GPU_FN void put(f64 *r, f64 x) { *r = x; }
GPU_FN void put(i64 *r, f64 x) {
    x = gpu_rint(x);
    *r = x >= 9223372036854775808.0 ? 0x7fffffffffffffffll : (i64)x; /* a mean rounds no lower than the least i64 */
}
template <typename T> GPU_FN void put(T *r, f64 x) { *r = (T)(i64)gpu_rint(x); }

/* The corner elements of the outer two dims at place w of the last, weighted. A weight of 0 drops its element, so that
 * no infinity becomes NaN. */
template <typename T> GPU_FN typename blend_of<T>::type column(const struct gpu_resize &p, const struct sources &at, i64 w) {
    typedef typename blend_of<T>::type V;
    V sum = 0;
    bool first = true;
    GPU_UNROLL for (int corner = 0; corner < 4; corner++) {
        f64 weight = (corner & 2 ? at.s[0].weight : 1 - at.s[0].weight) * (corner & 1 ? at.s[1].weight : 1 - at.s[1].weight);
        if (weight == 0) continue;
        i64 row = (at.plane * p.from[0] + (corner & 2 ? at.s[0].high : at.s[0].low)) * p.from[1] +
                  (corner & 1 ? at.s[1].high : at.s[1].low);
        V term = (V)weight * (V)gpu_up(((const T *)p.in)[row * p.from[2] + w]);
        sum = first ? term : sum + term;
        first = false;
    }
    return sum;
}

template <typename T> GPU_FN void resize_linear(const struct gpu_resize &p) {
    typedef typename blend_of<T>::type V;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct sources at = find_sources<true>(p, i);
        V value = column<T>(p, at, at.s[2].low), weight = (V)at.s[2].weight, rest = (V)(1 - at.s[2].weight);
        if (weight > 0) value = rest * value + weight * column<T>(p, at, at.s[2].high);
        put((T *)p.out + i, value);
    }
}

#define LINEAR(type)                                                                                                   \
    GPU_KERNEL(resize_linear_##type, struct gpu_resize) { resize_linear<type>(p); }
GPU_ALL(LINEAR)
