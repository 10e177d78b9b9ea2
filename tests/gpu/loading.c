/* Finding, opening and losing a GPU's driver, with the stand-in driver (tests/standin). Each case is a process of its
 * own: what is loaded once stays. In all of them the CPU goes on working, nothing of the driver's stays behind, and a
 * failure says what happened. argv[1] is the stand-in's folder. */
#include "tests/test.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder;

struct family {
    const char *device, *variable, *library;
    const char *memory;              /* the function that gives device memory */
    const char *two, *wide, *narrow; /* values of STANDIN_DEVICES: two GPUs, one of each wave */
};
static const struct family families[] = {
    {"rocm:0", "WICK_HIP_PATH", "libamdhip64.so.6", "hipMalloc", "gfx90a,gfx1100", "gfx90a", "gfx1100"},
    {"cuda:0", "WICK_CUDA_PATH", "libcuda.so.1", "cuMemAlloc_v2", "sm_90,sm_80", "sm_90", "sm_80"},
};

/* ---- processes ---- */

static void use_library(const struct family *family, const char *library) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, library);
    setenv(family->variable, path, 1);
}

static void clean_environment(const struct family *family) {
    char path[512];
    static const char *const names[] = {"STANDIN_DEVICES", "STANDIN_DEFER",  "STANDIN_SEED", "STANDIN_PROTECT",
                                        "STANDIN_GUARD",   "STANDIN_MEMORY", "STANDIN_FAIL", "STANDIN_SICK",
                                        "STANDIN_BLAS",    "STANDIN_REPORT", "WICK_BLAS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    snprintf(path, sizeof path, "%s/pack", folder);
    setenv("WICK_KERNEL_PACK", path, 1);
    setenv("WICK_COMPILE", "never", 1);
    setenv("WICK_CACHE_DIR", "/proc/self/nowhere", 1);
    setenv("WICK_HIP_PATH", "/proc/self/nowhere/libamdhip64.so.6", 1);
    setenv("WICK_CUDA_PATH", "/proc/self/nowhere/libcuda.so.1", 1);
    snprintf(path, sizeof path, "%s/librocblas.so.4", folder);
    setenv("WICK_ROCBLAS_PATH", path, 1);
    snprintf(path, sizeof path, "%s/libcublas.so.13", folder);
    setenv("WICK_CUBLAS_PATH", path, 1);
    use_library(family, family->library);
}

/* Runs a case in a process of its own; `fault` is a value of STANDIN_FAIL or NULL. */
static void in_process(const struct family *family, const char *name, void (*run)(const struct family *),
                       const char *fault) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        test_failures = test_checks = 0;
        clean_environment(family);
        if (fault) setenv("STANDIN_FAIL", fault, 1);
        run(family);
        exit(test_failures > 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    TEST_CHECK_(status == 0, "%s %s %s: the process ended with %x", family->device, name, fault ? fault : "", status);
}

/* What the stand-in counts: "standin_live", "standin_complaints". 0 when it was not opened. */
static long ask(const char *library, const char *what) {
    char path[512];
    union {
        void *address;
        long (*count)(void);
    } function = {NULL};
    snprintf(path, sizeof path, "%s/%s", folder, library);
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle) function.address = dlsym(handle, what);
    long n = function.address ? function.count() : 0;
    if (handle) dlclose(handle);
    return n;
}

/* ---- work ---- */

enum { N = 64 };

static void fill(float *values) {
    for (int i = 0; i < N * N; i++) values[i] = (float)(i * 37 % 101) - 50;
}

static bool failed(void) {
    CHECK(wick_error_status() != WICK_OK && *wick_error());
    return false;
}

