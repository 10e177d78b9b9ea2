/* The HIP runtime's ABI over the engine, as libamdhip64.so.5, .6 and .7 (STANDIN_HIP). Prototypes are written out: the
 * numbers of HIP's enums are the same in all three but for the properties struct. */
#include "standin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef STANDIN_HIP
#define STANDIN_HIP 6
#endif
#define API __attribute__((visibility("default")))
#define RETURN(expression) return last(standin_leave(expression))
#define ENTER(function)                                                                                                \
    static struct standin_entry entry_ = {.name = #function};                                                          \
    {                                                                                                                  \
        int failed_ = standin_enter(&entry_);                                                                          \
        if (failed_) RETURN(failed_);                                                                                  \
    }
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static bool takes(const char *target) { return strncmp(target, "sm_", 3) != 0; }
const struct standin_abi standin_abi = {"libamdhip64", "gfx90a", takes};

static _Thread_local int current, last_error;

static int last(int code) {
    if (code && code != STANDIN_NOT_READY) last_error = code;
    return code;
}

static struct standin_device *device_of(int ordinal) {
    return ordinal >= 0 && ordinal < standin_device_count ? &standin_devices[ordinal] : NULL;
}

/* ---- the library ---- */

API int hipInit(unsigned flags) {
    ENTER(hipInit);
    RETURN(flags ? STANDIN_VALUE : standin_device_count ? STANDIN_OK : STANDIN_NO_DEVICE);
}
static const int version = STANDIN_HIP == 5 ? 50221153 : STANDIN_HIP == 6 ? 60443484 : 70051831;
API int hipDriverGetVersion(int *out) {
    ENTER(hipDriverGetVersion);
    *out = version;
    RETURN(STANDIN_OK);
}
API int hipRuntimeGetVersion(int *out) {
    ENTER(hipRuntimeGetVersion);
    *out = version;
    RETURN(STANDIN_OK);
}
API const char *hipGetErrorName(int code) {
    static _Thread_local char text[64];
    snprintf(text, sizeof text, code ? "hipError%s" : "hip%s", standin_code_name(code));
    return text;
}
API const char *hipGetErrorString(int code) { return standin_code_text(code); }
API int hipDrvGetErrorName(int code, const char **text) {
    *text = hipGetErrorName(code);
    return STANDIN_OK;
}
API int hipDrvGetErrorString(int code, const char **text) {
    *text = standin_code_text(code);
    return STANDIN_OK;
}
API int hipGetLastError(void) {
    int code = last_error;
    last_error = 0;
    return code;
}
API int hipPeekAtLastError(void) { return last_error; }

/* ---- devices ---- */

API int hipGetDeviceCount(int *count) {
    ENTER(hipGetDeviceCount);
    *count = standin_device_count;
    RETURN(standin_device_count ? STANDIN_OK : STANDIN_NO_DEVICE);
}
API int hipGetDevice(int *ordinal) {
    ENTER(hipGetDevice);
    *ordinal = current;
    RETURN(standin_device_count ? STANDIN_OK : STANDIN_NO_DEVICE);
}
API int hipSetDevice(int ordinal) {
    ENTER(hipSetDevice);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    current = ordinal;
    RETURN(STANDIN_OK);
}
API int hipDeviceGet(int *device, int ordinal) {
    ENTER(hipDeviceGet);
    *device = ordinal;
    RETURN(device_of(ordinal) ? STANDIN_OK : STANDIN_DEVICE);
}
static void device_name(char *text, size_t size, int ordinal) {
    snprintf(text, size, "Stand-in GPU %s", standin_devices[ordinal].target);
}
API int hipDeviceGetName(char *text, int size, int ordinal) {
    ENTER(hipDeviceGetName);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    device_name(text, (size_t)size, ordinal);
    RETURN(STANDIN_OK);
}
API int hipDeviceGetPCIBusId(char *text, int size, int ordinal) {
    ENTER(hipDeviceGetPCIBusId);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    snprintf(text, (size_t)size, "0000:%02x:00.0", 0xc1 + ordinal);
    RETURN(STANDIN_OK);
}
API int hipDeviceTotalMem(size_t *size, int ordinal) {
    ENTER(hipDeviceTotalMem);
    *size = standin_settings.memory;
    RETURN(device_of(ordinal) ? STANDIN_OK : STANDIN_DEVICE);
}
enum { UNITS = 4, UNIT_THREADS = 2048, SHARED = 65536 };
static int attribute(int which, const struct standin_device *device) {
    switch (which) {
    case 3: return 1; /* can map host memory */
    case 5: return 1000000;
    case 16: return device->integrated;
    case 23: return device->wave == 64 ? 9 : 11;
    case 26:
    case 29: return 0x7fffffff;
    case 30:
    case 31: return 65535;
    case 56: return 1024;
    case 57: return UNIT_THREADS;
    case 63: return UNITS;
    case 67: return 0xc1 + device->ordinal;
    case 74: return SHARED;
    case 87: return device->wave;
    default: return 0;
    }
}
API int hipDeviceGetAttribute(int *value, int which, int ordinal) {
    ENTER(hipDeviceGetAttribute);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    if (which == 10004) /* the name, 256 bytes */
        snprintf((char *)value, 256, "%s", standin_devices[ordinal].target);
    else
        *value = attribute(which, device_of(ordinal));
    RETURN(STANDIN_OK);
}

/* hipDeviceProp_t up to HIP 5. */
struct old_properties {
    char name[256];
    size_t memory, shared;
    int registers, wave, block_threads, block[3], grid[3], clock, memory_clock, memory_bus;
    size_t constants;
    int major, minor, units, l2, unit_threads, compute_mode, instruction_clock;
    unsigned arch;
    int concurrent, pci_domain, pci_bus, pci_device;
    size_t unit_shared;
    int board, map_host, gcn;
    char target[256];
    int integrated;
    char rest[792 - 656];
};
_Static_assert(sizeof(struct old_properties) == 792 && offsetof(struct old_properties, target) == 396, "HIP 5");

/* hipDeviceProp_tR0600. */
struct new_properties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared;
    int registers, wave;
    size_t pitch;
    int block_threads, block[3], grid[3], clock;
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch;
    int overlap, units, time_limit, integrated, map_host, compute_mode;
    int textures[40];
    size_t surface_alignment;
    int concurrent, ecc, pci_bus, pci_device, pci_domain;
    int tcc, engines, unified, memory_clock, memory_bus, l2, persisting, unit_threads;
    char more[1160 - 628];
    char target[256];
    char rest[1472 - 1416];
};
_Static_assert(offsetof(struct new_properties, unit_threads) == 624, "HIP 6");
_Static_assert(sizeof(struct new_properties) == 1472 && offsetof(struct new_properties, target) == 1160, "HIP 6");

