/* What windows of a plane meet, line by line, in registers. */
#ifndef WICK_KERNELS_CONV_DEPTH_LINE_H
#define WICK_KERNELS_CONV_DEPTH_LINE_H

#include "elementwise.h"

#include "conv_depth.h"

/* V elements at `p` where at < end, and 0 elsewhere, without a branch, so that many loads are in flight; p is a multiple of
 * their bytes. `some` may always be read. */
#if defined(GPU_NVIDIA)
template <int BYTES> struct depth_guarded;
template <> struct depth_guarded<2> {
    typedef u16 word;
    GPU_FN void load(const void *p, u32 at, u32 end, u16 *v) {
        asm volatile("{.reg .pred t; setp.lt.u32 t, %2, %3; mov.b16 %0, 0; @t ld.global.u16 %0, [%1];}"
                     : "=&h"(v[0])
                     : "l"(__cvta_generic_to_global(p)), "r"(at), "r"(end));
    }
};
template <> struct depth_guarded<4> {
    typedef u32 word;
    GPU_FN void load(const void *p, u32 at, u32 end, u32 *v) {
        asm volatile("{.reg .pred t; setp.lt.u32 t, %2, %3; mov.b32 %0, 0; @t ld.global.u32 %0, [%1];}"
                     : "=&r"(v[0])
                     : "l"(__cvta_generic_to_global(p)), "r"(at), "r"(end));
    }
};
template <> struct depth_guarded<8> {
    typedef u32 word;
    GPU_FN void load(const void *p, u32 at, u32 end, u32 *v) {
        asm volatile("{.reg .pred t; setp.lt.u32 t, %3, %4; mov.b32 %0, 0; mov.b32 %1, 0; @t ld.global.v2.u32 {%0, %1}, [%2];}"
                     : "=&r"(v[0]), "=&r"(v[1])
                     : "l"(__cvta_generic_to_global(p)), "r"(at), "r"(end));
    }
};
template <> struct depth_guarded<16> {
    typedef u32 word;
    GPU_FN void load(const void *p, u32 at, u32 end, u32 *v) {
        asm volatile("{.reg .pred t; setp.lt.u32 t, %5, %6; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, 0; mov.b32 %3, 0;"
                     " @t ld.global.v4.u32 {%0, %1, %2, %3}, [%4];}"
                     : "=&r"(v[0]), "=&r"(v[1]), "=&r"(v[2]), "=&r"(v[3])
                     : "l"(__cvta_generic_to_global(p)), "r"(at), "r"(end));
    }
};
template <typename T, int V> GPU_FN void depth_load(const T *p, const T *, u32 at, u32 end, f32 (&e)[V]) {
    typedef depth_guarded<V * sizeof(T)> guarded;
    enum { WORDS = V * sizeof(T) / sizeof(typename guarded::word) };
    union {
        typename guarded::word word[WORDS];
        gpu_pack<T, V> pack;
    } x;
    guarded::load(p, at, end, x.word);
    GPU_UNROLL for (int k = 0; k < V; k++) e[k] = gpu_up(x.pack.v[k]);
}
#else
template <typename T, int V> GPU_FN void depth_load(const T *p, const T *some, u32 at, u32 end, f32 (&e)[V]) {
    gpu_pack<T, V> v = gpu_load_pack<T, V>(at < end ? p : some);
    bool there = at < gpu_anew(end);
    GPU_UNROLL for (int k = 0; k < V; k++) e[k] = there ? gpu_up(v.v[k]) : 0;
}
#endif

/* The same from LDS. */
template <typename T, int V> GPU_FN void depth_load_near(const T *p, const T *some, u32 at, u32 end, f32 (&e)[V]) {
    gpu_pack<T, V> v = *(const gpu_pack<T, V> *)(at < end ? p : some);
    bool there = at < gpu_anew(end);
    GPU_UNROLL for (int k = 0; k < V; k++) e[k] = there ? gpu_up(v.v[k]) : 0;
}

/* N elements of line y, the first of them OFF behind place x, `step` from each other; 0 where there is none. V at a time: x
 * and the width are multiples of V, and V is 1 where step isn't. NEAR says that the plane is in LDS. */
template <typename T, int V, int OFF, bool NEAR, int N>
GPU_FN void depth_line(const T *plane, const i32 (&size)[2], i32 y, i32 x, i32 step, f32 (&e)[N]) {
    u32 width = (u32)y < (u32)size[0] ? (u32)size[1] : 0;
    const T *line = plane + (i64)(i32)((u32)y * (u32)size[1] + (u32)x);
    GPU_UNROLL for (int j = 0; j < (OFF + N + V - 1) / V; j++) {
        f32 some[V];
        if (NEAR)
            depth_load_near<T, V>(line + j * V * step, plane, (u32)(x + j * V * step), width, some);
        else
            depth_load<T, V>(line + j * V * step, plane, (u32)(x + j * V * step), width, some);
        GPU_UNROLL for (int k = 0; k < V; k++)
            if (j * V + k >= OFF && j * V + k < OFF + N) e[j * V + k - OFF] = some[k];
    }
}

/* Windows of K elements half of which lie in front: the elements before the first window's middle, in whole vectors, and how
 * many of those no window meets. Of single elements any padding is right, and none are skipped. */
template <int K, int V> struct depth_front {
    enum { HALF = V > 1 ? K / 2 : 0, COUNT = (HALF + V - 1) / V * V, OFF = COUNT - HALF };
};

/* Where number `run` of runs of `count` begins, if the elements of a run lie `apart`. */
GPU_FN i32 depth_begin(u32 run, const struct gpu_divisor &apart, u32 count) {
    u32 group = gpu_divide(run, apart);
    return (i32)(group * apart.d * count + run - group * apart.d);
}

#endif
