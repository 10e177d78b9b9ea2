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
    const struct gpu_position &at = p.at[gpu_anew((u32)d)]; /* read as they are needed: scalar registers are few */
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

/* ---- vectors: a thread makes 16 bytes of a row, and what it needs of the outer dims once for them ---- */

/* The row that vector i lies in: its number, its plane, its places in the outer two dims, and the vector's first
 * element. */
struct wide_row {
    u32 row, plane, d, h, o;
};

template <int N> GPU_FN struct wide_row find_row(const struct gpu_resize &p, u32 i) {
    struct wide_row at;
    at.row = gpu_divide(i, p.by_vector);
    u32 above = gpu_divide(at.row, p.by[1]);
    at.o = (i - at.row * p.by_vector.d) * N;
    at.h = at.row - above * p.by[1].d;
    at.plane = gpu_divide(above, p.by[0]);
    at.d = above - at.plane * p.by[0].d;
    return at;
}

/* Element k of the vector; where rows are no whole vectors, no further than the last of the row. */
template <bool EVEN> GPU_FN u32 wide_at(const struct gpu_resize &p, const struct wide_row &at, int k) {
    u32 o = at.o + (u32)k, last = (u32)p.to[2] - 1;
    return EVEN || o < last ? o : last;
}

/* Vector i. */
template <bool EVEN, typename T>
GPU_FN void wide_store(const struct gpu_resize &p, const struct wide_row &at, u64 i, const gpu_vec<T> &v) {
    enum { N = gpu_vec<T>::N };
    if (EVEN) {
        gpu_store16((T *)p.out + i * N, v);
    } else {
        T *out = (T *)p.out + (i64)at.row * p.to[2] + at.o;
        GPU_UNROLL for (int k = 0; k < N; k++)
            if (at.o + (u32)k < (u32)p.to[2]) out[k] = v.v[k];
    }
}

/* Where row h of layer d begins. */
GPU_FN u32 wide_line(const struct gpu_resize &p, u32 plane, u32 d, u32 h) {
    return ((plane * (u32)p.from[0] + d) * (u32)p.from[1] + h) * (u32)p.from[2];
}

template <typename T, bool EVEN> GPU_FN void resize_nearest_wide(const struct gpu_resize &p, u64 vectors) {
    enum { N = gpu_vec<T>::N };
    for (u64 i = gpu_global(); i < vectors; i += gpu_stride()) {
        struct wide_row at = find_row<N>(p, (u32)i);
        u32 rest, d = (u32)gpu_place_narrow(p.at[0], at.d, &rest), h = (u32)gpu_place_narrow(p.at[1], at.h, &rest);
        u32 line = wide_line(p, at.plane, d, h);
        gpu_vec<T> v;
        GPU_UNROLL for (int k = 0; k < N; k++) {
            u32 w = (u32)gpu_place_narrow(p.at[2], wide_at<EVEN>(p, at, k), &rest);
            v.v[k] = ((const T *)p.in)[line + w];
        }
        wide_store<EVEN>(p, at, i, v);
    }
}

template <typename T> GPU_FN void resize_nearest(const struct gpu_resize &p) {
    if (p.wide) {
        resize_nearest_wide<T, true>(p, (u64)p.count / gpu_vec<T>::N);
        return;
    }
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct sources at = find_sources<false>(p, i);
        i64 row = (at.plane * p.from[0] + at.s[0].low) * p.from[1] + at.s[1].low;
        ((T *)p.out)[i] = ((const T *)p.in)[row * p.from[2] + at.s[2].low];
    }
}

