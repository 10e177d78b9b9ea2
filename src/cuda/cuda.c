/* NVIDIA's vendor table: devices, memory, streams, graphs and modules on libcuda. */
#include "cuda/graph.h"

#include <stdatomic.h>
#include <stdio.h>

enum { MAX_DEVICES = 64 };
/* Primary contexts that are open, for copies between devices. */
static _Atomic(CUcontext) contexts[MAX_DEVICES];

static CUdeviceptr address(const void *memory) { return (CUdeviceptr)(uintptr_t)memory; }

/* ---- libraries ---- */

static void error_text(int code, char *text, size_t size) {
    if (code & WICK__CUBLAS_CODE) {
        int status = code & ~WICK__CUBLAS_CODE;
        snprintf(text, size, "%s (%d)", wick__cublas_status_text(status), status);
        return;
    }
    if (code & WICK__CUDNN_CODE) {
        int status = code & ~WICK__CUDNN_CODE;
        snprintf(text, size, "%s (%d)", wick__cudnn_status_text(status), status);
        return;
    }
    const char *name = NULL, *meaning = NULL;
    if (wick__cuda_opener.handle) {
        wick__cuda.cuGetErrorName(code, &name);
        wick__cuda.cuGetErrorString(code, &meaning);
    }
    snprintf(text, size, "%s (%d): %s", name ? name : "CUDA error", code, meaning ? meaning : "unknown");
}

