/* A HIP program as a compiler makes it, linked with the simulated card's library: kernels that are compiled in, and each
 * function that rocBLAS, MIOpen and rocRAND take from the HIP runtime. HIP=5 or 6 is the library's generation. What is declared here is what
 * HIP's headers have. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__ __attribute__((global))

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
typedef void *hipStream_t;
typedef int hipError_t;

/* hipPointerAttribute_t */
struct attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int managed;
    unsigned flags;
};

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, hipStream_t stream = 0);
hipError_t hipLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared, hipStream_t stream);
hipError_t hipDeviceGetAttribute(int *value, int which, int device);
hipError_t hipDeviceGetDefaultMemPool(void **pool, int device);
hipError_t hipEventCreate(void **event);
hipError_t hipEventDestroy(void *event);
hipError_t hipEventElapsedTime(float *ms, void *from, void *to);
hipError_t hipEventRecord(void *event, hipStream_t stream);
hipError_t hipFree(void *);
hipError_t hipFreeAsync(void *, hipStream_t);
hipError_t hipGetDevice(int *);
hipError_t hipGetDeviceCount(int *);
hipError_t hipGetDeviceProperties(void *, int);
hipError_t hipGetDevicePropertiesR0600(void *, int);
const char *hipGetErrorName(hipError_t);
const char *hipGetErrorString(hipError_t);
hipError_t hipGetLastError(void);
int hipGetStreamDeviceId(hipStream_t);
hipError_t hipHostMalloc(void **, size_t, unsigned);
hipError_t hipHostFree(void *);
hipError_t hipLaunchHostFunc(hipStream_t, void (*)(void *), void *);
hipError_t hipMalloc(void **, size_t);
hipError_t hipMemPtrGetInfo(void *, size_t *);
hipError_t hipMallocAsync(void **, size_t, hipStream_t);
hipError_t hipMemPoolTrimTo(void *, size_t);
hipError_t hipMemcpy(void *, const void *, size_t, int);
hipError_t hipMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
hipError_t hipMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, int, hipStream_t);
hipError_t hipMemcpyAsync(void *, const void *, size_t, int, hipStream_t);
hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t);
hipError_t hipModuleGetFunction(void **, void *, const char *);
hipError_t hipModuleGetGlobal(void **, size_t *, void *, const char *);
hipError_t hipModuleLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                            hipStream_t, void **);
hipError_t hipModuleLoad(void **, const char *);
hipError_t hipModuleLoadData(void **, const void *);
hipError_t hipModuleUnload(void *);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
hipError_t hipPeekAtLastError(void);
hipError_t hipPointerGetAttributes(attributes *, const void *);
hipError_t hipRuntimeGetVersion(int *);
hipError_t hipSetDevice(int);
hipError_t hipStreamCreateWithFlags(hipStream_t *, unsigned);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamGetFlags(hipStream_t, unsigned *);
hipError_t hipStreamIsCapturing(hipStream_t, int *);
hipError_t hipStreamBeginCapture(hipStream_t, int);
hipError_t hipStreamEndCapture(hipStream_t, void **);
hipError_t hipGraphInstantiate(void **, void *, void **, char *, size_t);
hipError_t hipGraphLaunch(void *, hipStream_t);
hipError_t hipGraphExecDestroy(void *);
hipError_t hipGraphDestroy(void *);
hipError_t hipStreamQuery(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
}
/* In HIP 5 it is a C++ function, of these types. */
struct ihipModuleSymbol_t;
struct ihipStream_t;
struct ihipEvent_t;
#if HIP >= 6
extern "C"
#endif
hipError_t hipExtModuleLaunchKernel(ihipModuleSymbol_t *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    size_t, ihipStream_t *, void **, void **, ihipEvent_t *, ihipEvent_t *, unsigned);

enum { TO_DEVICE = 1, TO_HOST = 2, DEFAULT = 4 };

static int failures;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* ---- kernels of the program ---- */

struct pair {
    char first; /* arguments of odd sizes: padding must be as the compiler has it */
    double second;
};
__global__ void combine(float *to, pair p, short s, const float *from, unsigned n) {
    unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                 __builtin_amdgcn_workitem_id_x();
    if (i < n) to[i] = from[i] * (float)p.second + (float)(p.first + s);
}

