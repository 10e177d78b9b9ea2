/* HIP's memory: allocations, pools, copies, sets. */
#include "gfxsim/driver/hip.h"

#include <string.h>

/* ---- allocations ---- */

API int hipMemGetInfo(size_t *free, size_t *total) {
    ENTER(hipMemGetInfo);
    if (!hip_device(hip_current)) RETURN(DRIVER_DEVICE);
    *total = hip_device(hip_current)->memory;
    *free = *total - hip_device(hip_current)->used;
    RETURN(DRIVER_OK);
}
/* Of the allocation that holds ptr, of device or pinned memory. */
API int hipMemPtrGetInfo(void *ptr, size_t *size) {
    ENTER(hipMemPtrGetInfo);
    const struct driver_allocation *a = ptr ? driver_find(ptr, 1) : NULL;
    if (!a || !size) RETURN(DRIVER_VALUE);
    *size = a->size;
    RETURN(DRIVER_OK);
}
API int hipMalloc(void **memory, size_t size) {
    ENTER(hipMalloc);
    int code = hip_refusal();
    RETURN(code ? code : driver_malloc(hip_device(hip_current), size, false, 0, memory));
}
API int hipFree(void *memory) {
    ENTER(hipFree);
    const struct driver_allocation *a = driver_find(memory, 0);
    if (a && a->base == memory) driver_device_synchronize(a->device);
    RETURN(driver_free(memory, false));
}
API int hipHostMalloc(void **memory, size_t size, unsigned flags) {
    ENTER(hipHostMalloc);
    int code = hip_refusal();
    RETURN(code ? code : driver_malloc(hip_device(hip_current), size, true, flags, memory));
}
API int hipHostFree(void *memory) {
    ENTER(hipHostFree);
    for (int i = 0; i < driver_device_count; i++) driver_device_synchronize(hip_device(i));
    RETURN(driver_free(memory, true));
}
API int hipHostGetDevicePointer(void **out, void *memory, unsigned flags) {
    (void)flags;
    ENTER(hipHostGetDevicePointer);
    const struct driver_allocation *a = driver_find(memory, 1);
    *out = memory;
    RETURN(a && a->pinned ? DRIVER_OK : DRIVER_VALUE);
}

/* hipPointerAttribute_t. HIP 6 renumbered the types and has one for memory it does not know. */
struct pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};
API int hipPointerGetAttributes(struct pointer_attributes *out, const void *p) {
    ENTER(hipPointerGetAttributes);
    if (!out || !p) RETURN(DRIVER_VALUE);
    const struct driver_allocation *a = driver_find(p, 1);
    memset(out, 0, sizeof *out);
    if (!a) {
        out->device = -2; /* hipInvalidDeviceId */
        RETURN(HIP_GENERATION >= 6 ? DRIVER_OK : DRIVER_VALUE);
    }
    int host = HIP_GENERATION >= 6 ? 1 : 0;
    out->type = a->pinned ? host : host + 1;
    out->device = a->device->ordinal;
    out->device_pointer = (void *)(uintptr_t)p;
    if (a->pinned) out->host_pointer = out->device_pointer;
    out->flags = a->flags;
    RETURN(DRIVER_OK);
}

/* ---- pools: memory that comes at once and goes in the order of a stream; nothing is held back for later ---- */

static char pools[DRIVER_DEVICES]; /* whose addresses are the handles of the default ones */

API int hipDeviceGetDefaultMemPool(void **pool, int ordinal) {
    ENTER(hipDeviceGetDefaultMemPool);
    if (!pool) RETURN(DRIVER_VALUE);
    if (!hip_device(ordinal)) RETURN(DRIVER_DEVICE);
    *pool = &pools[ordinal];
    RETURN(DRIVER_OK);
}
API int hipMemPoolTrimTo(void *pool, size_t keep) {
    (void)keep;
    ENTER(hipMemPoolTrimTo);
    for (int i = 0; i < driver_device_count; i++)
        if (pool == &pools[i]) RETURN(DRIVER_OK);
    RETURN(DRIVER_VALUE);
}
API int hipMallocAsync(void **memory, size_t size, void *stream) {
    ENTER(hipMallocAsync);
    STREAM(on, stream);
    if (!memory) RETURN(DRIVER_VALUE);
    if (on->capture) RETURN(driver_refuse_capture(on));
    RETURN(on->device->error ? on->device->error : driver_malloc(on->device, size, false, 0, memory));
}
API int hipFreeAsync(void *memory, void *stream) {
    ENTER(hipFreeAsync);
    STREAM(on, stream);
    RETURN(driver_free_later(on, memory));
}

/* ---- copies and sets ---- */

