/* Gradients of max and average pooling: a thread an element of x, which gathers from every window that reaches it, in
 * order, or a few elements where windows are apart. Sums are f64. */
#include "dtype.h"
#include "elementwise.h"
#include "layout.h"

#include "pool_backward.h"

/* The windows that reach an element of one dim: begin .. end - 1. */
template <typename I> struct pool_range {
    I at, begin, end;
};

GPU_FN u64 pool_quotient(u64 n, i64 by, const struct gpu_divisor &) { return n / (u64)by; }
GPU_FN u32 pool_quotient(u32 n, i64, const struct gpu_divisor &by) { return gpu_divide(n, by); }

/* Where element i of x lies, and which windows reach it. Its plane is the result. */
template <typename I> GPU_FN I pool_place(const struct gpu_pool_backward &p, I i, struct pool_range<I> (&r)[3]) {
    I rest = i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        const struct gpu_pool_axis &a = p.axis[d];
        I quotient = pool_quotient(rest, a.in, a.by_in);
        r[d].at = rest - quotient * (I)a.in;
        I last = r[d].at + (I)a.padding, reach = (I)a.reach;
        r[d].begin = last > reach ? pool_quotient(last - reach - 1, a.stride, a.by_stride) + 1 : 0;
        r[d].end = pool_quotient(last, a.stride, a.by_stride) + 1;
        if (r[d].end > (I)a.out) r[d].end = (I)a.out;
        rest = quotient;
    }
    return rest;
}

/* How many elements of window o of dim d count in the divisor. */
template <typename I> GPU_FN I pool_counted(const struct gpu_pool_backward &p, u32 d, I o) {
    const struct gpu_pool_axis &a = p.axis[gpu_anew(d)];
    I begin = o * (I)a.stride, end = begin + (I)a.kernel, padding = (I)a.padding; /* from the padding on */
    I limit = (I)a.in + (p.count_padding ? padding + padding : padding);
    if (end > limit) end = limit;
    if (begin < padding && !p.count_padding) begin = padding;
    return end - begin;
}

/* What the window at `index` gives the element at `position` of its plane; `elements` are those of its other dims. */
template <typename T, bool MAX, typename I>
GPU_FN typename gpu_compute<T>::type pool_given(const struct gpu_pool_backward &p, I index, u32 position, I elements,
                                                I w) {
    typedef typename gpu_compute<T>::type C;
    C value = gpu_up(((const T *)p.gradient)[index]);
    if (MAX) return p.indices[index] == position ? value : (C)0;
    return value / (C)(p.divisor ? (I)p.divisor : elements * pool_counted<I>(p, 2, w));
}

template <typename T, bool MAX, typename I> GPU_FN void pool_gather(const struct gpu_pool_backward &p, I i) {
    typedef typename gpu_compute<T>::type C;
    struct pool_range<I> r[3];
    I plane = pool_place<I>(p, i, r);
    u32 position = (u32)((r[0].at * (I)p.axis[1].in + r[1].at) * (I)p.axis[2].in + r[2].at);
    f64 sum = 0;
    GPU_NO_UNROLL for (I d = r[0].begin; d < r[0].end; d++) {
        GPU_NO_UNROLL for (I h = r[1].begin; h < r[1].end; h++) {
            I row = ((plane * (I)p.axis[0].out + d) * (I)p.axis[1].out + h) * (I)p.axis[2].out;
            I elements = MAX || p.divisor ? 1 : pool_counted<I>(p, 0, d) * pool_counted<I>(p, 1, h);
            GPU_NO_UNROLL for (I w = r[2].begin; w < r[2].end; w++)
                sum += (f64)pool_given<T, MAX, I>(p, row + w, position, elements, w);
        }
    }
    ((T *)p.out)[i] = gpu_round<T>((C)sum);
}

/* Windows that are apart, of which at most one reaches an element. */
template <typename T, bool MAX> GPU_FN typename gpu_compute<T>::type pool_only(const struct gpu_pool_backward &p, u32 i) {
    typedef typename gpu_compute<T>::type C;
    u32 at[3], window[3];
    bool inside = true;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        const struct gpu_pool_axis &a = p.axis[d];
        u32 quotient = gpu_divide(i, a.by_in), last;
        at[d] = i - quotient * (u32)a.in;
        last = at[d] + (u32)a.padding;
        window[d] = gpu_divide(last, a.by_stride);
        inside = inside && window[d] < (u32)a.out && last - window[d] * (u32)a.stride <= (u32)a.reach;
        i = quotient;
    }
    if (!inside) return 0;
    u32 position = (at[0] * (u32)p.axis[1].in + at[1]) * (u32)p.axis[2].in + at[2];
    u32 index = ((i * (u32)p.axis[0].out + window[0]) * (u32)p.axis[1].out + window[1]) * (u32)p.axis[2].out + window[2];
    u32 elements = 1;
    if (!MAX && p.divisor == 0) elements = pool_counted<u32>(p, 0, window[0]) * pool_counted<u32>(p, 1, window[1]);
    return pool_given<T, MAX, u32>(p, index, position, elements, window[2]) + (C)0; /* no -0, as of a sum */
}

template <typename T, bool MAX> GPU_FN void pool_apart(const struct gpu_pool_backward &p) {
    enum { E = GPU_POOL_BACKWARD_EACH };
    typedef typename gpu_compute<T>::type C;
    const u32 count = (u32)p.count;
    T *out = (T *)p.out;
    for (u32 i = (u32)gpu_global() * E; i < count; i += (u32)gpu_stride() * E) {
        gpu_pack<T, E> pack;
        GPU_UNROLL for (int e = 0; e < E; e++)
            pack.v[e] = gpu_round<T>(i + e < count ? pool_only<T, MAX>(p, i + e) : (C)0);
        if (i + E <= count)
            gpu_store_pack<T, E>(out + i, pack);
        else
            GPU_UNROLL for (int e = 0; e < E; e++)
                if (i + e < count) out[i + e] = pack.v[e];
    }
}

template <typename T, bool MAX> GPU_FN void pool_backward(const struct gpu_pool_backward &p) {
    if (p.apart)
        pool_apart<T, MAX>(p);
    else if (p.narrow)
        for (u32 i = (u32)gpu_global(); i < (u32)p.count; i += (u32)gpu_stride()) pool_gather<T, MAX, u32>(p, i);
    else
        for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) pool_gather<T, MAX, u64>(p, i);
}

#define POOL_BACKWARD(T)                                                                                               \
    GPU_KERNEL(pool_backward_max_##T, struct gpu_pool_backward) { pool_backward<T, true>(p); }                         \
    GPU_KERNEL(pool_backward_average_##T, struct gpu_pool_backward) { pool_backward<T, false>(p); }
GPU_FLOATS(POOL_BACKWARD)