static bool out_of_memory(int code) {
    return code == CUDA_ERROR_OUT_OF_MEMORY || code == (WICK__CUBLAS_CODE | CUBLAS_STATUS_ALLOC_FAILED) ||
           code == (WICK__CUDNN_CODE | CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED) ||
           code == (WICK__CUDNN_CODE | CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
}

static enum wick_status load(void) {
    wick__cuda_open();
    if (wick__library_forked(&wick__cuda_opener))
        return wick__fail(WICK_DEVICE,
                          "cuda: this process was forked after CUDA was loaded; open devices in the child only");
    if (!wick__cuda_opener.handle) return wick__fail(WICK_DEVICE, "cuda: %s", wick__cuda_opener.fault);
    if (wick__cuda_init_code != CUDA_SUCCESS && wick__cuda_init_code != CUDA_ERROR_NO_DEVICE) {
        char text[256];
        error_text(wick__cuda_init_code, text, sizeof text);
        return wick__fail(WICK_DEVICE, "cuda: cuInit: %s", text);
    }
    return WICK_OK;
}

static void library(enum wick__library_kind kind, struct wick__library *out) {
    wick__cuda_open();
    switch (kind) {
    case WICK__DRIVER: wick__library_describe(&wick__cuda_opener, out); break;
    case WICK__COMPILER:
        wick__nvrtc_open();
        wick__library_describe(&wick__nvrtc_opener, out);
        break;
    case WICK__BLAS:
        wick__cublas_open();
        wick__library_describe(&wick__cublas_opener, out);
        break;
    case WICK__BLAS_LT:
        wick__cublaslt_open();
        wick__library_describe(&wick__cublaslt_opener, out);
        break;
    default: wick__cudnn_open(); wick__library_describe(&wick__cudnn_opener, out);
    }
}

/* ---- devices ---- */

static int count_devices(int *count) {
    *count = 0;
    return wick__cuda_init_code == CUDA_ERROR_NO_DEVICE ? 0 : wick__cuda.cuDeviceGetCount(count);
}

static int properties(int ordinal, struct wick__properties *out) {
    *out = (struct wick__properties){.driver = wick__cuda_version};
    CUdevice device;
    int code = wick__cuda.cuDeviceGet(&device, ordinal);
    if (!code) code = wick__cuda.cuDeviceGetName(out->name, sizeof out->name, device);
    if (code) return code;
    int shared = 0, integrated = 0, together = 0, major = 0, minor = 0;
    const struct {
        CUdevice_attribute attribute;
        int *value;
    } wanted[] = {{CU_DEVICE_ATTRIBUTE_WARP_SIZE, &out->wave},
                  {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &out->units},
                  {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &out->threads},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &shared},
                  {CU_DEVICE_ATTRIBUTE_INTEGRATED, &integrated},
                  {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &together},
                  {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
                  {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        code = wick__cuda.cuDeviceGetAttribute(wanted[i].value, wanted[i].attribute, device);
        if (code) return code;
    }
    snprintf(out->target, sizeof out->target, "sm_%d%d", major, minor);
    out->shared = (size_t)shared;
    out->integrated = integrated != 0;
    /* Drivers since 12.3 also record such launches in graphs. */
    out->follows = major >= 9 && wick__cuda_version >= 12030 && wick__cuda.cuLaunchKernelEx;
    out->maps = wick__cuda.cuTensorMapEncodeTiled != NULL;
    out->together = together != 0 && wick__cuda.cuLaunchCooperativeKernel;
    code = wick__cuda.cuDeviceTotalMem_v2(&out->memory, device);
    if (!code) code = wick__cuda.cuDeviceGetPCIBusId(out->bus, sizeof out->bus, device);
    for (char *c = out->bus; *c; c++) /* as the kernel writes it */
        if (*c >= 'A' && *c <= 'F') *c = (char)(*c + 'a' - 'A');
    return code;
}

static int context_open(int ordinal, void **context) {
    CUdevice device;
    CUcontext primary = NULL;
    int code = wick__cuda.cuDeviceGet(&device, ordinal);
    if (!code) code = wick__cuda.cuDevicePrimaryCtxRetain(&primary, device);
    if (code) return code;
    code = wick__cuda.cuCtxSetCurrent(primary);
    if (code) {
        wick__cuda.cuDevicePrimaryCtxRelease_v2(device);
        return code;
    }
    if (ordinal < MAX_DEVICES) atomic_store(&contexts[ordinal], primary);
    *context = primary;
    return 0;
}

static int context_close(int ordinal, void *context) {
    (void)context;
    CUdevice device;
    int code = wick__cuda.cuDeviceGet(&device, ordinal);
    return code ? code : wick__cuda.cuDevicePrimaryCtxRelease_v2(device);
}

/* Asked for anew each time, because other users of CUDA on this thread change it too. */
static int use(int ordinal, void *context) {
    (void)ordinal;
    CUcontext current = NULL;
    int code = wick__cuda.cuCtxGetCurrent(&current);
    return code == 0 && current == context ? 0 : wick__cuda.cuCtxSetCurrent(context);
}

static int memory_info(size_t *free, size_t *total) { return wick__cuda.cuMemGetInfo_v2(free, total); }

/* ---- memory ---- */

static int device_malloc(void **memory, size_t nbytes) {
    CUdeviceptr pointer = 0;
    int code = wick__cuda.cuMemAlloc_v2(&pointer, nbytes);
    if (!code) *memory = (void *)(uintptr_t)pointer;
    return code;
}
static int device_free(void *memory) { return wick__cuda.cuMemFree_v2(address(memory)); }
static int host_malloc(void **memory, size_t nbytes) {
    return wick__cuda.cuMemHostAlloc(memory, nbytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}
static int host_free(void *memory) { return wick__cuda.cuMemFreeHost(memory); }
static int copy_in(void *to, const void *from, size_t nbytes, void *stream) {
    return wick__cuda.cuMemcpyHtoDAsync_v2(address(to), from, nbytes, stream);
}
static int copy_out(void *to, const void *from, size_t nbytes, void *stream) {
    return wick__cuda.cuMemcpyDtoHAsync_v2(to, address(from), nbytes, stream);
}
static int copy(void *to, const void *from, size_t nbytes, void *stream) {
    return wick__cuda.cuMemcpyDtoDAsync_v2(address(to), address(from), nbytes, stream);
}
static int copy_peer(void *to, int to_ordinal, const void *from, int from_ordinal, size_t nbytes, void *stream) {
    if (to_ordinal >= MAX_DEVICES || from_ordinal >= MAX_DEVICES) return CUDA_ERROR_NOT_SUPPORTED;
    return wick__cuda.cuMemcpyPeerAsync(address(to), atomic_load(&contexts[to_ordinal]), address(from),
                                        atomic_load(&contexts[from_ordinal]), nbytes, stream);
}

static int peer_access(int ordinal, int other, bool *possible) {
    CUdevice here, there;
    int can = 0;
    *possible = false;
    int code = wick__cuda.cuDeviceGet(&here, ordinal);
    if (!code) code = wick__cuda.cuDeviceGet(&there, other);
    if (!code) code = wick__cuda.cuDeviceCanAccessPeer(&can, here, there);
    if (code || !can || ordinal >= MAX_DEVICES || other >= MAX_DEVICES) return code;
    CUcontext own = atomic_load(&contexts[ordinal]), peer = atomic_load(&contexts[other]);
    if (!own || !peer) return 0;
    code = wick__cuda.cuCtxSetCurrent(own);
    if (!code) code = wick__cuda.cuCtxEnablePeerAccess(peer, 0);
    if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) code = 0;
    *possible = code == 0;
    return code;
}

/* ---- streams, events, graphs ---- */

static int done_or(int code, bool *done) {
    *done = code == CUDA_SUCCESS;
    return code == CUDA_ERROR_NOT_READY ? 0 : code;
}

static int stream_create(void **stream) { return wick__cuda.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING); }
static int stream_destroy(void *stream) { return wick__cuda.cuStreamDestroy_v2(stream); }
static int stream_synchronize(void *stream) { return wick__cuda.cuStreamSynchronize(stream); }
static int stream_wait(void *stream, void *event) { return wick__cuda.cuStreamWaitEvent(stream, event, 0); }
static int event_create(void **event, bool timing) {
    return wick__cuda.cuEventCreate(event, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}
static int event_destroy(void *event) { return wick__cuda.cuEventDestroy_v2(event); }
static int event_record(void *event, void *stream) { return wick__cuda.cuEventRecord(event, stream); }
static int event_synchronize(void *event) { return wick__cuda.cuEventSynchronize(event); }
static int event_query(void *event, bool *done) { return done_or(wick__cuda.cuEventQuery(event), done); }
static int event_elapsed(float *ms, void *from, void *to) { return wick__cuda.cuEventElapsedTime(ms, from, to); }

static bool has_graphs(void) {
    const struct wick__cuda *cuda = &wick__cuda;
    return cuda->cuStreamBeginCapture_v2 && cuda->cuStreamEndCapture && cuda->cuGraphInstantiateWithFlags &&
           cuda->cuGraphLaunch && cuda->cuGraphExecDestroy && cuda->cuGraphDestroy;
}

/* Relaxed, so that the pool may allocate while a stream records. */
static int capture_begin(void *stream) {
    if (!has_graphs()) return CUDA_ERROR_NOT_SUPPORTED;
    return wick__cuda.cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static int capture_end(void *stream, void **graph) {
    CUgraph recorded = NULL;
    int code = wick__cuda.cuStreamEndCapture(stream, &recorded);
    if (code) return code;
    code = wick__cuda.cuGraphInstantiateWithFlags(graph, recorded, 0);
    int destroyed = wick__cuda.cuGraphDestroy(recorded);
    return code ? code : destroyed;
}

static int graph_launch(void *graph, void *stream) { return wick__cuda.cuGraphLaunch(graph, stream); }
static int graph_destroy(void *graph) { return wick__cuda.cuGraphExecDestroy(graph); }

/* ---- code ---- */

static int module_load(void **module, const void *image) { return wick__cuda.cuModuleLoadData(module, image); }
static int module_unload(void *module) { return wick__cuda.cuModuleUnload(module); }
static int module_function(void **function, void *module, const char *name) {
    return wick__cuda.cuModuleGetFunction(function, module, name);
}
static int function_shared(void *function, size_t nbytes) {
    /* A unit's memory between LDS and first cache: what kernels that ask for LDS read once goes past the cache. */
    wick__cuda.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100);
    return wick__cuda.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)nbytes);
}