static const char *kinds_of(int kind) {
    static const char *const kinds[] = {"hh", "dh", "hd", "dd", "??"}; /* to, from */
    return kind >= 0 && kind <= 4 ? kinds[kind] : NULL;
}
/* A copy of rows, to whose description the kinds of memory are added. */
static int copy_rows(struct driver_copy copy, int kind, void *stream, bool wait) {
    struct driver_stream *on = driver_device_count ? driver_stream_of(hip_device(hip_current), stream) : NULL;
    const char *kinds = kinds_of(kind);
    if (!on) return DRIVER_HANDLE;
    if (!kinds) return DRIVER_VALUE;
    if (copy.n == 0 || copy.rows == 0) return DRIVER_OK;
    if (copy.n > copy.to_pitch || copy.n > copy.from_pitch) return DRIVER_PITCH;
    copy.kinds[0] = kinds[0];
    copy.kinds[1] = kinds[1];
    return driver_copy_rows(&copy, on, wait);
}
API int hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t n, size_t rows, int kind) {
    ENTER(hipMemcpy2D);
    RETURN(copy_rows((struct driver_copy){to, from, n, rows, to_pitch, from_pitch, {0}}, kind, NULL, true));
}
API int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t n, size_t rows,
                         int kind, void *stream) {
    ENTER(hipMemcpy2DAsync);
    RETURN(copy_rows((struct driver_copy){to, from, n, rows, to_pitch, from_pitch, {0}}, kind, stream, false));
}

static int copy(void *to, const void *from, size_t n, const char *kinds, void *stream, bool wait) {
    struct driver_stream *on = driver_device_count ? driver_stream_of(hip_device(hip_current), stream) : NULL;
    if (!on) return DRIVER_HANDLE;
    return kinds ? driver_copy(to, from, n, kinds, on, wait) : DRIVER_VALUE;
}
API int hipMemcpy(void *to, const void *from, size_t n, int kind) {
    ENTER(hipMemcpy);
    RETURN(copy(to, from, n, kinds_of(kind), NULL, true));
}
API int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream) {
    ENTER(hipMemcpyAsync);
    RETURN(copy(to, from, n, kinds_of(kind), stream, false));
}
API int hipMemcpyWithStream(void *to, const void *from, size_t n, int kind, void *stream) {
    ENTER(hipMemcpyWithStream);
    RETURN(copy(to, from, n, kinds_of(kind), stream, true));
}
API int hipMemcpyHtoD(void *to, void *from, size_t n) {
    ENTER(hipMemcpyHtoD);
    RETURN(copy(to, from, n, "dh", NULL, true));
}
API int hipMemcpyDtoH(void *to, void *from, size_t n) {
    ENTER(hipMemcpyDtoH);
    RETURN(copy(to, from, n, "hd", NULL, true));
}
API int hipMemcpyDtoD(void *to, void *from, size_t n) {
    ENTER(hipMemcpyDtoD);
    RETURN(copy(to, from, n, "dd", NULL, true));
}
API int hipMemcpyHtoDAsync(void *to, void *from, size_t n, void *stream) {
    ENTER(hipMemcpyHtoDAsync);
    RETURN(copy(to, from, n, "dh", stream, false));
}
API int hipMemcpyDtoHAsync(void *to, void *from, size_t n, void *stream) {
    ENTER(hipMemcpyDtoHAsync);
    RETURN(copy(to, from, n, "hd", stream, false));
}
API int hipMemcpyDtoDAsync(void *to, void *from, size_t n, void *stream) {
    ENTER(hipMemcpyDtoDAsync);
    RETURN(copy(to, from, n, "dd", stream, false));
}
API int hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t n) {
    ENTER(hipMemcpyPeer);
    RETURN(hip_device(to_device) && hip_device(from_device) ? copy(to, from, n, "dd", NULL, true) : DRIVER_DEVICE);
}
API int hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, void *stream) {
    ENTER(hipMemcpyPeerAsync);
    RETURN(hip_device(to_device) && hip_device(from_device) ? copy(to, from, n, "dd", stream, false) : DRIVER_DEVICE);
}
static int set(void *to, unsigned value, unsigned width, size_t count, void *stream, bool wait) {
    struct driver_stream *on = driver_device_count ? driver_stream_of(hip_device(hip_current), stream) : NULL;
    return on ? driver_set(to, value, width, count, on, wait) : DRIVER_HANDLE;
}
API int hipMemset(void *to, int value, size_t n) {
    ENTER(hipMemset);
    RETURN(set(to, (unsigned)value, 1, n, NULL, true));
}
API int hipMemsetAsync(void *to, int value, size_t n, void *stream) {
    ENTER(hipMemsetAsync);
    RETURN(set(to, (unsigned)value, 1, n, stream, false));
}
API int hipMemsetD32Async(void *to, int value, size_t n, void *stream) {
    ENTER(hipMemsetD32Async);
    RETURN(set(to, (unsigned)value, 4, n, stream, false));
}
