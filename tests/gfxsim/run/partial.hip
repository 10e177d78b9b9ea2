/* A kernel whose last blocks may be smaller, which run/partial.c launches. It asks for the size of its block as AMD's
 * device library does: by the hidden arguments, or, with PACKET, by the dispatch packet. */
#define DEVICE __attribute__((device))
typedef unsigned u32;
typedef unsigned short u16;

/* Threads of this block in dimension i, where its number is id. */
DEVICE static inline u32 size_of(int i, u32 id) {
#ifdef PACKET
    const char *packet = (const char *)__builtin_amdgcn_dispatch_ptr();
    u32 block = ((const u16 *)packet)[2 + i], left = ((const u32 *)packet)[3 + i] - id * block;
    return left < block ? left : block;
#else
    const char *hidden = (const char *)__builtin_amdgcn_implicitarg_ptr();
    u32 blocks = ((const u32 *)hidden)[i];
    return ((const u16 *)hidden)[(id < blocks ? 6 : 9) + i];
#endif
}
/* Threads of a whole block. */
DEVICE static inline u32 whole(int i) {
#ifdef PACKET
    return ((const u16 *)__builtin_amdgcn_dispatch_ptr())[2 + i];
#else
    return ((const u16 *)__builtin_amdgcn_implicitarg_ptr())[6 + i];
#endif
}

/* For each thread of width x height x depth: the threads of its block by LDS, and the block's size by x, y and z. */
extern "C" __attribute__((global)) void partial(u32 *to, u32 width, u32 height) {
    __attribute__((shared)) static u32 threads;
    u32 tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y(),
        tz = __builtin_amdgcn_workitem_id_z();
    u32 bx = __builtin_amdgcn_workgroup_id_x(), by = __builtin_amdgcn_workgroup_id_y(),
        bz = __builtin_amdgcn_workgroup_id_z();
    if ((tx | ty | tz) == 0) threads = 0;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    __hip_atomic_fetch_add(&threads, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    u32 x = bx * whole(0) + tx, y = by * whole(1) + ty, z = bz * whole(2) + tz;
    u32 *at = to + 4 * ((z * height + y) * width + x);
    at[0] = threads;
    at[1] = size_of(0, bx);
    at[2] = size_of(1, by);
    at[3] = size_of(2, bz);
}
