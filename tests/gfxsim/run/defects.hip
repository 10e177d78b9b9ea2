/* Kernels with one planted defect each, which defects.c expects to be found. */
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

#if __AMDGCN_WAVEFRONT_SIZE__ == 64
#define VCC "vcc"
#else
#define VCC "vcc_lo"
#endif

typedef unsigned u32;

DEVICE static inline u32 thread_x() { return __builtin_amdgcn_workitem_id_x(); }

/* Half of the block waits, the other half ends. */
KERNEL void barrier_of_some(u32 *to) {
    if (thread_x() >= 64) __builtin_amdgcn_s_barrier();
    to[thread_x()] = 1;
}
/* Both halves wait, at different barriers. */
KERNEL void barrier_of_others(u32 *to) {
    if (thread_x() >= 64) {
        to[thread_x()] = 2;
        __builtin_amdgcn_s_barrier();
    } else {
        to[thread_x()] = 3;
        __builtin_amdgcn_s_barrier();
        to[thread_x()] = 4;
    }
}
KERNEL void endless(volatile u32 *to) {
    while (to[0] == 0) to[1] = 2;
}
KERNEL void stops(u32 *to) {
    to[0] = 1;
    __builtin_trap();
}
/* Nothing has written s40: the compiler is only told that something may. */
KERNEL void branch_on_undefined(u32 *to) {
    asm volatile("s_cmp_eq_u32 s40, 0\n s_cbranch_scc1 1f\n s_nop 0\n1:" ::: "s40", "scc");
    to[0] = 1;
}
KERNEL void vector_branch_on_undefined(u32 *to) {
    asm volatile("v_cmp_eq_u32 " VCC ", 0, v40\n s_cbranch_vccz 1f\n s_nop 0\n1:" ::: "v40", VCC);
    to[0] = 1;
}
KERNEL void exec_from_undefined(u32 *to) {
    asm volatile("s_mov_b32 exec_lo, s40" ::: "s40");
    to[0] = 1;
}
KERNEL void address_from_undefined(u32 *to) {
    asm volatile("s_setpc_b64 s[40:41]" ::: "s40", "s41");
    to[0] = 1;
}
KERNEL void unknown_instruction(u32 *to) {
    to[0] = 1;
    asm volatile(".long 0xbfffffff");
}
KERNEL void out_of_code(u32 *to) {
    to[0] = 1;
    asm volatile("s_mov_b64 s[40:41], 64\n s_setpc_b64 s[40:41]" ::: "s40", "s41");
}
KERNEL void fine(u32 *to) { to[thread_x()] = 5; }
