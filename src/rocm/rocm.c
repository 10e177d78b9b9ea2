/* AMD's vendor table: devices, memory, streams, graphs and modules on libamdhip64, HIP 5.2 to 7. */
#include "rocm/rocm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define CODE(call) wick__rocm_code(wick__hip.call)

/* ---- libraries ---- */

static void error_text(int code, char *text, size_t size) {
    if (code & WICK__ROCBLAS_CODE) {
        int status = code & ~WICK__ROCBLAS_CODE;
        snprintf(text, size, "%s (%d)", wick__rocblas_status_text(status), status);
    } else if (code & WICK__HIPBLASLT_CODE) {
        snprintf(text, size, "hipBLASLt status %d", code & ~WICK__HIPBLASLT_CODE);
    } else if (code & WICK__MIOPEN_CODE) {
        int status = code & ~WICK__MIOPEN_CODE;
        snprintf(text, size, "%s (%d)", wick__miopen_status_text(status), status);
    } else if (wick__hip_opener.handle) {
        const char *name = wick__hip.hipGetErrorName(code), *meaning = wick__hip.hipGetErrorString(code);
        snprintf(text, size, "%s (%d): %s", name ? name : "HIP error", code, meaning ? meaning : "unknown");
    } else {
        snprintf(text, size, "HIP error %d", code);
    }
}

static bool out_of_memory(int code) {
    return code == hipErrorOutOfMemory || code == (WICK__ROCBLAS_CODE | rocblas_status_memory_error) ||
           code == (WICK__HIPBLASLT_CODE | HIPBLAS_STATUS_ALLOC_FAILED) ||
           code == (WICK__MIOPEN_CODE | miopenStatusAllocFailed);
}

static enum wick_status load(void) {
    wick__rocm_load();
    if (wick__library_forked(&wick__hip_opener))
        return wick__fail(WICK_DEVICE,
                          "rocm: this process was forked after HIP was loaded; open devices in the child only");
    if (!wick__hip_opener.handle) return wick__fail(WICK_DEVICE, "rocm: %s", wick__hip_opener.fault);
    if (wick__rocm_init_code != hipSuccess && wick__rocm_init_code != hipErrorNoDevice) {
        char text[256];
        error_text(wick__rocm_init_code, text, sizeof text);
        return wick__fail(WICK_DEVICE, "rocm: hipInit: %s", text);
    }
    return WICK_OK;
}

static void library(enum wick__library_kind kind, struct wick__library *out) {
    wick__rocm_load();
    switch (kind) {
    case WICK__DRIVER: wick__library_describe(&wick__hip_opener, out); break;
    case WICK__COMPILER:
        wick__hiprtc_open();
        wick__library_describe(&wick__hiprtc_opener, out);
        break;
    case WICK__BLAS:
        wick__rocblas_open();
        wick__library_describe(&wick__rocblas_opener, out);
        break;
    case WICK__BLAS_LT:
        wick__hipblaslt_open();
        wick__library_describe(&wick__hipblaslt_opener, out);
        break;
    default: wick__miopen_open(); wick__library_describe(&wick__miopen_opener, out);
    }
}

/* ---- devices ---- */

static int count_devices(int *count) {
    *count = 0;
    if (wick__rocm_init_code == hipErrorNoDevice) return 0;
    int code = CODE(hipGetDeviceCount(count));
    if (code == hipErrorNoDevice) *count = code = 0;
    return code;
}

static int properties(int ordinal, struct wick__properties *out) {
    *out = (struct wick__properties){.runtime = wick__rocm_version};
    int code = wick__rocm_target(ordinal, out->name, sizeof out->name, out->target, sizeof out->target);
    if (code) return code;
    int shared = 0, integrated = 0, together = 0;
    const struct {
        hipDeviceAttribute_t attribute;
        int *value;
    } wanted[] = {{hipDeviceAttributeWarpSize, &out->wave},
                  {hipDeviceAttributeMultiprocessorCount, &out->units},
                  {hipDeviceAttributeMaxThreadsPerMultiProcessor, &out->threads},
                  {hipDeviceAttributeMaxSharedMemoryPerBlock, &shared},
                  {hipDeviceAttributeIntegrated, &integrated},
                  {hipDeviceAttributeCooperativeLaunch, &together}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        code = CODE(hipDeviceGetAttribute(wanted[i].value, wanted[i].attribute, ordinal));
        if (code) return code;
    }
    out->shared = (size_t)shared;
    out->integrated = integrated != 0;
    out->together = together != 0 && wick__hip.hipModuleLaunchCooperativeKernel;
    code = CODE(hipDeviceTotalMem(&out->memory, ordinal));
    if (code) return code;
    code = CODE(hipDeviceGetPCIBusId(out->bus, sizeof out->bus, ordinal));
    if (code) return code;
    return CODE(hipDriverGetVersion(&out->driver));
}