/* x + x, and its sum, which is exact. */
static bool compute(struct wick_device *device) {
    float values[N * N], back[N * N];
    float sum = 0, want = 0;
    fill(values);
    wick_scope_begin();
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(N, N), values, sizeof values);
    struct wick_tensor *twice = x ? wick_add(x, x) : NULL;
    struct wick_tensor *all = twice ? wick_sum(twice, WICK_ALL_DIMS, false) : NULL;
    bool good = all && wick_read(twice, back, sizeof back) == WICK_OK && wick_read(all, &sum, sizeof sum) == WICK_OK;
    wick_scope_end(NULL);
    if (!good) return failed();
    for (int i = 0; i < N * N; i++) {
        want += 2 * values[i];
        values[i] *= 2;
    }
    CHECK_BYTES(back, values, sizeof values);
    CHECK_NEAR(sum, want, 0);
    return true;
}

static bool record(struct wick_device *device) {
    const float ones[2] = {1, 2};
    float back[2] = {0};
    struct wick_tensor *x = wick_from_data(device, WICK_F32, WICK_SHAPE(2), ones, sizeof ones), *out = NULL;
    struct wick_graph *graph = NULL;
    struct wick_event *event = NULL;
    bool good = x && wick_graph_begin(device) == WICK_OK;
    if (good) {
        out = wick_add(x, x);
        graph = wick_graph_end(device);
    }
    good = good && out && graph && wick_graph_launch(graph) == WICK_OK;
    if (good) event = wick_event_record(device);
    good = good && event && wick_event_sync(event) == WICK_OK && wick_read(out, back, sizeof back) == WICK_OK;
    if (!good) failed();
    if (good) CHECK_NEAR(back[0] + back[1], 6, 0);
    wick_event_free(event);
    wick_graph_free(graph);
    wick_release(out);
    wick_release(x);
    return good;
}

static void check_cpu(void) {
    struct wick_device *cpu = wick_device_open("cpu");
    CHECK(cpu && compute(cpu));
    wick_device_close(cpu);
}

static void check_nothing_left(const struct family *family) {
    CHECK_INT(ask(family->library, "standin_live"), 0);
    CHECK_INT(ask(family->library, "standin_complaints"), 0);
}

/* Opens the device, works, and closes it: whether all of it went well. */
static bool work(const char *name) {
    struct wick_device *device = wick_device_open(name);
    if (!device) return failed();
    bool good = compute(device);
    good = record(device) && good;
    if (wick_device_sync(device) != WICK_OK) good = failed();
    wick_device_close(device);
    return good;
}

static void check_refused(const struct family *family, const char *part) {
    struct wick_device *device = wick_device_open(family->device);
    CHECK(!device);
    CHECK_INT(wick_error_status(), WICK_DEVICE);
    TEST_CHECK_(strstr(wick_error(), part), "\"%s\" does not say \"%s\"", wick_error(), part);
    wick_device_close(device);
    device = wick_device_open("auto");
    CHECK(device && strcmp(wick_device_name(device), "cpu") == 0);
    wick_device_close(device);
    check_cpu();
    check_nothing_left(family);
}

/* ---- cases ---- */

static void missing_library(const struct family *family) {
    setenv(family->variable, "/proc/self/nowhere/library.so", 1);
    check_refused(family, "/proc/self/nowhere/library.so");
}

static void not_a_library(const struct family *family) {
    setenv(family->variable, "/etc/passwd", 1);
    check_refused(family, "/etc/passwd");
}

static void missing_symbol(const struct family *family) {
    bool hip = strcmp(family->device, "rocm:0") == 0;
    use_library(family, hip ? "libamdhip64-part.so.6" : "libcuda-part.so.1");
    check_refused(family, hip ? "hipModuleLoadData" : "cuModuleLoadData");
}

static void no_devices(const struct family *family) {
    setenv("STANDIN_DEVICES", "", 1);
    check_refused(family, family->device);
    CHECK_INT(wick_device_count(), 1);
}

