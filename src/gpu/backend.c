/* The GPU device families, as src/backend.h asks for them: CUDA and ROCm are two vendors of one. */
#include "gpu/ops/recurrent_library.h"
#include "gpu/ops/table.h"
#include "gpu/routes/route.h"
#include "gpu/runtime/peer.h"
#include "gpu/runtime/pool.h"
#include "gpu/runtime/slots.h"
#include "gpu/runtime/stream.h"
#include "gpu/runtime/target.h"

/* ---- counting ---- */

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
typedef _Atomic signed char kept_ranks[WICK__GPU_MOST_DEVICES];

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

/* ---- devices ---- */

static enum wick_status cuda_open(struct wick_device *device) { return wick__gpu_open(device, &wick__cuda_vendor); }
static enum wick_status rocm_open(struct wick_device *device) { return wick__gpu_open(device, &wick__rocm_vendor); }

static void gpu_close(struct wick_device *device) {
    wick__gpu_settle(device->state);
    wick__routes_close(device->state);
    wick__gpu_close(device);
}

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

/* Leaves failures to those who read the results. */
static void gpu_settle(struct wick_device *device) {
    struct wick__error kept = {0};
    void *event = NULL;
    if (wick__device_recording(device)) return;
    wick__error_swap(&kept);
    if (wick__gpu_event_record(device, &event) == WICK_OK) {
        if (wick__gpu_event_sync(device, event) != WICK_OK)
            wick__log(WICK_LOG_WARNING, "release: memory of others is given back to them after a failed wait");
        wick__gpu_event_free(device, event);
    }
    wick__error_swap(&kept);
}

static void gpu_free(struct wick_device *device, void *data, size_t nbytes) {
    (void)nbytes;
    wick__gpu_pool_free(device->state, data);
}

static enum wick_status gpu_upload(struct wick_device *device, void *to, const void *from, size_t nbytes) {
    return wick__gpu_upload(device->state, to, from, nbytes);
}

static enum wick_status gpu_download(struct wick_device *device, void *to, const void *from, size_t nbytes) {
    return wick__gpu_download(device->state, to, from, nbytes);
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
        .describe = gpu_describe,                                                                                      \
        .heap =                                                                                                        \
            {.alloc = gpu_alloc, .free = gpu_free, .settle = gpu_settle, .late = &wick__gpu_late, .close = gpu_close}, \
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
        .recurrent = wick__gpu_recurrent,                                                                              \
        .kernels = wick__gpu_kernels,                                                                                  \
    }
GPU_BACKEND(cuda);
GPU_BACKEND(rocm);
