/* The CUDA driver's ABI over the engine, as libcuda.so.1. A context is the device's primary one. */
#include "standin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define RETURN(expression) return driver_leave(expression)
/* Nothing works before cuInit. */
#define ENTER(function)                                                                                                \
    DRIVER_ENTER(function)                                                                                             \
    if (!initialized) RETURN(DRIVER_NOT_INITIALIZED)
/* And most things need a context. */
#define ENTER_CONTEXT(function)                                                                                        \
    ENTER(function);                                                                                                   \
    if (!current || current->contexts == 0) RETURN(DRIVER_CONTEXT)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef unsigned long long address;

static bool takes(const char *target) { return strncmp(target, "sm_", 3) == 0; }
const struct driver_abi driver_abi = {"libcuda", takes};

static bool initialized;
static _Thread_local struct driver_device *current;

static struct driver_device *device_of(int ordinal) {
    return ordinal >= 0 && ordinal < driver_device_count ? &driver_devices[ordinal] : NULL;
}

/* ---- the library ---- */

API int cuInit(unsigned flags) {
    DRIVER_ENTER(cuInit);
    if (flags) RETURN(DRIVER_VALUE);
    if (driver_device_count == 0) RETURN(DRIVER_NO_DEVICE);
    initialized = true;
    RETURN(DRIVER_OK);
}
API int cuDriverGetVersion(int *version) {
    DRIVER_ENTER(cuDriverGetVersion);
    *version = 13000;
    RETURN(DRIVER_OK);
}
/* "OutOfMemory" as CUDA_ERROR_OUT_OF_MEMORY. */
API int cuGetErrorName(int code, const char **text) {
    static _Thread_local char name[96];
    const char *camel = driver_code_name(code);
    char *to = name + sprintf(name, code ? "CUDA_ERROR" : "CUDA_");
    for (; *camel; camel++) {
        if (code && *camel >= 'A' && *camel <= 'Z') *to++ = '_';
        *to++ = *camel >= 'a' ? (char)(*camel - 'a' + 'A') : *camel;
    }
    *to = '\0';
    *text = name;
    return DRIVER_OK;
}
API int cuGetErrorString(int code, const char **text) {
    *text = driver_code_text(code);
    return DRIVER_OK;
}

/* ---- devices ---- */

API int cuDeviceGetCount(int *count) {
    ENTER(cuDeviceGetCount);
    *count = driver_count();
    RETURN(DRIVER_OK);
}
API int cuDeviceGet(int *device, int ordinal) {
    ENTER(cuDeviceGet);
    *device = ordinal;
    RETURN(device_of(ordinal) ? DRIVER_OK : DRIVER_DEVICE);
}
API int cuDeviceGetName(char *text, int size, int ordinal) {
    ENTER(cuDeviceGetName);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    snprintf(text, (size_t)size, "Stand-in GPU %s", device_of(ordinal)->target);
    RETURN(DRIVER_OK);
}
API int cuDeviceGetPCIBusId(char *text, int size, int ordinal) {
    ENTER(cuDeviceGetPCIBusId);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    snprintf(text, (size_t)size, "0000:%02X:00.0", 0xc1 + ordinal);
    RETURN(DRIVER_OK);
}
API int cuDeviceTotalMem_v2(size_t *size, int ordinal) {
    ENTER(cuDeviceTotalMem_v2);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    *size = device_of(ordinal)->memory;
    RETURN(DRIVER_OK);
}
enum { SHARED = 49152, SHARED_OPTIN = 232448 };
static int attribute(int which, const struct driver_device *device) {
    int sm = atoi(device->target + 3);
    switch (which) {
    case 1: return 1024;
    case 8: return SHARED;
    case 10: return device->wave;
    case 13: return 1980000;
    case 16: return 4;
    case 18: return device->integrated;
    case 19: return 1;
    case 33: return 0xc1 + device->ordinal;
    case 39: return 2048;
    case 41: return 1;
    case 75: return sm / 10;
    case 76: return sm % 10;
    case 81: return 233472;
    case 95: return 1;
    case 97: return SHARED_OPTIN;
    default: return 0;
    }
}
API int cuDeviceGetAttribute(int *value, int which, int ordinal) {
    ENTER(cuDeviceGetAttribute);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    *value = attribute(which, device_of(ordinal));
    RETURN(DRIVER_OK);
}

