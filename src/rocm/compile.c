/* hipRTC: in a library of its own since HIP 6, before that in libamdhip64. */
#define _GNU_SOURCE /* secure_getenv */
#include "rocm/rocm.h"

#include "gpu/code/rtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wick__hiprtc hiprtc;

static const struct wick__symbol symbols[] = {
#define WICK__FN(need, result, name, parameters) WICK__SYMBOL(need, struct wick__hiprtc, name),
#include "rocm/hiprtc.def"
};

/* That of the runtime in use comes first, since its code objects are the ones the runtime knows. */
static const char *const versions_7[] = {".so.7", ".so", NULL};
static const char *const versions_6[] = {".so.6", ".so", NULL};
static const char *const versions_5[] = {".so.5", ".so", NULL};
static const char *const versions_any[] = {".so.7", ".so.6", ".so.5", ".so", NULL};

struct wick__opener wick__hiprtc_opener =
    WICK__OPENER("libhiprtc", "WICK_HIPRTC_PATH", versions_any, wick__rocm_roots, symbols);

static char version_text[48];

void wick__hiprtc_open(void) {
    struct wick__opener *opener = &wick__hiprtc_opener;
    int hip = wick__rocm_major();
    pthread_mutex_lock(&opener->mutex);
    if (!opener->tried) {
        opener->versions = hip == 7 ? versions_7 : hip == 6 ? versions_6 : hip == 5 ? versions_5 : versions_any;
        bool open = wick__library_open(opener, &hiprtc);
        const char *path = secure_getenv(opener->variable);
        if (!open && !(path && *path)) {
            const char *fault = opener->fault;
            open = wick__library_within(opener, &wick__hip_opener, &hiprtc);
            if (!open) opener->fault = fault;
        }
        int major = 0, minor = 0;
        if (open && hiprtc.hiprtcVersion(&major, &minor) == HIPRTC_SUCCESS)
            snprintf(version_text, sizeof version_text, "hipRTC %d.%d of HIP %d", major, minor, hip);
    }
    pthread_mutex_unlock(&opener->mutex);
}

const char *wick__hiprtc_version(void) {
    wick__hiprtc_open();
    return version_text;
}

/* hipRTC takes arrays that it does not write as if it did. */
static int create(void **program, const char *source, const char *name, int n_headers, const char *const *headers,
                  const char *const *header_names) {
    union {
        const char *const *as_given;
        const char **as_taken;
    } texts = {.as_given = headers}, names = {.as_given = header_names};
    return hiprtc.hiprtcCreateProgram(program, source, name, n_headers, texts.as_taken, names.as_taken);
}
static int destroy(void **program) { return hiprtc.hiprtcDestroyProgram(program); }
static int compile(void *program, int n_options, const char *const *options) {
    union {
        const char *const *as_given;
        const char **as_taken;
    } list = {.as_given = options};
    return hiprtc.hiprtcCompileProgram(program, n_options, list.as_taken);
}
static int log_size(void *program, size_t *nbytes) { return hiprtc.hiprtcGetProgramLogSize(program, nbytes); }
static int get_log(void *program, char *log) { return hiprtc.hiprtcGetProgramLog(program, log); }
static int code_size(void *program, size_t *nbytes) { return hiprtc.hiprtcGetCodeSize(program, nbytes); }
static int get_code(void *program, char *code) { return hiprtc.hiprtcGetCode(program, code); }
static const char *error_text(int code) { return hiprtc.hiprtcGetErrorString(code); }

static const struct wick__rtc rtc = {.name = "hipRTC",
                                     .create = create,
                                     .destroy = destroy,
                                     .compile = compile,
                                     .log_size = log_size,
                                     .log = get_log,
                                     .code_size = code_size,
                                     .code = get_code,
                                     .error_text = error_text};

/* The first HIP major that can compile for a target; older compilers have crashed instead of refusing one. */
static int first_major(const char *target) {
    static const struct {
        const char *prefix;
        int major;
    } since[] = {{"gfx94", 6}, {"gfx95", 7}, {"gfx115", 6}, {"gfx12", 6}};
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        if (strncmp(target, since[i].prefix, strlen(since[i].prefix)) == 0) return since[i].major;
    return 0;
}

/* Debian 12's HIP 5.2 has no gfx11; HIP 5.5 was the first with it. */
static bool too_new(const char *target) {
    int major = wick__rocm_major(), version = 0;
    if (major == 0) return false;
    if (major < first_major(target)) return true;
    return major == 5 && strncmp(target, "gfx11", 5) == 0 && wick__hip.hipRuntimeGetVersion(&version) == hipSuccess &&
           version < 50500000;
}

enum wick_status wick__hiprtc_compile(const struct wick__source_job *job, void **image, size_t *nbytes) {
    wick__hiprtc_open();
    if (!wick__hiprtc_opener.handle) return wick__fail(WICK_DEVICE, "hipRTC: %s", wick__hiprtc_opener.fault);
    if (too_new(job->target)) return wick__fail(WICK_DEVICE, "hipRTC: %s is too old for %s", version_text, job->target);
    char option[96];
    snprintf(option, sizeof option, "--gpu-architecture=%s", job->target);
    return wick__rtc_compile(&rtc, job, option, image, nbytes);
}