/* HIP has one context a device, which is there while the process lives; the ordinal is all there is to select. */
static int context_open(int ordinal, void **context) {
    static char opened;
    int code = CODE(hipSetDevice(ordinal));
    if (!code) *context = &opened;
    return code;
}

static int context_close(int ordinal, void *context) {
    (void)ordinal;
    (void)context;
    return 0;
}

static int use(int ordinal, void *context) {
    (void)context;
    return CODE(hipSetDevice(ordinal));
}

static int memory_info(size_t *free, size_t *total) { return CODE(hipMemGetInfo(free, total)); }

/* ---- memory ---- */

static int device_malloc(void **memory, size_t nbytes) { return CODE(hipMalloc(memory, nbytes)); }
static int device_free(void *memory) { return CODE(hipFree(memory)); }
static int host_malloc(void **memory, size_t nbytes) {
    return CODE(hipHostMalloc(memory, nbytes, hipHostMallocPortable | hipHostMallocMapped));
}
static int host_free(void *memory) { return CODE(hipHostFree(memory)); }
static int copy_in(void *to, const void *from, size_t nbytes, void *stream) {
    return CODE(hipMemcpyAsync(to, from, nbytes, hipMemcpyHostToDevice, stream));
}
static int copy_out(void *to, const void *from, size_t nbytes, void *stream) {
    return CODE(hipMemcpyAsync(to, from, nbytes, hipMemcpyDeviceToHost, stream));
}
static int copy(void *to, const void *from, size_t nbytes, void *stream) {
    return CODE(hipMemcpyAsync(to, from, nbytes, hipMemcpyDeviceToDevice, stream));
}
static int copy_peer(void *to, int to_ordinal, const void *from, int from_ordinal, size_t nbytes, void *stream) {
    return CODE(hipMemcpyPeerAsync(to, to_ordinal, from, from_ordinal, nbytes, stream));
}

static int peer_access(int ordinal, int other, bool *possible) {
    int can = 0;
    *possible = false;
    int code = CODE(hipDeviceCanAccessPeer(&can, ordinal, other));
    if (code || !can) return code;
    code = CODE(hipSetDevice(ordinal));
    if (code) return code;
    code = CODE(hipDeviceEnablePeerAccess(other, 0));
    if (code == hipErrorPeerAccessAlreadyEnabled) code = 0;
    *possible = code == 0;
    return code;
}

/* ---- streams, events, graphs ---- */

static int done_or(int code, bool *done) {
    *done = code == hipSuccess;
    return code == hipErrorNotReady ? 0 : code;
}

static int stream_create(void **stream) { return CODE(hipStreamCreateWithFlags(stream, hipStreamNonBlocking)); }
static int stream_destroy(void *stream) { return CODE(hipStreamDestroy(stream)); }
static int stream_synchronize(void *stream) { return CODE(hipStreamSynchronize(stream)); }
static int stream_wait(void *stream, void *event) { return CODE(hipStreamWaitEvent(stream, event, 0)); }
static int event_create(void **event, bool timing) {
    return CODE(hipEventCreateWithFlags(event, timing ? 0 : hipEventDisableTiming));
}
static int event_destroy(void *event) { return CODE(hipEventDestroy(event)); }
static int event_record(void *event, void *stream) { return CODE(hipEventRecord(event, stream)); }
static int event_synchronize(void *event) { return CODE(hipEventSynchronize(event)); }
static int event_query(void *event, bool *done) { return done_or(CODE(hipEventQuery(event)), done); }
static int event_elapsed(float *ms, void *from, void *to) { return CODE(hipEventElapsedTime(ms, from, to)); }

static bool has_graphs(void) {
    const struct wick__hip *hip = &wick__hip;
    return hip->hipStreamBeginCapture && hip->hipStreamEndCapture && hip->hipGraphInstantiate && hip->hipGraphLaunch &&
           hip->hipGraphExecDestroy && hip->hipGraphDestroy;
}

