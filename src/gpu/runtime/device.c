/* Opening and closing a GPU, scratch memory, waiting. */
#include "gpu/runtime/gpu.h"
#include "gpu/runtime/pool.h"
#include "gpu/runtime/slots.h"

#include "core/memory.h"
#include "kernels/copy.h"

#include <string.h>

/* ---- counting ---- */

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
    if (n < 0 || n > WICK__GPU_MOST_DEVICES)
        return wick__fail(WICK_DEVICE, "%s: the driver reports %d devices; from 0 to %d are believed", vendor->family,
                          n, WICK__GPU_MOST_DEVICES);
    *count = n;
    return WICK_OK;
}

/* ---- opening and closing ---- */

void wick__gpu_settle(struct wick__gpu *gpu) {
    if (!gpu->context) return;
    gpu->vendor->use(gpu->ordinal, gpu->context); /* where that fails, most can be given back all the same */
    if (gpu->stream) gpu->vendor->stream_synchronize(gpu->stream);
}

void wick__gpu_close(struct wick_device *device) {
    struct wick__gpu *gpu = device->state;
    const struct wick__vendor *vendor = gpu->vendor;
    if (gpu->context) {
        wick__gpu_staging_close(gpu);
        wick__gpu_slots_close(gpu);
        wick__gpu_pool_close(gpu);
        if (gpu->tickets) vendor->free(gpu->tickets);
        wick__gpu_modules_close(gpu);
        if (gpu->capture) vendor->stream_destroy(gpu->capture);
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

/* Zeros, which kernels leave as they found them. */
static enum wick_status make_tickets(struct wick__gpu *gpu) {
    static const uint32_t zeros[WICK__GPU_TICKETS];
    void *memory;
    WICK__TRY(wick__gpu_check(gpu, gpu->vendor->malloc(&memory, sizeof zeros), "allocate counters"));
    gpu->tickets = memory;
    return wick__gpu_upload(gpu, memory, zeros, sizeof zeros);
}

static enum wick_status prepare(struct wick__gpu *gpu) {
    const struct wick__vendor *vendor = gpu->vendor;
    int count = 0;
    WICK__TRY(wick__gpu_count(vendor, &count));
    if (gpu->ordinal >= count)
        return wick__fail(WICK_DEVICE, "%s: the driver finds %d devices", gpu->device->name, count);
    WICK__TRY(wick__gpu_check(gpu, vendor->properties(gpu->ordinal, &gpu->properties), "read properties"));
    WICK__TRY(wick__gpu_check(gpu, vendor->context_open(gpu->ordinal, &gpu->context), "open"));
    WICK__TRY(wick__gpu_use(gpu));
    WICK__TRY(wick__gpu_check(gpu, vendor->stream_create(&gpu->stream), "make a stream"));
    WICK__TRY(wick__gpu_pool_open(gpu));
    WICK__TRY(wick__gpu_staging_open(gpu));
    WICK__TRY(wick__gpu_slots_open(gpu));
    WICK__TRY(make_tickets(gpu));
    return probe(gpu);
}

enum wick_status wick__gpu_open(struct wick_device *device, const struct wick__vendor *vendor) {
    struct wick__gpu *gpu = wick__calloc(1, sizeof *gpu);
    if (!gpu) return WICK_MEMORY;
    gpu->vendor = vendor;
    gpu->device = device;
    gpu->ordinal = device->ordinal;
    pthread_mutex_init(&gpu->mutex, NULL);
    device->state = gpu;
    enum wick_status status = prepare(gpu);
    if (status == WICK_OK) return WICK_OK;
    wick__gpu_settle(gpu);
    wick__gpu_close(device);
    return status;
}

/* ---- buffers ---- */

enum wick_status wick__gpu_scratch(struct wick__gpu *gpu, size_t nbytes, void **memory) {
    return wick__gpu_pool_alloc(gpu, nbytes ? nbytes : 1, memory);
}

void wick__gpu_release(struct wick__gpu *gpu, void *memory, size_t nbytes) {
    (void)nbytes;
    if (memory) wick__gpu_pool_free(gpu, memory);
}

/* ---- waiting ---- */

enum wick_status wick__gpu_wait(struct wick__gpu *gpu) {
    WICK__TRY(wick__gpu_use(gpu));
    return wick__gpu_check(gpu, gpu->vendor->stream_synchronize(gpu->stream), "synchronize");
}
