/* A GPU as src/gpu/ sees it: what hangs off struct wick_device's state, and how op code launches kernels on it. */
#ifndef WICK_GPU_RUNTIME_GPU_H
#define WICK_GPU_RUNTIME_GPU_H

#include "backend.h"
#include "gpu/code/kernels.h"
#include "gpu/vendor.h"

#include <pthread.h>

struct wick__gpu_pool;
struct wick__gpu_slots;
struct wick__gpu_staging;
struct wick__routes;

enum { WICK__GPU_TICKETS = 1024 }; /* counters of a device, one for each of some blocks that meet at a kernel's end */

struct wick__gpu {
    const struct wick__vendor *vendor;
    struct wick_device *device;
    int ordinal;
    struct wick__properties properties;
    void *context;
    void *stream;
    bool foreign_stream; /* the stream was given to us */
    void *capture;       /* a stream that records graphs, so that other threads may use the first one; NULL: none yet */
    void *graph;         /* that it records */
    struct wick__gpu_slots *slots;
    struct wick__gpu_pool *pool;
    struct wick__gpu_staging *staging;
    uint32_t *tickets;           /* words of device memory, 0 between kernels, whose blocks count there who has ended */
    struct wick__routes *routes; /* ways through vendors' libraries; NULL until one is asked for */
    pthread_mutex_t mutex;       /* modules and staging */
    void *modules[WICK__GPU_MODULES];
    bool native[WICK__GPU_MODULES];               /* whether they came as machine code; PTX is compiled by the driver */
    _Atomic(void *) functions[WICK__GPU_KERNELS]; /* filled as kernels are first launched */
};

static inline struct wick__gpu *wick__gpu_of(const struct wick_tensor *x) { return wick__device(x)->state; }

/* Whether this thread records a graph on the device. */
static inline bool wick__gpu_records(const struct wick__gpu *gpu) { return wick__device_recording(gpu->device); }

/* The stream that work of this thread goes to. */
static inline void *wick__gpu_queue(const struct wick__gpu *gpu) {
    return wick__gpu_records(gpu) ? gpu->capture : gpu->stream;
}

/* WICK_DEVICE (WICK_MEMORY when that is what the code says): "rocm:0: launch copy_b4: hipErrorLaunchFailure (719): ..."
 * from a vendor's code; WICK_OK for 0. `what` is a printf format. */
__attribute__((format(printf, 3, 4))) enum wick_status wick__gpu_check(struct wick__gpu *gpu, int code,
                                                                       const char *what, ...);

/* Makes the device's context current on this thread. Cheap when it is already. */
enum wick_status wick__gpu_use(struct wick__gpu *gpu);

/* Queues a kernel: `grid` blocks in x, y, z of the kernel's GPU_BLOCK threads, or of `threads`. `params` is the struct
 * the kernel takes by value. A grid with a 0 in it does nothing. The first launch of a kernel loads its module. */
struct wick__launch {
    enum wick__gpu_kernel kernel;
    unsigned grid[3]; /* 0 in y and z means 1 */
    unsigned threads; /* 0: GPU_BLOCK */
    unsigned shared;  /* dynamic LDS, bytes */
    unsigned most;    /* the most that a launch of this kernel asks for on the device; 0: every one as much as this */
    bool apart;       /* begins after the kernels ahead of it: blocks with much work each that began where others end
                       * first would leave units unequal shares */
    bool together; /* blocks may wait for each other. WICK_UNSUPPORTED, with nothing recorded, where they can't all run
                    * at once, or a graph is recorded */
};
enum wick_status wick__gpu_launch(struct wick__gpu *gpu, const struct wick__launch *launch, void *params);

/* Loads a module unless it is there. */
enum wick_status wick__gpu_load(struct wick__gpu *gpu, enum wick__gpu_module module);
/* Loads a module; whether it came as machine code for the GPU and not as PTX, that is, with the GPU's own instructions.
 */
bool wick__gpu_is_native(struct wick__gpu *gpu, enum wick__gpu_module module);

/* Blocks for a grid-stride loop over `items` items, `per_thread` each: enough to fill the device a few times over, no
 * more than there is work for. At least 1 for items > 0. */
unsigned wick__gpu_blocks(const struct wick__gpu *gpu, int64_t items, int per_thread);

/* Device memory from the pool, for the time of a call: give back with wick__gpu_release as soon as the work that uses
 * it is queued; stream order keeps it valid. */
enum wick_status wick__gpu_scratch(struct wick__gpu *gpu, size_t nbytes, void **memory);
void wick__gpu_release(struct wick__gpu *gpu, void *memory, size_t nbytes);

enum { WICK__GPU_MOST_DEVICES = 256 };
/* The devices that a vendor's driver counts. WICK_DEVICE when there is none or it can't count, also when it names a
 * number that can't be; *count is 0 then. */
enum wick_status wick__gpu_count(const struct wick__vendor *vendor, int *count);

/* ---- parts of a device ---- */

/* Makes `device` one of the vendor's: context, stream, pool, and a kernel that has run and given the right result. */
enum wick_status wick__gpu_open(struct wick_device *device, const struct wick__vendor *vendor);
/* Makes the context current and waits for the stream, whether or not they still work: what comes before closing. */
void wick__gpu_settle(struct wick__gpu *gpu);
void wick__gpu_close(struct wick_device *device);

/* Waits for the stream. */
enum wick_status wick__gpu_wait(struct wick__gpu *gpu);

/* Uploads and downloads through pinned memory (staging.c). */
enum wick_status wick__gpu_staging_open(struct wick__gpu *gpu);
void wick__gpu_staging_close(struct wick__gpu *gpu);
enum wick_status wick__gpu_upload(struct wick__gpu *gpu, void *to, const void *from, size_t nbytes);
enum wick_status wick__gpu_download(struct wick__gpu *gpu, void *to, const void *from, size_t nbytes);

/* Frees what the launches loaded (launch.c). */
void wick__gpu_modules_close(struct wick__gpu *gpu);

/* ---- layouts for kernels (layout.c) ---- */

/* Fills a divisor; d in 1 .. 2^31 - 1. */
void wick__gpu_divisor(struct gpu_divisor *divisor, uint32_t d);
/* Collapses n layouts of one shape together, and writes the shape and the strides as kernels take them, the last dim
 * first. True when all n are contiguous after that (one dim of stride 1). `layouts` are overwritten. */
bool wick__gpu_shape(struct wick__layout *layouts, int n, struct gpu_shape *shape, struct gpu_layout *strides);

/* Whether p is a multiple of 16. */
static inline bool wick__aligned16(const void *p) { return ((uintptr_t)p & 15) == 0; }

#endif