/* Sums of a block by LDS whose size the launch says. */
__global__ void block_sums(unsigned *to, const unsigned *from) {
    extern __attribute__((shared)) unsigned lds[];
    unsigned t = __builtin_amdgcn_workitem_id_x(), n = __builtin_amdgcn_workgroup_size_x();
    lds[t] = from[__builtin_amdgcn_workgroup_id_x() * n + t];
    for (unsigned half = n / 2; half > 0; half /= 2) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        if (t < half) lds[t] += lds[t + half];
    }
    if (t == 0) to[__builtin_amdgcn_workgroup_id_x()] = lds[0];
}

/* ---- checks ---- */

enum { N = 1000 };

static void check_launch(int device) {
    CHECK(hipSetDevice(device) == 0);
    float from[N], to[N];
    float *a = nullptr, *b = nullptr;
    for (int i = 0; i < N; i++) from[i] = (float)i;
    CHECK(hipMalloc((void **)&a, sizeof from) == 0 && hipMalloc((void **)&b, sizeof from) == 0);
    CHECK(hipMemcpy(a, from, sizeof from, TO_DEVICE) == 0);
    combine<<<dim3((N + 127) / 128), dim3(128)>>>(b, pair{3, 0.5}, -7, a, N);
    CHECK(hipGetLastError() == 0);
    CHECK(hipMemcpy(to, b, sizeof to, TO_HOST) == 0);
    int bad = 0;
    for (int i = 0; i < N; i++) bad += to[i] != 0.5f * (float)i - 4;
    CHECK(bad == 0);

    unsigned in[512], out[2];
    unsigned *c = nullptr, *d = nullptr;
    for (unsigned i = 0; i < 512; i++) in[i] = i * i;
    CHECK(hipMalloc((void **)&c, sizeof in) == 0 && hipMalloc((void **)&d, sizeof out) == 0);
    CHECK(hipMemcpy(c, in, sizeof in, DEFAULT) == 0);
    block_sums<<<dim3(2), dim3(256), 256 * sizeof(unsigned)>>>(d, c);
    CHECK(hipMemcpy(out, d, sizeof out, DEFAULT) == 0);
    unsigned want[2] = {0, 0};
    for (unsigned i = 0; i < 512; i++) want[i / 256] += in[i];
    CHECK(out[0] == want[0] && out[1] == want[1]);
    CHECK(hipFree(a) == 0 && hipFree(b) == 0 && hipFree(c) == 0 && hipFree(d) == 0);
    /* A function that is not a kernel. */
    void *none[1] = {nullptr};
    CHECK(hipLaunchKernel((const void *)check_launch, dim3(1), dim3(1), none, 0, nullptr) == 98);
    CHECK(hipPeekAtLastError() == 98 && hipGetLastError() == 98 && hipGetLastError() == 0);
    CHECK(strcmp(hipGetErrorName(98), "hipErrorInvalidDeviceFunction") == 0);
    CHECK(*hipGetErrorString(98));
}

/* Rows of 12 bytes between distances of 32 on the host and 20 on the device. */
static void check_rows(hipStream_t stream) {
    unsigned char host[8 * 32], back[8 * 32], *device = nullptr;
    for (int i = 0; i < 8 * 32; i++) host[i] = (unsigned char)i;
    memset(back, 0xee, sizeof back);
    CHECK(hipMalloc((void **)&device, 7 * 20 + 12) == 0);
    CHECK(hipMemcpy2D(device, 20, host, 32, 12, 8, TO_DEVICE) == 0);
    CHECK(hipMemcpy2DAsync(back, 32, device, 20, 12, 8, TO_HOST, stream) == 0);
    CHECK(hipStreamSynchronize(stream) == 0);
    int bad = 0;
    for (int i = 0; i < 8 * 32; i++) bad += back[i] != (i % 32 < 12 ? (unsigned char)i : 0xee);
    CHECK(bad == 0);
    CHECK(hipMemcpy2D(device, 20, host, 8, 12, 8, TO_DEVICE) == 12); /* the width is more than the distance */
    CHECK(hipMemcpy2D(device, 20, host, 32, 12, 9, TO_DEVICE) == 1); /* runs over the end */
    CHECK(hipFree(device) == 0);
    hipGetLastError();
}

