/* The GPU device families: opening and closing devices, and what src/backend.h asks of them. */
#include "gpu/ops/gemm.h"
#include "gpu/runtime/peer.h"
#include "gpu/runtime/pool.h"
#include "gpu/runtime/stream.h"

#include "core/memory.h"
#include "kernels/copy.h"

#include <string.h>

/* ---- counting ---- */

enum { MOST_DEVICES = 256 };

enum wick_status wick__gpu_count(const struct wick__vendor *vendor, int *count) {
    int n = 0;
    *count = 0;
    WICK__TRY(vendor->load());
    int code = vendor->count(&n);
    if (code) {
        char text[256];
        vendor->error_text(code, text, sizeof text);
        return wick__fail(vendor->out_of_memory(code) ? WICK_MEMORY : WICK_DEVICE, "%s: count devices: %s",
                          vendor->family, text);
    }
    if (n < 0 || n > MOST_DEVICES)
        return wick__fail(WICK_DEVICE, "%s: the driver reports %d devices; from 0 to %d are believed", vendor->family,
                          n, MOST_DEVICES);
    *count = n;
    return WICK_OK;
}

/* A machine without this vendor's GPUs is not a failure. */
static int count(const struct wick__vendor *vendor) {
    struct wick__error quiet = {0};
    int n;
    wick__error_swap(&quiet);
    (void)wick__gpu_count(vendor, &n);
    wick__error_swap(&quiet);
    return n;
}

static int cuda_count(void) { return count(&wick__cuda_vendor); }
static int rocm_count(void) { return count(&wick__rocm_vendor); }

/* The ranks of devices, plus one, once they are known: a list of devices asks for each rank many times. */
typedef _Atomic signed char kept_ranks[MOST_DEVICES];

static int rank_of(const struct wick__vendor *vendor, kept_ranks *kept, int ordinal) {
    struct wick__properties properties;
    if ((*kept)[ordinal]) return (*kept)[ordinal] - 1;
    int rank = vendor->properties(ordinal, &properties) == 0 && properties.integrated;
    (*kept)[ordinal] = (signed char)(rank + 1);
    return rank;
}

static int cuda_rank(int ordinal) {
    static kept_ranks kept;
    return rank_of(&wick__cuda_vendor, &kept, ordinal);
}

static int rocm_rank(int ordinal) {
    static kept_ranks kept;
    return rank_of(&wick__rocm_vendor, &kept, ordinal);
}

/* ---- opening and closing ---- */

static void gpu_close(struct wick_device *device) {
    struct wick__gpu *gpu = device->state;
    const struct wick__vendor *vendor = gpu->vendor;
    if (gpu->context) {
        vendor->use(gpu->ordinal, gpu->context); /* where that fails, most can be given back all the same */
        if (gpu->stream) vendor->stream_synchronize(gpu->stream);
        wick__blas_close(gpu);
        wick__gpu_staging_close(gpu);
        wick__gpu_pool_close(gpu);
        wick__gpu_modules_close(gpu);
        if (gpu->faults) vendor->host_free(gpu->faults);
        if (gpu->stream && !gpu->foreign_stream) vendor->stream_destroy(gpu->stream);
        vendor->context_close(gpu->ordinal, gpu->context);
    }
    pthread_mutex_destroy(&gpu->mutex);
    wick__free(gpu, sizeof *gpu);
    device->state = NULL;
}

/* Writes a pattern, copies it with a kernel of ours and reads it back: a GPU that can't do this is of no use. */
static enum wick_status probe(struct wick__gpu *gpu) {
    enum { N = 1024 };
    uint32_t pattern[N], back[N];
    void *memory = NULL;
    struct wick_device *device = gpu->device;
    for (uint32_t i = 0; i < N; i++) pattern[i] = i * 2654435761u;
    WICK__TRY(wick__gpu_pool_alloc(gpu, 2 * sizeof pattern, &memory));
    char *copy = (char *)memory + sizeof pattern;
    enum wick_status status = wick__gpu_upload(gpu, memory, pattern, sizeof pattern);
    struct gpu_copy_flat params = {.in = memory, .out = copy, .nbytes = sizeof pattern};
    struct wick__launch launch = {.kernel = WICK__GPU_K_copy_flat, .grid = {1}};
    if (status == WICK_OK) status = wick__gpu_launch(gpu, &launch, &params);
    if (status == WICK_OK) status = wick__gpu_download(gpu, back, copy, sizeof pattern);
    if (status == WICK_OK && memcmp(pattern, back, sizeof pattern) != 0)
        status = wick__fail(WICK_DEVICE, "%s: a test kernel ran and gave wrong results", device->name);
    wick__gpu_pool_free(gpu, memory);
    return status;
}