#define FILL(p, ordinal_)                                                                                              \
    do {                                                                                                               \
        const struct standin_device *device_ = device_of(ordinal_);                                                    \
        memset(p, 0, sizeof *(p));                                                                                     \
        device_name((p)->name, sizeof(p)->name, ordinal_);                                                             \
        (p)->memory = standin_settings.memory;                                                                         \
        (p)->shared = SHARED;                                                                                          \
        (p)->registers = 65536;                                                                                        \
        (p)->wave = device_->wave;                                                                                     \
        (p)->block_threads = (p)->block[0] = (p)->block[1] = (p)->block[2] = 1024;                                     \
        (p)->grid[0] = 0x7fffffff;                                                                                     \
        (p)->grid[1] = (p)->grid[2] = 65535;                                                                           \
        (p)->major = device_->wave == 64 ? 9 : 11;                                                                     \
        (p)->units = UNITS;                                                                                            \
        (p)->unit_threads = UNIT_THREADS;                                                                              \
        (p)->integrated = device_->integrated;                                                                         \
        (p)->map_host = 1;                                                                                             \
        (p)->pci_bus = 0xc1 + (ordinal_);                                                                              \
        memcpy((p)->target, device_->target, sizeof device_->target);                                                  \
    } while (0)

API int hipGetDeviceProperties(struct old_properties *p, int ordinal) {
    ENTER(hipGetDeviceProperties);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    FILL(p, ordinal);
    RETURN(STANDIN_OK);
}
#if STANDIN_HIP >= 6
API int hipGetDevicePropertiesR0000(struct old_properties *p, int ordinal) {
    ENTER(hipGetDevicePropertiesR0000);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    FILL(p, ordinal);
    RETURN(STANDIN_OK);
}
API int hipGetDevicePropertiesR0600(struct new_properties *p, int ordinal) {
    ENTER(hipGetDevicePropertiesR0600);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    FILL(p, ordinal);
    RETURN(STANDIN_OK);
}
#endif