#define NEAREST(suffix, T)                                                                                             \
    GPU_KERNEL(resize_nearest_##suffix, struct gpu_resize) { resize_nearest<T>(p); }                                   \
    GPU_KERNEL(resize_nearest_cut_##suffix, struct gpu_resize_cut) { resize_nearest_wide<T, false>(p.of, (u64)p.vectors); }
NEAREST(b1, u8)
NEAREST(b2, u16)
NEAREST(b4, u32)
NEAREST(b8, u64)

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

/* ---- linear by vectors, in f32 ---- */

/* As struct source, with both weights. */
struct wide_source {
    u32 low, high;
    f32 at_low, at_high;
};

GPU_FN struct wide_source find_wide(const struct gpu_resize &p, int d, u32 o) {
    struct wide_source s;
    u32 rest, last = (u32)p.from[d] - 1;
    i32 low = gpu_place_narrow(p.at[d], o, &rest);
    s.low = low < 0 ? 0 : (u32)low;
    s.high = s.low < last ? s.low + 1 : last;
    f32 part = (f32)(low < 0 || s.high == s.low ? 0 : rest), by = (f32)p.at[d].divisor.d, inverse = (f32)p.at[d].inverse;
    s.at_low = gpu_place_part(by - part, by, inverse);
    s.at_high = gpu_place_part(part, by, inverse);
    return s;
}

/* Neighbours that are computed together: registers are too few for all eight of 16 bits. */
enum { TOGETHER = 4 };

/* What column() gives for the places of neighbours, corner by corner, so that no load waits for another. */
template <typename T>
GPU_FN void wide_columns(const T *in, const u32 (&line)[4], const f32 (&weight)[4],
                         const struct wide_source (&along)[TOGETHER], f32 (&low)[TOGETHER], f32 (&high)[TOGETHER]) {
    GPU_UNROLL for (int k = 0; k < TOGETHER; k++) low[k] = high[k] = -0.0f; /* which keeps the sign of a zero */
    GPU_UNROLL for (int corner = 0; corner < 4; corner++) {
        if (weight[corner] == 0) continue;
        GPU_UNROLL for (int k = 0; k < TOGETHER; k++) {
            low[k] = gpu_fma(weight[corner], gpu_up(in[line[corner] + along[k].low]), low[k]);
            high[k] = gpu_fma(weight[corner], gpu_up(in[line[corner] + along[k].high]), high[k]);
        }
    }
}

template <typename T, bool EVEN> GPU_FN void resize_linear_wide(const struct gpu_resize &p, u64 vectors) {
    enum { N = gpu_vec<T>::N };
    for (u64 i = gpu_global(); i < vectors; i += gpu_stride()) {
        struct wide_row at = find_row<N>(p, (u32)i);
        struct wide_source d = find_wide(p, 0, at.d), h = find_wide(p, 1, at.h);
        u32 line[4];
        f32 weight[4];
        GPU_UNROLL for (int corner = 0; corner < 4; corner++) {
            line[corner] = wide_line(p, at.plane, corner & 2 ? d.high : d.low, corner & 1 ? h.high : h.low);
            weight[corner] = (corner & 2 ? d.at_high : d.at_low) * (corner & 1 ? h.at_high : h.at_low);
        }
        f32 result[N];
        GPU_UNROLL for (int first = 0; first < N; first += TOGETHER) {
            struct wide_source along[TOGETHER];
            f32 low[TOGETHER], high[TOGETHER];
            GPU_UNROLL for (int k = 0; k < TOGETHER; k++) along[k] = find_wide(p, 2, wide_at<EVEN>(p, at, first + k));
            wide_columns((const T *)p.in, line, weight, along, low, high);
            GPU_UNROLL for (int k = 0; k < TOGETHER; k++) {
                f32 both = gpu_fma(along[k].at_high, high[k], along[k].at_low * low[k]);
                result[first + k] = along[k].at_high > 0 ? both : low[k];
            }
        }
        gpu_vec<T> v;
        gpu_down_vector(&v, result);
        wide_store<EVEN>(p, at, i, v);
    }
}

/* ---- linear, element by element ---- */

template <typename T> GPU_FN void resize_linear(const struct gpu_resize &p) {
    typedef typename blend_of<T>::type V;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct sources at = find_sources<true>(p, i);
        V value = column<T>(p, at, at.s[2].low), weight = (V)at.s[2].weight, rest = (V)(1 - at.s[2].weight);
        if (weight > 0) value = rest * value + weight * column<T>(p, at, at.s[2].high);
        put((T *)p.out + i, value);
    }
}

/* Three blocks of a unit's registers: more of them hide more of what loads take. */
#define LINEAR_KERNEL(type) GPU_KERNEL_OF(resize_linear_##type, struct gpu_resize, GPU_BLOCK, 3)
#define LINEAR(type)                                                                                                   \
    LINEAR_KERNEL(type) { resize_linear<type>(p); }
#define LINEAR_WIDE(type)                                                                                              \
    LINEAR_KERNEL(type) {                                                                                              \
        if (p.wide)                                                                                                    \
            resize_linear_wide<type, true>(p, (u64)p.count / gpu_vec<type>::N);                                        \
        else                                                                                                           \
            resize_linear<type>(p);                                                                                    \
    }
GPU_INTS(LINEAR)
LINEAR(f64)
LINEAR(f8e4m3)
LINEAR_WIDE(bf16)
LINEAR_WIDE(f16)
LINEAR_WIDE(f32)

#define LINEAR_CUT(type)                                                                                               \
    GPU_KERNEL_OF(resize_linear_cut_##type, struct gpu_resize_cut, GPU_BLOCK, 3) {                                     \
        resize_linear_wide<type, false>(p.of, (u64)p.vectors);                                                         \
    }
LINEAR_CUT(bf16)
LINEAR_CUT(f16)
LINEAR_CUT(f32)
