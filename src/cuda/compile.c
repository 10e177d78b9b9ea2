/* NVRTC: machine code for the GPU's own sm, or PTX for one that is newer than the compiler. */
#include "cuda/cuda.h"

#include "gpu/code/rtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wick__nvrtc nvrtc;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__nvrtc, name),
#include "cuda/nvrtc.def"
};

/* A driver may refuse the code of a compiler that is a major version ahead of it. */
static const char *const versions_new[] = {".so.13", ".so.12", ".so.11.2", ".so", NULL};
static const char *const versions_12[] = {".so.12", ".so.13", ".so.11.2", ".so", NULL};
static const char *const versions_11[] = {".so.11.2", ".so.12", ".so.13", ".so", NULL};

struct wick__opener wick__nvrtc_opener =
    WICK__OPENER("libnvrtc", "WICK_NVRTC_PATH", versions_new, wick__cuda_roots, symbols);

static char version_text[32];
static int version_major, version_minor;

void wick__nvrtc_open(void) {
    struct wick__opener *opener = &wick__nvrtc_opener;
    int cuda = wick__cuda_major();
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried) {
        opener->versions = cuda == 12 ? versions_12 : cuda == 11 ? versions_11 : versions_new;
        if (wick__library_open(opener, &nvrtc) && nvrtc.nvrtcVersion(&version_major, &version_minor) == NVRTC_SUCCESS)
            snprintf(version_text, sizeof version_text, "NVRTC %d.%d", version_major, version_minor);
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__nvrtc_version(void) {
    wick__nvrtc_open();
    return version_text;
}

static int create(void **program, const char *source, const char *name, int n_headers, const char *const *headers,
                  const char *const *header_names) {
    return nvrtc.nvrtcCreateProgram(program, source, name, n_headers, headers, header_names);
}
static int destroy(void **program) { return nvrtc.nvrtcDestroyProgram(program); }
static int compile(void *program, int n_options, const char *const *options) {
    return nvrtc.nvrtcCompileProgram(program, n_options, options);
}
static int log_size(void *program, size_t *nbytes) { return nvrtc.nvrtcGetProgramLogSize(program, nbytes); }
static int get_log(void *program, char *log) { return nvrtc.nvrtcGetProgramLog(program, log); }
static int cubin_size(void *program, size_t *nbytes) { return nvrtc.nvrtcGetCUBINSize(program, nbytes); }
static int get_cubin(void *program, char *code) { return nvrtc.nvrtcGetCUBIN(program, code); }
static int ptx_size(void *program, size_t *nbytes) { return nvrtc.nvrtcGetPTXSize(program, nbytes); }
static int get_ptx(void *program, char *code) { return nvrtc.nvrtcGetPTX(program, code); }
static const char *error_text(int code) { return nvrtc.nvrtcGetErrorString(code); }

static const struct wick__rtc cubin_rtc = {.name = "NVRTC",
                                           .create = create,
                                           .destroy = destroy,
                                           .compile = compile,
                                           .log_size = log_size,
                                           .log = get_log,
                                           .code_size = cubin_size,
                                           .code = get_cubin,
                                           .error_text = error_text};
static const struct wick__rtc ptx_rtc = {.name = "NVRTC",
                                         .create = create,
                                         .destroy = destroy,
                                         .compile = compile,
                                         .log_size = log_size,
                                         .log = get_log,
                                         .code_size = ptx_size,
                                         .code = get_ptx,
                                         .error_text = error_text};

/* NVRTC opens its second half by its bare name, which in a wheel's folder the dynamic linker does not find. */
static void open_builtins(void) {
    char name[64];
    snprintf(name, sizeof name, "libnvrtc-builtins.so.%d.%d", version_major, version_minor);
    wick__library_beside(&wick__nvrtc_opener, name);
}

/* The newest architecture the compiler knows that is no newer than `sm`; `sm` itself when it does not say. */
static int newest(int sm) {
    enum { MAX = 64 };
    int count = 0, archs[MAX], best = 0;
    if (!nvrtc.nvrtcGetNumSupportedArchs || !nvrtc.nvrtcGetSupportedArchs) return sm;
    if (nvrtc.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > MAX) return sm;
    if (nvrtc.nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS) return sm;
    for (int i = 0; i < count; i++)
        if (archs[i] <= sm && archs[i] > best) best = archs[i];
    return best ? best : sm;
}

enum wick_status wick__nvrtc_compile(const struct wick__source_job *job, void **image, size_t *nbytes) {
    wick__nvrtc_open();
    if (!wick__nvrtc_opener.handle) return wick__fail(WICK_DEVICE, "NVRTC: %s", wick__nvrtc_opener.fault);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_builtins);
    char option[64];
    int sm = strncmp(job->target, "sm_", 3) == 0 ? atoi(job->target + 3) : 0, known = sm ? newest(sm) : 0;
    /* sm_90a has instructions of its own for matrices (kernels/mma_group.h), known to NVRTC since 12.0;
     * that machine code for sm_90 has them is what hosts go by (wick__gpu_is_native). */
    bool own = sm && sm == known && (sm != 90 || version_major >= 12);
    if (own)
        snprintf(option, sizeof option, "--gpu-architecture=%.40s%s", job->target, sm == 90 ? "a" : "");
    else
        snprintf(option, sizeof option, "--gpu-architecture=compute_%d", known);
    return wick__rtc_compile(own ? &cubin_rtc : &ptx_rtc, job, option, image, nbytes);
}
