/* Copies from any layout to any other, by the size of an element. */
#include "layout.h"

#include "copy.h"

template <typename T> GPU_FN void copy_flat(const struct gpu_copy_flat &p) {
    enum { N = gpu_vec<T>::N };
    const T *in = (const T *)p.in;
    T *out = (T *)p.out;
    for (u64 i = gpu_global(); i < (u64)p.vectors; i += gpu_stride()) gpu_store16(out + i * N, gpu_load16(in + i * N));
    for (u64 i = (u64)p.vectors * N + gpu_global(); i < (u64)p.count; i += gpu_stride()) out[i] = in[i];
}

template <typename T> GPU_FN void copy_strided(const struct gpu_copy_strided &p) {
    for (u64 i = gpu_global(); i < (u64)p.shape.count; i += gpu_stride()) {
        gpu_offsets<2> o = gpu_locate<2>(i, p.shape, p.layout);
        ((T *)p.out)[o.at[1]] = ((const T *)p.in)[o.at[0]];
    }
}

#define COPY(suffix, type)                                                                                             \
    GPU_KERNEL(copy_flat_##suffix, struct gpu_copy_flat) { copy_flat<type>(p); }                                       \
    GPU_KERNEL(copy_strided_##suffix, struct gpu_copy_strided) { copy_strided<type>(p); }
COPY(b1, u8)
COPY(b2, u16)
COPY(b4, u32)
COPY(b8, u64)
