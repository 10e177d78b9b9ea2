/* The sources inside the library compile with the vendor's own run-time compiler, for the target in the arguments: the
 * modules named after it whole, or all when none is; the others up to where their text has been understood, or,
 * after --only, not at all. NVRTC has an option that ends there, and succeeds. hipRTC ends there with an error of its
 * own, as there is no code, and what its compiler finds wrong stands in the log as an error; a text with a mistake
 * shows that it does. Each module has a process of its own: hipRTC has crashed before. Skipped where there is no
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
static bool mistaken;   /* the text gets a mistake */
static bool understood; /* by the compiler, the last time */

static enum wick_status compile_text(const struct wick__source_job *job, void **image, size_t *nbytes) {
    bool ends_well = vendor_whole == &wick__cuda_vendor;
    const char *options[16], *shown;
    struct wick__source_job less = *job;
    char *source = NULL;
    if (job->n_options >= 16) return WICK_INVALID;
    memcpy(options, job->options, (size_t)job->n_options * sizeof *options);
    options[less.n_options++] = ends_well ? "--fdevice-syntax-only" : "-fsyntax-only";
    less.options = options;
    if (mistaken) {
        size_t size = strlen(job->source) + 64;
        source = malloc(size);
        if (!source) return WICK_MEMORY;
        snprintf(source, size, "%s\nint mistake() { return unheard_of; }\n", job->source);
        less.source = source;
    }
    enum wick_status status = vendor_whole->compile(&less, image, nbytes);
    free(source);
    shown = status == WICK_OK ? "" : wick_error();
    understood =
        ends_well ? status == WICK_OK : status == WICK_DEVICE && !strstr(shown, "error:") && strlen(shown) < 600;
    return status;
}

static int understand(const struct wick__vendor *text, const struct wick__properties *device,
                      enum wick__gpu_module module) {
    struct wick__image image = {0};
    double began = now();
    if (wick__store_find(text, device, module, WICK__ROUTE_CACHE, &image) == WICK_OK) wick__store_release(&image);
    if (understood == mistaken) printf("%s\n", wick_error());
    printf("%-12s %s, %s in %.1f s\n", wick__gpu_module_names[module], device->target,
           understood ? "understood" : "refused", now() - began);
    return understood == mistaken || wick_host_memory_used() != 0;
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
    /* The last round is the first module that is not compiled whole, once more, with a mistake. */
    for (int module = 0, again = -1; module < WICK__GPU_MODULES || (again >= 0 && !mistaken); module++) {
        if (module == WICK__GPU_MODULES) module = again, mistaken = true;
        bool whole = !mistaken && chosen(wick__gpu_module_names[module], argc - 2, argv + 2);
        if (!whole && only) continue;
        if (!whole && again < 0) again = module;
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int failed = whole ? compile(vendor, &device, (enum wick__gpu_module)module)
                               : understand(&text, &device, (enum wick__gpu_module)module);
            fflush(stdout);
            _exit(failed);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        TEST_CHECK_(WIFEXITED(status) && WEXITSTATUS(status) == 0, "module %s for %s: %s %d",
                    wick__gpu_module_names[module], target, WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (mistaken) break;
    }
    return test_end();
}
