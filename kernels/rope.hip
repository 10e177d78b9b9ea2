/* Rotary position embedding. */
#include "dtype.h"
#include "layout.h"
#include "rope.h"
#include "rope_turn.h"

template <typename T> GPU_FN void rope(const struct gpu_rope &p) {
    enum { N = gpu_vec<T>::N };
    GPU_NO_UNROLL for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        gpu_offsets<4> o = gpu_locate<4>(i, p.shape, p.layout);
        const T *x = (const T *)p.x + o.at[0], *cosine = (const T *)p.cosine + o.at[2];
        const T *sine = (const T *)p.sine + o.at[3];
        T *out = (T *)p.out + o.at[1];
        if (!p.vectors) {
            i64 apart = p.interleaved ? 1 : p.apart;
            T a = x[0], b = x[apart];
            rope_turn(&a, &b, *cosine, *sine);
            out[0] = a;
            out[apart] = b;
        } else if (p.interleaved) {
            gpu_vec<T> v = gpu_load16(x);
            GPU_UNROLL for (int k = 0; k < N; k += 2) rope_turn(&v.v[k], &v.v[k + 1], cosine[k / 2], sine[k / 2]);
            gpu_store16(out, v);
        } else {
            gpu_vec<T> a = gpu_load16(x), b = gpu_load16(x + p.apart), c = gpu_load16(cosine), s = gpu_load16(sine);
            GPU_UNROLL for (int k = 0; k < N; k++) rope_turn(&a.v[k], &b.v[k], c.v[k], s.v[k]);
            gpu_store16(out, a);
            gpu_store16(out + p.apart, b);
        }
    }
}

#define ROPE(T)                                                                                                        \
    GPU_KERNEL(rope_##T, struct gpu_rope) { rope<T>(p); }
GPU_FLOATS(ROPE)
