/* The sources inside the library compile with the vendor's own run-time compiler, for the target in the arguments: the
 * modules named after it whole, or all when none is; the others up to where their text has been understood, or,
 * after --only, not at all. NVRTC ends there after a tenth of a second a module; hipRTC has no such end, and makes code
 * without optimising it. Each module has a process of its own: hipRTC has crashed before. Skipped where there is no
 * compiler. */
#include "tests/test.h"

#include "core/memory.h"
#include "gpu/code/store.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A vendor that compiles no further than it must. */
static const struct wick__vendor *vendor_whole;

static enum wick_status compile_text(const struct wick__source_job *job, void **image, size_t *nbytes) {
    const char *options[8];
    struct wick__source_job less = *job;
    if (job->n_options >= 8) return WICK_INVALID;
    memcpy(options, job->options, (size_t)job->n_options * sizeof *options);
    options[less.n_options++] = vendor_whole == &wick__cuda_vendor ? "--fdevice-syntax-only" : "-O0";
    less.options = options;
    return vendor_whole->compile(&less, image, nbytes);
}

static int compile(const struct wick__vendor *vendor, const struct wick__properties *device,
                   enum wick__gpu_module module) {
    struct wick__image image = {0};
    double began = now();
    enum wick_status status = wick__store_find(vendor, device, module, WICK__ROUTE_CACHE, &image);
    const unsigned char *code = image.data;
    if (status != WICK_OK) {
        printf("%s\n", wick_error());
        return 1;
    }
    bool elf = image.nbytes > 64 && memcmp(code, "\177ELF", 4) == 0;
    bool bundle = image.nbytes > 64 && memcmp(code, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0;
    printf("%-12s %s, %zu bytes in %.1f s\n", wick__gpu_module_names[module], device->target, image.nbytes,
           now() - began);
    bool good = image.route == WICK__ROUTE_COMPILE && (elf || bundle);
    wick__store_release(&image);
    return !good || wick_host_memory_used() != 0;
}

static bool chosen(const char *name, int n, char **names) {
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return n <= 0;
}

int main(int argc, char **argv) {
    const char *target = argc > 1 ? argv[1] : "sm_90";
    bool nvidia = strncmp(target, "sm_", 3) == 0;
    const struct wick__vendor *vendor = nvidia ? &wick__cuda_vendor : &wick__rocm_vendor;
    struct wick__properties device = {.wave = strncmp(target, "gfx9", 4) == 0 ? 64 : 32};
    snprintf(device.target, sizeof device.target, "%s", target);
    setenv("WICK_CACHE_DIR", "/dev/null/none", 1);
    setenv("WICK_HIP_PATH", "libamdhip64.so.5", 0); /* Debian's, which compiles; without a GPU it is not looked for */
    if (!*vendor->compiler_version()) test_skip("there is no run-time compiler");
    printf("%s\n", vendor->compiler_version());
    struct wick__vendor text = *vendor;
    text.compile = compile_text;
    vendor_whole = vendor;
    bool only = argc > 2 && strcmp(argv[2], "--only") == 0;
    for (int module = 0; module < WICK__GPU_MODULES; module++) {
        bool whole = chosen(wick__gpu_module_names[module], argc - 2, argv + 2);
        if (only && !whole) continue;
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int failed = compile(whole ? vendor : &text, &device, (enum wick__gpu_module)module);
            fflush(stdout);
            _exit(failed);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        TEST_CHECK_(WIFEXITED(status) && WEXITSTATUS(status) == 0, "module %s for %s: %s %d",
                    wick__gpu_module_names[module], target, WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return test_end();
}
