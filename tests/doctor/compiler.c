/* A libnvrtc for the tests of wick doctor: it opens, and refuses to compile. */
#include <stddef.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static const char text[] = "this compiler compiles nothing";

API int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}
API const char *nvrtcGetErrorString(int result) { return result ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS"; }
API int nvrtcCreateProgram(void **program, const char *source, const char *name, int n_headers,
                           const char *const *headers, const char *const *header_names) {
    (void)source, (void)name, (void)n_headers, (void)headers, (void)header_names;
    *program = program;
    return 0;
}
API int nvrtcDestroyProgram(void **program) {
    *program = NULL;
    return 0;
}
API int nvrtcCompileProgram(void *program, int n_options, const char *const *options) {
    (void)program, (void)n_options, (void)options;
    return 6;
}
API int nvrtcGetProgramLogSize(void *program, size_t *nbytes) {
    (void)program;
    *nbytes = sizeof text;
    return 0;
}
API int nvrtcGetProgramLog(void *program, char *log) {
    (void)program;
    memcpy(log, text, sizeof text);
    return 0;
}
static int none(void *program, size_t *nbytes) {
    (void)program;
    *nbytes = 0;
    return 0;
}
API int nvrtcGetPTXSize(void *program, size_t *nbytes) { return none(program, nbytes); }
API int nvrtcGetCUBINSize(void *program, size_t *nbytes) { return none(program, nbytes); }
API int nvrtcGetPTX(void *program, char *code) {
    (void)program, (void)code;
    return 6;
}
API int nvrtcGetCUBIN(void *program, char *code) {
    (void)program, (void)code;
    return 6;
}