/* Both waves, work queued, in random order, with device memory out of the processor's reach. */
static void works(const struct family *family) {
    const char *targets[] = {family->wide, family->narrow};
    setenv("STANDIN_DEVICES", family->two, 1);
    setenv("STANDIN_DEFER", "1", 1);
    setenv("STANDIN_SEED", "3", 1);
    setenv("STANDIN_PROTECT", "1", 1);
    for (int i = 0; i < 2; i++) {
        char name[16];
        struct wick_device_info info = {0};
        snprintf(name, sizeof name, "%.5s%d", family->device, i);
        struct wick_device *device = wick_device_open(name);
        CHECK(device && wick_device_describe(device, &info) == WICK_OK);
        if (!device) return;
        CHECK_TEXT(info.isa, targets[i]);
        CHECK_INT(info.wave, strcmp(targets[i], "gfx90a") == 0 ? 64 : 32);
        CHECK(strstr(info.description, "Stand-in"));
        CHECK(compute(device) && record(device));
        wick_device_close(device);
        CHECK(work(name));
    }
    check_cpu();
    check_nothing_left(family);
}

/* HIP 5's properties struct and HIP 6's. */
static void generations(const struct family *family) {
    setenv("STANDIN_DEVICES", "gfx90a:sramecc+:xnack-", 1);
    for (int generation = 5; generation <= 7; generation++) {
        char library[64];
        snprintf(library, sizeof library, "libamdhip64.so.%d", generation);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            struct wick_device_info info = {0};
            use_library(family, library);
            struct wick_device *device = wick_device_open("rocm:0");
            CHECK(device && wick_device_describe(device, &info) == WICK_OK);
            CHECK_TEXT(info.isa, "gfx90a:sramecc+:xnack-");
            CHECK_INT(info.wave, 64);
            wick_device_close(device);
            CHECK(work("rocm:0"));
            CHECK_INT(ask(library, "standin_live"), 0);
            exit(test_failures > 0);
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* A runtime that the process has already is the one to use, whatever its version. */
static void mixed_versions(const struct family *family) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, "libamdhip64.so.5");
    void *handle = dlopen(path, RTLD_NOW);
    CHECK(handle);
    unsetenv(family->variable);
    CHECK(work("rocm:0"));
    /* Found by its calls: the symbol that HIP 6 adds would be missing. */
    CHECK(dlsym(handle, "hipGetDevicePropertiesR0600") == NULL);
    CHECK_INT(ask("libamdhip64.so.5", "standin_live"), 0);
    CHECK(!dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD));
}

static void sick(const struct family *family) {
    setenv("STANDIN_DEVICES", family->two, 1);
    setenv("STANDIN_SICK", "1", 1);
    char name[16];
    snprintf(name, sizeof name, "%.5s1", family->device);
    CHECK(work(family->device));
    CHECK(!wick_device_open(name));
    CHECK_INT(wick_error_status(), WICK_DEVICE);
    TEST_CHECK_(strstr(wick_error(), name) && strstr(wick_error(), "719"), "\"%s\"", wick_error());
    CHECK(work(family->device));
    struct wick_device *best = wick_device_open("auto");
    CHECK(best && strcmp(wick_device_name(best), family->device) == 0);
    wick_device_close(best);
    check_cpu();
    check_nothing_left(family);
}

/* The best of several that is healthy. */
static void sick_first(const struct family *family) {
    setenv("STANDIN_DEVICES", family->two, 1);
    setenv("STANDIN_SICK", "0", 1);
    struct wick_device *best = wick_device_open("auto");
    CHECK(best && wick_device_name(best)[5] == '1');
    wick_device_close(best);
    check_nothing_left(family);
}