/* ---- contexts ---- */

API int cuDevicePrimaryCtxRetain(void **context, int ordinal) {
    ENTER(cuDevicePrimaryCtxRetain);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    device_of(ordinal)->contexts++;
    *context = device_of(ordinal);
    RETURN(DRIVER_OK);
}
API int cuDevicePrimaryCtxRelease_v2(int ordinal) {
    ENTER(cuDevicePrimaryCtxRelease_v2);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    if (device_of(ordinal)->contexts == 0) RETURN(DRIVER_CONTEXT);
    device_of(ordinal)->contexts--;
    RETURN(DRIVER_OK);
}
API int cuDevicePrimaryCtxSetFlags_v2(int ordinal, unsigned flags) {
    (void)flags;
    ENTER(cuDevicePrimaryCtxSetFlags_v2);
    RETURN(device_of(ordinal) ? DRIVER_OK : DRIVER_DEVICE);
}
API int cuDevicePrimaryCtxGetState(int ordinal, unsigned *flags, int *active) {
    ENTER(cuDevicePrimaryCtxGetState);
    if (!device_of(ordinal)) RETURN(DRIVER_DEVICE);
    *flags = 0;
    *active = device_of(ordinal)->contexts > 0;
    RETURN(DRIVER_OK);
}
API int cuCtxSetCurrent(void *context) {
    ENTER(cuCtxSetCurrent);
    if (context && ((struct driver_device *)context)->contexts == 0) RETURN(DRIVER_CONTEXT);
    current = context;
    RETURN(DRIVER_OK);
}
API int cuCtxGetCurrent(void **context) {
    ENTER(cuCtxGetCurrent);
    *context = current;
    RETURN(DRIVER_OK);
}
enum { NESTED = 16 };
static _Thread_local struct driver_device *pushed[NESTED];
static _Thread_local int n_pushed;
API int cuCtxPushCurrent_v2(void *context) {
    ENTER(cuCtxPushCurrent_v2);
    if (!context || n_pushed == NESTED) RETURN(DRIVER_CONTEXT);
    pushed[n_pushed++] = current;
    current = context;
    RETURN(DRIVER_OK);
}
API int cuCtxPopCurrent_v2(void **context) {
    ENTER(cuCtxPopCurrent_v2);
    if (n_pushed == 0) RETURN(DRIVER_CONTEXT);
    if (context) *context = current;
    current = pushed[--n_pushed];
    RETURN(DRIVER_OK);
}
API int cuCtxGetDevice(int *ordinal) {
    ENTER_CONTEXT(cuCtxGetDevice);
    *ordinal = current->ordinal;
    RETURN(DRIVER_OK);
}
API int cuCtxSynchronize(void) {
    ENTER_CONTEXT(cuCtxSynchronize);
    int code = driver_not_capturing();
    RETURN(code ? code : driver_device_synchronize(current));
}
API int cuDeviceCanAccessPeer(int *possible, int ordinal, int other) {
    ENTER(cuDeviceCanAccessPeer);
    *possible = ordinal != other;
    RETURN(device_of(ordinal) && device_of(other) ? DRIVER_OK : DRIVER_DEVICE);
}
API int cuCtxEnablePeerAccess(void *context, unsigned flags) {
    ENTER_CONTEXT(cuCtxEnablePeerAccess);
    struct driver_device *other = context;
    if (!other || other == current) RETURN(DRIVER_CONTEXT);
    if (flags) RETURN(DRIVER_VALUE);
    unsigned bit = 1u << other->ordinal;
    int code = current->peers & bit ? DRIVER_PEER_ENABLED : DRIVER_OK;
    current->peers |= bit;
    RETURN(code);
}
API int cuCtxDisablePeerAccess(void *context) {
    ENTER_CONTEXT(cuCtxDisablePeerAccess);
    struct driver_device *other = context;
    if (!other) RETURN(DRIVER_CONTEXT);
    unsigned bit = 1u << other->ordinal;
    int code = current->peers & bit ? DRIVER_OK : DRIVER_PEER_DISABLED;
    current->peers &= ~bit;
    RETURN(code);
}

