/* AMD's vendor table: devices, memory, streams, graphs and modules on libamdhip64, HIP 5.2 to 7. */
#include "rocm/rocm.h"

#include <stdio.h>
#include <string.h>

struct wick__hip wick__hip;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__hip, name),
#include "rocm/hip.def"
};

static const char *const versions[] = {".so.7", ".so.6", ".so.5", ".so", NULL};
const char *const wick__rocm_roots[] = {"ROCM_PATH",       "HIP_PATH",        "/opt/rocm/lib",
                                        "/opt/rocm-*/lib", "/opt/rocm/lib64", NULL};

struct wick__opener wick__hip_opener =
    WICK__OPENER("libamdhip64", "WICK_HIP_PATH", versions, wick__rocm_roots, symbols);

/* Where AMD's driver shows a GPU: on Linux, and under Windows. HIP is not loaded without: it takes 17 ms to find that
 * there is none, and ends the process by a C++ exception when it runs out of memory meanwhile. */
static const char *const nodes[] = {"/dev/kfd", "/dev/dxg", NULL};

/* hipGetDeviceProperties writes one of two layouts of hipDeviceProp_t: HIP 6 made the struct longer and moved its
 * fields, under a symbol of its own; the plain symbol went on to write the old one. Of both, the name (at 0) and
 * gcnArchName are wanted; everything else is asked as attributes. Compared with the headers by tests/headers. */
enum { PROPERTIES_ROOM = 8192, NAME_SIZE = 256 };
static hipError_t (*get_properties)(void *properties, int ordinal);
static bool new_layout;

static hipError_t init_code;
static int runtime_version;

int wick__rocm_code(hipError_t error) {
    if (error != hipSuccess) wick__hip.hipGetLastError();
    return error;
}
#define CODE(call) wick__rocm_code(wick__hip.call)

/* ---- libraries ---- */

/* On a machine without a GPU of its kind, hipInit answers one code or another, but counting says so. */
static hipError_t initialise(void) {
    int code = CODE(hipInit(0)), count = 0;
    if (code != hipSuccess && CODE(hipGetDeviceCount(&count)) == hipErrorNoDevice) code = hipErrorNoDevice;
    return code;
}

static void hip_open(void) {
    struct wick__opener *opener = &wick__hip_opener;
    pthread_mutex_lock(&opener->mutex);
    opener->nodes = nodes;
    if (!opener->tried && wick__library_open(opener, &wick__hip)) {
        void *function = wick__library_symbol(opener, "hipGetDevicePropertiesR0600");
        new_layout = function != NULL;
        if (!function) function = wick__library_symbol(opener, "hipGetDeviceProperties");
        memcpy(&get_properties, &function, sizeof function);
        init_code = initialise();
        if (wick__hip.hipRuntimeGetVersion(&runtime_version) != hipSuccess) runtime_version = 0;
        if (!function) wick__library_refuse(opener, "has no hipGetDeviceProperties");
    }
    pthread_mutex_unlock(&opener->mutex);
}

int wick__rocm_major(void) {
    hip_open();
    return wick__hip_opener.handle ? runtime_version / 10000000 : 0;
}

static void error_text(int code, char *text, size_t size) {
    if (code & WICK__ROCBLAS_CODE) {
        int status = code & ~WICK__ROCBLAS_CODE;
        snprintf(text, size, "%s (%d)", wick__rocblas_status_text(status), status);
    } else if (wick__hip_opener.handle) {
        const char *name = wick__hip.hipGetErrorName(code), *meaning = wick__hip.hipGetErrorString(code);
        snprintf(text, size, "%s (%d): %s", name ? name : "HIP error", code, meaning ? meaning : "unknown");
    } else {
        snprintf(text, size, "HIP error %d", code);
    }
}

static bool out_of_memory(int code) {
    return code == hipErrorOutOfMemory || code == (WICK__ROCBLAS_CODE | rocblas_status_memory_error);
}

static enum wick_status load(void) {
    hip_open();
    if (wick__library_forked(&wick__hip_opener))
        return wick__fail(WICK_DEVICE,
                          "rocm: this process was forked after HIP was loaded; open devices in the child only");
    if (!wick__hip_opener.handle) return wick__fail(WICK_DEVICE, "rocm: %s", wick__hip_opener.fault);
    if (init_code != hipSuccess && init_code != hipErrorNoDevice) {
        char text[256];
        error_text(init_code, text, sizeof text);
        return wick__fail(WICK_DEVICE, "rocm: hipInit: %s", text);
    }
    return WICK_OK;
}

static void library(enum wick__library_kind kind, struct wick__library *out) {
    hip_open();
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
    case WICK__BLAS_LT: *out = (struct wick__library){0}; break;
    default: *out = (struct wick__library){.name = "libMIOpen", .fault = "not used: convolutions run on own kernels"};
    }
}

/* ---- devices ---- */

static int count_devices(int *count) {
    *count = 0;
    if (init_code == hipErrorNoDevice) return 0;
    int code = CODE(hipGetDeviceCount(count));
    if (code == hipErrorNoDevice) *count = code = 0;
    return code;
}

int wick__rocm_target(int ordinal, char *name, size_t name_size, char *target, size_t target_size) {
    union {
        max_align_t aligned;
        char bytes[PROPERTIES_ROOM];
    } room;
    memset(&room, 0, sizeof room);
    int code = wick__rocm_code(get_properties(&room, ordinal));
    if (code != hipSuccess) return code;
    int length = NAME_SIZE - 1;
    snprintf(name, name_size, "%.*s", length, room.bytes);
    const char *arch = room.bytes + (new_layout ? WICK__R0600_gcnArchName : WICK__R0000_gcnArchName);
    if (strncmp(arch, "gfx", 3) != 0) return hipErrorUnknown;
    snprintf(target, target_size, "%.*s", length, arch);
    return 0;
}

static int properties(int ordinal, struct wick__properties *out) {
    *out = (struct wick__properties){.runtime = runtime_version};
    int code = wick__rocm_target(ordinal, out->name, sizeof out->name, out->target, sizeof out->target);
    if (code) return code;
    int shared = 0, integrated = 0;
    const struct {
        hipDeviceAttribute_t attribute;
        int *value;
    } wanted[] = {{hipDeviceAttributeWarpSize, &out->wave},
                  {hipDeviceAttributeMultiprocessorCount, &out->units},
                  {hipDeviceAttributeMaxThreadsPerMultiProcessor, &out->threads},
                  {hipDeviceAttributeMaxSharedMemoryPerBlock, &shared},
                  {hipDeviceAttributeIntegrated, &integrated}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        code = CODE(hipDeviceGetAttribute(wanted[i].value, wanted[i].attribute, ordinal));
        if (code) return code;
    }
    out->shared = (size_t)shared;
    out->integrated = integrated != 0;
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

static int launch(void *function, const unsigned grid[3], unsigned threads, unsigned shared, void *stream,
                  void **args) {
    return CODE(hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream, args, NULL));
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
};
