/* The generated functions on a GPU. */
#define FN __attribute__((device, always_inline, unused)) inline
#define CALLED __attribute__((device, noinline, unused))
#define LDS(type) type
#define HIDE(x) __asm__("" : "+v"(x)) /* the compiler forgets what x is */
#define ATOMIC(op, p, v, scope) (void)__hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, scope)
#define ATOMIC_ADD(p, v) ATOMIC(add, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_AND(p, v) ATOMIC(and, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_OR(p, v) ATOMIC(or, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_XOR(p, v) ATOMIC(xor, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_MIN(p, v) ATOMIC(min, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_MAX(p, v) ATOMIC(max, p, v, __HIP_MEMORY_SCOPE_AGENT)
#define ATOMIC_LDS_ADD(p, v) ATOMIC(add, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define ATOMIC_LDS_AND(p, v) ATOMIC(and, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define ATOMIC_LDS_OR(p, v) ATOMIC(or, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define ATOMIC_LDS_XOR(p, v) ATOMIC(xor, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define ATOMIC_LDS_MIN(p, v) ATOMIC(min, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define ATOMIC_LDS_MAX(p, v) ATOMIC(max, p, v, __HIP_MEMORY_SCOPE_WORKGROUP)
#define THREAD __builtin_amdgcn_workitem_id_x()
#define BARRIER()                                                                                                      \
    do {                                                                                                               \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                         \
        __builtin_amdgcn_s_barrier();                                                                                  \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                                         \
    } while (0)
#define KERNEL(f)                                                                                                      \
    extern "C" __attribute__((global)) void f##_kernel(const u64 *in, u64 *out, const u8 *table, u32 *g) {             \
        u32 t = __builtin_amdgcn_workgroup_id_x() * BLOCK + THREAD;                                                    \
        f(in + t * 8, out + t * 8, table, g, t);                                                                       \
    }
#define KERNEL_LDS(f, type)                                                                                            \
    extern "C" __attribute__((global)) void f##_kernel(const u64 *in, u64 *out, const u8 *, u32 *) {                   \
        static __attribute__((shared)) type lds[BLOCK];                                                                \
        static __attribute__((shared)) u32 counts[16];                                                                 \
        u32 t = THREAD, first = __builtin_amdgcn_workgroup_id_x() * BLOCK;                                             \
        in += (first + t) * 8, out += (first + t) * 8;                                                                 \
        f##_0(in, out, lds, counts, t);                                                                                \
        BARRIER();                                                                                                     \
        f##_1(in, out, lds, counts, t);                                                                                \
        BARRIER();                                                                                                     \
        f##_2(in, out, lds, counts, t);                                                                                \
    }
#include "prelude.h"

#include "functions.h"