/* ---- memory ---- */

/* What allocations may not happen in: a capture, or on a device that has failed. */
static int refusal(void) {
    int code = driver_not_capturing();
    return code ? code : current->error;
}
API int cuMemGetInfo_v2(size_t *free, size_t *total) {
    ENTER_CONTEXT(cuMemGetInfo_v2);
    *total = current->memory;
    *free = *total - current->used;
    RETURN(DRIVER_OK);
}
API int cuMemAlloc_v2(address *memory, size_t size) {
    ENTER_CONTEXT(cuMemAlloc_v2);
    int code = refusal();
    void *made = NULL;
    if (!code) code = size ? driver_malloc(current, size, false, 0, &made) : DRIVER_VALUE;
    *memory = (uintptr_t)made;
    RETURN(code);
}
API int cuMemFree_v2(address memory) {
    ENTER_CONTEXT(cuMemFree_v2);
    void *p = (void *)(uintptr_t)memory;
    const struct driver_allocation *a = driver_find(p, 0);
    if (a && a->base == p) driver_device_synchronize(a->device);
    RETURN(driver_free(p, false));
}
API int cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    ENTER_CONTEXT(cuMemHostAlloc);
    int code = refusal();
    RETURN(code ? code : driver_malloc(current, size, true, 0, memory));
}
API int cuMemAllocHost_v2(void **memory, size_t size) {
    ENTER_CONTEXT(cuMemAllocHost_v2);
    int code = refusal();
    RETURN(code ? code : driver_malloc(current, size, true, 0, memory));
}
API int cuMemFreeHost(void *memory) {
    ENTER_CONTEXT(cuMemFreeHost);
    for (int i = 0; i < driver_device_count; i++) driver_device_synchronize(device_of(i));
    RETURN(driver_free(memory, true));
}
API int cuMemHostGetDevicePointer_v2(address *out, void *memory, unsigned flags) {
    (void)flags;
    ENTER_CONTEXT(cuMemHostGetDevicePointer_v2);
    const struct driver_allocation *a = driver_find(memory, 1);
    *out = (uintptr_t)memory;
    RETURN(a && a->pinned ? DRIVER_OK : DRIVER_VALUE);
}

#define STREAM(name, handle)                                                                                           \
    struct driver_stream *name = driver_stream_of(current, handle);                                                    \
    if (!name) RETURN(DRIVER_HANDLE)

/* A copy or a set, on a stream or waited for on the null stream. */
#define COPY(function, kinds, to_type, from_type)                                                                      \
    API int function(to_type to, from_type from, size_t n) {                                                           \
        ENTER_CONTEXT(function);                                                                                       \
        RETURN(driver_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n, kinds,                             \
                           driver_stream_of(current, NULL), true));                                                    \
    }
#define COPY_ASYNC(function, kinds, to_type, from_type)                                                                \
    API int function(to_type to, from_type from, size_t n, void *stream) {                                             \
        ENTER_CONTEXT(function);                                                                                       \
        STREAM(on, stream);                                                                                            \
        RETURN(driver_copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n, kinds, on, false));                \
    }
COPY(cuMemcpy, "??", address, address)
COPY(cuMemcpyHtoD_v2, "dh", address, const void *)
COPY(cuMemcpyDtoH_v2, "hd", void *, address)
COPY(cuMemcpyDtoD_v2, "dd", address, address)
COPY_ASYNC(cuMemcpyAsync, "??", address, address)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, "dh", address, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, "hd", void *, address)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, "dd", address, address)

