/* What a kernel module compiled for a processor and the driver that runs it (tests/standin) have in common. */
#ifndef WICK_KERNELS_HOST_H
#define WICK_KERNELS_HOST_H

#include "params.h"

/* The module's view of the driver, one in each module. The driver writes `thread` whenever it switches threads. */
struct gpu_host {
    u32 thread, threads, block[3], blocks[3];
    /* Returns when every thread of the block is here or has ended. */
    void (*sync_block)(void);
    /* Gives v to the wave and returns the values of all its lanes, by lane, when every one is here or has ended. They
     * last until this thread's next exchange but one. A lane that has ended gives 0xdeadbeefdeadbeef. */
    const u64 *(*exchange)(u64 v);
    u32 wave;           /* GPU_WAVE of the module */
    u32 format;         /* GPU_HOST_FORMAT */
    char *shared[2];    /* where GPU_SHARED variables begin and end */
};
#define GPU_HOST_FORMAT 1

/* A kernel, as wick_host_NAME() of the module describes it. */
struct gpu_host_kernel {
    void (*run)(const void *params);
    u32 size;    /* bytes of params */
    u32 threads; /* the most in a block */
};

#if defined(GPU_HOST)
#define GPU_HOST_EXPORT extern "C" __attribute__((visibility("default")))
extern "C" __attribute__((weak, visibility("hidden"))) char __start_gpu_shared[], __stop_gpu_shared[];
static struct gpu_host gpu_host;
GPU_HOST_EXPORT struct gpu_host *wick_host_module(void) {
    gpu_host.wave = GPU_WAVE;
    gpu_host.format = GPU_HOST_FORMAT;
    gpu_host.shared[0] = __start_gpu_shared;
    gpu_host.shared[1] = __stop_gpu_shared;
    return &gpu_host;
}
#endif

#endif