static void out_of_memory(const struct family *family) {
    enum { MIB = 1 << 20 };
    setenv("STANDIN_MEMORY", "100663296", 1); /* 96 MiB */
    struct wick_device *device = wick_device_open(family->device);
    CHECK(device);
    if (!device) return;
    struct wick_tensor *x = wick_empty(device, WICK_U8, WICK_SHAPE(60 * MIB));
    CHECK(x);
    CHECK(!wick_empty(device, WICK_U8, WICK_SHAPE(60 * MIB)));
    CHECK_INT(wick_error_status(), WICK_MEMORY);
    CHECK(strstr(wick_error(), "out of memory"));
    CHECK(compute(device));
    wick_release(x);
    /* What is cached must go before this one fits. */
    struct wick_memory memory;
    CHECK_OK(wick_memory_stats(device, &memory));
    CHECK(memory.cached >= 60 * MIB);
    x = wick_empty(device, WICK_U8, WICK_SHAPE(80 * MIB));
    CHECK(x);
    wick_release(x);
    CHECK(compute(device));
    wick_device_close(device);
    check_cpu();
    check_nothing_left(family);
}

/* ---- each call fails in turn ---- */

/* Calls that give something back; a context goes back by its device. */
static bool gives_back(const char *name) {
    return strncmp(name, "cuDeviceGet:", 12) == 0 || strstr(name, "Free") || strstr(name, "Destroy") ||
           strstr(name, "Unload") || strstr(name, "Release");
}

static void call_fails(const struct family *family) {
    const char *fault = getenv("STANDIN_FAIL");
    work(family->device);
    unsetenv("STANDIN_FAIL");
    check_cpu();
    /* What the driver refuses to take back stays, and what it was the last of. */
    long live = ask(family->library, "standin_live");
    TEST_CHECK_(live == 0 || gives_back(fault), "%s: %ld objects are left", fault, live);
    CHECK_INT(ask(family->library, "standin_complaints"), 0);
}

static void clean_run(const struct family *family) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/wick-loading.%d", (int)getppid());
    setenv("STANDIN_REPORT", path, 1);
    CHECK(work(family->device));
    check_nothing_left(family);
}

/* Every function that a clean run calls, at its first calls, at its last, and always. */
static void each_call_fails(const struct family *family) {
    enum { FUNCTIONS = 128 };
    static struct { char text[64]; } names[FUNCTIONS];
    long calls[FUNCTIONS];
    char path[64], line[256], fault[160];
    int n = 0;
    snprintf(path, sizeof path, "/tmp/wick-loading.%d", (int)getpid());
    in_process(family, "clean run", clean_run, NULL);
    FILE *file = fopen(path, "r");
    CHECK(file);
    while (file && n < FUNCTIONS && fgets(line, sizeof line, file))
        n += sscanf(line, "calls %63s %ld", names[n].text, &calls[n]) == 2;
    if (file) fclose(file);
    unlink(path);
    CHECK(n > 25);
    for (int i = 0; i < n; i++) {
        for (long at = 1; at <= calls[i]; at = at < 3 || at == calls[i] ? at + 1 : calls[i]) {
            snprintf(fault, sizeof fault, "%.63s:%ld", names[i].text, at);
            in_process(family, "fails at", call_fails, fault);
        }
        snprintf(fault, sizeof fault, "%.63s:1+", names[i].text);
        in_process(family, "fails at", call_fails, fault);
    }
}

int main(int count, char **arguments) {
    folder = count > 1 ? arguments[1] : "";
    char path[512];
    snprintf(path, sizeof path, "%s/pack/gfx90a.pack", folder);
    if (access(path, R_OK) != 0) test_skip("there are no kernels for the stand-in driver");
    static const struct {
        const char *name;
        void (*run)(const struct family *);
        bool hip; /* HIP alone */
    } cases[] = {{"missing library", missing_library, false},
                 {"not a library", not_a_library, false},
                 {"missing symbol", missing_symbol, false},
                 {"no devices", no_devices, false},
                 {"works", works, false},
                 {"generations", generations, true},
                 {"mixed versions", mixed_versions, true},
                 {"sick", sick, false},
                 {"sick first", sick_first, false},
                 {"out of memory", out_of_memory, false}};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (f == 0 || !cases[i].hip) in_process(&families[f], cases[i].name, cases[i].run, NULL);
        each_call_fails(&families[f]);
    }
    return test_end();
}