/* Relaxed, so that the pool may allocate while a stream records. */
static int capture_begin(void *stream) {
    if (!has_graphs()) return hipErrorNotSupported;
    return CODE(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
}

static int capture_end(void *stream, void **graph) {
    hipGraph_t recorded = NULL;
    int code = CODE(hipStreamEndCapture(stream, &recorded));
    if (code) return code;
    code = CODE(hipGraphInstantiate(graph, recorded, NULL, NULL, 0));
    int destroyed = CODE(hipGraphDestroy(recorded));
    return code ? code : destroyed;
}

static int graph_launch(void *graph, void *stream) { return CODE(hipGraphLaunch(graph, stream)); }
static int graph_destroy(void *graph) { return CODE(hipGraphExecDestroy(graph)); }

/* ---- code ---- */

static int module_load(void **module, const void *image) { return CODE(hipModuleLoadData(module, image)); }
static int module_unload(void *module) { return CODE(hipModuleUnload(module)); }
static int module_function(void **function, void *module, const char *name) {
    return CODE(hipModuleGetFunction(function, module, name));
}

/* A block may have all the LDS there is without asking. */
static int function_shared(void *function, size_t nbytes) {
    (void)function;
    return nbytes <= 65536 ? 0 : hipErrorInvalidValue;
}

static int launch(void *function, const struct wick__blocks *blocks, void *stream, void **args) {
    const unsigned *grid = blocks->grid;
    if (blocks->together)
        return CODE(hipModuleLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], blocks->threads, 1, 1,
                                                     blocks->shared, stream, args));
    return CODE(hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], blocks->threads, 1, 1, blocks->shared,
                                      stream, args, NULL));
}

const struct wick__vendor wick__rocm_vendor = {
    .family = "rocm",
    .pack = "gfx",
    .load = load,
    .library = library,
    .error_text = error_text,
    .out_of_memory = out_of_memory,
    .count = count_devices,
    .properties = properties,
    .context_open = context_open,
    .context_close = context_close,
    .use = use,
    .memory_info = memory_info,
    .malloc = device_malloc,
    .free = device_free,
    .host_malloc = host_malloc,
    .host_free = host_free,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy = copy,
    .copy_peer = copy_peer,
    .peer_access = peer_access,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .graph_launch = graph_launch,
    .graph_destroy = graph_destroy,
    .module_load = module_load,
    .module_unload = module_unload,
    .module_function = module_function,
    .function_shared = function_shared,
    .launch = launch,
    .compile = wick__hiprtc_compile,
    .compiler_version = wick__hiprtc_version,
    .blas = {.create = wick__rocblas_create,
             .destroy = wick__rocblas_destroy,
             .set_stream = wick__rocblas_set_stream,
             .version = wick__rocblas_version,
             .missing = wick__rocblas_missing},
    .blas_gemm = wick__rocblas_gemm,
    .lt = {.create = wick__hipblaslt_create,
           .destroy = wick__hipblaslt_destroy,
           .set_stream = wick__hipblaslt_set_stream,
           .version = wick__hipblaslt_version,
           .missing = wick__hipblaslt_missing},
    .lt_plan = wick__hipblaslt_plan,
    .lt_run = wick__hipblaslt_run,
    .lt_forget = wick__hipblaslt_forget,
    .dnn = {.create = wick__miopen_create,
            .destroy = wick__miopen_destroy,
            .set_stream = wick__miopen_set_stream,
            .version = wick__miopen_version,
            .missing = wick__miopen_missing,
            .beside = wick__miopen_beside,
            .only_chosen = true},
    .conv_plan = wick__miopen_plan,
    .conv_run = wick__miopen_run,
    .conv_forget = wick__miopen_forget,
    .layer_has = wick__miopen_layer_has,
    .layer_plan = wick__miopen_layer_plan,
    .layer_run = wick__miopen_layer_run,
    .layer_forget = wick__miopen_layer_forget,
    .recurrent_plan = wick__miopen_recurrent_plan,
    .recurrent_run = wick__miopen_recurrent_run,
    .recurrent_forget = wick__miopen_recurrent_forget,
    .recurrent_backward = wick__miopen_recurrent_backward,
};