API int hipDeviceSynchronize(void) {
    ENTER(hipDeviceSynchronize);
    int code = standin_not_capturing();
    RETURN(code ? code : standin_device_synchronize(device_of(current)));
}
API int hipDevicePrimaryCtxRetain(void **context, int ordinal) {
    ENTER(hipDevicePrimaryCtxRetain);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    device_of(ordinal)->contexts++;
    *context = device_of(ordinal);
    RETURN(STANDIN_OK);
}
API int hipDevicePrimaryCtxRelease(int ordinal) {
    ENTER(hipDevicePrimaryCtxRelease);
    if (!device_of(ordinal)) RETURN(STANDIN_DEVICE);
    if (device_of(ordinal)->contexts == 0) RETURN(STANDIN_CONTEXT);
    device_of(ordinal)->contexts--;
    RETURN(STANDIN_OK);
}
API int hipCtxSetCurrent(void *context) {
    ENTER(hipCtxSetCurrent);
    if (context) current = ((struct standin_device *)context)->ordinal;
    RETURN(STANDIN_OK);
}
API int hipCtxGetCurrent(void **context) {
    ENTER(hipCtxGetCurrent);
    *context = device_of(current);
    RETURN(STANDIN_OK);
}
API int hipDeviceCanAccessPeer(int *possible, int ordinal, int other) {
    ENTER(hipDeviceCanAccessPeer);
    *possible = ordinal != other;
    RETURN(device_of(ordinal) && device_of(other) ? STANDIN_OK : STANDIN_DEVICE);
}
API int hipDeviceEnablePeerAccess(int other, unsigned flags) {
    ENTER(hipDeviceEnablePeerAccess);
    if (!device_of(other) || other == current) RETURN(STANDIN_DEVICE);
    if (flags) RETURN(STANDIN_VALUE);
    unsigned *peers = &device_of(current)->peers, bit = 1u << other;
    int code = *peers & bit ? STANDIN_PEER_ENABLED : STANDIN_OK;
    *peers |= bit;
    RETURN(code);
}
API int hipDeviceDisablePeerAccess(int other) {
    ENTER(hipDeviceDisablePeerAccess);
    if (!device_of(other)) RETURN(STANDIN_DEVICE);
    unsigned *peers = &device_of(current)->peers, bit = 1u << other;
    int code = *peers & bit ? STANDIN_OK : STANDIN_PEER_DISABLED;
    *peers &= ~bit;
    RETURN(code);
}

/* ---- memory ---- */

API int hipMemGetInfo(size_t *free, size_t *total) {
    ENTER(hipMemGetInfo);
    if (!device_of(current)) RETURN(STANDIN_DEVICE);
    *total = standin_settings.memory;
    *free = *total - device_of(current)->used;
    RETURN(STANDIN_OK);
}
/* What allocations may not happen in: a capture, or on a device that has failed. */
static int refusal(void) {
    if (!device_of(current)) return STANDIN_NO_DEVICE;
    int code = standin_not_capturing();
    return code ? code : device_of(current)->error;
}
API int hipMalloc(void **memory, size_t size) {
    ENTER(hipMalloc);
    int code = refusal();
    RETURN(code ? code : standin_malloc(device_of(current), size, false, memory));
}
API int hipFree(void *memory) {
    ENTER(hipFree);
    const struct standin_allocation *a = standin_find(memory, 0);
    if (a && a->base == memory) standin_device_synchronize(a->device);
    RETURN(standin_free(memory, false));
}
API int hipHostMalloc(void **memory, size_t size, unsigned flags) {
    (void)flags;
    ENTER(hipHostMalloc);
    int code = refusal();
    RETURN(code ? code : standin_malloc(device_of(current), size, true, memory));
}
API int hipHostFree(void *memory) {
    ENTER(hipHostFree);
    for (int i = 0; i < standin_device_count; i++) standin_device_synchronize(device_of(i));
    RETURN(standin_free(memory, true));
}
API int hipHostGetDevicePointer(void **out, void *memory, unsigned flags) {
    (void)flags;
    ENTER(hipHostGetDevicePointer);
    const struct standin_allocation *a = standin_find(memory, 1);
    *out = memory;
    RETURN(a && a->pinned ? STANDIN_OK : STANDIN_VALUE);
}