static int launch(void *function, const struct wick__blocks *blocks, void *stream, void **args) {
    const unsigned *grid = blocks->grid, threads = blocks->threads, shared = blocks->shared;
    if (blocks->together)
        return wick__cuda.cuLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream,
                                                    args);
    if (blocks->follows) {
        CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                       .value.programmaticStreamSerializationAllowed = 1};
        CUlaunchConfig config = {grid[0], grid[1], grid[2], threads, 1, 1, shared, stream, &attribute, 1};
        return wick__cuda.cuLaunchKernelEx(&config, function, args, NULL);
    }
    return wick__cuda.cuLaunchKernel(function, grid[0], grid[1], grid[2], threads, 1, 1, shared, stream, args, NULL);
}

static int tensor_map(void *map, const struct wick__tensor_map *of) {
    const unsigned box[4] = {(unsigned)of->box[0], (unsigned)of->box[1], 1, 1}, step[4] = {1, 1, 1, 1};
    const CUtensorMapDataType type =
        of->dtype == WICK_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    uint64_t size[4], stride[3]; /* bytes */
    for (unsigned d = 0; d < of->rank; d++) size[d] = (uint64_t)of->size[d];
    for (unsigned d = 0; d + 1 < of->rank; d++) stride[d] = (uint64_t)of->stride[d] * 2;
    return wick__cuda.cuTensorMapEncodeTiled(map, type, of->rank, (void *)(uintptr_t)of->from, size, stride, box, step,
                                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

const struct wick__vendor wick__cuda_vendor = {
    .family = "cuda",
    .pack = "sm_",
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
    .tensor_map = tensor_map,
    .compile = wick__nvrtc_compile,
    .compiler_version = wick__nvrtc_version,
    .blas = {.create = wick__cublas_create,
             .destroy = wick__cublas_destroy,
             .set_stream = wick__cublas_set_stream,
             .version = wick__cublas_version,
             .missing = wick__cublas_missing},
    .blas_gemm = wick__cublas_gemm,
    .lt = {.create = wick__cublaslt_create,
           .destroy = wick__cublaslt_destroy,
           .set_stream = wick__cublaslt_set_stream,
           .version = wick__cublaslt_version,
           .missing = wick__cublaslt_missing},
    .lt_plan = wick__cublaslt_plan,
    .lt_run = wick__cublaslt_run,
    .lt_forget = wick__cublaslt_forget,
    .dnn = {.create = wick__cudnn_create,
            .destroy = wick__cudnn_destroy,
            .set_stream = wick__cudnn_set_stream,
            .version = wick__cudnn_version,
            .missing = wick__cudnn_missing},
    .conv_plan = wick__cudnn_plan,
    .conv_run = wick__cudnn_run,
    .conv_forget = wick__graph_forget,
    .attention_plan = wick__cudnn_attention_plan,
    .attention_run = wick__cudnn_attention_run,
    .attention_forget = wick__graph_forget,
    .layer_has = wick__cudnn_layer_has,
    .layer_plan = wick__cudnn_layer_plan,
    .layer_run = wick__cudnn_layer_run,
    .layer_forget = wick__cudnn_layer_forget,
    .recurrent_by_lengths = true,
    .recurrent_projected = true,
    .recurrent_plan = wick__cudnn_recurrent_plan,
    .recurrent_run = wick__cudnn_recurrent_run,
    .recurrent_forget = wick__cudnn_recurrent_forget,
};