static enum wick_status prepare(struct wick__gpu *gpu) {
    const struct wick__vendor *vendor = gpu->vendor;
    void *faults;
    int count = 0;
    WICK__TRY(wick__gpu_count(vendor, &count));
    if (gpu->ordinal >= count)
        return wick__fail(WICK_DEVICE, "%s: the driver finds %d devices", gpu->device->name, count);
    WICK__TRY(wick__gpu_check(gpu, vendor->properties(gpu->ordinal, &gpu->properties), "read properties"));
    WICK__TRY(wick__gpu_check(gpu, vendor->context_open(gpu->ordinal, &gpu->context), "open"));
    WICK__TRY(wick__gpu_use(gpu));
    WICK__TRY(wick__gpu_check(gpu, vendor->stream_create(&gpu->stream), "make a stream"));
    WICK__TRY(wick__gpu_check(gpu, vendor->host_malloc(&faults, WICK_OP_COUNT * sizeof *gpu->faults),
                              "allocate pinned memory"));
    gpu->faults = faults;
    memset(gpu->faults, 0, WICK_OP_COUNT * sizeof *gpu->faults);
    WICK__TRY(wick__gpu_pool_open(gpu));
    WICK__TRY(wick__gpu_staging_open(gpu));
    return probe(gpu);
}

static enum wick_status open(struct wick_device *device, const struct wick__vendor *vendor) {
    struct wick__gpu *gpu = wick__calloc(1, sizeof *gpu);
    if (!gpu) return WICK_MEMORY;
    gpu->vendor = vendor;
    gpu->device = device;
    gpu->ordinal = device->ordinal;
    pthread_mutex_init(&gpu->mutex, NULL);
    device->state = gpu;
    enum wick_status status = prepare(gpu);
    if (status != WICK_OK) gpu_close(device);
    return status;
}

static enum wick_status cuda_open(struct wick_device *device) { return open(device, &wick__cuda_vendor); }
static enum wick_status rocm_open(struct wick_device *device) { return open(device, &wick__rocm_vendor); }

static void gpu_describe(const struct wick_device *device, struct wick_device_info *info) {
    struct wick__gpu *gpu = device->state;
    size_t free = 0, total = 0;
    if (wick__gpu_use(gpu) != WICK_OK || gpu->vendor->memory_info(&free, &total) != 0) free = total = 0;
    info->description = gpu->properties.name;
    info->isa = gpu->properties.target;
    info->memory_total = total ? total : gpu->properties.memory;
    info->memory_free = free;
    info->units = gpu->properties.units;
    info->wave = gpu->properties.wave;
    info->integrated = gpu->properties.integrated;
    info->fast_bf16 = wick__has_mma(gpu);
}

/* ---- buffers ---- */

static enum wick_status gpu_alloc(struct wick_device *device, size_t nbytes, void **data) {
    return wick__gpu_pool_alloc(device->state, nbytes, data);
}

static void gpu_free(struct wick_device *device, void *data, size_t nbytes) {
    (void)nbytes;
    wick__gpu_pool_free(device->state, data);
}

enum wick_status wick__gpu_scratch(struct wick__gpu *gpu, size_t nbytes, void **memory) {
    return wick__gpu_pool_alloc(gpu, nbytes ? nbytes : 1, memory);
}

void wick__gpu_release(struct wick__gpu *gpu, void *memory, size_t nbytes) {
    (void)nbytes;
    if (memory) wick__gpu_pool_free(gpu, memory);
}

/* ---- waiting ---- */