API int cuMemcpyPeer(address to, void *to_context, address from, void *from_context, size_t n) {
    ENTER_CONTEXT(cuMemcpyPeer);
    if (!to_context || !from_context) RETURN(DRIVER_CONTEXT);
    RETURN(driver_copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n, "dd", driver_stream_of(current, NULL), true));
}
API int cuMemcpyPeerAsync(address to, void *to_context, address from, void *from_context, size_t n, void *stream) {
    ENTER_CONTEXT(cuMemcpyPeerAsync);
    if (!to_context || !from_context) RETURN(DRIVER_CONTEXT);
    STREAM(on, stream);
    RETURN(driver_copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, n, "dd", on, false));
}
API int cuMemsetD8_v2(address to, unsigned char value, size_t n) {
    ENTER_CONTEXT(cuMemsetD8_v2);
    RETURN(driver_set((void *)(uintptr_t)to, value, 1, n, driver_stream_of(current, NULL), true));
}
API int cuMemsetD8Async(address to, unsigned char value, size_t n, void *stream) {
    ENTER_CONTEXT(cuMemsetD8Async);
    STREAM(on, stream);
    RETURN(driver_set((void *)(uintptr_t)to, value, 1, n, on, false));
}
API int cuMemsetD32Async(address to, unsigned value, size_t n, void *stream) {
    ENTER_CONTEXT(cuMemsetD32Async);
    STREAM(on, stream);
    RETURN(driver_set((void *)(uintptr_t)to, value, 4, n, on, false));
}

/* ---- streams and events ---- */

static int stream_create(void **stream, unsigned flags) {
    int code = refusal();
    return code ? code : driver_stream_create(current, !(flags & 1), (struct driver_stream **)stream);
}
API int cuStreamCreate(void **stream, unsigned flags) {
    ENTER_CONTEXT(cuStreamCreate);
    RETURN(stream_create(stream, flags));
}
API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    (void)priority;
    ENTER_CONTEXT(cuStreamCreateWithPriority);
    RETURN(stream_create(stream, flags));
}
API int cuStreamDestroy_v2(void *stream) {
    ENTER_CONTEXT(cuStreamDestroy_v2);
    RETURN(driver_stream_destroy(stream));
}
API int cuStreamSynchronize(void *stream) {
    ENTER_CONTEXT(cuStreamSynchronize);
    STREAM(on, stream);
    RETURN(driver_stream_synchronize(on));
}
API int cuStreamQuery(void *stream) {
    ENTER_CONTEXT(cuStreamQuery);
    STREAM(on, stream);
    RETURN(driver_stream_query(on));
}
API int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    ENTER_CONTEXT(cuStreamWaitEvent);
    STREAM(on, stream);
    RETURN(driver_stream_wait(on, event));
}
API int cuEventCreate(void **event, unsigned flags) {
    ENTER_CONTEXT(cuEventCreate);
    RETURN(driver_event_create(current, !(flags & 2), (struct driver_event **)event));
}
API int cuEventDestroy_v2(void *event) {
    ENTER_CONTEXT(cuEventDestroy_v2);
    RETURN(driver_event_destroy(event));
}
API int cuEventRecord(void *event, void *stream) {
    ENTER_CONTEXT(cuEventRecord);
    STREAM(on, stream);
    RETURN(driver_event_record(event, on));
}
API int cuEventSynchronize(void *event) {
    ENTER_CONTEXT(cuEventSynchronize);
    RETURN(driver_event_synchronize(event));
}
API int cuEventQuery(void *event) {
    ENTER_CONTEXT(cuEventQuery);
    RETURN(driver_event_query(event));
}
API int cuEventElapsedTime(float *ms, void *from, void *to) {
    ENTER_CONTEXT(cuEventElapsedTime);
    RETURN(driver_event_elapsed(ms, from, to));
}
API int cuEventElapsedTime_v2(float *ms, void *from, void *to) {
    ENTER_CONTEXT(cuEventElapsedTime_v2);
    RETURN(driver_event_elapsed(ms, from, to));
}

/* ---- graphs ---- */