static const char *kinds_of(int kind) {
    static const char *const kinds[] = {"hh", "dh", "hd", "dd", "??"}; /* to, from */
    return kind >= 0 && kind <= 4 ? kinds[kind] : NULL;
}
static int copy(void *to, const void *from, size_t n, const char *kinds, void *stream, bool wait) {
    struct standin_stream *on = standin_device_count ? standin_stream_of(device_of(current), stream) : NULL;
    if (!on) return STANDIN_HANDLE;
    return kinds ? standin_copy(to, from, n, kinds, on, wait) : STANDIN_VALUE;
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
    RETURN(device_of(to_device) && device_of(from_device) ? copy(to, from, n, "dd", NULL, true) : STANDIN_DEVICE);
}
API int hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n, void *stream) {
    ENTER(hipMemcpyPeerAsync);
    RETURN(device_of(to_device) && device_of(from_device) ? copy(to, from, n, "dd", stream, false) : STANDIN_DEVICE);
}
static int set(void *to, unsigned value, unsigned width, size_t count, void *stream, bool wait) {
    struct standin_stream *on = standin_stream_of(device_of(current), stream);
    return on ? standin_set(to, value, width, count, on, wait) : STANDIN_HANDLE;
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

/* ---- streams and events ---- */

#define STREAM(name, handle)                                                                                           \
    struct standin_stream *name = standin_device_count ? standin_stream_of(device_of(current), handle) : NULL;         \
    if (!name) RETURN(STANDIN_HANDLE)

static int stream_create(void **stream, unsigned flags) {
    int code = refusal();
    return code ? code : standin_stream_create(device_of(current), !(flags & 1), (struct standin_stream **)stream);
}
API int hipStreamCreate(void **stream) {
    ENTER(hipStreamCreate);
    RETURN(stream_create(stream, 0));
}
API int hipStreamCreateWithFlags(void **stream, unsigned flags) {
    ENTER(hipStreamCreateWithFlags);
    RETURN(stream_create(stream, flags));
}
API int hipStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    (void)priority;
    ENTER(hipStreamCreateWithPriority);
    RETURN(stream_create(stream, flags));
}
API int hipStreamDestroy(void *stream) {
    ENTER(hipStreamDestroy);
    RETURN(standin_stream_destroy(stream));
}
API int hipStreamSynchronize(void *stream) {
    ENTER(hipStreamSynchronize);
    STREAM(on, stream);
    RETURN(standin_stream_synchronize(on));
}
API int hipStreamQuery(void *stream) {
    ENTER(hipStreamQuery);
    STREAM(on, stream);
    RETURN(standin_stream_query(on));
}
API int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    ENTER(hipStreamWaitEvent);
    STREAM(on, stream);
    RETURN(standin_stream_wait(on, event));
}
API int hipEventCreateWithFlags(void **event, unsigned flags) {
    ENTER(hipEventCreateWithFlags);
    if (!device_of(current)) RETURN(STANDIN_NO_DEVICE);
    RETURN(standin_event_create(device_of(current), !(flags & 2), (struct standin_event **)event));
}
API int hipEventCreate(void **event) {
    ENTER(hipEventCreate);
    if (!device_of(current)) RETURN(STANDIN_NO_DEVICE);
    RETURN(standin_event_create(device_of(current), true, (struct standin_event **)event));
}
API int hipEventDestroy(void *event) {
    ENTER(hipEventDestroy);
    RETURN(standin_event_destroy(event));
}
API int hipEventRecord(void *event, void *stream) {
    ENTER(hipEventRecord);
    STREAM(on, stream);
    RETURN(standin_event_record(event, on));
}
API int hipEventSynchronize(void *event) {
    ENTER(hipEventSynchronize);
    RETURN(standin_event_synchronize(event));
}
API int hipEventQuery(void *event) {
    ENTER(hipEventQuery);
    RETURN(standin_event_query(event));
}
API int hipEventElapsedTime(float *ms, void *from, void *to) {
    ENTER(hipEventElapsedTime);
    RETURN(standin_event_elapsed(ms, from, to));
}