static void check_pool(hipStream_t stream) {
    void *pool = nullptr, *memory = nullptr;
    unsigned char back[100];
    CHECK(hipDeviceGetDefaultMemPool(&pool, 0) == 0 && pool);
    CHECK(hipMallocAsync(&memory, 100, stream) == 0 && memory);
    CHECK(hipMemsetAsync(memory, 0x5a, 100, stream) == 0);
    CHECK(hipMemcpyAsync(back, memory, 100, TO_HOST, stream) == 0);
    CHECK(hipFreeAsync(memory, stream) == 0);
    CHECK(hipStreamSynchronize(stream) == 0 && hipStreamQuery(stream) == 0);
    CHECK(back[0] == 0x5a && back[99] == 0x5a);
    CHECK(hipMemcpy(back, memory, 100, TO_HOST) != 0); /* it is gone */
    CHECK(hipMemPoolTrimTo(pool, 0) == 0 && hipMemPoolTrimTo(&pool, 0) == 1);
    CHECK(hipDeviceGetDefaultMemPool(&pool, 7) == 101);
    hipGetLastError();
}

static void check_pointers() {
    attributes a;
    void *device = nullptr, *pinned = nullptr;
    int local = 0;
    CHECK(hipMalloc(&device, 256) == 0 && hipHostMalloc(&pinned, 256, 1) == 0);
    const int host = HIP >= 6 ? 1 : 0;
    CHECK(hipPointerGetAttributes(&a, (char *)device + 8) == 0);
    CHECK(a.type == host + 1 && a.device == 0 && a.device_pointer == (char *)device + 8 && !a.host_pointer && !a.managed);
    CHECK(hipPointerGetAttributes(&a, pinned) == 0);
    CHECK(a.type == host && a.host_pointer == pinned && a.flags == 1);
    hipError_t code = hipPointerGetAttributes(&a, &local);
    if (HIP >= 6)
        CHECK(code == 0 && a.type == 0 && a.device == -2);
    else
        CHECK(code == 1);
    CHECK(hipFree(device) == 0 && hipHostFree(pinned) == 0);
    hipGetLastError();
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return nullptr;
    fseek(file, 0, SEEK_END);
    size_t n = (size_t)ftell(file);
    rewind(file);
    char *bytes = (char *)malloc(n);
    if (fread(bytes, 1, n, file) != n) bytes[0] = 0;
    fclose(file);
    return bytes;
}

/* A module from a file: kernel add(to, a, b, n) of tests/gfxsim/run. */
static void check_module(const char *path, hipStream_t stream) {
    void *module = nullptr, *function = nullptr, *from = nullptr, *to = nullptr;
    char *image = read_file(path);
    CHECK(image && hipModuleLoadData(&module, image) == 0);
    free(image); /* nobody needs it any more */
    CHECK(hipModuleGetFunction(&function, module, "nothing") == 500);
    CHECK(hipModuleGetFunction(&function, module, "add") == 0);
    float *a = nullptr, one[300], sum[300] = {0};
    for (int i = 0; i < 300; i++) one[i] = (float)i;
    CHECK(hipMalloc((void **)&a, 3 * sizeof one) == 0);
    CHECK(hipMemcpy(a, one, sizeof one, TO_DEVICE) == 0 && hipMemcpy(a + 300, one, sizeof one, TO_DEVICE) == 0);
    CHECK(hipEventCreate(&from) == 0 && hipEventCreate(&to) == 0);
    struct {
        float *to, *x, *y;
        int n;
    } packed = {a + 600, a, a + 300, 300};
    size_t size = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &size, (void *)3};
    /* 320 threads, that is 5 blocks. */
    CHECK(hipExtModuleLaunchKernel((ihipModuleSymbol_t *)function, 320, 1, 1, 64, 1, 1, 0, (ihipStream_t *)stream,
                                   nullptr, extra, (ihipEvent_t *)from, (ihipEvent_t *)to, 0) == 0);
    CHECK(hipStreamSynchronize(stream) == 0);
    CHECK(hipMemcpy(sum, a + 600, sizeof sum, TO_HOST) == 0);
    CHECK(sum[0] == 0 && sum[123] == 246 && sum[299] == 598);
    float ms = -1;
    CHECK(hipEventElapsedTime(&ms, from, to) == 0 && ms >= 0);
    CHECK(hipExtModuleLaunchKernel((ihipModuleSymbol_t *)function, 320, 0, 1, 64, 1, 1, 0, (ihipStream_t *)stream,
                                   nullptr, extra, nullptr, nullptr, 0) != 0);
    int blocks = 0;
    CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0) == 0);
    CHECK(blocks == 8); /* 8 waves on each of 4 SIMDs, 4 to a block */
    CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0) == 0 && blocks == 32);
    CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 20000) == 0 && blocks == 3); /* LDS */
    CHECK(hipFree(a) == 0 && hipEventDestroy(from) == 0 && hipEventDestroy(to) == 0);
    CHECK(hipModuleUnload(module) == 0 && hipModuleUnload(module) == 400);
    hipGetLastError();
}

