/* Words that the blocks of one launch give each other: a value and a tag in 8 bytes of device memory, written and read
 * whole. A block that wants a value reads its word until the tag is the one it waits for, so that there is no barrier
 * and no fence, and a value costs a store and a load. The blocks must all run at once (`together` of struct
 * wick__launch). */
#ifndef WICK_KERNELS_TAGGED_H
#define WICK_KERNELS_TAGGED_H

#include "gpu.h"

GPU_FN u64 gpu_tagged(f32 value, u32 tag) { return (u64)tag << 32 | gpu_bits<u32>(value); }
GPU_FN u32 gpu_tag_of(u64 word) { return (u32)(word >> 32); }
GPU_FN f32 gpu_value_of(u64 word) { return gpu_bits<f32>((u32)word); }

#if defined(GPU_NVIDIA)
GPU_FN u64 gpu_tagged_load(const u64 *p) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(__cvta_generic_to_global(p)) : "memory");
    return word;
}
GPU_FN void gpu_tagged_store(u64 *p, u64 word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(__cvta_generic_to_global(p)), "l"(word) : "memory");
}
#elif defined(GPU_HOST)
GPU_FN u64 gpu_tagged_load(const u64 *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
GPU_FN void gpu_tagged_store(u64 *p, u64 word) { __atomic_store_n(p, word, __ATOMIC_RELAXED); }
#else
GPU_FN u64 gpu_tagged_load(const u64 *p) { return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
GPU_FN void gpu_tagged_store(u64 *p, u64 word) {
    __hip_atomic_store(p, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
#endif

#endif
