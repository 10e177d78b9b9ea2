/* Kernels in pairs: one with a defect of the kind that its name tells, and the same without it. Each is started with two
 * blocks of 256 threads. */
typedef unsigned int u32;
typedef unsigned long long u64;

#define FN static inline __attribute__((device, always_inline))
#define SHARED static __attribute__((shared))
FN u32 thread(void) { return __builtin_amdgcn_workitem_id_x(); }
FN u32 block(void) { return __builtin_amdgcn_workgroup_id_x(); }
FN u32 number(void) { return 256 * block() + thread(); }
FN void barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
FN u32 add(u32 *p, u32 v) { return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }

/* out and in have 512 elements; what `other` is, the test's table says. */
#define PAIR(name)                                                                                                     \
    template <bool DEFECT> FN void name(u32 *out, const u32 *in, u32 *other);                                          \
    extern "C" __attribute__((global)) void name##_bad(u32 *out, const u32 *in, u32 *other) {                          \
        name<true>(out, in, other);                                                                                    \
    }                                                                                                                  \
    extern "C" __attribute__((global)) void name##_good(u32 *out, const u32 *in, u32 *other) {                         \
        name<false>(out, in, other);                                                                                   \
    }                                                                                                                  \
    template <bool DEFECT>                                                                                             \
    FN void name([[maybe_unused]] u32 *out, [[maybe_unused]] const u32 *in, [[maybe_unused]] u32 *other)

PAIR(read_outside) { out[number()] = in[number() + DEFECT]; }
PAIR(write_outside) { out[number() + DEFECT] = in[number()]; }
PAIR(read_far_outside) { out[number()] = in[number() + ((u64)DEFECT << 36)]; }
PAIR(byte_outside) { out[number()] = ((const unsigned char *)in)[number() * 4 + 4 * DEFECT]; }

/* 16 bytes from the last but three. */
PAIR(vector_outside) {
    typedef u32 four __attribute__((vector_size(16)));
    if (number() < 128) {
        four v = *(const four *)(in + 4 * number() + 2 * DEFECT);
        *(four *)(out + 4 * number()) = v;
    }
}

/* other: as in, but freed */
PAIR(after_free) { out[number()] = (DEFECT ? other : in)[number()]; }
/* other: 512 elements that nobody wrote */
PAIR(never_written) {
    if (!DEFECT) other[number()] = 1;
    out[number()] = other[number()] + in[number()];
}
/* other: 512 elements that kernels may not write */
PAIR(read_only) { (DEFECT ? other : out)[number()] = in[number()]; }

PAIR(misaligned_atomic) {
    u64 *p = (u64 *)(out + 2 * thread() + DEFECT);
    if (thread() < 255) __hip_atomic_fetch_add(p, (u64)in[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

PAIR(undefined_address) {
    u32 i = thread();
    if (DEFECT) asm volatile("" : "=v"(i));
    out[number()] = in[i];
}

PAIR(lds_never_written) {
    SHARED u32 a[256];
    if (!DEFECT || thread() < 255) a[thread()] = in[number()];
    barrier();
    out[number()] = a[255 - thread()];
}

PAIR(lds_outside) {
    SHARED u32 a[256];
    u32 i = thread() + DEFECT * (in[0] + 4096);
    a[i] = in[number()];
    barrier();
    out[number()] = a[i];
}

PAIR(lds_misaligned_atomic) {
    SHARED u32 a[260];
    a[thread()] = 0;
    if (thread() < 4) a[256 + thread()] = 0;
    barrier();
    __hip_atomic_fetch_add((u32 *)((char *)(a + thread()) + DEFECT * 2), in[0], __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_WORKGROUP);
    barrier();
    out[number()] = a[thread()];
}

/* The neighbours across waves have no barrier between write and read, or between read and write. */
PAIR(lds_write_read) {
    SHARED u32 a[256];
    a[thread()] = 0;
    barrier();
    a[thread()] = number();
    if (!DEFECT) barrier();
    out[number()] = a[(thread() + 64) % 256];
}
PAIR(lds_read_write) {
    SHARED u32 a[256];
    a[thread()] = in[number()];
    barrier();
    u32 v = a[(thread() + 64) % 256];
    if (!DEFECT) barrier();
    a[thread()] = number();
    out[number()] = v;
}
PAIR(lds_write_write) {
    SHARED u32 a[256];
    a[DEFECT ? thread() % 64 : thread()] = number();
    barrier();
    out[number()] = a[thread() % 64];
}
/* A byte each, so that waves share words. */
PAIR(lds_bytes) {
    SHARED unsigned char a[256];
    a[DEFECT ? thread() & ~64u : thread()] = (unsigned char)thread();
    barrier();
    out[number()] = a[thread() & ~64u];
}
PAIR(lds_atomic_read) {
    SHARED u32 sum;
    if (thread() == 0) sum = 0;
    barrier();
    __hip_atomic_fetch_add(&sum, in[number()] + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    if (!DEFECT) barrier();
    out[number()] = sum;
}

/* A block reads what the other writes; writes what the other reads; both write the same, or bytes of one word. */
PAIR(block_write_read) {
    out[number()] = number();
    other[number()] = DEFECT ? out[number() ^ 256] : out[number()];
}
PAIR(block_read_write) {
    other[number()] = DEFECT ? out[number() ^ 256] : out[number()];
    out[number()] = number();
}
PAIR(block_write_write) {
    out[DEFECT ? thread() : number()] = number();
    if (thread() == 0) other[0] = 1; /* of one value: no race */
}
PAIR(block_bytes) { ((unsigned char *)out)[DEFECT ? thread() : 2 * thread() + block()] = (unsigned char)(number() / 2 + block()); }
PAIR(block_volatile) {
    if (thread() == 0) {
        if (DEFECT)
            other[0] = number();
        else
            *(volatile u32 *)other = number();
    }
}
/* Atomics of all blocks on one counter, and a plain read or write of it. other: 512 elements, zero */
PAIR(block_atomic_read) {
    u32 old = add(other, 1);
    out[number()] = DEFECT ? other[0] : old;
}

/* The last block to arrive adds up what all wrote. other: 512 elements, zero */
PAIR(block_last) {
    SHARED u32 last;
    out[number()] = in[number()];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier();
    if (thread() == 0) last = add(other, 1);
    barrier();
    if (last == 1) {
        if (!DEFECT) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        other[1 + thread()] = out[thread()] + out[256 + thread()];
    }
}

/* An atomic that compilers make a loop of compare-and-swap of, with a plain load in front of it. */
PAIR(block_exchange) {
    u32 old = other[0], seen;
    do {
        seen = old;
        __hip_atomic_compare_exchange_strong(other, &old, seen + 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT);
    } while (old != seen);
    if (DEFECT) other[1] = number();
}

/* Lanes of a branch that asks those outside of it. */
PAIR(inactive_lane) {
    u32 v = in[number()], from = thread() ^ (DEFECT ? 1 : 2);
    out[number()] = v;
    if (thread() % 2) out[number()] = (u32)__builtin_amdgcn_ds_bpermute((int)(4 * from), (int)v);
}

/* An array of a lane's own, in scratch memory. */
PAIR(scratch_outside) {
    volatile u32 a[16];
    for (u32 i = 0; i < 16; i++) a[i] = in[i];
    out[number()] = a[(thread() & 15) + DEFECT * 4096];
}