/* A module from a file's path, and a launch all of whose blocks wait for each other: kernel meet(to, arrived) of
 * tests/gfxsim/run. */
static void check_cooperative(const char *path, hipStream_t stream) {
    enum { BLOCKS = 24, EACH = 64 };
    void *module = nullptr, *function = nullptr;
    CHECK(hipModuleLoad(&module, "/proc/self/nowhere.o") == 301);
    CHECK(strcmp(hipGetErrorName(301), "hipErrorFileNotFound") == 0);
    CHECK(hipModuleLoad(&module, nullptr) == 1 && hipModuleLoad(nullptr, path) == 1);
    CHECK(hipModuleLoad(&module, "/dev/null") == 200); /* empty */
    CHECK(hipModuleLoad(&module, "/proc/self/exe") == 209 && !module); /* no code for this card alone */
    CHECK(hipModuleLoad(&module, path) == 0 && hipModuleGetFunction(&function, module, "meet") == 0);
    unsigned zeros[BLOCKS + 1] = {0}, out[BLOCKS + 1], *device = nullptr, *arrived = nullptr;
    CHECK(hipMalloc((void **)&device, sizeof zeros) == 0);
    CHECK(hipMemcpy(device, zeros, sizeof zeros, TO_DEVICE) == 0);
    arrived = device + BLOCKS;
    void *args[2] = {&device, &arrived};
    CHECK(hipModuleLaunchCooperativeKernel(function, BLOCKS, 1, 1, EACH, 1, 1, 0, stream, args) == 0);
    CHECK(hipStreamSynchronize(stream) == 0 && hipMemcpy(out, device, sizeof out, TO_HOST) == 0);
    int bad = 0;
    for (unsigned i = 0; i < BLOCKS; i++) bad += out[i] != (i + 1) % BLOCKS + 1;
    CHECK(bad == 0 && out[BLOCKS] == 2 * BLOCKS);
    /* More blocks than the card holds at once: 304 units hold at most 32 each. */
    CHECK(hipModuleLaunchCooperativeKernel(function, 304 * 32 + 1, 1, 1, EACH, 1, 1, 0, stream, args) == 720);
    CHECK(strcmp(hipGetErrorName(720), "hipErrorCooperativeLaunchTooLarge") == 0);
    CHECK(hipModuleLaunchCooperativeKernel(function, 0, 1, 1, EACH, 1, 1, 0, stream, args) == 1);
    CHECK(hipModuleLaunchCooperativeKernel(function, 1, 1, 1, EACH, 1, 1, 0, stream, nullptr) == 1);
    CHECK(hipModuleLaunchCooperativeKernel(module, 1, 1, 1, EACH, 1, 1, 0, stream, args) == 400);
    CHECK(hipFree(device) == 0 && hipModuleUnload(module) == 0);
    hipGetLastError();
}

/* 648 threads by 256, as MIOpen asks for them: kernel partial(to, width, height) of tests/gfxsim/run. */
static void check_partial(const char *uniform, const char *path, hipStream_t stream) {
    enum { N = 648 };
    void *module = nullptr, *function = nullptr, *fixed = nullptr, *add = nullptr;
    unsigned out[4 * N], width = N, height = 1, *device = nullptr;
    CHECK(hipModuleLoad(&module, path) == 0 && hipModuleGetFunction(&function, module, "partial") == 0);
    CHECK(hipModuleLoad(&fixed, uniform) == 0 && hipModuleGetFunction(&add, fixed, "add") == 0);
    CHECK(hipMalloc((void **)&device, sizeof out) == 0);
    void *args[3] = {&device, &width, &height}, *sum[4] = {&device, &device, &device, &width};
    ihipStream_t *on = (ihipStream_t *)stream;
    CHECK(hipExtModuleLaunchKernel((ihipModuleSymbol_t *)function, N, 1, 1, 256, 1, 1, 0, on, args, nullptr, nullptr,
                                   nullptr, 0) == 0);
    CHECK(hipStreamSynchronize(stream) == 0 && hipMemcpy(out, device, sizeof out, TO_HOST) == 0);
    CHECK(out[0] == 256 && out[4 * 511 + 1] == 256 && out[4 * 512] == 136 && out[4 * 647 + 1] == 136);
    /* Code that was compiled for blocks of one size. */
    CHECK(hipExtModuleLaunchKernel((ihipModuleSymbol_t *)add, N, 1, 1, 256, 1, 1, 0, on, sum, nullptr, nullptr, nullptr,
                                   0) == 1);
    CHECK(hipFree(device) == 0 && hipModuleUnload(module) == 0 && hipModuleUnload(fixed) == 0);
    hipGetLastError();
}

