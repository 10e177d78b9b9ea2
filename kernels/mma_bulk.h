/* Copies of whole tiles from memory to LDS, which one thread asks for, and the barriers in LDS that count what has
 * arrived (Hopper's bulk tensor copies; code for sm_90a only). They put a tile's lines where matrix instructions of
 * groups of waves want them (mma_group.h), with zeros for what lies outside the tensor. See the PTX manual,
 * "Asynchronous copy: bulk tensor" and "mbarrier".
 *
 *   MMA_BULK  whether the target has them; the rest is there only if so. */
#ifndef WICK_KERNELS_MMA_BULK_H
#define WICK_KERNELS_MMA_BULK_H

#include "mma_group.h"
#include "tensor_map.h"

#if MMA_GROUP && defined(GPU_NVIDIA)
#define MMA_BULK 1
#else
#define MMA_BULK 0
#endif

#if MMA_BULK
/* A kernel whose parameters stay where the launch put them, so that copies can read maps there. The second form begins
 * ahead (gpu.h). */
#define BULK_KERNEL(name, params, threads) BULK_KERNEL_(name, params, threads, gpu_follow)
#define BULK_KERNEL_AHEAD(name, params, threads) BULK_KERNEL_(name, params, threads, gpu_lead)
#define BULK_KERNEL_(name, params, threads, begin)                                                                     \
    GPU_FN void name##_body(const params &p);                                                                          \
    extern "C" __global__ void __launch_bounds__(threads, 1) name(const __grid_constant__ params p) {                  \
        begin();                                                                                                       \
        name##_body(p);                                                                                                \
    }                                                                                                                  \
    GPU_FN void name##_body(const params &p)

GPU_FN u32 bulk_address(const void *lds) { return (u32)__cvta_generic_to_shared(lds); }

/* A barrier is passed for the first time (phase 0), the second (phase 1), the third (phase 0) ... once `count` have
 * arrived and all bytes that were expected are there. */
GPU_FN void bulk_barrier_begin(u64 *barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bulk_address(barrier)), "r"(count) : "memory");
}
/* What barriers began with becomes visible to copies; then a barrier of the block. */
GPU_FN void bulk_barriers_publish(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
GPU_FN void bulk_arrive(u64 *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bulk_address(barrier)) : "memory");
}
/* Arrives, and expects that many bytes of copies. */
GPU_FN void bulk_expect(u64 *barrier, u32 nbytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bulk_address(barrier)), "r"(nbytes)
                 : "memory");
}
GPU_FN void bulk_wait(u64 *barrier, u32 phase) {
    u32 passed;
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(passed)
                     : "r"(bulk_address(barrier)), "r"(phase)
                     : "memory");
    while (!passed);
}
/* Asks for the map's box at (x, y, z), or at four coordinates, innermost dim first. */
GPU_FN void bulk_copy(u8 *lds, const struct gpu_tensor_map &map, i32 x, i32 y, i32 z, u64 *barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4}], [%5];" ::"r"(bulk_address(lds)),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(bulk_address(barrier))
                 : "memory");
}
GPU_FN void bulk_copy(u8 *lds, const struct gpu_tensor_map &map, const i32 (&at)[4], u64 *barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
                 "%4, %5}], [%6];" ::"r"(bulk_address(lds)),
                 "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(bulk_address(barrier))
                 : "memory");
}
/* Copies by this map will come. */
GPU_FN void bulk_expect_map(const struct gpu_tensor_map &map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
/* Asks for that many bytes side by side, a multiple of 16, from and to multiples of 16. */
GPU_FN void bulk_copy_run(void *lds, const void *from, u32 nbytes, u64 *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     bulk_address(lds)),
                 "l"(from), "r"(nbytes), "r"(bulk_address(barrier))
                 : "memory");
}
/* A fragment to LDS: lane l says where eight neighbours of row l % 16 go, those from column l / 16 * 8 on. */
GPU_FN void bulk_store_fragment(u32 lds, const struct mma_fragment &x) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(lds), "r"(x.word[0]),
                 "r"(x.word[1]), "r"(x.word[2]), "r"(x.word[3])
                 : "memory");
}
/* The other way: LDS, which this thread's wave wrote before bulk_show and a barrier of the wave, to the map's box. */
GPU_FN void bulk_show(void) { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
GPU_FN void bulk_put(const struct gpu_tensor_map &map, i32 x, i32 y, i32 z, const u8 *lds) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
                 "r"(x), "r"(y), "r"(z), "r"(bulk_address(lds))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
GPU_FN void bulk_put(const struct gpu_tensor_map &map, const i32 (&at)[4], const u8 *lds) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
                 "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(bulk_address(lds))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/* That many bytes side by side, a multiple of 16, from and to multiples of 16; the second form adds f32. */
GPU_FN void bulk_put_run(f32 *to, const void *lds, u32 nbytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(bulk_address(lds)), "r"(nbytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
GPU_FN void bulk_add_run(f32 *to, const void *lds, u32 nbytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
                 "r"(bulk_address(lds)), "r"(nbytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/* Until all but N of this thread's have read LDS, or until all have written. */
template <int N> GPU_FN void bulk_put_wait(void) { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
GPU_FN void bulk_put_end(void) { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/* A number in memory that blocks wait for: what a thread's bulk copies wrote before bulk_note is there for those of a thread
 * that has seen the number. */
GPU_FN void bulk_note(u32 *at, u32 number) {
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(number) : "memory");
}
GPU_FN void bulk_await(const u32 *at, u32 number) {
    u32 seen;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory");
    while (seen != number);
    asm volatile("fence.proxy.async;" ::: "memory");
}
/* A barrier of `threads` of the block, one of 15 beside gpu_sync's; the second form does not wait there for the others. */
GPU_FN void bulk_sync(u32 number, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
GPU_FN void bulk_pass(u32 number, u32 threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Places of LDS that are filled one after the other; the phase is that of the next one's barrier. */
struct bulk_ring {
    u32 stage, phase;
};
template <u32 STAGES> GPU_FN void bulk_next(struct bulk_ring &ring) {
    ring.stage = ring.stage + 1 == STAGES ? 0 : ring.stage + 1;
    ring.phase ^= ring.stage == 0;
}
/* The number of the next tile below `tiles` that no block has, where a block begins with that of its own number. In the end
 * every block draws one that is not there, so that the last draw is known, after which counting starts anew. */
GPU_FN u32 bulk_draw(u32 *tickets, u32 tiles) {
    u32 taken = gpu_atomic_add(tickets, 1);
    if (taken + 1 == tiles) *tickets = 0;
    return gpu_blocks_x() + taken;
}
/* Registers of this group's threads from here on. */
template <int N> GPU_FN void group_take_registers(void) { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> GPU_FN void group_give_registers(void) { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
#endif

#endif
