/* Gradients of max and average pooling: a thread an element of x, which gathers from every window that reaches it, in
 * order. Sums are f64. */
#include "dtype.h"
#include "layout.h"

#include "pool_backward.h"

/* The windows that reach an element of one dim: begin .. end - 1. */
struct pool_range {
    i64 at, begin, end;
};

GPU_FN struct pool_range pool_windows_of(const struct gpu_pool_backward &p, const struct gpu_pool_axis &a, i64 at) {
    struct pool_range r;
    i64 last = at + a.padding, first = last - (a.kernel - 1) * a.step;
    r.at = at;
    if (p.narrow) {
        r.begin = first > 0 ? (i64)gpu_divide((u32)(first - 1), a.by_stride) + 1 : 0;
        r.end = (i64)gpu_divide((u32)last, a.by_stride) + 1;
    } else {
        r.begin = first > 0 ? (first - 1) / a.stride + 1 : 0;
        r.end = last / a.stride + 1;
    }
    if (r.end > a.out) r.end = a.out;
    return r;
}

/* Where element i of x lies, and which windows reach it. Its plane is the result. */
GPU_FN i64 pool_place(const struct gpu_pool_backward &p, u64 i, struct pool_range (&r)[3]) {
    u64 rest = i;
    GPU_UNROLL for (int d = 2; d >= 0; d--) {
        const struct gpu_pool_axis &a = p.axis[d];
        u64 quotient = p.narrow ? gpu_divide((u32)rest, a.by_in) : rest / (u64)a.in;
        r[d] = pool_windows_of(p, a, (i64)(rest - quotient * (u64)a.in));
        rest = quotient;
    }
    return (i64)rest;
}

/* How many elements of window o of dim d count in the divisor. */
GPU_FN i64 pool_counted(const struct gpu_pool_backward &p, u32 d, i64 o) {
    const struct gpu_pool_axis &a = p.axis[gpu_anew(d)];
    i64 begin = o * a.stride - a.padding, end = begin + a.kernel;
    i64 limit = p.count_padding ? a.in + a.padding : a.in;
    if (end > limit) end = limit;
    if (begin < 0 && !p.count_padding) begin = 0;
    return end - begin;
}

template <typename T, bool MAX> GPU_FN void pool_backward(const struct gpu_pool_backward &p) {
    typedef typename gpu_compute<T>::type C;
    const T *gradient = (const T *)p.gradient;
    for (u64 i = gpu_global(); i < (u64)p.count; i += gpu_stride()) {
        struct pool_range r[3];
        i64 plane = pool_place(p, i, r);
        u32 position = (u32)((r[0].at * p.axis[1].in + r[1].at) * p.axis[2].in + r[2].at);
        f64 sum = 0;
        GPU_NO_UNROLL for (i64 d = r[0].begin; d < r[0].end; d++) {
            GPU_NO_UNROLL for (i64 h = r[1].begin; h < r[1].end; h++) {
                i64 row = ((plane * p.axis[0].out + d) * p.axis[1].out + h) * p.axis[2].out;
                i64 elements = MAX ? 1 : pool_counted(p, 0, d) * pool_counted(p, 1, h);
                GPU_NO_UNROLL for (i64 w = r[2].begin; w < r[2].end; w++) {
                    if (MAX) {
                        if (p.indices[row + w] == position) sum += (f64)gpu_up(gradient[row + w]);
                    } else {
                        C by = (C)(p.divisor ? p.divisor : elements * pool_counted(p, 2, w));
                        sum += (f64)(gpu_up(gradient[row + w]) / by);
                    }
                }
            }
        }
        ((T *)p.out)[i] = gpu_round<T>((C)sum);
    }
}

#define POOL_BACKWARD(T)                                                                                               \
    GPU_KERNEL(pool_backward_max_##T, struct gpu_pool_backward) { pool_backward<T, true>(p); }                         \
    GPU_KERNEL(pool_backward_average_##T, struct gpu_pool_backward) { pool_backward<T, false>(p); }
GPU_FLOATS(POOL_BACKWARD)