static void check_sizes() {
    char *device = nullptr;
    void *pinned = nullptr;
    size_t size = 0;
    int local = 0;
    CHECK(hipMalloc((void **)&device, 1000) == 0 && hipHostMalloc(&pinned, 77, 0) == 0);
    CHECK(hipMemPtrGetInfo(device, &size) == 0 && size == 1000);
    CHECK(hipMemPtrGetInfo(device + 999, &size) == 0 && size == 1000);
    CHECK(hipMemPtrGetInfo(pinned, &size) == 0 && size == 77);
    CHECK(hipMemPtrGetInfo(device, nullptr) == 1 && hipMemPtrGetInfo(nullptr, &size) == 1);
    CHECK(hipMemPtrGetInfo(&local, &size) == 1 && hipMemPtrGetInfo(device + 1000, &size) == 1);
    CHECK(hipFree(device) == 0 && hipMemPtrGetInfo(device, &size) == 1 && hipHostFree(pinned) == 0);
    hipGetLastError();
}

/* Reads what a copy before it in the stream has written. */
struct seen {
    const int *from;
    int value, calls, code;
};
static void look(void *data) {
    struct seen *seen = (struct seen *)data;
    void *memory = nullptr;
    seen->value = *seen->from;
    seen->calls++;
    seen->code = hipMalloc(&memory, 16); /* nothing of HIP may be called here */
}

static void check_streams(hipStream_t stream) {
    hipStream_t other = nullptr;
    unsigned flags = 7;
    CHECK(hipStreamGetFlags(stream, &flags) == 0 && flags == 1);
    CHECK(hipStreamGetFlags(nullptr, &flags) == 1 && hipStreamGetFlags(stream, nullptr) == 1);
    CHECK(hipSetDevice(1) == 0 && hipStreamCreateWithFlags(&other, 0) == 0);
    CHECK(hipGetStreamDeviceId(other) == 1 && hipGetStreamDeviceId(stream) == 0 && hipGetStreamDeviceId(nullptr) == 1);
    CHECK(hipSetDevice(0) == 0 && hipGetStreamDeviceId(nullptr) == 0);
    CHECK(hipStreamGetFlags(other, &flags) == 0 && flags == 0);
    CHECK(hipStreamDestroy(other) == 0 && hipStreamGetFlags(other, &flags) == 400);
    CHECK(hipGetStreamDeviceId(other) == -1 && hipGetStreamDeviceId((hipStream_t)&flags) == -1);

    int *device = nullptr, *pinned = nullptr, first = 41;
    CHECK(hipMalloc((void **)&device, 4) == 0 && hipHostMalloc((void **)&pinned, 4, 0) == 0);
    *pinned = 0;
    struct seen seen = {pinned, 0, 0, 0};
    CHECK(hipMemcpy(device, &first, 4, TO_DEVICE) == 0);
    CHECK(hipMemcpyAsync(pinned, device, 4, TO_HOST, stream) == 0);
    CHECK(hipLaunchHostFunc(stream, look, &seen) == 0);
    CHECK(hipStreamSynchronize(stream) == 0 && seen.value == 41 && seen.calls == 1 && seen.code == 800);
    CHECK(hipLaunchHostFunc(stream, nullptr, &seen) == 1 && hipLaunchHostFunc(other, look, &seen) == 400);
    void *graph = nullptr, *ready = nullptr;
    CHECK(hipStreamBeginCapture(stream, 2) == 0 && hipLaunchHostFunc(stream, look, &seen) == 0 && seen.calls == 1);
    CHECK(hipStreamEndCapture(stream, &graph) == 0);
    CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0) == 0 && hipGraphDestroy(graph) == 0);
    CHECK(hipGraphLaunch(ready, stream) == 0 && hipGraphLaunch(ready, stream) == 0);
    CHECK(hipStreamSynchronize(stream) == 0 && seen.calls == 3 && hipGraphExecDestroy(ready) == 0);
    CHECK(hipFree(device) == 0 && hipHostFree(pinned) == 0);
    hipGetLastError();
}

