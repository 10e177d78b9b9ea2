/* Kernels that run.c launches; it says what each should give. No header of HIP's, so that a compiler alone builds it. */
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

typedef unsigned u32;
typedef unsigned long long u64;

DEVICE static inline u32 thread_x() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE static inline u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE static inline u32 block_size() { return __builtin_amdgcn_workgroup_size_x(); }
DEVICE static inline u32 global_x() { return block_x() * block_size() + thread_x(); }
DEVICE static inline void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL void add(float *to, const float *a, const float *b, int n) {
    u32 i = global_x();
    if (i < n) to[i] = a[i] + b[i];
}

/* Where everything is: ids and sizes in three dimensions. */
KERNEL void places(u32 *to) {
    u32 sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(),
        sz = __builtin_amdgcn_workgroup_size_z();
    u32 gx = __builtin_amdgcn_grid_size_x() / sx, gy = __builtin_amdgcn_grid_size_y() / sy;
    u32 block = (__builtin_amdgcn_workgroup_id_z() * gy + __builtin_amdgcn_workgroup_id_y()) * gx +
                __builtin_amdgcn_workgroup_id_x();
    u32 thread = (__builtin_amdgcn_workitem_id_z() * sy + __builtin_amdgcn_workitem_id_y()) * sx +
                 __builtin_amdgcn_workitem_id_x();
    to[block * sx * sy * sz + thread] = block << 16 | thread;
}

/* Steps of Collatz until 1: lanes leave the loop one by one. */
KERNEL void collatz(u32 *to, u32 n) {
    u32 i = global_x();
    if (i >= n) return;
    u32 steps = 0;
    for (u64 x = i + 1; x != 1; steps++) x = x & 1 ? 3 * x + 1 : x / 2;
    to[i] = steps;
}

/* Sum of each block by halves, through LDS, and of all by an atomic. */
KERNEL void sums(u32 *of_blocks, u32 *of_all, const u32 *a, u32 n) {
    SHARED static u32 part[256];
    u32 t = thread_x(), i = global_x();
    part[t] = i < n ? a[i] : 0;
    barrier();
    for (u32 half = block_size() / 2; half; half /= 2) {
        if (t < half) part[t] += part[t + half];
        barrier();
    }
    if (t == 0) {
        of_blocks[block_x()] = part[0];
        __hip_atomic_fetch_add(of_all, part[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

/* The block's numbers backwards, through LDS whose size the launch gives. */
KERNEL void backwards(u32 *to, const u32 *a) {
    extern SHARED u32 all[];
    u32 t = thread_x();
    all[t] = a[global_x()];
    barrier();
    to[global_x()] = all[block_size() - 1 - t];
}

/* An array that is indexed by data lies in scratch. */
KERNEL void histogram(u32 *to, const unsigned char *a, u32 each) {
    u32 count[16];
    for (u32 k = 0; k < 16; k++) count[k] = 0;
    for (u32 k = 0; k < each; k++) count[a[global_x() * each + k] & 15]++;
    for (u32 k = 0; k < 16; k++) to[global_x() * 16 + k] = count[k];
}

/* A function that is not inlined, called by some lanes, with an array of its own. */
DEVICE __attribute__((noinline)) u32 digits(u32 x, u32 base) {
    volatile u32 seen[33];
    u32 n = 0, sum = 0;
    while (x) {
        seen[n++] = x % base;
        x /= base;
    }
    while (n) sum = sum * 3 + seen[--n];
    return sum;
}
KERNEL void calls(u32 *to, u32 n) {
    u32 i = global_x();
    if (i >= n) return;
    to[i] = i % 3 == 0 ? digits(i * 2654435761u, 2 + i % 15) : i;
}

KERNEL void wide(double *to, const double *a, const long long *b, u32 n) {
    u32 i = global_x();
    if (i < n) to[i] = __builtin_fma(a[i], (double)(b[i] * b[i] % 1000003), 0.5) / (a[i] * a[i] + 1.0);
}

KERNEL void halves(_Float16 *to, const _Float16 *a, const _Float16 *b, u32 n) {
    u32 i = global_x();
    if (i < n) to[i] = a[i] * b[i] + (_Float16)0.25f;
}

/* Sum over the lanes of a wave, by exchange of registers. */
KERNEL void exchange(u32 *to, const u32 *a) {
    u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)), x = a[global_x()];
    for (u32 step = 1; step < __builtin_amdgcn_wavefrontsize(); step *= 2)
        x += __builtin_amdgcn_ds_bpermute((lane ^ step) * 4, x);
    to[global_x()] = x;
}

/* By value, larger than registers hold at once. */
struct table {
    u32 at[40];
    unsigned char small;
    unsigned short middle;
};
KERNEL void by_value(u32 *to, struct table table, u32 shift) {
    u32 i = global_x();
    to[i] = table.at[i % 40] * table.middle + (table.small << shift);
}

/* Every branch of a switch, and text in constant memory. */
__attribute__((device)) const char message[] = "the quick brown fox jumps over the lazy dog";
KERNEL void choose(u32 *to, u32 n) {
    u32 i = global_x(), x = 0;
    if (i >= n) return;
    switch (i % 7) {
    case 0: x = i * i; break;
    case 1: x = i << 3 | 5; break;
    case 2: x = __builtin_popcount(i * 0x9e3779b9); break;
    case 3: x = __builtin_clz(i); break;
    case 4: x = message[i % (sizeof message - 1)]; break;
    case 5: x = ~i; break;
    default: x = i / 11 + i % 13;
    }
    to[i] = x;
}

/* The plain float code by which speed is measured: 2 * rounds operations. */
KERNEL void polynomial(float *to, const float *a, u32 rounds) {
    u32 i = global_x();
    float x = a[i], y = 0.5f, z = 0.25f;
    for (u32 k = 0; k < rounds; k++) {
        y = __builtin_fmaf(y, x, 0.125f);
        z = z * x + y;
        y = __builtin_fmaf(z, 0.25f, y * 0.5f);
        z = z - y * 0.375f;
    }
    to[i] = y + z;
}

/* All blocks wait for each other, twice: each gets what the next one wrote. */
DEVICE static inline void wait_for(u32 *arrived, u32 blocks) {
    __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < blocks) continue;
}
KERNEL void meet(u32 *to, u32 *arrived) {
    u32 blocks = __builtin_amdgcn_grid_size_x() / block_size(), x = block_x();
    if (thread_x() != 0) return;
    to[x] = x + 1;
    wait_for(arrived, blocks);
    u32 next = to[(x + 1) % blocks];
    wait_for(arrived, 2 * blocks);
    to[x] = next;
}