API int cuStreamBeginCapture_v2(void *stream, int mode) {
    ENTER_CONTEXT(cuStreamBeginCapture_v2);
    STREAM(on, stream);
    RETURN(driver_capture_begin(on, mode));
}
API int cuStreamEndCapture(void *stream, void **graph) {
    ENTER_CONTEXT(cuStreamEndCapture);
    STREAM(on, stream);
    RETURN(driver_capture_end(on, (struct driver_graph **)graph));
}
API int cuStreamIsCapturing(void *stream, int *status) {
    ENTER_CONTEXT(cuStreamIsCapturing);
    STREAM(on, stream);
    *status = on->capture ? on->invalidated ? 2 : 1 : 0;
    RETURN(DRIVER_OK);
}
API int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    (void)flags;
    ENTER_CONTEXT(cuGraphInstantiateWithFlags);
    RETURN(driver_graph_instantiate((struct driver_graph **)executable, graph));
}
API int cuGraphInstantiate_v2(void **executable, void *graph, void **node, char *log, size_t size) {
    (void)node, (void)log, (void)size;
    ENTER_CONTEXT(cuGraphInstantiate_v2);
    RETURN(driver_graph_instantiate((struct driver_graph **)executable, graph));
}
API int cuGraphLaunch(void *executable, void *stream) {
    ENTER_CONTEXT(cuGraphLaunch);
    STREAM(on, stream);
    RETURN(driver_graph_launch(executable, on));
}
API int cuGraphExecDestroy(void *executable) {
    ENTER_CONTEXT(cuGraphExecDestroy);
    RETURN(driver_graph_destroy(executable, true));
}
API int cuGraphDestroy(void *graph) {
    ENTER_CONTEXT(cuGraphDestroy);
    RETURN(driver_graph_destroy(graph, false));
}

/* ---- code ---- */

static int module_load(void **module, const void *image) {
    int code = refusal();
    return code ? code : driver_module_load(current, image, SIZE_MAX, (struct driver_module **)module);
}
API int cuModuleLoadData(void **module, const void *image) {
    ENTER_CONTEXT(cuModuleLoadData);
    RETURN(module_load(module, image));
}
API int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    ENTER_CONTEXT(cuModuleLoadDataEx);
    RETURN(module_load(module, image));
}
API int cuModuleUnload(void *module) {
    ENTER_CONTEXT(cuModuleUnload);
    RETURN(driver_module_unload(module));
}
API int cuModuleGetFunction(void **function, void *module, const char *name) {
    ENTER_CONTEXT(cuModuleGetFunction);
    RETURN(driver_module_function(module, name, (struct driver_function **)function));
}
API int cuFuncSetAttribute(void *function, int which, int value) {
    (void)which;
    ENTER_CONTEXT(cuFuncSetAttribute);
    RETURN(driver_is_function(function) && value <= SHARED_OPTIN ? DRIVER_OK : DRIVER_VALUE);
}
API int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                  unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args) {
    ENTER_CONTEXT(cuLaunchCooperativeKernel);
    STREAM(on, stream);
    if (shared > SHARED_OPTIN) RETURN(DRIVER_VALUE);
    struct driver_parameters parameters = {.each = args};
    struct driver_shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {0}, shared, true};
    RETURN(driver_launch(function, &shape, &parameters, on));
}
API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args, void **extra) {
    ENTER_CONTEXT(cuLaunchKernel);
    STREAM(on, stream);
    if (shared > SHARED_OPTIN) RETURN(DRIVER_VALUE);
    struct driver_parameters parameters = {.each = args};
    for (; extra && *extra; extra += 2) {
        if (*extra == (void *)1) parameters.packed = extra[1];
        if (*extra == (void *)2) parameters.size = *(size_t *)extra[1];
    }
    struct driver_shape shape = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {0}, shared, false};
    RETURN(driver_launch(function, &shape, &parameters, on));
}
struct launch_config {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned n_attributes;
};
API int cuLaunchKernelEx(const struct launch_config *config, void *function, void **args, void **extra) {
    const unsigned *grid = config->grid, *block = config->block;
    return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], config->shared,
                          config->stream, args, extra);
}