/* What kernels reported since the last look. The stream has been waited for. */
static enum wick_status faults(struct wick__gpu *gpu) {
    enum wick_status status = WICK_OK;
    for (int op = 0; op < WICK_OP_COUNT; op++) {
        uint64_t word = __atomic_exchange_n(&gpu->faults[op], 0, __ATOMIC_RELAXED);
        if (word == 0) continue;
        const char *name = wick_op_name((enum wick_op)op);
        long long value = (long long)(word << 8) >> 8;
        if (word >> 56 == GPU_FAULT_DIVIDE)
            status = wick__fail(WICK_DIVIDE, "%s: an integer on %s is divided by zero", name, gpu->device->name);
        else
            status = wick__fail(WICK_RANGE, "%s: index %lld is out of range, on %s", name, value, gpu->device->name);
    }
    return status;
}

enum wick_status wick__gpu_wait(struct wick__gpu *gpu) {
    WICK__TRY(wick__gpu_use(gpu));
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->stream_synchronize(gpu->stream), "synchronize"));
    return faults(gpu);
}

static enum wick_status gpu_upload(struct wick_device *device, void *to, const void *from, size_t nbytes) {
    return wick__gpu_upload(device->state, to, from, nbytes);
}

static enum wick_status gpu_download(struct wick_device *device, void *to, const void *from, size_t nbytes) {
    WICK__TRY(wick__gpu_download(device->state, to, from, nbytes));
    return faults(device->state);
}

static enum wick_status gpu_sync(struct wick_device *device) { return wick__gpu_wait(device->state); }

/* ---- the pool ---- */

static void gpu_memory(const struct wick_device *device, struct wick_memory *memory) {
    wick__gpu_pool_stats(device->state, memory);
}

static void gpu_set_limit(struct wick_device *device, size_t nbytes) {
    wick__gpu_pool_set_limit(device->state, nbytes);
}
static void gpu_set_cache(struct wick_device *device, size_t nbytes) {
    wick__gpu_pool_set_cache(device->state, nbytes);
}
static void gpu_reset_peak(struct wick_device *device) { wick__gpu_pool_reset_peak(device->state); }
static void gpu_trim(struct wick_device *device) { wick__gpu_pool_trim(device->state, 0); }

#define GPU_BACKEND(name)                                                                                              \
    const struct wick__backend wick__##name##_backend = {                                                              \
        .version = WICK__BACKEND_VERSION,                                                                              \
        .family = #name,                                                                                               \
        .count = name##_count,                                                                                         \
        .rank = name##_rank,                                                                                           \
        .open = name##_open,                                                                                           \
        .close = gpu_close,                                                                                            \
        .describe = gpu_describe,                                                                                      \
        .alloc = gpu_alloc,                                                                                            \
        .free = gpu_free,                                                                                              \
        .upload = gpu_upload,                                                                                          \
        .download = gpu_download,                                                                                      \
        .copy_between = wick__gpu_copy_between,                                                                        \
        .sync = gpu_sync,                                                                                              \
        .stream = wick__gpu_stream,                                                                                    \
        .stream_set = wick__gpu_stream_set,                                                                            \
        .event_record = wick__gpu_event_record,                                                                        \
        .event_wait = wick__gpu_event_wait,                                                                            \
        .event_sync = wick__gpu_event_sync,                                                                            \
        .event_done = wick__gpu_event_done,                                                                            \
        .event_elapsed = wick__gpu_event_elapsed,                                                                      \
        .event_free = wick__gpu_event_free,                                                                            \
        .graph_begin = wick__gpu_graph_begin,                                                                          \
        .graph_end = wick__gpu_graph_end,                                                                              \
        .graph_launch = wick__gpu_graph_launch,                                                                        \
        .graph_free = wick__gpu_graph_free,                                                                            \
        .memory = gpu_memory,                                                                                          \
        .set_limit = gpu_set_limit,                                                                                    \
        .set_cache = gpu_set_cache,                                                                                    \
        .reset_peak = gpu_reset_peak,                                                                                  \
        .trim = gpu_trim,                                                                                              \
        .kernels = wick__gpu_kernels,                                                                                  \
    }
GPU_BACKEND(cuda);
GPU_BACKEND(rocm);