static void check_device() {
    union {
        char bytes[4096];
        uint64_t words[512];
        int ints[1024];
    } p;
    int count = 0, device = -1, version = 0, value = 0;
    CHECK(hipGetDeviceCount(&count) == 0 && count == 2);
    CHECK(hipSetDevice(0) == 0 && hipGetDevice(&device) == 0 && device == 0);
    CHECK(hipRuntimeGetVersion(&version) == 0 && version / 10000000 == HIP);
    memset(&p, 0xaa, sizeof p);
    CHECK(hipGetDeviceProperties(&p, 0) == 0); /* the layout of HIP 5, in HIP 6 too */
    CHECK(strncmp(p.bytes, "AMD Instinct MI300X", 19) == 0 && strcmp(p.bytes + 396, "gfx942:sramecc+:xnack-") == 0);
    CHECK(p.words[33] == 65536 && p.ints[69] == 64 && (unsigned char)p.bytes[792] == 0xaa);
#if HIP >= 6
    CHECK(hipGetDevicePropertiesR0600(&p, 1) == 0);
    CHECK(strncmp(p.bytes, "AMD Radeon RX 7900 XTX", 22) == 0 && strcmp(p.bytes + 1160, "gfx1100") == 0);
    CHECK(p.ints[308 / 4] == 32 && (unsigned char)p.bytes[1472] == 0xaa);
#endif
    CHECK(hipDeviceGetAttribute(&value, 63, 0) == 0 && value == 304);
    CHECK(hipDeviceGetAttribute(&value, 87, 1) == 0 && value == 32);
    CHECK(hipDeviceGetAttribute(&value, 74, 1) == 0 && value == 65536);
    CHECK(hipDeviceGetAttribute(&value, 9000, 1) == 1);
    hipGetLastError();
}

static void check_graph(hipStream_t stream) {
    void *graph = nullptr, *ready = nullptr;
    int status = -1;
    float *a = nullptr, from[64], to[64];
    for (int i = 0; i < 64; i++) from[i] = 1;
    CHECK(hipMalloc((void **)&a, sizeof from) == 0 && hipMemcpy(a, from, sizeof from, TO_DEVICE) == 0);
    CHECK(hipStreamIsCapturing(stream, &status) == 0 && status == 0);
    CHECK(hipStreamBeginCapture(stream, 2) == 0);
    CHECK(hipStreamIsCapturing(stream, &status) == 0 && status == 1);
    combine<<<dim3(1), dim3(64), 0, stream>>>(a, pair{1, 2}, 0, a, 64);
    CHECK(hipStreamEndCapture(stream, &graph) == 0);
    CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0) == 0 && hipGraphDestroy(graph) == 0);
    for (int i = 0; i < 3; i++) CHECK(hipGraphLaunch(ready, stream) == 0);
    CHECK(hipStreamSynchronize(stream) == 0);
    CHECK(hipMemcpy(to, a, sizeof to, TO_HOST) == 0 && to[0] == 15 && to[63] == 15); /* x -> 2 x + 1, three times */
    CHECK(hipGraphExecDestroy(ready) == 0 && hipFree(a) == 0);
}

/* Arguments: the modules of kernels.hip and partial.hip for gfx942. Runs with GFXSIM_DEVICES=gfx942,gfx1100. */
int main(int argc, char **argv) {
    if (argc != 3) return 2;
    hipStream_t stream = nullptr;
    check_device();
    check_launch(0);
    check_launch(1);
    CHECK(hipSetDevice(0) == 0);
    CHECK(hipStreamCreateWithFlags(&stream, 1) == 0);
    check_rows(stream);
    check_pool(stream);
    check_pointers();
    check_module(argv[1], stream);
    check_cooperative(argv[1], stream);
    check_partial(argv[1], argv[2], stream);
    check_sizes();
    check_streams(stream);
    check_graph(stream);
    CHECK(hipStreamDestroy(stream) == 0 && hipStreamDestroy(stream) == 400);
    printf("%d failed\n", failures);
    return failures != 0;
}
