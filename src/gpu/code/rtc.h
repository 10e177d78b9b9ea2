/* Run-time compilation, which hipRTC and NVRTC do through functions of the same shape. */
#ifndef WICK_GPU_CODE_RTC_H
#define WICK_GPU_CODE_RTC_H

#include "gpu/vendor.h"

/* A compiler's functions; each returns the compiler's code, 0 for success. Programs are its handles. */
struct wick__rtc {
    const char *name; /* "hipRTC" */
    int (*create)(void **program, const char *source, const char *name, int n_headers, const char *const *headers,
                  const char *const *header_names);
    int (*destroy)(void **program);
    int (*compile)(void *program, int n_options, const char *const *options);
    int (*log_size)(void *program, size_t *nbytes);
    int (*log)(void *program, char *log);
    int (*code_size)(void *program, size_t *nbytes);
    int (*code)(void *program, char *code);
    const char *(*error_text)(int code);
};

/* Compiles with one more option, "--gpu-architecture=sm_90"; the image is wick__alloc memory of *nbytes. On failure
 * WICK_DEVICE, with the beginning of the compiler's log. */
enum wick_status wick__rtc_compile(const struct wick__rtc *rtc, const struct wick__source_job *job,
                                   const char *target_option, void **image, size_t *nbytes);

#endif