/* ---- graphs ---- */

API int hipStreamBeginCapture(void *stream, int mode) {
    ENTER(hipStreamBeginCapture);
    STREAM(on, stream);
    RETURN(standin_capture_begin(on, mode));
}
API int hipStreamEndCapture(void *stream, void **graph) {
    ENTER(hipStreamEndCapture);
    STREAM(on, stream);
    RETURN(standin_capture_end(on, (struct standin_graph **)graph));
}
API int hipStreamIsCapturing(void *stream, int *status) {
    ENTER(hipStreamIsCapturing);
    STREAM(on, stream);
    *status = on->capture ? on->invalidated ? 2 : 1 : 0;
    RETURN(STANDIN_OK);
}
API int hipGraphInstantiate(void **executable, void *graph, void **node, char *log, size_t size) {
    (void)node, (void)log, (void)size;
    ENTER(hipGraphInstantiate);
    RETURN(standin_graph_instantiate((struct standin_graph **)executable, graph));
}
API int hipGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    (void)flags;
    ENTER(hipGraphInstantiateWithFlags);
    RETURN(standin_graph_instantiate((struct standin_graph **)executable, graph));
}
API int hipGraphLaunch(void *executable, void *stream) {
    ENTER(hipGraphLaunch);
    STREAM(on, stream);
    RETURN(standin_graph_launch(executable, on));
}
API int hipGraphExecDestroy(void *executable) {
    ENTER(hipGraphExecDestroy);
    RETURN(standin_graph_destroy(executable, true));
}
API int hipGraphDestroy(void *graph) {
    ENTER(hipGraphDestroy);
    RETURN(standin_graph_destroy(graph, false));
}

/* ---- code ---- */

static int module_load(void **module, const void *image) {
    int code = refusal();
    return code ? code : standin_module_load(device_of(current), image, (struct standin_module **)module);
}
API int hipModuleLoadData(void **module, const void *image) {
    ENTER(hipModuleLoadData);
    RETURN(module_load(module, image));
}
API int hipModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    ENTER(hipModuleLoadDataEx);
    RETURN(module_load(module, image));
}
API int hipModuleUnload(void *module) {
    ENTER(hipModuleUnload);
    RETURN(standin_module_unload(module));
}
API int hipModuleGetFunction(void **function, void *module, const char *name) {
    ENTER(hipModuleGetFunction);
    RETURN(standin_module_function(module, name, (struct standin_function **)function));
}
API int hipFuncSetAttribute(const void *function, int which, int value) {
    (void)which;
    ENTER(hipFuncSetAttribute);
    RETURN(standin_is_function(function) && value <= SHARED ? STANDIN_OK : STANDIN_VALUE);
}
API int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **args,
                              void **extra) {
    ENTER(hipModuleLaunchKernel);
    STREAM(on, stream);
    if (shared > SHARED) RETURN(STANDIN_VALUE);
    const void *packed = NULL;
    size_t size = 0;
    for (; extra && *extra != (void *)3; extra += 2) {
        if (*extra == (void *)1) packed = extra[1];
        if (*extra == (void *)2) size = *(size_t *)extra[1];
    }
    RETURN(standin_launch(function, (unsigned[]){grid_x, grid_y, grid_z}, (unsigned[]){block_x, block_y, block_z}, args,
                          packed, size, on));
}
